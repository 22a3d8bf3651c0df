/* Finding and making the directory for live files. */
#include "live_directory.h"

#include <sys/stat.h>

#include "base.h"
#include "live_dirs.h"

/* In a place that all can write to, somebody else may have been first. */
static int check_owner(const char *directory) {
    struct stat attr;
    if (lstat(directory, &attr) < 0)
        return negative_errno();
    if (!S_ISDIR(attr.st_mode))
        return -ENOTDIR;
    bool ours = attr.st_uid == geteuid() && (attr.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return ours ? 0 : -EPERM;
}

int live_directory_path(const char *directory, unsigned attempt, char **ret_path) {
    struct live_dirs dirs;
    int err = 0;
    if (!directory) {
        live_dirs_find(&dirs);
        directory = dirs.paths[dirs.chosen];
        if (mkdir(directory, 0700) < 0 && errno != EEXIST)
            err = negative_errno();
        if (err == 0)
            err = check_owner(directory);
    }
    if (err < 0)
        return err;
    char *path;
    int length = attempt == 0 ? asprintf(&path, "%s/%ld.live", directory, (long)getpid())
                              : asprintf(&path, "%s/%ld-%u.live", directory, (long)getpid(), attempt);
    if (length < 0)
        return -ENOMEM;
    *ret_path = path;
    return 0;
}
