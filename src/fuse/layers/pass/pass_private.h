/* What the files of the pass layer share.
 *
 * Lock order: a directory's stream lock, then the lock of open files or of lock owners, then the inode table's.
 * Descriptors of inodes are opened before the caller's identity is taken on: opening by file handle needs the daemon's
 * own privileges. */
#ifndef PASS_PRIVATE_H
#define PASS_PRIVATE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>

#include "base.h"
#include "fs_ops.h"
#include "inode_table.h"
#include "mount_table.h"
#include "pass.h"
#include "user_shares.h"

struct lock_owner;
struct seen_names;

#define PASS_RECENT 64U
#define PASS_PATH_FDS_MIN 8U /* that inodes found by name may always have */
#define PASS_LOCK_LISTS 1024U
#define PASS_ENTRIES_BYTES 32768U /* read from a directory at a time */

/* On a cache line of its own. */
struct recent {
    _Alignas(64) uint64_t packed; /* atomic */
};

#define PASS_LISTERS 64U

/* A caller that lists directories: pass_lister.c. All atomic; on a cache line of its own. */
struct lister {
    _Alignas(64) uint32_t pid;
    uint32_t period;       /* one name in so many is sent without attributes */
    uint32_t name_count;   /* names sent, or that did not fit */
    uint32_t bare_count;   /* names without attributes, since the last judgement */
    uint32_t looked_count; /* LOOKUPs since then */
};

/* A directory and its latest lister. */
struct listed {
    fs_ino directory;
    uint32_t lister;
};

/* What our own mount forbids, as of the latest change of the kernel's table of mounts. */
struct own_mount {
    pthread_mutex_t lock;
    int table_fd;        /* of the table, polled for changes, closed with the layer; -1: not available */
    bool is_known;       /* the rest is up to date */
    unsigned long flags; /* ST_NOSUID, ST_NODEV */
};

struct pass {
    struct fs_layer layer;
    struct inode_table *inodes;
    struct seen_names *seen_names; /* atomic; NULL: names are not kept */
    struct seen_names *own_names;  /* made once; NULL: never kept */
    struct mount_table mounts;
    dev_t root_device;
    dev_t own_device; /* atomic; 0: not mounted yet */
    int proc_fd;      /* /proc, for the status of callers */
    int proc_self_fd; /* /proc/self/fd, for reopening descriptors */
    int spare_fd;     /* atomic; see pass_use_spare_fd() */
    struct {
        size_t going; /* atomic, as gone */
        size_t gone;
    } in_vain;            /* removed files that did not go when an op waited for them to free space */
    size_t path_fds_room; /* descriptors for inodes that are found by name, and for open files, together */
    size_t path_fds_max;  /* of these, for inodes */
    struct recent recent[PASS_RECENT];
    struct lister listers[PASS_LISTERS];
    struct listed listed[PASS_LISTERS];
    unsigned recent_max; /* entries in use */
    bool has_recent;     /* atomic; some must be closed later */
    bool (*call_later)(void (*call)(void *data), void *data);
    void (*do_later)(void *pass); /* what the later call does */
    void (*ask_to_forget)(void *context, const fs_ino *inos, size_t count);
    void *ask_context;
    bool should_forget; /* atomic; the kernel must be asked, later */
    bool is_ending;     /* atomic; calls that are interrupted give up */
    bool check_as_caller;
    struct own_mount own_mount;
    bool privileged;      /* root: identities can be taken on */
    int64_t overflow_uid; /* shown for owners that have no number in this user namespace; -1: all have one */
    bool no_atime;
    bool no_directory_atime;
    int64_t overflow_gid;
    struct stat user_namespace; /* of the daemon */
    gid_t own_gid;
    uid_t own_uid;
    pthread_mutex_t open_files_lock;
    struct user_shares entries_shares;   /* bytes of directories' entries kept between reads */
    struct user_shares open_file_shares; /* as many as there are descriptors; owners of locks have one each too */
    pthread_mutex_t lock_owners_lock;
    struct lock_owner *lock_owners[PASS_LOCK_LISTS]; /* by inode */
    size_t lock_owner_count;                         /* atomic; changed under the lock */
};

