/* Between libfuse's low-level API and the stack of layers: unpack a request, call the top layer, answer.
 *
 * Every request is answered exactly once, and nothing of its inode is touched after the answer. If the answer to a
 * lookup cannot be delivered, the lookup is taken back. How long the kernel may cache answers is decided here and
 * nowhere else. FORGET is no operation, and not counted.
 *
 * cache=none opens files for direct I/O, since nothing else makes every read reach the daemon; shared mappings of such
 * files need Linux 6.6. */
#ifndef GLUE_H
#define GLUE_H

#include <errno.h>
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>

#include "fs_ops.h"
#include "loop.h"
#include "user_shares.h"

/* Blocking lock requests, each waiting in a thread of its own (glue_lock.c). */
struct lock_waiters {
    pthread_mutex_t lock;
    struct user_shares shares; /* each waiter takes a share; changed under the lock */
    bool ending;               /* no new waiters are admitted, and all waiters give up */
    struct lock_waiter *first;
};

struct glue {
    struct fs_layer *top;      /* borrowed */
    struct fuse_session *fuse; /* borrowed */
    struct loop *loop;         /* borrowed */
    double entry_timeout_s;
    double attr_timeout_s;
    double negative_timeout_s; /* never above entry_timeout_s */
    uint32_t first_generation; /* of inodes; another for each mount, so file handles of one are ESTALE in the next */
    bool direct_io;            /* the kernel keeps no page cache */
    bool keep_cache;           /* cached data outlives close */
    bool cache_readdir;
    bool cache_symlinks;
    bool readdirplus;
    bool posix_acl; /* the kernel checks permissions, so it must know ACLs */
    bool forward_posix_locks;
    bool forward_flocks;
    struct lock_waiters lock_waiters;
    struct backings *backings; /* data=passthrough; else NULL */
    bool cannot_hand_over;     /* INIT did not offer that */
    bool takes_set_id;         /* the stack takes set-id bits away on writes */
    bool over_ring;            /* io_uring */
    bool ring_offered;         /* INIT offered that */
};

/* The session's user data is a struct glue. */
extern const struct fuse_lowlevel_ops glue_operations;

void glue_init_lock_waiters(struct glue *glue, uid_t owner_uid);

/* Tells blocking lock requests to give up, and waits a moment. Returns how many still wait. */
unsigned glue_stop_lock_waiters(struct glue *glue);

/* ---- Reading requests from the device and writing answers to it, in place of libfuse's functions: device.c ---- */

/* Replaces libfuse's functions, if libfuse supports that; else changes nothing. The session's user data is a struct
 * glue.
 * Errors:  -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

/* Asks the kernel to forget those of these inodes that nobody uses. A kernel before 6.18 has no such request: nothing
 * happens then. The call waits for none of our answers, but may wait for other work of the kernel, so not in a
 * worker. */
void device_ask_to_forget(struct fuse_session *fuse, const fuse_ino_t *inos, size_t count);

#ifdef HAVE_FUSE_PASSTHROUGH
/* data_fd: returns the descriptor of an open lower file; negative if the kernel should not get it. */
struct backings *glue_create_backings(int (*data_fd)(fs_file file));
void glue_destroy_backings(struct backings *backings);
#endif

/* ---- Shared by glue_*.c ---- */

static inline struct glue *glue_of(fuse_req_t req) {
    return fuse_req_userdata(req);
}

static inline struct fs_caller glue_caller(fuse_req_t req) {
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    return (struct fs_caller){.uid = ctx->uid,
                              .gid = ctx->gid,
                              .pid = ctx->pid,
                              .umask = ctx->umask,
                              .lacks_fsetid = loop_caller_lacks_fsetid()};
}

/* Calls an op of the top layer on behalf of the request: GLUE_CALL(req, lookup, parent, name, &entry). The second macro
 * returns -EINTR if the request is interrupted while the op waits. */
#define GLUE_CALL(req, member, ...) GLUE_CALL_AS(glue_caller(req), req, false, member, __VA_ARGS__)
#define GLUE_CALL_INTERRUPTIBLE(req, member, ...) GLUE_CALL_AS(glue_caller(req), req, true, member, __VA_ARGS__)
#define GLUE_CALL_AS(caller, req, interruptible, member, ...)                                                          \
    (__extension__({                                                                                                   \
        struct glue *glue_ = glue_of(req);                                                                             \
        struct fs_caller caller_ = caller;                                                                             \
        loop_enter(glue_->loop, req, interruptible);                                                                   \
        int err_ = glue_->top->ops->member(glue_->top, &caller_, __VA_ARGS__);                                         \
        loop_leave(interruptible);                                                                                     \
        err_;                                                                                                          \
    }))

