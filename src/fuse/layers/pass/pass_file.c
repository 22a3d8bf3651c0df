/* Open files and operations on them.
 *
 * The lower file is opened without O_APPEND if possible: a write from the kernel's page cache may come through any open
 * file of the inode, at an offset of its own. Instead each appending write asks for RWF_APPEND, so that it is atomic
 * among writers above and below. O_DIRECT is passed down, so that latencies are those of the device.
 *
 * The lower file system takes set-id bits away on writes (FUSE_HANDLE_KILLPRIV_V2, see init_answer.c; over io_uring
 * with libfuse 3.18.3, which passes on whether the caller may keep them). So the daemon gives up CAP_FSETID around
 * every change of a file's data for a caller without it. Otherwise the kernel would ask for security.capability before
 * each single write. The kernel does not see the bits go, so attributes of such files are not cached. */
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>

#include "pass_private.h"

#define DIRECT_ALIGNMENT_BYTES 4096U
#define LOWER_PAGE_BYTES 4096 /* the smallest that exist */

/* ---- Open and close ---- */

/* The flags to open the lower file with. */
static int lower_flags(int flags) {
    return (flags & (O_ACCMODE | O_DIRECT | O_SYNC | O_DSYNC | O_NOATIME)) | O_NOCTTY | O_CLOEXEC;
}

/* Opens as the caller, through a descriptor that was opened before giving up the privilege to open handles. */
static int open_as_caller(struct pass *pass, const struct fs_caller *caller, const struct inode *inode, int flags) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    if (inode->type != S_IFREG && inode->type != S_IFDIR)
        return -ENXIO;
    int fd = pass_open_path(pass, inode_ino(inode), &path);
    if (fd == 0)
        fd = identity_enter_to_check(pass, caller, &identity);
    if (fd < 0)
        return fd;
    do
        fd = pass_reopen(pass, path.fd, flags);
    while (fd < 0 && pass_may_retry(pass, fd));
    return fd;
}

static int open_checked(struct pass *pass, const struct fs_caller *caller, struct inode *inode, int flags) {
    return pass->check_as_caller ? open_as_caller(pass, caller, inode, flags) : pass_open_inode(pass, inode, flags);
}

/* O_NOATIME is a privilege of the owner: a daemon that lacks it opens the file without. An append-only file can be
 * opened only with O_APPEND. flags: as requested */
static int open_file(struct pass *pass, const struct fs_caller *caller, struct inode *inode, int flags) {
    int lower = lower_flags(flags);
    int fd = open_checked(pass, caller, inode, lower);
    if (fd == -EPERM && flags & O_NOATIME) {
        lower &= ~O_NOATIME;
        fd = open_checked(pass, caller, inode, lower);
    }
    if (fd == -EPERM && flags & O_APPEND)
        fd = open_checked(pass, caller, inode, lower | O_APPEND);
    return fd;
}

/* A user may run a program without being allowed to read it, so the daemon reads it for the kernel. */
static int open_program(struct pass *pass, const struct fs_caller *caller, struct inode *inode, int flags) {
    int err = pass->check_as_caller ? pass_check_access(pass, caller, inode_ino(inode), X_OK) : 0;
    if (err < 0)
        return err;
    CLEANUP_FD int fd = pass_open_inode(pass, inode, lower_flags(flags));
    return fd >= 0 && !pass_may_execute(fd) ? -EACCES : steal_fd(&fd);
}

