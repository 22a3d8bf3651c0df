/* A hash table from numbers to numbers. */
#ifndef NUMBER_MAP_H
#define NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed: it is empty. */
struct number_map {
    struct number_map_row {
        uint64_t key;
        uint64_t value; /* 0: the row is empty */
    } * rows;
    size_t room; /* a power of two, or 0; half of it at least is empty */
    size_t count;
};

/* 0: the key is not there. */
uint64_t number_map_get(const struct number_map *map, uint64_t key);

/* value: not 0. Errors: -ENOMEM, *map is as it was */
int number_map_set(struct number_map *map, uint64_t key, uint64_t value);

/* Frees all; it is empty then. */
void number_map_finish(struct number_map *map);

#endif
