/* Which names exist at each point of the recording, and so which must have existed before it.
 *
 * A name that is used before anything made it existed. So did a name in a path that the file knows, even if nobody
 * looked it up: the kernel had it in its cache, or found it while it listed the directory. */
#include <string.h>

#include "base.h"
#include "replay_private.h"

/* ---- Names ---- */

static uint32_t hash_name(uint32_t directory, const char *text) {
    uint32_t hash = 2166136261U ^ directory * 2654435761U;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash ^ hash >> 15;
}

static void put_in_table(struct replay *replay, uint32_t place) {
    struct replay_name *name = &replay->names.at[place];
    uint32_t *row = &replay->name_table[hash_name(name->directory, name->text) & (replay->name_table_room - 1)];
    name->next = *row;
    *row = place;
}

static bool grow_table(struct replay *replay) {
    uint32_t room = replay->name_table_room ? 2 * replay->name_table_room : 1024;
    uint32_t *table = calloc(room, sizeof(*table));
    if (!table) {
        replay->error = -ENOMEM;
        return false;
    }
    free(replay->name_table);
    replay->name_table = table;
    replay->name_table_room = room;
    for (uint32_t place = 1; place < replay->names.count; place++)
        put_in_table(replay, place);
    return true;
}

uint32_t replay_name_of(struct replay *replay, uint32_t directory, const char *text) {
    uint32_t row = replay->name_table_room ? hash_name(directory, text) & (replay->name_table_room - 1) : 0;
    for (uint32_t place = replay->name_table_room ? replay->name_table[row] : 0; place;
         place = replay->names.at[place].next)
        if (replay->names.at[place].directory == directory && strcmp(replay->names.at[place].text, text) == 0)
            return place;
    if (replay->names.count >= replay->name_table_room && !grow_table(replay))
        return 0;
    uint32_t place = REPLAY_ADD(replay, &replay->names);
    if (place) {
        replay->names.at[place].directory = directory;
        replay->names.at[place].text = text;
        put_in_table(replay, place);
    }
    return place;
}

/* ---- Nodes ---- */

static void learn_type(struct replay *replay, uint32_t node, enum replay_type type) {
    if (node && replay->nodes.at[node].type == TYPE_UNKNOWN)
        replay->nodes.at[node].type = type;
}

static uint32_t add_node(struct replay *replay, uint64_t id, enum replay_type type) {
    uint32_t node = REPLAY_ADD(replay, &replay->nodes);
    if (!node)
        return 0;
    replay->nodes.at[node].type = type;
    replay->nodes.at[node].id = id;
    if (id)
        replay_map_set(replay, &replay->node_of_id, id, node);
    return node;
}

/* A node without a number gets one. */
static void identify(struct replay *replay, uint32_t node, uint64_t id) {
    if (id == 0 || replay->nodes.at[node].id == id || replay_map_get(&replay->node_of_id, id))
        return;
    replay->nodes.at[node].id = id;
    replay_map_set(replay, &replay->node_of_id, id, node);
}

uint32_t replay_name_present(struct replay *replay, uint32_t place, uint64_t id, enum replay_type type) {
    if (!place)
        return 0;
    bool is_new = !replay->names.at[place].existed && replay->names.at[place].node == 0;
    uint32_t node = replay->names.at[place].node;
    uint32_t known = id ? replay_map_get(&replay->node_of_id, id) : 0;
    const bool is_another = node && id && replay->nodes.at[node].id != id && (known || replay->nodes.at[node].id);
    if (is_another)
        atomic_store(&replay->is_astray, true);
    if (!node || is_another) /* it has got this name unseen */
        node = known;
    if (!node)
        node = add_node(replay, id, type);
    if (!node)
        return 0;
    identify(replay, node, id);
    learn_type(replay, node, type);
    struct replay_name *name = &replay->names.at[place];
    name->node = node;
    if (is_new && name->resource.last_change == 0) {
        name->existed = true;
        name->first = node;
        replay->nodes.at[node].existed = true;
    }
    return node;
}

uint32_t replay_name_made(struct replay *replay, uint32_t place, uint64_t id, enum replay_type type) {
    uint32_t node = place ? add_node(replay, id, type) : 0;
    if (node)
        replay->names.at[place].node = node;
    return node;
}

/* ---- Paths that the file knows ---- */

/* root: the path is below it */
static uint32_t find_by_path(struct replay *replay, uint32_t root, struct events_text path, uint64_t id,
                             enum replay_type type) {
    const char *at = path.bytes;
    const char *end = path.bytes + path.length;
    uint32_t node = root;
    while (node && at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((slash ? slash : end) - at);
        bool is_last = !slash || slash + 1 == end;
        if (length > 0) {
            if (!replay_is_component(at, length))
                return 0;
            const char *text = replay_keep_text(replay, at, length);
            uint32_t name = text ? replay_name_of(replay, node, text) : 0;
            learn_type(replay, node, TYPE_DIRECTORY);
            node = replay_name_present(replay, name, is_last ? id : 0, is_last ? type : TYPE_DIRECTORY);
        }
        at += length + 1;
    }
    return node == root ? 0 : node;
}

