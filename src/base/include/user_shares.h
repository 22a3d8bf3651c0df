/* Something that there is a bounded amount of, shared among users: nobody can take it all.
 *
 * The owner, unless that is uid 0, and administrators are trusted: they get what there is. An administrator is who has
 * CAP_SYS_ADMIN here (process_rights.h); uid 0 alone is no sign of that. Another user gets more only while he has less
 * than is left besides a reserve for the trusted: so something is left for the next user, however much this one asks
 * for, and for the trusted, however many users ask.
 *
 * Threads: any, at once; who take at the same moment may get a little more than the bound. */
#ifndef USER_SHARES_H
#define USER_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define USER_SHARES_COUNTERS 1024U

struct user_shares {
    size_t max;
    uid_t owner;                               /* 0: no user is trusted by his number */
    size_t taken;                              /* atomic; by all */
    size_t taken_by[USER_SHARES_COUNTERS + 1]; /* atomic; by users other than the owner, who share one where their
                                                  numbers agree in the last bits; the last is of uid 0 alone */
};

void user_shares_init(struct user_shares *shares, size_t max, uid_t owner);

/* True for the owner, unless that is uid 0. */
bool user_shares_is_trusted(const struct user_shares *shares, uid_t uid);

/* Whether the user may take more now, however much that is: what he takes may exceed the bound once. */
bool user_shares_are_left(const struct user_shares *shares, uid_t uid);

/* The same, where an administrator finds what there is. thread: acts as the user; asked of /proc only where the user
 * himself may take no more */
bool user_shares_are_left_for(const struct user_shares *shares, uid_t uid, pid_t thread);

/* Counts an amount that the user takes, or gives back. */
void user_shares_take(struct user_shares *shares, uid_t uid, size_t amount);
void user_shares_give(struct user_shares *shares, uid_t uid, size_t amount);

#endif
