/* Writes a file in blocks of 1 MiB through the page cache. Limit: disk-write. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    int file = (int)check(open("written", O_CREAT | O_WRONLY | O_TRUNC, 0600), "written");
    char *block = buffer_of(MIB);
    for (long at = 0; now() < end; at = (at + MIB) % (512 * MIB))
        check(pwrite(file, block, MIB, at), "pwrite");
    return 0;
}
