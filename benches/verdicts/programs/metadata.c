/* Creates, inspects and removes empty files. Limit: metadata. */

#include "program.h"

int main(int count, char **arguments)
{
    double end = now() + seconds_of(count, arguments);
    enter(count, arguments);
    mkdir("names", 0700);
    check(chdir("names"), "names");
    char name[32];
    struct stat found;
    while (now() < end) {
        for (int at = 0; at < 1000; at++) {
            snprintf(name, sizeof name, "file-%d", at);
            close((int)check(open(name, O_CREAT | O_WRONLY, 0600), name));
        }
        for (int at = 0; at < 1000; at++) {
            snprintf(name, sizeof name, "file-%d", at);
            check(stat(name, &found), name);
        }
        for (int at = 0; at < 1000; at++) {
            snprintf(name, sizeof name, "file-%d", at);
            check(unlink(name), name);
        }
    }
    return 0;
}
