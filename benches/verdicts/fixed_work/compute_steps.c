/* Computes STEPS steps, and says that it is done. */

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: compute_steps STEPS\n");
        return 2;
    }
    volatile double value = 1.0;
    for (long step = atol(arguments[1]); step > 0; step--)
        value = value * 1.0000001 + 1e-9;
    puts("done");
    return 0;
}
