/* Reads a file in blocks of 1 MiB, uncached. Limit: disk-read. */

#include "program.h"

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 256 * MIB;
    int file = uncached_file("large", size, O_RDONLY);
    double end = now() + seconds_of(count, arguments);
    char *block = buffer_of(MIB);
    while (now() < end)
        if (check(read(file, block, MIB), "read") == 0) {
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
            lseek(file, 0, SEEK_SET);
        }
    return 0;
}