static inline struct pass *to_pass(struct fs_layer *layer) {
    return container_of(layer, struct pass, layer);
}

static inline bool pass_is_ending(const struct pass *pass) {
    return __atomic_load_n(&pass->is_ending, __ATOMIC_RELAXED);
}

/* The ops, one function per row of FS_OPS. */
#define PASS_PROTOTYPE(NAME, member, params, ...) int pass_op_##member(struct fs_layer *layer, FS_PARAMETERS(params));
FS_OPS(PASS_PROTOTYPE)
#undef PASS_PROTOTYPE

/* ---- Inodes: pass_inode.c ---- */

/* A descriptor for an inode, O_PATH: its own, or one opened for this use. */
struct path_fd {
    int fd;
    const struct inode *inode; /* NULL: it is the inode's own */
    struct pass *pass;         /* NULL: it is the inode's own, for as long as the inode is known */
};

/* Descriptors of recently used inodes: pass_room.c
 * take: this thread's latest descriptor, if it is for the inode; else -1. keep: takes fd over. */
int pass_take_recent(struct pass *pass, const struct inode *inode);
void pass_keep_recent(struct pass *pass, const struct inode *inode, int fd);
void pass_close_recent(struct pass *pass);

/* Schedules, within a second, closing these and asking the kernel to forget (pass_room.c). Returns false if that is not
 * possible. */
static inline bool pass_do_later(struct pass *pass) {
    return pass->call_later && pass->call_later(pass->do_later, pass);
}

static inline void path_fd_leave(struct path_fd *path) {
    if (path->inode)
        pass_keep_recent(path->pass, path->inode, path->fd);
    else if (path->pass)
        inode_table_leave(path->pass->inodes, path->fd);
}

/* On a local variable, which must be PATH_FD_NONE at first: it is kept for the next use when it goes out of scope. */
#define CLEANUP_PATH_FD __attribute__((cleanup(path_fd_leave)))
#define PATH_FD_NONE ((struct path_fd){.fd = -1})

/* The inode's own descriptor, for one use. Directories on the way are opened as the daemon.
 * Errors:  -ESTALE the name leads nowhere, or to another inode; those of openat(2) */
int pass_find(struct pass *pass, struct inode *inode, struct path_fd *ret_path);

/* ---- Room for descriptors: pass_room.c ---- */

/* True if only the descriptor leads to its inode, or fstat(2) fails. */
bool pass_has_no_link(int fd);

/* Gives up a descriptor that is not in use, for an op that could not get one. Returns false if there is none. */
bool pass_give_up_fd(struct pass *pass);

/* Asks the kernel to forget inodes that only a descriptor leads to, if that was requested. May wait for others, so it
 * must not be called in an op. */
void pass_ask_to_forget(struct pass *pass);

/* Gives up descriptors until there are no more than there is room for. */
void pass_make_room(struct pass *pass);

/* The state of an op that fails for want of space on the lower file system; zero in the beginning. */
struct space_wait {
    unsigned tries;
    size_t gone; /* inode_table_gone() before the latest failure */
};

/* After a failure: true if there may be space now because removed files have been freed meanwhile. The op should try
 * again then. */
bool pass_may_have_space(struct pass *pass, int err, struct space_wait *wait);

/* True if the op failed for want of a descriptor and one was given up for it: it should try again. */
static inline bool pass_may_retry(struct pass *pass, int err) {
    return err == -EMFILE && pass_give_up_fd(pass);
}

/* The number of descriptors that inodes found by name may keep. */
size_t pass_path_fds_max(const struct pass *pass);

/* The removal or renaming of a name by which an inode may be found: the inode keeps its descriptor meanwhile. Begin
 * before taking on the caller's identity. */
struct removal {
    struct pass *pass;
    const struct inode *directory;
    const char *name;
    struct inode *inode; /* NULL: no inode is found by it */
    struct path_fd path;
};

void pass_begin_removal(struct pass *pass, fs_ino directory, const char *name, struct removal *ret_removal);

/* The name is removed, or has become another. */
void pass_end_removal(struct removal *removal, const struct inode_place *moved);

