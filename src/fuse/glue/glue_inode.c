/* Requests on inodes and names. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>

#include "base.h"
#include "ctl.h"
#include "glue.h"
#include "reply_memory.h"
#include "request_body.h"

#define ANSWERED_MASK (STATX_BASIC_STATS | STATX_BTIME)

/* The kernel's struct fuse_statx_out, which Debian 12's headers do not have. Its struct fuse_statx has the layout of
 * struct statx. */
struct statx_answer {
    uint64_t attr_valid_s;
    uint32_t attr_valid_ns;
    uint32_t flags;
    uint64_t spare[2];
    struct statx attr;
};
static_assert(sizeof(struct statx_answer) == 288 && offsetof(struct statx, stx_mnt_id) == 0x90,
              "the answer is as the kernel has it");

void glue_lookup(fuse_req_t req, fuse_ino_t parent, const char *name) {
    struct glue *glue = glue_of(req);
    struct fs_entry entry;
    int err = GLUE_CALL(req, lookup, parent, name, &entry);
    if (err == -ENOENT && glue->negative_timeout_s > 0) {
        struct fuse_entry_param nothing = {.ino = 0, .entry_timeout = glue->negative_timeout_s};
        fuse_reply_entry(req, &nothing);
        return;
    }
    /* At any error but ENOMEM the kernel forgets a name that it knows, and unmounts what is mounted there. */
    bool is_for_now = err == -ENFILE || err == -EMFILE;
    glue_reply_entry(req, is_for_now ? -ENOMEM : err, &entry);
}

void glue_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count) {
    struct fs_layer *top = glue_of(req)->top;
    top->ops->forget(top, ino, count);
    fuse_reply_none(req);
}

void glue_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets) {
    struct fs_layer *top = glue_of(req)->top;
    for (size_t index = 0; index < count; index++)
        top->ops->forget(top, forgets[index].ino, forgets[index].nlookup);
    fuse_reply_none(req);
}

static void reply_attr(fuse_req_t req, int err, fs_ino ino, const struct stat *attr) {
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_attr(req, attr, ctl_serves(ino) ? 0 : glue_attr_timeout(glue_of(req), attr->st_mode));
}

void glue_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    struct stat attr;
    if (loop_serves(FUSE_STATX)) {
        glue_statx(req, ino, 0, ANSWERED_MASK, fi);
        return;
    }
    int err = GLUE_CALL(req, getattr, ino, glue_file(fi), &attr);
    reply_attr(req, err, ino, &attr);
}

/* The members behind those that are answered are reserved, and must be 0. */
void glue_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi) {
    struct statx attr;
    int err = GLUE_CALL(req, statx, ino, glue_file(fi), flags, (unsigned)mask, &attr);
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    const double timeout_s = ctl_serves(ino) ? 0 : glue_attr_timeout(glue_of(req), attr.stx_mode);
    const uint64_t whole_s = (uint64_t)timeout_s;
    struct statx_answer answer = {
        .attr_valid_s = whole_s,
        .attr_valid_ns = (uint32_t)((timeout_s - (double)whole_s) * 1e9),
    };
    memcpy(&answer.attr, &attr, offsetof(struct statx, stx_mnt_id));
    answer.attr.stx_mask &= ANSWERED_MASK;
    fuse_reply_buf(req, (const char *)&answer, sizeof(answer));
}

void glue_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi) {
    struct stat changed;
    bool lacks_fsetid = to_set & FUSE_SET_ATTR_SIZE && to_set & FUSE_SET_ATTR_KILL_SUID;
    int err =
        GLUE_CALL_AS(glue_writer(req, lacks_fsetid), req, true, setattr, ino, glue_file(fi), attr, to_set, &changed);
    reply_attr(req, err, ino, &changed);
}

void glue_readlink(fuse_req_t req, fuse_ino_t ino) {
    char target[PATH_MAX + 1];
    int err = GLUE_CALL(req, readlink, ino, target, sizeof(target));
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_readlink(req, target);
}

void glue_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t device) {
    struct fs_entry entry;
    int err = GLUE_CALL(req, mknod, parent, name, mode, device, &entry);
    glue_reply_entry(req, err, &entry);
}

void glue_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode) {
    struct fs_entry entry;
    int err = GLUE_CALL(req, mkdir, parent, name, mode, &entry);
    glue_reply_entry(req, err, &entry);
}

void glue_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name) {
    struct fs_entry entry;
    int err = GLUE_CALL(req, symlink, parent, name, target, &entry);
    glue_reply_entry(req, err, &entry);
}

