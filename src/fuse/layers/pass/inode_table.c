/* Slots in chunks that never move, a hash table of slot numbers, and a list of forgotten inodes. */
#include "inode_table.h"

#include <pthread.h>
#include <string.h>

#include "base.h"
#include "mount_table.h"

#define CHUNK_SLOTS 1024U
#define CHUNKS_MAX (1U << 20)
#define HASH_SLOTS_MIN 1024U

struct inode_table {
    pthread_mutex_t lock;
    struct inode **chunks; /* [CHUNKS_MAX], filled from the front; entries are atomic */
    uint32_t slot_count;   /* slots ever used; atomic */
    uint32_t free_slots;   /* slot + 1 of the first free one, chained through hash_next */
    uint32_t *hash;        /* slot + 1 of each chain's first inode */
    size_t hash_size;      /* a power of two */
    size_t inode_count;
    size_t path_fd_count;
    size_t path_fds_max;
    size_t forgotten_count;
    size_t forgotten_max;
    struct mount_table *mounts;
    bool keeps_above;
    uint32_t forgotten_first; /* slot + 1; the one forgotten longest ago */
    uint32_t forgotten_last;
};

int inode_table_create(size_t path_fds_max, size_t forgotten_max, struct mount_table *mounts,
                       struct inode_table **ret_table) {
    struct inode_table *table = calloc(1, sizeof(*table));
    if (!table)
        return -ENOMEM;
    table->path_fds_max = path_fds_max;
    table->forgotten_max = forgotten_max;
    table->mounts = mounts;
    table->hash_size = HASH_SLOTS_MIN;
    table->hash = calloc(table->hash_size, sizeof(*table->hash));
    table->chunks = calloc(CHUNKS_MAX, sizeof(struct inode *)); /* pages come with use */
    if (!table->hash || !table->chunks) {
        free(table->hash);
        free(table->chunks);
        free(table);
        return -ENOMEM;
    }
    pthread_mutex_init(&table->lock, NULL);
    *ret_table = table;
    return 0;
}

static struct inode *slot_inode(const struct inode_table *table, uint32_t slot) {
    struct inode *chunk = __atomic_load_n(&table->chunks[slot / CHUNK_SLOTS], __ATOMIC_ACQUIRE);
    return &chunk[slot % CHUNK_SLOTS];
}

/* Behind the chunk's inodes; atomic. */
static uint64_t *slot_above(const struct inode_table *table, uint32_t slot) {
    struct inode *first = slot_inode(table, slot - slot % CHUNK_SLOTS);
    return (uint64_t *)(void *)(first + CHUNK_SLOTS) + slot % CHUNK_SLOTS;
}

static struct inode *create_chunk(const struct inode_table *table) {
    return calloc(CHUNK_SLOTS, sizeof(struct inode) + (table->keeps_above ? sizeof(uint64_t) : 0));
}

/* The inode's descriptor, for closing without the lock: the last one of a deleted file frees its blocks. */
static int take_path_fd(struct inode_table *table, struct inode *inode) {
    int path_fd = inode_path_fd(inode);
    if (path_fd >= 0) {
        __atomic_store_n(&inode->path_fd, -1, __ATOMIC_RELEASE);
        table->path_fd_count--;
    }
    return path_fd;
}

static void free_handle(struct inode *inode) {
    if (inode->handle_size_bytes > INODE_HANDLE_INLINE_BYTES)
        free(inode->handle.heap);
}

void inode_table_destroy(struct inode_table *table) {
    if (!table)
        return;
    for (uint32_t slot = 0; slot < table->slot_count; slot++) {
        struct inode *inode = slot_inode(table, slot);
        int path_fd = inode->used ? take_path_fd(table, inode) : -1;
        close_fd(&path_fd);
        if (inode->used)
            free_handle(inode);
    }
    for (uint32_t chunk = 0; chunk < CHUNKS_MAX && table->chunks[chunk]; chunk++)
        free(table->chunks[chunk]);
    free(table->chunks);
    free(table->hash);
    pthread_mutex_destroy(&table->lock);
    free(table);
}

struct inode *inode_table_at(struct inode_table *table, uint32_t slot) {
    return slot < __atomic_load_n(&table->slot_count, __ATOMIC_ACQUIRE) ? slot_inode(table, slot) : NULL;
}

struct inode *inode_table_get(struct inode_table *table, fs_ino ino) {
    struct inode *inode = inode_table_at(table, (uint32_t)ino - 1); /* 0 becomes a slot that there never is */
    return inode && inode_ino(inode) == ino ? inode : NULL;
}

void inode_table_keep_above(struct inode_table *table) {
    table->keeps_above = true;
}

uint64_t inode_table_set_above(struct inode_table *table, const struct inode *inode, fs_ino directory) {
    uint64_t above = directory | (S_ISDIR(inode->type) ? INODE_IS_DIRECTORY : 0);
    __atomic_store_n(slot_above(table, inode->slot), above, __ATOMIC_RELEASE);
    return above;
}

