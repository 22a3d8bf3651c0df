/* What the kernel says of a directory that the user has named. A child process asks, since the file system may wait for a
 * server or a daemon, and a process that waits for them cannot always be woken. */
#ifndef ASKED_DIRECTORY_H
#define ASKED_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define ASKED_DIRECTORY_SECONDS 3

struct asked_directory {
    int error;           /* 0, or a negative errno value; then the rest is not valid */
    uint64_t mount_id;   /* of the mount that the kernel finds there */
    char path[PATH_MAX]; /* absolute, without symbolic links; "": not asked for */
};

/* resolves: also asks for the path
 * Errors:  in ret_asked: -ETIMEDOUT there was no answer within ASKED_DIRECTORY_SECONDS; -ENOTDIR; those of pipe(2),
 *          fork(2), statx(2) and realpath(3) */
void asked_directory_ask(const char *directory, bool resolves, struct asked_directory *ret_asked);

#endif
