/* Layers: where latencies are measured, from the program down to the disk; and what the layers of one recording say
 * together (thesis §3.1.4): which operations of two layers belong together, and how much time is spent between them.
 * Pure functions. */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats.h"
#include "wide_count.h"

/* ---- Names -------------------------------------------------------------------------------------- */

enum layer {
    LAYER_IS_USER,   /* calls of the C library */
    LAYER_IS_FUSE,   /* requests, as the kernel sends them */
    LAYER_IS_QUEUE,  /* of these, the ones that wait for a worker of the daemon, until there is one */
    LAYER_IS_DAEMON, /* requests, as a daemon answers them */
    LAYER_IS_FS,     /* requests, in the lower directory of osproffs */
    LAYER_IS_BLOCK,  /* requests to disks */
    LAYER_IS_OTHER,  /* any other: syscall, of osprof attach, or of a program's own profile */
};

/* The layer of that name, as in the header line "layer". Their numbers are their order, the outermost first. */
enum layer layers_of_name(const char *name);

/* The name of a profile's layer; without that line it is osproffs's, "fs". Owner: the profile, or nobody */
const char *layers_name(const struct aggstats_profile *profile);

/* What people call a layer of that name: "libc" for user, "lower" for fs, "FUSE" for fuse. */
const char *layers_title(const char *name);

#define LAYERS_KERNEL_DATA "the kernel's (data=passthrough): not profiled here; the layer user sees them"

/* True if the kernel itself reads and writes files of a profile's mount, or of one of those that were merged: what is
 * missing there is not known. */
bool layers_has_kernel_data(const struct aggstats_profile *profile);

/* ---- Which operations belong together ----------------------------------------------------------- */

/* FUSE requests have the same names in all layers that have them. */
enum layers_place { LAYERS_USER, LAYERS_REQUEST, LAYERS_BLOCK, LAYERS_PLACES };

/* A row of the table of operations that belong together. */
struct layers_relation {
    const char *name;
    const char *ops[LAYERS_PLACES]; /* separated by blanks; NULL: no counterpart there */
    bool is_cached;                 /* the kernel may answer from its caches, without a request */
    const char *elsewhere;          /* requests, in other rows, that may be part of it: separated by blanks; NULL:
                                     * none */
    const char *at_disk;            /* requests to a disk, likewise: they may be of others */
    const char *why_more;           /* why a layer may take longer than the one above; NULL: no reason is known */
};

/* The row of an operation; NULL: there is none. At layer block "_QUEUED" at the end of a name is ignored. */
const struct layers_relation *layers_relate(enum layer layer, const char *op);

/* True for an operation of the layer block that is the time before the disk got the request. The one of the same name
 * without "_QUEUED" has the rest. */
bool layers_is_queued(enum layer layer, const char *op);

/* ---- The table of a recording ------------------------------------------------------------------- */

#define LAYERS_MAX 16

enum layers_here {
    LAYERS_HERE_KNOWN,
    LAYERS_HERE_ASYNCHRONOUS, /* the next layer below takes longer: it works while nobody here waits */
    LAYERS_HERE_UNKNOWN,      /* a clock's rate is unknown, times differ, or only the one below has calls */
};

/* An operation at a layer. */
struct layers_cell {
    bool is_there; /* if false, the operation has no counterpart at this layer, and the rest is 0 */
    wide_count calls;
    double total_ns;    /* 0 if the clock's rate is unknown */
    double queued_ns;   /* the part of it before the disk got the requests; at layer block */
    double moved_bytes; /* 0: none, or unknown */
    enum layers_here here;
    double here_ns; /* the part of the total that neither the next layer below nor, at fuse, the queue has; at the
                     * lowest, all of it. 0: unknown */
    size_t below;   /* the next layer below that has the operation; the number of layers: none. The queue is beside the
                     * layers below fuse, not between: it is below none, and none is below it */
    size_t queue;   /* at fuse, the layer queue, if it has the operation; the number of layers: none */
};

struct layers_row {
    char name[AGGSTATS_NAME_SIZE];
    const struct layers_relation *relation; /* NULL: the operation is in no row */
    struct layers_cell cells[LAYERS_MAX];   /* by layer */
    size_t outermost;                       /* the first layer that has calls of it, page faults included, which are
                                             * below the layer user; for requests seen at the disk alone, which may be
                                             * for other programs, the first layer that has the operation */
    size_t layer_count;                     /* layers with this operation, except queue; 1: no counterpart */
    bool is_of_disk_alone;                  /* only the disk has such requests, maybe for other programs */
};

struct layers_table {
    const struct aggstats_profile *profiles; /* [layer_count] Owner: the caller */
    size_t layer_count;
    struct layers_row *rows; /* those with calls, by the total of the outermost layer that has them, largest first;
                              * after them those of a disk alone */
    size_t row_count;
};

/* profiles: of a recording, the outermost first; they must stay valid. count: LAYERS_MAX at most
 * Owner:   the caller finishes *ret_table
 * Errors:  -ENOMEM */
int layers_table_make(const struct aggstats_profile *profiles, size_t count, struct layers_table *ret_table);
void layers_table_finish(struct layers_table *table);

/* True if a clock's rate is known, so that its times can be compared with those of others. */
bool layers_has_rate(const struct aggstats_profile *profile);

/* How the recording times of two layers relate. */
enum layers_times {
    LAYERS_TIMES_ALIKE,  /* or unknown */
    LAYERS_TIMES_LONGER, /* one lasted much longer: its excess may be of that time */
    LAYERS_TIMES_APART,  /* they overlap little or not at all */
};

enum layers_times layers_compare_times(const struct aggstats_profile *a, const struct aggstats_profile *b);

/* True for READ and WRITE of a recording with a mount of which the kernel itself reads and writes the files. */
bool layers_are_kernels(const struct layers_table *table, const struct layers_row *row);

/* A lower bound of the share of a layer's calls that caused none at the next one below, for instance because the kernel
 * had the answer in a cache, or because a read was at the end of a file: each call there is caused by at most one here.
 * 0: none certainly, some there may not have been counted, or there is no layer below. */
double layers_answered_share(const struct layers_table *table, const struct layers_row *row, size_t layer);

/* A lower bound of the share of the bytes that a layer's calls have read and the layers below it have not. So reads at
 * the end of a file do not count. NAN: it is not known how many bytes were moved, here or below. 0: as above */
double layers_answered_bytes(const struct layers_table *table, const struct layers_row *row, size_t layer);

/* The first layer whose own part of the time is unknown: the parts of the layers above add up to the total of the
 * outermost layer, less the total of this layer. The number of layers: all parts are known, and add up to the total. */
size_t layers_known_end(const struct layers_table *table, const struct layers_row *row);

/* The layer with the largest part, among the layers above layers_known_end(), except the layer `but`. The number of
 * layers: no such layer has a part. */
size_t layers_largest_part(const struct layers_table *table, const struct layers_row *row, size_t but);

/* The operations of a layer that are in a row and were called, "READ, PREAD". has_queued: with READ_QUEUED and so on */
void layers_format_ops(const struct layers_table *table, const struct layers_row *row, size_t layer, bool has_queued,
                       char *ret_text, size_t size_bytes);

/* What a layer's own time is spent on: "in the kernel and FUSE (page cache, queues, wake-ups)". below: the next layer
 * that has the operation; LAYER_IS_OTHER: none */
const char *layers_words(enum layer layer, enum layer below);

#endif
