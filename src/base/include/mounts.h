/* Mounts: their table (proc_pid_mountinfo(5)), what the kernel says of a FUSE mount, unmounting. Except for unmounting,
 * this asks no file system and no daemon, so it cannot hang. */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Reads the table line by line. */
struct mounts_table {
    FILE *stream; /* NULL: an empty table */
    char *line;   /* the latest one read */
    size_t line_bytes;
};

/* Opens the mount table of this process. Errors: those of open(2); *ret_table is then empty, and may be read */
int mounts_open(struct mounts_table *ret_table);

/* The same for another process, which may be in another mount namespace. 0: this one */
int mounts_open_of(pid_t process, struct mounts_table *ret_table);

/* The same by a descriptor of such a file, from its beginning. The caller keeps the descriptor */
int mounts_open_at(int fd, struct mounts_table *ret_table);

void mounts_close(struct mounts_table *table);

#define CLEANUP_MOUNTS __attribute__((cleanup(mounts_close)))

/* A mount. Owner: the table, until the next one is read, or searched */
struct mounts_entry {
    uint64_t id;      /* of the mount, as in fdinfo of what is open there */
    uint64_t parent;  /* the mount that its path is in */
    dev_t device;     /* of the file system */
    const char *root; /* what of the file system is mounted: "/", or the directory of a bind mount or subvolume */
    const char *path;
    char *options;      /* of the mount, "rw,nosuid"; the caller may change them */
    const char *type;   /* "ext4", "fuse.osproffs" */
    const char *source; /* what is mounted */
    char *fs_options;   /* of the file system, "rw,allow_other"; the caller may change them */
};

/* The next mount, in the order in which they were made. Returns false at the end */
bool mounts_next(struct mounts_table *table, struct mounts_entry *ret_entry);

/* The mount that a path is in, as a walk along the path finds it: a mount that another one hides is not found, whether that
 * is at the same place or above. Like the next two, reads the whole table again.
 * path: normalised, symbolic links resolved */
bool mounts_of_path(struct mounts_table *table, const char *path, struct mounts_entry *ret_entry);

/* The mount at a path; false: the path is no mount point. */
bool mounts_at(struct mounts_table *table, const char *path, struct mounts_entry *ret_entry);

/* The first mount of a file system, and that of a number. */
bool mounts_of_device(struct mounts_table *table, dev_t device, struct mounts_entry *ret_entry);
bool mounts_of_id(struct mounts_table *table, uint64_t id, struct mounts_entry *ret_entry);

/* The first one of a type, "cgroup2". */
bool mounts_of_type(struct mounts_table *table, const char *type, struct mounts_entry *ret_entry);

/* True if a list of options ("rw,nosuid") has that one. */
bool mounts_has_option(const char *options, const char *option);

/* The flags (ST_NOSUID, ST_NODEV) that all mounts of a device in the table have. Reads the table to its end */
unsigned long mounts_forbidden(struct mounts_table *table, dev_t device);

/* The number that the kernel itself has for a device. */
uint32_t mounts_kernel_device(dev_t device);
dev_t mounts_device_of_kernel(uint32_t device);

/* The device of the file system at a path. This asks no daemon or server. Errors: those of statx(2) */
int mounts_device_at(const char *path, dev_t *ret_device);

/* A device as calibrations name it: the source of the mount, "/dev/sda1" or "server:/export". A source that is a mere
 * word ("overlay") gets the mount point too, "overlay on /". */
struct mounts_device {
    char *name;
    bool is_local;    /* a file below /dev */
    bool is_profiled; /* a mount of osproffs */
};

/* The device of the file system that holds a path (mounts_of_path()).
 * through: for a mount of osproffs, return the device of the file system below it: that one causes the latencies
 * Owner:   the caller frees ret_device->name
 * Errors:  -ENOENT no mount holds it, -ENOMEM */
int mounts_find_device(struct mounts_table *table, const char *path, bool through, struct mounts_device *ret_device);

/* True if a FUSE daemon serves the mount. */
bool mounts_is_fuse(const struct mounts_entry *entry);

/* True if the file system waits for a server or a daemon. */
bool mounts_may_hang(const struct mounts_entry *entry);

/* True for types of file systems that hold no files, such as "proc" (pseudo_filesystems.h). */
bool mounts_is_pseudo(const char *type);

/* True if the mount is one of osproffs. */
bool mounts_is_profiled(const struct mounts_entry *entry);

/* The number of requests without an answer of a FUSE mount: those the daemon is serving, and those that wait in the
 * kernel's queue, from /sys/fs/fuse/connections (fusectl).
 * device:  of the mount's file system
 * Errors:  -ENOENT there is no such mount, or fusectl is not mounted; -EACCES it is another user's; -EBADMSG */
int mounts_waiting_requests(dev_t device, uint64_t *ret_count);

/* Unmounts what is mounted at a path; a symbolic link is not followed. For an ordinary user fusermount3 does it, which
 * unmounts FUSE mounts of its user.
 * flags:   of umount2(2); fusermount3 knows only MNT_DETACH
 * Errors:  those of umount2(2); -ENOENT there is no fusermount3, -EPERM fusermount3 refused */
int mounts_unmount(const char *path, int flags);

#endif
