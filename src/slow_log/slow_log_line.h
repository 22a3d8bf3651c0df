/* A slow call as a line of JSON. */
#ifndef SLOW_LOG_LINE_H
#define SLOW_LOG_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "aggstats.h"

struct slow_log_call {
    struct aggstats_call call; /* without stacks; its path and its chain are behind this struct */
    uint64_t missing;          /* slow calls before it that have no line */
};

/* Owner: the caller frees it, as one piece of memory. NULL: no memory */
struct slow_log_call *slow_log_call_copy(const struct aggstats_call *call);

/* The line with its newline, with the same fields in the same order each time; osprof(5) explains them.
 * Errors:  -ENOMEM
 * Owner:   the caller frees *ret_line */
int slow_log_line(const struct slow_log_call *call, const char *mountpoint, const struct aggstats_clock *clock,
                  char **ret_line, size_t *ret_size_bytes);

#endif
