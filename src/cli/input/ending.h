/* Mounts that are just ending. umount(8) returns before the daemon has written its final profile: whoever looks at
 * that file in the next command must not see the one before, or none. */
#ifndef ENDING_H
#define ENDING_H

/* Waits, a few seconds at most, while some osproffs whose mount is gone has yet to write its final profile to path.
 * Tells the user if it still has. */
void ending_wait_for_profile(const char *path);

#endif
