/* A layer at the bottom of the stack: every op returns the status that the test sets, leaves results unchanged, and
 * stores its arguments. */
#ifndef LAYER_FAILING_H
#define LAYER_FAILING_H

#include "fs_ops.h"
#include "op_calls.h"

struct layer_failing {
    struct fs_layer layer;
    int status; /* result of every op: -errno, or 0 */

    unsigned calls;    /* of ops */
    enum fs_op op;     /* the last one */
    size_t word_count; /* its arguments, see op_words() */
    uint64_t words[OP_WORDS_MAX];

    unsigned forgets;
    fs_ino forgotten_ino; /* of the last forget */
    uint64_t forgotten_count;
};

void layer_failing_init(struct layer_failing *failing, int status);

/* True if the last call was of that op, with what op_call() passes for these arguments. */
bool layer_failing_was_called_with(const struct layer_failing *failing, enum fs_op op, struct op_arguments *arguments);

#endif
