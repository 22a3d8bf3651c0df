/* Private: the part of a shared live file that the processes which count in it write. Nothing here may be trusted: any
 * user whose processes count may have written anything, and may write again while it is read. So only processes that
 * count (joined.h) map it, which keep all sizes, offsets and places in private memory; everything else reads it by
 * copies, through shared_part.h. */
#ifndef SHARED_LAYOUT_H
#define SHARED_LAYOUT_H

#include "aggstats/shared_groups.h"
#include "live_file.h"
#include "live_owner.h"

struct live_numbers {     /* atomic */
    uint64_t last_taken;  /* the block that a thread took last: where others begin to look */
    uint64_t block_count; /* that were ever taken */
    uint64_t incomplete;  /* 1: some blocks got no memory */
    uint64_t crowded;     /* threads that found all blocks taken */
    uint64_t sums[AGGSTATS_SUMS];
    uint32_t notes[AGGSTATS_NOTES];
};

struct live_shared {
    struct live_numbers numbers;
    struct aggstats_named named;
    live_owner owners[] __attribute__((aligned(CACHE_LINE_BYTES))); /* of each block */
};

/* Without groups. */
static inline size_t shared_layout_bytes(uint64_t threads) {
    return sizeof(struct live_shared) + threads * sizeof(live_owner);
}

/* ---- Tables of groups ----
 *
 * The tables of aggstats/shared_groups.h. Everything in them is zero at first and changes atomically. A process that was
 * killed may leave an entry without a name, whose calls are then in `other`. The functions here take any contents, also
 * contents that change meanwhile: they read each number once, check it, and walk up to parents for no longer than a path
 * is. */

#define GROUPS_OBJECTS (1U << AGGSTATS_SUBJECT_OBJECT_BITS)
#define GROUPS_FILES_MAX (GROUPS_OBJECTS / 4 * 3) /* the rest is for directories */
#define GROUPS_OBJECTS_MAX (GROUPS_OBJECTS / 16 * 15)
#define GROUPS_MOUNTS 256U
#define GROUPS_CALLERS 1024U
#define GROUPS_CELLS_BITS 17
#define GROUPS_CELLS (1U << GROUPS_CELLS_BITS)
#define GROUPS_CELLS_MAX (UINT64_C(7) * GROUPS_CELLS / 8) /* the rest is for mounts and callers without objects */
#define GROUPS_CELLS_TOGETHER 64U /* a block, of whose cells it is known whether any was ever used */
#define GROUPS_BLOCKS (GROUPS_CELLS / GROUPS_CELLS_TOGETHER)
#define GROUPS_NAMES_BYTES (4U << 20)
#define GROUPS_NAME_BYTES_MAX 4096U /* of one name: no path is longer */

/* In a subject: only the directory is known, whose number is in place of the object's. */
#define SUBJECT_IS_PLACE (1U << AGGSTATS_SUBJECT_OBJECT_BITS)

enum group_object_flag {
    GROUP_OBJECT_DIRECTORY = 1,
};

struct group_object { /* number 0 is not used */
    uint64_t hash;    /* of the path; 0: free */
    uint32_t name;    /* where struct group_name is among the names; 0: unknown */
    uint8_t flags;
    uint8_t mount;  /* number of the mount of the parent directory; 0: not looked up */
    uint8_t inside; /* number of the mount of files in this directory; 0: not looked up */
    uint8_t unused;
};

struct group_name {  /* aligned */
    uint32_t parent; /* the object of the directory that the rest is relative to; 0: none */
    uint32_t length;
    char text[]; /* not terminated */
};

struct group_mount { /* number 0 is not used */
    uint64_t key;    /* 2 * id + 1, or 2 * device; 0: free */
    uint64_t device;
};

struct group_caller { /* number 0 is not used */
    uint64_t hash;    /* 0: free */
    uint32_t is_whole;
    uint32_t pid; /* 0: of all processes */
    char name[AGGSTATS_CALLER_NAME_SIZE];
};

/* From the lowest bit: bucket, op, subject, lane, caller, and a bit that is set. Threads add in lanes, so that those
 * that work on the same file seldom wait for each other. */
