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

/* True if the cause of that stack may depend on the type of the file system. */
bool thread_causes_need_type(const struct thread_causes *causes, const struct kernel_stack *stack);

/* For a thread of this process or another: as root from the thread's kernel stack; else from the one function in which
 * it waits (wchan). An aggstats_cause_fn; context: a struct thread_causes */
bool thread_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

/* A thread, as it was seen at one moment. */
struct thread_seen {
    bool can_run;
    bool has_cpu;
    int64_t time_ns;    /* when that was */
    uint64_t ran_ns;    /* CPU time since it began */
    uint64_t queued_ns; /* time in which it could run and had no CPU; a wait is counted when it is over */
    const char *stack;  /* of the kernel, as kernel_stack_parse() takes it; "": it can run, or that is not known */
    const char *type;   /* of the file system that its call is on; "": unknown */
};

/* The same of a thread that somebody else has looked at, in memory alone. */
bool thread_cause_seen(const struct thread_causes *causes, const struct thread_seen *seen, uint64_t memory[2],
                       struct aggstats_wait *ret_wait);

#endif
