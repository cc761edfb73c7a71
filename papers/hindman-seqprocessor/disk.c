/* A disk in memory that reads or writes, one request after the other, each at a rate.
 *
 * Usage: disk DIRECTORY BYTES READ_RATE WRITE_RATE [LATENCY]
 *
 * Mounts a FUSE file system on DIRECTORY with one file, "disk", of BYTES, on which a loop device
 * can be made. Rates are in bytes per second. A request is answered when its service time has
 * passed: its bytes over the rate of its direction, after the request before it. Reads and writes
 * share the time, as they share the heads of a disk. LATENCY in seconds is added to each transfer;
 * the latencies of several transfers overlap. Prints one line when it is mounted, and ends when it
 * is unmounted or when its parent ends.
 *
 * Not modelled: seeks, rotation, the order of requests, a cache.
 *
 * The protocol is that of linux/fuse.h, version 7.31.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILE_NODE 2
#define LARGEST (1 << 20)
#define PAGES (LARGEST / 4096)
/* More transfers than the kernel has in flight at once. */
#define PENDING 4096

struct request {
	struct fuse_in_header head;
	char body[LARGEST + 4096];
};

static int connection;
static char *content;
static uint64_t bytes;
static double read_rate, write_rate, latency;
/* Time at which the disk has served all requests so far, in seconds. */
static double free_at;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + 1e-9 * time.tv_nsec;
}

static void answer(const struct fuse_in_header *request, int error, const void *data, size_t size)
{
	struct fuse_out_header head = {sizeof head + size, -error, request->unique};
	struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, size}};

	/* A request that was interrupted meanwhile has no reader: ENOENT. */
	if (writev(connection, parts, size ? 2 : 1) < 0 && errno != ENOENT)
		perror("disk: answer");
}

/* A transfer that is not answered yet. */
struct pending {
	struct fuse_in_header head;
	uint64_t offset, size;
	double due;
};

/* In order of service, which is that of their ends. */
static struct pending pending[PENDING];
static unsigned first_pending, next_pending;

static void answer_transfer(const struct pending *transfer)
{
	struct fuse_write_out written = {.size = transfer->size};
	int writes = transfer->head.opcode == FUSE_WRITE;

	if (writes && !transfer->size)
		answer(&transfer->head, ENOSPC, NULL, 0);
	else if (writes)
		answer(&transfer->head, 0, &written, sizeof written);
	else
		answer(&transfer->head, 0, content + transfer->offset, transfer->size);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct fuse_attr found = {.ino = node, .nlink = 1, .blksize = 4096};

	found.mode = node == FILE_NODE ? S_IFREG | 0600 : S_IFDIR | 0700;
	found.size = node == FILE_NODE ? bytes : 0;
	found.blocks = found.size / 512;
	return found;
}

static void transfer(const struct request *request, double begin)
{
	const struct fuse_read_in *read_in = (const void *)request->body;
	const struct fuse_write_in *write_in = (const void *)request->body;
	int writes = request->head.opcode == FUSE_WRITE;
	uint64_t offset = writes ? write_in->offset : read_in->offset;
	uint64_t size = writes ? write_in->size : read_in->size;

	if (offset > bytes || size > bytes - offset)
		size = offset > bytes || writes ? 0 : bytes - offset;
	if (writes)
		memcpy(content + offset, write_in + 1, size);
	free_at = (free_at > begin ? free_at : begin) + size / (writes ? write_rate : read_rate);
	pending[next_pending++ % PENDING] = (struct pending){
		.head = request->head, .offset = offset, .size = size, .due = free_at + latency};
}

