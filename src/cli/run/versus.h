/* What osprof run --vs is asked for, and what it holds meanwhile. */
#ifndef VERSUS_H
#define VERSUS_H

#include "namespace.h"
#include "run_mounts.h"
#include "run_report.h"
#include "run_sets.h"
#include "signals.h"

enum { VS_A, VS_B, VS_SIDES };

#define VS_RUNS_MAX 1000U /* all are kept in memory */

struct run_vs {
    const char *other;          /* A, for a shell: what B is compared with */
    const char *const *command; /* B, NULL at the end */
    unsigned warmup_count;
    unsigned repeat_count;     /* with several, a throw decides in each round which goes first; 0: until all ops are
                                  decided */
    unsigned most_count;       /* then: rounds at most */
    unsigned most_seconds;     /* then: no round begins after so long; 0: however long it takes */
    struct run_mounts *mounts; /* open, not started */
    const struct namespace *space;
    const struct signals *signals;
    const struct run_target *target; /* of VS_SIDES profiles for each directory; of a single run */
    const struct run_sets *sets;     /* of several */
};

struct versus_side {
    struct aggstats_profile *runs; /* [rounds that count][directory] */
    struct aggstats_profile *last; /* of the run just made: [directory] */
    int status;                    /* of the first run that failed, and was not the last for that */
};

struct versus {
    const struct run_vs *vs;
    const char *const *commands[VS_SIDES];
    int start_fd; /* the current directory, below the mounts */
    struct versus_side sides[VS_SIDES];
    size_t rounds_count; /* that count */
    int stop_status;     /* 0: all rounds were made */
    unsigned next_look;  /* after so many rounds; 0: none, or each operation is decided */
};

/* --repeat auto */
static inline bool versus_is_auto(const struct versus *it) {
    return it->vs->repeat_count == 0;
}

static inline const char *versus_side_name(size_t side) {
    return side == VS_A ? "A (--vs)" : "B";
}

/* The profile of a run. run: from 0 */
static inline struct aggstats_profile *versus_run(const struct versus *it, size_t side, size_t run, size_t directory) {
    return &it->sides[side].runs[run * it->vs->mounts->count + directory];
}

#endif