void glue_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t new_parent, const char *new_name) {
    struct fs_entry entry;
    int err = GLUE_CALL(req, link, ino, new_parent, new_name, &entry);
    glue_reply_entry(req, err, &entry);
}

void glue_unlink(fuse_req_t req, fuse_ino_t parent, const char *name) {
    glue_reply_status(req, GLUE_CALL(req, unlink, parent, name));
}

void glue_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name) {
    glue_reply_status(req, GLUE_CALL(req, rmdir, parent, name));
}

/* The kernel has two requests for this, and the profile has two operations. */
void glue_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
                 unsigned flags) {
    int err = flags ? GLUE_CALL(req, rename2, parent, name, new_parent, new_name, flags)
                    : GLUE_CALL(req, rename, parent, name, new_parent, new_name);
    glue_reply_status(req, err);
}

void glue_statfs(fuse_req_t req, fuse_ino_t ino) {
    struct statvfs statistics;
    int err = GLUE_CALL(req, statfs, ino, &statistics);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_statfs(req, &statistics);
}

void glue_access(fuse_req_t req, fuse_ino_t ino, int mask) {
    glue_reply_status(req, GLUE_CALL(req, access, ino, mask));
}

/* ---- Extended attributes ---- */

void glue_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size_bytes, int flags) {
    glue_reply_status(req, GLUE_CALL(req, setxattr, ino, name, value, size_bytes, flags));
}

/* A caller without room asks for the size; the others get the bytes. */
static void reply_sized(fuse_req_t req, int err, size_t room_bytes, const void *data, size_t size_bytes) {
    if (err < 0)
        glue_reply_status(req, err);
    else if (room_bytes == 0)
        fuse_reply_xattr(req, size_bytes);
    else
        fuse_reply_buf(req, data, size_bytes);
}

/* A kernel that checks ACLs fails every access at "not supported"; "no data" means that there is no ACL. */
void glue_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size_bytes) {
    size_t got_bytes;
    void *value = size_bytes > 0 ? reply_buffer_get(size_bytes) : NULL;
    int err = size_bytes > 0 && !value ? -ENOMEM : GLUE_CALL(req, getxattr, ino, name, value, size_bytes, &got_bytes);
    if (err == -EOPNOTSUPP && glue_of(req)->posix_acl &&
        strncmp(name, "system.posix_acl_", strlen("system.posix_acl_")) == 0)
        err = -ENODATA;
    reply_sized(req, err, size_bytes, value, err < 0 ? 0 : got_bytes);
}

void glue_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size_bytes) {
    size_t got_bytes;
    char *names = size_bytes > 0 ? reply_buffer_get(size_bytes) : NULL;
    int err = size_bytes > 0 && !names ? -ENOMEM : GLUE_CALL(req, listxattr, ino, names, size_bytes, &got_bytes);
    reply_sized(req, err, size_bytes, names, err < 0 ? 0 : got_bytes);
}

void glue_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name) {
    glue_reply_status(req, GLUE_CALL(req, removexattr, ino, name));
}

/* ---- Oddities ---- */

void glue_bmap(fuse_req_t req, fuse_ino_t ino, size_t block_size_bytes, uint64_t block) {
    int err = GLUE_CALL(req, bmap, ino, block_size_bytes, &block);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_bmap(req, block);
}

/* Changing inode flags changes the ctime too, which the kernel does not expect of these commands. The kernel learns of
 * the change before the caller goes on. The caller may hold the inode's lock meanwhile: with a negative offset only the
 * attributes are dropped, for which the kernel takes no lock that is held during a request. */
void glue_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned command, void *argument, struct fuse_file_info *fi,
                unsigned flags, const void *in, size_t in_size_bytes, size_t out_size_bytes) {
    const struct glue *glue = glue_of(req);
    unsigned char out[512];
    struct fs_ioctl call = {command, in, in_size_bytes, out, out_size_bytes};
    int result;
    (void)argument, (void)flags;
    int err = out_size_bytes > sizeof(out) ? -ENOTTY : GLUE_CALL(req, ioctl, ino, glue_file(fi), &call, &result);
    bool changes_attributes = command == FS_IOC_SETFLAGS || command == FS_IOC_FSSETXATTR;
    if (err == 0 && changes_attributes && glue->attr_timeout_s > 0)
        fuse_lowlevel_notify_inval_inode(glue->fuse, ino, -1, 0);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_ioctl(req, result, out, out_size_bytes);
}

#ifdef HAVE_FUSE_SYNCFS
void glue_syncfs(fuse_req_t req, fuse_ino_t ino) {
    glue_reply_status(req, GLUE_CALL(req, syncfs, ino));
}
#endif
