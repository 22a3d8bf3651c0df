/* Descriptors that inodes hold: how many there may be, and which are closed when an operation needs one. A removed file
 * takes space on the lower file system until its descriptor is closed; an operation that fails for want of space waits
 * for that. */
#include <time.h>

#include "pass_private.h"

#define SPACE_TRIES_MAX 16U
#define SPACE_WAIT_FIRST_US 64L /* 262 ms in all, since workers may get no CPU meanwhile */
#define SPACE_WAIT_LAST_US 131072L

size_t pass_path_fds_max(const struct pass *pass) {
    size_t open_files = __atomic_load_n(&pass->open_file_shares.taken, __ATOMIC_RELAXED);
    size_t left = open_files < pass->path_fds_room ? pass->path_fds_room - open_files : 0;
    if (left > pass->path_fds_max)
        left = pass->path_fds_max;
    return left > PASS_PATH_FDS_MIN ? left : PASS_PATH_FDS_MIN;
}

bool pass_has_no_link(int fd) {
    struct statx attr;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK, &attr) < 0 || attr.stx_nlink == 0;
}

void pass_ask_to_forget(struct pass *pass) {
    size_t count;
    if (!__atomic_exchange_n(&pass->should_forget, false, __ATOMIC_ACQ_REL))
        return;
    CLEANUP_FREE fs_ino *inos = inode_table_list_nameless(pass->inodes, &count);
    if (inos)
        pass->ask_to_forget(pass->ask_context, inos, count);
}

bool pass_give_up_fd(struct pass *pass) {
    const size_t nameless_max = pass_path_fds_max(pass) / 2;
    for (size_t tries = inode_table_held(pass->inodes); tries > 0; tries--) {
        bool is_nameless = false;
        int fd = inode_table_begin_giving_up(pass->inodes, nameless_max, &is_nameless);
        if (fd < 0)
            return false;
        bool is_wanted = !is_nameless && pass_has_no_link(fd);
        /* The kernel remembers removed inodes that are not in use any more, and so they keep their descriptors. If it
         * cannot be asked later, the next op asks. */
        if ((is_nameless || is_wanted) && pass->ask_to_forget &&
            !__atomic_exchange_n(&pass->should_forget, true, __ATOMIC_ACQ_REL) && !pass_do_later(pass))
            __atomic_store_n(&pass->should_forget, false, __ATOMIC_RELEASE);
        if (inode_table_end_giving_up(pass->inodes, fd, is_wanted))
            return true;
    }
    return false;
}

/* Waits until more have gone. Returns false if there are none that may go, or if an op has waited for the same ones
 * before, and they stayed: programs have them open. */
static bool wait_for_going(struct pass *pass, size_t *gone) {
    for (long wait_us = SPACE_WAIT_FIRST_US;; wait_us *= 2) {
        size_t going = inode_table_going(pass->inodes);
        size_t now_gone = inode_table_gone(pass->inodes); /* read afterwards: inodes that were going may have gone */
        if (now_gone != *gone) {
            *gone = now_gone;
            return true;
        }
        bool is_in_vain = now_gone == __atomic_load_n(&pass->in_vain.gone, __ATOMIC_RELAXED) &&
                          going <= __atomic_load_n(&pass->in_vain.going, __ATOMIC_RELAXED);
        if (going == 0 || is_in_vain)
            return false;
        if (wait_us > SPACE_WAIT_LAST_US) {
            __atomic_store_n(&pass->in_vain.going, going, __ATOMIC_RELAXED);
            __atomic_store_n(&pass->in_vain.gone, now_gone, __ATOMIC_RELAXED);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = wait_us * 1000}, NULL);
    }
}

/* The descriptor of a removed file keeps its blocks until the kernel forgets the file. FORGET comes just after the
 * removal has been answered, and closing may take as long as freeing the blocks. */
bool pass_may_have_space(struct pass *pass, int err, struct space_wait *wait) {
    bool is_space = err == -ENOSPC || err == -EDQUOT;
    if (!is_space || wait->tries == SPACE_TRIES_MAX || !inode_table_has_named(pass->inodes))
        return false;
    if (wait->tries++ == 0) {
        wait->gone = inode_table_gone(pass->inodes);
        return true; /* they may have gone just after the failure */
    }
    return wait_for_going(pass, &wait->gone);
}