/* The caller of a write or truncation; said_to_lack_fsetid: according to libfuse. */
static inline struct fs_caller glue_writer(fuse_req_t req, bool said_to_lack_fsetid) {
    struct fs_caller caller = glue_caller(req);
    caller.lacks_fsetid |= said_to_lack_fsetid;
    return caller;
}

#ifdef HAVE_FUSE_KILL_SUIDGID
static inline bool glue_says_lacks_fsetid(const struct fuse_file_info *fi) {
    return fi->kill_suidgid;
}
#else
static inline bool glue_says_lacks_fsetid(const struct fuse_file_info *fi) {
    (void)fi;
    return false;
}
#endif

static inline fs_file glue_file(const struct fuse_file_info *fi) {
    return fi ? (fs_file)fi->fh : FS_NO_FILE;
}

/* The error for the kernel, from 0 or -errno. The daemon's own limit of open files (EMFILE) becomes the system's
 * (ENFILE): it is not the caller's. */
static inline int glue_error(int err) {
    return err == -EMFILE ? ENFILE : -err;
}

static inline void glue_reply_status(fuse_req_t req, int err) {
    fuse_reply_err(req, glue_error(err));
}

/* True if the kernel no longer wanted the answer: then what the answer handed over must be taken back, which may take
 * time, and the request is gone. sent: libfuse's result of the reply */
static inline bool glue_is_unwanted(int sent) {
    if (sent < 0)
        loop_goes_on();
    return sent < 0;
}

double glue_attr_timeout(const struct glue *glue, mode_t mode);
struct fuse_entry_param glue_entry_param(const struct glue *glue, const struct fs_entry *entry);
void glue_reply_entry(fuse_req_t req, int err, const struct fs_entry *entry);
void glue_reply_open(fuse_req_t req, int err, fs_ino ino, struct fuse_file_info *fi, fs_file file);
void glue_reply_create(fuse_req_t req, int err, const struct fs_entry *entry, struct fuse_file_info *fi, fs_file file);

/* Call them before an open is answered, and after the file was closed. */
#ifdef HAVE_FUSE_PASSTHROUGH
void glue_hand_over(fuse_req_t req, fs_ino ino, struct fuse_file_info *fi);
void glue_take_back(struct glue *glue, fs_ino ino);
#else
static inline void glue_hand_over(fuse_req_t req, fs_ino ino, struct fuse_file_info *fi) {
    (void)req, (void)ino, (void)fi;
}
static inline void glue_take_back(struct glue *glue, fs_ino ino) {
    (void)glue, (void)ino;
}
#endif

/* The handlers, one per slot of fuse_lowlevel_ops; see libfuse's fuse_lowlevel.h for their parameters. */
void glue_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void glue_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count);
void glue_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void glue_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi);
void glue_readlink(fuse_req_t req, fuse_ino_t ino);
void glue_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t device);
void glue_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void glue_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void glue_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void glue_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void glue_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
                 unsigned flags);
void glue_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t new_parent, const char *new_name);
void glue_statfs(fuse_req_t req, fuse_ino_t ino);
void glue_access(fuse_req_t req, fuse_ino_t ino, int mask);
void glue_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size_bytes, int flags);
void glue_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size_bytes);
void glue_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size_bytes);
void glue_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);
void glue_bmap(fuse_req_t req, fuse_ino_t ino, size_t block_size_bytes, uint64_t block);
void glue_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *argument, struct fuse_file_info *fi,
                unsigned flags, const void *in, size_t in_size_bytes, size_t out_size_bytes);

void glue_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
void glue_read(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi);
void glue_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size_bytes, off_t offset,
                struct fuse_file_info *fi);
void glue_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);
void glue_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length, struct fuse_file_info *fi);
void glue_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi);
void glue_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi, fuse_ino_t out_ino,
                          off_t out_offset, struct fuse_file_info *out_fi, size_t size_bytes, int flags);
void glue_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *handle);

void glue_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_readdir(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi);
void glue_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi);
void glue_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void glue_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);

void glue_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void glue_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int wait);
void glue_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int operation);

void glue_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi);
void glue_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi);
#ifdef HAVE_FUSE_SYNCFS
void glue_syncfs(fuse_req_t req, fuse_ino_t ino);
#endif

#endif
