/* The ctl layer serves the control file, and the other views of the profile, in the root of the mount. Ops on other
 * files are passed on. The ctl layer is above the prof layer, so reading the profile does not change the profile. */
#ifndef CTL_H
#define CTL_H

#include <limits.h>
#include <pthread.h>

#include "control.h"
#include "fs_ops.h"
#include "user_shares.h"

#define CTL_FILES 3 /* the control file, NAME.json, NAME.metrics */
#define CTL_NAME_MAX (NAME_MAX - sizeof(".metrics") + 1)

/* Each open file holds a text of its own. All users who are not trusted share this much memory. A user who has used up
 * his share gets no further text (ENFILE): otherwise one user could use up the daemon's memory. */
#define CTL_OTHERS_BYTES_MAX ((size_t)64 << 20)

/* The files' inode numbers, the control file's first; no lower layer uses these. The inodes must not be cached. */
#define CTL_INO ((fs_ino)1 << 62)

static inline bool ctl_serves(fs_ino ino) {
    return ino >= CTL_INO && ino < CTL_INO + CTL_FILES;
}

/* The name of the file with that index. control_name: at most CTL_NAME_MAX bytes long */
void ctl_name(const char *control_name, unsigned index, char ret_name[NAME_MAX + 1]);

struct ctl_options {
    const char *name; /* of the control file, at most CTL_NAME_MAX bytes long; borrowed */
    struct control control;
    uid_t owner_uid; /* the user who mounted */
    gid_t owner_gid;

    /* True if the caller may command, sees paths, and is not limited to a share of memory. */
    bool (*is_trusted)(void *context, const struct fs_caller *caller);

    /* Calls apply(data) with the caller's rights. Returns the result of apply(), or -errno */
    int (*act_as)(void *context, const struct fs_caller *caller, int (*apply)(void *data), void *data);
    void *context; /* for both functions */

    /* Gets the reason why a command was refused: the write itself can only return EINVAL. */
    void (*report)(void *context, const char *reason);
    void *report_context;
};

struct ctl {
    struct fs_layer layer;
    struct fs_ops ops;
    struct ctl_options options;
    struct timespec started;
    pthread_mutex_t files_lock;
    struct ctl_file *open_files; /* protected by the lock */
    pthread_mutex_t others_lock;
    struct user_shares others_bytes; /* shares of the memory for texts of untrusted users; protected by the lock */
};

/* next is borrowed and outlives the layer. */
void ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next);

/* Frees files that are still open, when no op is called any more: the kernel closes no files of a connection that has
 * ended. A zeroed layer is fine. */
void ctl_finish(struct ctl *ctl);

#endif
