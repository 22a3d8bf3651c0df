/* Requests on open files and directories. */
#include <errno.h>
#include <fcntl.h>

#include "base.h"
#include "ctl.h"
#include "glue.h"
#include "reply_memory.h"
#include "request_body.h"
#include "uring.h"

void glue_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    fs_file file;
    int err = GLUE_CALL_INTERRUPTIBLE(req, open, ino, fi->flags, &file);
    glue_reply_open(req, err, ino, fi, file);
}

void glue_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi) {
    struct fs_entry entry;
    fs_file file;
    if (loop_serves(FUSE_TMPFILE)) {
        glue_tmpfile(req, parent, mode, fi);
        return;
    }
    int err = GLUE_CALL_AS(glue_writer(req, glue_says_lacks_fsetid(fi)), req, false, create, parent, name, mode,
                           fi->flags, &entry, &file);
    glue_reply_create(req, err, &entry, fi, file);
}

void glue_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi) {
    struct fs_entry entry;
    fs_file file;
    int err = GLUE_CALL(req, tmpfile, parent, mode, fi->flags, &entry, &file);
    glue_reply_create(req, err, &entry, fi, file);
}

/* From this size on moving pages is cheaper than copying them. */
#define SPLICE_FROM_BYTES 65536U

static void reply_read(fuse_req_t req, int err, const struct fs_read_into *into, size_t size_bytes, size_t read_bytes) {
    bool in_pipe = err == 0 && into->pipe_state == FS_PIPE_HOLDS_ALL;
    if (in_pipe && read_bytes == size_bytes) {
        pipe_answer_send(glue_of(req)->fuse);
        fuse_reply_none(req); /* this only frees req */
        return;
    }
    if (in_pipe && !pipe_answer_take(into->memory, read_bytes)) /* the end of the file: a shorter answer */
        err = -EIO;
    else if (into->pipe_fd >= 0 && !in_pipe)
        pipe_answer_discard();
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_buf(req, into->memory, read_bytes);
}

/* Over a ring the data is read directly into the kernel's buffer, so a pipe saves nothing. Nor does it for a direct
 * read, which has no pages of the page cache to move. */
static struct fs_read_into read_into(fuse_req_t req, fs_ino ino, size_t size_bytes, bool is_direct) {
    struct fs_read_into into = {.memory = ring_reply_memory(req, size_bytes), .pipe_fd = -1};
    if (into.memory)
        return into;
    into.memory = reply_buffer_get(size_bytes);
    if (into.memory && size_bytes >= SPLICE_FROM_BYTES && !is_direct && !ring_carries(req) && !ctl_serves(ino))
        into.pipe_fd = pipe_answer_begin(loop_request(glue_of(req)->loop, req), size_bytes);
    return into;
}

void glue_read(fuse_req_t req, fuse_ino_t ino, size_t size_bytes, off_t offset, struct fuse_file_info *fi) {
    size_t read_bytes;
    struct fs_read_into into = read_into(req, ino, size_bytes, (unsigned)fi->flags & O_DIRECT);
    if (!into.memory) {
        glue_reply_status(req, -ENOMEM);
        return;
    }
    int err = GLUE_CALL_INTERRUPTIBLE(req, read, ino, glue_file(fi), &into, size_bytes, offset, &read_bytes);
    reply_read(req, err, &into, size_bytes, read_bytes);
}

void glue_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size_bytes, off_t offset,
                struct fuse_file_info *fi) {
    size_t written_bytes;
    unsigned flags = (unsigned)fi->flags & ~FS_WRITE_FROM_CACHE;
    if (fi->writepage)
        flags |= FS_WRITE_FROM_CACHE;
    int err = GLUE_CALL_AS(glue_writer(req, glue_says_lacks_fsetid(fi)), req, true, write, ino, glue_file(fi), data,
                           size_bytes, offset, flags, &written_bytes);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_write(req, written_bytes);
}

void glue_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    int err = GLUE_CALL_INTERRUPTIBLE(req, flush, ino, glue_file(fi), fi->lock_owner);
    glue_reply_status(req, err);
}

void glue_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    int err = GLUE_CALL(req, release, ino, glue_file(fi));
    glue_take_back(glue_of(req), ino);
    glue_reply_status(req, err);
}

void glue_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi) {
    int err = GLUE_CALL_INTERRUPTIBLE(req, fsync, ino, glue_file(fi), data_only != 0);
    glue_reply_status(req, err);
}

void glue_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length, struct fuse_file_info *fi) {
    int err = GLUE_CALL_INTERRUPTIBLE(req, fallocate, ino, glue_file(fi), mode, offset, length);
    glue_reply_status(req, err);
}

void glue_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi) {
    off_t found;
    int err = GLUE_CALL(req, lseek, ino, glue_file(fi), offset, whence, &found);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_lseek(req, found);
}

/* The kernel's newer request has 64 bits. If we refused it, the kernel would fall back to the older one, and, if
 * several threads were refused at once, to reads and writes. */
void glue_copy_file_range(fuse_req_t req, fuse_ino_t ino, off_t offset, struct fuse_file_info *fi, fuse_ino_t out_ino,
                          off_t out_offset, struct fuse_file_info *out_fi, size_t size_bytes, int flags) {
    size_t copied_bytes;
    int err = GLUE_CALL_INTERRUPTIBLE(req, copy_file_range, ino, glue_file(fi), offset, out_ino, glue_file(out_fi),
                                      out_offset, size_bytes, (unsigned)flags, &copied_bytes);
    const uint64_t answer = err < 0 ? 0 : copied_bytes;
    if (err < 0)
        glue_reply_status(req, err);
    else if (loop_serves(FUSE_COPY_FILE_RANGE_64))
        fuse_reply_buf(req, (const char *)&answer, sizeof(answer));
    else
        fuse_reply_write(req, answer);
}

void glue_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *handle) {
    unsigned events;
    if (handle)
        fuse_pollhandle_destroy(handle);
    int err = GLUE_CALL(req, poll, ino, glue_file(fi), &events);
    if (err < 0)
        glue_reply_status(req, err);
    else
        fuse_reply_poll(req, events);
}

/* ---- Directories ---- */

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
