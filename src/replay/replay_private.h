/* Private: a replay while it is planned and run. Objects are named by their index in an array, from 1; 0: none. */
#ifndef REPLAY_PRIVATE_H
#define REPLAY_PRIVATE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base.h"
#include "number_map.h"
#include "replay.h"

#define THREADS_MAX 1024U
#define PATTERN_BYTES (1U << 20)
#define TRANSFER_BYTES_MAX (16U << 20) /* of one call */

/* What an operation does to its object, for planning. */
enum replay_kind {
    KIND_OTHER,  /* works on a node or an open file */
    KIND_LOOKUP, /* finds the node of a name */
    KIND_MAKE,   /* makes a node with a name */
    KIND_REMOVE,
    KIND_RENAME,
    KIND_LINK,
    KIND_OPEN,
    KIND_CLOSE,
};

enum replay_type {
    TYPE_UNKNOWN,
    TYPE_FILE,
    TYPE_DIRECTORY,
    TYPE_SYMLINK,
};

struct replay_lane;
struct replay_op;

/* Does an operation. Returns its result, 0 or -errno; lane->reason says why if it was not done. */
typedef int (*replay_do_fn)(struct replay_lane *lane, struct replay_op *op);

/* A row for each operation that can be repeated. */
struct replay_row {
    const char *name;
    enum replay_kind kind;
    enum replay_type type; /* of `entry` if it makes or removes one; else of the node, if it must be of that type */
    bool is_change;        /* it changes the node, or the open file: other operations are ordered relative to it */
    replay_do_fn run;
    const char *arguments[4]; /* columns that become args[] */
};

/* ---- Planning ---- */

/* Orders operations on an object: those that change it, and readers between two changes. */
struct replay_resource {
    uint32_t last_change; /* op */
    uint32_t readers;     /* since then: a list in replay->readers */
};

/* A name in a directory. */
struct replay_name {
    uint32_t directory; /* node */
    uint32_t node;      /* 0: the name does not exist */
    const char *text;
    bool existed; /* before the first operation, like `first` */
    uint32_t first;
    bool is_made;  /* during the replay */
    uint32_t next; /* in the hash table */
    struct replay_resource resource;
};

/* Where a node is during the replay. */
struct replay_place {
    uint32_t directory; /* node; 0: nowhere */
    const char *text;
};

struct replay_node {
    uint64_t id; /* in the events file; 0: unknown */
    enum replay_type type;
    bool existed;
    bool is_truncated; /* its earlier size is unknown */
    uint64_t existed_bytes;
    uint64_t size_bytes; /* a lower bound, at this point of the plan */
    struct replay_resource resource;
    /* during the replay */
    struct replay_place places[2];
    bool has_more_places;
    uint64_t charged_bytes;
    uint32_t open_count;
};

/* An open file or directory. */
struct replay_handle {
    uint32_t node;
    uint32_t before;        /* the handle that had the number before */
    uint64_t opened_cycles; /* earlier calls use that one */
    bool is_opened_first;   /* it was open when recording began */
    bool is_directory;
    bool is_read;
    bool is_written;
    struct replay_resource resource;
    int fd; /* during the replay; -1: not open */
};

struct replay_op {
    uint64_t start_cycles;
    uint64_t latency_cycles;
    uint64_t size;
    uint64_t offset;
    uint64_t result;
    uint64_t args[4]; /* see the row */
    const struct replay_row *row;
    const char *name; /* of the node in its directory, of an attribute, or the new name of LINK */
    const char *text; /* new name of RENAME, target of SYMLINK */
    uint32_t node;
    uint32_t entry;    /* the node that is found, made, moved or removed */
    uint32_t other;    /* RENAME, LINK: the new directory; COPY_FILE_RANGE: the destination */
    uint32_t replaced; /* RENAME: the node that had the new name */
    uint32_t handle;
    uint32_t out_handle;
    uint32_t umask;
    uint32_t thread; /* that made the call, when it was recorded */
    uint32_t lane;
    uint32_t next_of_lane; /* op */
    uint32_t first_edge;   /* of those to operations that wait for this one */
    uint16_t error;
    uint8_t op;          /* number in the events file */
    uint8_t plan_reason; /* enum replay_reason: why it cannot be repeated */
    /* the outcome */
    _Atomic uint32_t pending; /* operations that it still waits for */
    uint16_t new_error;
    uint8_t reason;
    int64_t begun_ns; /* since the start of the replay */
    uint64_t new_latency_cycles;
    uint64_t new_result;
};

