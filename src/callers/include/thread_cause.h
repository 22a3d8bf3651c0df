/* What a thread waits for, according to /proc. */
#ifndef THREAD_CAUSE_H
#define THREAD_CAUSE_H

#include "aggstats.h"
#include "aggstats/slow.h"
#include "causes.h"

#define THREAD_CAUSES_WHY_SIZE 256

struct thread_causes {
    struct causes *own; /* the user's lines, tried first; NULL: none */
    struct causes *known;
};

/* Reads the table that comes with osproffs, and the file whose lines are tried before it. file: NULL: none
 * Errors:  -EBADMSG a line is wrong, -EFBIG, -EILSEQ it is no text, -ENOMEM and those of reading the file; for the file
 *          ret_why gets the reason in words. thread_causes_finish() frees */
int thread_causes_init(struct thread_causes *causes, const char *file, char ret_why[THREAD_CAUSES_WHY_SIZE]);
void thread_causes_finish(struct thread_causes *causes);

/* The first cause that matches, the user's own before those that are known; NULL: none does. As causes_find() */
const struct cause *thread_causes_find(const struct thread_causes *causes, const struct kernel_stack *stack,
                                       const char *type);

/* For a thread of this process or another: as root from the thread's kernel stack; else from the one function in which
 * it waits (wchan). An aggstats_cause_fn; context: a struct thread_causes */
bool thread_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

#endif
