/* What a thread of ours waits for, as /proc tells. */
#ifndef THREAD_CAUSE_H
#define THREAD_CAUSE_H

#include "aggstats.h"
#include "causes.h"

struct thread_causes {
    struct causes *own; /* lines of the user's, tried first; NULL: none */
    struct causes *known;
};

/* Reads the table that comes with osproffs, and the file that is put before it. file: NULL: none
 * Errors: -EINVAL, -ENOMEM and those of reading the file; what is wrong has been said. thread_causes_finish() frees */
int thread_causes_init(struct thread_causes *causes, const char *file);
void thread_causes_finish(struct thread_causes *causes);

/* As root from the kernel's stack of the thread; else from the one function in which it waits. An aggstats_cause_fn;
 * context: a struct thread_causes */
bool thread_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

#endif
