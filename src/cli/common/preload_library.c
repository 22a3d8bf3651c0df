/* LD_PRELOAD holds a list of paths separated by blanks or colons, so a path cannot contain these. */
#include "preload_library.h"

#include <limits.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "path.h"

/* Programs built with AddressSanitizer refuse to run with another library before theirs, unless told that they may. */
#define ASAN_VARIABLE "ASAN_OPTIONS"
#define ASAN_PERMISSION "verify_asan_link_order=0"

static char *find_in(const char *directory, const char *name) {
    char *path = directory[0] == '/' ? path_join(directory, name) : NULL;
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static char *find_beside(const char *name) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    return find_in(self, name);
}

int preload_library_find(const char *name, char **ret_path) {
    const char *given = getenv("OSPROF_LIBRARIES");
    bool is_given = given && given[0];
    char *path = find_in(is_given ? given : OSPROF_LIBRARIES_DIRECTORY, name);
    if (!path && !is_given)
        path = find_beside(name);
    if (!path) {
        complain("cannot find %s in %s; name its directory by the variable OSPROF_LIBRARIES", name,
                 is_given ? given : OSPROF_LIBRARIES_DIRECTORY);
        return -ENOENT;
    }
    if (strpbrk(path, " :\t\n")) {
        complain("cannot preload %s: the loader takes no path with blanks or colons", path);
        free(path);
        return -EINVAL;
    }
    *ret_path = path;
    return 0;
}

/* Puts value before the variable's contents, with a colon between. */
static int put_before(const char *variable, const char *value) {
    const char *rest = getenv(variable);
    CLEANUP_FREE char *both = NULL;
    if (!rest || !rest[0])
        return setenv(variable, value, 1) < 0 ? negative_errno() : 0;
    if (asprintf(&both, "%s:%s", value, rest) < 0)
        return -ENOMEM;
    return setenv(variable, both, 1) < 0 ? negative_errno() : 0;
}

int preload_library_set(const char *library) {
    int error = put_before("LD_PRELOAD", library);
    return error == 0 ? put_before(ASAN_VARIABLE, ASAN_PERMISSION) : error;
}
