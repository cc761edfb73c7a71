/* Reads a file of 24 MiB repeatedly, mapped or with calls; run it with less memory than that:
 * thrash SECONDS DIR [read]. Limit: memory. */

#include "program.h"
#include <sys/mman.h>

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 24 * MIB;
    int file = uncached_file("mapped", size, O_RDONLY);
    double end = now() + seconds_of(count, arguments);
    if (count > 3 && strcmp(arguments[3], "read") == 0) {
        char *block = buffer_of(64 * 1024);
        for (long at = 0; now() < end; at = (at + 64 * 1024) % size)
            check(pread(file, block, 64 * 1024, at), "pread");
        return 0;
    }
    char *memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return 1;
    volatile long sum = 0;
    for (long at = 0; now() < end; at = (at + 4096) % size)
        sum += memory[at];
    return 0;
}
