/* Layers: at which of them latencies are taken, from the program down to the disk; and what the layers of one recording
 * say together (thesis §3.1.4): which operations of one are those of another, and how much time stays between two.
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
    LAYER_IS_QUEUE,  /* of them, those that wait for a worker of the daemon, until there is one */
    LAYER_IS_DAEMON, /* the same, as a daemon answers them */
    LAYER_IS_FS,     /* the same, of the lower directory of osproffs */
    LAYER_IS_BLOCK,  /* requests to disks */
    LAYER_IS_OTHER,  /* whatever an imported profile may be of */
};

/* The layer of that name, as the header line "layer" has it. Their numbers are their order, the outermost first. */
enum layer layers_of_name(const char *name);

/* The name of a profile's layer: without that line it is osproffs's, "fs". Owner: the profile, or nobody */
const char *layers_name(const struct aggstats_profile *profile);

/* ---- Which operations are related --------------------------------------------------------------- */

/* Requests to FUSE have the same names in all layers that have them. */
enum layers_place { LAYERS_USER, LAYERS_REQUEST, LAYERS_BLOCK, LAYERS_PLACES };

/* A row of the table that relates the names of operations. */
struct layers_relation {
    const char *name;
    const char *ops[LAYERS_PLACES]; /* with blanks between; NULL: it has no counterpart there */
    bool is_cached;                 /* the kernel answers without a request what it knows already */
    const char *elsewhere;          /* requests that may be part of it, but are in another row: with blanks between;
                                     * NULL: none */
    const char *why_more;           /* why a layer may take longer than the one above; NULL: no reason is known */
};

/* The row of an operation; NULL: there is none. At block what is before "_QUEUED" is the name. */
const struct layers_relation *layers_relate(enum layer layer, const char *op);

/* Whether a row has operations at a layer. */
bool layers_has_place(const struct layers_relation *relation, enum layer layer);

/* Whether an operation of the layer block is the time before the disk got the request, which another of that name
 * without "_QUEUED" counts. */
bool layers_is_queued(enum layer layer, const char *op);

/* ---- The table of a recording ------------------------------------------------------------------- */

#define LAYERS_MAX 16

enum layers_here {
    LAYERS_HERE_KNOWN,
    LAYERS_HERE_ASYNCHRONOUS, /* the next layer below has more: it works while nobody here waits */
    LAYERS_HERE_UNKNOWN,      /* a clock's rate is not known, the two layers are of different times, or only the one
                               * below has calls */
};

/* What a layer has of an operation. */
struct layers_cell {
    bool is_there; /* else the operation has no counterpart at this layer, and what follows is 0 */
    wide_count calls;
    double total_ns;  /* 0 if the clock's rate is not known */
    double queued_ns; /* of that, at block, before the disk got the requests */
    enum layers_here here;
    double here_ns; /* what of the total neither the next layer below nor, of fuse, the queue has; at the lowest all of
                     * it. 0: not known */
    size_t below;   /* the next layer below that has the operation; the count of layers: none. The queue is beside the
                     * layers below fuse, not between: it has no layer below, and is below none */
    size_t queue;   /* of fuse, the layer queue, if it has the operation; the count of layers: none */
};

struct layers_row {
    char name[AGGSTATS_NAME_SIZE];
    const struct layers_relation *relation; /* NULL: an operation that is in no row */
    struct layers_cell cells[LAYERS_MAX];   /* of each layer */
    size_t outermost;                       /* the first layer that has calls of it, what page faults have caused below
                                             * the layer user; of what only the disk was asked for, which may be for
                                             * others, the first layer that has the operation */
    size_t layer_count;                     /* how many have it, without the queue; 1: no other has a counterpart */
};

struct layers_table {
    const struct aggstats_profile *profiles; /* [layer_count] Owner: the caller */
    size_t layer_count;
    struct layers_row *rows; /* those with calls, by the total of the outermost layer that has them, largest first */
    size_t row_count;
};

/* profiles: those of a recording, the outermost first; they must stay. count: LAYERS_MAX at most
 * Owner:   the caller finishes *ret_table
 * Errors:  -ENOMEM */
int layers_table_make(const struct aggstats_profile *profiles, size_t count, struct layers_table *ret_table);
void layers_table_finish(struct layers_table *table);

/* Whether a clock's rate is known, so that its times can be compared with those of others. */
bool layers_has_rate(const struct aggstats_profile *profile);

/* How the times of two layers are to each other. */
enum layers_times {
    LAYERS_TIMES_ALIKE,  /* or not known */
    LAYERS_TIMES_LONGER, /* one was taken for much longer: what it has more may be of that time */
    LAYERS_TIMES_APART,  /* they have no time in common, or little */
};

enum layers_times layers_compare_times(const struct aggstats_profile *a, const struct aggstats_profile *b);

/* The share of a layer's calls that surely caused none at the next one below, for what somebody may know already: each
 * there is caused by one here at most. 0: none surely, some there may not have been counted, or there is no layer
 * below. */
double layers_answered_share(const struct layers_table *table, const struct layers_row *row, size_t layer);

/* The first layer of which it is not known what stays there: those above make up what the outermost took, but for what
 * is there and below. The count of layers: all are known, and make up all. */
size_t layers_known_end(const struct layers_table *table, const struct layers_row *row);

/* The layer that has the largest part of those above that end, but for one. The count of layers: none has any. */
size_t layers_largest_part(const struct layers_table *table, const struct layers_row *row, size_t but);

/* The operations of a layer that are in a row and were called, "READ, PREAD". */
void layers_format_ops(const struct layers_table *table, const struct layers_row *row, size_t layer, char *ret_text,
                       size_t size_bytes);

/* What stays at a layer, in words: "in the kernel and FUSE (page cache, queues, wake-ups)". below: the next layer that
 * has the operation; LAYER_IS_OTHER: none */
const char *layers_words(enum layer layer, enum layer below);

#endif
