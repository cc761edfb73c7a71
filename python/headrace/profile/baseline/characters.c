/* Write and read a file with one fputc and one fgetc for each byte, and time each loop as a whole.
 *
 * Usage: characters FILE BYTES
 * Output: four numbers, each in seconds: elapsed and processor time of writing, which includes
 * fflush and fsync, and elapsed and processor time of reading, from a page cache without the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double elapsed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double processor(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **arguments)
{
	long size, done;
	double start, used, writing, writing_used, reading, reading_used;
	FILE *file;
	int descriptor;

	if (count != 3)
		return 2;
	size = atol(arguments[2]);
	/* The caller has made the directory: no link of another user can be in the way. */
	descriptor = open(arguments[1], O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (descriptor < 0 || !(file = fdopen(descriptor, "w"))) {
		perror(arguments[1]);
		return 1;
	}
	start = elapsed();
	used = processor();
	for (done = 0; done < size; done++)
		if (fputc((int)(done & 0x7f), file) == EOF) {
			perror("fputc");
			return 1;
		}
	if (fflush(file) || fsync(descriptor)) {
		perror("fsync");
		return 1;
	}
	writing = elapsed() - start;
	writing_used = processor() - used;
	posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
	if (fclose(file) || !(file = fopen(arguments[1], "r"))) {
		perror(arguments[1]);
		return 1;
	}
	start = elapsed();
	used = processor();
	for (done = 0; fgetc(file) != EOF; done++)
		;
	reading = elapsed() - start;
	reading_used = processor() - used;
	if (ferror(file) || done != size) {
		fprintf(stderr, "read %ld of %ld bytes\n", done, size);
		return 1;
	}
	printf("%.9f %.9f %.9f %.9f\n", writing, writing_used, reading, reading_used);
	return 0;
}
