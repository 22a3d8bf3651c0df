/* A hash table with open addressing. */
#include "seen.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 1024U
#define ROOM_MAX (1U << 20)

static size_t place_of(const struct seen *seen, uint64_t key) {
    size_t place = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (seen->room - 1);
    while (seen->keys[place] != 0 && seen->keys[place] != key)
        place = (place + 1) & (seen->room - 1);
    return place;
}

void seen_clear(struct seen *seen) {
    free(seen->keys);
    free(seen->notes);
    *seen = (struct seen){0};
}

static void put(struct seen *seen, uint64_t key, uint64_t note) {
    size_t place = place_of(seen, key);
    seen->count += seen->keys[place] == 0;
    seen->keys[place] = key;
    seen->notes[place] = note;
}

/* Without memory it forgets all. */
static void grow(struct seen *seen) {
    struct seen grown = {.room = seen->room == 0 ? ROOM_MIN : 2 * seen->room};
    if (grown.room <= ROOM_MAX) {
        grown.keys = calloc(grown.room, sizeof(*grown.keys));
        grown.notes = calloc(grown.room, sizeof(*grown.notes));
    }
    if (!grown.keys || !grown.notes) {
        seen_clear(&grown);
        seen_clear(seen);
        return;
    }
    for (size_t place = 0; place < seen->room; place++)
        if (seen->keys[place] != 0)
            put(&grown, seen->keys[place], seen->notes[place]);
    seen_clear(seen);
    *seen = grown;
}

bool seen_has(const struct seen *seen, uint64_t key) {
    return seen->room > 0 && seen->keys[place_of(seen, key)] == key;
}

bool seen_is_new(struct seen *seen, uint64_t key, uint64_t note) {
    if (seen->room > 0) {
        size_t place = place_of(seen, key);
        if (seen->keys[place] == key && seen->notes[place] == note)
            return false;
    }
    if (2 * (seen->count + 1) > seen->room)
        grow(seen);
    if (seen->room > 0)
        put(seen, key, note);
    return true;
}
