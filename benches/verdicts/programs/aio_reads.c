/* Reads 4 KiB at random places past the page cache, 32 at a time, with io_submit. Limit: the
 * requests that the disk serves at once. */

#include "program.h"
#include <linux/aio_abi.h>
#include <sys/syscall.h>

#define DEPTH 32

int main(int count, char **arguments)
{
    enter(count, arguments);
    long size = 256 * MIB;
    int file = uncached_file("large", size, O_RDONLY | O_DIRECT);
    double end = now() + seconds_of(count, arguments);
    aio_context_t context = 0;
    check(syscall(SYS_io_setup, DEPTH, &context), "io_setup");
    char *blocks = buffer_of(DEPTH * 4096);
    struct iocb requests[DEPTH], *next[DEPTH];
    struct io_event events[DEPTH];
    uint64_t state = 1;
    long ready = DEPTH;
    for (int at = 0; at < DEPTH; at++) {
        requests[at] = (struct iocb){.aio_fildes = (uint32_t)file,
                                     .aio_lio_opcode = IOCB_CMD_PREAD,
                                     .aio_buf = (uint64_t)(uintptr_t)(blocks + at * 4096),
                                     .aio_nbytes = 4096};
        next[at] = &requests[at];
    }
    while (now() < end) {
        for (long at = 0; at < ready; at++)
            next[at]->aio_offset = (int64_t)(next_random(&state) % (size / 4096)) * 4096;
        check(syscall(SYS_io_submit, context, ready, next), "io_submit");
        ready = check(syscall(SYS_io_getevents, context, 1, DEPTH, events, NULL), "io_getevents");
        for (long at = 0; at < ready; at++)
            next[at] = (struct iocb *)(uintptr_t)events[at].obj;
    }
    return 0;
}