/* On a local variable, which must be REMOVAL_NONE at first. */
void removal_leave(struct removal *removal);
#define CLEANUP_REMOVAL __attribute__((cleanup(removal_leave)))
#define REMOVAL_NONE ((struct removal){.inode = NULL})

/* The inode that the number names. Errors: -ESTALE */
int pass_get_inode(struct pass *pass, fs_ino ino, struct inode **ret_inode);

/* Opens the inode for use in *at() calls. Pseudo file systems judge by who opened a file, which would be the daemon: so
 * a mount for several users shows them empty, and no op but looking at the directory itself reaches them.
 * Errors:  -ESTALE the file is gone, -ENFILE/-EMFILE, -EACCES its mount is shown empty */
int pass_open_path(struct pass *pass, fs_ino ino, struct path_fd *ret_path);

/* The same only for looking at its attributes, which is allowed on such a mount too. */
int pass_open_path_to_stat(struct pass *pass, fs_ino ino, struct path_fd *ret_path);

/* Opens an inode that has a file handle. Errors: -ESTALE it is gone, or its mount is; and others */
int pass_open_handle(struct pass *pass, const struct inode *inode, int flags);

/* True for the root of a mount that is shown empty: see mount_table.h */
bool pass_is_empty(const struct pass *pass, const struct inode *inode);

/* Opens a regular file or directory for reading or writing. Returns the descriptor, or an error. Anything else: -ENXIO,
 * never a hang on a FIFO or device. */
int pass_open_inode(struct pass *pass, struct inode *inode, int flags);

/* The place at which a name is about to be looked up. */
struct inode_place pass_place(struct pass *pass, const struct inode *directory, const char *name);

/* Finds the inode of *fd (O_PATH, just opened in a directory on that mount), counts a lookup and fills the entry. *fd
 * may be taken over. place: NULL: unknown */
int pass_enter(struct pass *pass, uint32_t mount_index, const struct inode_place *place, int *fd,
               struct fs_entry *ret_entry);

/* The same with any descriptor, which stays the caller's.
 * Errors:  -EOPNOTSUPP there is neither file handle nor place: call pass_enter() */
int pass_enter_by_handle(struct pass *pass, uint32_t mount_index, const struct inode_place *place, int fd,
                         struct fs_entry *ret_entry);

/* As pass_enter(), and lets go of a mount that was held for this by mount_table_find(). */
int pass_enter_held(struct pass *pass, uint32_t mount_index, const struct inode_place *place, bool is_mount_root,
                    int *fd, struct fs_entry *ret_entry);

/* One descriptor is kept in reserve, to finish an op that cannot be undone: a created name must be looked up.
 * use: closes the descriptor, if it is open. keep: opens it again. */
bool pass_use_spare_fd(struct pass *pass);
void pass_keep_spare_fd(struct pass *pass);

/* Opens name in a directory (O_PATH) and enters the inode found, also on the other side of a mount point.
 * caller: its right to search the directory is checked if nobody else checks it; NULL: the caller has just made the
 *   name, so it must be found */
int pass_look_up(struct pass *pass, const struct fs_caller *caller, const struct inode *parent, int parent_fd,
                 const char *name, struct fs_entry *ret_entry);

/* The same for one of many entries of a directory, few of which are used next. */
int pass_look_up_listed(struct pass *pass, const struct fs_caller *caller, const struct inode *parent, int parent_fd,
                        const char *name, struct fs_entry *ret_entry);

/* Notes that the inode, which is held, was looked up or made under that name; NULL: it has no name. Does nothing unless
 * names are kept. */
void pass_note_name(struct pass *pass, fs_ino directory, const char *name, fs_ino ino);

/* Turns attributes of the lower file system into those shown to the kernel. fd: on the same mount */
void pass_show(struct pass *pass, int fd, struct stat *attr);

/* Attributes of a descriptor, as they are shown to the kernel. */
int pass_stat(struct pass *pass, int fd, struct stat *ret_attr);

