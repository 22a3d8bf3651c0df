/* Files are made relative to a directory that is open, and only if no file of the name is there: nobody can put a
 * link between the check and the making. */
#include "events_place.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base.h"

#define BACKUP_SUFFIX ".old"

int events_place_create_new(int dir_fd, const char *name) {
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? negative_errno() : fd;
}

int events_place_create(int dir_fd, const char *name) {
    CLEANUP_FREE char *backup = NULL;
    if (asprintf(&backup, "%s" BACKUP_SUFFIX, name) < 0)
        return -ENOMEM;
    if (renameat(dir_fd, name, dir_fd, backup) < 0 && errno != ENOENT)
        return negative_errno();
    return events_place_create_new(dir_fd, name);
}

int events_place_find(const char *file, int *ret_dir_fd, char **ret_name) {
    const char *name;
    if (may_be_planted(file))
        return -EPERM;
    int err = open_parent(AT_FDCWD, file, ret_dir_fd, &name);
    if (err < 0)
        return err;
    *ret_name = strdup(name);
    if (!*ret_name)
        return -ENOMEM;
    return strlen(name) + strlen(BACKUP_SUFFIX) > NAME_MAX ? -ENAMETOOLONG : check_replaceable(*ret_dir_fd, name);
}
