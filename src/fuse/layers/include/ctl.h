/* The ctl layer serves the control file in the root of the mount itself, and beside it the other views of the profile,
 * and passes everything else on. It sits above the prof layer, so that looking at the profile does not change it. */
#ifndef CTL_H
#define CTL_H

#include <limits.h>
#include <pthread.h>

#include "control.h"
#include "fs_ops.h"
#include "user_shares.h"

#define CTL_FILES 3 /* the control file, NAME.json, NAME.metrics */
#define CTL_NAME_MAX (NAME_MAX - sizeof(".metrics") + 1)

/* Each open holds a text of its own. Those of all who are not trusted share so much memory, and who has used
 * up his share gets no further one (ENFILE): else anybody could use up the daemon's memory. */
#define CTL_OTHERS_BYTES_MAX ((size_t)64 << 20)

/* The files' inodes, the control file's first; no layer below gives these numbers out. They must not be cached. */
#define CTL_INO ((fs_ino)1 << 62)

static inline bool ctl_serves(fs_ino ino) {
    return ino >= CTL_INO && ino < CTL_INO + CTL_FILES;
}

/* The name of the file of that index. control_name: at most CTL_NAME_MAX bytes long */
void ctl_name(const char *control_name, unsigned index, char ret_name[NAME_MAX + 1]);

struct ctl_options {
    const char *name; /* of the control file, at most CTL_NAME_MAX bytes long; borrowed */
    struct control control;
    uid_t owner_uid; /* who mounted */
    gid_t owner_gid;

    /* Whether the caller may command, is shown paths, and needs no share of what others share. */
    bool (*is_trusted)(void *context, const struct fs_caller *caller);

    /* Calls apply(data) with the caller's rights. Returns what that returns, or -errno */
    int (*act_as)(void *context, const struct fs_caller *caller, int (*apply)(void *data), void *data);
    void *context; /* of both */

    /* Told why a command was refused: the write itself can only say EINVAL. */
    void (*report)(void *context, const char *reason);
    void *report_context;
};

struct ctl {
    struct fs_layer layer;
    struct fs_ops ops;
    struct ctl_options options;
    struct timespec started;
    pthread_mutex_t files_lock;
    struct ctl_file *open_files; /* under the lock */
    pthread_mutex_t others_lock;
    struct user_shares others_bytes; /* of the texts that others have open; taken under the lock */
};

/* next is borrowed and outlives the layer. */
void ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next);

/* Frees what is open still, when nobody calls any more: the kernel closes nothing of a connection that has ended. A
 * zeroed layer is fine. */
void ctl_finish(struct ctl *ctl);

#endif
