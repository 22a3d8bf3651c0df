/* Where profiles come from: a profile file, standard input, a mount point or a live file. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "control_socket.h"
#include "recording.h"

struct input {
    struct aggstats_profile profile; /* of one layer */
    struct recording layers;         /* of a recording of several: all, and then `profile` is none of them as yet */
    bool is_live;                    /* read from a live file, about which `live` tells more */
    struct aggstats_live_info live;
    bool is_file; /* read from a file, of this number on this device */
    dev_t device;
    ino_t inode;
    bool counting; /* taken while calls went on: those that began or ended meanwhile may be seen half */
};

/* Which layer of recordings a command takes. */
struct input_layer {
    const char *name; /* as --layer tells it; NULL: fs if it is there, else the outermost */
    bool is_told;     /* that there were others, and which one is taken */
};

/* Reads the profile, or the recording, that an argument of the command line names; "-" is standard input. A mount
 * point whose process still records is recognised by its text alone and read from its live file, so that a mount that
 * hangs does not hang us.
 * Owner:   the caller finishes *ret_input
 * Errors:  what failed, already told to the user; *ret_input untouched */
int input_load_recording(const char *argument, struct input *ret_input);

/* The same of a name that was found in a directory, and not given: a FIFO, a socket or a device is refused, and not
 * even opened. */
int input_load_found(const char *name, struct input *ret_input);

/* As input_load_recording(), but a mount is read through its control file, which has what live files do not: intervals,
 * joint profiles and groups. If the mount hangs, so does this. */
int input_load_whole(const char *argument, struct input *ret_input);

typedef int (*input_load_fn)(const char *name, struct input *ret_input); /* one of these */

/* Makes one layer the profile of an input, and finishes the others. Where nobody has asked for it, that is told once.
 * Errors:  -ENOENT there is no such layer, which is told */
int input_choose(const char *argument, struct input_layer *layer, struct input *input);

/* input_load_recording(), and one layer of it. Errors: as those of both; *ret_input untouched */
int input_load(const char *argument, struct input_layer *layer, struct input *ret_input);

/* How many layers there are, and each of them. */
size_t input_layer_count(const struct input *input);
struct aggstats_profile *input_layer(struct input *input, size_t index);

void input_finish(struct input *input);

/* Finds the live file of the mount that an argument names.
 * Owner:   the caller frees *ret_path
 * Errors:  -ENOENT there is none, -ENOMEM */
int input_find_live(const char *argument, char **ret_path);

/* Tells that a mount point can no longer be asked (ENOTCONN), where its profile is, and what to do. */
void input_complain_dead(const char *mount);

/* Gives commands, as control files take them, to the process that serves the mount that an argument names: at its
 * socket, without a step into the mount, or else through its control file.
 * passed:  the file that a command is about, for the socket alone; NULL: none
 * Errors:  -errno the command failed; -ENOTCONN there is no socket for what is passed, so nothing was asked; 1: it
 * could not be given, as the user has been told */
int input_command(const char *argument, const char *text, const struct control_passed *passed);

/* Of a profile that was read from a live file into which somebody still records: the names of the callers' programs,
 * and, as far as the mount tells them at once in its control file, the paths that calls work on. A mount that hangs
 * may not answer: then there are no paths. */
void in_flight_find_out(struct input *input);

#endif
