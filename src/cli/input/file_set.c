/* A hash table of device and inode numbers. */
#include "file_set.h"

#include <stdlib.h>

#include "base.h"

#define SLOTS_MIN 64

static size_t slot_of(const struct file_set *set, const struct file_id *file) {
    uint64_t hash = ((uint64_t)file->inode + (uint64_t)file->device * 31) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash >> 32) & (set->slot_count - 1);
    for (; set->files[slot].inode != 0; slot = (slot + 1) & (set->slot_count - 1))
        if (set->files[slot].inode == file->inode && set->files[slot].device == file->device)
            break;
    return slot;
}

/* A quarter is free at least. */
static int grow(struct file_set *set) {
    struct file_set grown = {.slot_count = set->slot_count > 0 ? 2 * set->slot_count : SLOTS_MIN, .count = set->count};
    if (set->slot_count > 0 && set->count + 1 <= set->slot_count - set->slot_count / 4)
        return 0;
    grown.files = calloc(grown.slot_count, sizeof(*grown.files));
    if (!grown.files)
        return -ENOMEM;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->files[i].inode != 0)
            grown.files[slot_of(&grown, &set->files[i])] = set->files[i];
    free(set->files);
    *set = grown;
    return 0;
}

int file_set_add(struct file_set *set, const struct input *input) {
    const struct file_id file = {.device = input->device, .inode = input->inode};
    if (!input->is_file || file.inode == 0)
        return 1;
    int error = grow(set);
    if (error)
        return error;
    size_t slot = slot_of(set, &file);
    if (set->files[slot].inode != 0)
        return 0;
    set->files[slot] = file;
    set->count++;
    return 1;
}

void file_set_finish(struct file_set *set) {
    free(set->files);
    *set = (struct file_set){.files = NULL};
}
