/* Reads a file in blocks of 1 MiB. */

#include "../programs/program.h"

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: read FILE\n");
        return 2;
    }
    int file = (int)check(open(arguments[1], O_RDONLY), arguments[1]);
    char *block = buffer_of(MIB);
    while (check(read(file, block, MIB), "read") > 0)
        ;
    return 0;
}
