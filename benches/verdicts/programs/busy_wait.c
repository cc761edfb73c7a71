/* Spins until a sleeping process sets a flag in shared memory. Limit: waiting, which looks like
 * cpu. */

#include "program.h"
#include <sys/mman.h>
#include <sys/wait.h>

int main(int count, char **arguments)
{
    double seconds = seconds_of(count, arguments);
    volatile int *flag =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flag == MAP_FAILED)
        return 1;
    if (check(fork(), "fork") == 0) {
        usleep((useconds_t)(1e6 * seconds));
        *flag = 1;
        return 0;
    }
    while (!*flag) {
    }
    wait(NULL);
    return 0;
}
