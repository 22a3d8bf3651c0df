/* Requests on open directories. */
#include <errno.h>

#include "base.h"
#include "glue.h"
#include "reply_buffer.h"

void glue_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    fs_file file;
    int err = GLUE_CALL(req, opendir, ino, &file);
    if (err == 0 && glue_of(req)->cache_readdir) {
        fi->cache_readdir = 1;
        fi->keep_cache = 1;
    }
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    struct fs_layer *top = glue_of(req)->top;
    struct fs_caller caller = glue_caller(req);
    fi->fh = file;
    if (glue_is_unwanted(fuse_reply_open(req, fi)))
        top->ops->releasedir(top, &caller, ino, file);
}

/* The reply under construction. */
struct listing {
    fuse_req_t req;
    char *data;
    size_t room_bytes;
    size_t used_bytes;
};

static bool add_name(void *context, const struct fs_dirent *dirent) {
    struct listing *listing = context;
    size_t rest_bytes = listing->room_bytes - listing->used_bytes;
    size_t size_bytes = fuse_add_direntry(listing->req, listing->data + listing->used_bytes, rest_bytes, dirent->name,
                                          &dirent->attr, dirent->next_offset);
    if (size_bytes > rest_bytes)
        return false;
    listing->used_bytes += size_bytes;
    return true;
}

/* An entry that was not looked up is sent with inode 0: a bare name. */
static bool add_entry(void *context, const struct fs_dirent *dirent) {
    struct listing *listing = context;
    size_t rest_bytes = listing->room_bytes - listing->used_bytes;
    struct fuse_entry_param param = {.attr = dirent->attr};
    if (dirent->entry)
        param = glue_entry_param(glue_of(listing->req), dirent->entry);
    size_t size_bytes = fuse_add_direntry_plus(listing->req, listing->data + listing->used_bytes, rest_bytes,
                                               dirent->name, &param, dirent->next_offset);
    if (size_bytes > rest_bytes)
        return false;
    listing->used_bytes += size_bytes;
    return true;
}

static bool start_listing(fuse_req_t req, size_t size_bytes, struct listing *ret_listing) {
    *ret_listing = (struct listing){.req = req, .data = reply_buffer_get(size_bytes), .room_bytes = size_bytes};
    if (!ret_listing->data)
        glue_reply_status(req, -ENOMEM);
    return ret_listing->data;
}

static void reply_listing(fuse_req_t req, int err, const struct listing *listing) {
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_buf(req, listing->data, listing->used_bytes);
}

void glue_readdir(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi) {
    struct listing listing;
    size_t entry_count;
    if (!start_listing(req, size_bytes, &listing))
        return;
    int err = GLUE_CALL(req, readdir, ino, glue_file(fi), offset, add_name, &listing, &entry_count);
    reply_listing(req, err, &listing);
}

void glue_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi) {
    struct listing listing;
    size_t entry_count;
    if (!start_listing(req, size_bytes, &listing))
        return;
    int err = GLUE_CALL(req, readdirplus, ino, glue_file(fi), offset, add_entry, &listing, &entry_count);
    reply_listing(req, err, &listing);
}

void glue_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    glue_reply_status(req, GLUE_CALL(req, releasedir, ino, glue_file(fi)));
}

void glue_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi) {
    int err = GLUE_CALL_INTERRUPTIBLE(req, fsyncdir, ino, glue_file(fi), data_only != 0);
    glue_reply_status(req, err);
}
