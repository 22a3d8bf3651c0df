/* Private: from counters to a profile; the same for a recorder and for a live file. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "live_file.h"
#include "probe.h"

/* All borrowed. */
struct snapshot_source {
    const char (*op_names)[AGGSTATS_NAME_SIZE];
    const struct window *window;
    const struct tally *tally; /* read after the window */
    uint64_t now_cycles;       /* read after the tally */
    struct aggstats_clock clock;
    const struct aggstats_label *labels;
    size_t label_count;
    bool incomplete;
    const struct live_header *header;         /* what is counted there */
    const struct slow_store *slow;            /* whole: while it is shown nobody changes it */
    const struct aggstats_recorder *recorder; /* whose probes are shown; NULL: none are known */
    bool is_marked;                           /* what is shown is: see probe.h */
};

/* Errors: -ENOMEM; *ret_profile untouched */
int snapshot_make(const struct snapshot_source *source, struct aggstats_profile *ret_profile);

#endif
