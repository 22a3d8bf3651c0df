/* Finding the directory of state: the first of these that another user does not control.
 *
 * ~ is HOME, or else the home that the user database has. sudo may leave HOME and XDG_STATE_HOME as they were: then what root
 * keeps is in root's home, and no directories of root get into the home of another user. */
#include "state_dir.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "own_dir.h"

static bool is_home(const char *home) {
    struct stat attr;
    return home && home[0] == '/' && (stat(home, &attr) < 0 || attr.st_uid == geteuid());
}

/* Root does not use what another user can exchange. Other users' directories may be below that of a group's administrator:
 * such a user trusts the directory that is open. */
static int open_place(const char *path, unsigned made_max, int *ret_fd) {
    CLEANUP_FD int fd = -1;
    struct stat attr;
    const int error = own_dir_open(path, made_max, geteuid() == 0, &fd);
    if (error)
        return error;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (attr.st_uid != geteuid())
        return -EPERM;
    if (attr.st_mode & 077 && fchmod(fd, OWN_DIR_MODE) < 0)
        return negative_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

const char *state_dir_reason(int error) {
    if (error == -ENXIO)
        return "this user has no home directory of his own";
    if (error == -EPERM)
        return "it, or a directory on the way to it, belongs to another user";
    return error == -ELOOP ? "it is a symbolic link" : strerror(-error);
}

/* The specification ignores relative paths. */
int state_dir_open(bool makes, int *ret_fd, char ret_path[PATH_MAX]) {
    static const char below_home[] = ".local/state/osprof";
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    const struct passwd *user = getpwuid(geteuid());
    const struct {
        const char *base;  /* a directory; NULL: there is no such place */
        const char *below; /* the part that is made */
        unsigned made_max;
    } places[] = {
        {state && state[0] == '/' ? state : NULL, "osprof", 2},
        {is_home(home) ? home : NULL, below_home, 3},
        {user && is_home(user->pw_dir) ? user->pw_dir : NULL, below_home, 3},
    };
    int error = -ENXIO;
    snprintf(ret_path, PATH_MAX, "~/.local/state/osprof");
    for (size_t i = 0; i < ARRAY_SIZE(places) && (error == -ENXIO || error == -EPERM); i++) {
        if (!places[i].base)
            continue;
        if (snprintf(ret_path, PATH_MAX, "%s/%s", places[i].base, places[i].below) >= PATH_MAX)
            return -ENAMETOOLONG;
        error = open_place(ret_path, makes ? places[i].made_max : 0, ret_fd);
    }
    return error;
}
