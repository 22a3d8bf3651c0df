/* The profile of a mount that another daemon serves: its recorder, filled from the records of the daemon's preloaded
 * object, its control, and where it is saved. */
#ifndef OBSERVED_H
#define OBSERVED_H

#include <pthread.h>

#include "control.h"
#include "daemon_cause.h"
#include "fuse_mount.h"
#include "option_list.h"
#include "requests.h"
#include "saving.h"

#define SESSION_CAUSE_SIZE 512

struct session_options {
    const char *profile; /* absolute */
    bool keeps_old;      /* an existing file is kept as NAME.old */
    unsigned resolution;
    uint64_t interval_ns;        /* 0: not sampled */
    unsigned groupings;          /* as bits of enum aggstats_grouping */
    unsigned groups_max;         /* 0: the default */
    uint64_t slow_ns;            /* 0: none is slow */
    struct option_list joint;    /* "OP:VALUE" */
    struct option_list labels;   /* "KEY=VALUE" */
    struct thread_causes causes; /* passed to the session */
};

struct session {
    const struct session_options *options;
    struct fuse_mount mount;
    struct aggstats_recorder *recorder;
    struct requests requests;
    struct control control;
    struct saving saving;
    struct daemon_causes causes;
    pthread_mutex_t lock; /* for changing what is recorded */
    bool is_saved;        /* nothing follows it */
};

/* Begins to record. live_path, socket_path: borrowed; for the profile's header
 * process:  of the daemon; 0: unknown
 * catch_up: counts, through requests_take(), all answers so far
 * Owner:   takes *mount over
 * Errors:  -errno; nothing is left behind */
int session_start(struct session *session, const struct session_options *options, struct fuse_mount *mount,
                  const char *live_path, const char *socket_path, pid_t process, void (*catch_up)(void *context),
                  void *catch_up_context);

/* Saves the profile where the options say, or elsewhere: see saving_save().
 * Errors:  -errno; the profile stays in the live file then */
int session_save(struct session *session, char **ret_other);

/* Ends recording. Removes the live file if the profile has been saved. */
void session_finish(struct session *session);

/* What is wrong with an argument "OP:VALUE"; NULL: nothing. */
const char *session_check_joint(const char *argument);

#endif
