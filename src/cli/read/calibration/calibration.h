/* Where characteristic times are stored, and which of them apply to a profile.
 *
 * There is a file for each host, $XDG_STATE_HOME/osprof/HOST.calibration (default: in ~/.local/state). So hosts that
 * share home directories do not share times, and times can be copied to where profiles are read. */
#ifndef CALIBRATION_H
#define CALIBRATION_H

#include <limits.h>

#include "calibration_text.h"
#include "units.h"

/* A host's file, in the directory of state (state_dir.h). */
struct calibration_file {
    int dir_fd; /* -1: the directory is missing */
    char name[HOST_NAME_MAX + sizeof(".calibration")];
    char path[PATH_MAX + HOST_NAME_MAX + sizeof("/.calibration")]; /* for messages */
};

/* Opens its directory. The file may be missing.
 * makes:   the directory is made if it is missing, and must be writable
 * Owner:   the caller closes *ret_file, also after an error
 * Errors:  -EINVAL the host's name is no file name; others, for state_dir_reason() */
int calibration_file_open(const char *host, bool makes, struct calibration_file *ret_file);
void calibration_file_close(struct calibration_file *file);

/* Reads a file, and prints an error unless the file does not exist.
 * Owner:   the caller finishes *ret_calibration
 * Errors:  -ENOENT there is none; others: as reading and parsing */
int calibration_load(const struct calibration_file *file, struct calibration *ret_calibration);

/* Replaces the file as a whole, mode 0600.
 * Errors:  the failed call's; the old one is untouched then */
int calibration_save(const struct calibration_file *file, const struct calibration *calibration);

/* True if a host of that name with that clock is the calibrated one, as far as can be known: rates are compared if both
 * are of the same cycle counter, and may differ by 1/1000, as they do from one measurement to the next. */
bool calibration_is_of(const struct calibration *calibration, const char *host, const struct aggstats_clock *clock);

/* The times that apply to a profile: those of the machine that it names as its host, of the device that now holds the
 * directory below it, unless a FUSE daemon is between, and, if that is no device of this machine, of the network. None
 * if that is unknown, or the profile has no clock rate. Prints an error, without failing, if a file of that host cannot be used.
 * Owner:   the caller finishes *ret_calibration */
void calibration_for_profile(const struct aggstats_profile *profile, struct calibration *ret_calibration);

/* The same for two profiles; an error about a file of both is printed once. */
void calibration_for_pair(const struct aggstats_profile *a, const struct aggstats_profile *b, struct calibration *ret_a,
                          struct calibration *ret_b);

/* The machine's time of that kind; NULL: none. Owner: calibration */
const struct characteristic *calibration_time(const struct calibration *calibration, enum characteristic_kind kind);

#endif
