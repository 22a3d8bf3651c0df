/* Private: a set of numbers that have been seen. Bounded: when it is full all are forgotten, and seen as new again. */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
    uint64_t *keys; /* 0: empty */
    uint64_t *notes;
    size_t room; /* a power of two; 0: nothing yet */
    size_t count;
};

/* True if it is new, or has another note than before. Without memory each is new. key: not 0 */
bool seen_is_new(struct seen *seen, uint64_t key, uint64_t note);
bool seen_has(const struct seen *seen, uint64_t key);
void seen_clear(struct seen *seen);

#endif
