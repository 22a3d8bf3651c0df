/* Lists of names, and a hash table of first names, chained through the inodes. */
#include "inode_slots.h"
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define NAMES_MAX 8

void inode_names_free(struct inode *inode) {
    struct inode_name *next = inode_names_of(inode);
    while (next) {
        struct inode_name *name = next;
        next = name->next;
        free(name);
    }
}

/* ---- First names ---- */

static size_t chain_of(const struct inode_table *table, uint32_t directory, const char *text) {
    uint64_t hash = hash_text(HASH_BEGIN ^ directory, text);
    return (hash ^ hash >> 32) & (table->name_hash_size - 1);
}

static bool is_name(const struct inode_name *name, uint32_t directory, const char *text) {
    return name && name->directory == directory && strcmp(name->text, text) == 0;
}

static void hash_insert(struct inode_table *table, struct inode *inode) {
    const struct inode_name *name = inode_names_of(inode);
    uint32_t *head = &table->name_hash[chain_of(table, name->directory, name->text)];
    inode->list.named.hash_next = *head;
    *head = inode->slot + 1;
}

int inode_names_init(struct inode_table *table) {
    table->name_hash_size = INODE_HASH_MIN;
    table->name_hash = calloc(table->name_hash_size, sizeof(*table->name_hash));
    return table->name_hash ? 0 : -ENOMEM;
}

/* Counts one more or one less, and adapts the number of chains; without memory the old ones stay. */
static void count_first_name(struct inode_table *table, int more) {
    table->name_count += (size_t)more;
    const size_t size = inode_hash_wanted(table->name_hash_size, table->name_count);
    const size_t chain_count = table->name_hash_size;
    uint32_t *chains = table->name_hash;
    uint32_t *resized = size != chain_count ? calloc(size, sizeof(*resized)) : NULL;
    if (!resized)
        return;
    table->has_shrunk |= size < chain_count;
    table->name_hash = resized;
    table->name_hash_size = size;
    for (size_t chain = 0; chain < chain_count; chain++) {
        for (uint32_t next = chains[chain]; next;) {
            struct inode *inode = inode_at_slot(table, next - 1);
            next = inode->list.named.hash_next;
            hash_insert(table, inode);
        }
    }
    free(chains);
}

static void hash_add(struct inode_table *table, struct inode *inode) {
    hash_insert(table, inode);
    count_first_name(table, 1);
}

static void hash_remove(struct inode_table *table, struct inode *inode) {
    const struct inode_name *name = inode_names_of(inode);
    uint32_t *link = &table->name_hash[chain_of(table, name->directory, name->text)];
    while (*link != inode->slot + 1)
        link = &inode_at_slot(table, *link - 1)->list.named.hash_next;
    *link = inode->list.named.hash_next;
    count_first_name(table, -1);
}

bool inode_names_begin_with(const struct inode *inode, const struct inode *directory, const char *text) {
    return is_name(inode_names_of(inode), directory->slot, text);
}

struct inode *inode_names_find(const struct inode_table *table, const struct inode *directory, const char *text) {
    uint32_t next = table->name_hash[chain_of(table, directory->slot, text)];
    while (next) {
        struct inode *inode = inode_at_slot(table, next - 1);
        if (is_name(inode_names_of(inode), directory->slot, text))
            return inode;
        next = inode->list.named.hash_next;
    }
    return NULL;
}

/* ---- Lists ---- */

struct inode *inode_names_directory(const struct inode_table *table, const struct inode *inode) {
    const struct inode_name *name = inode_names_of(inode);
    return name ? inode_at_slot(table, name->directory) : NULL;
}

struct inode *inode_names_drop_first(struct inode_table *table, struct inode *inode) {
    struct inode_name *first = inode_names_of(inode);
    struct inode *directory = inode_at_slot(table, first->directory);
    hash_remove(table, inode);
    inode->handle.named.names = first->next;
    free(first);
    if (inode->handle.named.names)
        hash_add(table, inode);
    return directory;
}

static void lose_first(struct inode_table *table, struct inode *inode, struct inode_names_lost *lost) {
    lost->directories[lost->directory_count++] = inode_names_drop_first(table, inode);
    lost->losers[lost->loser_count++] = inode;
}

/* A directory cannot be below itself. So if the new directory was below the inode, the old name of the uppermost
 * directory between them is void. An inode without children needs no walk, so a new inode is cheap at any depth. */
static void break_circle(struct inode_table *table, const struct inode *inode, struct inode *directory,
                         struct inode_names_lost *lost) {
    struct inode *above = directory;
    if (inode->list.named.children == 0)
        return;
    while (above && above != inode) {
        directory = above;
        above = inode_names_directory(table, directory);
    }
    if (above)
        lose_first(table, directory, lost);
}

/* Takes a later name out of the list: the same name, or the one too many. */
static void drop_later(struct inode_table *table, struct inode *inode, const struct inode_name *same,
                       struct inode_names_lost *lost) {
    struct inode_name **link = &inode->handle.named.names;
    for (int count = 1; *link; count++) {
        struct inode_name *name = *link;
        if (is_name(name, same->directory, same->text) || count == NAMES_MAX) {
            *link = name->next;
            lost->directories[lost->directory_count++] = inode_at_slot(table, name->directory);
            free(name);
            return;
        }
        link = &name->next;
    }
}

int inode_names_put(struct inode_table *table, struct inode *inode, struct inode *directory, const char *text,
                    struct inode_names_lost *lost) {
    size_t size_bytes = strlen(text) + 1;
    struct inode_name *name = malloc(sizeof(*name) + size_bytes);
    if (!name)
        return -ENOMEM;
    memcpy(name->text, text, size_bytes);
    name->directory = directory->slot;
    struct inode *earlier = inode_names_find(table, directory, text);
    if (earlier)
        lose_first(table, earlier, lost);
    if (S_ISDIR(inode->type)) {
        if (inode_names_of(inode))
            lost->directories[lost->directory_count++] = inode_names_drop_first(table, inode);
        break_circle(table, inode, directory, lost);
    }
    if (inode_names_of(inode)) {
        hash_remove(table, inode);
        drop_later(table, inode, name, lost);
    }
    name->next = inode->handle.named.names;
    inode->handle.named.names = name;
    directory->list.named.children++;
    hash_add(table, inode);
    return 0;
}
