/* Which operations move the bytes of files, at all layers, and how many they have moved. Pure functions. */
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>

#include "aggstats.h"

enum bytes_way {
    BYTES_READ,
    BYTES_WRITTEN,
    BYTES_COPIED, /* read and written by one call */
    BYTES_WAY_COUNT,
};

struct bytes_moved {
    double bytes;
    double total_cycles;                  /* of all operations that moved bytes */
    const struct aggstats_op_profile *op; /* the operation that moved most bytes; NULL: none. Owner: the profile */
};

struct bytes_moved bytes_moved(const struct aggstats_profile *profile, enum bytes_way way);

/* Whether there are calls that may move bytes in that way; groups have no bytes. */
bool bytes_has_calls(const struct aggstats_profile *profile, enum bytes_way way);

/* What the kernel's own sums of bytes and calls (rchar, wchar and syscr of proc_pid_io(5)) should have of the calls in a
 * profile of the layer user. */
struct bytes_seen {
    uint64_t read;
    uint64_t written;
    uint64_t reads; /* calls */
};

struct bytes_seen bytes_seen(const struct aggstats_profile *profile);

struct bytes_pair {
    double read;
    double written;
};

#define BYTES_SHARE_MIN 0.9
#define BYTES_INSIDE_MIN 0.01
#define BYTES_GAP_MIN (1024.0 * 1024)

/* The bytes seen, compared with the kernel's sums: read and written bytes each by themselves, since too many of one kind
 * would hide that some of the other are missing. */
struct bytes_witness {
    bool is_known;
    struct bytes_pair share; /* seen, of the kernel's; at most 1 */
    bool is_read_missed;     /* the share is below BYTES_SHARE_MIN, and at least BYTES_GAP_MIN are missing */
    bool is_written_missed;
    bool is_at_least;    /* one of them is */
    double elsewhere;    /* bytes of files outside of the chosen directories, of pipes and others; 0: unknown */
    double inside_share; /* of the bytes on all descriptors, those that were seen; 1: unknown */
    bool is_elsewhere;   /* that share is below BYTES_INSIDE_MIN, and the others are at least BYTES_GAP_MIN */
};

struct bytes_witness bytes_witness(const struct aggstats_profile *profile);

#endif
