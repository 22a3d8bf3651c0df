#include "unix_address.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base.h"

int unix_address(const char *path, int *ret_dir_fd, struct sockaddr_un *ret_address) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    int error = open_parent(AT_FDCWD, path, &dir_fd, &name);
    if (error)
        return error;
    int length = snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (length >= (int)sizeof(address.sun_path))
        length = snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir_fd, name);
    if (length >= (int)sizeof(address.sun_path))
        return -ENAMETOOLONG;
    *ret_dir_fd = steal_fd(&dir_fd);
    *ret_address = address;
    return 0;
}
