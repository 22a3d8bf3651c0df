/* Where events are written: the file of the command line, and those of commands while calls are served. */
#ifndef EVENT_FILES_H
#define EVENT_FILES_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "daemon_recording.h"
#include "events_recorder.h"
#include "options.h"
#include "profile_target.h"

struct event_files {
    const struct options *options; /* borrowed, like the next five */
    struct aggstats_recorder *recorder;
    struct recording *recording;
    const struct profile_target *target; /* its rules hold for files of commands */
    struct node_names *names;
    const char *version;
    dev_t own_device; /* set before anything is served */

    struct events_recorder *events;  /* NULL: nothing can be recorded here (timing) */
    struct aggstats_profile profile; /* an empty one, for its labels */
    int dir_fd;                      /* of the command line's file; -1: none */
    char *name;

    pthread_mutex_t lock; /* of the members below; held for a whole command */
    bool is_recording;
    bool end_hangs;      /* the recorded events could not be saved in time at the end */
    int ring_dir_fd;     /* directory of the ring's file; -1: there is no ring, or no file for it */
    char *ring_name;     /* NULL: there is no ring, or it is written to ring_fd */
    int ring_fd;         /* an open file for the ring; -1: none */
    char *shown;         /* the current file, for messages */
    unsigned slow_count; /* files written for slow calls; used by the saving thread */
};

#define EVENT_FILES_NONE                                                                                               \
    { .dir_fd = -1, .ring_dir_fd = -1, .ring_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER }

/* Finds the command line's file, if there is one: relative to the directory that osproffs was started from, before
 * anything is mounted. Prints errors.
 * Errors:  -errno of the failed call */
int event_files_find(struct event_files *files, const char *file);

/* Begins what the command line asks for, before any call, after the borrowed members are set. Prints errors.
 * Errors:  those of recording and of making the file */
int event_files_start(struct event_files *files);

/* Records to a file. With a ring that is being recorded, writes its contents to the file. No file: ends recording, and
 * saves all. The file must be new: see profile_target_open_new(). A file that the client has opened gets the ring at
 * the end, but then there are no files of slow calls. A control_file_fn; context: a struct event_files
 * Errors:  -EBUSY it is recording to another file, -EOPNOTSUPP nothing is recorded here, -ETIMEDOUT saving hangs, or
 *          another command, and those of making and writing the file
 * Threads: any */
int event_files_command(void *context, const struct control_file *file);

/* Ends recording, after all calls. Prints which calls are missing. Returns false if saving hangs; the memory that it
 * uses must then stay */
bool event_files_end(struct event_files *files);
void event_files_finish(struct event_files *files);

#endif
