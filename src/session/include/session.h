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

/* What the user asks for. All borrowed */
struct session_options {
    const char *profile; /* path of the final one; absolute; NULL: none is saved */
    bool keeps_old;      /* an existing file is kept as NAME.old */
    unsigned resolution;
    uint64_t interval_ns;      /* of a sampled profile; 0: none */
    unsigned intervals_max;    /* 0: the default */
    unsigned groupings;        /* bits (1 << AGGSTATS_BY_FILE) */
    unsigned groups_max;       /* of each; 0: the default */
    uint64_t slow_ns;          /* calls that take so long are slow; 0: none is */
    struct option_list joint;  /* "OP:VALUE" */
    struct option_list labels; /* "KEY=VALUE" */
};

/* The header of a profile, in its order; the socket, the final profile and the user's labels follow. NULL: the line is left
 * out */
struct session_header {
    const char *layer;
    const char *lower;
    const char *devices;
    struct aggstats_label whose; /* as "calls of process"; key NULL: of all */
    const char *mount;           /* the path for commands */
    const char *filesystem;
};

/* Finds an operation and one of its values by their names. Returns NULL, or what is wrong with them */
typedef const char *(*session_find_joint_fn)(const char *op, const char *value, unsigned *ret_op,
                                             enum aggstats_value *ret_value);

/* What counts calls. All borrowed */
struct session_source {
    const char *name; /* of what is profiled, for messages */
    const char *const *op_names;
    unsigned op_count;
    struct aggstats_clock clock; /* zeroed: detected */
    struct session_header header;

    /* The live file: live_path, with the socket beside it; or, with a tag, DIR/PID<tag>N.live for the first free N; or
     * none. */
    const char *live_path;
    const char *tag;
    const char *directory;   /* for tags; NULL: that of this user */
    bool has_socket;         /* the header names the socket */
    uint64_t shared_threads; /* other processes count in the live file, so many threads at a time; 0: this one counts */

    dev_t device; /* of the mount, in which nothing is saved; 0: anywhere */
    struct aggstats_grouping_options ways[AGGSTATS_GROUPINGS]; /* how calls are grouped, but for kind and number */
    struct aggstats_slow_options slow; /* but for the threshold, which session_set_slow() sets. find_cause NULL: the
                                        * source watches slow calls by itself. The paths are those of commands, too */

    session_find_joint_fn find_joint;                              /* NULL: there are no joint profiles */
    int (*set_joint)(void *context, unsigned op, unsigned values); /* of the recorder, and of what counts */
    void (*slow_is_set)(void *context);                            /* what counts learns of it; NULL: it need not */
    void *set_context;                                             /* of both */

    void (*catch_up)(void *context);               /* counts all up to now, before each command; NULL: it always is */
    void (*tell)(void *context, const char *text); /* tells the user a line; NULL: nobody is told */
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
    bool keeps_live;                  /* the live file stays, or has been removed */
    pthread_mutex_t lock;             /* of changes of what is recorded */
};

/* Makes the recorder. *session must not move afterwards.
 * Owner:   copies *source; the caller finishes the session
 * Errors:  those of the live file and of its directory, which session->directory names; nothing is left behind */
int session_open(struct session *session, const struct session_options *options, const struct session_source *source);

/* How calls are grouped of which the threads that made them are known: fills in source->ways. callers: identify_first and
 * its context; objects: name_object, place_of for directories, and their context */
void session_group_by_threads(struct session_source *source, const struct aggstats_grouping_options *callers,
                              const struct aggstats_grouping_options *objects);

/* Begins what the options ask for, before any call. Changes of source.ways and source.slow count until then.
 * Errors:  those of the recorder */
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

/* Frees the session. Removes the live file, too, unless the session has ended. The recorder's threads use what the source
 * has until then. */
void session_finish(struct session *session);

/* Sets how long calls take that are slow; 0: none is. A control_slow_fn; context: the session. Threads: any */
int session_set_slow(void *context, uint64_t ns);

/* "OP VALUE", "OP off" or "off". A control_joint_fn; context: the session. Threads: any */
const char *session_set_joint(void *context, const char *argument, bool apply);

/* What is wrong with an argument "OP:VALUE"; NULL: nothing. */
const char *session_check_joint(session_find_joint_fn find_joint, const char *argument);

/* Tells the user. */
void session_tell(const struct session *session, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a final profile can be saved there, judging by its directory. device: of the mount.
 * Errors:  -ELOOP it lies in the mount; those of opening the directory */
int session_check_place(const char *profile, dev_t device);

/* Saves the profile so far in a file that the client has opened, or, without a name, to the place of the final one. A
 * control_file_fn; context: the session */
int session_dump(void *context, const struct control_file *file);

/* Saves it in a new file that the client has opened, and begins the next. A control_file_fn; context: the session */
int session_rotate(void *context, const struct control_file *file);

#endif
