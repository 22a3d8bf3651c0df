/* The ctl layer serves the control file in the root of the mount itself, and passes everything else on. It sits
 * above the prof layer, so that looking at the profile does not change it. */
#ifndef CTL_H
#define CTL_H

#include "control.h"
#include "fs_ops.h"

/* The control file's inode; no layer below gives this number out. It must not be cached. */
#define CTL_INO ((fs_ino)1 << 62)

struct ctl_options {
    const char *name; /* of the control file; borrowed */
    struct control control;
    uid_t owner_uid; /* who mounted: with root the only one who may write */
    gid_t owner_gid;

    /* Told why a command was refused: the write itself can only say EINVAL. */
    void (*report)(void *context, const char *reason);
    void *report_context;
};

struct ctl {
    struct fs_layer layer;
    struct fs_ops ops;
    struct ctl_options options;
    struct timespec started;
};

/* next is borrowed and outlives the layer. */
void ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next);

#endif
