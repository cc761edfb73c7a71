/* Maps, touches and unmaps 32 MiB of anonymous memory, repeatedly. Limit: cpu, in the kernel. */

#include "program.h"
#include <sys/mman.h>

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    while (now() < end) {
        char *memory =
            mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            return 1;
        for (long at = 0; at < 32 * MIB; at += 4096)
            memory[at] = 1;
        munmap(memory, 32 * MIB);
    }
    return 0;
}
