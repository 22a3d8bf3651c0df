/* Reads and writes that are no calls of their own, in the current directory, one after the other.
 *
 *     async_calls ACTION[=TIMES]...      ACTION: a row of the table below
 *
 * The files are "ringed" and, where a read waits, "fifo". Exit status 77: the kernel lacks what is wanted. */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "checked_calls.h"

#define PAGE_BYTES 4096
#define ENTRIES 8U

static char bytes[PAGE_BYTES];
static int file = -1;
static int fifo = -1;

/* ---- libaio ------------------------------------------------------------------------------------- */

static aio_context_t context;

static void submit_aio(int fd) {
    struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
                           .aio_fildes = (unsigned)fd,
                           .aio_buf = (uintptr_t)bytes,
                           .aio_nbytes = sizeof(bytes)};
    struct iocb *requests[] = {&request};
    struct io_event event;
    if (context == 0 && syscall(SYS_io_setup, 1, &context) < 0)
        exit(77);
    CHECK(syscall(SYS_io_submit, context, 1L, requests) == 1);
    CHECK(syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) == 1);
}

static void aio(void) {
    submit_aio(file);
}

static void aio_elsewhere(void) {
    const int fd = open("/proc/self/exe", O_RDONLY);
    submit_aio(fd);
    close(fd);
}

/* ---- A ring ------------------------------------------------------------------------------------- */

static bool is_polled; /* by a thread of the kernel */
static struct io_uring_params params;
static char *ring;
static struct io_uring_sqe *entries;
static int ring_fd = -1;

static unsigned *at(unsigned offset) {
    return (unsigned *)(void *)(ring + offset);
}

static void set_up(void) {
    params = (struct io_uring_params){.flags = is_polled ? IORING_SETUP_SQPOLL : 0, .sq_thread_idle = 1000};
    ring_fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
    if (ring_fd < 0)
        exit(77);
    const size_t size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
    entries = mmap(NULL, ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQES);
    CHECK(ring != MAP_FAILED && entries != MAP_FAILED);
    const int files[] = {file, -1};
    CHECK(syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES, files, 2) == 0);
}

