/* What the files of the inode table share. All of it is under the table's lock unless it says otherwise. */
#ifndef INODE_SLOTS_H
#define INODE_SLOTS_H

#include <pthread.h>
#include <string.h>

#include "inode_chunks.h"
#include "path_fds.h"

#define INODE_HASH_MIN 1024U           /* chains; a power of two, as all sizes of hash tables */
#define INODE_HASH_CHAINS_PER_INODE 8U /* with more chains the table shrinks */
#define INODE_REMOVAL_COUNTERS 256U
#define INODE_CLOSING_MAX 16U

struct inode_name {
    struct inode_name *next; /* of the same inode */
    uint32_t directory;      /* slot */
    char text[];
};

struct inode_table {
    pthread_mutex_t lock;
    struct inode_chunks chunks;
    uint32_t *hash; /* by chain: slot + 1 of the first inode */
    size_t hash_size;
    size_t inode_count;
    size_t path_fd_count; /* of inodes with handles */
    size_t path_fds_max;
    size_t forgotten_count;
    size_t forgotten_max;
    struct mount_table *mounts;
    bool keeps_above;         /* atomic */
    uint32_t forgotten_first; /* slot + 1; the inode forgotten longest ago */
    uint32_t forgotten_last;
    struct path_fds path_fds; /* of inodes that are found by name */
    uint32_t *name_hash;      /* by chain of first names: slot + 1 of the first inode */
    size_t name_hash_size;
    size_t name_count;              /* of first names */
    int closing[INODE_CLOSING_MAX]; /* descriptors to close without the lock */
    unsigned closing_count;
    unsigned closing_now;                      /* now being closed, from `closing` or elsewhere; atomic, as gone */
    size_t gone;                               /* closed so far */
    bool has_named;                            /* some inode has been found by name; atomic */
    bool has_shrunk;                           /* much was freed: malloc_trim() is called without the lock */
    uint32_t removals[INODE_REMOVAL_COUNTERS]; /* by directory; atomic */
};

/* Threads: any */
static inline struct inode *inode_at_slot(const struct inode_table *table, uint32_t slot) {
    return inode_chunks_at(&table->chunks, slot);
}

static inline uint32_t *inode_removals_of(struct inode_table *table, const struct inode *directory) {
    return &table->removals[directory->slot % INODE_REMOVAL_COUNTERS];
}

/* Only in directories that are found by name too: others may be forgotten earlier. */
static inline bool inode_place_is_usable(const struct inode_place *place) {
    return place->directory->is_by_name && strlen(place->name) < INODE_NAME_SIZE;
}

/* Frees a directory that has lost a name, and those above it, if the kernel does not know them and no name is in
 * them. */
void inode_table_release_child(struct inode_table *table, struct inode *directory);

/* The number of chains that a hash table of that size should have for so many inodes. */
static inline size_t inode_hash_wanted(size_t size, size_t count) {
    if (count > size)
        return 2 * size;
    return count < size / INODE_HASH_CHAINS_PER_INODE && size > INODE_HASH_MIN ? size / 2 : size;
}

/* Unlocks, then closes the descriptors to close: closing the last one of a deleted file frees its blocks. */
void inode_table_unlock(struct inode_table *table);
void inode_table_close_later(struct inode_table *table, int fd);

/* Gives the inode, found by name, a descriptor that may be taken away again. Errors: -ENOMEM; *fd stays the caller's */
int inode_table_give_path_fd(struct inode_table *table, struct inode *inode, int *fd);

/* Takes the inode's descriptor away, to be closed later. */
void inode_table_drop_path_fd(struct inode_table *table, struct inode *inode);

/* Makes it the inode's first name. Errors: -ENOMEM */
int inode_table_name(struct inode_table *table, struct inode *inode, const struct inode *directory, const char *text);

/* Takes the first name away. */
void inode_table_drop_name(struct inode_table *table, struct inode *inode);

/* ---- Names: inode_names.c ----
 *
 * The names by which inodes without a usable file handle are found: names in directories that are found in the same
 * way.
 *
 * An inode's names are in a list, the latest first. Each name keeps its directory in the table (struct inode,
 * children). A hash table finds inodes by their first names. A directory has only one name, and names form no cycle. */

/* Errors: -ENOMEM */
int inode_names_init(struct inode_table *table);

/* True if this is the first name of the inode. */
bool inode_names_begin_with(const struct inode *inode, const struct inode *directory, const char *text);

/* The inode with that first name; NULL: none. */
struct inode *inode_names_find(const struct inode_table *table, const struct inode *directory, const char *text);

/* What other inodes lose by a new name. */
struct inode_names_lost {
    struct inode *directories[5]; /* of the names removed; the caller must release them, inode_table_release_child() */
    size_t directory_count;
    struct inode *losers[2]; /* inodes that lost a name */
    size_t loser_count;
};

/* Makes `text` in `directory` the first name of the inode. If another inode has this first name, it loses the name. If
 * `directory` was below the inode, the uppermost directory between them has moved, and loses its old name.
 * Errors:  -ENOMEM */
int inode_names_put(struct inode_table *table, struct inode *inode, struct inode *directory, const char *text,
                    struct inode_names_lost *lost);

/* Takes the first name away. Returns its directory, which the caller must release. */
struct inode *inode_names_drop_first(struct inode_table *table, struct inode *inode);

/* Frees all names, without releasing their directories. */
void inode_names_free(struct inode *inode);

/* The directory of the first name; NULL: there is no name. */
struct inode *inode_names_directory(const struct inode_table *table, const struct inode *inode);

#endif
