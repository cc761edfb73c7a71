/* Appends 4 KiB and calls fsync, repeatedly. Limit: latency. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    int file = (int)check(open("log", O_CREAT | O_WRONLY | O_TRUNC, 0600), "log");
    char *block = buffer_of(4096);
    while (now() < end) {
        check(write(file, block, 4096), "write");
        check(fsync(file), "fsync");
    }
    return 0;
}
