/* Entries by descriptor number, and three lists through them. */
#include "path_fds.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

#define ENTRIES_MIN 256U

void path_fds_init(struct path_fds *fds) {
    *fds = (struct path_fds){.entries = NULL};
    for (size_t list = 0; list < PATH_FD_LISTS; list++)
        fds->lists[list].first = fds->lists[list].last = -1;
}

void path_fds_finish(struct path_fds *fds) {
    free(fds->entries);
    fds->entries = NULL;
}

static void link_last(struct path_fds *fds, int fd, enum path_fd_list list) {
    struct path_fd_entry *entry = &fds->entries[fd];
    int last = fds->lists[list].last;
    entry->list = list;
    entry->before = last;
    entry->after = -1;
    *(last >= 0 ? &fds->entries[last].after : &fds->lists[list].first) = fd;
    fds->lists[list].last = fd;
    fds->lists[list].count++;
}

static void unlink_entry(struct path_fds *fds, int fd) {
    const struct path_fd_entry *entry = &fds->entries[fd];
    *(entry->before >= 0 ? &fds->entries[entry->before].after : &fds->lists[entry->list].first) = entry->after;
    *(entry->after >= 0 ? &fds->entries[entry->after].before : &fds->lists[entry->list].last) = entry->before;
    fds->lists[entry->list].count--;
}

int path_fds_add(struct path_fds *fds, int fd, uint32_t slot, enum path_fd_list list) {
    size_t count = fds->entry_count > ENTRIES_MIN ? fds->entry_count : ENTRIES_MIN;
    while (count <= (size_t)fd)
        count *= 2;
    if (count != fds->entry_count) {
        struct path_fd_entry *grown = realloc(fds->entries, count * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        memset(grown + fds->entry_count, 0, (count - fds->entry_count) * sizeof(*grown));
        fds->entries = grown;
        fds->entry_count = count;
    }
    fds->entries[fd].owner = slot + 1;
    fds->entries[fd].users = 0;
    link_last(fds, fd, list);
    __atomic_store_n(&fds->count, fds->count + 1, __ATOMIC_RELAXED);
    return 0;
}

bool path_fds_remove(struct path_fds *fds, int fd) {
    unlink_entry(fds, fd);
    fds->entries[fd].owner = 0;
    __atomic_store_n(&fds->count, fds->count - 1, __ATOMIC_RELAXED);
    return fds->entries[fd].users == 0;
}

void path_fds_move(struct path_fds *fds, int fd, enum path_fd_list list) {
    unlink_entry(fds, fd);
    link_last(fds, fd, list);
}

void path_fds_use(struct path_fds *fds, int fd) {
    fds->entries[fd].users++;
    path_fds_move(fds, fd, fds->entries[fd].list);
}

bool path_fds_leave(struct path_fds *fds, int fd) {
    struct path_fd_entry *entry = (size_t)fd < fds->entry_count ? &fds->entries[fd] : NULL;
    if (!entry || entry->users == 0)
        return false;
    return --entry->users == 0 && entry->owner == 0;
}

int path_fds_oldest(const struct path_fds *fds, enum path_fd_list list) {
    int fd = fds->lists[list].first;
    while (fd >= 0 && fds->entries[fd].users > 0)
        fd = fds->entries[fd].after;
    return fd;
}
