/* The header of a mount's profile, whichever way it is recorded. */
#ifndef MOUNT_LABELS_H
#define MOUNT_LABELS_H

#include <limits.h>

#include "aggstats.h"
#include "aggstats/user_label.h"
#include "fuse_mount.h"
#include "option_list.h"

#define MOUNT_LABELS_OWN 9

struct mount_labels {
    struct aggstats_label labels[MOUNT_LABELS_OWN + USER_LABELS_MAX]; /* for aggstats_recorder_create() */
    size_t count;
    char host[HOST_NAME_MAX + 1];
    char keys[USER_LABELS_MAX][USER_LABEL_HEADER_SIZE];
};

/* What is known of it; NULL: left out. */
struct mount_labels_of {
    const char *layer;
    struct aggstats_label whose; /* as "calls of process"; key NULL: of all */
    const char *lower;
    const char *devices;
    const char *mount; /* the path for commands */
    const char *filesystem;
    const char *control;             /* the socket */
    const char *profile;             /* the path of the final one */
    const struct option_list *given; /* "KEY=VALUE"; not NULL */
};

/* All that is pointed at must stay as long as *ret_labels, which must not be moved. */
void mount_labels_fill(struct mount_labels *ret_labels, const struct mount_labels_of *of);

#endif
