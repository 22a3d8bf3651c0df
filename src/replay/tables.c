/* Growing arrays, maps of numbers, and texts that stay. */
#include <limits.h>
#include <string.h>

#include "base.h"
#include "replay_private.h"

#define BLOCK_BYTES (64U << 10) /* longer than any text of a record */

uint32_t replay_array_add(struct replay *replay, void **at, uint32_t *count, uint32_t *room, size_t member_bytes) {
    if (*count >= *room) {
        uint32_t wanted = *room ? 2 * *room : 64;
        void *grown = wanted > *room ? reallocarray(*at, wanted, member_bytes) : NULL;
        if (!grown) {
            replay->error = wanted > *room ? -ENOMEM : -E2BIG;
            return 0;
        }
        *at = grown;
        *room = wanted;
    }
    if (*count == 0) {
        memset(*at, 0, member_bytes); /* [0] stands for none */
        (*count)++;
    }
    memset((char *)*at + *count * member_bytes, 0, member_bytes);
    return (*count)++;
}

/* ---- Maps ---- */

static uint32_t row_of(const struct replay_map *map, uint64_t key) {
    uint64_t hash = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t place = (uint32_t)(hash >> 32) & (map->room - 1);
    while (map->rows[place].value && map->rows[place].key != key)
        place = (place + 1) & (map->room - 1);
    return place;
}

uint32_t replay_map_get(const struct replay_map *map, uint64_t key) {
    return map->room ? map->rows[row_of(map, key)].value : 0;
}

static int grow_map(struct replay_map *map) {
    struct replay_map grown = {.room = map->room ? 2 * map->room : 256, .count = map->count};
    grown.rows = calloc(grown.room, sizeof(*grown.rows));
    if (!grown.rows)
        return -ENOMEM;
    for (uint32_t i = 0; i < map->room; i++)
        if (map->rows[i].value)
            grown.rows[row_of(&grown, map->rows[i].key)] = map->rows[i];
    free(map->rows);
    *map = grown;
    return 0;
}

void replay_map_set(struct replay *replay, struct replay_map *map, uint64_t key, uint32_t value) {
    if (2 * map->count >= map->room && grow_map(map) < 0) {
        replay->error = -ENOMEM;
        return;
    }
    struct replay_map_row *row = &map->rows[row_of(map, key)];
    map->count += !row->value;
    *row = (struct replay_map_row){key, value};
}

/* ---- Texts ---- */

const char *replay_keep_text(struct replay *replay, const char *bytes, size_t length) {
    struct replay_arena *arena = &replay->arena;
    if (length >= BLOCK_BYTES)
        length = BLOCK_BYTES - 1;
    if (arena->block_count == 0 || arena->used_bytes + length + 1 > BLOCK_BYTES) {
        char **grown = reallocarray(arena->blocks, arena->block_count + 1, sizeof(*grown));
        if (grown)
            arena->blocks = grown;
        char *block = grown ? malloc(BLOCK_BYTES) : NULL;
        if (!block) {
            replay->error = -ENOMEM;
            return NULL;
        }
        grown[arena->block_count++] = block;
        arena->used_bytes = 0;
    }
    char *copy = arena->blocks[arena->block_count - 1] + arena->used_bytes;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    arena->used_bytes += length + 1;
    return copy;
}

bool replay_is_component(const char *bytes, size_t length) {
    bool is_dots = length <= 2 && memcmp(bytes, "..", length) == 0;
    return length >= 1 && length <= NAME_MAX && !is_dots && !memchr(bytes, '/', length) && !memchr(bytes, '\0', length);
}
