/* Reads pages of a mapped file at random; run it with less memory than the file's 32 MiB. Limit:
 * memory. */

#include "program.h"
#include <sys/mman.h>

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 32 * MIB;
    int file = uncached_file("mapped", size, O_RDONLY);
    double end = now() + seconds_of(count, arguments);
    char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 1;
    uint64_t state = 1;
    volatile long sum = 0;
    for (long at = 0; at < size; at += 4096)
        sum += memory[at];
    madvise(memory, size, MADV_RANDOM);
    while (now() < end)
        for (int step = 0; step < 64; step++)
            sum += memory[next_random(&state) % (uint64_t)size];
    return 0;
}