struct replay_edge {
    uint32_t from;
    uint32_t to;
};

struct replay_reader {
    uint32_t op;
    uint32_t next;
};

/* Memory for strings, for as long as the replay exists. */
struct replay_arena {
    char **blocks;
    size_t block_count;
    size_t used_bytes; /* of the last block */
};

/* A growing array; [0] is not used. */
#define REPLAY_ARRAY(type)                                                                                             \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        uint32_t count; /* including [0] */                                                                            \
        uint32_t room;                                                                                                 \
    }

struct replay_lane {
    struct replay *replay;
    uint32_t first_op;
    uint32_t last_op;
    uint64_t free_cycles; /* while planning: when its thread has made its last call */
    pthread_t thread;
    bool is_started;
    pthread_mutex_t mutex;
    pthread_cond_t is_ready; /* signalled when what its operation waited for is done */
    /* the current operation */
    enum replay_reason reason;
    uint64_t latency_cycles;
    uint64_t moved_bytes;
    unsigned char *buffer;
    size_t buffer_bytes;
    uint32_t parent; /* node whose descriptor is kept */
    int parent_fd;   /* -1: none */
    uint64_t parent_generation;
};

struct replay {
    const struct events_file *file;
    struct replay_arena arena;
    REPLAY_ARRAY(struct replay_op) ops;
    REPLAY_ARRAY(struct replay_node) nodes; /* [1]: the directory itself */
    REPLAY_ARRAY(struct replay_name) names;
    REPLAY_ARRAY(struct replay_handle) handles;
    REPLAY_ARRAY(struct replay_edge) edges; /* sorted by from, once planned */
    REPLAY_ARRAY(struct replay_reader) readers;
    struct number_map node_of_id; /* from numbers of the file to places of ours, as the next */
    struct number_map handle_of_file;
    uint32_t *name_table; /* names by directory and text */
    uint32_t name_table_room;
    struct replay_lane *lanes; /* [lane_count] */
    uint32_t lane_count;
    uint32_t recorded_threads;
    uint64_t left_out[EVENTS_OPS_MAX]; /* calls that are not planned: REPLAY_BAD_TIME */
    uint64_t first_cycles;
    int error; /* of planning: out of memory */

    /* during the replay */
    struct replay_options options;
    const volatile sig_atomic_t *stop;
    int root_fd;
    dev_t root_device;
    _Atomic bool has_no_openat2;
    struct aggstats_clock clock;
    int64_t started_ns; /* CLOCK_MONOTONIC */
    int64_t started_unix_ns;
    int64_t ended_ns;
    pthread_rwlock_t places_lock; /* of nodes' places: held for writing during a rename */
    uint64_t generation;          /* of directories' places */
    pthread_mutex_t charge_lock;
    uint64_t charged_bytes;
    uint64_t charged_names;
    atomic_bool is_astray;  /* names may belong to other nodes than planned */
    unsigned char *pattern; /* [PATTERN_BYTES], data for files */
    _Atomic uint64_t replaced_targets;
    struct replay_report report;
    struct replay_count *counts;
    struct replay_difference *differences;
};

#define ROOT_NODE 1U
#define REPLAY_CLOSED UINT32_MAX /* in handle_of_file */

/* Grows an array by one, zeroed. Returns its index; 0: no memory, and replay->error is set */
#define REPLAY_ADD(replay, array)                                                                                      \
    replay_array_add((replay), (void **)&(array)->at, &(array)->count, &(array)->room, sizeof(*(array)->at))
uint32_t replay_array_add(struct replay *replay, void **at, uint32_t *count, uint32_t *room, size_t member_bytes);

/* The place of a number; 0: it is not there. */
static inline uint32_t replay_map_get(const struct number_map *map, uint64_t key) {
    return (uint32_t)number_map_get(map, key);
}

