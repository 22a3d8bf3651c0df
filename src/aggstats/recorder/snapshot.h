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
    const struct live_header *header;         /* for counters that it holds */
    const struct slow_store *slow;            /* must not change meanwhile */
    const struct live_looks *looks;           /* NULL: not known of each op */
    const struct aggstats_recorder *recorder; /* for its probes; NULL: there are none */
    bool is_marked;                           /* the profile will be saved: see probe.h */
};

/* Errors: -ENOMEM; *ret_profile untouched */
int snapshot_make(const struct snapshot_source *source, struct aggstats_profile *ret_profile);

#endif
