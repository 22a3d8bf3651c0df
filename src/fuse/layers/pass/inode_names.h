/* The names by which inodes without a usable file handle are found: names in directories that are found in the same
 * way.
 *
 * An inode's names are in a list, the latest first. Each name keeps its directory in the table (struct inode,
 * children). A hash table finds inodes by their first names. A directory has only one name, and names form no cycle.
 * Threads: under the lock of the inode table */
#ifndef INODE_NAMES_H
#define INODE_NAMES_H

#include "inode_slots.h"

/* Errors: -ENOMEM */
int inode_names_init(struct inode_table *table);

/* Allocates a name, for inode_names_put(). NULL: no memory */
struct inode_name *inode_name_create(const char *text);

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

/* Makes `name` in `directory` the first name of the inode. If another inode has this first name, it loses the name. If
 * `directory` was below the inode, the uppermost directory between them has moved, and loses its old name.
 * Owner:   takes name over */
void inode_names_put(struct inode_table *table, struct inode *inode, struct inode *directory, struct inode_name *name,
                     struct inode_names_lost *lost);

/* Takes the first name away. Returns its directory, which the caller must release. */
struct inode *inode_names_drop_first(struct inode_table *table, struct inode *inode);

/* Frees all names, without releasing their directories. */
void inode_names_free(struct inode *inode);

/* The directory of the first name; NULL: there is no name. */
struct inode *inode_names_directory(const struct inode_table *table, const struct inode *inode);

#endif
