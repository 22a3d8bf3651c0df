/* By which names inodes are found that have no file handle to be opened by: names in directories that are inodes of the
 * same kind.
 *
 * An inode's names are in a list, the latest first. Each name holds its directory in the table (struct inode,
 * children). Inodes are also found by their first names. A directory has one name only, and names lead in no circle.
 * Threads: under the lock of the inode table */
#ifndef INODE_NAMES_H
#define INODE_NAMES_H

#include "inode_slots.h"

/* Errors: -ENOMEM */
int inode_names_init(struct inode_table *table);

/* Memory for a name, for inode_names_put(). NULL: no memory */
struct inode_name *inode_name_create(const char *text);

/* True for the first name of an inode. */
bool inode_names_begin_with(const struct inode *inode, const struct inode *directory, const char *text);

/* The inode with that first name; NULL: none. */
struct inode *inode_names_find(const struct inode_table *table, const struct inode *directory, const char *text);

/* What a new name has cost others. */
struct inode_names_lost {
    struct inode *directories[5]; /* of names that went; the caller must release them, inode_table_release_child() */
    size_t directory_count;
    struct inode *losers[2]; /* inodes that have a name less */
    size_t loser_count;
};

/* Makes it the first name. Another inode with that first name loses it, and so does a directory above that cannot be
 * where its name says, since it is below.
 * Owner:   takes name over */
void inode_names_put(struct inode_table *table, struct inode *inode, struct inode *directory, struct inode_name *name,
                     struct inode_names_lost *lost);

/* Takes the first name away. Returns its directory, which the caller must release. */
struct inode *inode_names_drop_first(struct inode_table *table, struct inode *inode);

/* Frees all names, and releases nothing. */
void inode_names_free(struct inode *inode);

/* The directory of the first name; NULL: there is no name. */
struct inode *inode_names_directory(const struct inode_table *table, const struct inode *inode);

#endif
