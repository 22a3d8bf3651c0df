/* The table of handlers that libfuse calls, what we ask the kernel for in INIT, and replies that several handlers
 * share. */
#include "glue.h"

#include <assert.h>

#include "ctl.h"

/* The most requests in flight that nobody waits for: read-ahead, write-back, asynchronous I/O. As many as the kernel
 * can count: RELEASE is among them too, so the hanging requests of one user would keep everybody's files open. */
#define MAX_BACKGROUND 65535

#define CONTROL_TIMEOUT_S 0.0

static_assert(FS_SET_MODE == FUSE_SET_ATTR_MODE && FS_SET_UID == FUSE_SET_ATTR_UID && FS_SET_GID == FUSE_SET_ATTR_GID &&
                  FS_SET_SIZE == FUSE_SET_ATTR_SIZE && FS_SET_ATIME == FUSE_SET_ATTR_ATIME &&
                  FS_SET_MTIME == FUSE_SET_ATTR_MTIME && FS_SET_ATIME_NOW == FUSE_SET_ATTR_ATIME_NOW &&
                  FS_SET_MTIME_NOW == FUSE_SET_ATTR_MTIME_NOW,
              "setattr's masks are the same, so they pass through");

/* Asks for a capability if it is wanted and offered, and declines it otherwise: libfuse has defaults of its own. */
static void ask(struct fuse_conn_info *conn, unsigned capability, bool wanted) {
    conn->want &= ~capability;
    if (wanted)
        conn->want |= conn->capable & capability;
}

/* Truncation stays separate from open. The lower file system takes set-id bits away on writes; requests tell us whether
 * the writer may keep them (HANDLE_KILLPRIV_V2). The older HANDLE_KILLPRIV does not tell that. */
static void init(void *userdata, struct fuse_conn_info *conn) {
    struct glue *glue = userdata;
    ask(conn, FUSE_CAP_ATOMIC_O_TRUNC, false);
    ask(conn, FUSE_CAP_HANDLE_KILLPRIV, false);
    ask(conn, FUSE_CAP_SPLICE_READ, false);
    ask(conn, FUSE_CAP_SPLICE_WRITE, false);
    ask(conn, FUSE_CAP_SPLICE_MOVE, false);
    ask(conn, FUSE_CAP_WRITEBACK_CACHE, false);
    ask(conn, FUSE_CAP_DONT_MASK, true);
    ask(conn, FUSE_CAP_EXPORT_SUPPORT, true);
    ask(conn, FUSE_CAP_IOCTL_DIR, true);
    ask(conn, FUSE_CAP_PARALLEL_DIROPS, true);
    ask(conn, FUSE_CAP_POSIX_ACL, glue->posix_acl);
    ask(conn, FUSE_CAP_POSIX_LOCKS, glue->forward_posix_locks);
    ask(conn, FUSE_CAP_FLOCK_LOCKS, glue->forward_flocks);
    ask(conn, FUSE_CAP_READDIRPLUS, glue->readdirplus);
    ask(conn, FUSE_CAP_READDIRPLUS_AUTO, glue->readdirplus);
    ask(conn, FUSE_CAP_CACHE_SYMLINKS, glue->cache_symlinks);
#ifdef HAVE_FUSE_KILLPRIV_V2 /* else init_answer.c asks */
    ask(conn, FUSE_CAP_HANDLE_KILLPRIV_V2, glue->takes_set_id);
    ask(conn, FUSE_CAP_DIRECT_IO_ALLOW_MMAP, true);
#endif
#ifdef HAVE_FUSE_IO_URING
    ask(conn, FUSE_CAP_OVER_IO_URING, glue->over_ring);
    glue->ring_offered = conn->capable & FUSE_CAP_OVER_IO_URING;
#endif
#ifdef HAVE_FUSE_PASSTHROUGH
    bool hands_over = glue->backings;
    ask(conn, FUSE_CAP_PASSTHROUGH, hands_over);
    glue->cannot_hand_over = hands_over && !(conn->capable & FUSE_CAP_PASSTHROUGH);
    conn->max_backing_stack_depth = FUSE_BACKING_STACKED_OVER;
#endif
    conn->max_background = MAX_BACKGROUND;
    conn->congestion_threshold = MAX_BACKGROUND * 3 / 4;
}

