/* Private: the live file, which outlives its process, or anonymous memory of the same layout.
 *
 * Shape, in this order:
 *     struct live_header, padded to LIVE_HEADER_BYTES
 *     names[op_count][AGGSTATS_NAME_SIZE], padded with NULs
 *     labels: key NUL value NUL, label_count times; labels_bytes in all
 *     two windows, each aligned to a cache line
 *     slow calls (slow_store.h), aligned too
 *     struct live_looks
 *     if it is shared, what other processes write (shared_layout.h): at shared_offset struct live_shared; if it has
 *     groups, at groups_offset struct groups_file (shared_layout.h). Both offsets are multiples of the page's size
 *     from header_bytes on, every block_stride_bytes, blocks (struct aggstats_block)
 * Numbers are in the byte order of the machine. Each block is mapped separately and never moves. A shared file has room
 * for all its blocks from the beginning, as a hole: beyond the first, a block gets memory page by page, as its thread
 * calls more operations.
 *
 * Of the two windows, number window_sequence % 2 is valid. A change is made in the other one, and then the sequence
 * goes up by one: a process killed at any point leaves a complete one, and a reader in another process that finds the
 * sequence unchanged has read a complete one. Blocks only ever grow, so a window may be older than the blocks, never
 * newer.
 *
 * A file that is not shared is mapped by its process alone. The maker of a shared file maps nothing of it, because
 * processes of other users may write there: its own part, up to struct live_looks, is private memory that it writes to
 * the file and never reads back, and it reads the others' part by copies (shared_part.h).
 *
 * The process holds an exclusive flock on the file for as long as it records. */
#ifndef LIVE_FILE_H
#define LIVE_FILE_H

#include "aggstats/shared.h"
#include "facts.h"
#include "slow_store.h"
#include "window.h"

#define LIVE_MAGIC "OSPROFLV"
#define LIVE_BYTE_ORDER 0x01020304U
#define LIVE_HEADER_BYTES 512U
#define LIVE_BLOCKS_MAX 65536U         /* threads at one time; those beyond count in anonymous memory */
#define LIVE_LABELS_BYTES_MAX 1048576U /* of all labels together */

struct live_header {
    char magic[8]; /* written last at creation */
    uint32_t version;
    uint32_t byte_order;
    int64_t pid;
    uint32_t clock_kind;
    uint32_t resolution;
    uint32_t op_count;
    uint32_t label_count;
    uint64_t labels_bytes;
    uint64_t header_bytes;
    uint64_t block_stride_bytes;
    uint64_t shared_threads; /* number of owners; 0: the file is not shared, and the next two are 0 */
    uint64_t shared_offset;
    uint64_t groups_offset; /* 0: there are no groups */
    /* the rest changes while recording, by atomic stores */
    uint64_t frequency_hz;
    uint64_t block_count; /* of a file that is not shared */
    uint64_t window_sequence;
    uint64_t seen_cycles; /* the last moment at which the process is known to have recorded */
    uint64_t incomplete;  /* 1: some blocks are not in the file */
    uint64_t looks;       /* the next three: struct aggstats_busy */
    uint64_t busy_looks;
    uint64_t most_busy;
    uint64_t longest_changes;        /* odd while longest calls are moved from the blocks to the window */
    uint64_t lost;                   /* calls that are known to be missing in the counters */
    uint64_t facts_known;            /* bit i: facts[i] is known */
    uint64_t facts[FACT_PLACES_MAX]; /* by enum fact_place (facts.h) */
};

_Static_assert(sizeof(struct live_header) <= LIVE_HEADER_BYTES, "there is room for it");

static inline uint64_t live_fact(const struct live_header *header, enum fact_place place) {
    return __atomic_load_n(&header->facts[place], __ATOMIC_RELAXED);
}

/* Sets a fact, which is known from then on. Threads: one at a time */
static inline void live_fact_set(struct live_header *header, enum fact_place place, uint64_t number) {
    __atomic_store_n(&header->facts[place], number, __ATOMIC_RELAXED);
    __atomic_store_n(&header->facts_known, header->facts_known | UINT64_C(1) << place, __ATOMIC_RELAXED);
}

