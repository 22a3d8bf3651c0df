/* Finding the directory of kept results: $XDG_STATE_HOME/osprof, or ~/.local/state/osprof.
 *
 * ~ is the home of the effective user. sudo may leave HOME as it was: then root's results are in root's home, and no
 * directories of root get into the home of another user. */
#include "kept_place.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

#define PRIVATE_MODE 0700 /* as the XDG Base Directory Specification has it */

static bool belongs_to_us(int fd) {
    struct stat attr;
    return fstat(fd, &attr) == 0 && attr.st_uid == geteuid();
}

/* ---- Home --------------------------------------------------------------------------------------- */

static bool is_foreign(const char *home) {
    struct stat attr;
    return stat(home, &attr) == 0 && attr.st_uid != geteuid();
}

/* HOME, unless it belongs to another user; else what the user database says. NULL: unknown */
static const char *find_home(void) {
    const char *home = getenv("HOME");
    if (home && home[0] == '/' && !is_foreign(home))
        return home;
    const struct passwd *user = getpwuid(geteuid());
    return user && user->pw_dir[0] == '/' && !is_foreign(user->pw_dir) ? user->pw_dir : NULL;
}

/* ---- Opening step by step ------------------------------------------------------------------------ */

/* Opens a directory in a directory. Symbolic links of the user are followed: only he could put them there. */
static int open_step(int dir_fd, const char *name, bool makes, int *ret_fd) {
    *ret_fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd >= 0)
        return 0;
    if (errno != ENOENT || !makes)
        return negative_errno();
    if (!belongs_to_us(dir_fd))
        return -EPERM;
    if (mkdirat(dir_fd, name, PRIVATE_MODE) < 0 && errno != EEXIST)
        return negative_errno();
    *ret_fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret_fd < 0 ? negative_errno() : 0;
}

/* Replaces *fd by a directory in it. */
static int step(int *fd, const char *name, bool makes) {
    int next_fd = -1;
    int error = open_step(*fd, name, makes, &next_fd);
    close_fd(fd);
    *fd = next_fd;
    return error;
}

static int open_absolute(const char *path, int *ret_fd) {
    *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd < 0 ? negative_errno() : 0;
}

/* XDG_STATE_HOME itself may be missing. */
static int open_state_home(const char *path, bool makes, int *ret_fd) {
    const char *name;
    int error = open_absolute(path, ret_fd);
    if (error != -ENOENT || !makes)
        return error;
    CLEANUP_FD int parent_fd = -1;
    error = open_parent(AT_FDCWD, path, &parent_fd, &name);
    return error ? error : open_step(parent_fd, name, makes, ret_fd);
}

static int open_home_state(const char *home, bool makes, int *ret_fd) {
    int error = open_absolute(home, ret_fd);
    if (error == 0)
        error = step(ret_fd, ".local", makes);
    if (error == 0)
        error = step(ret_fd, "state", makes);
    return error;
}

/* ---- The directory ------------------------------------------------------------------------------ */

/* In a state directory. */
static int open_own(int state_fd, bool makes, int *ret_fd) {
    CLEANUP_FD int fd = -1;
    struct stat attr;
    int error = open_step(state_fd, "osprof", makes, &fd);
    if (error)
        return error;
    if (fstatat(state_fd, "osprof", &attr, AT_SYMLINK_NOFOLLOW) < 0)
        return negative_errno();
    if (S_ISLNK(attr.st_mode))
        return -ELOOP;
    if (!belongs_to_us(fd))
        return -EPERM;
    if (attr.st_mode & 077 && fchmod(fd, PRIVATE_MODE) < 0)
        return negative_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

const char *kept_place_reason(int error) {
    if (error == -ENXIO)
        return "this user has no home directory of his own";
    if (error == -EPERM)
        return "it, or the directory in which to make it, belongs to another user";
    return error == -ELOOP ? "it is a symbolic link" : strerror(-error);
}

int kept_place_open(bool makes, int *ret_fd, char ret_path[PATH_MAX]) {
    const char *state = getenv("XDG_STATE_HOME");
    const bool is_given = state && state[0] == '/'; /* the specification ignores relative ones */
    const char *home = is_given ? NULL : find_home();
    CLEANUP_FD int state_fd = -1;
    if (is_given)
        snprintf(ret_path, PATH_MAX, "%s/osprof", state);
    else
        snprintf(ret_path, PATH_MAX, "%s/.local/state/osprof", home ? home : "~");
    if (!is_given && !home)
        return -ENXIO;
    int error = is_given ? open_state_home(state, makes, &state_fd) : open_home_state(home, makes, &state_fd);
    return error ? error : open_own(state_fd, makes, ret_fd);
}
