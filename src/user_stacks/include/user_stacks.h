/* Finds the functions of a program that are on the stack of a thread.
 *
 * Programs are read by a separate process, the reader, since programs may be hostile. The reader may only read files.
 * If a malformed program crashes the reader, only that process ends, and is started again. A file that has taken too
 * long, or has crashed the reader, is ignored for a minute. The reader opens mapped files by /proc/PID/map_files. So it
 * looks up no names, and also finds files that are deleted, or in a container.
 *
 * A second reader serves users whose programs take long, so that other users do not wait. osprof waits for answers
 * during a limited part of the time, and the time for reading a user's programs is limited too. If an answer is late,
 * the stack is unknown.
 *
 * The C library has no frame pointers, and its wrappers of system calls have no frames. So the kernel does not find the
 * function that called a wrapper. Stacks are therefore followed by the unwind tables (.eh_frame) of programs, as far as
 * the copy of the stack goes, and by frame pointers where there are no tables. */
#ifndef USER_STACKS_H
#define USER_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"
#include "collected.h"

struct user_stacks; /* opaque */

#define USER_STACKS_WHY_SIZE 160

/* Starts the readers, and a process that restarts them. Call before this process starts threads or has secrets: the new
 * processes are forked from it.
 * Owner:   the caller finishes *ret_stacks
 * Errors:  -ENOTSUP and others, with *ret_why filled: a clause, for the user */
int user_stacks_start(struct user_stacks **ret_stacks, char ret_why[USER_STACKS_WHY_SIZE]);

/* The number of the starter, the process that starts readers. Do not count calls of its children; the starter itself
 * makes no calls. */
uint32_t user_stacks_parent(const struct user_stacks *stacks);

/* Notes the mappings of a process, in case the process ends before its stack is needed. Does not wait.
 * start_stack: as in struct collected_slow */
void user_stacks_note(struct user_stacks *stacks, uint32_t process, uint64_t start_stack);

/* The stack is known to its end, and has no function of the program itself, except the program's entry. */
#define USER_STACKS_NONE "(none: only libraries are on its stack)"

/* Names of functions. */
struct user_functions {
    char caller[AGGSTATS_FUNCTION_SIZE]; /* the innermost one of the program itself, not of a library or, in a static
                                          * program, the C library; USER_STACKS_NONE; "(not known: ...)": the reason */
    char stack[AGGSTATS_STACK_SIZE];     /* all, as in struct aggstats_call; " < ..." at its end: there are more.
                                          * "": unknown */
};

/* Waits for 0.25 seconds at once at most, and during five eighths of the time, all in all. op: of the call
 * Threads: one at a time, like the above */
void user_stacks_find(struct user_stacks *stacks, const char *op, const struct collected_slow *call,
                      const struct collected_user_stack *from, struct user_functions *ret_functions);

/* NULL is fine. */
void user_stacks_finish(struct user_stacks *stacks);

#endif