/* The root of a mount: the directory itself, or, if there are several hosts, a directory in it, named by the host's
 * number. */
static uint32_t find_root(struct replay *replay, uint64_t number) {
    const uint64_t id = number << EVENTS_HOST_NODE_SHIFT ^ 1;
    char text[32];
    if (replay->file->host_count == 0)
        return ROOT_NODE;
    uint32_t node = replay_map_get(&replay->node_of_id, id);
    if (node)
        return node;
    snprintf(text, sizeof(text), "host-%llu", (unsigned long long)number);
    const char *kept = replay_keep_text(replay, text, strlen(text));
    return kept ? replay_name_present(replay, replay_name_of(replay, ROOT_NODE, kept), id, TYPE_DIRECTORY) : 0;
}

static uint32_t find_new(struct replay *replay, uint64_t id, uint64_t cycles, enum replay_type type) {
    uint64_t number = replay->file->host_count ? id >> EVENTS_HOST_NODE_SHIFT : 0;
    uint32_t root = find_root(replay, number);
    struct events_text path = events_path(replay->file, id, cycles);
    if (id == (number << EVENTS_HOST_NODE_SHIFT ^ 1))
        return root;
    uint32_t node = root && path.bytes ? find_by_path(replay, root, path, id, type) : 0;
    return node ? node : add_node(replay, id, type); /* its place is unknown */
}

uint32_t replay_node_of(struct replay *replay, uint64_t id, uint64_t cycles, enum replay_type type) {
    uint32_t node = id ? replay_map_get(&replay->node_of_id, id) : 0;
    if (id != 0 && !node)
        node = find_new(replay, id, cycles, type);
    learn_type(replay, node, type);
    return node;
}

/* ---- Operations ---- */

static void plan_lookup(struct replay *replay, struct replay_op *op, uint32_t name, uint64_t id) {
    if (op->error == 0 && id != 0)
        op->entry = replay_name_present(replay, name, id, TYPE_UNKNOWN);
    else if (op->error == ENOENT)
        replay->names.at[name].node = 0;
}

static void plan_make(struct replay *replay, struct replay_op *op, uint32_t name, uint64_t id) {
    if (op->error == 0 && op->row->kind == KIND_OPEN && replay->names.at[name].node &&
        replay->nodes.at[replay->names.at[name].node].id == id)
        op->entry = replay->names.at[name].node; /* it existed already, and is only opened */
    else if (op->error == 0)
        op->entry = replay_name_made(replay, name, id, op->row->type);
    else if (op->error == EEXIST)
        replay_name_present(replay, name, 0, TYPE_UNKNOWN);
}

static void plan_remove(struct replay *replay, struct replay_op *op, uint32_t name) {
    if (op->error == ENOENT) {
        replay->names.at[name].node = 0;
        return;
    }
    if (op->error != 0 && op->error != ENOTEMPTY)
        return;
    op->entry = replay_name_present(replay, name, 0, op->row->type);
    if (op->error == 0)
        replay->names.at[name].node = 0;
}

static void plan_rename(struct replay *replay, struct replay_op *op, uint32_t name) {
    uint32_t new_name = replay_name_of(replay, op->other, op->text);
    if (op->error != 0 || !new_name)
        return;
    bool is_exchange = op->args[0] & RENAME_EXCHANGE;
    op->entry = replay_name_present(replay, name, 0, TYPE_UNKNOWN);
    op->replaced =
        is_exchange ? replay_name_present(replay, new_name, 0, TYPE_UNKNOWN) : replay->names.at[new_name].node;
    replay->names.at[name].node = is_exchange ? op->replaced : 0;
    replay->names.at[new_name].node = op->entry;
}

void replay_plan_names(struct replay *replay, struct replay_op *op, uint64_t entry_id) {
    uint32_t name = replay_name_of(replay, op->row->kind == KIND_LINK ? op->other : op->node, op->name);
    if (!name)
        return;
    switch (op->row->kind) {
    case KIND_LOOKUP:
        plan_lookup(replay, op, name, entry_id);
        break;
    case KIND_REMOVE:
        plan_remove(replay, op, name);
        break;
    case KIND_RENAME:
        plan_rename(replay, op, name);
        break;
    case KIND_LINK:
        if (op->error == 0)
            replay->names.at[name].node = op->node;
        else if (op->error == EEXIST)
            replay_name_present(replay, name, 0, TYPE_UNKNOWN);
        break;
    default:
        plan_make(replay, op, name, entry_id);
    }
}
