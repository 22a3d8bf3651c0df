/* Unmounting, as root and as an ordinary user. */
#ifndef UNMOUNT_H
#define UNMOUNT_H

/* Unmounts what is mounted at a path; a symbolic link is not followed. For an ordinary user fusermount3 does it, which
 * unmounts FUSE mounts of its user.
 * flags:   of umount2(2); fusermount3 knows only MNT_DETACH
 * Errors:  those of umount2(2); -ENOENT there is no fusermount3, -EPERM fusermount3 refused */
int unmount_path(const char *path, int flags);

#endif