/* Asks the lower file system whether the caller may access the inode in this way (R_OK, W_OK, X_OK). */
int pass_check_access(struct pass *pass, const struct fs_caller *caller, fs_ino ino, int mask);

/* Inode numbers are the lower ones; on devices other than the root's their top bits differ. */
ino_t pass_shown_number(struct pass *pass, dev_t device, ino_t number);

/* ---- Attributes in listings: pass_lister.c. Threads: any ---- */

/* The caller asks for names of the directory with their attributes.
 * Owner:   the layer; other threads may use it at any time */
struct lister *pass_start_listing(struct pass *pass, const struct fs_caller *caller, fs_ino directory);

/* True if the next of these names is sent with attributes. */
bool pass_next_has_attributes(struct lister *lister);

/* A name is looked up in the directory. */
void pass_note_look(struct pass *pass, fs_ino directory);

/* ---- How lower files look: pass_shown.c ---- */

/* Finds out which ids stand for owners that have no number here. */
void pass_find_overflow_ids(struct pass *pass);

/* The owner to show for one that a system call returned. */
uid_t pass_shown_uid(const struct pass *pass, uid_t uid);
gid_t pass_shown_gid(const struct pass *pass, gid_t gid);

/* fd: on the mount in question, also O_PATH. The mode to show: without set-id bits on a mount that does not honour
 * them. */
mode_t pass_shown_mode(struct pass *pass, int fd, mode_t mode);

/* True for a device whose number is not shown, so that it cannot be opened. */
bool pass_hides_device(struct pass *pass, int fd, mode_t mode);

/* True for the capability of a file on a mount where it has no effect. */
bool pass_hides_capability(struct pass *pass, int fd, const char *xattr_name);

bool pass_may_execute(int fd);

/* True if our own mount has that flag now: ST_NOSUID or ST_NODEV. */
bool pass_mount_has(struct pass *pass, unsigned long flag);

/* Refuses names that would leave the directory. */
static inline int pass_check_name(const char *name) {
    bool dots = name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
    return name[0] == '\0' || dots || __builtin_strchr(name, '/') ? -EINVAL : 0;
}

/* The path through which a held descriptor is reopened, or named in calls that know no AT_EMPTY_PATH. It is relative to
 * pass->proc_self_fd; the absolute one is for calls without a dirfd. */
struct fd_path {
    char text[32];
};
static inline struct fd_path pass_fd_path(int fd) {
    struct fd_path path;
    snprintf(path.text, sizeof(path.text), "%d", fd);
    return path;
}

struct fd_path pass_fd_path_absolute(int fd);

/* Opens the file of one of our descriptors anew. Returns the descriptor, or an error of openat(2). */
static inline int pass_reopen(const struct pass *pass, int fd, int flags) {
    int reopened = openat(pass->proc_self_fd, pass_fd_path(fd).text, flags | O_CLOEXEC);
    return reopened < 0 ? negative_errno() : reopened;
}

/* ---- Open files: open_files.c ---- */

struct open_file {
    int fd;
    int flags;      /* as requested */
    bool is_direct; /* atomic; fd has O_DIRECT, as the program's descriptor had at its last write */
    bool appends;   /* fd was opened with O_APPEND: an append-only file cannot be opened otherwise */
    uid_t uid;      /* of the user who opened it */
    struct inode *inode;
    struct open_file *next;  /* of the same inode; under open_files_lock, like the next two */
    struct open_file **link; /* the pointer that points to this one */
    unsigned users;          /* it is closed after the last one */

    /* directories only */
    pthread_mutex_t stream_lock;
    off_t position; /* of fd */
    char *entries;  /* the latest result of getdents64 */
    size_t entries_size_bytes;
    size_t entries_used_bytes;
};

static inline struct open_file *to_open_file(fs_file file) {
    return (struct open_file *)(uintptr_t)file; /* NOLINT(performance-no-int-to-ptr): we made it from one */
}

/* The access mode 3 allows ioctls only. */
static inline bool is_open_for_writing(const struct open_file *file) {
    return (file->flags & O_ACCMODE) == O_WRONLY || (file->flags & O_ACCMODE) == O_RDWR;
}

