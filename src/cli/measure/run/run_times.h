/* What the kernel adds up of the processes of a run: where they were when they were in no file call, on a CPU or waiting
 * for one; what they had read from storage; and what they have read and written in all, as a witness of what the layer
 * user has seen. */
#ifndef RUN_TIMES_H
#define RUN_TIMES_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "aggstats.h"
#include "proc.h"
#include <stdint.h>

/* The kernel's sums of what the command and its children have read and written. They do not tell files from pipes, so the
 * preloaded library adds up what goes to descriptors that do not count; and they have what the kernel and ld.so read to
 * execute a program, which nobody sees. Of children that have been waited for, and of theirs; or of some of their calls. */
struct run_witness {
    bool is_known; /* the kernel says */
    uint64_t read; /* bytes */
    uint64_t written;
    uint64_t reads; /* calls */
};

struct run_times {
    struct rusage before;
    struct proc_io before_io; /* programs that have ended are in it */
    bool knows_io;
    uint64_t ran_ns; /* of the commands' first threads, on a CPU; like the next since run_times_begin() */
    uint64_t queued_ns;
    struct run_witness witness; /* as the profile began */
};

/* Forgets what has been counted so far. */
void run_times_begin(struct run_times *times);

/* Call when a command has ended, before it is waited for: afterwards the kernel does not know. */
void run_times_note(struct run_times *times, pid_t command);

/* Sets the facts of the profile, of all that has ended since run_times_begin(), page_faults too.
 * is_mounted: osproffs was between, which reads from storage for the programs: then that is not known of them */
void run_times_add(const struct run_times *times, bool is_mounted, struct aggstats_profile *profile);

/* Sets bytes_seen and bytes_kernel, if the kernel says, and bytes_elsewhere if not all files count; see osprof(5).
 * other:  on descriptors that do not count */
void run_times_add_witness(const struct run_times *times, const struct run_witness *other, bool is_narrowed,
                           struct aggstats_profile *profile);

#endif
