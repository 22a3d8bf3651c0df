/* Why a thread waits, in words: kernel functions on its stack, matched with patterns. Pure functions. */
#ifndef CAUSES_H
#define CAUSES_H

#include <stdbool.h>
#include <stddef.h>

#define CAUSE_SIZE 96 /* of the words, with their NUL */
#define CAUSE_FUNCTIONS_MAX 48
#define CAUSE_FUNCTION_SIZE 64

/* Where a thread is in the kernel, the innermost function first. */
struct kernel_stack {
    char functions[CAUSE_FUNCTIONS_MAX][CAUSE_FUNCTION_SIZE];
    size_t count; /* 0: it is not in the kernel, or that is not known */
};

/* Reads what /proc/PID/task/TID/stack or wchan tells. Of a longer stack or name the beginning is kept; offsets,
 * modules, and what the compiler adds to names, such as ".isra.0", are left out. */
void kernel_stack_parse(const char *text, struct kernel_stack *ret_stack);

/* Causes and their patterns, in order. A line is
 *     CAUSE: [^]FUNCTION [< FUNCTION]...
 * and fits a stack with these functions, each called by the next, directly or not; with ^ the first is the innermost.
 * They are patterns as in a shell (fnmatch(3)). Empty lines, and those that begin with '#', are left out. */
struct causes;

struct causes_error {
    size_t line; /* from 1 */
    char message[160];
};

/* Errors: -EBADMSG (*ret_error says where and why), -ENOMEM. Owner: the caller frees *ret_causes */
int causes_parse(const char *text, struct causes **ret_causes, struct causes_error *ret_error);
void causes_free(struct causes *causes);

/* The table that comes with osproffs, as text. */
extern const char causes_text[];

/* The first cause that fits; NULL: none does. Owner: causes */
const char *causes_find(const struct causes *causes, const struct kernel_stack *stack);

/* The innermost function that does not only wait for others; of only such ones the outermost. NULL: an empty stack */
const char *kernel_stack_place(const struct kernel_stack *stack);

#endif
