/* Four threads that take turns at one mutex, and compute or sleep for 1 ms while they hold it:
 * convoy SECONDS compute|sleep. Limit: cpu, of one core, or waiting. */

#include "program.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double end;
static int sleeps;

static void *work(void *unused)
{
    while (now() < end) {
        pthread_mutex_lock(&mutex);
        if (sleeps)
            usleep(1000);
        else
            compute_until(now() + 1e-3);
        pthread_mutex_unlock(&mutex);
        usleep(1);
    }
    return unused;
}

int main(int count, char **arguments)
{
    end = now() + seconds_of(count, arguments);
    sleeps = count > 2 && strcmp(arguments[2], "sleep") == 0;
    pthread_t others[3];
    for (int at = 0; at < 3; at++)
        pthread_create(&others[at], NULL, work, NULL);
    work(NULL);
    for (int at = 0; at < 3; at++)
        pthread_join(others[at], NULL);
    return 0;
}
