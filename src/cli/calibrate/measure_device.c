/* A device at queue depth 1, through a file of its file system with direct I/O. */
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base.h"
#include "measure.h"
#include "path.h"

#define BLOCK_BYTES 4096U
#define FILL_BYTES (1U << 20)

/* ---- The file ----------------------------------------------------------------------------------- */

/* On a file system without O_TMPFILE, the name is removed at once. */
static int open_named(const char *directory) {
    CLEANUP_FREE char *path = path_join(directory, ".osprof-calibrate-XXXXXX");
    if (!path)
        return -ENOMEM;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    unlink(path);
    return fd;
}

static int open_nameless(const char *directory) {
    int fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    return errno == EOPNOTSUPP || errno == EISDIR ? open_named(directory) : negative_errno();
}

/* With random blocks, which no device can compress or deduplicate. */
static int fill(int fd, size_t size_bytes, unsigned char *data) {
    if (getrandom(data, FILL_BYTES, 0) != (ssize_t)FILL_BYTES)
        return negative_errno();
    for (size_t at = 0; at < size_bytes; at += FILL_BYTES) {
        for (size_t block = 0; block < FILL_BYTES; block += BLOCK_BYTES)
            memcpy(data + block, &(uint64_t){at + block}, sizeof(uint64_t));
        int error = write_all(fd, data, FILL_BYTES);
        if (error)
            return error;
    }
    return fsync(fd) < 0 ? negative_errno() : 0;
}

static int prepare(struct device_file *file) {
    if (posix_memalign(&file->block, BLOCK_BYTES, FILL_BYTES) != 0)
        return -ENOMEM;
    int flags = fcntl(file->fd, F_GETFL);
    if (flags < 0 || fcntl(file->fd, F_SETFL, flags | O_DIRECT) < 0)
        return negative_errno();
    return fill(file->fd, file->size_bytes, file->block);
}

int device_file_create(const char *directory, size_t size_bytes, struct device_file *ret_file) {
    struct device_file file = {.fd = open_nameless(directory), .size_bytes = size_bytes};
    int error = file.fd < 0 ? file.fd : prepare(&file);
    if (error)
        device_file_finish(&file);
    else
        *ret_file = file;
    return error;
}

void device_file_finish(struct device_file *file) {
    close_fd(&file->fd);
    free(file->block);
    file->block = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static off_t random_offset(const struct device_file *file) {
    return (off_t)((size_t)random() % (file->size_bytes / BLOCK_BYTES) * BLOCK_BYTES);
}

static int read_block(void *context) {
    const struct device_file *file = context;
    ssize_t size_bytes = pread(file->fd, file->block, BLOCK_BYTES, random_offset(file));
    if (size_bytes < 0)
        return negative_errno();
    return size_bytes == BLOCK_BYTES ? 0 : -EIO;
}

/* Bytes that the kernel has fetched from devices and servers for this process. */
static uint64_t fetched_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_inblock * 512;
}

int measure_device_read(const struct effort *effort, struct device_file *file, struct samples *ret_samples) {
    uint64_t before_bytes = fetched_bytes();
    int error = samples_take(effort, 1, read_block, file, ret_samples);
    if (!error && fetched_bytes() - before_bytes < ret_samples->count * BLOCK_BYTES)
        return -ENODATA;
    return error;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* samples_take() would time the flush together with the write. */
static int write_block(const struct effort *effort, const struct device_file *file, struct samples *ret_write,
                       struct samples *ret_flush) {
    const struct aggstats_clock *clock = &effort->clock;
    uint64_t before = aggstats_clock_now(clock->kind);
    ssize_t size_bytes = pwrite(file->fd, file->block, BLOCK_BYTES, random_offset(file));
    uint64_t written = aggstats_clock_now(clock->kind);
    if (size_bytes < 0)
        return negative_errno();
    if (size_bytes != BLOCK_BYTES)
        return -EIO;
    if (fdatasync(file->fd) < 0)
        return negative_errno();
    samples_add(ret_write, measure_ns(clock, written - before));
    samples_add(ret_flush, measure_ns(clock, aggstats_clock_now(clock->kind) - written));
    return 0;
}

int measure_device_write(const struct effort *effort, struct device_file *file, struct samples *ret_write,
                         struct samples *ret_flush) {
    const struct aggstats_clock *clock = &effort->clock;
    const uint64_t deadline = measure_deadline(clock, effort->seconds_max);
    int error = 0;
    ret_write->count = 0;
    ret_flush->count = 0;
    do
        error = write_block(effort, file, ret_write, ret_flush);
    while (!error && ret_write->count < effort->sample_count && aggstats_clock_now(clock->kind) < deadline);
    return error;
}
