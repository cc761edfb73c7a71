/* Common parts of the programs: each runs for SECONDS, in a directory if it needs one. */

#ifndef PROGRAM_H
#define PROGRAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MIB (1L << 20)

/* Seconds of the monotonic clock. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* End the program if a call failed. */
static inline long check(long result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
    return result;
}

/* Seconds of the first argument. */
static inline double seconds_of(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: %s SECONDS [DIR]\n", arguments[0]);
        exit(2);
    }
    return atof(arguments[1]);
}

/* Change to the directory of the second argument. */
static inline void enter(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s SECONDS DIR\n", arguments[0]);
        exit(2);
    }
    check(chdir(arguments[2]), arguments[2]);
}

/* Memory that direct I/O accepts, filled. */
static inline char *buffer_of(size_t size)
{
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, size) != 0) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    memset(memory, 'x', size);
    return memory;
}

/* A file of the size that is on the disk and not in the page cache. A second call with the same
 * name and size reuses it. Returns a descriptor. */
static inline int uncached_file(const char *name, long size, int flags)
{
    struct stat found;
    if (stat(name, &found) != 0 || found.st_size < size) {
        int file = (int)check(open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600), name);
        char *block = buffer_of(MIB);
        for (long written = 0; written < size; written += MIB)
            check(write(file, block, MIB), "write");
        check(fsync(file), "fsync");
        close(file);
        free(block);
    }
    int file = (int)check(open(name, flags), name);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return file;
}

/* A pseudo-random number (xorshift). */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Compute until the clock reaches `end`. */
static inline void compute_until(double end)
{
    volatile double value = 1.0;
    while (now() < end)
        for (int step = 0; step < 100000; step++)
            value = value * 1.0000001 + 1e-9;
}

#endif
