/* Inodes that are found by name: their descriptors, and the way to those that have none. */
#include <string.h>

#include "base.h"
#include "inode_slots.h"
#include "inode_table.h"

#define DEPTH_MAX 65536  /* of a tree; a deeper one must be a cycle */
#define STEPS_AT_ONCE 64 /* taken down before the way is walked up again, under the lock */

static void use(struct inode_table *table, const struct inode *inode, int path_fd) {
    if (!inode->keeps_path_fd)
        path_fds_use(&table->path_fds, path_fd);
}

static void leave(struct inode_table *table, int fd) {
    if (path_fds_leave(&table->path_fds, fd))
        inode_table_close_later(table, fd);
}

static struct inode *hold(struct inode *inode) {
    inode->list.named.children++;
    return inode;
}

/* Call under the lock. */
static int begin_step(struct inode_table *table, struct inode *inode, struct inode_step *step) {
    struct inode *below[STEPS_AT_ONCE]; /* the last ones on the way up, by their depth */
    int depth = 0;
    for (; inode_path_fd(inode) < 0; depth++) {
        struct inode *directory = inode_names_directory(table, inode);
        if (!directory || depth == DEPTH_MAX)
            return -ESTALE;
        below[depth % STEPS_AT_ONCE] = inode;
        inode = directory;
    }
    step->fd = inode_path_fd(inode);
    use(table, inode, step->fd);
    step->inode = depth > 0 ? hold(below[(depth - 1) % STEPS_AT_ONCE]) : NULL;
    step->halfway = depth > STEPS_AT_ONCE ? hold(below[depth % STEPS_AT_ONCE]) : NULL;
    if (step->inode)
        snprintf(step->name, sizeof(step->name), "%s", inode_names_of(step->inode)->text);
    return 0;
}

int inode_table_begin_step(struct inode_table *table, struct inode *inode, struct inode_step *ret_step) {
    pthread_mutex_lock(&table->lock);
    int err = begin_step(table, inode, ret_step);
    pthread_mutex_unlock(&table->lock);
    return err;
}

/* Call under the lock. Returns the inode whose descriptor the path begins at; NULL: there is none, or the path is too
 * long. */
static const struct inode *build_path(const struct inode_table *table, const struct inode *inode,
                                      char ret_below[PATH_MAX]) {
    size_t at = PATH_MAX - 1;
    ret_below[at] = '\0';
    while (inode_path_fd(inode) < 0) {
        const struct inode_name *name = inode_names_of(inode);
        size_t length = name ? strlen(name->text) : 0;
        if (!name || length + 1 > at)
            return NULL;
        at -= length + 1;
        ret_below[at] = '/';
        memcpy(ret_below + at + 1, name->text, length);
        inode = inode_names_directory(table, inode);
    }
    memmove(ret_below, ret_below + at, PATH_MAX - at);
    return inode;
}

int inode_table_begin_path(struct inode_table *table, fs_ino ino, char ret_below[PATH_MAX]) {
    int fd = -1;
    pthread_mutex_lock(&table->lock);
    const struct inode *inode = inode_table_get(table, ino);
    if (inode && inode->used && inode->is_by_name)
        inode = build_path(table, inode, ret_below);
    else
        inode = NULL;
    if (inode) {
        fd = inode_path_fd(inode);
        use(table, inode, fd);
    }
    pthread_mutex_unlock(&table->lock);
    return fd;
}

int inode_table_end_step(struct inode_table *table, struct inode_step *step, int *fd) {
    struct inode *inode = step->inode;
    pthread_mutex_lock(&table->lock);
    leave(table, step->fd);
    if (inode_path_fd(inode) < 0 && *fd >= 0)
        (void)inode_table_give_path_fd(table, inode, fd);
    int path_fd = inode_path_fd(inode);
    if (path_fd >= 0)
        use(table, inode, path_fd);
    inode_table_release_child(table, inode);
    inode_table_unlock(table);
    return path_fd;
}

void inode_table_leave(struct inode_table *table, int fd) {
    pthread_mutex_lock(&table->lock);
    leave(table, fd);
    inode_table_unlock(table);
}

bool inode_table_try_next_name(struct inode_table *table, const struct inode_step *step) {
    pthread_mutex_lock(&table->lock);
    const struct inode_name *first = inode_names_of(step->inode);
    bool has_changed = !first || strcmp(first->text, step->name) != 0;
    bool has_next = !has_changed && first->next;
    if (has_next)
        inode_table_drop_name(table, step->inode);
    inode_table_unlock(table);
    return has_changed || has_next;
}

void inode_table_found_as(struct inode_table *table, const struct inode_step *step, const char *name) {
    pthread_mutex_lock(&table->lock);
    const struct inode *directory = inode_names_directory(table, step->inode);
    if (directory && inode_path_fd(directory) == step->fd) /* its descriptor is the one in use */
        (void)inode_table_name(table, step->inode, directory, name);
    inode_table_unlock(table);
}

