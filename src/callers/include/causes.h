/* Why a thread waits: the kernel functions on its stack, matched with patterns. Pure functions. */
#ifndef CAUSES_H
#define CAUSES_H

#include <stdbool.h>
#include <stddef.h>

#include "aggstats/why.h"

#define CAUSE_FUNCTIONS_MAX 48
#define CAUSE_FUNCTION_SIZE 64

/* The kernel stack of a thread, the innermost function first. As in /proc/PID/stack, functions of the scheduler are left
 * out: those between __sched_text_start and __sched_text_end of /proc/kallsyms. */
struct kernel_stack {
    char functions[CAUSE_FUNCTIONS_MAX][CAUSE_FUNCTION_SIZE];
    size_t count; /* 0: it is not in the kernel, or the stack is unknown */
};

/* Parses /proc/PID/task/TID/stack or wchan. Stacks and names that are too long are cut at the end. Offsets, modules,
 * and what the compiler appends to names, such as ".isra.0", are left out. */
void kernel_stack_parse(const char *text, struct kernel_stack *ret_stack);

/* Causes and their patterns, in order. A line is
 *     [-] [ID CLASS:] WORDS: [@TYPE[,TYPE]...] [^]FUNCTION [< FUNCTION]...
 * and matches a stack with these functions, each called by the next, directly or not; with ^ the first must be the
 * innermost; with @ the file system must be of one of these types; with - the thread waits for work. Functions and types
 * are patterns as in a shell (fnmatch(3)). Empty lines, and those that begin with '#', are ignored. */
struct causes;

struct cause {
    struct aggstats_why why;
    bool has_class; /* else the row says nothing of it */
    bool is_work;   /* the thread waits for work: nothing holds it up */
};

struct causes_error {
    size_t line; /* from 1 */
    char message[160];
};

/* Errors: -EBADMSG (*ret_error says where and why), -ENOMEM. Owner: the caller frees *ret_causes */
int causes_parse(const char *text, struct causes **ret_causes, struct causes_error *ret_error);
void causes_free(struct causes *causes);

/* The table that comes with osproffs, as text. */
extern const char causes_text[];

/* True if the cause of that stack depends on the type of the file system. */
bool causes_need_type(const struct causes *causes, const struct kernel_stack *stack);

/* The first cause that matches; NULL: none does.
 * type:    of the file system that the call is on, "ext4"; "": unknown, then lines with types do not match
 * Owner:   causes */
const struct cause *causes_find(const struct causes *causes, const struct kernel_stack *stack, const char *type);

/* The innermost function that does not merely wait on behalf of its caller; if all do, the outermost. NULL: an empty
 * stack */
const char *kernel_stack_place(const struct kernel_stack *stack);

/* "waiting for a CPU (runqueue latency)": what no stack shows. */
extern const struct aggstats_why cause_no_cpu;

/* The cause of a stack that no row matches: the function in which it waits. Of an empty one, that nothing was seen */
struct aggstats_why kernel_stack_why(const struct kernel_stack *stack);

#endif
