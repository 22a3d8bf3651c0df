/* The options of osprof run. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <stdbool.h>

#include "option_list.h"
#include "session.h"

enum {
    LAYER_USER = 1 << 0,
    LAYER_FUSE = 1 << 1,
    LAYER_FS = 1 << 2,
    LAYER_BLOCK = 1 << 3,
    LAYER_DAEMON = 1 << 4,
    LAYERS_ALL = LAYER_USER | LAYER_FUSE | LAYER_FS | LAYER_BLOCK,
};

/* Which layers a run profiles. */
struct run_layers {
    unsigned wanted;   /* as bits */
    bool are_optional; /* layers that cannot be profiled are reported, and left out */
};

#define USER_DIRECTORIES_MAX 16 /* of the layer user: DIRECTORIES_MAX in interpose/common/scope.c */

/* Of all layers that osprof run counts itself, unless --resolution says otherwise: percentiles are within 19 %. */
#define RUN_RESOLUTION 4

/* What is recorded, at the layers user and fs. */
struct recorded_options {
    struct session_options session; /* groupings: of the layer user; without labels */
    unsigned groupings_of_mounts;   /* as bits */
    bool has_groups_unasked;        /* the user has not mentioned groups */
    unsigned directory_depth;       /* 0: any */
    struct option_list joints;      /* "OP:VALUE", of mounts */
};

struct run_options {
    const char *layer_list; /* NULL: not given */
    struct run_layers layers;
    struct option_list directories;
    bool has_everything;            /* of the layer user: other kinds of files count too */
    struct option_list mount_lists; /* further options of osproffs */
    struct recorded_options recorded;
    char *osproffs_options; /* all options of osproffs, as a list */
    struct option_list labels;
    char *osproffs_labels; /* all of those, as an option list of osproffs; NULL: none */
    const char *output;    /* of the profile; NULL: it is only kept */
    const char *report;    /* the file of a page of HTML; NULL: none */
    bool is_quiet;         /* no summary on standard error */
    bool json;             /* the profile as JSON on standard output, instead of the summary */
    bool is_verbose;       /* the whole page, and a page of each layer */
    bool charts;           /* on the page */
    unsigned warmup_count;
    unsigned repeat_count; /* 0: auto */
    unsigned most_count;   /* then */
    uint64_t for_ns;       /* then: no round begins after this time; 0: not given */
    unsigned fail_on;      /* of a comparison of several runs: VERDICT_ON_*; 0: not given */
    const char *other;     /* to compare with; NULL: none */
    const char *user_name; /* as whom the commands run; NULL: as osprof does */
    const char *const *command;
};

/* Runs the command, as often as wanted, and shows or saves the profiles. Returns an exit status, that of the command or
 * one of those of command.h.
 * Errors:  reported to the user */
int run_command(const struct run_options *options);

#endif
