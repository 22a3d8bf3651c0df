/* How many descriptors inodes that are found by name may hold, and giving those up that others need more. */
#include "pass_private.h"

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

/* What has been removed, and is not in use any more, the kernel remembers all the same: for as long as that keeps a
 * descriptor. */
static void want_forgetting(struct pass *pass) {
    if (pass->ask_to_forget && !__atomic_exchange_n(&pass->should_forget, true, __ATOMIC_ACQ_REL))
        (void)pass_do_later(pass);
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

void pass_make_room(struct pass *pass) {
    while (inode_table_held(pass->inodes) > pass_path_fds_max(pass)) {
        if (!pass_give_up_fd(pass))
            return;
    }
}
