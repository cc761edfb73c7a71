/* Reads COUNT blocks of 4 KiB at random places of a file, past the page cache, in THREADS threads
 * of equal parts. */

#include "../programs/program.h"

#include <pthread.h>

static int file;
static long blocks, part;

static void *reader(void *argument)
{
    char *block = buffer_of(4096);
    uint64_t state = 1 + (uint64_t)(intptr_t)argument;
    for (long done = 0; done < part; done++)
        check(pread(file, block, 4096, (long)(next_random(&state) % (uint64_t)blocks) * 4096),
              "pread");
    return NULL;
}

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: random_reads FILE COUNT THREADS\n");
        return 2;
    }
    long threads = atol(arguments[3]);
    pthread_t others[64];
    part = atol(arguments[2]) / threads;
    file = (int)check(open(arguments[1], O_RDONLY | O_DIRECT), arguments[1]);
    blocks = lseek(file, 0, SEEK_END) / 4096;
    for (long it = 1; it < threads; it++)
        pthread_create(&others[it], NULL, reader, (void *)it);
    reader(NULL);
    for (long it = 1; it < threads; it++)
        pthread_join(others[it], NULL);
    return 0;
}
