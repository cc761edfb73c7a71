/* Sends to a port of a peer, or receives on it: send SECONDS ADDRESS PORT, send SECONDS receive
 * PORT. Limit: network, if the link is slow. */

#include "program.h"
#include <arpa/inet.h>
#include <sys/socket.h>

int main(int count, char **arguments)
{
    if (count < 4) {
        fprintf(stderr, "usage: %s SECONDS ADDRESS|receive PORT\n", arguments[0]);
        return 2;
    }
    double end = now() + seconds_of(count, arguments);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[3]))};
    char *block = buffer_of(MIB);
    int wire = (int)check(socket(AF_INET, SOCK_STREAM, 0), "socket");
    if (strcmp(arguments[2], "receive") == 0) {
        int yes = 1;
        setsockopt(wire, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        check(bind(wire, (struct sockaddr *)&address, sizeof address), "bind");
        check(listen(wire, 1), "listen");
        int peer = (int)check(accept(wire, NULL, NULL), "accept");
        while (recv(peer, block, MIB, 0) > 0) {
        }
        return 0;
    }
    inet_pton(AF_INET, arguments[2], &address.sin_addr);
    while (connect(wire, (struct sockaddr *)&address, sizeof address) < 0) {
        if (now() > end)
            check(-1, "connect");
        close(wire);
        usleep(20000);
        wire = (int)check(socket(AF_INET, SOCK_STREAM, 0), "socket");
    }
    while (now() < end)
        check(send(wire, block, 64 * 1024, 0), "send");
    return 0;
}
