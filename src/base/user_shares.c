/* Counters of what users have taken. */
#include "user_shares.h"

#include "process_rights.h"

#define RESERVE_PART 16 /* of the bound, for the trusted */

void user_shares_init(struct user_shares *shares, size_t max, uid_t owner) {
    *shares = (struct user_shares){.max = max, .owner = owner};
}

bool user_shares_is_trusted(const struct user_shares *shares, uid_t uid) {
    return shares->owner != 0 && uid == shares->owner;
}

static size_t counter_of(uid_t uid) {
    return uid == 0 ? USER_SHARES_COUNTERS : uid % USER_SHARES_COUNTERS;
}

static bool is_any_left(const struct user_shares *shares) {
    return __atomic_load_n(&shares->taken, __ATOMIC_SEQ_CST) < shares->max;
}

bool user_shares_are_left(const struct user_shares *shares, uid_t uid) {
    if (user_shares_is_trusted(shares, uid))
        return is_any_left(shares);
    size_t taken = __atomic_load_n(&shares->taken, __ATOMIC_SEQ_CST);
    size_t own = __atomic_load_n(&shares->taken_by[counter_of(uid)], __ATOMIC_SEQ_CST);
    return own + taken + shares->max / RESERVE_PART < shares->max;
}

bool user_shares_are_left_for(const struct user_shares *shares, uid_t uid, pid_t thread) {
    return user_shares_are_left(shares, uid) || (is_any_left(shares) && process_is_admin(thread, uid));
}

void user_shares_take(struct user_shares *shares, uid_t uid, size_t amount) {
    __atomic_add_fetch(&shares->taken, amount, __ATOMIC_SEQ_CST);
    if (!user_shares_is_trusted(shares, uid))
        __atomic_add_fetch(&shares->taken_by[counter_of(uid)], amount, __ATOMIC_SEQ_CST);
}

void user_shares_give(struct user_shares *shares, uid_t uid, size_t amount) {
    if (!user_shares_is_trusted(shares, uid))
        __atomic_sub_fetch(&shares->taken_by[counter_of(uid)], amount, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&shares->taken, amount, __ATOMIC_SEQ_CST);
}
