/* Nodes are in one array, in the order in which they were learnt, and in two hash tables, whose chains are indices into
 * it. If a node has several names, the last one looked up counts. */
#include "nodes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define DEPTH_MAX 256

struct node {
    uint64_t number; /* 0: this place is free */
    uint64_t parent;
    char *name;
    uint32_t next_by_number; /* place + 1; 0: none */
    uint32_t next_by_name;
};

int nodes_init(struct nodes *nodes) {
    *nodes = (struct nodes){.nodes = calloc(NODES_MAX, sizeof(struct node)),
                            .by_number = calloc(NODES_MAX, sizeof(uint32_t)),
                            .by_name = calloc(NODES_MAX, sizeof(uint32_t))};
    pthread_mutex_init(&nodes->lock, NULL);
    if (nodes->nodes && nodes->by_number && nodes->by_name)
        return 0;
    nodes_finish(nodes);
    return -ENOMEM;
}

void nodes_finish(struct nodes *nodes) {
    for (uint32_t i = 0; nodes->nodes && i < NODES_MAX; i++)
        free(nodes->nodes[i].name);
    free(nodes->nodes);
    free(nodes->by_number);
    free(nodes->by_name);
    nodes->nodes = NULL;
    nodes->by_number = nodes->by_name = NULL;
    pthread_mutex_destroy(&nodes->lock);
}

/* ---- Chains; under the lock --------------------------------------------------------------------- */

static uint32_t *number_chain(const struct nodes *nodes, uint64_t number) {
    return &nodes->by_number[(number * UINT64_C(0x9e3779b97f4a7c15)) >> 48];
}

static uint32_t *name_chain(const struct nodes *nodes, uint64_t parent, const char *name) {
    return &nodes->by_name[hash_text(HASH_BEGIN ^ parent, name) % NODES_MAX];
}

static struct node *find_number(const struct nodes *nodes, uint64_t number) {
    uint32_t place = *number_chain(nodes, number);
    while (place > 0 && nodes->nodes[place - 1].number != number)
        place = nodes->nodes[place - 1].next_by_number;
    return place > 0 ? &nodes->nodes[place - 1] : NULL;
}

static struct node *find_name(const struct nodes *nodes, uint64_t parent, const char *name) {
    uint32_t place = *name_chain(nodes, parent, name);
    for (; place > 0; place = nodes->nodes[place - 1].next_by_name) {
        struct node *node = &nodes->nodes[place - 1];
        if (node->parent == parent && strcmp(node->name, name) == 0)
            return node;
    }
    return NULL;
}

static void unlink_node(struct nodes *nodes, struct node *node) {
    const uint32_t place = (uint32_t)(node - nodes->nodes) + 1;
    uint32_t *link = number_chain(nodes, node->number);
    while (*link != place)
        link = &nodes->nodes[*link - 1].next_by_number;
    *link = node->next_by_number;
    link = name_chain(nodes, node->parent, node->name);
    while (*link != place)
        link = &nodes->nodes[*link - 1].next_by_name;
    *link = node->next_by_name;
    free(node->name);
    *node = (struct node){.number = 0};
}

static void add(struct nodes *nodes, uint64_t parent, const char *name, uint64_t number) {
    char *copy = strdup(name);
    struct node *known = find_number(nodes, number);
    struct node *named = find_name(nodes, parent, name);
    if (!copy)
        return;
    if (known)
        unlink_node(nodes, known);
    if (named && named != known)
        unlink_node(nodes, named);
    struct node *place = known ? known : &nodes->nodes[nodes->next];
    if (!known)
        nodes->next = (nodes->next + 1) % NODES_MAX;
    if (place->number != 0)
        unlink_node(nodes, place);
    uint32_t *with_number = number_chain(nodes, number);
    uint32_t *with_name = name_chain(nodes, parent, name);
    *place = (struct node){
        .number = number, .parent = parent, .name = copy, .next_by_number = *with_number, .next_by_name = *with_name};
    *with_number = *with_name = (uint32_t)(place - nodes->nodes) + 1;
}

/* ---- The interface ------------------------------------------------------------------------------ */

/* True for a name that a path may hold. */
static bool is_name(const char *name) {
    return name[0] && strlen(name) <= NAME_MAX && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

void nodes_add(struct nodes *nodes, uint64_t parent, const char *name, uint64_t number) {
    if (number == 0 || number == NODES_ROOT || !is_name(name))
        return;
    pthread_mutex_lock(&nodes->lock);
    const struct node *known = find_number(nodes, number);
    if (!known || known->parent != parent || strcmp(known->name, name) != 0)
        add(nodes, parent, name, number);
    pthread_mutex_unlock(&nodes->lock);
}

void nodes_remove(struct nodes *nodes, uint64_t parent, const char *name) {
    pthread_mutex_lock(&nodes->lock);
    struct node *node = find_name(nodes, parent, name);
    if (node)
        unlink_node(nodes, node);
    pthread_mutex_unlock(&nodes->lock);
}

void nodes_move(struct nodes *nodes, uint64_t parent, const char *name, uint64_t new_parent, const char *new_name) {
    pthread_mutex_lock(&nodes->lock);
    const struct node *node = find_name(nodes, parent, name);
    if (node && is_name(new_name))
        add(nodes, new_parent, new_name, node->number);
    pthread_mutex_unlock(&nodes->lock);
}

uint64_t nodes_directory(struct nodes *nodes, uint64_t number) {
    pthread_mutex_lock(&nodes->lock);
    const struct node *node = find_number(nodes, number);
    const uint64_t parent = node ? node->parent : number == NODES_ROOT ? NODES_ROOT : 0;
    pthread_mutex_unlock(&nodes->lock);
    return parent;
}

char *nodes_path(struct nodes *nodes, uint64_t number) {
    char path[PATH_MAX];
    size_t at = PATH_MAX - 1;
    bool is_known = true;
    path[at] = '\0';
    pthread_mutex_lock(&nodes->lock);
    for (unsigned depth = 0; number != NODES_ROOT && is_known; depth++) {
        const struct node *node = depth < DEPTH_MAX ? find_number(nodes, number) : NULL;
        size_t length = node ? strlen(node->name) : 0;
        is_known = node && length + 1 <= at;
        while (is_known && length > 0)
            path[--at] = node->name[--length];
        if (is_known)
            path[--at] = '/';
        number = node ? node->parent : 0;
    }
    pthread_mutex_unlock(&nodes->lock);
    if (!is_known)
        return NULL;
    return strdup(path[at] ? path + at : "/");
}
