/* Adds arrays that no cache holds. Limit: memory throughput, which is `cpu` without counters of
 * the hardware. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    size_t items = 16L << 20;
    double *a = malloc(items * sizeof *a), *b = malloc(items * sizeof *b),
           *c = malloc(items * sizeof *c);
    if (!a || !b || !c)
        return 1;
    for (size_t at = 0; at < items; at++)
        a[at] = 0.0, b[at] = 1.0, c[at] = 2.0;
    double sum = 0.0;
    while (now() < end) {
        for (size_t at = 0; at < items; at++)
            a[at] = b[at] + 3.0 * c[at];
        sum += a[items / 2];
    }
    return sum < 0.0;
}
