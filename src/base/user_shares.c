/* Counters of what users have taken. */
#include "user_shares.h"

#define RESERVE_PART 16 /* of all, for the trusted */

void user_shares_init(struct user_shares *shares, size_t max, uid_t trusted) {
    *shares = (struct user_shares){.max = max, .trusted = trusted};
}

bool user_shares_is_trusted(const struct user_shares *shares, uid_t uid) {
    return uid == 0 || uid == shares->trusted;
}

bool user_shares_are_left(const struct user_shares *shares, uid_t uid) {
    size_t taken = __atomic_load_n(&shares->taken, __ATOMIC_SEQ_CST);
    if (user_shares_is_trusted(shares, uid))
        return taken < shares->max;
    size_t own = __atomic_load_n(&shares->taken_by[uid % USER_SHARES_COUNTERS], __ATOMIC_SEQ_CST);
    return own + taken + shares->max / RESERVE_PART < shares->max;
}

void user_shares_take(struct user_shares *shares, uid_t uid, size_t amount) {
    __atomic_add_fetch(&shares->taken, amount, __ATOMIC_SEQ_CST);
    if (!user_shares_is_trusted(shares, uid))
        __atomic_add_fetch(&shares->taken_by[uid % USER_SHARES_COUNTERS], amount, __ATOMIC_SEQ_CST);
}

void user_shares_give(struct user_shares *shares, uid_t uid, size_t amount) {
    if (!user_shares_is_trusted(shares, uid))
        __atomic_sub_fetch(&shares->taken_by[uid % USER_SHARES_COUNTERS], amount, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&shares->taken, amount, __ATOMIC_SEQ_CST);
}