/* Without memory replay->error says so. */
void replay_map_set(struct replay *replay, struct number_map *map, uint64_t key, uint32_t value);

/* A copy with a NUL. Returns NULL without memory; replay->error is set then */
const char *replay_keep_text(struct replay *replay, const char *bytes, size_t length);

/* True if a name is one component of a path, and not "." or "..". */
bool replay_is_component(const char *bytes, size_t length);

/* ---- Names, while planning ---- */

/* The node of a number in the file; a new one is placed where the file says it is. 0: none */
uint32_t replay_node_of(struct replay *replay, uint64_t id, uint64_t cycles, enum replay_type type);

/* The name in the table; made if it is new. */
uint32_t replay_name_of(struct replay *replay, uint32_t directory, const char *text);

/* The node of an existing name, which existed from the beginning if nothing made it. id: 0: unknown. */
uint32_t replay_name_present(struct replay *replay, uint32_t place, uint64_t id, enum replay_type type);

/* A node is made with that name. */
uint32_t replay_name_made(struct replay *replay, uint32_t place, uint64_t id, enum replay_type type);

/* Plans an operation on names, after its arguments were read. entry_id: the column */
void replay_plan_names(struct replay *replay, struct replay_op *op, uint64_t entry_id);

/* ---- Open files, order, threads, while planning ---- */

/* The open file of a number in the file, for a call; `handle`: its state if it was open when recording began. */
uint32_t replay_handle_of(struct replay *replay, uint64_t file, uint64_t cycles, const struct replay_handle *handle);

/* A call opens a file. */
uint32_t replay_handle_open(struct replay *replay, uint64_t file, const struct replay_handle *handle);

/* A call closes it. */
void replay_handle_close(struct replay *replay, uint64_t file, uint32_t handle);

/* Makes operation `place` wait for earlier ones on all its objects. */
void replay_plan_order(struct replay *replay, uint32_t place);

/* Sorts what operations wait for, and counts it. Errors: -ENOMEM */
int replay_plan_waits(struct replay *replay);

/* Assigns each operation to a thread. Errors: -ENOMEM */
int replay_plan_lanes(struct replay *replay);

/* The row of a name; NULL: it cannot be repeated. */
const struct replay_row *replay_row_of(const char *name);

/* ---- During the replay ---- */

/* Charges the space of a file up to that end, or of a name. Returns false if it would be too much */
bool replay_charge(struct replay *replay, uint32_t node, uint64_t end_bytes);
bool replay_charge_name(struct replay *replay);
bool replay_charge_attribute(struct replay *replay, uint64_t size_bytes);

/* Charges the space of a file after that much was inserted into it. */
bool replay_charge_insertion(struct replay *replay, uint32_t node, int fd, uint64_t size_bytes);

/* A name was removed, or was not made. */
void replay_return_name(struct replay *replay);

/* A file holds at most that much now. */
void replay_shrink(struct replay *replay, uint32_t node, uint64_t size_bytes);

/* A file was opened, closed, or has lost a name: its space is given back when it is neither open nor named. */
void replay_count_open(struct replay *replay, uint32_t node, int change);

/* Opens a node below the directory, by its place, without following links. flags: of open(2)
 * Returns a descriptor, which the caller closes, or -errno; -ENXIO: its place is unknown */
int replay_open_node(struct replay *replay, uint32_t node, int flags);

/* The directory of a name, as a descriptor that the lane keeps. Errors as above */
int replay_open_parent(struct replay_lane *lane, uint32_t directory);

/* A node has got a name, or has lost it. */
void replay_place_add(struct replay *replay, uint32_t node, uint32_t directory, const char *text);
void replay_place_remove(struct replay *replay, uint32_t node, uint32_t directory, const char *text);
void replay_place_forget_descriptors(struct replay *replay);

/* One of a node's places; .directory is 0 if there is none. */
struct replay_place replay_place_of(struct replay *replay, uint32_t node);

/* Opens the file of an O_PATH descriptor, if it is a regular file or, if wanted, a directory; any other type is not
 * touched. Timed. Returns a descriptor, or -errno, also with lane->reason set */
