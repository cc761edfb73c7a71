/* Computes for half of the time, then writes blocks of 1 MiB. Limits: cpu, then disk-write. */

#include "program.h"

int main(int count, char **arguments)
{
    double seconds = seconds_of(count, arguments), start = now();
    enter(count, arguments);
    compute_until(start + seconds / 2);
    int file = (int)check(open("second", O_CREAT | O_WRONLY | O_TRUNC, 0600), "second");
    char *block = buffer_of(MIB);
    for (long at = 0; now() < start + seconds; at = (at + MIB) % (512 * MIB))
        check(pwrite(file, block, MIB, at), "pwrite");
    return 0;
}
