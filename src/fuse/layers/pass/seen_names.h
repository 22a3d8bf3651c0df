/* The names under which inodes were looked up last, for naming inodes that are gone.
 *
 * A table of fixed size, indexed by a hash of the inode's number; the latest entry overwrites. Nobody waits: each place
 * has a version that is odd while a thread writes (a sequence lock), and a thread that finds it odd leaves the place
 * alone. */
#ifndef SEEN_NAMES_H
#define SEEN_NAMES_H

#include <limits.h>

#include "fs_ops.h"

#define SEEN_NAMES_MAX 4096U
#define SEEN_NAME_WORDS 13U
#define SEEN_NAME_SIZE (SEEN_NAME_WORDS * sizeof(uint64_t)) /* with its NUL; longer names are not kept */

struct seen_name {
    uint64_t version; /* atomic, like all; 0: the place is empty */
    fs_ino ino;
    uint64_t above; /* see inode_table_above() */
    uint64_t name[SEEN_NAME_WORDS];
};

struct seen_names {
    struct seen_name places[SEEN_NAMES_MAX];
};

/* NULL: no memory. Owner: the caller frees it with free() */
struct seen_names *seen_names_create(void);

/* Forgets all names, except names that another thread is noting just now. Threads: any */
void seen_names_clear(struct seen_names *names);

/* Threads: any */
void seen_names_note(struct seen_names *names, fs_ino ino, uint64_t above, const char *name);

/* The latest name of the inode. Returns false if it is not known any more. Threads: any */
bool seen_names_find(const struct seen_names *names, fs_ino ino, uint64_t *ret_above, char ret_name[SEEN_NAME_SIZE]);

#endif
