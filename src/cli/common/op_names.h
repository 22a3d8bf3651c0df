/* The operations that --op chooses. */
#ifndef OP_NAMES_H
#define OP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: all. */
struct op_names {
    const char **names; /* without OP_; borrowed from the command line */
    size_t count;
};

/* Takes the argument of one --op. Errors: -ENOMEM */
int op_names_add(struct op_names *names, const char *argument);
void op_names_finish(struct op_names *names);

#define CLEANUP_OP_NAMES __attribute__((cleanup(op_names_finish)))

/* Whether an op is chosen; letters may be of either case. */
bool op_names_want(const struct op_names *names, const char *op_name);

#endif