int replay_open_checked(struct replay_lane *lane, int path_fd, int flags, bool is_directory);

/* A lane's own memory, for a call to read into. NULL: none */
unsigned char *replay_buffer(struct replay_lane *lane, uint64_t size_bytes);

/* Evaluates a system call, and adds its duration to lane->latency_cycles. The value is its result, or -errno. */
#define TIMED(lane, call)                                                                                              \
    (__extension__({                                                                                                   \
        uint32_t kind_ = (lane)->replay->clock.kind;                                                                   \
        uint64_t begun_ = aggstats_clock_now(kind_);                                                                   \
        long result_ = (long)(call);                                                                                   \
        (lane)->latency_cycles += aggstats_clock_now(kind_) - begun_;                                                  \
        result_ < 0 ? (long)negative_errno() : result_;                                                                \
    }))

/* Refuses the operation, for a reason. Returns -ECANCELED */
static inline int replay_refuse(struct replay_lane *lane, enum replay_reason reason) {
    lane->reason = reason;
    return -ECANCELED;
}

/* The functions of operations: see the table in rows.c. */
int replay_lookup(struct replay_lane *lane, struct replay_op *op);
int replay_symlink(struct replay_lane *lane, struct replay_op *op);
int replay_mknod(struct replay_lane *lane, struct replay_op *op);
int replay_mkdir(struct replay_lane *lane, struct replay_op *op);
int replay_remove(struct replay_lane *lane, struct replay_op *op);
int replay_rename(struct replay_lane *lane, struct replay_op *op);
int replay_link(struct replay_lane *lane, struct replay_op *op);
int replay_open(struct replay_lane *lane, struct replay_op *op);
int replay_create_file(struct replay_lane *lane, struct replay_op *op);
int replay_tmpfile(struct replay_lane *lane, struct replay_op *op);
int replay_release(struct replay_lane *lane, struct replay_op *op);
int replay_flush(struct replay_lane *lane, struct replay_op *op);
int replay_read(struct replay_lane *lane, struct replay_op *op);
int replay_write(struct replay_lane *lane, struct replay_op *op);
int replay_copy(struct replay_lane *lane, struct replay_op *op);
int replay_fsync(struct replay_lane *lane, struct replay_op *op);
int replay_fallocate(struct replay_lane *lane, struct replay_op *op);
int replay_lseek(struct replay_lane *lane, struct replay_op *op);
int replay_readdir(struct replay_lane *lane, struct replay_op *op);
int replay_lock(struct replay_lane *lane, struct replay_op *op);
int replay_getattr(struct replay_lane *lane, struct replay_op *op);
int replay_statx(struct replay_lane *lane, struct replay_op *op);
int replay_setattr(struct replay_lane *lane, struct replay_op *op);
int replay_access(struct replay_lane *lane, struct replay_op *op);
int replay_readlink(struct replay_lane *lane, struct replay_op *op);
int replay_statfs(struct replay_lane *lane, struct replay_op *op);
int replay_syncfs(struct replay_lane *lane, struct replay_op *op);
int replay_setxattr(struct replay_lane *lane, struct replay_op *op);
int replay_getxattr(struct replay_lane *lane, struct replay_op *op);
int replay_listxattr(struct replay_lane *lane, struct replay_op *op);
int replay_removexattr(struct replay_lane *lane, struct replay_op *op);

/* The time of a recorded moment since the first call; at most a century, even for a forged file. */
static inline int64_t replay_recorded_ns(const struct replay *replay, uint64_t cycles) {
    long double ns = (long double)(cycles - replay->first_cycles) * 1e9L / (long double)replay->file->clock_hz;
    return ns > 3.2e18L ? INT64_C(3200000000000000000) : (int64_t)ns;
}

/* The mode of a new file. */
mode_t replay_mode(const struct replay *replay, uint64_t mode, uint32_t mask, mode_t least);

/* Makes what must have existed before the first operation. */
int replay_populate(struct replay *replay);

/* Runs all lanes to their end. Errors: -EAGAIN no thread */
int replay_run_lanes(struct replay *replay);

/* Sums up the outcomes of all operations. Errors: -ENOMEM */
int replay_sum_up(struct replay *replay);

#endif
