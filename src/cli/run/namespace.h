/* A mount namespace of this process's own, so that what it mounts is seen by nobody but it and its children, and is
 * gone when they are. Who may not make one makes a user namespace first, in which its own uid and gid, and no other,
 * have the numbers that they have outside. */
#ifndef NAMESPACE_H
#define NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

struct namespace {
    bool has_user;          /* a user namespace too */
    uint64_t bounding_caps; /* the bounding set outside; bit n: capability n */
};

/* Errors:  what failed, already told to the user
 * Threads: no other may exist; what was mounted before stays as it is */
int namespace_enter(struct namespace *ret_namespace);

/* In a child, before it becomes a program that mounts: it keeps CAP_SYS_ADMIN through exec. Errors: -errno */
int namespace_let_mount(void);

/* In a child, before it becomes any other program: it gets no capability by exec that it would not have got outside.
 * An ordinary user's program gets none anyway. */
void namespace_restrict(const struct namespace *space);

#endif
