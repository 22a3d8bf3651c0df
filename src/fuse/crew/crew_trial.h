/* Which manner of a crew serves most calls: tried by turns while there are several callers.
 *
 * A crew that gives way is best where each caller has a CPU to itself. With more callers than CPUs, or where the system
 * weighs groups of threads against each other (cgroups, autogroups), workers that go first and take what has queued
 * meanwhile may be, or a single one that no caller has to wake. Which it is depends on what cannot be seen from here,
 * so it is measured. */
#ifndef CREW_TRIAL_H
#define CREW_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

enum crew_manner {
    CREW_GIVES_WAY,  /* in SCHED_IDLE, on the CPUs of the callers */
    CREW_GOES_FIRST, /* before callers, one on each CPU */
    CREW_IS_ALONE,   /* one, wherever the system puts it */
    CREW_IS_FREE,    /* a few for each CPU, wherever the system puts them: as without a crew */
    CREW_MANNERS
};

struct crew_trial {
    bool among[CREW_MANNERS]; /* those that are tried */
    bool all_later;           /* from the second trial on */
    enum crew_manner settled; /* what is best as far as is known */
    enum crew_manner tried;   /* since the last step */
    unsigned step;            /* of the trial; 0: there is none */
    unsigned looks;           /* since the last step */
    unsigned pause_looks;     /* until the next trial */
    bool was_clear;           /* the last trial: nothing else came near it */
    double settled_rate;      /* calls per cycle that are expected of it; 0: nothing is known */
    double worse_rate;        /* that it served when a trial began because of it; 0: it did not */
    unsigned worse_checks;    /* in a row, that have found clearly less */
    uint64_t began_calls;     /* when what is measured began */
    uint64_t began_cycles;
    uint64_t calls[CREW_MANNERS]; /* of this trial */
    uint64_t cycles[CREW_MANNERS];
};

/* From the beginning, with this manner, for several callers. */
void crew_trial_begin(struct crew_trial *trial, enum crew_manner settled);

/* The same for up to two for each CPU: between giving way and going first, once they have found their places; later
 * among all. */
void crew_trial_begin_more(struct crew_trial *trial);

/* The same for one that has several requests under way: between being free and giving way, and soon. */
void crew_trial_begin_queue(struct crew_trial *trial);

/* At every look while there are several callers, or a queue. calls: served so far by all members. Returns the manner
 * until the next look */
enum crew_manner crew_trial_look(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles);

/* A trial has told clearly which is best, and no other has begun. */
static inline bool crew_trial_is_clear(const struct crew_trial *trial) {
    return trial->step == 0 && trial->was_clear;
}

#endif
