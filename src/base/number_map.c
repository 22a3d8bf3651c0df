/* Open addressing. */
#include "number_map.h"

#include "base.h"

#define ROOM_MIN 64U

static struct number_map_row *row_of(const struct number_map *map, uint64_t key) {
    uint64_t hash = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    size_t place = (size_t)(hash >> 32) & (map->room - 1);
    while (map->rows[place].value != 0 && map->rows[place].key != key)
        place = (place + 1) & (map->room - 1);
    return &map->rows[place];
}

uint64_t number_map_get(const struct number_map *map, uint64_t key) {
    return map->room > 0 ? row_of(map, key)->value : 0;
}

static int grow(struct number_map *map) {
    struct number_map grown = {.room = map->room > 0 ? 2 * map->room : ROOM_MIN, .count = map->count};
    grown.rows = calloc(grown.room, sizeof(*grown.rows));
    if (!grown.rows)
        return -ENOMEM;
    for (size_t i = 0; i < map->room; i++)
        if (map->rows[i].value != 0)
            *row_of(&grown, map->rows[i].key) = map->rows[i];
    free(map->rows);
    *map = grown;
    return 0;
}

int number_map_set(struct number_map *map, uint64_t key, uint64_t value) {
    int err = 2 * map->count >= map->room ? grow(map) : 0;
    if (err < 0)
        return err;
    struct number_map_row *row = row_of(map, key);
    map->count += row->value == 0;
    *row = (struct number_map_row){key, value};
    return 0;
}

void number_map_finish(struct number_map *map) {
    free(map->rows);
    *map = (struct number_map){0};
}
