/* libaggstats, inside this project: what calls belong to, in a shared live file: files, mounts, programs, processes.
 *
 * A call's latency is added to a cell of the file: calls and cycles of one operation and bucket, of one subject and one
 * caller. Cells are found by hashing, and shared by all threads of all processes, which add to them atomically; so
 * there is nothing that a process could leave behind. All tables are bounded. What finds no room is in the counters of
 * its thread all the same, and so in `other` of each grouping: the difference between the whole and its groups.
 *
 * Directories are derived from files, and mounts of names from their directories. A file is known by its path as the
 * program gave it, made absolute, without "." and ".."; one without room in the table counts for its directory alone.
 *
 * All of this takes no lock, makes no system call and allocates nothing.
 * Threads: any
 * Signals: may be called in handlers */
#ifndef AGGSTATS_SHARED_GROUPS_H
#define AGGSTATS_SHARED_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats/shared.h"

/* The subject of a call: an object, or only its directory, and the mount; 0: all are unknown. */
typedef uint32_t aggstats_subject;

#define AGGSTATS_SUBJECT_OBJECT_BITS 16
#define AGGSTATS_SUBJECT_MOUNT_SHIFT (AGGSTATS_SUBJECT_OBJECT_BITS + 1)
#define AGGSTATS_SUBJECT_BITS (AGGSTATS_SUBJECT_MOUNT_SHIFT + 8)

static inline bool aggstats_subject_has_mount(aggstats_subject subject) {
    return subject >> AGGSTATS_SUBJECT_MOUNT_SHIFT != 0;
}

/* The subject with that mount, of aggstats_subject_mount(). */
static inline aggstats_subject aggstats_subject_on(aggstats_subject subject, unsigned mount) {
    return (subject & ((1U << AGGSTATS_SUBJECT_MOUNT_SHIFT) - 1)) | mount << AGGSTATS_SUBJECT_MOUNT_SHIFT;
}

/* The object for aggstats_shared_begin(), so that snapshots have the paths of calls in flight and of the longest call.
 * 0: only the directory is known */
static inline uint64_t aggstats_subject_object(aggstats_subject subject) {
    const bool is_place = subject >> AGGSTATS_SUBJECT_OBJECT_BITS & 1;
    return is_place ? 0 : subject & ((1U << AGGSTATS_SUBJECT_OBJECT_BITS) - 1);
}

/* The groupings that the file was made for, as bits (1 << AGGSTATS_BY_FILE). */
unsigned aggstats_shared_groupings(const struct aggstats_recorder *recorder);

/* path: absolute, without ".", ".." and doubled or trailing slashes. The mount may be missing: see below */
aggstats_subject aggstats_subject_of_path(struct aggstats_recorder *recorder, const char *path, size_t length);

/* The object is known to be a directory: its calls are also those of the grouping by directory. */
void aggstats_subject_is_directory(struct aggstats_recorder *recorder, aggstats_subject subject);

/* The path of the object. Returns its length; 0: it is unknown, or does not fit */
size_t aggstats_subject_path(const struct aggstats_recorder *recorder, aggstats_subject subject, char *ret_path,
                             size_t size_bytes);

/* The same of the directory whose mount is the subject's. */
size_t aggstats_subject_directory(const struct aggstats_recorder *recorder, aggstats_subject subject, char *ret_path,
                                  size_t size_bytes);

/* Notes the mount of the files in aggstats_subject_directory(). */
void aggstats_subject_note_mount(struct aggstats_recorder *recorder, aggstats_subject subject, unsigned mount);

/* The number of a mount. id: of the mount, as in mountinfo; 0: unknown, then the device must do. 0: there is no room */
unsigned aggstats_subject_mount(struct aggstats_recorder *recorder, uint64_t id, uint64_t device);

#define AGGSTATS_CALLER_NAME_SIZE 16

/* The number of a caller. name: of its program. 0: there is no room */
unsigned aggstats_shared_caller(struct aggstats_recorder *recorder, uint32_t pid,
                                const char name[AGGSTATS_CALLER_NAME_SIZE]);

/* Counts a call that has ended, which the calling thread has counted.
 * recorder: of aggstats_recorder_join(); the file must have groupings. caller: 0: unknown */
void aggstats_shared_group_add(struct aggstats_recorder *recorder, unsigned caller, aggstats_subject subject,
                               unsigned op, uint64_t latency_cycles);

/* ---- For the process that made the file ---- */

/* A mount as it is known by. */
struct aggstats_shared_mount {
    uint64_t id;
    uint64_t device;
    const char *path;
    const char *name; /* of its group */
};

/* Lists the mounts that there are. Owner: the function; valid until it is called again */
typedef const struct aggstats_shared_mount *(*aggstats_mounts_fn)(void *context, size_t *ret_count);

struct aggstats_shared_groups_options {
    unsigned groups_max;       /* shown of each grouping: those that have taken the most time */
    unsigned directory_depth;  /* directories below belong to the one that deep; 0: each is a group */
    aggstats_mounts_fn mounts; /* needed for the grouping by mount */
    void *context;
};

/* From now on snapshots also have a profile for each group, as with aggstats_recorder_group(), of calls since the last
 * reset.
 * Errors:  -EINVAL the file has no groupings, -EBUSY, -ENOMEM
 * Threads: once, before snapshots */
int aggstats_recorder_group_shared(struct aggstats_recorder *recorder,
                                   const struct aggstats_shared_groups_options *options);

#endif
