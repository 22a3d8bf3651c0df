/* Under which names inodes were looked up last, for telling what they were called when they are gone.
 *
 * A table of a fixed size with a place for each number's hash: the latest takes it. Nobody waits: places have a version
 * that is odd while somebody writes (a sequence lock), who finds it so leaves it. */
#ifndef SEEN_NAMES_H
#define SEEN_NAMES_H

#include <limits.h>

#include "fs_ops.h"

#define SEEN_NAMES_MAX 4096U
#define SEEN_NAME_WORDS 13U
#define SEEN_NAME_SIZE (SEEN_NAME_WORDS * sizeof(uint64_t)) /* with its NUL; longer ones are not kept */

struct seen_name {
    uint64_t version; /* atomic, as all; 0: nothing has been noted here */
    fs_ino ino;
    uint64_t above; /* as inode_table_above() */
    uint64_t name[SEEN_NAME_WORDS];
};

struct seen_names {
    struct seen_name places[SEEN_NAMES_MAX];
};

/* NULL: no memory. Owner: the caller frees it with free() */
struct seen_names *seen_names_create(void);

/* Threads: any */
void seen_names_note(struct seen_names *names, fs_ino ino, uint64_t above, const char *name);

/* What was noted of it last. False: nothing is known any more. Threads: any */
bool seen_names_find(const struct seen_names *names, fs_ino ino, uint64_t *ret_above, char ret_name[SEEN_NAME_SIZE]);

#endif