static inline struct aggstats_busy live_busy(const struct live_header *header) {
    struct aggstats_busy busy = {.looks = __atomic_load_n(&header->looks, __ATOMIC_RELAXED),
                                 .busy = __atomic_load_n(&header->busy_looks, __ATOMIC_RELAXED),
                                 .most = __atomic_load_n(&header->most_busy, __ATOMIC_RELAXED)};
    if (busy.busy > busy.looks) /* read in between, or written by another program */
        busy.busy = busy.looks;
    return busy;
}

/* Looks with a call of the op in flight (aggstats_op_profile.busy_looks), by atomic stores. Threads: as looks */
struct live_looks {
    uint64_t busy[AGGSTATS_OPS_MAX];
};

/* No more than those of the whole, which others may have read in between, or another program written. */
static inline uint64_t live_busy_looks(const struct live_looks *looks, unsigned op, uint64_t busy) {
    const uint64_t op_busy = __atomic_load_n(&looks->busy[op], __ATOMIC_RELAXED);
    return op_busy < busy ? op_busy : busy;
}

/* Offsets of the parts that every file has. */
struct live_offsets {
    size_t names;
    size_t labels;
    size_t windows[2];
    size_t slow;
    size_t looks;
    size_t end;
};

static inline struct live_offsets live_offsets_make(const struct layout *layout, size_t labels_bytes) {
    size_t labels = LIVE_HEADER_BYTES + layout->op_count * (size_t)AGGSTATS_NAME_SIZE;
    size_t window = round_up(labels + labels_bytes, CACHE_LINE_BYTES);
    size_t next_window = window + window_bytes(layout);
    size_t slow = round_up(next_window + window_bytes(layout), CACHE_LINE_BYTES);
    size_t looks = slow + sizeof(struct slow_store);
    return (struct live_offsets){.names = LIVE_HEADER_BYTES,
                                 .labels = labels,
                                 .windows = {window, next_window},
                                 .slow = slow,
                                 .looks = looks,
                                 .end = looks + sizeof(struct live_looks)};
}

struct live {
    int fd;             /* -1: anonymous memory */
    int directory_fd;   /* of path; -1 once unlinked */
    char *path;         /* as the caller gave it */
    const char *name;   /* its last component, in path */
    bool is_shared;     /* other processes count in the file: header and the parts behind it are private memory */
    size_t own_bytes;   /* of the header and those parts, in memory */
    unsigned groupings; /* of a shared file, as bits */
    struct live_header *header;
    struct window *windows[2];
    struct slow_store *slow;
    struct live_looks *looks;
};

/* Creates the file, or takes anonymous memory where options->live_path is NULL.
 * shared_threads: 0: the file is not shared; fewer if the file would be larger than the process's limit
 * groupings:      of a shared file, as bits; 0: none, as if the file would be larger than half of that limit
 * Errors:  -ENOMEM, -E2BIG labels too long, -EFBIG, those of creating the file; nothing is left behind */
int live_create(struct live *live, const struct aggstats_recorder_options *options, uint64_t shared_threads,
                unsigned groupings, const struct layout *layout, const struct aggstats_clock *clock);

/* Notes that recording ends now, and closes the file, which stays; the memory remains mapped. */
void live_close(struct live *live);

/* In a child process: the file is left to the parent, and its mappings become the child's own memory, empty.
 * Signals: may be called between fork() and exec() */
void live_leave(struct live *live);

/* Replaces a mapping by zeroed memory of the process's own. Without memory for it, nothing is mapped there. */
void live_replace_memory(void *memory, size_t size_bytes);

/* Unmaps and closes; the file stays. */
void live_finish(struct live *live);

int live_unlink(struct live *live);

/* Maps a new zeroed block in the file.
 * Errors:  -ENOTSUP there is no file, or it is shared, -ENOSPC and others: no room */
int live_add_block(struct live *live, struct aggstats_block **ret_block);

/* The valid window. */
const struct window *live_window(const struct live *live);

/* A copy of the valid window, free to change; live_publish_window() makes it the valid one. */
struct window *live_edit_window(struct live *live, const struct layout *layout);
void live_publish_window(struct live *live, const struct layout *layout);

/* Writes the header, and looks, of a shared file to the file; other files have them anyway. */
void live_write_facts(const struct live *live);

#endif
