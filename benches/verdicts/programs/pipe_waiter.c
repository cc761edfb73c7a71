/* Waits for input on a pipe. Limit: waiting. */

#include "program.h"
#include <sys/wait.h>

int main(int count, char **arguments)
{
    double seconds = seconds_of(count, arguments);
    int ends[2];
    check(pipe(ends), "pipe");
    if (check(fork(), "fork") == 0) {
        close(ends[0]);
        usleep((useconds_t)(1e6 * seconds));
        return 0;
    }
    close(ends[1]);
    char byte;
    check(read(ends[0], &byte, 1), "read");
    wait(NULL);
    return 0;
}
