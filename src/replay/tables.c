/* Growing arrays, and texts that stay. */
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

void replay_map_set(struct replay *replay, struct number_map *map, uint64_t key, uint32_t value) {
    if (number_map_set(map, key, value) < 0)
        replay->error = -ENOMEM;
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
