/* Copy a file by a thread that reads and one that writes, with a ring of blocks of 1 MiB between
 * them, as Hindman 2011, section 5.4.3.
 *
 * Usage: seqprocessor-3 INPUT OUTPUT BLOCKS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK (1 << 20)

static struct {
	char (*blocks)[BLOCK];
	size_t *sizes;
	/* Numbers of blocks since the start; a block of no bytes ends the file. */
	unsigned long filled, emptied, length;
	pthread_mutex_t lock;
	pthread_cond_t changed;
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *fill(void *input)
{
	size_t size;

	do {
		unsigned long place;

		pthread_mutex_lock(&ring.lock);
		while (ring.filled - ring.emptied == ring.length)
			pthread_cond_wait(&ring.changed, &ring.lock);
		place = ring.filled % ring.length;
		pthread_mutex_unlock(&ring.lock);
		size = fread(ring.blocks[place], 1, BLOCK, input);
		pthread_mutex_lock(&ring.lock);
		ring.sizes[place] = size;
		ring.filled++;
		pthread_cond_signal(&ring.changed);
		pthread_mutex_unlock(&ring.lock);
	} while (size > 0);
	return NULL;
}

static void empty(FILE *output)
{
	size_t size;

	do {
		unsigned long place;

		pthread_mutex_lock(&ring.lock);
		while (ring.filled == ring.emptied)
			pthread_cond_wait(&ring.changed, &ring.lock);
		place = ring.emptied % ring.length;
		size = ring.sizes[place];
		pthread_mutex_unlock(&ring.lock);
		fwrite(ring.blocks[place], 1, size, output);
		pthread_mutex_lock(&ring.lock);
		ring.emptied++;
		pthread_cond_signal(&ring.changed);
		pthread_mutex_unlock(&ring.lock);
	} while (size > 0);
}

int main(int count, char **names)
{
	FILE *input, *output;
	pthread_t reader;

	if (count != 4 || (ring.length = strtoul(names[3], NULL, 10)) == 0) {
		fprintf(stderr, "usage: %s INPUT OUTPUT BLOCKS\n", names[0]);
		return 2;
	}
	if (!(input = fopen(names[1], "r"))) {
		perror(names[1]);
		return 1;
	}
	if (!(output = fopen(names[2], "w"))) {
		perror(names[2]);
		return 1;
	}
	ring.blocks = malloc(ring.length * sizeof *ring.blocks);
	ring.sizes = calloc(ring.length, sizeof *ring.sizes);
	if (!ring.blocks || !ring.sizes || pthread_create(&reader, NULL, fill, input)) {
		perror(names[0]);
		return 1;
	}
	empty(output);
	pthread_join(reader, NULL);
	if (ferror(input) || ferror(output) || fclose(output)) {
		perror(names[0]);
		return 1;
	}
	return 0;
}
