/* Copy a file in blocks of 1 MiB: fread and fwrite, as Hindman 2011, section 5.4.2.
 *
 * Usage: seqprocessor-2 INPUT OUTPUT
 */
#include <stdio.h>

#define BLOCK (1 << 20)

int main(int count, char **names)
{
	static char block[BLOCK];
	FILE *input, *output;
	size_t size;

	if (count != 3) {
		fprintf(stderr, "usage: %s INPUT OUTPUT\n", names[0]);
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
	while ((size = fread(block, 1, BLOCK, input)) > 0)
		fwrite(block, 1, size, output);
	if (ferror(input) || ferror(output) || fclose(output)) {
		perror(names[0]);
		return 1;
	}
	return 0;
}
