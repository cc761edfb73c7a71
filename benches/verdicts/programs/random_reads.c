/* Reads 4 KiB at random places past the page cache, one at a time. Limit: latency. */

#include "program.h"

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 256 * MIB;
    int file = uncached_file("large", size, O_RDONLY | O_DIRECT);
    double end = now() + seconds_of(count, arguments);
    char *block = buffer_of(4096);
    uint64_t state = 1;
    while (now() < end)
        check(pread(file, block, 4096, (long)(next_random(&state) % (size / 4096)) * 4096), "pread");
    return 0;
}
