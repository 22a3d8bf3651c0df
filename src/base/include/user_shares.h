/* A resource of bounded size, shared among users so that no user can take all of it.
 *
 * The daemon's owner (unless that is uid 0) and administrators are trusted: they may take all that is left. An
 * administrator has CAP_SYS_ADMIN in this user namespace (process_rights.h); uid 0 alone proves nothing. Any other user
 * gets more only while he holds less than what is left above a reserve for the trusted. So however much one user takes,
 * something is left for the next; and however many users take, something is left for the trusted.
 *
 * All files, waiting locks, workers, texts of the profile, buffers of directories, lines and places of the log of slow
 * calls, and calls under way of osprof attach follow this one rule.
 *
 * Threads: any, at once; threads that take at the same moment may exceed the bound a little. */
#ifndef USER_SHARES_H
#define USER_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define USER_SHARES_COUNTERS 1024U

struct user_shares {
    size_t max;
    uid_t owner;                               /* 0: no user is trusted because of his number */
    size_t taken;                              /* atomic; by all users */
    size_t taken_by[USER_SHARES_COUNTERS + 1]; /* atomic; by users other than the owner; users whose numbers agree in
                                                * the last bits share a counter; the last one is of uid 0 alone */
};

void user_shares_init(struct user_shares *shares, size_t max, uid_t owner);

/* True for the owner, unless that is uid 0. */
bool user_shares_is_trusted(const struct user_shares *shares, uid_t uid);

/* True if the user may take more now, of whatever amount: that one amount may exceed the bound. */
bool user_shares_are_left(const struct user_shares *shares, uid_t uid);

/* The same, but administrators may take all that is left. thread: acts as the user; its rights are read from /proc only
 * if the user himself may take no more */
bool user_shares_are_left_for(const struct user_shares *shares, uid_t uid, pid_t thread);

/* Counts an amount that the user takes, or gives back. */
void user_shares_take(struct user_shares *shares, uid_t uid, size_t amount);
void user_shares_give(struct user_shares *shares, uid_t uid, size_t amount);

#endif
