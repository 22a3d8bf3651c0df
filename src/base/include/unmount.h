/* Unmounting, also as who is not root. */
#ifndef UNMOUNT_H
#define UNMOUNT_H

/* Unmounts what is mounted at a path, not what a symbolic link there leads to. Who is not root has fusermount3 do it,
 * which takes FUSE mounts of its user.
 * flags:   of umount2(2); fusermount3 knows of MNT_DETACH only
 * Errors:  those of umount2(2); -ENOENT there is no fusermount3, -EPERM it would not */
int unmount_path(const char *path, int flags);

#endif
