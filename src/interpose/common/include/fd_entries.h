/* The table of what is known of descriptors (fd_table.h), and what calls are of. */
#ifndef FD_ENTRIES_H
#define FD_ENTRIES_H

#include "aggstats/shared_groups.h"

#define FD_TABLE_SIZE 65536 /* numbers above are looked up each time */

enum fd_state {
    FD_UNKNOWN,
    FD_OUTSIDE,
    FD_ABOVE, /* a directory above a profiled one */
    FD_INSIDE,
};

/* What is known of a descriptor: its state in the lowest bits, and above them what calls on it are of (subjects.h). */
typedef uint32_t fd_entry;
#define FD_STATE_BITS 2

static inline enum fd_state fd_entry_state(fd_entry entry) {
    return (enum fd_state)(entry & ((1U << FD_STATE_BITS) - 1));
}

static inline aggstats_subject fd_entry_subject(fd_entry entry) {
    return entry >> FD_STATE_BITS;
}

extern fd_entry fd_table[FD_TABLE_SIZE]; /* each read and written atomically */

/* What is remembered. */
static inline fd_entry fd_table_known(int fd) {
    return (unsigned)fd < FD_TABLE_SIZE ? __atomic_load_n(&fd_table[fd], __ATOMIC_RELAXED) : FD_UNKNOWN;
}

/* ---- Whether a call counts, and its subject ---- */

/* 0: it does not count; else CALL_COUNTS, and the subject if the run has groups that need it. */
typedef uint32_t call_of;
#define CALL_COUNTS (1U << 31)

_Static_assert(AGGSTATS_SUBJECT_BITS < 31, "both fit");

static inline aggstats_subject call_of_subject(call_of of) {
    return of & ~CALL_COUNTS;
}

/* For the thread's block; 0: unknown */
static inline uint64_t call_of_object(call_of of) {
    return aggstats_subject_object(call_of_subject(of));
}

#endif
