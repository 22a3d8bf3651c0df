/* Private: the recorder of a process that counts in the live file of another process. It takes all sizes, offsets and
 * places of counters from this private memory or from the thread's cache, never from the file. In the file the recorder
 * only adds to counters, and reads numbers that it checks. */
#ifndef JOINED_H
#define JOINED_H

#include "recorder_state.h"
#include "shared_layout.h"
#include "thread_block.h"

struct joined {
    struct recorder_front front; /* first */
    uint64_t last_id;            /* atomic. If two threads join the file at once, their blocks are of either recorder */
    struct live_shared *shared;
    struct groups_file *groups;     /* NULL: the file has none */
    struct aggstats_block **blocks; /* [block_count_max], as mapped here; atomic; NULL: not yet */
    struct aggstats_recorder_hot hot;
    uint64_t block_count_max;
    struct layout layout;
    size_t page_bytes;
    size_t header_bytes;
    size_t block_bytes;
    char *path;
};

#endif
