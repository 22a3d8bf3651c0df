/* LD_PRELOAD holds a list of paths separated by blanks or colons, so a path cannot contain these. */
#include "preload_library.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "path.h"

/* Programs built with AddressSanitizer refuse to run with another library before theirs, by the path that is preloaded:
 * it must contain this. Those that have AddressSanitizer linked in refuse to run with a library whose real path does. So
 * each library has a link of such a name beside it. */
#define LINK_ENDING ".libasan.so"

/* NULL: it cannot be read. */
static char *take_readable(char *path) {
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

int preload_library_find(const char *name, char **ret_path) {
    const char *given = getenv("OSPROF_LIBRARIES");
    bool is_given = given && given[0];
    const char *directory = is_given ? given : OSPROF_LIBRARIES_DIRECTORY;
    CLEANUP_FREE char *path = directory[0] == '/' ? take_readable(path_join(directory, name)) : NULL;
    if (!path && !is_given)
        path = take_readable(path_beside_program(name));
    if (!path) {
        complain("cannot find %s in %s; name its directory by the variable OSPROF_LIBRARIES", name, directory);
        return -ENOENT;
    }
    if (strpbrk(path, " :\t\n")) {
        complain("cannot preload %s: the loader takes no path with blanks or colons", path);
        return -EINVAL;
    }
    /* The library's link, if there is one. */
    if (asprintf(ret_path, "%.*s" LINK_ENDING, (int)(strlen(path) - strlen(".so")), path) < 0) {
        *ret_path = NULL;
        complain("no memory");
        return -ENOMEM;
    }
    if (access(*ret_path, R_OK) < 0) {
        free(*ret_path);
        *ret_path = steal_pointer(&path);
    }
    return 0;
}

int preload_library_check(const char *library, const char *mark) {
    struct stat attr;
    CLEANUP_FD int fd = open(library, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &attr) < 0) {
        complain("cannot read %s: %s", library, strerror(errno));
        return -EIO;
    }
    void *bytes = mmap(NULL, (size_t)attr.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const bool is_own = bytes != MAP_FAILED && memmem(bytes, (size_t)attr.st_size, mark, strlen(mark));
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)attr.st_size);
    if (is_own)
        return 0;
    complain("cannot preload %s: it is of another version than osprof", library);
    return -EBADMSG;
}

int preload_library_set(const char *library) {
    const char *others = getenv("LD_PRELOAD");
    CLEANUP_FREE char *both = NULL;
    if (!others || !others[0])
        return setenv("LD_PRELOAD", library, 1) < 0 ? negative_errno() : 0;
    if (asprintf(&both, "%s:%s", library, others) < 0)
        return -ENOMEM;
    return setenv("LD_PRELOAD", both, 1) < 0 ? negative_errno() : 0;
}
