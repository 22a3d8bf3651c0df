/* A recording session: what all sources of calls have in common, be they a mount, another daemon's ring or programs in
 * the kernel. It makes the recorder with its header and its live file, begins what is recorded beside the counters,
 * carries out commands, and saves the profile.
 *
 * Life cycle: session_open() makes the recorder. The source prepares what counts in it; then session_record() begins
 * what the options ask for, and session_answer() takes commands from others. session_end() saves the profile, and
 * session_finish() frees the session.
 * The live file is removed only when the profile is in another file, or nothing was recorded. */
#ifndef SESSION_H
#define SESSION_H

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

#include "aggstats/caller_groups.h"
#include "aggstats/slow.h"
#include "control.h"
#include "control_server.h"
#include "option_list.h"
#include "option_table.h"

/* What the user asks for. All borrowed */
struct session_options {
    const char *profile; /* path of the final one; absolute; NULL: none is saved */
    bool keeps_old;      /* an existing file is kept as NAME.old */
    unsigned resolution;
    uint64_t interval_ns;             /* of a sampled profile; 0: none */
    unsigned intervals_max;           /* 0: the default */
    unsigned groupings;               /* bits (1 << AGGSTATS_BY_FILE) */
    unsigned groups_max;              /* of each; 0: the default */
    uint64_t slow_ns;                 /* calls that take so long are slow; 0: none is */
    struct option_list labels;        /* "KEY=VALUE" */
    unsigned joint[AGGSTATS_OPS_MAX]; /* values that latencies are related to, as bits (1 << AGGSTATS_SIZE) */
};

/* Rows of an option table for what all sources can do; member: a struct session_options. */
#define SESSION_ROWS(type, member)                                                                                     \
    {.name = "interval",                                                                                               \
     .metavar = "TIME",                                                                                                \
     .help = "keep the profile of each interval of that length too",                                                   \
     .parse_time = control_parse_interval,                                                                             \
     INTO(TIME, type, member.interval_ns)},                                                                            \
        {.name = "intervals",                                                                                          \
         .metavar = "N",                                                                                               \
         .min = 2,                                                                                                     \
         .max = AGGSTATS_INTERVALS_MAX,                                                                                \
         .step = 2,                                                                                                    \
         .help = "at most N of them; then they become twice as long; default: 1024",                                   \
         INTO(UNSIGNED, type, member.intervals_max)},                                                                  \
    {                                                                                                                  \
        .name = "groups", .metavar = "N", .min = AGGSTATS_GROUPS_MIN, .max = AGGSTATS_GROUPS_MAX,                      \
        .help = "keep at most N of each kind of --by, {}; default: 256", INTO(UNSIGNED, type, member.groups_max)       \
    }
#define SESSION_ROW_RESOLUTION(type, member, allowed, initial)                                                         \
    {                                                                                                                  \
        .name = "resolution", .letter = 'r', .metavar = "N", .rule = "takes " allowed,                                 \
        .help = "buckets per power of two: " allowed "; default: " initial, INTO(UNSIGNED, type, member.resolution)    \
    }

/* The header of a profile, in its order; the user's labels follow. NULL: the line is left out */
struct session_header {
    const char *layer;
    const char *lower;
    const char *devices;
    struct aggstats_label whose; /* as "calls of process"; key NULL: of all */
    const char *mount;           /* the path for commands */
    const char *filesystem;
    const char *cache;
    const char *control; /* the name of the control file; NULL: the socket, if there is one */
    const char *profile; /* path of the final one */
    const char *data;
    const char *workers;
    const char *io_uring;
    const char *locks;
};

/* Finds an operation and one of its values by their names. Returns NULL, or what is wrong with them */
typedef const char *(*session_find_joint_fn)(const char *op, const char *value, unsigned *ret_op,
                                             enum aggstats_value *ret_value);

/* The parts of a session that differ from source to source. All borrowed */
struct session_source {
    const char *name; /* of the mount or place, for messages */
    const char *const *op_names;
    unsigned op_count;
    struct aggstats_clock clock; /* zeroed: detected */
    struct session_header header;

