/* The file that is recorded to. If a write fails, what was written of it is cut off again, so the file stays readable.
 *
 * While calls are saved, blocks behind the end of the file are kept allocated, if the file system can do that. So if
 * the disk becomes full, a part of the calls is missing, but the end of the file, which says what is missing, always
 * fits. */
#include <fcntl.h>
#include <sys/uio.h>

#include "base.h"
#include "recorder_private.h"

/* Errors: there is no room for the bytes and the end of the file */
static int reserve(struct events_recorder *events, size_t more_bytes) {
    if (!events->keeps_reserve)
        return 0;
    const off_t size_bytes = (off_t)(more_bytes + EVENTS_END_BYTES);
    if (fallocate(events->wanted.fd, FALLOC_FL_KEEP_SIZE, (off_t)events->size_bytes, size_bytes) == 0)
        return 0;
    int err = negative_errno();
    if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG || err == -EIO)
        return err;
    events->keeps_reserve = err == -EINTR; /* otherwise the file system cannot do it */
    return 0;
}

/* Steps over what has been written. */
static void skip(struct iovec vectors[3], size_t written_bytes) {
    for (int i = 0; i < 3; i++) {
        size_t here_bytes = vectors[i].iov_len < written_bytes ? vectors[i].iov_len : written_bytes;
        vectors[i].iov_base = (char *)vectors[i].iov_base + here_bytes;
        vectors[i].iov_len -= here_bytes;
        written_bytes -= here_bytes;
    }
}

/* Continues after a short write: the next one returns the error. */
static int write_at_end(int fd, struct iovec vectors[3], size_t total_bytes, uint64_t offset) {
    while (total_bytes > 0) {
        ssize_t written_bytes = pwritev(fd, vectors, 3, (off_t)offset);
        if (written_bytes < 0 && errno == EINTR)
            continue;
        if (written_bytes <= 0)
            return written_bytes < 0 ? negative_errno() : -EIO;
        skip(vectors, (size_t)written_bytes);
        offset += (uint64_t)written_bytes;
        total_bytes -= (size_t)written_bytes;
    }
    return 0;
}

int events_output_write(struct events_recorder *events, const void *const parts[3], const size_t part_bytes[3]) {
    struct iovec vectors[3];
    size_t total_bytes = 0;
    for (int i = 0; i < 3; i++) {
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)parts[i], .iov_len = part_bytes[i]};
        total_bytes += part_bytes[i];
    }
    int err = reserve(events, total_bytes);
    if (err < 0)
        return err;
    err = write_at_end(events->wanted.fd, vectors, total_bytes, events->size_bytes);
    if (err == 0)
        events->size_bytes += total_bytes;
    else if (ftruncate(events->wanted.fd, (off_t)events->size_bytes) < 0)
        return negative_errno();
    return err;
}
