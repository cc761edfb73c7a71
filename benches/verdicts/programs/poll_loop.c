/* Polls a pipe without data, 10 ms at a time. Limit: waiting. */

#include "program.h"
#include <poll.h>

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    int ends[2];
    check(pipe(ends), "pipe");
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    while (now() < end)
        check(poll(&wait, 1, 10), "poll");
    return 0;
}
