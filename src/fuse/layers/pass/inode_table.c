/* Slots in chunks that never move, a hash table of slot numbers, and a list of forgotten inodes. */
#include "inode_table.h"

#include <malloc.h>
#include <string.h>

#include "base.h"
#include "inode_slots.h"
#include "mount_table.h"

#define RESTING_CHUNKS_MAX 64U /* chunks in which all inodes are forgotten */

int inode_table_create(size_t path_fds_max, size_t forgotten_max, struct mount_table *mounts,
                       struct inode_table **ret_table) {
    struct inode_table *table = calloc(1, sizeof(*table));
    if (!table)
        return -ENOMEM;
    table->path_fds_max = path_fds_max;
    table->forgotten_max = forgotten_max;
    table->mounts = mounts;
    table->hash_size = INODE_HASH_MIN;
    table->hash = calloc(table->hash_size, sizeof(*table->hash));
    if (inode_chunks_init(&table->chunks) < 0 || !table->hash || inode_names_init(table) < 0) {
        inode_chunks_finish(&table->chunks);
        free(table->hash);
        free(table);
        return -ENOMEM;
    }
    path_fds_init(&table->path_fds);
    pthread_mutex_init(&table->lock, NULL);
    *ret_table = table;
    return 0;
}

/* Atomic. */
static uint64_t *slot_above(const struct inode_table *table, uint32_t slot) {
    return inode_chunks_beside(&table->chunks, slot);
}

/* ---- Descriptors ---- */

void inode_table_close_later(struct inode_table *table, int fd) {
    if (table->closing_count < INODE_CLOSING_MAX)
        table->closing[table->closing_count++] = fd;
    else
        close(fd); /* many directories at once, which is rare */
}

void inode_table_unlock(struct inode_table *table) {
    int closing[INODE_CLOSING_MAX];
    unsigned count = table->closing_count;
    if (count > 0)
        memcpy(closing, table->closing, sizeof(closing));
    table->closing_count = 0;
    bool has_shrunk = table->has_shrunk;
    table->has_shrunk = false;
    if (count > 0)
        inode_table_begin_closing(table, count);
    pthread_mutex_unlock(&table->lock);
    for (unsigned index = 0; index < count; index++)
        close(closing[index]);
    if (count > 0)
        inode_table_end_closing(table, count);
    if (has_shrunk)
        malloc_trim(0);
}

static void set_path_fd(struct inode *inode, int fd) {
    __atomic_store_n(&inode->path_fd, fd, __ATOMIC_RELEASE);
}

static enum path_fd_list list_of(const struct inode *inode) {
    if (!inode_names_of(inode))
        return PATH_FDS_NAMELESS;
    return S_ISDIR(inode->type) ? PATH_FDS_DIRECTORIES : PATH_FDS_FILES;
}

/* Moves it to the right list after it lost or got a name. */
static void sort_path_fd(struct inode_table *table, struct inode *inode) {
    int path_fd = inode_path_fd(inode);
    if (path_fd >= 0 && !inode->keeps_path_fd && table->path_fds.entries[path_fd].list != list_of(inode))
        path_fds_move(&table->path_fds, path_fd, list_of(inode));
}

int inode_table_give_path_fd(struct inode_table *table, struct inode *inode, int *fd) {
    int err = path_fds_add(&table->path_fds, *fd, inode->slot, list_of(inode));
    if (err == 0)
        set_path_fd(inode, steal_fd(fd));
    return err;
}

void inode_table_drop_path_fd(struct inode_table *table, struct inode *inode) {
    int path_fd = inode_path_fd(inode);
    if (path_fd < 0)
        return;
    set_path_fd(inode, -1);
    bool is_kept = !inode->is_by_name || inode->keeps_path_fd;
    if (is_kept)
        table->path_fd_count--;
    if (is_kept || path_fds_remove(&table->path_fds, path_fd))
        inode_table_close_later(table, path_fd);
}

static void free_handle(struct inode *inode) {
    if (inode_handle(inode) != inode->handle.bytes)
        free(inode->handle.heap);
}