int pass_op_open(struct fs_layer *layer, FS_CALL, int flags, fs_file *ret_file) {
    struct pass *pass = to_pass(layer);
    struct inode *inode;
    fs_file file = FS_NO_FILE;
    int err = pass_get_inode(pass, ino, &inode);
    if (err == 0)
        err = pass_check_room(pass, caller);
    if (err < 0)
        return err;
    CLEANUP_FD int fd =
        flags & FS_OPEN_TO_EXECUTE ? open_program(pass, caller, inode, flags) : open_file(pass, caller, inode, flags);
    err = fd < 0 ? fd : 0;
    if (err == 0)
        err = pass_add_open_file(pass, inode, caller, &fd, flags, &file);
    if (err == 0 && flags & O_TRUNC) {
        /* Now that the file is open, set-id bits go or stay according to the caller's privileges. */
        const struct stat empty = {.st_size = 0};
        struct stat attr;
        err = pass_op_setattr(layer, caller, ino, file, &empty, FS_SET_SIZE, &attr);
    }
    if (err < 0 && file != FS_NO_FILE)
        pass_remove_open_file(pass, to_open_file(file));
    if (err == 0)
        *ret_file = file;
    return err;
}

/* Finds the inode of a newly opened descriptor, through a second one that the inode may keep. */
static int enter_by_path(struct pass *pass, uint32_t mount_index, int fd, struct fs_entry *ret_entry) {
    const struct fd_path path = pass_fd_path(fd);
    CLEANUP_FD int path_fd = openat(pass->proc_self_fd, path.text, O_PATH | O_CLOEXEC);
    if (path_fd < 0 && errno == EMFILE && (pass_give_up_fd(pass) || pass_use_spare_fd(pass)))
        path_fd = openat(pass->proc_self_fd, path.text, O_PATH | O_CLOEXEC);
    if (path_fd < 0)
        return negative_errno();
    int err = pass_enter(pass, mount_index, NULL, &path_fd, ret_entry);
    close_fd(&path_fd);
    pass_keep_spare_fd(pass);
    return err;
}

/* Turns a descriptor into an entry and an open file. name: NULL: it has none */
static int enter_open_file(struct pass *pass, const struct fs_caller *caller, fs_ino parent, const char *name, int *fd,
                           int flags, struct fs_entry *ret_entry, fs_file *ret_file) {
    struct fs_entry entry;
    const struct inode *directory = inode_table_get(pass->inodes, parent);
    const struct inode_place place = pass_place(pass, directory, name);
    int err = pass_enter_by_handle(pass, directory->mount_index, name ? &place : NULL, *fd, &entry);
    if (err == -EOPNOTSUPP)
        err = enter_by_path(pass, directory->mount_index, *fd, &entry);
    if (err < 0)
        return err;
    pass_note_name(pass, parent, name, entry.ino);
    err = pass_add_open_file(pass, inode_table_get(pass->inodes, entry.ino), caller, fd, flags, ret_file);
    if (err < 0)
        inode_table_forget(pass->inodes, entry.ino, 1);
    else
        *ret_entry = entry;
    return err;
}

/* Opens a file that was made below since the kernel looked: like any file, so never through a symbolic link or a FIFO.
 * The kernel has checked nothing here. */
static int open_existing(struct fs_layer *layer, FS_CALL, const char *name, int flags, struct fs_entry *ret_entry,
                         fs_file *ret_file) {
    struct fs_entry entry;
    const int reading = (flags & O_ACCMODE) == O_WRONLY ? 0 : R_OK;
    const int writing = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_TRUNC) ? 0 : W_OK;
    int err = pass_op_lookup(layer, caller, ino, name, &entry);
    if (err < 0)
        return err;
    if (S_ISLNK(entry.attr.st_mode))
        err = -ELOOP;
    else if (S_ISDIR(entry.attr.st_mode))
        err = -EISDIR;
    if (err == 0)
        err = pass_check_access(to_pass(layer), caller, entry.ino, reading | writing);
    if (err == 0)
        err = pass_op_open(layer, caller, entry.ino, flags, ret_file);
    if (err == 0 && flags & O_TRUNC) /* the attributes are from before the truncation */
        (void)pass_stat(to_pass(layer), to_open_file(*ret_file)->fd, &entry.attr);
    if (err < 0)
        inode_table_forget(to_pass(layer)->inodes, entry.ino, 1);
    else
        *ret_entry = entry;
    return err;
}

