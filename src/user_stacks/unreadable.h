/* Private: files that have taken too long to read, or have ended the process that read them. They are left alone for a minute.
 *
 * The table is shared by the process that starts readers and its readers. A reader may have become hostile: there are
 * only numbers in it, and wrong ones cost callers. */
#ifndef UNREADABLE_H
#define UNREADABLE_H

#include <stdbool.h>
#include <stdint.h>

#define UNREADABLE_MAX 64
#define READERS 2

/* A file as /proc/PID/maps has it. All zero: none; inode 0 alone: all files of the device. */
struct file_place {
    unsigned device_major;
    unsigned device_minor;
    uint64_t inode;
};

struct unreadable {
    struct file_place at[READERS]; /* what each reader reads now */
    struct {
        struct file_place file;
        int64_t until_ns; /* CLOCK_MONOTONIC; 0: this place is free */
    } noted[UNREADABLE_MAX];
};

/* Owner:   shared with the processes that are forked later, until they have ended
 * Returns NULL if there is no memory */
struct unreadable *unreadable_create(void);

/* If the table is full, the entry that was noted first gives way. */
void unreadable_note(struct unreadable *unreadable, const struct file_place *file);

bool unreadable_has(const struct unreadable *unreadable, const struct file_place *file);

#endif
