/* Where profiles are saved: decided and opened before the daemon leaves its start directory. */
#ifndef PROFILE_TARGET_H
#define PROFILE_TARGET_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "aggstats.h"
#include "control.h"

struct profile_target {
    int start_fd;  /* the directory that osproffs was started from; O_PATH */
    int dir_fd;    /* of the file; -1 if the profile goes to a stream */
    int stream_fd; /* standard output, a FIFO, a device; -1 if the profile goes to a file */
    char *name;    /* in dir_fd; the beginning of the names of a series */
    bool is_series;
    int second_fd; /* directory of the second place; -1: none */
    char *second;  /* the beginning of names there */
    char *shown;   /* for messages */
    mode_t mode;   /* of files without paths, by the umask of our parent process */
    bool keep_old; /* the next save keeps the existing file as NAME.old */
    pid_t reader;  /* the only process that can read the stream; 0 if others may */
};

/* file: as given by the user, NULL for the default: osprof.out, or standard output in the foreground.
 * Prints a message about an error, in one line.
 * Owner:   the caller finishes *ret_target
 * Errors:  -errno of what failed */
int profile_target_init(struct profile_target *ret_target, const char *file, bool foreground);

/* The same for a series: its files go to the directory `file`, and their names begin with the last component of
 * mountpoint. If `file` does not exist, they go to its parent directory, and their names begin with its last component.
 * mountpoint: absolute */
int profile_target_init_series(struct profile_target *ret_target, const char *file, const char *mountpoint);
void profile_target_finish(struct profile_target *target);

/* Saves a profile. A file with paths in it is readable by its owner alone, also if it replaces another.
 * Errors:  -EISDIR it is a series; -EPIPE nobody can read the stream any more, and the profile has counts; those of
 *          writing */
int profile_target_save(struct profile_target *target, const struct control_text *text);

/* Saves to another file, relative to the start directory. Its directory must not be reached through a symbolic link,
 * nor lie in the mount whose device number is own_device: waiting for ourselves might never end.
 * Errors:  -ELOOP such a directory, and those of opening and writing */
int profile_target_save_as(const struct profile_target *target, const char *file, dev_t own_device,
                           const struct control_text *text);

/* The permissions of a file with that text. */
mode_t profile_target_mode(const struct profile_target *target, const struct control_text *text);

/* Whether an absolute path is the place of the final profile, or of what that replaces, as far as names tell. */
bool profile_target_is_at(const struct profile_target *target, const char *path);

/* Where a new file is to be made that the final profile will not replace, under the conditions above.
 * Owner:   the caller closes *ret_dir_fd; *ret_name is in file
 * Errors:  -EEXIST there is something, -EBUSY the final profile will go there; and as above */
int profile_target_open_new(const struct profile_target *target, const char *file, dev_t own_device, int *ret_dir_fd,
                            const char **ret_name);

/* A second place, for when there is no room in the first: new files PATH.osprof, PATH-1.osprof and so on. Settled
 * before anything is mounted over it. path: of a file there
 * Errors:  what failed; there is no second place then */
int profile_target_add_second(struct profile_target *target, const char *path);

/* ---- If the final profile cannot be written to its place ---- */

/* The outcome for control_server_tell_end(). Owner: the caller frees it; NULL: no memory */
char *final_profile_saved(const struct profile_target *target);

/* Keeps a final profile that could not be written to its target. If the live file is complete, the profile stays there.
 * Otherwise the profile is written to a second place, or else printed line by line. Prints a message with the place.
 * text:        empty if there was no memory for the text
 * err:         why the profile could not be written, as -errno
 * ret_outcome: as above
 * Returns true if the live file must stay. */
bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome);

/* ---- Descriptors kept in reserve ----
 *
 * A user who has used up all others must not cost us the profile.
 * Threads: any */

#define SPARE_FDS 6 /* a directory, a new file, the old one, its second place, and two that the library opens */

struct spare_fds {
    pthread_mutex_t lock;
    unsigned users;
    int fds[SPARE_FDS]; /* -1: none */
};

void spare_fds_init(struct spare_fds *spare);
void spare_fds_finish(struct spare_fds *spare);

/* They are closed at the first use, and opened again after the last, as far as possible. */
void spare_fds_use(struct spare_fds *spare);
void spare_fds_keep(struct spare_fds *spare);

#endif
