/* Writes FILES contents of BYTES, each to a file of its own that is synced ("many"), or all to one
 * file that is synced at the end ("one"). */

#include "../programs/program.h"

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: small_files DIRECTORY FILES BYTES many|one\n");
        return 2;
    }
    long files = atol(arguments[2]), size = atol(arguments[3]);
    int one = strcmp(arguments[4], "one") == 0, file = -1;
    char name[32], *content = buffer_of((size_t)size);
    check(chdir(arguments[1]), arguments[1]);
    for (long number = 0; number < files; number++) {
        if (!one || number == 0) {
            snprintf(name, sizeof name, "file-%ld", number);
            file = (int)check(open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600), name);
        }
        check(write(file, content, (size_t)size), "write");
        if (!one || number == files - 1) {
            check(fsync(file), "fsync");
            close(file);
        }
    }
    return 0;
}
