/* Does random things to one file and checks every result against a copy in memory, for real_random_io.sh.
 *
 *     random_io FILE OPERATIONS SEED [unmapped]
 *
 * Reads, writes, truncates, mapped reads and writes, holes, zeroed ranges, copies within the file, and reopening, in
 * any order at any offset. Exit status 0, or 1 with a message that says after which operation the file was wrong; 77
 * if the file system lacks an operation. Every run with the same seed does the same. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 512 * 1024, RANGE_BYTES_MAX = 70000 };

struct exercise {
    const char *path;
    int fd;
    uint64_t random_state;
    bool unmapped;    /* leave mappings out */
    size_t operation; /* number of the one at work, for messages */
    size_t size_bytes;
    unsigned char model[FILE_BYTES_MAX]; /* what the file should hold; zero from size_bytes on */
    unsigned char buffer[FILE_BYTES_MAX];
};

struct range {
    size_t offset;
    size_t size_bytes;
};

/* xorshift64: the C library's generators differ between versions. */
static size_t random_below(struct exercise *x, size_t bound) {
    x->random_state ^= x->random_state << 13;
    x->random_state ^= x->random_state >> 7;
    x->random_state ^= x->random_state << 17;
    return (size_t)(x->random_state % bound);
}

/* A range that is not empty, within the first `limit` bytes. */
static struct range random_range(struct exercise *x, size_t limit) {
    size_t offset = random_below(x, limit);
    size_t most = limit - offset < RANGE_BYTES_MAX ? limit - offset : RANGE_BYTES_MAX;
    return (struct range){.offset = offset, .size_bytes = 1 + random_below(x, most)};
}

static _Noreturn void die(const struct exercise *x, const char *what) {
    if (errno == EOPNOTSUPP || errno == ENOSYS)
        exit(77);
    err(1, "%s: operation %zu: cannot %s", x->path, x->operation, what);
}

static void expect(const struct exercise *x, const unsigned char *found, size_t offset, size_t size_bytes,
                   const char *how) {
    for (size_t i = 0; i < size_bytes; i++) {
        if (found[i] != x->model[offset + i])
            errx(1, "%s: operation %zu: byte %zu %s is %#x, not %#x", x->path, x->operation, offset + i, how, found[i],
                 x->model[offset + i]);
    }
}

static void fill_randomly(struct exercise *x, unsigned char *bytes, size_t size_bytes) {
    unsigned char first = (unsigned char)random_below(x, 256);
    for (size_t i = 0; i < size_bytes; i++)
        bytes[i] = (unsigned char)(first + i * 7 + (i >> 8));
}

static void do_write(struct exercise *x) {
    struct range range = random_range(x, FILE_BYTES_MAX);
    fill_randomly(x, x->model + range.offset, range.size_bytes);
    ssize_t written = pwrite(x->fd, x->model + range.offset, range.size_bytes, (off_t)range.offset);
    if (written != (ssize_t)range.size_bytes)
        die(x, "write");
    if (range.offset + range.size_bytes > x->size_bytes)
        x->size_bytes = range.offset + range.size_bytes;
}

static void do_read(struct exercise *x) {
    struct range range = random_range(x, FILE_BYTES_MAX);
    ssize_t got = pread(x->fd, x->buffer, range.size_bytes, (off_t)range.offset);
    if (got < 0)
        die(x, "read");
    size_t there = range.offset < x->size_bytes ? x->size_bytes - range.offset : 0;
    if ((size_t)got != (there < range.size_bytes ? there : range.size_bytes))
        errx(1, "%s: operation %zu: read %zd bytes at %zu of %zu", x->path, x->operation, got, range.offset,
             x->size_bytes);
    expect(x, x->buffer, range.offset, (size_t)got, "read");
}

static void do_truncate(struct exercise *x) {
    size_t size_bytes = random_below(x, FILE_BYTES_MAX);
    if (ftruncate(x->fd, (off_t)size_bytes) < 0)
        die(x, "truncate");
    if (size_bytes < x->size_bytes)
        memset(x->model + size_bytes, 0, x->size_bytes - size_bytes);
    x->size_bytes = size_bytes;
}

static void do_map(struct exercise *x) {
    if (x->size_bytes == 0 || x->unmapped)
        return;
    struct range range = random_range(x, x->size_bytes);
    unsigned char *bytes = mmap(NULL, x->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->fd, 0);
    if (bytes == MAP_FAILED)
        die(x, "map");
    expect(x, bytes + range.offset, range.offset, range.size_bytes, "mapped");
    if (random_below(x, 2)) {
        fill_randomly(x, x->model + range.offset, range.size_bytes);
        memcpy(bytes + range.offset, x->model + range.offset, range.size_bytes);
    }
    if (random_below(x, 2) && msync(bytes, x->size_bytes, MS_SYNC) < 0)
        die(x, "msync");
    munmap(bytes, x->size_bytes);
}

