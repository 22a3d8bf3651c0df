/* osprof run --vs: two commands run in turn, and what differs between their profiles.
 *
 * Each run has mounts of its own, with empty caches: if both were mounted at once, one would go on showing names and
 * attributes that the other has just changed. The profiles of several runs are compared as two sets. */
#ifndef VERSUS_H
#define VERSUS_H

#include "namespace.h"
#include "run_identity.h"
#include "run_mounts.h"
#include "run_report.h"
#include "run_user.h"
#include "signals.h"
#include "verdict.h"

/* ---- Runs that are kept ------------------------------------------------------------------------- */

/* Directories in which each run of a comparison is a profile of its own: a-01.osprof, b-01.osprof and so on. 'osprof
 * compare DIR' takes them. */
struct run_sets {
    const char *given; /* NULL: nothing is kept */
    size_t count;      /* of profiled directories; if there are several, DIR.1, DIR.2 and so on */
    int parent_fd;
    char **names; /* [count] below the parent */
    int *fds;     /* [count] -1: not open */
};

/* Makes the directories, before anything is mounted over them; an existing one must be empty.
 * Owner:   the caller finishes *ret_sets, also after an error
 * Errors:  reported to the user */
int run_sets_open(struct run_sets *ret_sets, const char *given, size_t count);

/* Removes directories without a profile. */
void run_sets_finish(struct run_sets *sets);

/* Saves the profile of a run. side: 0 is A, 1 is B; run: from 1. If it cannot be written it is printed on standard
 * error.
 * Errors:  reported to the user */
int run_sets_save(const struct run_sets *sets, size_t directory, size_t side, size_t run,
                  const struct aggstats_profile *profile);

/* ---- Arguments, and state ----------------------------------------------------------------------- */

enum { VS_A, VS_B, VS_SIDES };

#define VS_RUNS_MAX 1000U /* all are kept in memory */

struct run_vs {
    const char *other;          /* A, for a shell: the command that B is compared with */
    const char *const *command; /* B, NULL at the end */
    unsigned warmup_count;
    unsigned repeat_count;     /* if several, each round draws lots which goes first; 0: until all ops are decided */
    unsigned most_count;       /* then: rounds at most */
    unsigned most_seconds;     /* then: no round begins after this time; 0: no limit */
    unsigned fail_on;          /* what makes the exit status 1: VERDICT_ON_*; 0: it is that of the commands */
    struct run_mounts *mounts; /* open, not started; none: the layer user is compared */
    struct run_user *user;     /* open, then */
    const struct namespace *space;
    const struct run_identity *as; /* of both commands */
    const struct signals *signals;
    const struct run_target *target; /* of VS_SIDES profiles for each directory; for a single run */
    const struct run_target *page;   /* of HTML, about both; of one directory */
    const struct run_sets *sets;     /* for several runs */
    bool is_quiet;                   /* no page */
    bool charts;                     /* of several runs: histograms of what changed */
};

struct versus_side {
    struct aggstats_profile *runs; /* [rounds that count][versus_count()] */
    struct aggstats_profile *last; /* of the latest run: [versus_count()] */
    int status;                    /* of the first run that failed, unless that ended the runs */
};

struct versus {
    const struct run_vs *vs;
    const char *const *commands[VS_SIDES];
    int start_fd; /* the current directory, below the mounts */
    struct versus_side sides[VS_SIDES];
    size_t rounds_count; /* those that count */
    int stop_status;     /* 0: all rounds were made */
    bool is_so;          /* a comparison found what the exit status is asked for */
    unsigned next_look;  /* after this many rounds; 0: none, or each operation is decided */
};

/* --repeat auto */
static inline bool versus_is_auto(const struct versus *it) {
    return it->vs->repeat_count == 0;
}

static inline const char *versus_side_name(size_t side) {
    return side == VS_A ? "A (--vs)" : "B";
}

/* How many profiles a run has: one of each mounted directory, or one of the layer user. */
static inline size_t versus_count(const struct versus *it) {
    return it->vs->mounts->count > 0 ? it->vs->mounts->count : 1;
}

/* The profile of a run. run: from 0 */
static inline struct aggstats_profile *versus_run(const struct versus *it, size_t side, size_t run, size_t directory) {
    return &it->sides[side].runs[run * versus_count(it) + directory];
}

/* Runs both in turn, saves the profiles if wanted, and prints a comparison for each directory on standard error. A
 * round that a signal has cut short does not count.
 * Returns an exit status: that of the comparison, if asked for and all rounds were made; else that of B's first run that
 * failed; else of what ended the runs early */
int run_vs(const struct run_vs *vs);

/* ---- A round: each command once, in mounts of its own ------------------------------------------- */

/* it->vs is set. Errors: -ENOMEM; finish it nevertheless */
int versus_init(struct versus *it);
void versus_finish(struct versus *it);

/* With several rounds, chance decides which command is first. *it has the profiles then, but does not count them.
 * Returns 0: success; -ECANCELED: the runs end here, before the round is complete; other errors: reported */
int versus_make_round(struct versus *it);

/* Saves and keeps the profiles of the latest round. Errors: reported */
int versus_count_round(struct versus *it);

/* ---- Comparing the runs so far ------------------------------------------------------------------ */

/* Compares all runs of a directory. With --repeat auto, the error probability is divided among the looks.
 * Owner:   the caller finishes *ret_result.
 * Errors:  -errno */
int versus_judge(const struct versus *it, size_t directory, struct verdict_result *ret_result);

/* Reports that a directory's profiles cannot be compared. Returns the error. */
int versus_complain(const struct versus *it, size_t directory, int error);

/* Saves the profiles of a single round if wanted, prints a comparison for each directory, and sets it->is_so.
 * Errors:  reported; the first of them */
int versus_report(struct versus *it);

/* With --repeat auto the runs are compared after 3, 5, 8, 12 rounds and so on, each time half as many more. Each look
 * may find a false change, so the probability of any is divided among the possible looks (Bonferroni). */
#define RUN_LOOKS_FIRST 3U         /* rounds; --max-repeat takes no fewer */
#define RUN_LOOKS_MOST_DEFAULT 30U /* the same */

/* The next look after `rounds`, of which at most `most` are made. */
unsigned run_looks_next(unsigned rounds, unsigned most);

#endif
