/* Characteristic times of this machine, for osprof doctor --calibrate. */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

struct calibrate_options {
    bool quick;                  /* about a second */
    bool print;                  /* measures nothing: what is kept */
    struct option_list networks; /* HOST:PORT */
    char **directories;          /* whose devices are measured */
    size_t directory_count;
};

/* Measures, prints and keeps the times; all that can fail is tried before anything is measured.
 * Returns STATUS_NOT_SO if a directory or host could not be measured */
enum status calibrate(const struct calibrate_options *options);

#endif
