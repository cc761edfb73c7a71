/* Touches the pages of a mapped file once each in an order without neighbours, uncached. Limit:
 * latency. */

#include "program.h"
#include <sys/mman.h>

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 256 * MIB, pages = size / 4096;
    int file = uncached_file("large", size, O_RDONLY);
    double end = now() + seconds_of(count, arguments);
    char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 1;
    check(madvise(memory, size, MADV_RANDOM), "madvise");
    volatile long sum = 0;
    for (long number = 0; now() < end; number++) {
        if (number % pages == pages - 1) {
            madvise(memory, size, MADV_DONTNEED);
            posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        }
        sum += memory[number * 24593 % pages * 4096];
    }
    return 0;
}
