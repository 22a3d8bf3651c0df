/* What threads have waited for, added up. */
#ifndef WAIT_SUMS_H
#define WAIT_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "number_map.h"
#include "wait_causes.h"

/* When there are so many rows, the threads that have waited least are summed by program; if that does not suffice, the programs
 * that have are summed, too: one may give itself any number of names. A wait that goes on, and was reported in part, keeps its
 * row; so there may be more rows, up to the second number. */
#define WAIT_ROWS_MAX 20000
#define WAIT_ROWS_ALL_MAX 40000

/* What of a row was reported before a moment. */
struct wait_mark {
    uint64_t waits;
    uint64_t ns; /* of total_ns and now_ns */
};

/* Waits of one thread for one thing. */
struct wait_row {
    const struct wait_cause *cause;
    uint64_t cgroup;  /* 0: of several */
    uint32_t process; /* 0: of several, like thread */
    uint32_t thread;
    char program[WAITED_NAME_BYTES + 1];
    char thread_name[WAITED_NAME_BYTES + 1];
    uint64_t waits; /* that have ended */
    uint64_t total_ns;
    uint64_t longest_ns;     /* of the waits that have ended since the last mark, and of the waits now */
    uint64_t stack;          /* of the longest; 0: not known */
    uint64_t now;            /* threads that wait now */
    uint64_t now_ns;         /* how long they have by now; not in total_ns */
    struct wait_mark marked; /* at the last mark */

    /* For a caller with a longer interval, who sets them; they are added up when rows are summed. */
    struct wait_mark begun;
    uint64_t begun_longest_ns;
    uint64_t begun_stack;
};

/* All of it, as reported. */
struct wait_mark wait_row_mark(const struct wait_row *row);

/* An empty one. */
struct wait_row wait_row_of(const struct wait_cause *cause, const struct waited_cell *cell);

struct wait_sums {
    struct wait_row *rows; /* [count] */
    size_t count;
    struct number_map places; /* of rows, from 1, by a hash of what tells them apart */
    size_t fold_at;           /* the number of rows at which some are summed again */
    bool is_folded;           /* some are summed by program */
    bool has_no_memory;       /* something was not added */
};

/* Nobody waits any more, before those who do are added again. */
void wait_sums_begin_now(struct wait_sums *sums);

/* Errors: sums->has_no_memory is set */
void wait_sums_add(struct wait_sums *sums, const struct wait_cause *cause, const struct waited_cell *cell,
                   const struct waited_sum *sum);
void wait_sums_add_now(struct wait_sums *sums, const struct wait_cause *cause, const struct waiting_now *now);

/* Here a new interval begins. */
void wait_sums_mark(struct wait_sums *sums);

/* Frees everything; zeroed, it can be used again. */
void wait_sums_finish(struct wait_sums *sums);

#endif
