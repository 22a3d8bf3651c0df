/* Where profiles come from: a profile file, standard input, a mount point, a live file, or a result that osprof run has
 * kept. */
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "command.h"
#include "control_socket.h"
#include "option_list.h"
#include "recording.h"

struct input {
    struct aggstats_profile profile; /* of one layer */
    struct recording layers;         /* all, if it is a recording of several; `profile` is none of them yet */
    bool is_live;                    /* read from a live file, described by `live` */
    struct aggstats_live_info live;
    bool is_file; /* read from a file, of this number on this device */
    dev_t device;
    ino_t inode;
    bool counting;  /* taken while calls went on: some may be counted in part */
    bool has_owner; /* of a mount, or of a process with a live file: */
    uid_t owner;    /* the user whose process records */
};

/* Which layer of recordings a command takes. */
struct input_layer {
    const char *name; /* from --layer; NULL: fs if there is one, else the outermost */
    bool is_told;     /* the choice among several layers was reported */
};

/* Reads the profile, or the recording, that an argument of the command line names; "-" is standard input. For
 * "@1" and so on (kept.h) a line on standard error says which run that was. A mount point whose process still records is
 * recognised by its text alone and read from its live file, so that a mount that hangs does not hang us.
 * Owner:   the caller finishes *ret_input
 * Errors:  the failed call's, already reported to the user; *ret_input untouched */
int input_load_recording(const char *argument, struct input *ret_input);

/* Whether that line is printed. */
void input_tell_kept(bool is_wanted);

/* Which run a profile is of: "make -j2", or "make -j2, in /srv" of the profile of one directory of several; "osprof
 * attach /srv".
 * Owner:   the caller frees the result
 * Returns NULL without memory */
char *input_describe_run(const struct aggstats_profile *profile, bool is_part);

/* The same for a name found in a directory, not given by the user: a FIFO, a socket or a device is refused, without
 * opening it. */
int input_load_found(const char *name, struct input *ret_input);

/* As input_load_recording(), but a mount is read through its control file, which has more than live files: intervals,
 * joint profiles and groups. If the mount hangs, so does this. */
int input_load_whole(const char *argument, struct input *ret_input);

typedef int (*input_load_fn)(const char *name, struct input *ret_input); /* one of these */

/* Makes one layer the profile of an input, and frees the others. If the user has not chosen it, this is reported once.
 * Errors:  -ENOENT there is no such layer, which is reported */
int input_choose(const char *argument, struct input_layer *layer, struct input *input);

/* input_load_recording(), and one layer of it. Errors: as those of both; *ret_input untouched */
int input_load(const char *argument, struct input_layer *layer, struct input *ret_input);

/* The number of layers, and each of them. */
size_t input_layer_count(const struct input *input);
struct aggstats_profile *input_layer(struct input *input, size_t index);

void input_finish(struct input *input);

/* Finds the live file of the mount that an argument names.
 * Owner:   the caller frees *ret_path
 * Errors:  -ENOENT there is none, -ENOMEM */
int input_find_live(const char *argument, char **ret_path);

/* The mount that an argument names, as the table of mounts has it. The mount is not asked if a process profiles it under
 * that name.
 * Owner:   the caller frees the result
 * Returns NULL without memory, and if its profile does not tell it */
char *input_find_mount(const char *argument);

/* Reports that a mount point cannot be asked any more (ENOTCONN), where its profile is, and what to do. */
void input_complain_dead(const char *mount);

/* Sends commands, in the format of control files, to the process that serves the mount that an argument names: at its
 * socket, without accessing the mount, or else through its control file.
 * passed:  the file of the command, for the socket only; NULL: none
 * ret_reason: why the command failed, in its process's words, which the caller frees; NULL: it has not said it
 * Errors:  -errno the command failed; -ENOTCONN there is no socket for what is passed, so nothing was sent; 1: it could
 *          not be sent, which has been reported */
int input_command(const char *argument, const char *text, const struct control_passed *passed, char **ret_reason);

/* For a profile from a live file that is being recorded to: adds the names of the callers' programs, and, if the mount
 * answers at once in its control file, the paths of objects. If it does not answer, there are no paths. */
void in_flight_find_out(struct input *input);

/* The number of the profile's operations that are chosen. */
size_t input_count_ops(const struct option_list *ops, const struct aggstats_profile *profile);

/* Reports each that the profile does not have. Returns STATUS_NOT_SO if there is one */
enum status input_report_absent_ops(const struct option_list *ops, const struct aggstats_profile *profile);

#endif