/* name: NULL: the file has none. */
static int create_file(struct pass *pass, FS_CALL, const char *name, mode_t mode, int flags) {
    CLEANUP_PATH_FD struct path_fd parent = PATH_FD_NONE;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = name ? pass_check_name(name) : 0;
    if (err == 0)
        err = pass_check_room(pass, caller);
    if (err == 0)
        err = pass_open_path(pass, ino, &parent);
    if (err == 0)
        err = identity_enter(pass, caller, &identity);
    if (err < 0)
        return err;
    const struct fd_path path = pass_fd_path(parent.fd);
    mode = identity_umask(caller, mode & ALLPERMS);
    struct space_wait wait = {0};
    int fd;
    do {
        fd = name ? openat(parent.fd, name, lower_flags(flags) | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
                  : openat(pass->proc_self_fd, path.text, lower_flags(flags) | O_TMPFILE | (flags & O_EXCL), mode);
        fd = fd < 0 ? negative_errno() : fd;
    } while (fd < 0 && (pass_may_retry(pass, fd) || pass_may_have_space(pass, fd, &wait)));
    return fd;
}

int pass_op_create(struct fs_layer *layer, FS_CALL, const char *name, mode_t mode, int flags,
                   struct fs_entry *ret_entry, fs_file *ret_file) {
    struct pass *pass = to_pass(layer);
    for (int tries = 0;; tries++) {
        CLEANUP_FD int fd = create_file(pass, caller, ino, name, mode, flags);
        if (fd >= 0)
            return enter_open_file(pass, caller, ino, name, &fd, flags, ret_entry, ret_file);
        if (fd != -EEXIST || flags & O_EXCL)
            return fd;
        int err = open_existing(layer, caller, ino, name, flags & ~O_CREAT, ret_entry, ret_file);
        if (err != -ENOENT || tries == 16) /* it is made and removed below over and over */
            return err;
    }
}

int pass_op_tmpfile(struct fs_layer *layer, FS_CALL, mode_t mode, int flags, struct fs_entry *ret_entry,
                    fs_file *ret_file) {
    struct pass *pass = to_pass(layer);
    CLEANUP_FD int fd = create_file(pass, caller, ino, NULL, mode, flags);
    return fd < 0 ? fd : enter_open_file(pass, caller, ino, NULL, &fd, flags, ret_entry, ret_file);
}

int pass_op_release(struct fs_layer *layer, FS_CALL, fs_file file) {
    (void)caller, (void)ino;
    pass_drop_file_locks(to_pass(layer), to_open_file(file));
    pass_remove_open_file(to_pass(layer), to_open_file(file)); /* flush has reported errors of closing */
    return 0;
}

/* close(2) of a duplicate reports network and quota errors without giving the file up. */
int pass_op_flush(struct fs_layer *layer, FS_CALL, fs_file file, uint64_t lock_owner) {
    struct pass *pass = to_pass(layer);
    struct open_file *open_file = to_open_file(file);
    (void)caller, (void)ino;
    pass_drop_locks(pass, open_file->inode, lock_owner);
    int duplicate = fcntl(open_file->fd, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0)
        return errno == EMFILE ? 0 : negative_errno(); /* out of descriptors: says nothing of the file */
    return close(duplicate) < 0 ? negative_errno() : 0;
}

/* ---- Data ---- */

static bool is_direct_now(const struct open_file *file) {
    return __atomic_load_n(&file->is_direct, __ATOMIC_RELAXED);
}

/* Moves references to the lower file's pages instead of copying them. Returns false if nothing, or not all, was
 * moved. */
static bool read_into_pipe(const struct open_file *file, struct fs_read_into *into, size_t size_bytes, off_t offset,
                           size_t *ret_read_bytes) {
    size_t done_bytes = 0;
    ssize_t moved_bytes = 1;
    while (done_bytes < size_bytes && moved_bytes > 0) {
        moved_bytes = splice(file->fd, &offset, into->pipe_fd, NULL, size_bytes - done_bytes, SPLICE_F_NONBLOCK);
        done_bytes += moved_bytes > 0 ? (size_t)moved_bytes : 0;
    }
    if (done_bytes == 0)
        return false;
    into->pipe_state = moved_bytes >= 0 ? FS_PIPE_HOLDS_ALL : FS_PIPE_SPOILT;
    if (moved_bytes < 0)
        return false;
    *ret_read_bytes = done_bytes;
    return true;
}

/* Reads until size_bytes or the end of the file. A file system may stop between pages before the end; a read that stops
 * elsewhere has reached it. The kernel takes a short answer for the end of the file, and drops what it has cached
 * behind it. So an error, or a signal, after some bytes is the answer too. A reader of pages then asks for each page
 * alone. */
static int read_whole(int fd, char *memory, size_t size_bytes, off_t offset, size_t *ret_read_bytes) {
    size_t done_bytes = 0;
    ssize_t read_bytes = 1;
    while (done_bytes < size_bytes && read_bytes > 0 &&
           (done_bytes == 0 || (offset + (off_t)done_bytes) % LOWER_PAGE_BYTES == 0)) {
        read_bytes = pread(fd, memory + done_bytes, size_bytes - done_bytes, offset + (off_t)done_bytes);
        if (read_bytes < 0)
            return negative_errno();
        done_bytes += (size_t)read_bytes;
    }
    *ret_read_bytes = done_bytes;
    return 0;
}

int pass_op_read(struct fs_layer *layer, FS_CALL, fs_file file, struct fs_read_into *into, size_t size_bytes,
                 off_t offset, size_t *ret_read_bytes) {
    const struct open_file *open_file = to_open_file(file);
    (void)layer, (void)caller, (void)ino;
    if (is_direct_now(open_file)) { /* as the device reads: only a part at the end of a file, or before a bad block */
        ssize_t read_bytes = pread(open_file->fd, into->memory, size_bytes, offset);
        if (read_bytes < 0)
            return negative_errno();
        *ret_read_bytes = (size_t)read_bytes;
        return 0;
    }
    if (into->pipe_fd >= 0 && read_into_pipe(open_file, into, size_bytes, offset, ret_read_bytes))
        return 0;
    return read_whole(open_file->fd, into->memory, size_bytes, offset, ret_read_bytes);
}

/* A device reads only from aligned memory, and a request's payload follows its header. Never appends: the kernel may
 * send the parts of one large direct write all at once. */
static ssize_t write_direct(const struct open_file *file, const void *data, size_t size_bytes, off_t offset) {
    if ((uintptr_t)data % DIRECT_ALIGNMENT_BYTES == 0)
        return pwrite(file->fd, data, size_bytes, offset);
    CLEANUP_FREE void *aligned = NULL;
    if (posix_memalign(&aligned, DIRECT_ALIGNMENT_BYTES, size_bytes) != 0) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(aligned, data, size_bytes);
    return pwrite(file->fd, aligned, size_bytes, offset);
}

/* The program may have switched O_DIRECT on or off, which only its next write shows. */
static void follow_direct(struct open_file *file, unsigned flags) {
    bool is_wanted = flags & O_DIRECT;
    if (is_wanted == is_direct_now(file))
        return;
    int now = fcntl(file->fd, F_GETFL);
    if (now >= 0 && fcntl(file->fd, F_SETFL, is_wanted ? now | O_DIRECT : now & ~O_DIRECT) == 0)
        __atomic_store_n(&file->is_direct, is_wanted, __ATOMIC_RELAXED);
}

/* The kernel takes a page for written once its request is answered, whatever count the answer has. So this function
 * writes all bytes, or returns the error that prevented it. A signal is no such error, except while we unmount: then
 * the lower file system may hang. */
static int write_whole(struct pass *pass, int fd, const char *data, size_t size_bytes, off_t offset) {
    struct space_wait wait = {0};
    while (size_bytes > 0) {
        ssize_t written_bytes = pwrite(fd, data, size_bytes, offset);
        int err = written_bytes < 0 ? negative_errno() : 0;
        if (err < 0 && !pass_may_have_space(pass, err, &wait) && (err != -EINTR || pass_is_ending(pass)))
            return err;
        if (written_bytes == 0)
            return -EIO;
        size_t done_bytes = written_bytes > 0 ? (size_t)written_bytes : 0;
        data += done_bytes;
        size_bytes -= done_bytes;
        offset += (off_t)done_bytes;
    }
    return 0;
}

/* The kernel does not report the owner of a cached page. Returns one of the users that have the file open for writing.
 * Returns root only if all of them are root, so that no other user uses reserved blocks or exceeds a quota. */
static uid_t find_page_owner(struct pass *pass, const struct inode *inode) {
    uid_t uid = 0;
    pthread_mutex_lock(&pass->open_files_lock);
    for (const struct open_file *file = inode->open_files; file && uid == 0; file = file->next) {
        if (is_open_for_writing(file))
            uid = file->uid;
    }
    pthread_mutex_unlock(&pass->open_files_lock);
    return uid;
}

/* Pages written back end where the file ends, which O_DIRECT refuses: they go through a descriptor without it. The user
 * may not be allowed to open the file again, as one that has become read-only: then O_DIRECT is switched off on the
 * existing descriptor until the next direct write. */
static int write_back(struct pass *pass, struct open_file *file, const void *data, size_t size_bytes, off_t offset,
                      size_t *ret_written_bytes) {
    CLEANUP_FD int fd = -1;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    if (file->appends)
        return -EPERM; /* it would be written elsewhere than the page */
    const uid_t uid = find_page_owner(pass, file->inode);
    if (is_direct_now(file) && (fd = pass_open_inode(pass, file->inode, O_WRONLY)) < 0)
        follow_direct(file, 0);
    int err = identity_enter_to_write_back(pass, uid, &identity);
    if (err == 0)
        err = write_whole(pass, fd >= 0 ? fd : file->fd, data, size_bytes, offset);
    if (err == 0)
        *ret_written_bytes = size_bytes;
    return err;
}

static int write_through(struct pass *pass, const struct fs_caller *caller, struct open_file *file, const void *data,
                         size_t size_bytes, off_t offset, unsigned flags, size_t *ret_written_bytes) {
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = identity_enter_to_write(pass, caller, file->fd, &identity);
    if (err < 0)
        return err;
    follow_direct(file, flags);
    ssize_t written_bytes;
    struct space_wait wait = {0};
    do {
        if (is_direct_now(file)) {
            written_bytes = write_direct(file, data, size_bytes, offset);
        } else if (flags & O_APPEND) {
            const struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size_bytes};
            written_bytes = pwritev2(file->fd, &part, 1, offset, RWF_APPEND);
        } else {
            written_bytes = pwrite(file->fd, data, size_bytes, offset);
        }
        err = written_bytes < 0 ? negative_errno() : 0;
    } while (pass_may_have_space(pass, err, &wait));
    if (err < 0)
        return err;
    *ret_written_bytes = (size_t)written_bytes;
    return 0;
}