bool inode_table_above(struct inode_table *table, fs_ino ino, uint64_t *ret_above) {
    const struct inode *inode = inode_table_at(table, (uint32_t)ino - 1);
    uint64_t above =
        inode && table->keeps_above ? __atomic_load_n(slot_above(table, inode->slot), __ATOMIC_ACQUIRE) : 0;
    if (above == 0 || inode_ino(inode) != ino)
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

/* Handles are left out: they hardly ever tell apart what device and number do not. */
static size_t hash_of(const struct inode_table *table, dev_t device, ino_t number, uint32_t mount_index) {
    return mix(number ^ mix(device ^ ((uint64_t)mount_index << 40))) & (table->hash_size - 1);
}

static bool same_inode(const struct inode *inode, const struct inode_key *key) {
    return inode->number == key->number && inode->device == key->device && inode->mount_index == key->mount_index &&
           inode->is_hidden_device == key->is_hidden_device && inode->handle_size_bytes == key->handle_size_bytes &&
           (key->handle_size_bytes == 0 || (inode->handle_type == key->handle_type &&
                                            memcmp(inode_handle(inode), key->handle, key->handle_size_bytes) == 0));
}

static struct inode *find(const struct inode_table *table, const struct inode_key *key) {
    uint32_t next = table->hash[hash_of(table, key->device, key->number, key->mount_index)];
    while (next) {
        struct inode *inode = slot_inode(table, next - 1);
        if (same_inode(inode, key))
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

static void hash_remove(struct inode_table *table, struct inode *inode) {
    uint32_t *link = &table->hash[hash_of(table, inode->device, inode->number, inode->mount_index)];
    while (*link != inode->slot + 1)
        link = &slot_inode(table, *link - 1)->hash_next;
    *link = inode->hash_next;
}

/* Twice as many chains; without memory the old ones just grow longer. */
static void hash_grow(struct inode_table *table) {
    uint32_t *grown = calloc(table->hash_size * 2, sizeof(*grown));
    if (!grown)
        return;
    free(table->hash);
    table->hash = grown;
    table->hash_size *= 2;
    for (uint32_t slot = 0; slot < table->slot_count; slot++) {
        struct inode *inode = slot_inode(table, slot);
        if (inode->used)
            hash_insert(table, inode);
    }
}

/* A slot nobody uses; NULL without memory. */
static struct inode *take_slot(struct inode_table *table) {
    if (table->free_slots) {
        struct inode *inode = slot_inode(table, table->free_slots - 1);
        table->free_slots = inode->hash_next;
        return inode;
    }
    uint32_t slot = table->slot_count;
    if (slot / CHUNK_SLOTS >= CHUNKS_MAX)
        return NULL;
    if (slot % CHUNK_SLOTS == 0) {
        struct inode *chunk = create_chunk(table);
        if (!chunk)
            return NULL;
        __atomic_store_n(&table->chunks[slot / CHUNK_SLOTS], chunk, __ATOMIC_RELEASE);
    }
    struct inode *inode = slot_inode(table, slot);
    inode->slot = slot;
    __atomic_store_n(&table->slot_count, slot + 1, __ATOMIC_RELEASE);
    return inode;
}

static void give_slot(struct inode_table *table, struct inode *inode) {
    hash_remove(table, inode);
    free_handle(inode);
    inode->used = false;
    __atomic_store_n(&inode->generation, inode->generation + 1, __ATOMIC_RELAXED);
    inode->hash_next = table->free_slots;
    table->free_slots = inode->slot + 1;
    table->inode_count--;
}

static int copy_handle(struct inode *inode, const struct inode_key *key) {
    unsigned char *bytes = inode->handle.bytes;
    if (key->handle_size_bytes > INODE_HANDLE_INLINE_BYTES) {
        bytes = malloc(key->handle_size_bytes);
        if (!bytes)
            return -ENOMEM;
        inode->handle.heap = bytes;
    }
    if (key->handle_size_bytes > 0)
        memcpy(bytes, key->handle, key->handle_size_bytes);
    inode->handle_type = key->handle_type;
    inode->handle_size_bytes = (uint16_t)key->handle_size_bytes;
    return 0;
}

/* Directories, for what is looked up in them, and what the kernel opens without asking us: it may hold that beyond its
 * last name, when no handle leads there any more, and there are no blocks that would stay allocated. */
static bool profits_from_path_fd(mode_t type) {
    return type != S_IFREG && type != S_IFLNK;
}

/* Gives path_fd to the inode if it needs one, or if it profits from one and there is room. */
static int keep_path_fd(struct inode_table *table, struct inode *inode, bool must_fit, int *path_fd) {
    bool needed = inode->handle_size_bytes == 0;
    bool room = table->path_fd_count < table->path_fds_max || (must_fit && needed);
    if (inode_path_fd(inode) >= 0 || *path_fd < 0)
        return 0;
    if (!room)
        return needed ? -ENFILE : 0;
    if (needed || profits_from_path_fd(inode->type)) {
        __atomic_store_n(&inode->path_fd, steal_fd(path_fd), __ATOMIC_RELEASE);
        table->path_fd_count++;
    }
    return 0;
}

static int add(struct inode_table *table, const struct inode_key *key, mode_t type, bool must_fit, int *path_fd,
               struct inode **ret_inode) {
    struct inode *inode = take_slot(table);
    if (!inode)
        return -ENOMEM;
    inode->number = key->number;
    inode->device = key->device;
    inode->mount_index = key->mount_index;
    inode->is_hidden_device = key->is_hidden_device;
    inode->type = type;
    inode->lookup_count = 0;
    inode->path_fd = -1;
    inode->open_files = NULL;
    int err = copy_handle(inode, key);
    if (err == 0)
        err = keep_path_fd(table, inode, must_fit, path_fd);
    if (err < 0) {
        inode->hash_next = table->free_slots;
        table->free_slots = inode->slot + 1;
        return err;
    }
    inode->used = true;
    if (table->keeps_above) /* not before its generation is another than that of who had the slot */
        __atomic_store_n(slot_above(table, inode->slot), S_ISDIR(type) ? INODE_IS_DIRECTORY : 0, __ATOMIC_RELEASE);
    hash_insert(table, inode);
    if (++table->inode_count > table->hash_size)
        hash_grow(table);
    *ret_inode = inode;
    return 0;
}

static void forgotten_remove(struct inode_table *table, struct inode *inode) {
    uint32_t before = inode->forgotten_before;
    uint32_t after = inode->forgotten_after;
    *(before ? &slot_inode(table, before - 1)->forgotten_after : &table->forgotten_first) = after;
    *(after ? &slot_inode(table, after - 1)->forgotten_before : &table->forgotten_last) = before;
    table->forgotten_count--;
}

static void forgotten_append(struct inode_table *table, struct inode *inode) {
    inode->forgotten_before = table->forgotten_last;
    inode->forgotten_after = 0;
    *(table->forgotten_last ? &slot_inode(table, table->forgotten_last - 1)->forgotten_after
                            : &table->forgotten_first) = inode->slot + 1;
    table->forgotten_last = inode->slot + 1;
    table->forgotten_count++;
    while (table->forgotten_count > table->forgotten_max) {
        struct inode *oldest = slot_inode(table, table->forgotten_first - 1);
        forgotten_remove(table, oldest);
        give_slot(table, oldest);
    }
}

static void count_lookup(struct inode_table *table, struct inode *inode, bool is_new) {
    if (inode->lookup_count == 0 && !is_new)
        forgotten_remove(table, inode);
    if (inode->lookup_count == 0 && table->mounts)
        mount_table_hold(table->mounts, inode->mount_index);
    inode->lookup_count++;
}

int inode_table_look_up(struct inode_table *table, const struct inode_key *key, mode_t type, bool must_fit,
                        int *path_fd, struct inode **ret_inode) {
    pthread_mutex_lock(&table->lock);
    int err = 0;
    struct inode *inode = find(table, key);
    bool is_new = !inode;
    if (is_new)
        err = add(table, key, type, must_fit, path_fd, &inode);
    else
        err = keep_path_fd(table, inode, must_fit, path_fd);
    if (err == 0) {
        count_lookup(table, inode, is_new);
        *ret_inode = inode;
    }
    pthread_mutex_unlock(&table->lock);
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

/* An inode without a handle cannot be found again, so it is not remembered. Returns the descriptor to close. */
static int retire(struct inode_table *table, struct inode *inode) {
    int path_fd = take_path_fd(table, inode);
    if (inode->handle_size_bytes == 0 || table->forgotten_max == 0)
        give_slot(table, inode);
    else
        forgotten_append(table, inode);
    return path_fd;
}

void inode_table_forget(struct inode_table *table, fs_ino ino, uint64_t count) {
    int path_fd = -1;
    int mount_fd = -1;
    pthread_mutex_lock(&table->lock);
    struct inode *inode = inode_table_get(table, ino);
    if (inode && inode->used && inode->lookup_count > 0 && ino != FS_ROOT_INO) {
        inode->lookup_count -= count < inode->lookup_count ? count : inode->lookup_count;
        if (inode->lookup_count == 0 && table->mounts)
            mount_fd = mount_table_release(table->mounts, inode->mount_index);
        if (inode->lookup_count == 0)
            path_fd = retire(table, inode);
    }
    pthread_mutex_unlock(&table->lock);
    close_fd(&path_fd);
    close_fd(&mount_fd);
}

void inode_table_count(struct inode_table *table, size_t *ret_inodes, size_t *ret_path_fds) {
    pthread_mutex_lock(&table->lock);
    *ret_inodes = table->inode_count;
    *ret_path_fds = table->path_fd_count;
    pthread_mutex_unlock(&table->lock);
}
