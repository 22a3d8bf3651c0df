/* The file of characteristic times, osprof(5): which machine they are of, and a line for each. */
#ifndef CALIBRATION_TEXT_H
#define CALIBRATION_TEXT_H

#include <limits.h>

#include "aggstats.h"
#include "characteristic.h"

struct calibration {
    char host[HOST_NAME_MAX + 1];
    struct aggstats_clock clock;  /* distinguishes the machine from others of its name */
    struct characteristic *times; /* in the order of their kinds, then by place */
    size_t count;
    bool is_off; /* the user wants no names of peaks, not even those that need no times */
};

void calibration_finish(struct calibration *calibration);

/* Adds a time, or replaces the one of that kind and place. It is copied.
 * Errors:  -ENOMEM; nothing has changed then */
int calibration_put(struct calibration *calibration, const struct characteristic *time);

/* Owner:   the caller frees *ret_text
 * Errors:  -ENOMEM */
int calibration_format(const struct calibration *calibration, char **ret_text, size_t *ret_size_bytes);

/* Reads a file's text up to the end of the stream.
 * Owner:   the caller finishes *ret_calibration
 * Errors:  -EBADMSG with *ret_error filled, -ENOMEM, the stream's -errno; *ret_calibration untouched */
int calibration_parse(FILE *stream, struct calibration *ret_calibration, struct aggstats_parse_error *ret_error);

#endif