/* Frees the entries of a directory. */
void pass_drop_entries(struct pass *pass, struct open_file *file);

/* Wraps *fd, which is taken over on success. flags: as requested */
int pass_add_open_file(struct pass *pass, struct inode *inode, const struct fs_caller *caller, int *fd, int flags,
                       fs_file *ret_file);

/* Call before opening a file for a user. Errors: -ENFILE the user's share is used up */
int pass_check_room(struct pass *pass, const struct fs_caller *caller);

/* Call pass_drop_file_locks() before, if the file may have been locked through it. */
void pass_remove_open_file(struct pass *pass, struct open_file *file);

/* Threads: no op may run. */
void pass_close_all_files(struct pass *pass);

/* A new descriptor for an open file of the inode, if its handle has gone stale (it was unlinked). */
int pass_dup_open_file(struct pass *pass, struct inode *inode, int *ret_fd);

/* An open file of the inode, which is not closed before it is returned; NULL if there is none. */
struct open_file *pass_borrow_open_file(struct pass *pass, struct inode *inode);
void pass_return_open_file(struct pass *pass, struct open_file *file);

/* True if the inode is open for writing, or a writable mapping of it exists. */
bool pass_is_open_for_writing(struct pass *pass, const struct inode *inode);

/* ---- Acting as callers: pass_identity.c ---- */

/* True if the caller has the capability in the daemon's user namespace. */
bool caller_is_capable(const struct pass *pass, const struct fs_caller *caller, int capability);

/* The identity to which this thread must return. */
struct identity {
    const struct pass *pass; /* NULL: nothing was changed */
    bool has_uid;            /* another effective user */
    bool has_gid;            /* another effective group */
    bool has_groups;
    bool has_capabilities;
};

/* Makes this thread act as the caller towards the lower file system: user, group, supplementary groups, and only
 * capabilities that the caller has. For root with all the daemon's capabilities this costs one system call.
 * identity_leave() undoes it; if that fails the process ends, since no thread may go on as another user.
 * Errors:  -EPERM the caller's ids do not exist in the daemon's user namespace, -ENOMEM; call leave in any case */
int identity_enter(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity);
void identity_leave(struct identity *identity);

/* On a local variable, which must be IDENTITY_OWN at first. */
#define CLEANUP_IDENTITY __attribute__((cleanup(identity_leave)))
#define IDENTITY_OWN ((struct identity){.pass = NULL})

/* The same for what the kernel never checks, not even with default_permissions: root of another user namespace is not
 * taken for root. */
int identity_enter_unchecked(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity);

/* The same, but only if ops that merely check permissions act as the caller too. */
int identity_enter_to_check(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity);

/* For writing back a page of this user's: reserved blocks and quotas bind it, set-id bits stay. */
int identity_enter_to_write_back(const struct pass *pass, uid_t uid, struct identity *ret_identity);

/* For changing the data of the open file fd: set-id bits are then taken away as they should be (the kernel does not do
 * that before every kind of write), and reserved blocks and quotas bind the caller. */
int identity_enter_to_write(const struct pass *pass, const struct fs_caller *caller, int fd,
                            struct identity *ret_identity);

/* The same for an op whose request does not say whether set-id bits may stay. */
int identity_enter_to_write_untold(const struct pass *pass, const struct fs_caller *caller, int fd,
                                   struct identity *ret_identity);

/* True if this process can take on identities: it is root, may set groups, and can drop its capabilities. */
bool identity_can_change(void);

/* Gives this thread the caller's umask for the next creation. Returns the mode to create with. */
mode_t identity_umask(const struct fs_caller *caller, mode_t mode);

/* ---- Locks: pass_lock.c ---- */

/* Drops the record locks that an owner holds on the inode, as close(2) does. */
void pass_drop_locks(struct pass *pass, const struct inode *inode, uint64_t owner);

/* Drops the locks of the owners that locked through this open file. The kernel passes "open file description" locks
 * with the open file as owner, and sends no unlock when it is closed. */
void pass_drop_file_locks(struct pass *pass, const struct open_file *file);
void pass_drop_all_locks(struct pass *pass);

#endif