void inode_table_destroy(struct inode_table *table) {
    if (!table)
        return;
    for (uint32_t slot = 0; slot < table->chunks.slot_count; slot++) {
        struct inode *inode = inode_at_slot(table, slot);
        int path_fd = inode->used ? inode_path_fd(inode) : -1;
        close_fd(&path_fd);
        if (inode->used) {
            free_handle(inode);
            inode_names_free(inode);
        }
    }
    inode_chunks_finish(&table->chunks);
    free(table->hash);
    free(table->name_hash);
    path_fds_finish(&table->path_fds);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

struct inode *inode_table_at(struct inode_table *table, uint32_t slot) {
    return slot < __atomic_load_n(&table->chunks.slot_count, __ATOMIC_ACQUIRE) ? inode_at_slot(table, slot) : NULL;
}

static uint32_t slot_of(fs_ino ino) {
    return (uint32_t)ino - 1; /* 0 becomes a slot that never exists */
}

/* True if the inode in the slot has this number; in memory that was given back none has its generation. */
static bool has_number(const struct inode *inode, fs_ino ino) {
    return __atomic_load_n(&inode->generation, __ATOMIC_RELAXED) % INODE_GENERATIONS == ino >> 32;
}

struct inode *inode_table_get(struct inode_table *table, fs_ino ino) {
    struct inode *inode = inode_table_at(table, slot_of(ino));
    return inode && has_number(inode, ino) ? inode : NULL;
}

void inode_table_keep_above(struct inode_table *table, bool keeps) {
    pthread_mutex_lock(&table->lock);
    if (keeps)
        inode_chunks_clear_beside(&table->chunks);
    __atomic_store_n(&table->keeps_above, keeps, __ATOMIC_RELEASE);
    inode_table_unlock(table);
}

static bool keeps_above(const struct inode_table *table) {
    return __atomic_load_n(&table->keeps_above, __ATOMIC_ACQUIRE);
}

uint64_t inode_table_set_above(struct inode_table *table, const struct inode *inode, fs_ino directory) {
    uint64_t above = directory | (S_ISDIR(inode->type) ? INODE_IS_DIRECTORY : 0);
    __atomic_store_n(slot_above(table, inode->slot), above, __ATOMIC_RELEASE);
    return above;
}

bool inode_table_above(struct inode_table *table, fs_ino ino, uint64_t *ret_above) {
    const struct inode *inode = inode_table_at(table, slot_of(ino));
    uint64_t above =
        inode && keeps_above(table) ? __atomic_load_n(slot_above(table, slot_of(ino)), __ATOMIC_ACQUIRE) : 0;
    if (above == 0 && inode && keeps_above(table) && S_ISDIR(__atomic_load_n(&inode->type, __ATOMIC_RELAXED)))
        above = INODE_IS_DIRECTORY; /* it was made before anything was remembered */
    if (above == 0 || !has_number(inode, ino))
        return false;
    *ret_above = above;
    return true;
}

static uint64_t mix(uint64_t value) {
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    value ^= value >> 32;
    value *= UINT64_C(0xd6e8feb86659fd93);
    return value ^ (value >> 32);
}

/* Handles are left out: device and number nearly always suffice. */
static size_t hash_of(const struct inode_table *table, dev_t device, ino_t number, uint32_t mount_index) {
    return mix(number ^ mix(device ^ ((uint64_t)mount_index << 40))) & (table->hash_size - 1);
}

static struct inode *find(const struct inode_table *table, const struct inode_key *key) {
    uint32_t next = table->hash[hash_of(table, key->device, key->number, key->mount_index)];
    while (next) {
        struct inode *inode = inode_at_slot(table, next - 1);
        if (inode->number == key->number && inode->device == key->device && inode->mount_index == key->mount_index &&
            inode->is_hidden_device == key->is_hidden_device && inode->is_by_name == key->is_by_name &&
            inode->handle_size_bytes == key->handle_size_bytes &&
            (key->handle_size_bytes == 0 || (inode->handle_type == key->handle_type &&
                                             memcmp(inode_handle(inode), key->handle, key->handle_size_bytes) == 0)))
            return inode;
        next = inode->hash_next;
    }
    return NULL;
}

static void hash_insert(struct inode_table *table, struct inode *inode) {
    uint32_t *head = &table->hash[hash_of(table, inode->device, inode->number, inode->mount_index)];
    inode->hash_next = *head;
    *head = inode->slot + 1;
}

/* Counts one more or one less, and adapts the number of chains; without memory the old ones stay. */
static void count_inode(struct inode_table *table, int more) {
    table->inode_count += (size_t)more;
    const size_t size = inode_hash_wanted(table->hash_size, table->inode_count);
    const size_t chain_count = table->hash_size;
    uint32_t *chains = table->hash;
    uint32_t *resized = size != chain_count ? calloc(size, sizeof(*resized)) : NULL;
    if (!resized)
        return;
    table->has_shrunk |= size < chain_count;
    table->hash = resized;
    table->hash_size = size;
    for (size_t chain = 0; chain < chain_count; chain++) {
        for (uint32_t next = chains[chain]; next;) {
            struct inode *inode = inode_at_slot(table, next - 1);
            next = inode->hash_next;
            hash_insert(table, inode);
        }
    }
    free(chains);
}

static int copy_handle(struct inode *inode, const struct inode_key *key) {
    inode->handle_type = key->handle_type;
    inode->handle_size_bytes = (uint16_t)key->handle_size_bytes;
    unsigned char *bytes = inode->handle.bytes;
    if (inode_handle(inode) != bytes) {
        bytes = malloc(key->handle_size_bytes);
        if (!bytes)
            return -ENOMEM;
        inode->handle.heap = bytes;
    }
    if (key->handle_size_bytes > 0)
        memcpy(bytes, key->handle, key->handle_size_bytes);
    return 0;
}

static int add(struct inode_table *table, const struct inode_key *key, mode_t type, struct inode **ret_inode) {
    struct inode *inode = inode_chunks_take(&table->chunks);
    if (!inode)
        return -ENOMEM;
    inode->number = key->number;
    inode->device = key->device;
    inode->mount_index = key->mount_index;
    inode->is_hidden_device = key->is_hidden_device;
    inode->is_by_name = key->is_by_name;
    if (inode->is_by_name)
        __atomic_store_n(&table->has_named, true, __ATOMIC_RELAXED);
    inode->keeps_path_fd = key->is_by_name && key->is_mount_root;
    inode->list.named.children = 0;
    __atomic_store_n(&inode->type, type, __ATOMIC_RELAXED);
    inode->lookup_count = 0;
    inode->path_fd = -1;
    inode->open_files = NULL;
    if (inode->is_by_name)
        inode->handle.named.names = NULL;
    if (copy_handle(inode, key) < 0) {
        inode_chunks_give(&table->chunks, inode, false);
        return -ENOMEM;
    }
    inode->used = true;
    if (keeps_above(table)) /* not before its generation differs from that of the previous inode */
        __atomic_store_n(slot_above(table, inode->slot), S_ISDIR(type) ? INODE_IS_DIRECTORY : 0, __ATOMIC_RELEASE);
    hash_insert(table, inode);
    count_inode(table, 1);
    if (inode->is_by_name && table->mounts)
        mount_table_hold(table->mounts, inode->mount_index);
    *ret_inode = inode;
    return 0;
}

static void give_slot(struct inode_table *table, struct inode *inode, bool was_forgotten) {
    uint32_t *link = &table->hash[hash_of(table, inode->device, inode->number, inode->mount_index)];
    while (*link != inode->slot + 1)
        link = &inode_at_slot(table, *link - 1)->hash_next;
    *link = inode->hash_next;
    free_handle(inode);
    inode->used = false;
    __atomic_store_n(&inode->generation, inode->generation + 1, __ATOMIC_RELAXED);
    inode_chunks_give(&table->chunks, inode, was_forgotten);
    count_inode(table, -1);
}

static void release_mount(struct inode_table *table, const struct inode *inode) {
    int mount_fd = table->mounts ? mount_table_release(table->mounts, inode->mount_index) : -1;
    if (mount_fd >= 0)
        inode_table_close_later(table, mount_fd);
}

/* ---- Inodes that are found by name ---- */

/* Returns the directory of its last name; NULL: it had none, or the inode is still needed. */
static struct inode *free_unneeded(struct inode_table *table, struct inode *inode) {
    struct inode *directory = NULL;
    if (inode->lookup_count > 0 || inode->list.named.children > 0)
        return NULL;
    while (inode_names_of(inode)) {
        if (directory)
            inode_table_release_child(table, directory);
        directory = inode_names_drop_first(table, inode);
    }
    inode_table_drop_path_fd(table, inode);
    release_mount(table, inode);
    give_slot(table, inode, false);
    return directory;
}

/* Frees an inode that is found by name, and directories above it, if the kernel does not know them and no name is in
 * them. */
static void release(struct inode_table *table, struct inode *inode) {
    while ((inode = free_unneeded(table, inode)))
        inode->list.named.children--;
}

void inode_table_release_child(struct inode_table *table, struct inode *directory) {
    directory->list.named.children--;
    release(table, directory);
}

int inode_table_name(struct inode_table *table, struct inode *inode, const struct inode *directory, const char *text) {
    struct inode_names_lost lost = {.loser_count = 0};
    if (inode_names_begin_with(inode, directory, text))
        return 0;
    if (inode_names_put(table, inode, inode_at_slot(table, directory->slot), text, &lost) < 0)
        return -ENOMEM;
    sort_path_fd(table, inode);
    for (size_t index = 0; index < lost.loser_count; index++)
        sort_path_fd(table, lost.losers[index]);
    for (size_t index = 0; index < lost.directory_count; index++)
        inode_table_release_child(table, lost.directories[index]);
    return 0;
}

void inode_table_drop_name(struct inode_table *table, struct inode *inode) {
    struct inode *directory = inode_names_drop_first(table, inode);
    sort_path_fd(table, inode);
    inode_table_release_child(table, directory);
}

uint32_t inode_table_removals(struct inode_table *table, const struct inode *directory) {
    return __atomic_load_n(inode_removals_of(table, directory), __ATOMIC_ACQUIRE);
}

/* A name that may be outdated is better than none, but no reason to give a descriptor up. */
static int note(struct inode_table *table, struct inode *inode, const struct inode_place *place, bool is_new) {
    if (!place || !inode_place_is_usable(place) || inode->keeps_path_fd)
        return 0;
    bool is_doubtful = place->removals != inode_table_removals(table, place->directory);
    if (is_doubtful && !is_new && (inode_names_of(inode) || inode_path_fd(inode) >= 0))
        return 0;
    return inode_table_name(table, inode, place->directory, place->name);
}

static int keep_path_fd(struct inode_table *table, struct inode *inode, const struct inode_place *place, int *path_fd) {
    if (inode_path_fd(inode) >= 0 || *path_fd < 0)
        return 0;
    if (inode->is_by_name && !inode->keeps_path_fd) {
        bool is_worth =
            !place || !inode_place_is_usable(place) || !place->is_listed || table->path_fds.count < place->path_fds_max;
        return is_worth ? inode_table_give_path_fd(table, inode, path_fd) : 0;
    }
    /* With a handle: directories, for lookups in them, and what the kernel opens without asking us. Such an inode may
     * stay open after its last name is gone, when no handle leads to it any more, and has no blocks that would stay
     * allocated. */
    bool profits = inode->type != S_IFREG && inode->type != S_IFLNK;
    if (inode->keeps_path_fd || (profits && table->path_fd_count < table->path_fds_max)) {
        set_path_fd(inode, steal_fd(path_fd));
        table->path_fd_count++;
    }
    return 0;
}

/* ---- Looking up ---- */

static void forgotten_remove(struct inode_table *table, struct inode *inode) {
    uint32_t before = inode->list.forgotten.before;
    uint32_t after = inode->list.forgotten.after;
    *(before ? &inode_at_slot(table, before - 1)->list.forgotten.after : &table->forgotten_first) = after;
    *(after ? &inode_at_slot(table, after - 1)->list.forgotten.before : &table->forgotten_last) = before;
    table->forgotten_count--;
}

static void forgotten_free(struct inode_table *table, struct inode *inode) {
    forgotten_remove(table, inode);
    give_slot(table, inode, true);
}

/* Beside inodes with lookups they are remembered at no cost; by themselves they keep a bounded number of chunks. */
static void forgotten_append(struct inode_table *table, struct inode *inode) {
    inode->list.forgotten.before = table->forgotten_last;
    inode->list.forgotten.after = 0;
    *(table->forgotten_last ? &inode_at_slot(table, table->forgotten_last - 1)->list.forgotten.after
                            : &table->forgotten_first) = inode->slot + 1;
    table->forgotten_last = inode->slot + 1;
    table->forgotten_count++;
    inode_chunks_rest(&table->chunks, inode);
    while (table->forgotten_count > table->forgotten_max)
        forgotten_free(table, inode_at_slot(table, table->forgotten_first - 1));
    while (table->chunks.resting_count > RESTING_CHUNKS_MAX) {
        const uint32_t first = (table->chunks.resting_first - 1) * INODE_CHUNK_SLOTS;
        for (uint32_t slot = first; slot < first + INODE_CHUNK_SLOTS; slot++) {
            struct inode *resting = inode_table_at(table, slot);
            if (resting && resting->used)
                forgotten_free(table, resting);
        }
    }
}

/* An inode found by name holds its mount for as long as it is known. */
static void count_lookup(struct inode_table *table, struct inode *inode, bool is_new) {
    bool is_first = inode->lookup_count++ == 0;
    if (!is_first || inode->is_by_name)
        return;
    if (!is_new) {
        forgotten_remove(table, inode);
        inode_chunks_wake(&table->chunks, inode);
    }
    if (table->mounts)
        mount_table_hold(table->mounts, inode->mount_index);
}

static int look_up(struct inode_table *table, const struct inode_key *key, mode_t type, const struct inode_place *place,
                   int *path_fd, struct inode **ret_inode) {
    struct inode *inode = find(table, key);
    bool is_new = !inode;
    int err = is_new ? add(table, key, type, &inode) : 0;
    if (err < 0)
        return err;
    count_lookup(table, inode, is_new);
    if (inode->is_by_name)
        err = note(table, inode, place, is_new);
    if (err == 0)
        err = keep_path_fd(table, inode, place, path_fd);
    if (err < 0 && --inode->lookup_count == 0)
        release(table, inode); /* only inodes found by name can fail: they need memory */
    if (err == 0)
        *ret_inode = inode;
    return err;
}

int inode_table_look_up(struct inode_table *table, const struct inode_key *key, mode_t type,
                        const struct inode_place *place, int *path_fd, struct inode **ret_inode) {
    pthread_mutex_lock(&table->lock);
    int err = look_up(table, key, type, place, path_fd, ret_inode);
    inode_table_unlock(table);
    return err;
}

int inode_table_revive(struct inode_table *table, fs_ino ino, struct inode **ret_inode) {
    pthread_mutex_lock(&table->lock);
    struct inode *inode = inode_table_get(table, ino);
    bool found = inode && inode->used;
    if (found) {
        count_lookup(table, inode, false);
        *ret_inode = inode;
    }
    pthread_mutex_unlock(&table->lock);
    return found ? 0 : -ESTALE;
}

void inode_table_forget(struct inode_table *table, fs_ino ino, uint64_t count) {
    pthread_mutex_lock(&table->lock);
    struct inode *inode = inode_table_get(table, ino);
    bool is_known = inode && inode->used && inode->lookup_count > 0 && ino != FS_ROOT_INO;
    if (is_known)
        inode->lookup_count -= count < inode->lookup_count ? count : inode->lookup_count;
    if (is_known && inode->lookup_count == 0 && inode->is_by_name) {
        release(table, inode);
    } else if (is_known && inode->lookup_count == 0) {
        inode_table_drop_path_fd(table, inode);
        release_mount(table, inode);
        if (table->forgotten_max == 0)
            give_slot(table, inode, false);
        else
            forgotten_append(table, inode);
    }
    inode_table_unlock(table);
}

void inode_table_begin_closing(struct inode_table *table, unsigned count) {
    __atomic_add_fetch(&table->closing_now, count, __ATOMIC_RELAXED);
}

void inode_table_end_closing(struct inode_table *table, unsigned count) {
    __atomic_add_fetch(&table->gone, count, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&table->closing_now, count, __ATOMIC_RELEASE);
}

void inode_table_count(struct inode_table *table, size_t *ret_inodes, size_t *ret_path_fds) {
    pthread_mutex_lock(&table->lock);
    *ret_inodes = table->inode_count;
    *ret_path_fds = table->path_fd_count + table->path_fds.count;
    pthread_mutex_unlock(&table->lock);
}
