/* Replies that several handlers share: entries, and opened files. */
#include "ctl.h"
#include "glue.h"

#define CONTROL_TIMEOUT_S 0.0

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
