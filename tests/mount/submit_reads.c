/* Opens a file, says so, and at a line of input submits asynchronous direct reads, so many at once, and waits for all.
 *
 * usage: submit_reads FILE COUNT; prints "opened", and "read" at the end */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK_BYTES 4096U

/* A signal, or the one that traces us, may end a wait before all are there. */
static int wait_for_all(aio_context_t context, struct io_event *events, long count) {
    for (long ended = 0; ended < count;) {
        long more = syscall(SYS_io_getevents, context, 1L, count - ended, events, NULL);
        if (more < 0 && errno != EINTR) {
            perror("io_getevents");
            return 1;
        }
        ended += more > 0 ? more : 0;
    }
    return 0;
}

int main(int argc, char **argv) {
    aio_context_t context = 0;
    void *memory = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: submit_reads FILE COUNT\n");
        return 2;
    }
    long count = strtol(argv[2], NULL, 10);
    int fd = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
    struct iocb *blocks = calloc((size_t)count, sizeof(*blocks));
    struct io_event *events = calloc((size_t)count, sizeof(*events));
    if (fd < 0 || !blocks || !events || posix_memalign(&memory, BLOCK_BYTES, BLOCK_BYTES) != 0 ||
        syscall(SYS_io_setup, count, &context) < 0) {
        perror(argv[1]);
        return 1;
    }
    puts("opened");
    fflush(stdout);
    getchar();
    for (long i = 0; i < count; i++) {
        struct iocb *block = &blocks[i];
        block->aio_lio_opcode = IOCB_CMD_PREAD;
        block->aio_fildes = (uint32_t)fd;
        block->aio_buf = (uintptr_t)memory;
        block->aio_nbytes = BLOCK_BYTES;
        block->aio_offset = i * (int64_t)BLOCK_BYTES;
        if (syscall(SYS_io_submit, context, 1L, &block) != 1) {
            perror("io_submit");
            return 1;
        }
    }
    int status = wait_for_all(context, events, count);
    if (status == 0)
        puts("read");
    free(blocks);
    free(events);
    free(memory);
    return status;
}
