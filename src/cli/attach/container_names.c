#include "container_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "container_files.h"
#include "number_map.h"

#define REMEMBERED_MAX 4096U /* of others the names are not looked up: users can make groups for any id */

struct container_names {
    const char *root;
    pthread_mutex_t lock; /* protects the rest */
    struct container *known;
    size_t count;
    struct number_map places; /* by hash: the index in known, and 1 */
};

struct container_names *container_names_create(const char *root) {
    struct container_names *names = calloc(1, sizeof(*names));
    if (!names)
        return NULL;
    names->root = root;
    pthread_mutex_init(&names->lock, NULL);
    return names;
}

void container_names_destroy(struct container_names *names) {
    if (!names)
        return;
    pthread_mutex_destroy(&names->lock);
    number_map_finish(&names->places);
    free(names->known);
    free(names);
}

static bool is_same(const struct container *a, const struct container *b) {
    return a->runtime == b->runtime && a->user == b->user && strcmp(a->id, b->id) == 0;
}

/* Without memory it is not remembered. */
static void remember(struct container_names *names, uint64_t hash, const struct container *container) {
    if (grow_array(&names->known, names->count, sizeof(*names->known)) < 0 ||
        number_map_set(&names->places, hash, names->count + 1) < 0)
        return;
    names->known[names->count++] = *container;
}

static void find_name(struct container_names *names, struct container *container) {
    const uint64_t hash = hash_text(HASH_BEGIN + container->runtime + ((uint64_t)container->user << 8), container->id);
    const uint64_t place = number_map_get(&names->places, hash);
    const struct container *known = place > 0 ? &names->known[place - 1] : NULL;
    if (known && is_same(known, container))
        memcpy(container->name, known->name, sizeof(container->name));
    if (known || names->count >= REMEMBERED_MAX)
        return;
    container_files_read_name(names->root, container);
    remember(names, hash, container);
}

bool container_names_find(struct container_names *names, const char *path, struct container *ret_container) {
    if (!container_parse(path, ret_container))
        return false;
    pthread_mutex_lock(&names->lock);
    if (ret_container->is_certain)
        find_name(names, ret_container);
    pthread_mutex_unlock(&names->lock);
    return true;
}
