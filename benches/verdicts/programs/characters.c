/* Copies a cached file character by character with fgetc and fputc. Limit: cpu. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    FILE *from = fopen("text", "w+"), *to = fopen("text.copy", "w+");
    if (!from || !to)
        return 1;
    for (long at = 0; at < MIB; at++)
        fputc("ATGC"[at % 4], from);
    while (now() < end) {
        int character;
        rewind(from);
        rewind(to);
        while ((character = fgetc(from)) != EOF)
            fputc(character, to);
    }
    return 0;
}
