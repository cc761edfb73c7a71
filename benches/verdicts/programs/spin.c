/* Computes in one thread, or in one for each core: spin SECONDS [all]. Limit: cpu. */

#include "program.h"
#include <pthread.h>

static double end;

static void *spin(void *unused)
{
    compute_until(end);
    return unused;
}

int main(int count, char **arguments)
{
    end = now() + seconds_of(count, arguments);
    long threads = count > 2 && strcmp(arguments[2], "all") == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    pthread_t others[1024];
    for (long at = 1; at < threads && at < 1024; at++)
        pthread_create(&others[at], NULL, spin, NULL);
    spin(NULL);
    for (long at = 1; at < threads && at < 1024; at++)
        pthread_join(others[at], NULL);
    return 0;
}
