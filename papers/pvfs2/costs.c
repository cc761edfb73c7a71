/*
 * What the steps of a message cost: hand-overs between threads, threads, calls of BMI,
 * and calls of a file system in the page cache, in the same system calls as OrangeFS.
 *
 *     costs (plain|bmi) ROUNDS AT_ONCE HOST NAMESPACE
 *     costs (hand-over|thread) ROUNDS AT_ONCE
 *     costs (read|write) ROUNDS AT_ONCE FILE
 *
 * Runs AT_ONCE processes at once, each with ROUNDS rounds of a step. Prints the time from
 * the first's start to the last's end and the processor time of all, in seconds.
 * HOST answers in the network namespace that NAMESPACE is the file of.
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* TCP_ENC_HDR_SIZE: OrangeFS, bmi-tcp-addressing.h */
enum { HEADER = 24, BODY = 1, BLOCK = 4096, FILE_SIZE = 4 << 20, WAIT_MS = 10 };

static void fail(const char *what)
{
    fprintf(stderr, "costs: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* ---- Messages ---- */

static void plain_send(int socket)
{
    char byte = 0;
    if (write(socket, &byte, 1) != 1)
        fail("write");
}

/* Gives whether there is anybody to receive from. */
static int plain_receive(int socket)
{
    char byte;
    return read(socket, &byte, 1) == 1;
}

/* BMI_sockio_nb...: each call asks for the socket's flags before. */
static void flags(int socket)
{
    if (!(fcntl(socket, F_GETFL, 0) & O_NONBLOCK))
        fcntl(socket, F_SETFL, O_NONBLOCK);
}

/* tcp_post_send_generic, payload_progress */
static void bmi_send(int socket)
{
    char header[HEADER] = {0}, body[BODY] = {0};
    struct iovec parts[] = {{header, HEADER}, {body, BODY}};
    flags(socket);
    if (writev(socket, parts, 2) != HEADER + BODY)
        fail("writev");
}

/* enqueue_operation: a receive that is posted adds its socket, which is there already. */
static void bmi_post(int poll, int socket)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
    epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

/* tcp_do_work, tcp_do_work_recv, work_on_recv_op */
static int bmi_receive(int poll, int socket)
{
    struct epoll_event event;
    char header[HEADER], body[BODY];
    struct iovec part = {body, BODY};
    while (epoll_wait(poll, &event, 1, WAIT_MS) == 0)
        ;
    flags(socket);
    if (recv(socket, header, HEADER, MSG_PEEK) != HEADER)
        return 0;
    flags(socket);
    if (recv(socket, header, HEADER, 0) != HEADER)
        return 0;
    flags(socket);
    return readv(socket, &part, 1) == BODY;
}

static int polled(int socket)
{
    int poll = epoll_create(1);
    bmi_post(poll, socket);
    return poll;
}

static void answer(int socket, int bmi)
{
    int one = 1, poll = polled(socket);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bmi)
        while (bmi_receive(poll, socket))
            bmi_send(socket);
    else
        while (plain_receive(socket))
            plain_send(socket);
}

/* Starts a host that answers once in another namespace; gives a connection to it. */
static int connected(int bmi, char **to)
{
    int one = 1, outside, end, port[2];
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    if (pipe(port))
        fail("pipe");
    if (fork() == 0) {
        if ((outside = open(to[1], O_RDONLY)) < 0 || setns(outside, CLONE_NEWNET))
            fail(to[1]);
        int listening = socket(AF_INET, SOCK_STREAM, 0);
        if (listen(listening, 1) || getsockname(listening, (struct sockaddr *)&address, &length))
            fail("listen");
        if (write(port[1], &address.sin_port, sizeof address.sin_port) < 0)
            fail("write");
        answer(accept(listening, NULL, NULL), bmi);
        exit(0);
    }
    if (read(port[0], &address.sin_port, sizeof address.sin_port) <= 0)
        fail("read");
    inet_aton(to[0], &address.sin_addr);
    end = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end, (struct sockaddr *)&address, sizeof address))
        fail("connect");
    setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return end;
}

