/* Reads a file in blocks of 1 MiB for half of the time, uncached, then computes. Limits:
 * disk-read, then cpu. */

#include "program.h"

int main(int count, char **arguments)
{
    enter(count, arguments);
    int file = uncached_file("large", 256 * MIB, O_RDONLY);
    double seconds = seconds_of(count, arguments), start = now();
    char *block = buffer_of(MIB);
    while (now() < start + seconds / 2)
        if (check(read(file, block, MIB), "read") == 0) {
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
            lseek(file, 0, SEEK_SET);
        }
    compute_until(start + seconds);
    return 0;
}
