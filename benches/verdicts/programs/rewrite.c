/* Copies a file to another one on the same disk in blocks of 1 MiB, uncached. Limit: rewrite. */

#include "program.h"

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 256 * MIB;
    int from = uncached_file("large", size, O_RDONLY);
    int to = (int)check(open("copy", O_CREAT | O_WRONLY | O_TRUNC, 0600), "copy");
    double end = now() + seconds_of(count, arguments);
    char *block = buffer_of(MIB);
    while (now() < end) {
        long moved = check(read(from, block, MIB), "read");
        if (moved == 0) {
            posix_fadvise(from, 0, 0, POSIX_FADV_DONTNEED);
            lseek(from, 0, SEEK_SET);
            lseek(to, 0, SEEK_SET);
            continue;
        }
        check(write(to, block, (size_t)moved), "write");
    }
    return 0;
}
