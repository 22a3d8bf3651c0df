/* What the kernel adds up of the processes of a run: where they were when they were in no file call, on a CPU or waiting
 * for one; and what they had read from storage. */
#ifndef RUN_TIMES_H
#define RUN_TIMES_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "aggstats.h"
#include "proc.h"

struct run_times {
    struct rusage before;
    struct proc_io before_io; /* programs that have ended are in it */
    bool knows_io;
    uint64_t ran_ns; /* of the commands' first threads, on a CPU; like the next since run_times_begin() */
    uint64_t queued_ns;
};

/* Forgets what has been counted so far. */
void run_times_begin(struct run_times *times);

/* Call when a command has ended, before it is waited for: afterwards the kernel does not know. */
void run_times_note(struct run_times *times, pid_t command);

/* Sets the facts of the profile, of all that has ended since run_times_begin(), page_faults too.
 * is_mounted: osproffs was between, which reads from storage for the programs: then that is not known of them */
void run_times_add(const struct run_times *times, bool is_mounted, struct aggstats_profile *profile);

#endif
