/* The pass layer: forwards every operation to a directory tree, so that a mount of it behaves exactly like
 * the tree itself. Knows nothing of profiling, FUSE requests or replies. */
#ifndef PASS_H
#define PASS_H

#include "fs_ops.h"

struct pass;

struct pass_options {
    int root_fd; /* the lower directory, opened O_PATH; the layer takes it over, also on error */

    /* Who checks permissions. False: the kernel, before it makes a request (default_permissions); then only ops that
     * create something, or whose result depends on the caller, act as the caller. True: nobody has checked, so every op
     * that uses a name acts as the caller. In both cases acting as the caller requires root's privileges. */
    bool check_as_caller;

    /* True: pseudo file systems (proc, sysfs, cgroup and the like) are shown as they are. False: they are shown as
     * empty directories, because users other than the daemon's may have access. */
    bool shows_pseudo;
    /* Reading through the mount does not update access times of lower files and directories. If the daemon is not root,
     * this works only for files that it owns; access times of symbolic links change nevertheless. */
    bool no_atime;
    bool no_directory_atime;

    bool keeps_names; /* pass_keep_names() from the beginning on */

    size_t forgotten_inodes_max; /* inodes by file handle that are remembered after the kernel forgot them, so that file
                                  * handles taken through the mount stay valid */

    /* Arranges that another thread, which runs no op of this layer, calls call(data) within a second. Returns false if
     * it cannot. NULL: there is no such thread, and each op closes its descriptors itself.
     * Threads: any */
    bool (*call_later)(void (*call)(void *data), void *data);

    /* Asks the kernel to forget those of these inodes that are not in use. NULL: not possible. Called by that other
     * thread. */
    void (*ask_to_forget)(void *context, const fs_ino *inos, size_t count);
    void *context; /* for ask_to_forget */
};

/* Errors:  those of opening the lower directory, -ENOMEM, -EACCES it is on a file system that is shown empty
 * Owner:   the caller destroys *ret_pass */
int pass_create(const struct pass_options *options, struct pass **ret_pass);
void pass_destroy(struct pass *pass);
struct fs_layer *pass_layer(struct pass *pass);

/* Sets the device number of the mount that this layer serves: a lower path that leads there gives ELOOP instead of a
 * deadlock. 0: none yet.
 * Threads: any */
void pass_set_own_device(struct pass *pass, dev_t device);

/* From now on reads the flags nosuid and nodev of our own mount, also when they change. Files on lower mounts with the
 * same flags or fewer are then shown as they are. Until this is called, or if /proc does not show the flags, our mount
 * is assumed to have none. After pass_set_own_device().
 * Threads: none may run an op */
void pass_watch_own_mount(struct pass *pass);

/* Calls apply(data) with the caller's rights for file systems. Returns what that returns.
 * Errors:  -EPERM the caller's ids do not exist in the daemon's user namespace, -ENOMEM
 * Threads: any */
int pass_act_as(const struct pass *pass, const struct fs_caller *caller, int (*apply)(void *data), void *data);

/* From now on the directory and the name with which inodes are looked up are remembered, for pass_last_path_of() and
 * pass_directory_of(); or no more. What was remembered before is forgotten.
 * Errors:  -ENOMEM; nothing has changed
 * Threads: any, one at a time, while ops are called */
int pass_keep_names(struct pass *pass, bool keeps);

/* From now on an interrupted op gives up instead of retrying: the mount is ending.
 * Threads: any */
void pass_end(struct pass *pass);

/* The descriptor of an open file, borrowed until it is released. Threads: any */
int pass_file_fd(fs_file file);

/* The lower path of the inode of a running op, if it is an open file or a held directory. No file system is asked, so
 * this works while all of them hang. If the op ends meanwhile, returns NULL or that path.
 * Owner:   the caller frees it; NULL: not known.
 * Threads: any */
char *pass_path_of(struct pass *pass, fs_ino ino);

/* The same for any inode, also between ops. If the path is not known, the lower file system is asked for what it has in
 * memory, which may hang if that hangs. The path may be outside the root. */
char *pass_ask_path_of(struct pass *pass, fs_ino ino);

/* The path with which an inode was last looked up; if it was renamed since, the old one. asks: check it in the lower
 * file system, which may hang, and append " (deleted)" if nothing is there any more. NULL unless names are kept.
 * Owner:   the caller frees it; NULL: not known, or not any more.
 * Threads: any */
char *pass_last_path_of(struct pass *pass, fs_ino ino, bool asks);

/* The directory in which an inode was last looked up; for a directory, itself. depth_max: if its path has more
 * components, the directory above it with that many; 0: no limit. Returns 0 if it is not known, or not any more;
 * requires that names are kept. A directory that was last looked up before they were counts as its own, whatever its
 * depth.
 * Threads: any; takes no lock and makes no system call */
fs_ino pass_directory_of(struct pass *pass, fs_ino ino, unsigned depth_max);

#endif
