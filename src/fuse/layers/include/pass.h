/* The pass layer: forwards every operation to a directory tree, so that a mount of it behaves exactly like
 * the tree itself. Knows nothing of profiling, FUSE requests or replies. */
#ifndef PASS_H
#define PASS_H

#include "fs_ops.h"

struct pass;

struct pass_options {
    int root_fd; /* the lower directory, opened O_PATH; the layer takes it over, also on error */

    /* Who checks permissions. False: the kernel does before a request is made (default_permissions), and only
     * ops that create things, or whose outcome depends on who asks, act as the caller. True: nobody has, so
     * every op that names a file acts as the caller. Either only works with root's privileges. */
    bool check_as_caller;

    /* File systems through which the kernel is looked at and controlled (proc, sysfs, cgroup and the like) are shown as
     * they are. False: as empty directories, since others than the daemon's user may come. */
    bool shows_pseudo;
    /* Reading through the mount moves no access times of lower files, or of directories. Unless the daemon is root it
     * can see to that only for what it owns; times of symbolic links move nevertheless. */
    bool no_atime;
    bool no_directory_atime;

    /* It is remembered where inodes were looked up last, and as what: for pass_last_path_of() and pass_directory_of().
     */
    bool keeps_names;

    size_t forgotten_inodes_max; /* inodes by file handle that are remembered after the kernel forgot them, so
                                  * that file handles taken through the mount stay valid */

    /* Has call(data) called in a second by another thread, which no op of this layer runs on. Returns false if it
     * cannot. NULL: nobody can, and no descriptor outlives the op that opened it for a moment.
     * Threads: any */
    bool (*call_later)(void (*call)(void *data), void *data);

    /* Asks the kernel to forget those of these inodes that nobody uses. NULL: it cannot be asked. Called by that other
     * thread. */
    void (*ask_to_forget)(void *context, const fs_ino *inos, size_t count);
    void *context; /* of ask_to_forget */
};

/* Errors:  what failed on the lower directory, -ENOMEM, -EACCES it is on a file system that is shown empty
 * Owner:   the caller destroys *ret_pass */
int pass_create(const struct pass_options *options, struct pass **ret_pass);
void pass_destroy(struct pass *pass);
struct fs_layer *pass_layer(struct pass *pass);

/* The device number of the mount that this layer serves: a lower path that leads there gives ELOOP instead of a
 * deadlock. 0: none yet.
 * Threads: any */
void pass_set_own_device(struct pass *pass, dev_t device);

/* What our own mount forbids (nosuid, nodev) is known from now on, also when it changes: files on lower mounts that
 * forbid no more are shown as they are. Until this is called, and where /proc does not tell, it is taken to forbid
 * nothing. After pass_set_own_device().
 * Threads: none may run an op */
void pass_watch_own_mount(struct pass *pass);

/* Calls apply(data) with the rights of the caller towards file systems. Returns what that returns.
 * Errors:  -EPERM the caller's ids do not exist in the daemon's user namespace, -ENOMEM
 * Threads: any */
int pass_act_as(const struct pass *pass, const struct fs_caller *caller, int (*apply)(void *data), void *data);

/* From now on an interrupted op gives up, also where it would try again: the mount is ending.
 * Threads: any */
void pass_end(struct pass *pass);

/* The descriptor of an open file, borrowed until it is released. Threads: any */
int pass_file_fd(fs_file file);

/* The lower path of an inode that an op works on, if it is a directory that is held, or a file that is open: no file
 * system is asked, so this works while all hang. If the op ends meanwhile, NULL or that path.
 * Owner:   the caller frees it; NULL: not known.
 * Threads: any */
char *pass_path_of(struct pass *pass, fs_ino ino);

/* The same of any inode, also between ops: where that does not know it, the lower file system is asked for what it has
 * in memory, which may hang as that does. A path may be none that leads below the root. */
char *pass_ask_path_of(struct pass *pass, fs_ino ino);

/* The path of any inode as it was last looked up; if it was renamed since, the old one. asks: the lower file system,
 * which may hang: where nothing is there any more, " (deleted)" is behind it. Without keeps_names: none.
 * Owner:   the caller frees it; NULL: not known, or not any more.
 * Threads: any */
char *pass_last_path_of(struct pass *pass, fs_ino ino, bool asks);

/* The directory that an inode was last looked up in, or that it is itself. depth_max: of one with more components in
 * its path that with so many which it is in; 0: any. 0: not known, or not any more; names must be kept.
 * Threads: any; takes no lock and asks nobody */
fs_ino pass_directory_of(struct pass *pass, fs_ino ino, unsigned depth_max);

#endif
