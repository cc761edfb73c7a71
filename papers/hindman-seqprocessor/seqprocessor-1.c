/* Copy a file character by character: fgetc and fputc, as Hindman 2011, section 5.4.1.
 *
 * Usage: seqprocessor-1 INPUT OUTPUT
 */
#include <stdio.h>

int main(int count, char **names)
{
	FILE *input, *output;
	int character;

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
	while ((character = fgetc(input)) != EOF)
		fputc(character, output);
	if (ferror(input) || ferror(output) || fclose(output)) {
		perror(names[0]);
		return 1;
	}
	return 0;
}
