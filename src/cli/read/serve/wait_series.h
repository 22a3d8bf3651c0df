/* Waits as a bounded number of counters, a series for each cause and program.
 *
 * Invariants:
 *   - Each wait is in one series. Programs without a series of their own are in the one of "other" programs of the cause; so
 *     are causes without a name, when there are too many.
 *   - If there are too many programs, the one whose waits were shortest lately gives way: what it has is added to the
 *     others, and its series ends. So no counter decreases, and no sum over programs does; a series that begins again
 *     begins anew. */
#ifndef WAIT_SERIES_H
#define WAIT_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "wait_causes.h"

#define WAIT_SERIES_MAX 200

struct wait_one_series {
    char *cause;
    enum wait_class class;
    char program[WAITED_NAME_BYTES + 1];
    uint64_t waits;
    uint64_t total_ns;
    uint64_t lately_ns; /* the same, where what is a minute old counts half at most */
};

/* Zeroed, it is empty. */
struct wait_series {
    struct wait_one_series series[WAIT_SERIES_MAX];
    size_t count;
    size_t others; /* of these: of other programs, one for each cause */
};

/* What was long ago counts less from now on. Call before waits of an interval of that length are added. */
void wait_series_age(struct wait_series *series, uint64_t interval_ns);

/* Without memory they are not added. */
void wait_series_add(struct wait_series *series, const struct wait_cause *cause, const char *program, uint64_t waits,
                     uint64_t total_ns);

void wait_series_finish(struct wait_series *series);

#endif