int pass_op_write(struct fs_layer *layer, FS_CALL, fs_file file, const void *data, size_t size_bytes, off_t offset,
                  unsigned flags, size_t *ret_written_bytes) {
    struct pass *pass = to_pass(layer);
    struct open_file *open_file = to_open_file(file);
    (void)ino;
    return flags & FS_WRITE_FROM_CACHE
               ? write_back(pass, open_file, data, size_bytes, offset, ret_written_bytes)
               : write_through(pass, caller, open_file, data, size_bytes, offset, flags, ret_written_bytes);
}

int pass_op_fsync(struct fs_layer *layer, FS_CALL, fs_file file, bool data_only) {
    int fd = to_open_file(file)->fd;
    (void)layer, (void)caller, (void)ino;
    return (data_only ? fdatasync(fd) : fsync(fd)) < 0 ? negative_errno() : 0;
}

int pass_op_fallocate(struct fs_layer *layer, FS_CALL, fs_file file, int mode, off_t offset, off_t length) {
    (void)ino;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    struct space_wait wait = {0};
    int err = identity_enter_to_write_untold(to_pass(layer), caller, to_open_file(file)->fd, &identity);
    if (err < 0)
        return err;
    do
        err = fallocate(to_open_file(file)->fd, mode, offset, length) < 0 ? negative_errno() : 0;
    while (pass_may_have_space(to_pass(layer), err, &wait));
    return err;
}

