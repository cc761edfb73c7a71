/* Appends 4 KiB at a time through the page cache, which throttles it. Limit: disk-write. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    int file = (int)check(open("appended", O_CREAT | O_WRONLY | O_TRUNC, 0600), "appended");
    char *block = buffer_of(4096);
    while (now() < end)
        check(write(file, block, 4096), "write");
    return 0;
}