/* Waits for the host that answers, so that its time counts. */
static void part(int end)
{
    close(end);
    wait(NULL);
}

/* ---- Threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;
static long rounds;

/* Takes turns: whoever has had his signals, and waits. */
static void take_turns(int mine)
{
    pthread_mutex_lock(&mutex);
    for (long round = 0; round < rounds; round++) {
        while (turn != mine)
            pthread_cond_wait(&turned, &mutex);
        turn = !mine;
        pthread_cond_signal(&turned);
    }
    pthread_mutex_unlock(&mutex);
}

static void *other(void *unused)
{
    take_turns(1);
    return unused;
}

static void *access_thread(void *unused)
{
    pthread_mutex_lock(&mutex);
    turn = 1;
    pthread_cond_signal(&turned);
    pthread_mutex_unlock(&mutex);
    pthread_exit(unused);
}

/* alt_lio_listio, alt_lio_thread: a detached thread, which signals and ends. */
static void create_threads(void)
{
    for (long round = 0; round < rounds; round++) {
        pthread_t thread;
        pthread_attr_t attributes;
        turn = 0;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        if (pthread_create(&thread, &attributes, access_thread, NULL))
            fail("pthread_create");
        pthread_mutex_lock(&mutex);
        while (!turn)
            pthread_cond_wait(&turned, &mutex);
        pthread_mutex_unlock(&mutex);
    }
}

/* ---- Files ---- */

static void access_file(const char *path, int writes)
{
    char block[BLOCK] = {0};
    int file = open(path, O_RDWR | O_CREAT, 0600);
    for (long at = 0; at < FILE_SIZE; at += BLOCK)
        if (pwrite(file, block, BLOCK, at) != BLOCK)
            fail("pwrite");
    for (long round = 0; round < rounds; round++) {
        long at = round * BLOCK % FILE_SIZE;
        ssize_t done = writes ? pwrite(file, block, BLOCK, at) : pread(file, block, BLOCK, at);
        if (done != BLOCK)
            fail("access");
    }
}

/* ---- Rounds ---- */

static void run(const char *step, char **arguments)
{
    if (!strcmp(step, "plain")) {
        int socket = connected(0, arguments);
        for (long round = 0; round < rounds; round++) {
            plain_send(socket);
            if (!plain_receive(socket))
                fail("read");
        }
        part(socket);
    } else if (!strcmp(step, "bmi")) {
        int socket = connected(1, arguments), poll = polled(socket);
        for (long round = 0; round < rounds; round++) {
            bmi_post(poll, socket);
            bmi_send(socket);
            if (!bmi_receive(poll, socket))
                fail("readv");
        }
        part(socket);
    } else if (!strcmp(step, "hand-over")) {
        pthread_t thread;
        pthread_create(&thread, NULL, other, NULL);
        take_turns(0);
        pthread_join(thread, NULL);
    } else if (!strcmp(step, "thread")) {
        create_threads();
    } else if (!strcmp(step, "read") || !strcmp(step, "write")) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", arguments[0], getpid());
        access_file(path, *step == 'w');
        unlink(path);
    } else {
        fprintf(stderr, "costs: unknown step \"%s\"\n", step);
        exit(2);
    }
}

static double seconds(struct timeval time)
{
    return time.tv_sec + 1e-6 * time.tv_usec;
}

int main(int count, char **arguments)
{
    struct timespec from, to;
    struct rusage used;
    if (count < 4) {
        fprintf(stderr, "costs: see the head of costs.c\n");
        return 2;
    }
    int at_once = atoi(arguments[3]);
    rounds = atol(arguments[2]);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int process = 0; process < at_once; process++)
        if (fork() == 0) {
            run(arguments[1], arguments + 4);
            exit(0);
        }
    for (int process = 0; process < at_once; process++) {
        int status;
        wait(&status);
        if (status)
            return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    getrusage(RUSAGE_CHILDREN, &used);
    printf("%.9f ", (to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec));
    printf("%.6f\n", seconds(used.ru_utime) + seconds(used.ru_stime));
    return 0;
}
