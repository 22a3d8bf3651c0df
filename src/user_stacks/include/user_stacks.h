/* Which functions of a program the stack of its thread is of.
 *
 * Programs are read by a process of its own, the reader, since anybody may have made them: it has no right but to read them,
 * and what is wrong in one of them ends only that process, which is started again. A file that has taken too long, or ended it,
 * is left alone for a minute. It opens what is mapped by /proc/PID/map_files, so it looks up no names, and finds what is in a
 * container or deleted.
 *
 * There is a second reader for users whose programs take long, so that others do not wait for it. Answers are waited for
 * during a part of the time only, and the time in which programs of a user are read is bounded too: what is not answered in
 * time is not known.
 *
 * The C library has no frame pointers, and its wrappers of system calls have no frames at all: the function that called one
 * is not among those that the kernel finds. So stacks are followed by the unwind tables (.eh_frame) of programs, as far as
 * the copy of the stack goes, and by frame pointers where there are no tables. */
#ifndef USER_STACKS_H
#define USER_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"
#include "collected.h"

struct user_stacks; /* opaque */

#define USER_STACKS_WHY_SIZE 160

/* Starts that process, and one that starts it again. No other thread may be there yet, and nothing that others may not see.
 * Owner:   the caller finishes *ret_stacks
 * Errors:  -ENOTSUP and others, with *ret_why filled: a clause, for the user */
int user_stacks_start(struct user_stacks **ret_stacks, char ret_why[USER_STACKS_WHY_SIZE]);

/* The number of the process that starts readers. Calls of its children should not be counted; it makes none itself. */
uint32_t user_stacks_parent(const struct user_stacks *stacks);

/* Notes what a process has mapped, in case it ends before it is asked for. Does not wait.
 * start_stack: as in struct collected_slow */
void user_stacks_note(struct user_stacks *stacks, uint32_t process, uint64_t start_stack);

/* The stack is known to its end, and has none of the program itself but the one that the kernel begins it with. */
#define USER_STACKS_NONE "(none: only libraries are on its stack)"

/* Names of functions. */
struct user_functions {
    char caller[AGGSTATS_FUNCTION_SIZE]; /* the innermost one of the program itself, not of a library or, in a static
                                          * program, the C library; USER_STACKS_NONE; "(not known: ...)": the reason */
    char stack[AGGSTATS_STACK_SIZE];     /* all, as in struct aggstats_slow_call; " < ..." at its end: there are more.
                                          * "": unknown */
};

/* Waits for 0.25 seconds at once at most, and during five eighths of the time, all in all. op: of the call
 * Threads: one at a time, like the above */
void user_stacks_find(struct user_stacks *stacks, const char *op, const struct collected_slow *call,
                      const struct collected_user_stack *from, struct user_functions *ret_functions);

/* NULL is fine. */
void user_stacks_finish(struct user_stacks *stacks);

#endif
