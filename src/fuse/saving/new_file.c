/* New files. */
#include "new_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base.h"

int new_file_write(struct new_file *file, int dir_fd, mode_t mode, const struct control_text *text) {
    uint64_t number;
    *file = (struct new_file){.dir_fd = dir_fd};
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return negative_errno();
    char temporary[sizeof(file->temporary)];
    snprintf(temporary, sizeof(temporary), ".osprof.%016" PRIx64 ".tmp", number);
    int err = replace_file(dir_fd, temporary, NULL, mode, text->text, text->size_bytes);
    if (err == 0)
        snprintf(file->temporary, sizeof(file->temporary), "%s", temporary);
    return err;
}

/* Not every file system can rename without replacing, or has links. */
static int rename_if_new(int dir_fd, const char *from, const char *to) {
    struct stat attr;
    if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return negative_errno();
    if (linkat(dir_fd, from, dir_fd, to, 0) == 0) {
        unlinkat(dir_fd, from, 0);
        return 0;
    }
    if (errno == EEXIST || fstatat(dir_fd, to, &attr, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(dir_fd, from, dir_fd, to) < 0 ? negative_errno() : 0;
}

int new_file_name(struct new_file *file, const char *name) {
    int err = rename_if_new(file->dir_fd, file->temporary, name);
    if (err == 0)
        file->temporary[0] = '\0';
    return err;
}

void new_file_finish(struct new_file *file) {
    if (file->temporary[0])
        unlinkat(file->dir_fd, file->temporary, 0);
    file->temporary[0] = '\0';
    close_fd(&file->dir_fd);
}
