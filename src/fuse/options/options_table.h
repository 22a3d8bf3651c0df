/* Private: which options there are, as libfuse's parser is told, and the words that some of them take. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include <fuse_opt.h>

#include "mount_options.h"

/* Values as given, before they are checked. */
struct raw_options {
    struct options *options;
    char *resolution;
    char *cache;
    char *timing;
    char *data;
    char *workers;
    char *interval;
    char *intervals;
    char *joint;
    char *by;
    char *groups;
    char *rotate;
    char *keep;
    char *slow;
    char *events_size;
    char *events_ring;
    char *slow_log_size;
    char *slow_log_rate;
};

enum { KEY_HELP, KEY_VERSION, KEY_COMPLETE, KEY_MAX_READ, KEY_LABEL };

/* Into struct options, and into struct raw_options. Each ends with FUSE_OPT_END */
extern const struct fuse_opt options_table[];
extern const struct fuse_opt options_raw_table[];

/* What an option must be one of, in the order of its enum; NULL at the end. NULL: it is free. option: without "=" */
const char *const *options_words(const char *option);

/* "auto", "none", "always" */
const char *cache_mode_name(enum cache_mode mode);

#endif
