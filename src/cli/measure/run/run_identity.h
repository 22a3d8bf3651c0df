/* The user as whom the command runs, with --user: osprof itself stays root. */
#ifndef RUN_IDENTITY_H
#define RUN_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

struct run_identity {
    char *name; /* NULL: the command runs as osprof does, and nothing else is set */
    char *home;
    char *shell;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    int group_count;
};

/* user:    its name or number
 * Owner:   the caller finishes *ret_identity
 * Errors:  reported to the user: not root, no such user, the kernel lets nobody become that user */
int run_identity_find(struct run_identity *ret_identity, const char *user);

/* The calling process becomes that user for good, without capabilities unless that is root; HOME, USER, LOGNAME and SHELL
 * become the user's. Without a name nothing happens.
 * Threads: no other may exist
 * Errors:  -errno: it may not go on */
int run_identity_assume(const struct run_identity *identity);

/* Whether that user may do it. mode: as for access(2) */
bool run_identity_may(const struct run_identity *identity, const char *path, int mode);

/* Lets that user do more with a file of ours, by its access control list (acl(5)). name: in dir_fd; not a link
 * permissions: R_OK, W_OK, X_OK
 * Threads: for a directory, with an exclusive lock (flock(2)) on it
 * Errors:  those of open(2), setxattr(2); -EPERM the file is not ours; -E2BIG the list is long */
int run_identity_let(const struct run_identity *identity, int dir_fd, const char *name, int permissions);

/* Takes the rights to a directory back from that user, unless there are live files in it that the user may use.
 * Threads: with an exclusive lock on it */
void run_identity_forbid(const struct run_identity *identity, int dir_fd);

/* Zeroed is fine. */
void run_identity_finish(struct run_identity *identity);

#endif
