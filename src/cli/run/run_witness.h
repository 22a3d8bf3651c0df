/* The kernel as a witness of what the layer user has seen: its own sums of what the command and its children have read
 * and written. They do not tell files from pipes, so the preloaded library adds up what goes to descriptors that do not
 * count; and they have what the kernel and ld.so read to execute a program, which nobody sees. */
#ifndef RUN_WITNESS_H
#define RUN_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"

/* Sums of children that have been waited for, and of theirs; or of some of their calls. */
struct run_witness {
    bool is_known; /* the kernel says */
    uint64_t read; /* bytes */
    uint64_t written;
    uint64_t reads; /* calls */
};

void run_witness_look(struct run_witness *ret_witness);

/* Sets bytes_seen and bytes_kernel, if the kernel says, and bytes_elsewhere if not all files count; see osprof(5).
 * before: as the profile began
 * other:  on descriptors that do not count */
void run_witness_add(const struct run_witness *before, const struct run_witness *other, bool is_narrowed,
                     struct aggstats_profile *profile);

#endif
