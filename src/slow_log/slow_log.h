/* A log of slow calls for operators: a line of JSON for each, in a file or in the system log.
 *
 * Calls go into a bounded queue, and a thread of the log writes them, so a slow log delays neither calls nor the thread
 * that watches for slow calls. A call may get no line: because the disk is full, too many come at a time, or the rate
 * of the system log is limited. Such calls are counted: each line says how many calls before it are missing. */
#ifndef SLOW_LOG_H
#define SLOW_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"

#define SLOW_LOG_SYSTEM "syslog" /* the name of the system log */
#define SLOW_LOG_SIZE_DEFAULT (16U << 20)
#define SLOW_LOG_RATE_DEFAULT 60

struct slow_log_options {
    const char *target;      /* a file, or SLOW_LOG_SYSTEM */
    const char *mountpoint;  /* printed in each line; borrowed until the end */
    uint64_t size_bytes_max; /* of the file, before it is rotated; 0: never */
    unsigned rate_max;       /* lines in the system log a minute */
    struct aggstats_clock clock;
};

struct slow_log;

/* Opens the file, and starts the thread. Prints errors.
 * Errors:  -EPERM, -ENOTSUP the file may not be written to, -EBUSY another process writes to the file, those of
 *          opening
 * Owner:   the caller ends it */
int slow_log_start(const struct slow_log_options *options, struct slow_log **ret_log);

/* An aggstats_slow_fn; context: a struct slow_log. Does not wait */
void slow_log_take(void *context, const struct aggstats_call *call, uint64_t lost);

/* Writes the queued lines, and says what is missing. Later calls are not written. NULL is fine. Returns false if it
 * hangs for more than two seconds; it may not be destroyed then */
bool slow_log_end(struct slow_log *log);

/* NULL is fine. */
void slow_log_destroy(struct slow_log *log);

#endif
