/* Open files of the mount: which ones an inode has, and how many each user may have. Their descriptors are the
 * daemon's, so without a bound one user could take them all. */
#include "pass_private.h"
#include "process_rights.h"

/* Trusted users are bounded only by the number of descriptors. */
int pass_check_room(struct pass *pass, const struct fs_caller *caller) {
    const struct user_shares *files = &pass->open_file_shares;
    bool has_room = user_shares_is_trusted(files, caller->uid) || user_shares_are_left(files, caller->uid) ||
                    process_is_admin(caller->pid, caller->uid);
    return has_room ? 0 : -ENFILE;
}

int pass_add_open_file(struct pass *pass, struct inode *inode, const struct fs_caller *caller, int *fd, int flags,
                       fs_file *ret_file) {
    struct open_file *file = calloc(1, sizeof(*file));
    if (!file)
        return -ENOMEM;
    /* Set after opening: opening with O_NOATIME fails for files that the daemon does not own, perhaps after they were
     * made. */
    bool leaves_atime = inode->type == S_IFDIR ? pass->no_directory_atime : pass->no_atime;
    int fd_flags = leaves_atime || flags & O_APPEND ? fcntl(*fd, F_GETFL) : -1;
    if (leaves_atime && fd_flags >= 0)
        fcntl(*fd, F_SETFL, fd_flags | O_NOATIME);
    file->fd = steal_fd(fd);
    file->flags = flags;
    file->is_direct = flags & O_DIRECT;
    file->appends = flags & O_APPEND && fd_flags & O_APPEND; /* whatever offset a write has */
    file->uid = caller->uid;
    file->inode = inode;
    file->users = 1;
    pthread_mutex_init(&file->stream_lock, NULL);

    pthread_mutex_lock(&pass->open_files_lock);
    file->next = inode->open_files;
    file->link = &inode->open_files;
    if (file->next)
        file->next->link = &file->next;
    inode->open_files = file;
    pthread_mutex_unlock(&pass->open_files_lock);
    user_shares_take(&pass->open_file_shares, file->uid, 1);
    pass_make_room(pass);
    *ret_file = (fs_file)(uintptr_t)file;
    return 0;
}

void pass_drop_entries(struct pass *pass, struct open_file *file) {
    if (!file->entries)
        return;
    free(steal_pointer(&file->entries));
    file->entries_size_bytes = 0;
    file->entries_used_bytes = 0;
    user_shares_give(&pass->entries_shares, file->uid, PASS_ENTRIES_BYTES);
}

void pass_remove_open_file(struct pass *pass, struct open_file *file) {
    pthread_mutex_lock(&pass->open_files_lock);
    *file->link = file->next;
    if (file->next)
        file->next->link = file->link;
    pthread_mutex_unlock(&pass->open_files_lock);
    pass_return_open_file(pass, file);
}

/* For use after an aborted connection: then nobody releases them. */
void pass_close_all_files(struct pass *pass) {
    struct inode *inode;
    for (uint32_t slot = 0; (inode = inode_table_at(pass->inodes, slot)); slot++) {
        while (inode->open_files)
            pass_remove_open_file(pass, inode->open_files);
    }
}

int pass_file_fd(fs_file file) {
    return to_open_file(file)->fd;
}

struct open_file *pass_borrow_open_file(struct pass *pass, struct inode *inode) {
    pthread_mutex_lock(&pass->open_files_lock);
    struct open_file *file = inode->open_files;
    if (file)
        file->users++;
    pthread_mutex_unlock(&pass->open_files_lock);
    return file;
}

bool pass_is_open_for_writing(struct pass *pass, const struct inode *inode) {
    bool is_open = false;
    pthread_mutex_lock(&pass->open_files_lock);
    for (const struct open_file *file = inode->open_files; file && !is_open; file = file->next)
        is_open = is_open_for_writing(file);
    pthread_mutex_unlock(&pass->open_files_lock);
    return is_open;
}

/* The descriptor may be the last one of a removed file. */
void pass_return_open_file(struct pass *pass, struct open_file *file) {
    pthread_mutex_lock(&pass->open_files_lock);
    bool is_last = --file->users == 0;
    pthread_mutex_unlock(&pass->open_files_lock);
    if (!is_last)
        return;
    user_shares_give(&pass->open_file_shares, file->uid, 1);
    bool tells = inode_table_has_named(pass->inodes);
    if (tells)
        inode_table_begin_closing(pass->inodes, 1);
    close(file->fd);
    if (tells)
        inode_table_end_closing(pass->inodes, 1);
    pthread_mutex_destroy(&file->stream_lock);
    pass_drop_entries(pass, file);
    free(file);
}

int pass_dup_open_file(struct pass *pass, struct inode *inode, int *ret_fd) {
    int err = -ESTALE;
    pthread_mutex_lock(&pass->open_files_lock);
    if (inode->open_files) {
        int fd = fcntl(inode->open_files->fd, F_DUPFD_CLOEXEC, 0);
        err = fd < 0 ? negative_errno() : 0;
        if (err == 0)
            *ret_fd = fd;
    }
    pthread_mutex_unlock(&pass->open_files_lock);
    return err;
}
