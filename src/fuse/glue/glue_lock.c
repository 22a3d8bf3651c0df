/* Lock requests. A blocking request gets a thread of its own. So the request does not occupy a worker, and
 * FUSE_INTERRUPT works: without FUSE_INTERRUPT, a process that waits for the lock could not even be killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>

#include "base.h"
#include "glue.h"

#define STOP_STEP_NS 10000000L
#define STOP_STEPS 100

/* Each has a thread and a block of counters, as many as there may be workers. */
#define WAITERS_MAX 512U

struct lock_waiter {
    struct lock_waiter *next;
    struct lock_waiter **link; /* the pointer that points to this one */
    struct glue *glue;
    struct loop_server *server;
    pthread_t thread;
    uid_t uid;
    fuse_req_t req;
    fs_ino ino;
    fs_file file;
    struct fs_lock lock;
};

void glue_init_lock_waiters(struct glue *glue, uid_t owner_uid) {
    user_shares_init(&glue->lock_waiters.shares, WAITERS_MAX, owner_uid);
    pthread_mutex_init(&glue->lock_waiters.lock, NULL);
}

static void remove_waiter(struct lock_waiter *waiter) {
    struct lock_waiters *all = &waiter->glue->lock_waiters;
    pthread_mutex_lock(&all->lock);
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    user_shares_give(&all->shares, waiter->uid, 1);
    pthread_mutex_unlock(&all->lock);
}

static bool is_ending(struct lock_waiters *all) {
    pthread_mutex_lock(&all->lock);
    bool ending = all->ending;
    pthread_mutex_unlock(&all->lock);
    return ending;
}

static void *wait_for_lock(void *argument) {
    struct lock_waiter *waiter = argument;
    struct lock_waiters *all = &waiter->glue->lock_waiters;
    int err = -EINTR;
    loop_be_server(waiter->server);
    if (!is_ending(all))
        err = GLUE_CALL_INTERRUPTIBLE(waiter->req, setlkw, waiter->ino, waiter->file, &waiter->lock);
    if (err == -EINTR && is_ending(all))
        err = -ENOTCONN; /* the kernel would restart an interrupted wait, but nobody will serve it */
    loop_end_server(waiter->server, waiter->req, glue_error(err));
    remove_waiter(waiter);
    free(waiter);
    return NULL;
}

static int start_thread_locked(struct lock_waiter *waiter) {
    const struct lock_waiters *all = &waiter->glue->lock_waiters;
    pthread_attr_t detached;
    if (all->ending)
        return -ENOTCONN;
    if (!user_shares_are_left_for(&all->shares, waiter->uid, fuse_req_ctx(waiter->req)->pid))
        return -ENOLCK;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    loop_set_thread_home(waiter->glue->loop, &detached);
    int err = pthread_create(&waiter->thread, &detached, wait_for_lock, waiter);
    pthread_attr_destroy(&detached);
    return err == 0 ? 0 : -ENOLCK;
}

static int start_waiter(fuse_req_t req, fs_ino ino, fs_file file, const struct fs_lock *lock) {
    struct glue *glue = glue_of(req);
    CLEANUP_FREE struct lock_waiter *waiter = calloc(1, sizeof(*waiter));
    struct loop_server *server = loop_add_server(glue->loop, loop_request(glue->loop, req));
    if (!waiter || !server) {
        loop_remove_server(server);
        return -ENOLCK;
    }
    *waiter = (struct lock_waiter){.glue = glue,
                                   .server = server,
                                   .uid = fuse_req_ctx(req)->uid,
                                   .req = req,
                                   .ino = ino,
                                   .file = file,
                                   .lock = *lock};

    struct lock_waiters *all = &glue->lock_waiters;
    pthread_mutex_lock(&all->lock);
    int err = start_thread_locked(waiter);
    if (err == 0) {
        struct lock_waiter *added = steal_pointer(&waiter);
        added->link = &all->first;
        added->next = all->first;
        if (added->next)
            added->next->link = &added->next;
        all->first = added;
        user_shares_take(&all->shares, added->uid, 1);
    }
    pthread_mutex_unlock(&all->lock);
    if (err < 0)
        loop_remove_server(server);
    return err;
}

/* A wait is answered by the waiting thread; everything else is answered here. */
static void set_lock(fuse_req_t req, fs_ino ino, fs_file file, const struct fs_lock *lock, bool wait) {
    if (wait && lock->type != F_UNLCK) {
        int err = start_waiter(req, ino, file, lock);
        if (err < 0)
            glue_reply_status(req, err);
        return;
    }
    int err = wait ? GLUE_CALL(req, setlkw, ino, file, lock) : GLUE_CALL(req, setlk, ino, file, lock);
    glue_reply_status(req, err);
}

static struct fs_lock from_flock(const struct fuse_file_info *fi, const struct flock *lock) {
    return (struct fs_lock){
        .owner = fi->lock_owner,
        .type = lock->l_type,
        .start = lock->l_start,
        .length = lock->l_len,
        .pid = lock->l_pid,
    };
}

void glue_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock) {
    struct fs_lock found = from_flock(fi, lock);
    int err = GLUE_CALL(req, getlk, ino, glue_file(fi), &found);
    if (err < 0) {
        glue_reply_status(req, err);
        return;
    }
    struct flock answer = {
        .l_type = found.type, .l_whence = SEEK_SET, .l_start = found.start, .l_len = found.length, .l_pid = found.pid};
    fuse_reply_lock(req, &answer);
}

void glue_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int wait) {
    struct fs_lock wanted = from_flock(fi, lock);
    set_lock(req, ino, glue_file(fi), &wanted, wait);
}

void glue_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int operation) {
    struct fs_lock wanted = {.is_flock = true, .owner = fi->lock_owner};
    switch (operation & ~LOCK_NB) {
    case LOCK_SH:
        wanted.type = F_RDLCK;
        break;
    case LOCK_EX:
        wanted.type = F_WRLCK;
        break;
    default:
        wanted.type = F_UNLCK;
        break;
    }
    set_lock(req, ino, glue_file(fi), &wanted, !(operation & LOCK_NB));
}

unsigned glue_stop_lock_waiters(struct glue *glue) {
    const struct timespec step = {.tv_nsec = STOP_STEP_NS};
    struct lock_waiters *all = &glue->lock_waiters;
    pthread_mutex_lock(&all->lock);
    all->ending = true;
    for (int steps = 0; all->shares.taken > 0 && steps < STOP_STEPS; steps++) {
        for (struct lock_waiter *waiter = all->first; waiter; waiter = waiter->next)
            pthread_kill(waiter->thread, loop_interrupt_signal());
        pthread_mutex_unlock(&all->lock);
        nanosleep(&step, NULL);
        pthread_mutex_lock(&all->lock);
    }
    unsigned count = (unsigned)all->shares.taken;
    pthread_mutex_unlock(&all->lock);
    return count;
}
