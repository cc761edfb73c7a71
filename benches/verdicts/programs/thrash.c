/* Reads pages of a mapped file at random; run it with less memory than the file's 128 MiB. Limit:
 * memory. */

#include "program.h"
#include <sys/mman.h>

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 128 * MIB;
    int file = uncached_file("mapped", size, O_RDONLY);
    double end = now() + seconds_of(count, arguments);
    char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 1;
    madvise(memory, size, MADV_RANDOM);
    uint64_t state = 1;
    long sum = 0;
    while (now() < end)
        for (int step = 0; step < 64; step++)
            sum += memory[next_random(&state) % (uint64_t)size];
    return sum == 0;
}
