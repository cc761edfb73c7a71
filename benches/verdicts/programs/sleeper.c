/* Sleeps, a tenth of a second at a time. Limit: waiting. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    while (now() < end)
        usleep(100000);
    return 0;
}
