/* Replaces small files as editors and mail servers do: write a new one, sync, rename. Limit:
 * latency. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    char *block = buffer_of(4096), name[32];
    for (int at = 0; now() < end; at = (at + 1) % 100) {
        int file = (int)check(open("new", O_CREAT | O_WRONLY | O_TRUNC, 0600), "new");
        check(write(file, block, 4096), "write");
        check(fsync(file), "fsync");
        close(file);
        snprintf(name, sizeof name, "file-%d", at);
        check(rename("new", name), "rename");
    }
    return 0;
}
