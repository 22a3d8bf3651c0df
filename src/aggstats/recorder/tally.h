/* Private: the sum of many blocks, and their calls in flight. */
#ifndef TALLY_H
#define TALLY_H

#include "aggstats/numbered.h"
#include "layout.h"
#include "longest.h"

/* A call in flight as its block shows it. */
struct tally_call {
    unsigned op;
    uint64_t start_cycles;
    uint64_t object;
    uint64_t pid;
};

struct tally {
    struct layout layout;
    void *table; /* counters of all ops */
    uint64_t clamped;
    uint64_t last_start_cycles; /* of the latest call in any block */
    struct tally_call *in_flight;
    size_t in_flight_count;
    struct aggstats_numbered *numbered; /* of blocks whose longest calls were taken, and whose calls are numbered */
    size_t numbered_count;
};

/* An empty tally. Errors: -ENOMEM */
int tally_init(struct tally *tally, const struct layout *layout);
void tally_finish(struct tally *tally);

/* Copies a block that may be counting meanwhile, as of some moment: in the copy calls >= sum(buckets), and its
 * unfinished call is the one named as in flight. Only calls around nested ones are unfinished without being named. Its
 * longest calls are at least as long as all in its buckets. ret_copy: of layout_block_bytes() */
void tally_read_block(const struct layout *layout, const struct aggstats_block *block, struct aggstats_block *ret_copy);

/* The same, and resets the block's longest calls: those of calls in the copy are in the copy, later ones are not. If
 * calls are numbered, no call is being counted at that moment; ret_numbered: how many were. */
void tally_take_block(const struct layout *layout, struct aggstats_block *block, struct aggstats_block *ret_copy,
                      struct aggstats_numbered *ret_numbered);

/* Adds the result, if any call is numbered. Errors: -ENOMEM */
int tally_add_numbered(struct tally *tally, const struct aggstats_numbered *numbered);

/* Makes the calls of one op in a copy agree with its buckets and with the call named as in flight: a call that began
 * while the buckets were being read belongs to a later snapshot. is_still: two readings of the op were the same, so all
 * open calls are really open. Removes the name of a call that has not begun yet, or has ended. */
void tally_settle_op(const struct layout *layout, struct aggstats_block *copy, unsigned op, bool is_still);

/* Adds a block that nobody writes, such as a copy.
 * Errors:  -EBADMSG calls < sum(buckets), or a sum overflows: no recorder has written that */
int tally_add_block(struct tally *tally, const struct aggstats_block *block);

/* False: adding the block would fail with -EBADMSG. It does not change meanwhile. */
bool tally_may_add_block(const struct tally *tally, const struct aggstats_block *block);

/* Adds the block that several threads share and in which updates may be lost: calls are raised to sum(buckets). */
void tally_add_shared_block(struct tally *tally, const struct aggstats_block *block);

/* Adds the block's call in flight, if it has one. Errors: -ENOMEM */
int tally_add_call(struct tally *tally, const struct aggstats_block *block);

/* Forgets the calls in flight: calls become sum(buckets).
 * keeps_left: not those that have begun and are not in flight: in a shared file, their threads have ended in them */
void tally_settle(struct tally *tally, bool keeps_left);

#endif
