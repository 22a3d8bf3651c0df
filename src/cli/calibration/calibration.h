/* Where characteristic times are kept, and what they say of a profile's peaks.
 *
 * A file for each host, $XDG_STATE_HOME/osprof/HOST.calibration (~/.local/state without the variable), so that hosts
 * that share home directories do not share times, and times can be carried to where profiles are looked at. */
#ifndef CALIBRATION_H
#define CALIBRATION_H

#include "calibration_text.h"
#include "units.h"

/* The path of a host's file.
 * Owner:   the caller frees *ret_path
 * Errors:  -EINVAL no name for a file, -ENOENT neither XDG_STATE_HOME nor HOME says where, -ENOMEM */
int calibration_path(const char *host, char **ret_path);

/* Reads a file, and complains if that fails for another reason than that there is none.
 * Owner:   the caller finishes *ret_calibration
 * Errors:  -ENOENT there is none; others: as reading and parsing */
int calibration_load(const char *path, struct calibration *ret_calibration);

/* Makes the directories that a file needs (mode 0700), and tests whether it can be written there.
 * Errors:  what failed */
int calibration_prepare(const char *path);

/* Replaces the file whole, mode 0600.
 * Errors:  what failed; the old one is untouched then */
int calibration_save(const char *path, const struct calibration *calibration);

/* True if a host of that name with that clock is the calibrated one, as far as can be told: rates are compared if both
 * are of the same counter of cycles, and may differ by 1/1000, as they do from one measurement to the next. */
bool calibration_is_of(const struct calibration *calibration, const char *host, const struct aggstats_clock *clock);

/* The times that may explain a profile: those of the machine that it names as its host, of the device that now holds
 * the directory below it, and, if that is no device of this machine, of the network. None where that is not known, or
 * the profile does not tell its clock's rate. Complains, without failing, of a file of that host that cannot be used.
 * Owner:   the caller finishes *ret_calibration */
void calibration_for_profile(const struct aggstats_profile *profile, struct calibration *ret_calibration);

/* The same for two profiles; of a file that neither can use is complained once. */
void calibration_for_pair(const struct aggstats_profile *a, const struct aggstats_profile *b, struct calibration *ret_a,
                          struct calibration *ret_b);

/* The time of that kind, of the machine; NULL: none. Owner: calibration */
const struct characteristic *calibration_time(const struct calibration *calibration, enum characteristic_kind kind);

#endif
