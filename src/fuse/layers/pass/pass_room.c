/* How many descriptors inodes that are found by name may hold, and giving up those that others need more; and space on
 * the lower file system that removed files still take because of these descriptors. */
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

/* The kernel remembers removed inodes that are not in use any more, and so they keep their descriptors. */
static void want_forgetting(struct pass *pass) {
    if (pass->ask_to_forget && !__atomic_exchange_n(&pass->should_forget, true, __ATOMIC_ACQ_REL) &&
        !pass_do_later(pass))
        __atomic_store_n(&pass->should_forget, false, __ATOMIC_RELEASE); /* the next op asks */
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
        if (is_nameless || is_wanted)
            want_forgetting(pass);
        if (inode_table_end_giving_up(pass->inodes, fd, is_wanted))
            return true;
    }
    return false;
}

/* An op has waited for the same ones before, and they stayed: programs have them open. */
static bool is_in_vain(const struct pass *pass, size_t going, size_t gone) {
    return gone == __atomic_load_n(&pass->in_vain.gone, __ATOMIC_RELAXED) &&
           going <= __atomic_load_n(&pass->in_vain.going, __ATOMIC_RELAXED);
}

static void note_in_vain(struct pass *pass, size_t going, size_t gone) {
    __atomic_store_n(&pass->in_vain.going, going, __ATOMIC_RELAXED);
    __atomic_store_n(&pass->in_vain.gone, gone, __ATOMIC_RELAXED);
}

/* Waits until more have gone. Returns false if there are none that may go */
static bool wait_for_going(struct pass *pass, size_t *gone) {
    for (long wait_us = SPACE_WAIT_FIRST_US;; wait_us *= 2) {
        size_t going = inode_table_going(pass->inodes);
        size_t now_gone = inode_table_gone(pass->inodes); /* read afterwards: inodes that were going may have gone */
        if (now_gone != *gone) {
            *gone = now_gone;
            return true;
        }
        if (going == 0 || is_in_vain(pass, going, now_gone))
            return false;
        if (wait_us > SPACE_WAIT_LAST_US) {
            note_in_vain(pass, going, now_gone);
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