    /* The live file: at live_path; or, with a tag, under the first free name DIRECTORY/PID<tag>N.live; or none. */
    const char *live_path;
    const char *tag;
    const char *directory; /* NULL: the default of this user */
    bool has_socket;       /* there is a socket beside the live file; the header names it, session_answer() makes it */
    uint64_t shared_threads; /* threads of other processes that may count in the live file at one time; 0: this process
                              * counts */

    dev_t device; /* of the profiled mount: no profile is saved in it; 0: profiles may be saved anywhere */
    struct aggstats_grouping_options ways[AGGSTATS_GROUPINGS]; /* for each grouping; the session sets kind and number */
    struct aggstats_slow_options slow; /* the session sets the threshold. find_cause NULL: the source finds slow calls
                                        * itself. Commands use its functions for paths, too */

    session_find_joint_fn find_joint;                              /* NULL: there are no joint profiles */
    int (*set_joint)(void *context, unsigned op, unsigned values); /* switches values of an operation on and off */
    void (*slow_is_set)(void *context); /* the recorder has a new threshold for slow calls; may be NULL */
    void *set_context;                  /* of both */

    void (*catch_up)(void *context); /* counts all calls that have ended, before each command; NULL: they are counted */
    void (*tell)(void *context, const char *text); /* prints a line for the user; NULL: no messages */
    void *context;                                 /* of both */
    const uint64_t *handed_over;                   /* see struct control_server */
};

struct session {
    const struct session_options *options;
    struct session_source source;
    struct aggstats_recorder *recorder;
    struct control control; /* complete after session_record() */
    struct control_server socket;
    char *live_path; /* NULL: there is no live file */
    char *socket_path;
    char directory[PATH_MAX];         /* of the live file, for messages */
    unsigned joint[AGGSTATS_OPS_MAX]; /* values that are on, as bits */
    char failed[64];                  /* what session_record() could not begin, as in "cannot sample the profile" */
    bool keeps_live;                  /* the live file stays, or has been removed */
    pthread_mutex_t lock;             /* of changes of what is recorded */
};

/* Makes the recorder. *session must not move afterwards.
 * Owner:   copies *source; the caller finishes the session
 * Errors:  those of the live file and of its directory, which session->directory names; nothing is left behind */
int session_open(struct session *session, const struct session_options *options, const struct session_source *source);

/* Fills in source->ways for calls whose callers are known by their threads.
 * callers: has identify_first and its context; objects: name_object, place_of for directories, and their context */
void session_group_by_threads(struct session_source *source, const struct aggstats_grouping_options *callers,
                              const struct aggstats_grouping_options *objects);

/* Begins what the options ask for, before any call. Changes of source.ways and source.slow count until then.
 * Errors:  those of the recorder; session->failed says of what */
int session_record(struct session *session);

/* Answers at the socket, if there is one. Tells the user if that is not possible. Returns whether it is */
bool session_answer(struct session *session);

/* Stops answering. Waits while a command hangs. */
void session_stop_answering(struct session *session);

/* Saves the profile so far to its place, or beside it, and tells the user if it is not in its place.
 * Errors:  -errno, told */
int session_save(const struct session *session);

/* Nothing else has the profile: the live file stays. Tells the user where it is. */
void session_leave(struct session *session);

/* Call when all has been counted: stops answering, saves the profile, and removes the live file unless that failed.
 * Errors:  as session_save() */
int session_end(struct session *session);

/* Frees the session. If it has not ended, removes the live file too. Until then threads of the recorder use what the
 * source has. */
void session_finish(struct session *session);

/* Adds an argument "OP:VALUE" to the values of operations. Returns an error message; NULL: none */
const char *session_parse_joint(session_find_joint_fn find_joint, const char *argument,
                                unsigned joint[AGGSTATS_OPS_MAX]);

/* The arguments of aggstats_recorder_begin_groups() for some groupings. wanted: as bits. Returns how many there are */
unsigned session_groupings(const struct session *session, unsigned wanted,
                           struct aggstats_grouping_options ret_groupings[AGGSTATS_GROUPINGS]);

/* Whether a final profile can be saved there, judging by its directory. device: of the mount.
 * Errors:  -ELOOP it lies in the mount; those of opening the directory */
int session_check_place(const char *profile, dev_t device);

#endif
