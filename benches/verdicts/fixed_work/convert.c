/* Reads a file in blocks of 1 MiB, computes STEPS steps for each, and writes it to another file,
 * which is synced. In turn ("one"), or in a thread for each side with a ring of blocks between
 * them ("two"); the reading thread computes. With "direct", past the page cache. */

#include "../programs/program.h"

#include <pthread.h>

#define BLOCKS 16

static int from, to;
static long steps;
static char *ring[BLOCKS];
static long sizes[BLOCKS], filled, emptied;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static long fill(long number)
{
    long moved = check(read(from, ring[number % BLOCKS], MIB), "read");
    volatile double value = 1.0;
    for (long step = 0; moved && step < steps; step++)
        value = value * 1.0000001 + 1e-9;
    return sizes[number % BLOCKS] = moved;
}

static void empty(long number)
{
    check(write(to, ring[number % BLOCKS], (size_t)sizes[number % BLOCKS]), "write");
}

static void *writer(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (emptied == filled)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        if (sizes[emptied % BLOCKS] == 0)
            return unused;
        empty(emptied);
        pthread_mutex_lock(&lock);
        emptied++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "usage: convert FROM TO STEPS one|two [direct]\n");
        return 2;
    }
    int flags = count > 5 ? O_DIRECT : 0;
    from = (int)check(open(arguments[1], O_RDONLY | flags), arguments[1]);
    to = (int)check(open(arguments[2], O_CREAT | O_WRONLY | O_TRUNC | flags, 0600), arguments[2]);
    steps = atol(arguments[3]);
    for (int it = 0; it < BLOCKS; it++)
        ring[it] = buffer_of(MIB);
    if (strcmp(arguments[4], "one") == 0) {
        while (fill(0))
            empty(0);
    } else {
        pthread_t other;
        pthread_create(&other, NULL, writer, NULL);
        for (long moved = 1; moved;) {
            pthread_mutex_lock(&lock);
            while (filled - emptied == BLOCKS)
                pthread_cond_wait(&changed, &lock);
            pthread_mutex_unlock(&lock);
            moved = fill(filled);
            pthread_mutex_lock(&lock);
            filled++;
            pthread_cond_signal(&changed);
            pthread_mutex_unlock(&lock);
        }
        pthread_join(other, NULL);
    }
    check(fsync(to), "fsync");
    close(to);
    return 0;
}
