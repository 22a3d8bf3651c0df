/* A hash table from numbers to numbers. */
#ifndef NUMBER_MAP_H
#define NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

/* If zeroed, it is empty. */
struct number_map {
    struct number_map_row {
        uint64_t key;
        uint64_t value; /* 0: the row is empty */
    } * rows;
    size_t room; /* a power of two, or 0; at least half of it is empty */
    size_t count;
};

/* Returns the value; 0: the key is not in the map. */
uint64_t number_map_get(const struct number_map *map, uint64_t key);

/* value: not 0. Errors: -ENOMEM, *map is unchanged */
int number_map_set(struct number_map *map, uint64_t key, uint64_t value);

/* Frees everything; the map is then empty. */
void number_map_finish(struct number_map *map);

#endif