/* ---- Giving up descriptors ---- */

size_t inode_table_held(const struct inode_table *table) {
    return __atomic_load_n(&table->path_fds.count, __ATOMIC_RELAXED);
}

bool inode_table_has_named(const struct inode_table *table) {
    return __atomic_load_n(&table->has_named, __ATOMIC_RELAXED);
}

size_t inode_table_going(struct inode_table *table) {
    pthread_mutex_lock(&table->lock);
    size_t count = table->path_fds.lists[PATH_FDS_NAMELESS].count;
    count += __atomic_load_n(&table->closing_now, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&table->lock);
    return count;
}

size_t inode_table_gone(const struct inode_table *table) {
    return __atomic_load_n(&table->gone, __ATOMIC_ACQUIRE);
}

/* Files go before directories, if there are many: directories lead to other inodes, and may be a working directory. */
int inode_table_begin_giving_up(struct inode_table *table, size_t nameless_max, bool *ret_is_nameless) {
    pthread_mutex_lock(&table->lock);
    struct path_fds *fds = &table->path_fds;
    bool has_too_many = fds->lists[PATH_FDS_NAMELESS].count > nameless_max;
    bool has_many_files = fds->lists[PATH_FDS_FILES].count > fds->count / 4;
    const enum path_fd_list order[] = {
        has_many_files ? PATH_FDS_FILES : PATH_FDS_DIRECTORIES,
        has_many_files ? PATH_FDS_DIRECTORIES : PATH_FDS_FILES,
        PATH_FDS_NAMELESS,
    };
    int fd = has_too_many ? path_fds_oldest(fds, PATH_FDS_NAMELESS) : -1;
    for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(order); i++)
        fd = path_fds_oldest(fds, order[i]);
    if (fd >= 0) {
        *ret_is_nameless = fds->entries[fd].list == PATH_FDS_NAMELESS;
        path_fds_use(fds, fd);
    }
    pthread_mutex_unlock(&table->lock);
    return fd;
}

bool inode_table_end_giving_up(struct inode_table *table, int fd, bool is_wanted) {
    pthread_mutex_lock(&table->lock);
    const struct path_fd_entry *entry = &table->path_fds.entries[fd];
    struct inode *inode = entry->owner ? inode_at_slot(table, entry->owner - 1) : NULL;
    bool is_ours = entry->users == 1;
    if (inode && is_wanted)
        path_fds_move(&table->path_fds, fd, PATH_FDS_NAMELESS);
    else if (inode && is_ours)
        inode_table_drop_path_fd(table, inode);
    leave(table, fd);
    inode_table_unlock(table);
    return is_ours && !(inode && is_wanted);
}

fs_ino *inode_table_list_nameless(struct inode_table *table, size_t *ret_count) {
    size_t count = 0;
    pthread_mutex_lock(&table->lock);
    const struct path_fds *fds = &table->path_fds;
    const size_t max = fds->lists[PATH_FDS_NAMELESS].count;
    fs_ino *inos = max > 0 ? calloc(max, sizeof(*inos)) : NULL;
    for (int fd = inos ? fds->lists[PATH_FDS_NAMELESS].first : -1; fd >= 0; fd = fds->entries[fd].after) {
        if (fds->entries[fd].users == 0)
            inos[count++] = inode_ino(inode_at_slot(table, fds->entries[fd].owner - 1));
    }
    pthread_mutex_unlock(&table->lock);
    *ret_count = count;
    return inos;
}

/* ---- Names that go ---- */

struct inode *inode_table_begin_removal(struct inode_table *table, const struct inode *directory, const char *name) {
    pthread_mutex_lock(&table->lock);
    struct inode *inode = inode_names_find(table, directory, name);
    if (inode)
        hold(inode);
    pthread_mutex_unlock(&table->lock);
    return inode;
}

bool inode_table_end_removal(struct inode_table *table, const struct inode *directory, const char *name,
                             struct inode *inode, const struct inode_place *moved) {
    pthread_mutex_lock(&table->lock);
    __atomic_add_fetch(inode_removals_of(table, directory), 1, __ATOMIC_RELEASE);
    if (inode && inode_names_begin_with(inode, directory, name))
        inode_table_drop_name(table, inode);
    if (inode && moved && inode_place_is_usable(moved))
        (void)inode_table_name(table, inode, moved->directory, moved->name); /* on failure it keeps its descriptor */
    bool has_names = inode && inode_names_of(inode);
    inode_table_unlock(table);
    return has_names;
}

void inode_table_drop_names(struct inode_table *table, struct inode *inode) {
    pthread_mutex_lock(&table->lock);
    while (inode_names_of(inode))
        inode_table_drop_name(table, inode);
    inode_table_unlock(table);
}

void inode_table_let_go(struct inode_table *table, struct inode *inode) {
    pthread_mutex_lock(&table->lock);
    inode_table_release_child(table, inode);
    inode_table_unlock(table);
}
