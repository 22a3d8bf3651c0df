/* data=passthrough: the kernel reads and writes lower files by itself.
 *
 * All open files of an inode must use one backing id (linux/fuse.h), so the first open decides: either all files of the
 * inode are registered with the kernel, or, if the kernel refuses the first, none until the last is closed. */
#include "backing_ioctl.h"
#include "base.h"
#include "ctl.h"
#include "glue.h"
#include "log.h"

#ifdef HAVE_FUSE_PASSTHROUGH

#define BACKINGS_SLOTS 4096U

struct backing {
    struct backing *next;
    fs_ino ino;
    int id; /* 0: not registered */
    unsigned open_files;
};

struct backings {
    pthread_mutex_t lock;
    int (*data_fd)(fs_file file); /* returns the lower file's descriptor; negative: do not register */
    bool warned;
    struct backing *slots[BACKINGS_SLOTS];
};

struct backings *glue_create_backings(int (*data_fd)(fs_file file)) {
    struct backings *backings = calloc(1, sizeof(*backings));
    if (!backings)
        return NULL;
    pthread_mutex_init(&backings->lock, NULL);
    backings->data_fd = data_fd;
    return backings;
}

void glue_destroy_backings(struct backings *backings) {
    if (!backings)
        return;
    for (unsigned slot = 0; slot < BACKINGS_SLOTS; slot++) {
        while (backings->slots[slot]) {
            struct backing *backing = backings->slots[slot];
            backings->slots[slot] = backing->next;
            free(backing); /* the kernel has closed the rest with the connection */
        }
    }
    pthread_mutex_destroy(&backings->lock);
    free(backings);
}

static struct backing **find_locked(struct backings *backings, fs_ino ino) {
    struct backing **link = &backings->slots[ino % BACKINGS_SLOTS];
    while (*link && (*link)->ino != ino)
        link = &(*link)->next;
    return link;
}

/* The kernel's requests are made here: fuse_passthrough_open() prints a line whenever the kernel refuses, and
 * fuse_passthrough_close() needs a request, when there may be none any more. */
static struct backing *new_backing_locked(struct backings *backings, fuse_req_t req, fs_ino ino, int fd) {
    struct backing *backing = calloc(1, sizeof(*backing));
    if (!backing)
        return NULL;
    struct fuse_backing_map map = {.fd = fd};
    backing->ino = ino;
    backing->id = ioctl(fuse_session_fd(glue_of(req)->fuse), FUSE_DEV_IOC_BACKING_OPEN, &map);
    if (backing->id <= 0) {
        backing->id = 0;
        if (!backings->warned)
            log_message("data=passthrough: the kernel does not take a file of this file system; what it does not take "
                        "is served, and profiled, as without");
        backings->warned = true;
    }
    return backing;
}

void glue_hand_over(fuse_req_t req, fs_ino ino, struct fuse_file_info *fi) {
    struct backings *backings = glue_of(req)->backings;
    int fd = backings && !ctl_serves(ino) ? backings->data_fd(glue_file(fi)) : -1;
    if (fd < 0)
        return;
    pthread_mutex_lock(&backings->lock);
    struct backing **link = find_locked(backings, ino);
    if (!*link)
        *link = new_backing_locked(backings, req, ino, fd);
    struct backing *backing = *link;
    if (backing) {
        backing->open_files++;
        fi->backing_id = backing->id;
        if (backing->id > 0)
            fi->keep_cache = false; /* nothing is cached here */
    }
    pthread_mutex_unlock(&backings->lock);
}

void glue_take_back(struct glue *glue, fs_ino ino) {
    struct backings *backings = glue->backings;
    if (!backings || ctl_serves(ino))
        return;
    pthread_mutex_lock(&backings->lock);
    struct backing **link = find_locked(backings, ino);
    struct backing *backing = *link;
    if (backing && --backing->open_files == 0) {
        *link = backing->next;
        if (backing->id > 0)
            ioctl(fuse_session_fd(glue->fuse), FUSE_DEV_IOC_BACKING_CLOSE, &backing->id);
        free(backing);
    }
    pthread_mutex_unlock(&backings->lock);
}

#endif
