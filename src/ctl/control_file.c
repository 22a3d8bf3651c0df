/* Everything is asked of the descriptor, never of a name; and the checks come again before the writing, as the
 * client may have changed the file in between. */
#include "control_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "path.h"

int control_file_check(const struct control_file *file, dev_t own_device) {
    struct statx attr;
    const int flags = fcntl(file->fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
        return -EBADF;
    if (statx(file->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &attr) < 0)
        return negative_errno();
    if (makedev(attr.stx_dev_major, attr.stx_dev_minor) == own_device)
        return -ELOOP;
    if (!S_ISREG(attr.stx_mode))
        return -ENOTSUP;
    return attr.stx_size == 0 ? 0 : -EEXIST;
}

int control_file_write(const struct control_file *file, dev_t own_device, const char *text, size_t size_bytes) {
    int error = control_file_check(file, own_device);
    if (error == 0)
        error = write_all(file->fd, text, size_bytes);
    return error == 0 && fsync(file->fd) < 0 ? negative_errno() : error;
}

void control_file_note_name(int fd, struct control_file_name *ret_name) {
    struct statx attr = {0};
    ret_name->link_count = statx(fd, "", AT_EMPTY_PATH, STATX_NLINK, &attr) == 0 ? attr.stx_nlink : 0;
    if (path_of_open(fd, ret_name->path) < 0)
        ret_name->path[0] = '\0';
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool control_file_is_renamed(int fd, const struct control_file_name *before) {
    struct control_file_name now;
    control_file_note_name(fd, &now);
    return now.link_count > before->link_count || strcmp(last_part(now.path), last_part(before->path)) != 0;
}
