/* The table is memory that forked processes share, without a lock: a torn entry names no file, or one too many for a
 * minute. */
#include "unreadable.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "base.h"

#define KEPT_NS INT64_C(60000000000)

struct unreadable *unreadable_create(void) {
    void *memory = mmap(NULL, sizeof(struct unreadable), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool is_same(const struct file_place *a, const struct file_place *b) {
    return a->device_major == b->device_major && a->device_minor == b->device_minor && a->inode == b->inode;
}

void unreadable_note(struct unreadable *unreadable, const struct file_place *file) {
    size_t place = 0;
    if (is_same(file, &(struct file_place){.inode = 0}))
        return;
    for (size_t i = 1; i < UNREADABLE_MAX && !is_same(&unreadable->noted[place].file, file); i++)
        if (unreadable->noted[i].until_ns < unreadable->noted[place].until_ns ||
            is_same(&unreadable->noted[i].file, file))
            place = i;
    unreadable->noted[place].file = *file;
    unreadable->noted[place].until_ns = read_clock_ns(CLOCK_MONOTONIC) + KEPT_NS;
}

bool unreadable_has(const struct unreadable *unreadable, const struct file_place *file) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const struct file_place device = {.device_major = file->device_major, .device_minor = file->device_minor};
    for (size_t i = 0; i < UNREADABLE_MAX; i++) {
        const struct file_place *noted = &unreadable->noted[i].file;
        if (unreadable->noted[i].until_ns > now_ns && (is_same(noted, file) || is_same(noted, &device)))
            return true;
    }
    return false;
}
