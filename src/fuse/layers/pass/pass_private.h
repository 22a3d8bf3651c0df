/* What the files of the pass layer share.
 *
 * Lock order: a directory's stream lock, then the lock of open files or of lock owners, then the inode table's.
 * Descriptors of inodes are opened before the caller's identity is taken on: opening by file handle needs the
 * daemon's own privileges. */
#ifndef PASS_PRIVATE_H
#define PASS_PRIVATE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "base.h"
#include "fs_ops.h"
#include "inode_table.h"
#include "mount_table.h"
#include "pass.h"

struct lock_owner;

struct pass {
    struct fs_layer layer;
    struct inode_table *inodes;
    struct mount_table mounts;
    dev_t root_device;
    dev_t own_device; /* atomic; 0: not mounted yet */
    int proc_fd;      /* /proc, for the status of callers */
    int proc_self_fd; /* /proc/self/fd, for reopening what we hold */
    bool check_as_caller;
    bool privileged;   /* root: identities can be taken on */
    bool keeps_set_id; /* CAP_FSETID: our writes would leave set-id bits alone */
    gid_t *own_groups; /* of the daemon, to return to */
    int own_group_count;
    pthread_mutex_t open_files_lock;
    pthread_mutex_t lock_owners_lock;
    struct lock_owner *lock_owners;
};

static inline struct pass *to_pass(struct fs_layer *layer) {
    return container_of(layer, struct pass, layer);
}

/* The ops, one function per row of FS_OPS. */
#define PASS_PROTOTYPE(NAME, member, params, args) int pass_op_##member(struct fs_layer *layer, FS_UNPACK params);
FS_OPS(PASS_PROTOTYPE)
#undef PASS_PROTOTYPE

/* ---- Inodes: pass_inode.c ---- */

/* A descriptor for an inode, O_PATH: its own, or one opened for this use. */
struct path_fd {
    int fd;
    bool owned;
};

static inline void path_fd_close(struct path_fd *path) {
    if (path->owned)
        close_fd(&path->fd);
}

/* On a local variable, which must be PATH_FD_NONE at first: closed when it goes out of scope. */
#define CLEANUP_PATH_FD __attribute__((cleanup(path_fd_close)))
#define PATH_FD_NONE ((struct path_fd){.fd = -1})

/* The inode that the number names. Errors: -ESTALE */
int pass_get_inode(struct pass *pass, fs_ino ino, struct inode **ret_inode);

/* Opens the inode for use in *at() calls. Errors: -ESTALE the file is gone, -ENFILE/-EMFILE */
int pass_open_path(struct pass *pass, fs_ino ino, struct path_fd *ret_path);

/* Opens a regular file or directory really. Anything else: -ENXIO, never a hang on a fifo or device. */
int pass_open_inode(struct pass *pass, struct inode *inode, int flags, int *ret_fd);

/* Finds the inode that *fd (O_PATH, just opened in a directory on that mount) names, counts a lookup and fills
 * the entry. *fd may be taken over. */
int pass_enter(struct pass *pass, uint32_t mount_index, int *fd, struct fs_entry *ret_entry);

/* Opens name in a directory (O_PATH) and enters what it finds, on the other side of a mount point too.
 * caller: whose right to search the directory is checked where nobody else does; NULL: the daemon's */
int pass_look_up(struct pass *pass, const struct fs_caller *caller, const struct inode *parent, int parent_fd,
                 const char *name, struct fs_entry *ret_entry);

/* Attributes of a descriptor, as they are shown above. */
int pass_stat(struct pass *pass, int fd, struct stat *ret_attr);

/* Whether the caller may access the inode so (R_OK, W_OK, X_OK), asked of the lower file system. */
int pass_check_access(struct pass *pass, const struct fs_caller *caller, fs_ino ino, int mask);

/* Inode numbers are the lower ones; those of other devices than the root's are told apart in their top bits. */
ino_t pass_shown_number(struct pass *pass, dev_t device, ino_t number);

