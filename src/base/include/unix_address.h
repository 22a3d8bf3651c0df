/* The address of a socket in the file system, by its path. */
#ifndef UNIX_ADDRESS_H
#define UNIX_ADDRESS_H

#include <sys/un.h>

/* An address has room for a path of 107 bytes. A longer path is replaced by one through a descriptor of its directory.
 * Owner:   the caller closes *ret_dir_fd, once the address has been used
 * Errors:  of opening the directory; -ENAMETOOLONG: the name alone is too long */
int unix_address(const char *path, int *ret_dir_fd, struct sockaddr_un *ret_address);

#endif