const struct fuse_lowlevel_ops glue_operations = {
    .init = init,
    .lookup = glue_lookup,
    .forget = glue_forget,
    .forget_multi = glue_forget_multi,
    .getattr = glue_getattr,
    .setattr = glue_setattr,
    .readlink = glue_readlink,
    .mknod = glue_mknod,
    .mkdir = glue_mkdir,
    .unlink = glue_unlink,
    .rmdir = glue_rmdir,
    .symlink = glue_symlink,
    .rename = glue_rename,
    .link = glue_link,
    .open = glue_open,
    .create = glue_create,
    .read = glue_read,
    .write = glue_write,
    .flush = glue_flush,
    .release = glue_release,
    .fsync = glue_fsync,
    .opendir = glue_opendir,
    .readdir = glue_readdir,
    .readdirplus = glue_readdirplus,
    .releasedir = glue_releasedir,
    .fsyncdir = glue_fsyncdir,
    .statfs = glue_statfs,
    .setxattr = glue_setxattr,
    .getxattr = glue_getxattr,
    .listxattr = glue_listxattr,
    .removexattr = glue_removexattr,
    .access = glue_access,
    .getlk = glue_getlk,
    .setlk = glue_setlk,
    .flock = glue_flock,
    .bmap = glue_bmap,
    .ioctl = glue_ioctl,
    .poll = glue_poll,
    .fallocate = glue_fallocate,
    .lseek = glue_lseek,
    .copy_file_range = glue_copy_file_range,
#ifdef HAVE_FUSE_TMPFILE /* for requests over a ring; else see loop_serves() */
    .tmpfile = glue_tmpfile,
#endif
#ifdef HAVE_FUSE_STATX
    .statx = glue_statx,
#endif
#ifdef HAVE_FUSE_SYNCFS
    .syncfs = glue_syncfs,
#endif
};

/* ---- Replies ---- */

/* A write takes set-id bits away, and the kernel does not see that: attributes of such files are not cached. */
double glue_attr_timeout(const struct glue *glue, mode_t mode) {
    bool has_set_id = S_ISREG(mode) && mode & (S_ISUID | S_ISGID);
    return has_set_id ? 0 : glue->attr_timeout_s;
}

/* The kernel opens a device without asking us, so it must ask at each lookup whether the device may still be shown. */
static double entry_timeout(const struct glue *glue, const struct fs_entry *entry) {
    if (ctl_serves(entry->ino))
        return CONTROL_TIMEOUT_S;
    return S_ISCHR(entry->attr.st_mode) || S_ISBLK(entry->attr.st_mode) ? 0 : glue->entry_timeout_s;
}

struct fuse_entry_param glue_entry_param(const struct glue *glue, const struct fs_entry *entry) {
    bool control = ctl_serves(entry->ino);
    return (struct fuse_entry_param){
        .ino = entry->ino,
        .generation = glue->first_generation + (uint32_t)entry->generation, /* the kernel keeps 32 bits */
        .attr = entry->attr,
        .attr_timeout = control ? CONTROL_TIMEOUT_S : glue_attr_timeout(glue, entry->attr.st_mode),
        .entry_timeout = entry_timeout(glue, entry),
    };
}

void glue_reply_entry(fuse_req_t req, int err, const struct fs_entry *entry) {
    struct glue *glue = glue_of(req);
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    struct fuse_entry_param param = glue_entry_param(glue, entry);
    if (glue_is_unwanted(fuse_reply_entry(req, &param)))
        glue->top->ops->forget(glue->top, entry->ino, 1);
}

static void set_open_flags(const struct glue *glue, fs_ino ino, struct fuse_file_info *fi, fs_file file) {
    fi->fh = file;
    fi->direct_io = glue->direct_io || ctl_serves(ino);
    fi->keep_cache = glue->keep_cache && !fi->direct_io;
    /* close(2) needs errors of writes, and the end of record locks that are passed on. */
    fi->noflush = (fi->flags & O_ACCMODE) == O_RDONLY && !glue->forward_posix_locks;
}

static void take_open_back(struct glue *glue, const struct fs_caller *caller, fs_ino ino, fs_file file) {
    glue->top->ops->release(glue->top, caller, ino, file);
    glue_take_back(glue, ino);
}

void glue_reply_open(fuse_req_t req, int err, fs_ino ino, struct fuse_file_info *fi, fs_file file) {
    struct glue *glue = glue_of(req);
    struct fs_caller caller = glue_caller(req);
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    set_open_flags(glue, ino, fi, file);
    glue_hand_over(req, ino, fi);
    if (glue_is_unwanted(fuse_reply_open(req, fi)))
        take_open_back(glue, &caller, ino, file);
}

void glue_reply_create(fuse_req_t req, int err, const struct fs_entry *entry, struct fuse_file_info *fi, fs_file file) {
    struct glue *glue = glue_of(req);
    struct fs_caller caller = glue_caller(req);
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    set_open_flags(glue, entry->ino, fi, file);
    glue_hand_over(req, entry->ino, fi);
    struct fuse_entry_param param = glue_entry_param(glue, entry);
    if (glue_is_unwanted(fuse_reply_create(req, &param, fi))) {
        take_open_back(glue, &caller, entry->ino, file);
        glue->top->ops->forget(glue->top, entry->ino, 1);
    }
}