static void do_punch_hole(struct exercise *x) {
    struct range range = random_range(x, FILE_BYTES_MAX);
    if (fallocate(x->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)range.offset, (off_t)range.size_bytes) < 0)
        die(x, "punch a hole");
    memset(x->model + range.offset, 0, range.size_bytes);
}

static void do_zero_range(struct exercise *x) {
    struct range range = random_range(x, FILE_BYTES_MAX);
    if (fallocate(x->fd, FALLOC_FL_ZERO_RANGE, (off_t)range.offset, (off_t)range.size_bytes) < 0)
        die(x, "zero a range");
    memset(x->model + range.offset, 0, range.size_bytes);
    if (range.offset + range.size_bytes > x->size_bytes)
        x->size_bytes = range.offset + range.size_bytes;
}

/* From the front half to the back half, because the ranges must not overlap. */
static void do_copy(struct exercise *x) {
    size_t half = FILE_BYTES_MAX / 2;
    struct range range = random_range(x, half);
    if (range.offset + range.size_bytes > x->size_bytes)
        return;
    off_t from = (off_t)range.offset, to = (off_t)(half + range.offset);
    for (size_t left = range.size_bytes; left > 0;) {
        ssize_t copied = copy_file_range(x->fd, &from, x->fd, &to, left, 0);
        if (copied <= 0)
            die(x, "copy a range");
        left -= (size_t)copied;
    }
    memcpy(x->model + half + range.offset, x->model + range.offset, range.size_bytes);
    if (half + range.offset + range.size_bytes > x->size_bytes)
        x->size_bytes = half + range.offset + range.size_bytes;
}

static void do_reopen(struct exercise *x) {
    if (x->fd >= 0 && close(x->fd) < 0)
        die(x, "close");
    x->fd = open(x->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (x->fd < 0)
        die(x, "open");
}

/* What lseek calls a hole must be zero, and it must not lead past the end. */
static void do_seek(struct exercise *x) {
    if (x->size_bytes == 0)
        return;
    size_t offset = random_below(x, x->size_bytes);
    off_t data = lseek(x->fd, (off_t)offset, SEEK_DATA);
    if (data < 0 && errno != ENXIO)
        die(x, "seek data");
    size_t data_offset = data < 0 ? x->size_bytes : (size_t)data;
    if (data_offset < offset || data_offset > x->size_bytes)
        errx(1, "%s: operation %zu: data of %zu found at %zu", x->path, x->operation, offset, data_offset);
    memset(x->buffer, 0, data_offset - offset);
    expect(x, x->buffer, offset, data_offset - offset, "said to be a hole");
}

static void expect_size(struct exercise *x) {
    struct stat attr;
    if (fstat(x->fd, &attr) < 0)
        die(x, "stat");
    if ((size_t)attr.st_size != x->size_bytes)
        errx(1, "%s: operation %zu: size is %jd, not %zu", x->path, x->operation, (intmax_t)attr.st_size,
             x->size_bytes);
}

static void run(struct exercise *x, size_t operations) {
    static void (*const actions[])(struct exercise *) = {do_write, do_read,       do_truncate,   do_map,
                                                         do_map,   do_punch_hole, do_zero_range, do_copy,
                                                         do_write, do_read,       do_reopen,     do_seek};
    do_reopen(x);
    for (x->operation = 1; x->operation <= operations; x->operation++) {
        actions[random_below(x, sizeof actions / sizeof *actions)](x);
        expect_size(x);
    }
    if (pread(x->fd, x->buffer, x->size_bytes, 0) != (ssize_t)x->size_bytes)
        die(x, "read the whole file");
    expect(x, x->buffer, 0, x->size_bytes, "in the end");
}

int main(int argc, char **argv) {
    static struct exercise exercise = {.fd = -1};
    exercise.unmapped = argc == 5 && strcmp(argv[4], "unmapped") == 0;
    if (argc != 4 && !exercise.unmapped)
        errx(1, "usage: random_io FILE OPERATIONS SEED [unmapped]");
    exercise.path = argv[1];
    exercise.random_state = strtoull(argv[3], NULL, 10) * 2 + 1;
    run(&exercise, strtoull(argv[2], NULL, 10));
    /* for the caller to compare with the file below */
    if (fwrite(exercise.model, 1, exercise.size_bytes, stdout) != exercise.size_bytes || fflush(stdout) != 0)
        err(1, "cannot write the expected contents");
    return 0;
}
