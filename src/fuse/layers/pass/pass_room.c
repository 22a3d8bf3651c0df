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

bool pass_give_up_fd(struct pass *pass) {
    const size_t nameless_max = pass_path_fds_max(pass) / 2;
    for (size_t tries = inode_table_held(pass->inodes); tries > 0; tries--) {
        bool is_nameless = false;
        int fd = inode_table_begin_giving_up(pass->inodes, nameless_max, &is_nameless);
        if (fd < 0)
            return false;
        if (inode_table_end_giving_up(pass->inodes, fd, !is_nameless && pass_has_no_link(fd)))
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
