/* Computes for 0.5 ms in every 20 ms. Limit: waiting. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    for (double next = now(); now() < end; next += 20e-3) {
        compute_until(now() + 0.5e-3);
        while (now() < next + 20e-3)
            usleep((useconds_t)(1e6 * (next + 20e-3 - now())) + 1);
    }
    return 0;
}
