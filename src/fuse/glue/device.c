/* Reading requests and writing answers. userdata is the struct glue; each worker has a buffer of its own.
 *
 * libfuse passes an answer to the kernel in parts, and the kernel pins our memory once for each part. Most answers are
 * small, so copying them into one part costs less. */
#include <errno.h>
#include <fuse_log.h>
#include <linux/fuse.h>
#include <stdalign.h>
#include <stdarg.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "glue.h"
#include "init_answer.h"

#define SMALL_BYTES 1024U

static ssize_t receive(int fd, void *data, size_t size_bytes, void *userdata) {
    ssize_t received_bytes = read(fd, data, size_bytes);
    init_answer_look(userdata, data, received_bytes);
    return received_bytes;
}

static ssize_t answer(int fd, struct iovec *parts, int count, void *userdata) {
    static _Thread_local alignas(SMALL_BYTES) char whole[SMALL_BYTES]; /* in one page */
    size_t size_bytes = 0;
    char *end = whole;
    (void)userdata;
    init_answer_complete(parts, count);
    for (int part = 0; part < count; part++)
        size_bytes += parts[part].iov_len;
    if (size_bytes > SMALL_BYTES)
        return writev(fd, parts, count);
    for (int part = 0; part < count; part++)
        end = mempcpy(end, parts[part].iov_base, parts[part].iov_len);
    return write(fd, whole, size_bytes);
}

static void say_nothing(enum fuse_log_level level, const char *format, va_list arguments) {
    (void)level, (void)format, (void)arguments;
}

/* Newer libfuse is mostly built without this (enable-custom-io), and uses its own functions then. */
int device_attach(struct fuse_session *fuse) {
    const struct fuse_custom_io io = {.read = receive, .writev = answer};
    fuse_set_log_func(say_nothing);
    int err = fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse));
    fuse_set_log_func(NULL);
    return err == -ENOTSUP ? 0 : err;
}

/* Of protocol 7.45; libfuse's headers do not have it. */
#define NOTIFY_PRUNE 9

struct prune {
    struct fuse_out_header header;
    uint32_t count;
    uint32_t padding;
    uint64_t spare;
};

void device_ask_to_forget(struct fuse_session *fuse, const fuse_ino_t *inos, size_t count) {
    const size_t size_bytes = count * sizeof(*inos);
    struct prune prune = {
        .header = {.len = (uint32_t)(sizeof(prune) + size_bytes), .error = NOTIFY_PRUNE},
        .count = (uint32_t)count,
    };
    const struct iovec parts[] = {{&prune, sizeof(prune)}, {(void *)(uintptr_t)inos, size_bytes}};
    (void)!writev(fuse_session_fd(fuse), parts, 2);
}