/* Only SEEK_DATA and SEEK_HOLE reach us; the kernel keeps the position. */
int pass_op_lseek(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, int whence, off_t *ret_offset) {
    (void)layer, (void)caller, (void)ino;
    off_t found = lseek(to_open_file(file)->fd, offset, whence);
    if (found < 0)
        return negative_errno();
    *ret_offset = found;
    return 0;
}

int pass_op_copy_file_range(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_ino out_ino,
                            fs_file out_file, off_t out_offset, size_t size_bytes, unsigned flags,
                            size_t *ret_copied_bytes) {
    (void)ino, (void)out_ino;
    CLEANUP_IDENTITY struct identity identity = IDENTITY_OWN;
    int err = identity_enter_to_write_untold(to_pass(layer), caller, to_open_file(out_file)->fd, &identity);
    if (err < 0)
        return err;
    ssize_t copied_bytes;
    struct space_wait wait = {0};
    do {
        copied_bytes = copy_file_range(to_open_file(file)->fd, &offset, to_open_file(out_file)->fd, &out_offset,
                                       size_bytes, flags);
        err = copied_bytes < 0 ? negative_errno() : 0;
    } while (pass_may_have_space(to_pass(layer), err, &wait));
    if (err < 0)
        return err;
    *ret_copied_bytes = (size_t)copied_bytes;
    return 0;
}

