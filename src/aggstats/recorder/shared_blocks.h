/* Private: the blocks of a shared live file, in the process that has made it. Other processes count there. */
#ifndef SHARED_BLOCKS_H
#define SHARED_BLOCKS_H

#include <pthread.h>

#include "live_file.h"
#include "tally.h"

struct shared_blocks {
    pthread_mutex_t lock;  /* of the members below */
    unsigned char *memory; /* the first mapped_count blocks of the file; NULL: none yet */
    uint64_t mapped_count;
};

void shared_blocks_init(struct shared_blocks *blocks);
void shared_blocks_finish(struct shared_blocks *blocks, const struct live *live);

/* How many living threads have a call in flight; calls of those that have ended are forgotten.
 * ret_ops: bit i: one of op i; may be NULL */
unsigned shared_blocks_in_flight(struct shared_blocks *blocks, const struct live *live, const struct layout *layout,
                                 uint64_t *ret_ops);

/* Adds all blocks. Errors: as threads_tally() */
int shared_blocks_tally(struct shared_blocks *blocks, const struct live *live, bool takes_longest, struct tally *tally);

#endif
