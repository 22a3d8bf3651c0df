/* Forwarded locks. flock(2) belongs to an open file above, which has one open file below: it is passed on as it is.
 * Record locks belong to an owner (a process), whichever file it opened: each owner gets an open file of its own on the
 * inode, and locks it with "open file description" locks, whose owner is that open file.
 *
 * setlkw blocks until the lock is granted or a signal interrupts this thread. */
#include <sys/file.h>

#include "pass_private.h"

struct lock_owner {
    struct lock_owner *next;
    const struct inode *inode;
    uint64_t owner;
    const struct open_file *file; /* the file through which it locked last */
    uid_t uid;
    int fd;
};

static struct lock_owner **owners_of(struct pass *pass, const struct inode *inode) {
    return &pass->lock_owners[(uintptr_t)inode / sizeof(*inode) % PASS_LOCK_LISTS];
}

static struct lock_owner **find_owner(struct pass *pass, const struct inode *inode, uint64_t owner) {
    struct lock_owner **link = owners_of(pass, inode);
    while (*link && ((*link)->inode != inode || (*link)->owner != owner))
        link = &(*link)->next;
    return link;
}

static int add_owner(struct pass *pass, const struct fs_caller *caller, const struct open_file *file, uint64_t owner,
                     struct lock_owner **link) {
    CLEANUP_FREE struct lock_owner *added = calloc(1, sizeof(*added));
    if (!added)
        return -ENOMEM;
    int err = pass_check_room(pass, caller);
    if (err < 0)
        return err;
    /* For writing if possible: an owner may lock for reading first and for writing later. */
    added->fd = pass_open_inode(pass, file->inode, O_RDWR);
    if (added->fd < 0)
        added->fd = pass_open_inode(pass, file->inode, file->flags & O_ACCMODE);
    if (added->fd < 0)
        return added->fd;
    user_shares_take(&pass->open_file_shares, caller->uid, 1);
    added->uid = caller->uid;
    added->inode = file->inode;
    added->owner = owner;
    *link = steal_pointer(&added);
    __atomic_add_fetch(&pass->lock_owner_count, 1, __ATOMIC_RELEASE);
    return 0;
}

/* A duplicate of the owner's descriptor: it stays valid if the owner closes while another thread waits on it. */
static int owner_fd(struct pass *pass, const struct fs_caller *caller, const struct open_file *file, uint64_t owner,
                    int *ret_fd) {
    int err = 0;
    pthread_mutex_lock(&pass->lock_owners_lock);
    struct lock_owner **link = find_owner(pass, file->inode, owner);
    if (!*link)
        err = add_owner(pass, caller, file, owner, link);
    if (err == 0) {
        (*link)->file = file;
        *ret_fd = fcntl((*link)->fd, F_DUPFD_CLOEXEC, 0);
        err = *ret_fd < 0 ? negative_errno() : 0;
    }
    pthread_mutex_unlock(&pass->lock_owners_lock);
    return err;
}

/* Takes an owner out of the list; call under the lock. */
static struct lock_owner *unlink_owner(struct pass *pass, struct lock_owner **link) {
    struct lock_owner *owner = *link;
    *link = owner->next;
    __atomic_sub_fetch(&pass->lock_owner_count, 1, __ATOMIC_RELEASE);
    return owner;
}

static void destroy_owner(struct pass *pass, struct lock_owner *owner) {
    struct flock everything = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(owner->fd, F_OFD_SETLK, &everything); /* also unlocks duplicates that still wait */
    close(owner->fd);
    user_shares_give(&pass->open_file_shares, owner->uid, 1);
    free(owner);
}

/* True if nobody forwards record locks: the usual case, which takes no lock. */
static bool no_owners(const struct pass *pass) {
    return __atomic_load_n(&pass->lock_owner_count, __ATOMIC_ACQUIRE) == 0;
}

void pass_drop_locks(struct pass *pass, const struct inode *inode, uint64_t owner) {
    if (no_owners(pass))
        return;
    pthread_mutex_lock(&pass->lock_owners_lock);
    struct lock_owner **link = find_owner(pass, inode, owner);
    struct lock_owner *dropped = *link ? unlink_owner(pass, link) : NULL;
    pthread_mutex_unlock(&pass->lock_owners_lock);
    if (dropped)
        destroy_owner(pass, dropped);
}

void pass_drop_file_locks(struct pass *pass, const struct open_file *file) {
    struct lock_owner *dropped = NULL;
    if (no_owners(pass))
        return;
    pthread_mutex_lock(&pass->lock_owners_lock);
    for (struct lock_owner **link = owners_of(pass, file->inode); *link;) {
        if ((*link)->file != file) {
            link = &(*link)->next;
            continue;
        }
        struct lock_owner *owner = unlink_owner(pass, link);
        owner->next = dropped;
        dropped = owner;
    }
    pthread_mutex_unlock(&pass->lock_owners_lock);
    while (dropped) {
        struct lock_owner *next = dropped->next;
        destroy_owner(pass, dropped);
        dropped = next;
    }
}

void pass_drop_all_locks(struct pass *pass) {
    for (unsigned list = 0; list < PASS_LOCK_LISTS; list++) {
        while (pass->lock_owners[list])
            pass_drop_locks(pass, pass->lock_owners[list]->inode, pass->lock_owners[list]->owner);
    }
}

static struct flock to_flock(const struct fs_lock *lock) {
    return (struct flock){.l_type = lock->type, .l_whence = SEEK_SET, .l_start = lock->start, .l_len = lock->length};
}

int pass_op_getlk(struct fs_layer *layer, FS_CALL, fs_file file, struct fs_lock *lock) {
    CLEANUP_FD int fd = -1;
    (void)ino;
    int err = owner_fd(to_pass(layer), caller, to_open_file(file), lock->owner, &fd);
    if (err < 0)
        return err;
    struct flock lower = to_flock(lock);
    if (fcntl(fd, F_OFD_GETLK, &lower) < 0)
        return negative_errno();
    lock->type = lower.l_type;
    if (lower.l_type != F_UNLCK) {
        lock->start = lower.l_start;
        lock->length = lower.l_len;
        lock->pid = lower.l_pid > 0 ? lower.l_pid : 0; /* the lower kernel names no process for our owners */
    }
    return 0;
}

static int set_lock(struct pass *pass, const struct fs_caller *caller, fs_file file, const struct fs_lock *lock,
                    bool wait) {
    if (lock->is_flock) {
        int operation = lock->type == F_RDLCK ? LOCK_SH : lock->type == F_WRLCK ? LOCK_EX : LOCK_UN;
        return flock(to_open_file(file)->fd, operation | (wait ? 0 : LOCK_NB)) < 0 ? negative_errno() : 0;
    }
    CLEANUP_FD int fd = -1;
    int err = owner_fd(pass, caller, to_open_file(file), lock->owner, &fd);
    if (err < 0)
        return err;
    struct flock lower = to_flock(lock);
    return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lower) < 0 ? negative_errno() : 0;
}

int pass_op_setlk(struct fs_layer *layer, FS_CALL, fs_file file, const struct fs_lock *lock) {
    (void)ino;
    return set_lock(to_pass(layer), caller, file, lock, false);
}

int pass_op_setlkw(struct fs_layer *layer, FS_CALL, fs_file file, const struct fs_lock *lock) {
    (void)ino;
    return set_lock(to_pass(layer), caller, file, lock, true);
}