static void enter(unsigned submitted, unsigned awaited) {
    unsigned flags = awaited > 0 ? IORING_ENTER_GETEVENTS : 0;
    if (is_polled && __atomic_load_n(at(params.sq_off.flags), __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
        flags |= IORING_ENTER_SQ_WAKEUP;
    CHECK(syscall(SYS_io_uring_enter, ring_fd, submitted, awaited, flags, NULL, 0) >= 0);
}

/* Puts them into the ring, and awaits so many completions. Returns the result of the last one */
static int submit(const struct io_uring_sqe *requests, unsigned count, unsigned awaited) {
    if (ring_fd < 0)
        set_up();
    unsigned tail = *at(params.sq_off.tail);
    unsigned head = *at(params.cq_off.head);
    for (unsigned i = 0; i < count; i++, tail++) {
        entries[tail % ENTRIES] = requests[i];
        entries[tail % ENTRIES].user_data = tail;
        at(params.sq_off.array)[tail % ENTRIES] = tail % ENTRIES;
    }
    __atomic_store_n(at(params.sq_off.tail), tail, __ATOMIC_RELEASE);
    enter(count, awaited);
    while (awaited > 0 && __atomic_load_n(at(params.cq_off.tail), __ATOMIC_ACQUIRE) - head < awaited)
        enter(0, awaited);
    if (awaited == 0)
        return 0;
    const struct io_uring_cqe *posted = (void *)(ring + params.cq_off.cqes);
    head += awaited;
    const int result = posted[(head - 1) % params.cq_entries].res;
    __atomic_store_n(at(params.cq_off.head), head, __ATOMIC_RELEASE);
    return result;
}

static int submit_one(struct io_uring_sqe request) {
    return submit(&request, 1, 1);
}

static struct io_uring_sqe moving(int opcode, int fd) {
    return (struct io_uring_sqe){.opcode = (uint8_t)opcode, .fd = fd, .addr = (uintptr_t)bytes, .len = sizeof(bytes)};
}

static struct io_uring_sqe naming(int opcode, const char *name) {
    return (struct io_uring_sqe){.opcode = (uint8_t)opcode, .fd = AT_FDCWD, .addr = (uintptr_t)name};
}

static void read_file(void) {
    CHECK(submit_one(moving(IORING_OP_READ, file)) == PAGE_BYTES);
}

static void write_file(void) {
    CHECK(submit_one(moving(IORING_OP_WRITE, file)) == PAGE_BYTES);
}

static void read_parts(void) {
    const struct iovec parts[] = {{.iov_base = bytes, .iov_len = 100}, {.iov_base = bytes, .iov_len = 200}};
    CHECK(submit_one(
              (struct io_uring_sqe){.opcode = IORING_OP_READV, .fd = file, .addr = (uintptr_t)parts, .len = 2}) == 300);
}

static void read_registered(void) {
    struct io_uring_sqe request = moving(IORING_OP_READ, 0);
    request.flags = IOSQE_FIXED_FILE;
    CHECK(submit_one(request) == PAGE_BYTES);
}

static void write_read_only(void) {
    const int fd = open("ringed", O_RDONLY);
    CHECK(submit_one(moving(IORING_OP_WRITE, fd)) == -EBADF);
    close(fd);
}

static void sync_file(void) {
    CHECK(submit_one((struct io_uring_sqe){.opcode = IORING_OP_FSYNC, .fd = file}) == 0);
}

static void open_file(void) {
    const int fd = submit_one(naming(IORING_OP_OPENAT, "ringed"));
    CHECK(fd >= 0);
    close(fd);
}

static void open_missing(void) {
    CHECK(submit_one(naming(IORING_OP_OPENAT, "none")) == -ENOENT);
}

static void close_file(void) {
    CHECK(submit_one((struct io_uring_sqe){.opcode = IORING_OP_CLOSE, .fd = open("ringed", O_RDONLY)}) == 0);
}

static void ask_attributes(void) {
    struct statx attributes;
    struct io_uring_sqe request = naming(IORING_OP_STATX, "ringed");
    request.len = STATX_BASIC_STATS;
    request.off = (uintptr_t)&attributes;
    CHECK(submit_one(request) == 0 && attributes.stx_size >= PAGE_BYTES);
}

static void make_and_remove(void) {
    CHECK(submit_one(naming(IORING_OP_MKDIRAT, "ring")) == 0);
    struct io_uring_sqe request = naming(IORING_OP_UNLINKAT, "ring");
    request.unlink_flags = AT_REMOVEDIR;
    CHECK(submit_one(request) == 0);
}

/* Opens a file that has a place in the ring alone, reads it and closes it. */
static void chain(void) {
    struct io_uring_sqe requests[] = {
        naming(IORING_OP_OPENAT, "ringed"), moving(IORING_OP_READ, 1), {.opcode = IORING_OP_CLOSE, .file_index = 2}};
    requests[0].file_index = 2;
    requests[0].flags = requests[1].flags = IOSQE_IO_LINK;
    requests[1].flags |= IOSQE_FIXED_FILE;
    CHECK(submit(requests, 3, 3) == 0);
}

/* What is linked to a read that ends early is canceled. */
static void cancel_linked(void) {
    struct io_uring_sqe requests[] = {moving(IORING_OP_READ, file), {.opcode = IORING_OP_FSYNC, .fd = file}};
    requests[0].off = 1ULL << 40; /* behind its end */
    requests[0].flags = IOSQE_IO_LINK;
    CHECK(submit(requests, 2, 2) == -ECANCELED);
}

static void write_untimed(void) {
    struct io_uring_sqe requests[] = {moving(IORING_OP_WRITE, file), {.opcode = IORING_OP_NOP}};
    requests[0].flags = IOSQE_CQE_SKIP_SUCCESS;
    CHECK(submit(requests, 2, 1) == 0);
}

static void read_elsewhere(void) {
    const int fd = open("/proc/self/exe", O_RDONLY);
    CHECK(submit_one(moving(IORING_OP_READ, fd)) == PAGE_BYTES);
    close(fd);
}

/* A read of an empty pipe waits. */
static void wait_at_fifo(void) {
    const struct io_uring_sqe request = moving(IORING_OP_READ, fifo);
    submit(&request, 1, 0);
}

static void cancel_wait(void) {
    wait_at_fifo();
    const struct io_uring_sqe request = {.opcode = IORING_OP_ASYNC_CANCEL};
    submit(&request, 1, 2);
}

/* More completions than the ring has room for, which nobody takes. */
static void flood(void) {
    const struct io_uring_sqe request = moving(IORING_OP_READ, file);
    for (unsigned i = 0; i < 3 * ENTRIES; i++)
        submit(&request, 1, 0);
}

static void close_ring(void) {
    close(ring_fd);
    ring_fd = -1;
}

static void wait_forever(void) {
    wait_at_fifo();
    printf("waits\n");
    fflush(stdout);
    for (;;)
        pause();
}

static void poll_ring(void) {
    is_polled = true;
}

/* ---- A mapping ---------------------------------------------------------------------------------- */

static char *map_file(int advice) {
    struct stat attributes;
    CHECK(fstat(file, &attributes) == 0 && fsync(file) == 0 && posix_fadvise(file, 0, 0, advice) == 0);
    char *memory = mmap(NULL, (size_t)attributes.st_size, PROT_READ, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED && madvise(memory, (size_t)attributes.st_size, MADV_RANDOM) == 0);
    return memory;
}

static void touch_next_page(const char *memory) {
    static long page;
    bytes[0] = *(const volatile char *)(memory + page++ * PAGE_BYTES);
}

static void read_mapped(void) {
    static char *memory;
    if (!memory)
        memory = map_file(POSIX_FADV_DONTNEED);
    touch_next_page(memory);
}

static void read_mapped_in_memory(void) {
    static char *memory;
    if (!memory) {
        while (read(file, bytes, sizeof(bytes)) > 0)
            continue;
        memory = map_file(POSIX_FADV_NORMAL);
    }
    touch_next_page(memory);
}

/* ---- The program -------------------------------------------------------------------------------- */

static const struct calls_row rows[] = {
    {"aio", aio},
    {"aio-elsewhere", aio_elsewhere},
    {"read", read_file},
    {"write", write_file},
    {"readv", read_parts},
    {"registered", read_registered},
    {"read-only", write_read_only},
    {"fsync", sync_file},
    {"open", open_file},
    {"missing", open_missing},
    {"close", close_file},
    {"statx", ask_attributes},
    {"directory", make_and_remove},
    {"chain", chain},
    {"cancel-linked", cancel_linked},
    {"untimed", write_untimed},
    {"elsewhere", read_elsewhere},
    {"fifo", wait_at_fifo},
    {"cancel", cancel_wait},
    {"flood", flood},
    {"close-ring", close_ring},
    {"forever", wait_forever},
    {"polled", poll_ring},
    {"mapped", read_mapped},
    {"mapped-in-memory", read_mapped_in_memory},
};

int main(int argc, char **argv) {
    file = open("ringed", O_RDWR);
    fifo = open("fifo", O_RDWR);
    CHECK(file >= 0 && fifo >= 0);
    for (int i = 1; i < argc; i++) {
        char *times = strchr(argv[i], '=');
        if (times)
            *times++ = '\0';
        for (long left = times ? strtol(times, NULL, 10) : 1; left > 0; left--)
            ROW_NAMED(rows, argv[i])->make();
    }
    return 0;
}
