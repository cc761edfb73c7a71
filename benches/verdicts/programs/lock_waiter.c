/* Waits for a mutex that a sleeping thread holds. Limit: waiting. */

#include "program.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double end;

static void *hold(void *unused)
{
    pthread_mutex_lock(&mutex);
    usleep((useconds_t)(1e6 * (end - now())));
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int count, char **arguments)
{
    end = now() + seconds_of(count, arguments);
    pthread_t holder;
    pthread_create(&holder, NULL, hold, NULL);
    usleep(50000);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return pthread_join(holder, NULL);
}
