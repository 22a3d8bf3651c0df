/* Where osprof is built without libdw: user_stacks_start() fails, and no other function is called. */
#include <errno.h>
#include <stdio.h>

#include "parts.h"
#include "user_stacks.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

int user_stacks_start(struct user_stacks **ret_stacks, char ret_why[USER_STACKS_WHY_SIZE]) {
    snprintf(ret_why, USER_STACKS_WHY_SIZE, "%s", part_missing(PART_STACKS));
    return -ENOTSUP;
}

uint32_t user_stacks_parent(const struct user_stacks *stacks) {
    return 0;
}

void user_stacks_note(struct user_stacks *stacks, uint32_t process, uint64_t start_stack) {
}

void user_stacks_find(struct user_stacks *stacks, const char *op, const struct collected_slow *call,
                      const struct collected_user_stack *from, struct user_functions *ret_functions) {
    *ret_functions = (struct user_functions){.stack = ""};
}

void user_stacks_finish(struct user_stacks *stacks) {
}
