/* The directories for live files. */
#include "live_dirs.h"

#include <string.h>
#include <sys/stat.h>

#include "base.h"

/* The specification has relative paths ignored. */
static bool is_usable(const char *runtime_dir) {
    return runtime_dir && runtime_dir[0] == '/' && strlen(runtime_dir) + sizeof("/osprof") <= PATH_MAX;
}

void live_dirs_find(struct live_dirs *ret_dirs) {
    struct live_dirs dirs = {.count = LIVE_DIRS_MAX};
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
    if (is_usable(runtime_dir))
        snprintf(dirs.paths[0], PATH_MAX, "%s/osprof", runtime_dir);
    else
        snprintf(dirs.paths[0], PATH_MAX, "/run/user/%u/osprof", (unsigned)geteuid());
    if (geteuid() == 0)
        snprintf(dirs.paths[1], PATH_MAX, "/run/osprof");
    else
        snprintf(dirs.paths[1], PATH_MAX, "/tmp/osprof-%u", (unsigned)geteuid());
    dirs.chosen = is_usable(runtime_dir) ? 0 : 1;
    *ret_dirs = dirs;
}

/* In a world-writable directory another user may have made it first. */
int live_dirs_make(const struct live_dirs *dirs) {
    const char *directory = dirs->paths[dirs->chosen];
    struct stat attr;
    if (mkdir(directory, 0700) < 0 && errno != EEXIST)
        return negative_errno();
    if (lstat(directory, &attr) < 0)
        return negative_errno();
    if (!S_ISDIR(attr.st_mode))
        return -ENOTDIR;
    return attr.st_uid == geteuid() && (attr.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -EPERM;
}

int live_socket_path(const char *live_path, char **ret_path) {
    static const char suffix[] = ".live";
    const size_t length = strlen(live_path);
    const size_t stem = length > strlen(suffix) ? length - strlen(suffix) : 0;
    if (stem == 0 || strcmp(live_path + stem, suffix) != 0)
        return -EINVAL;
    return asprintf(ret_path, "%.*s.sock", (int)stem, live_path) < 0 ? -ENOMEM : 0;
}
