/* A mount namespace of this process's own, so that only it and its children see its mounts, which vanish with them. A
 * user who may not make one makes a user namespace first, in which only his own uid and gid have numbers, the same as
 * outside. */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

struct namespace {
    bool has_user;          /* a user namespace too */
    uint64_t bounding_caps; /* the bounding set outside; bit n: capability n */
};

/* Errors:  the failed call's, already reported to the user
 * Threads: no other may exist; existing mounts stay as they are */
int namespace_enter(struct namespace *ret_namespace);

/* Call in a child, before it executes a program that mounts: it keeps CAP_SYS_ADMIN through exec. Errors: -errno */
int namespace_let_mount(void);

/* Call in a child, before it executes any other program: exec gives it no capability that it would not have got
 * outside. An ordinary user's program gets none anyway. */
void namespace_restrict(const struct namespace *space);

#endif
