/* Starts processes that exit at once, one after the other. Limit: process-creation. */

#include "program.h"
#include <sys/wait.h>

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    while (now() < end) {
        if (check(fork(), "fork") == 0)
            _exit(0);
        wait(NULL);
    }
    return 0;
}
