/* libaggstats: the values that latencies may be correlated with, in joint profiles. */
#ifndef AGGSTATS_VALUE_H
#define AGGSTATS_VALUE_H

#include <stdint.h>

#include "abi.h"

AGGSTATS_BEGIN_DECLARATIONS

/* Values that latencies may be correlated with (thesis §3.1.6). */
enum aggstats_value {
    AGGSTATS_SIZE,     /* bytes asked for */
    AGGSTATS_RESULT,   /* the outcome: bytes moved, entries of a directory */
    AGGSTATS_OFFSET,   /* in the file or directory */
    AGGSTATS_ERROR,    /* errno value, 0: none */
    AGGSTATS_PAST_EOF, /* 1: nothing was left to read */
    AGGSTATS_BLOCKED,  /* how often the thread waited: voluntary context switches */
    AGGSTATS_CPU,      /* nanoseconds of CPU time of the thread */
    AGGSTATS_VALUE_COUNT,
};

/* As in profiles: "SIZE", "PAST_EOF"; NULL for no such value. */
const char *aggstats_value_name(unsigned value);

/* The value of that name, in letters of either case; -1: none. */
int aggstats_value_of_name(const char *name);

/* A row of a joint profile stands for one value (ERROR, PAST_EOF), or for those from its first up to twice that, 0 for
 * itself.
 * Shape:   row < aggstats_value_rows(value), at most AGGSTATS_VALUE_ROWS_MAX */
#define AGGSTATS_VALUE_ROWS_MAX 134U
unsigned aggstats_value_rows(enum aggstats_value value);
unsigned aggstats_value_row(enum aggstats_value value, uint64_t number);
uint64_t aggstats_value_first(enum aggstats_value value, unsigned row);

AGGSTATS_END_DECLARATIONS

#endif