static void carry_out(const struct request *request, double begin)
{
	const uint64_t forever = 1 << 30;

	switch (request->head.opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *in = (const void *)request->body;
		struct fuse_init_out out = {
			.major = FUSE_KERNEL_VERSION,
			.minor = 31,
			.max_readahead = LARGEST,
			.flags = in->flags & (FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_MAX_PAGES |
					      FUSE_ASYNC_DIO),
			.max_background = 64,
			.congestion_threshold = 64,
			.max_write = LARGEST,
			.max_pages = PAGES,
		};
		answer(&request->head, 0, &out, sizeof out);
		break;
	}
	case FUSE_LOOKUP: {
		struct fuse_entry_out out = {.nodeid = FILE_NODE, .entry_valid = forever,
					     .attr_valid = forever};
		out.attr = attributes(FILE_NODE);
		if (request->head.nodeid != FUSE_ROOT_ID || strcmp(request->body, "disk"))
			answer(&request->head, ENOENT, NULL, 0);
		else
			answer(&request->head, 0, &out, sizeof out);
		break;
	}
	case FUSE_GETATTR:
	case FUSE_SETATTR: {
		struct fuse_attr_out out = {.attr_valid = forever};
		out.attr = attributes(request->head.nodeid);
		answer(&request->head, 0, &out, sizeof out);
		break;
	}
	case FUSE_OPEN: {
		struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE |
							  FOPEN_PARALLEL_DIRECT_WRITES};
		answer(&request->head, 0, &out, sizeof out);
		break;
	}
	case FUSE_STATFS: {
		struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255}};
		out.st.blocks = bytes / 4096;
		answer(&request->head, 0, &out, sizeof out);
		break;
	}
	case FUSE_READ:
	case FUSE_WRITE:
		transfer(request, begin);
		break;
	case FUSE_FSYNC:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_DESTROY:
		answer(&request->head, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(&request->head, ENOSYS, NULL, 0);
	}
}

static int fail(const char *what)
{
	fprintf(stderr, "disk: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int count, char **arguments)
{
	static struct request request;
	char options[100];
	ssize_t got;

	if (count != 5 && count != 6) {
		fprintf(stderr, "usage: disk DIRECTORY BYTES READ_RATE WRITE_RATE [LATENCY]\n");
		return 2;
	}
	bytes = strtoull(arguments[2], NULL, 10);
	read_rate = atof(arguments[3]);
	write_rate = atof(arguments[4]);
	latency = count == 6 ? atof(arguments[5]) : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Neither its processor nor its memory may wait for what it serves. */
	prctl(PR_SET_TIMERSLACK, 1);
	prctl(PR_SET_IO_FLUSHER, 1);
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	signal(SIGINT, SIG_IGN);
	content = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (content == MAP_FAILED)
		return fail("memory");
	/* All memory now: the first use of a page takes as long as some requests. */
	madvise(content, bytes, MADV_HUGEPAGE);
	memset(content, 0, bytes);
	connection = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (connection < 0)
		return fail("/dev/fuse");
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,max_read=%d",
		 connection, LARGEST);
	if (mount("headrace", arguments[1], "fuse.headrace-disk", MS_NOSUID | MS_NODEV, options))
		return fail(arguments[1]);
	/* Whoever mounts a file system of this disk does so where this process has none of it: the
	 * last process of a namespace unmounts, and cannot serve the disk at the same time. */
	if (unshare(CLONE_NEWNS))
		return fail("mount namespace");
	puts("mounted");
	fflush(stdout);
	for (;;) {
		struct pollfd requests = {connection, POLLIN, 0};
		const struct pending *next = &pending[first_pending % PENDING];
		int waits = first_pending != next_pending;

		if (waits && next->due <= now()) {
			answer_transfer(next);
			first_pending++;
			continue;
		}
		if (waits) {
			struct timespec left = {0, 0};
			double seconds = next->due - now();

			if (seconds > 0) {
				left.tv_sec = (time_t)seconds;
				left.tv_nsec = (long)((seconds - left.tv_sec) * 1e9);
			}
			if (ppoll(&requests, 1, &left, NULL) <= 0)
				continue;
		}
		got = read(connection, &request, sizeof request);
		if (got < 0 && errno == ENODEV)
			return 0;
		if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return fail("request");
		if (got < (ssize_t)sizeof request.head)
			continue;
		((char *)&request)[got < (ssize_t)sizeof request ? got : got - 1] = 0;
		carry_out(&request, now());
	}
}
