/* Writes a file of BYTES in requests of REQUEST, and calls fsync after every SYNC_EVERY-th one
 * (0: never). With "direct", past the page cache; with "sync", to stable storage (O_SYNC). */

#include "../programs/program.h"

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: append FILE BYTES REQUEST SYNC_EVERY [direct|sync]\n");
        return 2;
    }
    long size = atol(arguments[2]), request = atol(arguments[3]), every = atol(arguments[4]);
    int flags = O_CREAT | O_WRONLY | O_TRUNC;
    if (count > 5)
        flags |= strcmp(arguments[5], "direct") ? O_SYNC : O_DIRECT;
    int file = (int)check(open(arguments[1], flags, 0600), arguments[1]);
    char *block = buffer_of((size_t)request);
    for (long done = 0, number = 1; done < size; done += request, number++) {
        check(write(file, block, (size_t)request), "write");
        if (every && number % every == 0)
            check(fsync(file), "fsync");
    }
    close(file);
    return 0;
}
