/* Doing recorded operations again, in another directory.
 *
 * A plan is made of an events file: which threads there are, what each operation waits for, and what must have been
 * there before the first one. Then it is run once.
 *
 * Nothing outside of the directory is touched, whatever the file says: names are single components, directories are
 * found beneath it without following a link, and links that are made do not lead upwards. */
#ifndef REPLAY_H
#define REPLAY_H

#include <signal.h>

#include "aggstats.h"
#include "events_reader.h"

struct replay;

/* Owner:   the caller destroys *ret_replay, before `file` is closed.
 * Errors:  -ENODATA no calls, or no rate of the clock; -ERANGE no call has a time that it can have, -E2BIG more calls
 *          than can be planned; -ENOMEM */
int replay_create(const struct events_file *file, struct replay **ret_replay);
void replay_destroy(struct replay *replay);

struct replay_options {
    bool is_fast;       /* operations follow each other as fast as they can; else with the recorded gaps */
    bool is_existing;   /* the directory is not empty: what is there is used */
    bool is_sparse;     /* files that must have been there are one hole each; else they are filled */
    bool is_privileged; /* owners, set-id bits and devices as recorded, if the caller may; else without */
    uint64_t max_bytes; /* that files may hold in the end; each name counts for REPLAY_NAME_BYTES */
};

#define REPLAY_NAME_BYTES 4096U

/* For how long operations are done with the recorded gaps, at least. */
int64_t replay_recorded_length_ns(const struct replay *replay);

/* Makes what must have been there, then does all operations. dir_fd: a directory
 * stop: ends it soon when it becomes true; what was not done then is not counted as refused
 * Errors: -ENOMEM, -EAGAIN no more threads. Operations that fail are no errors */
int replay_run(struct replay *replay, int dir_fd, const struct replay_options *options,
               const volatile sig_atomic_t *stop);

/* ---- What came of it ---- */

/* Why an operation was not done. */
enum replay_reason {
    REPLAY_DONE,
    REPLAY_NO_NAME,        /* the file does not have its name, or a part of it */
    REPLAY_BAD_NAME,       /* not a single component: "..", or with a slash */
    REPLAY_NO_PLACE,       /* where the node was is not known, or it is not there */
    REPLAY_NO_FILE,        /* the file is not open: what opened it was not recorded, or failed */
    REPLAY_UNKNOWN_OP,     /* an operation that cannot be done again */
    REPLAY_NOT_A_FILE,     /* to open it could block, or do something: a FIFO, a device */
    REPLAY_TOO_LARGE,      /* would exceed max_bytes, or what one call can move */
    REPLAY_NOT_RECORDED,   /* what it would need, such as the value of an attribute, is not in the file */
    REPLAY_NOT_PRIVILEGED, /* owners, set-id bits, devices */
    REPLAY_BAD_TIME,       /* none that it can have: events_is_outside() */
    REPLAY_STOPPED,        /* by the caller, before it was its turn */
    REPLAY_REASONS
};

/* In words: "its name was not recorded". */
const char *replay_reason_text(enum replay_reason reason);

/* Of the operations of one name. */
struct replay_count {
    const char *name; /* as in profiles */
    uint64_t recorded;
    uint64_t done;
    uint64_t other_error;  /* of done: failed otherwise than recorded, or only one of both failed */
    uint64_t other_result; /* of done: other numbers of bytes were moved, where the op counts bytes */
    uint64_t not_done[REPLAY_REASONS];
};

/* One way in which operations failed otherwise. */
struct replay_difference {
    const char *name;
    unsigned recorded_error; /* errno values; 0: it did not fail */
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
    const struct replay_count *counts; /* of the replay, as the next */
    size_t count_count;
    const struct replay_difference *differences;
    size_t difference_count;
    unsigned thread_count;
    unsigned recorded_thread_count;
    uint64_t made_directories; /* before the first operation */
    uint64_t made_files;
    uint64_t made_bytes;
    uint64_t not_made;         /* names that must have been there, but could not be made */
    int not_made_error;        /* errno value of the first of them; EFBIG: files would hold too much */
    uint64_t replaced_targets; /* of symbolic links */
    int64_t recorded_ns;       /* from the first call's beginning to the last one's end */
    int64_t replayed_ns;
    int64_t late_ns[4]; /* how late operations began: of 50, 95, 99 and 100 % of them at most; with recorded gaps */
    struct replay_interval intervals[REPLAY_INTERVALS]; /* equal parts of the longer of both */
    double rate_error; /* mean of |replayed - recorded| of the intervals, by the mean of recorded */
};

/* Owner: the replay. */
const struct replay_report *replay_report_of(const struct replay *replay);

/* The profile of what was recorded, or of what was done. Owner: the caller finishes *ret_profile. Errors: -ENOMEM */
int replay_recorded_profile(const struct replay *replay, struct aggstats_profile *ret_profile);
int replay_replayed_profile(const struct replay *replay, struct aggstats_profile *ret_profile);

#endif
