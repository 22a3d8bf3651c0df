/* Which files count: all, or those below some directories; of them regular files, directories and symbolic links, or
 * everything.
 *
 * Among all files, those of pseudo file systems (proc, sysfs, ...) do not count. By its name a file is there if the
 * text begins with /proc, /sys or /dev, except for /dev/shm. By a descriptor it is if the kernel says so of its device:
 * so /proc of a container is found too. */
#ifndef SCOPE_H
#define SCOPE_H

#include <linux/stat.h>
#include <stdbool.h>
#include <stddef.h>

#include "below.h"

struct scope {
    bool has_all;        /* no directories: paths of descriptors are not asked for */
    bool has_everything; /* files of any kind */
};

extern struct scope scope;

/* Reads the variable of the environment from its second character on (preload.h), up to the path of the live file, and
 * cuts it into strings, which must stay. Returns the path of the live file; NULL: the text is malformed */
char *scope_parse(char *text);

/* A quick look at an absolute path. False: it is of no pseudo file system, except for one like "/a/../proc", of which
 * nobody knows before where it leads. */
static inline bool scope_may_be_pseudo(const char *path) {
    path++;
    return (*path == 'p' && path[1] == 'r') || (*path == 's' && path[1] == 'y') || (*path == 'd' && path[1] == 'e') ||
           *path == '.' || *path == '/';
}

/* Where the file of a name is. base, path: as for below_place_of() */
enum below_place scope_place_of(const char *base, const char *path);

/* Where all files below a directory are. BELOW_ABOVE: that differs */
enum below_place scope_place_below(const char *directory);

/* This many bytes at the beginning of a path suffice to see where it is. */
size_t scope_prefix_bytes(void);

/* True if files of this kind count. mode: of statx(2) */
bool scope_has_kind(unsigned mode);

/* True if files on the device of this descriptor count, among all. attributes: its device. The kernel is asked once for
 * each device. May change errno */
bool scope_has_device(int fd, const struct statx *attributes);

#endif