void pass_make_room(struct pass *pass) {
    while (inode_table_held(pass->inodes) > pass_path_fds_max(pass)) {
        if (!pass_give_up_fd(pass))
            return;
    }
}

/* ---- One descriptor in reserve ---- */

bool pass_use_spare_fd(struct pass *pass) {
    int fd = __atomic_exchange_n(&pass->spare_fd, -1, __ATOMIC_ACQ_REL);
    bool there = fd >= 0;
    close_fd(&fd);
    return there;
}

void pass_keep_spare_fd(struct pass *pass) {
    if (__atomic_load_n(&pass->spare_fd, __ATOMIC_RELAXED) >= 0)
        return;
    int fd = fcntl(pass->proc_fd, F_DUPFD_CLOEXEC, 0);
    int none = -1;
    if (fd >= 0 && !__atomic_compare_exchange_n(&pass->spare_fd, &none, fd, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        close(fd); /* another thread was first */
}

/* ---- Descriptors of inodes that were used just now ----
 *
 * Opening an inode by its handle and closing it again costs 2 us, more than most of what is done in between. So each
 * thread leaves its latest descriptor in a place of its own (where descriptors are few, several threads share one), and
 * its next op takes it if it is for the same inode. The descriptor must not stay: it would keep a file that is removed
 * below, and its mount. So after a second, or when a name is removed through the mount, all are closed. */

/* A descriptor and its inode, in one word, so that one atomic exchange takes both, and a descriptor always has exactly
 * one owner. 0: none. */
static uint64_t pack(const struct inode *inode, int fd) {
    return (uint64_t)inode->slot << 32 | (uint64_t)(inode->generation & UINT16_MAX) << 16 |
           (uint64_t)(uint16_t)(fd + 1);
}

static int unpack_fd(uint64_t packed) {
    return (int)(packed & UINT16_MAX) - 1;
}

static struct recent *recent_of_this_thread(struct pass *pass) {
    static unsigned threads; /* atomic */
    static _Thread_local unsigned number;
    if (number == 0)
        number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return &pass->recent[number % pass->recent_max];
}

void pass_close_recent(struct pass *pass) {
    if (!__atomic_exchange_n(&pass->has_recent, false, __ATOMIC_SEQ_CST))
        return;
    for (size_t index = 0; index < PASS_RECENT; index++) {
        uint64_t *packed = &pass->recent[index].packed;
        if (__atomic_load_n(packed, __ATOMIC_SEQ_CST) == 0)
            continue; /* a thread that keeps one from now on has seen has_recent */
        int fd = unpack_fd(__atomic_exchange_n(packed, 0, __ATOMIC_SEQ_CST));
        close_fd(&fd);
    }
}

int pass_take_recent(struct pass *pass, const struct inode *inode) {
    struct recent *recent = recent_of_this_thread(pass);
    uint64_t packed = __atomic_load_n(&recent->packed, __ATOMIC_RELAXED);
    if (packed == 0 || pack(inode, unpack_fd(packed)) != packed ||
        !__atomic_compare_exchange_n(&recent->packed, &packed, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return -1;
    return unpack_fd(packed);
}

void pass_keep_recent(struct pass *pass, const struct inode *inode, int fd) {
    if (!pass->call_later || fd >= UINT16_MAX - 1) {
        close(fd);
        return;
    }
    struct recent *recent = recent_of_this_thread(pass);
    int earlier_fd = unpack_fd(__atomic_exchange_n(&recent->packed, pack(inode, fd), __ATOMIC_SEQ_CST));
    close_fd(&earlier_fd);
    if (__atomic_load_n(&pass->has_recent, __ATOMIC_SEQ_CST) ||
        __atomic_exchange_n(&pass->has_recent, true, __ATOMIC_SEQ_CST))
        return;
    if (!pass_do_later(pass))
        pass_close_recent(pass);
}
