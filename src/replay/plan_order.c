/* What operations wait for: earlier ones on the same name, node or open file.
 *
 * Each of these has an order of changes, and of readers between two changes. A reader waits for the change before it, a
 * change for the one before it and all readers since. Calls that only read, and writes that do not extend a file, do
 * not wait for each other. An operation waits only for ones that began earlier, so there is no deadlock. */
#include <fcntl.h>
#include <string.h>

#include "base.h"
#include "replay_private.h"

static void add_edge(struct replay *replay, uint32_t from, uint32_t to) {
    if (from == 0 || from == to)
        return;
    uint32_t place = REPLAY_ADD(replay, &replay->edges);
    if (place)
        replay->edges.at[place] = (struct replay_edge){from, to};
}

static void look(struct replay *replay, struct replay_resource *resource, uint32_t op) {
    add_edge(replay, resource->last_change, op);
    uint32_t place = REPLAY_ADD(replay, &replay->readers);
    if (!place)
        return;
    replay->readers.at[place] = (struct replay_reader){op, resource->readers};
    resource->readers = place;
}

static void change(struct replay *replay, struct replay_resource *resource, uint32_t op) {
    add_edge(replay, resource->last_change, op);
    for (uint32_t reader = resource->readers; reader; reader = replay->readers.at[reader].next)
        add_edge(replay, replay->readers.at[reader].op, op);
    *resource = (struct replay_resource){.last_change = op};
}

static void use_node(struct replay *replay, uint32_t node, uint32_t op, bool is_change) {
    if (node == 0)
        return;
    if (is_change)
        change(replay, &replay->nodes.at[node].resource, op);
    else
        look(replay, &replay->nodes.at[node].resource, op);
}

static void use_name(struct replay *replay, uint32_t directory, const char *text, uint32_t op, bool is_change) {
    uint32_t name = directory && text ? replay_name_of(replay, directory, text) : 0;
    if (!name)
        return;
    if (is_change)
        change(replay, &replay->names.at[name].resource, op);
    else
        look(replay, &replay->names.at[name].resource, op);
}

static void use_handle(struct replay *replay, uint32_t handle, uint32_t op, bool is_change) {
    if (handle == 0)
        return;
    if (is_change)
        change(replay, &replay->handles.at[handle].resource, op);
    else
        look(replay, &replay->handles.at[handle].resource, op);
}

/* True if a call changes how many bytes can be read; updates what the plan knows of that. */
static bool changes_size(struct replay *replay, const struct replay_op *op) {
    bool is_copy = op->out_handle != 0;
    bool is_write = strcmp(op->row->name, "WRITE") == 0;
    uint32_t target = is_copy ? op->other : op->node;
    if (strcmp(op->row->name, "OPEN") == 0 && op->args[0] & O_TRUNC)
        return true;
    if ((!is_write && !is_copy) || op->error || !target)
        return op->row->is_change;
    struct replay_node *node = &replay->nodes.at[target];
    uint64_t end = (is_copy ? op->args[0] : op->offset) + op->result;
    if (end <= node->size_bytes)
        return false;
    node->size_bytes = end;
    return true;
}

static void order_names(struct replay *replay, const struct replay_op *op, uint32_t place) {
    bool is_change = op->row->kind != KIND_LOOKUP;
    uint32_t directory = op->row->kind == KIND_LINK ? op->other : op->node;
    use_name(replay, directory, op->name, place, is_change);
    if (op->row->kind == KIND_RENAME)
        use_name(replay, op->other, op->text, place, true);
    use_node(replay, op->node, place, op->row->kind == KIND_LINK);
    use_node(replay, op->entry, place, is_change);
    use_node(replay, op->replaced, place, true);
    if (op->row->kind == KIND_RENAME || op->row->kind == KIND_LINK)
        use_node(replay, op->other, place, false);
}

void replay_plan_order(struct replay *replay, uint32_t place) {
    const struct replay_op *op = &replay->ops.at[place];
    if (op->plan_reason)
        return;
    bool is_change = changes_size(replay, op);
    if (op->name && op->row->kind != KIND_OTHER) {
        order_names(replay, op, place);
    } else {
        use_node(replay, op->node, place, is_change && !op->out_handle);
        use_node(replay, op->other, place, is_change);
        use_node(replay, op->entry, place, true);
    }
    use_handle(replay, op->handle, place, op->row->kind == KIND_OPEN || op->row->kind == KIND_CLOSE);
    use_handle(replay, op->out_handle, place, false);
}

/* ---- All of them ---- */

static int by_from(const void *a, const void *b) {
    const struct replay_edge *one = a;
    const struct replay_edge *other = b;
    if (one->from != other->from)
        return one->from < other->from ? -1 : 1;
    return one->to < other->to ? -1 : one->to > other->to;
}

/* Operations of one lane are done in order anyway. */
static void keep_edges_between_lanes(struct replay *replay) {
    uint32_t kept = 1;
    for (uint32_t i = 1; i < replay->edges.count; i++) {
        struct replay_edge edge = replay->edges.at[i];
        if (replay->ops.at[edge.from].lane != replay->ops.at[edge.to].lane)
            replay->edges.at[kept++] = edge;
    }
    if (replay->edges.count)
        replay->edges.count = kept;
}

int replay_plan_waits(struct replay *replay) {
    keep_edges_between_lanes(replay);
    if (replay->edges.count > 2)
        qsort(replay->edges.at + 1, replay->edges.count - 1, sizeof(*replay->edges.at), by_from);
    for (uint32_t i = replay->edges.count; i-- > 1;) {
        replay->ops.at[replay->edges.at[i].from].first_edge = i;
        replay->ops.at[replay->edges.at[i].to].pending++;
    }
    free(replay->readers.at);
    replay->readers.at = NULL;
    return replay->error;
}