/* Files on disk are always ready, so the kernel then stops asking. */
int pass_op_poll(struct fs_layer *layer, FS_CALL, fs_file file, unsigned *ret_events) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_events;
    return -ENOSYS;
}

#ifdef HAVE_FUSE_SYNCFS
int pass_op_syncfs(struct fs_layer *layer, FS_CALL) {
    struct pass *pass = to_pass(layer);
    struct inode *inode;
    (void)caller;
    int err = pass_get_inode(pass, ino, &inode);
    if (err < 0)
        return err;
    CLEANUP_FD int fd = pass_open_inode(pass, inode, O_RDONLY);
    if (fd < 0)
        return fd;
    return syncfs(fd) < 0 ? negative_errno() : 0;
}
#endif

/* ---- Directories: the descriptor and its lifetime; pass_dir.c reads them ---- */

/* The root of a mount that is shown empty may only be looked at. */
static int open_empty(struct pass *pass, fs_ino ino) {
    CLEANUP_PATH_FD struct path_fd path = PATH_FD_NONE;
    int err = pass_open_path_to_stat(pass, ino, &path);
    if (err < 0)
        return err;
    int fd = fcntl(path.fd, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? negative_errno() : fd;
}

int pass_op_opendir(struct fs_layer *layer, FS_CALL, fs_file *ret_file) {
    struct pass *pass = to_pass(layer);
    struct inode *inode;
    int err = pass_get_inode(pass, ino, &inode);
    if (err == 0)
        err = pass_check_room(pass, caller);
    if (err < 0)
        return err;
    CLEANUP_FD int fd =
        pass_is_empty(pass, inode) ? open_empty(pass, ino) : open_checked(pass, caller, inode, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? fd : pass_add_open_file(pass, inode, caller, &fd, O_RDONLY, ret_file);
}

int pass_op_releasedir(struct fs_layer *layer, FS_CALL, fs_file file) {
    return pass_op_release(layer, caller, ino, file);
}

int pass_op_fsyncdir(struct fs_layer *layer, FS_CALL, fs_file file, bool data_only) {
    return pass_op_fsync(layer, caller, ino, file, data_only);
}