/* Refuses names that would leave the directory. */
static inline int pass_check_name(const char *name) {
    bool dots = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
    return name[0] == '\0' || dots || __builtin_strchr(name, '/') ? -EINVAL : 0;
}

/* The path through which a held descriptor is reopened, or named in calls that know no AT_EMPTY_PATH. It is
 * relative to pass->proc_self_fd; the absolute one is for calls without a dirfd. */
struct fd_path {
    char text[32];
};
struct fd_path pass_fd_path(int fd);
struct fd_path pass_fd_path_absolute(int fd);

/* ---- Open files: pass_file.c ---- */

struct open_file {
    int fd;
    int flags; /* as opened below */
    struct inode *inode;
    struct open_file *next; /* of the same inode; under open_files_lock */

    /* directories only */
    pthread_mutex_t stream_lock;
    off_t position; /* of fd */
    char *entries;  /* what getdents64 gave last */
    size_t entries_size_bytes;
    size_t entries_used_bytes;
};

static inline struct open_file *to_open_file(fs_file file) {
    return (struct open_file *)(uintptr_t)file; /* NOLINT(performance-no-int-to-ptr): we made it from one */
}

/* Wraps *fd, which is taken over on success. */
int pass_add_open_file(struct pass *pass, struct inode *inode, int *fd, int flags, fs_file *ret_file);

/* A new descriptor for some open file of the inode, for when its handle has gone stale (it was unlinked). */
int pass_dup_open_file(struct pass *pass, struct inode *inode, int *ret_fd);

/* ---- Callers: pass_identity.c ---- */

/* What this thread must return to. */
struct identity {
    const struct pass *pass; /* NULL: nothing was changed */
};

/* Makes this thread act as the caller towards the lower file system: fsuid, fsgid, supplementary groups.
 * identity_leave() undoes it; failing to undo it ends the process, for nobody may run on as somebody else.
 * Errors:  -EPERM the caller's ids do not exist in the daemon's user namespace; leave all the same */
int identity_enter(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity);
void identity_leave(struct identity *identity);

/* On a local variable, which must be IDENTITY_OWN at first. */
#define CLEANUP_IDENTITY __attribute__((cleanup(identity_leave)))
#define IDENTITY_OWN ((struct identity){.pass = NULL})

/* The same, only where ops that just check act as the caller too. */
int identity_enter_to_check(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity);

/* True if this process can take on identities: root that may also set groups. */
bool identity_can_change(int own_group_count, const gid_t *own_groups);

/* True if this thread has CAP_FSETID. */
bool identity_keeps_set_id(void);

/* What this thread must take back. */
struct write_privilege {
    bool given_up;
};

/* Gives up the privilege that keeps set-id bits on files that are written (CAP_FSETID) if the caller does not have
 * it, for the kernel does not take the bits away before every kind of write. Failing to take it back, or to give
 * it up, ends the process: it is in the thread's permitted set. */
void write_privilege_give_up(const struct pass *pass, const struct fs_caller *caller,
                             struct write_privilege *ret_privilege);
void write_privilege_take_back(struct write_privilege *privilege);

/* On a local variable: taken back when it goes out of scope. */
#define CLEANUP_WRITE_PRIVILEGE __attribute__((cleanup(write_privilege_take_back)))

/* Gives this thread the caller's umask for the next creation. Returns the mode to create with. */
mode_t identity_umask(const struct fs_caller *caller, mode_t mode);

/* ---- Locks: pass_lock.c ---- */

/* Drops the record locks that an owner holds on the inode (close(2) does so). */
void pass_drop_locks(struct pass *pass, const struct inode *inode, uint64_t owner);

/* Drops those of the owners that locked through this open file: "open file description" locks above have it as
 * their owner, and end with it without another word from the kernel. */
void pass_drop_file_locks(struct pass *pass, const struct open_file *file);
void pass_drop_all_locks(struct pass *pass);

#endif
