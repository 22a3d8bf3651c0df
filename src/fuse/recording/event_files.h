/* Where events go: the file that the command line names, and those that commands name while calls are served. */
#ifndef EVENT_FILES_H
#define EVENT_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "daemon_recording.h"
#include "events_recorder.h"
#include "mount_options.h"
#include "node_name.h"
#include "profile_target.h"

struct event_files {
    const struct options *options; /* borrowed, as the next five */
    struct aggstats_recorder *recorder;
    struct recording *recording;
    const struct profile_target *target; /* whose rules hold for files that commands name */
    struct node_names *names;
    const char *version;
    dev_t own_device; /* set before anything is served */

    struct events_recorder *events;  /* NULL: nothing can be recorded here (timing) */
    struct aggstats_profile profile; /* an empty one, for its labels */
    int dir_fd;                      /* of the command line's file; -1: it names none */
    char *name;

    pthread_mutex_t lock; /* of what follows: one command at a time */
    bool is_recording;
    bool end_hangs;      /* what was recorded could not be saved in time at the end */
    int ring_dir_fd;     /* where the ring goes at last; -1: there is no ring, or it goes nowhere */
    char *ring_name;     /* NULL: there is no ring, or it goes to ring_fd */
    int ring_fd;         /* an open file that the ring goes to; -1: none */
    char *shown;         /* what is recorded to, for messages */
    unsigned slow_count; /* files that were written for slow calls; the saving thread's */
};

#define EVENT_FILES_NONE                                                                                               \
    { .dir_fd = -1, .ring_dir_fd = -1, .ring_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER }

/* Finds the command line's file, if it names one: from the directory that osproffs was started from, before anything is
 * mounted. Says what is wrong.
 * Errors:  -errno of what failed */
int event_files_find(struct event_files *files, const char *file);

/* Begins what the command line asks for, before any call, once what is borrowed is there. Says what goes wrong.
 * Errors:  those of recording and of making the file */
int event_files_start(struct event_files *files);

/* Records to a file; with a ring, and while one is recorded, writes what it holds. No file: ends recording, and saves
 * all. The file is new: see profile_target_open_new(). One that who asks has opened takes the ring at last, but there
 * are no further ones of slow calls then. A control_file_fn; context: a struct event_files
 * Errors:  -EBUSY it is recording to another file, -EOPNOTSUPP nothing is recorded here, -ETIMEDOUT saving hangs, or
 *          another command, and those of making and writing the file
 * Threads: any */
int event_files_command(void *context, const struct control_file *file);

/* Ends recording, after all calls. Says what is missing. False: saving hangs, and all that it uses must stay */
bool event_files_end(struct event_files *files);
void event_files_finish(struct event_files *files);

#endif
