/* The table of handlers that libfuse calls, and what we ask the kernel for in INIT. */
#include "glue.h"

#include <assert.h>

/* The most requests in flight that nobody waits for: read-ahead, write-back, asynchronous I/O. As many as the kernel
 * can count: RELEASE is among them too, so the hanging requests of one user would keep everybody's files open. */
#define MAX_BACKGROUND 65535

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
