/* Repeating recorded operations in another directory.
 *
 * A plan is made from an events file: its threads, what each operation waits for, and what must have existed before the
 * first one. Then it is run once.
 *
 * Nothing outside the directory is touched, whatever the file says: names are single components, directories are opened
 * below it without following a link, and links that are made do not lead upwards. */
#ifndef REPLAY_H
#define REPLAY_H

#include <signal.h>

#include "aggstats.h"
#include "events_reader.h"

struct replay;

/* Owner:   the caller destroys *ret_replay, before `file` is closed.
 * Errors:  -ENODATA no calls, or no clock rate; -ERANGE no call has a possible time, -E2BIG more calls than can be
 *          planned; -ENOMEM */
int replay_create(const struct events_file *file, struct replay **ret_replay);
void replay_destroy(struct replay *replay);

struct replay_options {
    bool is_fast;       /* operations follow each other without pauses; else with the recorded ones */
    bool is_existing;   /* the directory is not empty: existing files are used */
    bool is_sparse;     /* files that existed before are holes; else they are filled */
    bool is_privileged; /* owners, set-id bits and devices as recorded, if the caller may; else without */
    uint64_t max_bytes; /* of all files at the end; each name counts as REPLAY_NAME_BYTES */
};

#define REPLAY_NAME_BYTES 4096U

/* How long a replay with the recorded pauses takes, at least. */
int64_t replay_recorded_length_ns(const struct replay *replay);

/* Makes what must have existed, then does all operations. dir_fd: a directory
 * stop: ends it soon when it becomes true; operations not done then are not counted as refused
 * Errors:  -ENOMEM, -EAGAIN no more threads. Operations that fail are no errors */
int replay_run(struct replay *replay, int dir_fd, const struct replay_options *options,
               const volatile sig_atomic_t *stop);

/* ---- The outcome ---- */

/* Why an operation was not done. */
enum replay_reason {
    REPLAY_DONE,
    REPLAY_NO_NAME,        /* its name, or a part of it, was not recorded */
    REPLAY_BAD_NAME,       /* not a single component: "..", or with a slash */
    REPLAY_NO_PLACE,       /* the place of the node is unknown, or it is not there */
    REPLAY_NO_FILE,        /* the file is not open: its open was not recorded, or failed */
    REPLAY_UNKNOWN_OP,     /* an operation that cannot be repeated */
    REPLAY_NOT_A_FILE,     /* opening it could block, or do something: a FIFO, a device */
    REPLAY_TOO_LARGE,      /* would exceed max_bytes, or the largest transfer */
    REPLAY_NOT_RECORDED,   /* an argument, such as the value of an attribute, was not recorded */
    REPLAY_NOT_PRIVILEGED, /* owners, set-id bits, devices */
    REPLAY_BAD_TIME,       /* an impossible one: events_is_outside() */
    REPLAY_STOPPED,        /* by the caller, before its turn */
    REPLAY_REASONS
};

/* In words: "its name was not recorded". */
const char *replay_reason_text(enum replay_reason reason);

/* Counts of the operations of one name. */
struct replay_count {
    const char *name; /* as in profiles */
    uint64_t recorded;
    uint64_t done;
    uint64_t other_error;  /* of those done: failed with another error, or only one of both failed */
    uint64_t other_result; /* of those done: moved another number of bytes, if the op counts bytes */
    uint64_t not_done[REPLAY_REASONS];
};

/* One kind of different error. */
struct replay_difference {
    const char *name;
    unsigned recorded_error; /* errno values; 0: success */
    unsigned error;
    uint64_t count;
};

/* Calls that began in a part of the time. */
struct replay_interval {
    uint64_t recorded;
    uint64_t replayed;
};

#define REPLAY_INTERVALS 10U

struct replay_report {
    const struct replay_count *counts; /* of the replay, like the next */
    size_t count_count;
    const struct replay_difference *differences;
    size_t difference_count;
    unsigned thread_count;
    unsigned recorded_thread_count;
    uint64_t made_directories; /* before the first operation */
    uint64_t made_files;
    uint64_t made_bytes;
    uint64_t not_made;         /* names that must have existed, but could not be made */
    int not_made_error;        /* errno value of the first of them; EFBIG: files would take too much space */
    uint64_t replaced_targets; /* of symbolic links */
    int64_t recorded_ns;       /* from the first call's beginning to the last one's end */
    int64_t replayed_ns;
    int64_t late_ns[4]; /* delays with recorded pauses: of the first 50, 95, 99 and 100 % at most */
    struct replay_interval intervals[REPLAY_INTERVALS]; /* equal parts of the longer of both */
    double rate_error; /* mean of |replayed - recorded| over the intervals, divided by the mean of recorded */
};

/* Owner: the replay. */
const struct replay_report *replay_report_of(const struct replay *replay);

/* The profile of the recorded calls, or of the repeated ones.
 * Owner:   the caller finishes *ret_profile.
 * Errors:  -ENOMEM */
int replay_recorded_profile(const struct replay *replay, struct aggstats_profile *ret_profile);
int replay_replayed_profile(const struct replay *replay, struct aggstats_profile *ret_profile);

#endif
