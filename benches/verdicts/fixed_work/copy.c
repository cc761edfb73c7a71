/* Copies a file by fgetc and fputc ("characters"), or by fread and fwrite of 1 MiB ("blocks"), and
 * syncs the copy. */

#include "../programs/program.h"

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: copy FROM TO characters|blocks\n");
        return 2;
    }
    FILE *from = fopen(arguments[1], "r"), *to = fopen(arguments[2], "w");
    if (!from || !to)
        return 1;
    if (strcmp(arguments[3], "characters") == 0) {
        int character;
        while ((character = fgetc(from)) != EOF)
            fputc(character, to);
    } else {
        char *block = buffer_of(MIB);
        size_t moved;
        while ((moved = fread(block, 1, MIB, from)) > 0)
            fwrite(block, 1, moved, to);
    }
    fflush(to);
    check(fsync(fileno(to)), "fsync");
    fclose(to);
    return 0;
}
