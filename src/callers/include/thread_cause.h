/* What a thread waits for, according to /proc. */
#ifndef THREAD_CAUSE_H
#define THREAD_CAUSE_H

#include "aggstats.h"
#include "aggstats/slow.h"
#include "causes.h"
#include "place.h"

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

/* The first cause that matches, the user's own before those that are known; if none does, the function in which the
 * thread waits. A row of the user's without a class has that of the known one. type: as of causes_find() */
struct cause thread_causes_find(const struct thread_causes *causes, const struct kernel_stack *stack, const char *type);

/* True if the cause of that stack may depend on the type of the file system. */
bool thread_causes_need_type(const struct thread_causes *causes, const struct kernel_stack *stack);

/* What was read of a thread at one moment. The cause and the holder of a wait are found from the same reading. */
struct thread_reading {
    struct aggstats_why why;
    uint64_t ran_ns;           /* its CPU time, read before all else; 0: unknown */
    struct kernel_stack stack; /* count 0: the thread runs, or its stack is not known */
    bool has_place;            /* the next two were read */
    struct thread_call call;
    struct place place;
};

/* For a thread of this process or another: as root from the thread's kernel stack; else from the one function in which
 * it waits (wchan). Returns false if what it waits for is unknown; the words say why */
bool thread_read(const struct thread_causes *causes, const struct aggstats_look *look,
                 struct thread_reading *ret_reading);

/* Reads what the thread's call is on, if that has not been read. */
void thread_reading_read_place(struct thread_reading *reading, uint64_t thread);

/* The part of it that recorders keep. */
void thread_reading_wait(const struct thread_reading *reading, struct aggstats_wait *ret_wait);

/* What somebody else saw of a thread at one moment. */
struct thread_seen {
    bool can_run;
    bool has_cpu;
    int64_t time_ns;                  /* when that was */
    uint64_t ran_ns;                  /* CPU time since it began */
    uint64_t queued_ns;               /* time in which it could run and had no CPU; a wait is counted when it is over */
    const struct kernel_stack *stack; /* empty: the thread can run, or its stack is not known */
    const char *type;                 /* of the file system that its call is on; "": unknown */
};

/* As thread_read(), of a thread that somebody else has looked at, in memory alone. */
bool thread_read_seen(const struct thread_causes *causes, const struct thread_seen *seen, uint64_t memory[2],
                      struct thread_reading *ret_reading);

/* True if the thread is in the same wait as when it was read: it has not run since, and cannot run. */
bool thread_reading_holds(const struct thread_reading *reading, uint64_t thread);

#endif