enum {
    CELL_BUCKET_BITS = 9,
    CELL_OP_SHIFT = CELL_BUCKET_BITS,
    CELL_SUBJECT_SHIFT = CELL_OP_SHIFT + 6,
    CELL_LANE_SHIFT = CELL_SUBJECT_SHIFT + AGGSTATS_SUBJECT_BITS,
    CELL_CALLER_SHIFT = CELL_LANE_SHIFT + 2,
};
#define CELL_IS_USED (UINT64_C(1) << 63)
#define CELL_LANES 4U

_Static_assert(AGGSTATS_OPS_MAX <= 1 << 6 && AGGSTATS_BUCKETS_MAX <= 1 << CELL_BUCKET_BITS, "they fit");

struct group_cell {
    uint64_t key; /* 0: free */
    uint64_t calls;
    uint64_t cycles; /* added before the calls */
};

struct groups_file {
    uint64_t groupings; /* bits; never changes */
    uint64_t objects_used;
    uint64_t cells_used;
    uint64_t names_used;
    uint64_t missed;                    /* calls whose object found no cell */
    uint8_t used_blocks[GROUPS_BLOCKS]; /* 1: the block may have used cells; set before a cell is used */
    struct group_mount mounts[GROUPS_MOUNTS];
    struct group_caller callers[GROUPS_CALLERS];
    struct group_object objects[GROUPS_OBJECTS] __attribute__((aligned(CACHE_LINE_BYTES)));
    struct group_cell cells[GROUPS_CELLS] __attribute__((aligned(CACHE_LINE_BYTES)));
    char names[GROUPS_NAMES_BYTES];
};

static inline aggstats_subject cell_subject(uint64_t key) {
    return (aggstats_subject)(key >> CELL_SUBJECT_SHIFT) & ((1U << AGGSTATS_SUBJECT_BITS) - 1);
}

static inline unsigned subject_object(aggstats_subject subject) {
    return subject & (GROUPS_OBJECTS - 1);
}

/* The name of an object, as it was at one moment. */
struct group_name_view {
    unsigned parent; /* 0: none */
    unsigned length;
    const char *text; /* in the tables: may change meanwhile, if these may */
};

/* Returns false if it has none. */
bool groups_file_name(const struct groups_file *file, unsigned object, struct group_name_view *ret_name);

/* Its path. Returns the length; 0: unknown, or it does not fit */
size_t groups_file_path(const struct groups_file *file, unsigned object, char *ret_path, size_t size_bytes);

/* Replaces the objects of calls in flight, and of the longest ones, by their paths.
 * Errors:  -ENOMEM; the caller finishes the profile */
int groups_file_name_calls(const struct groups_file *file, struct aggstats_profile *profile);

/* The number of the object with that path; 0: there is none. */
unsigned groups_file_find(const struct groups_file *file, const char *path, size_t length);

/* ---- The whole ---- */

/* Whether a header's offsets and sizes lie within the file, do not overlap, and suit mapping. The rest of the header has
 * been checked. */
static inline bool shared_layout_is_possible(const struct live_header *header, const struct layout *layout,
                                             uint64_t file_bytes) {
    const uint64_t shared = header->shared_offset;
    const uint64_t groups = header->groups_offset;
    const uint64_t end = header->header_bytes;
    if (header->shared_threads > AGGSTATS_SHARED_THREADS_MAX || end > file_bytes || shared > end || groups > end ||
        header->block_stride_bytes < layout_shared_bytes(layout, layout->op_count) ||
        header->block_stride_bytes > UINT32_MAX)
        return false;
    const size_t shared_bytes = shared_layout_bytes(header->shared_threads);
    const bool own_fits = shared >= live_offsets_make(layout, header->labels_bytes).end;
    const bool shared_fits = (groups != 0 ? groups : end) >= shared + shared_bytes;
    const bool groups_fit = groups == 0 || end - groups >= sizeof(struct groups_file);
    return own_fits && shared_fits && groups_fit && shared % CACHE_LINE_BYTES == 0 && groups % CACHE_LINE_BYTES == 0 &&
           header->block_stride_bytes % CACHE_LINE_BYTES == 0;
}

#endif
