/* Which files profiles were read from, to know when one is given again under whatever name. */
#ifndef FILE_SET_H
#define FILE_SET_H

#include "input.h"

struct file_id {
    dev_t device;
    ino_t inode;
};

/* Zeroed: no files. */
struct file_set {
    struct file_id *files; /* [slot_count], a hash table with open addressing; inode 0: free */
    size_t slot_count;     /* a power of two, or 0 */
    size_t count;
};

/* Adds the file of an input, if it is one. Returns 1 if it is new or no file, 0 if it has been added before.
 * Errors:  -ENOMEM */
int file_set_add(struct file_set *set, const struct input *input);

void file_set_finish(struct file_set *set);

#endif
