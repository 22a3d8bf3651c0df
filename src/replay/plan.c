/* From an events file to operations, in the order of their starts. */
#include <fcntl.h>
#include <string.h>

#include "base.h"
#include "replay_private.h"

/* A call on its way to an operation. */
struct reading {
    struct replay *replay;
    const struct event *event;
    struct replay_op *op;
};

static uint64_t column(const struct reading *reading, const char *name) {
    return events_value(reading->replay->file, reading->event, name);
}

static bool has_column(const struct reading *reading, const char *name) {
    return events_column(reading->replay->file, reading->event->op, name, reading->event->has_more) >= 0;
}

static void refuse(const struct reading *reading, enum replay_reason reason) {
    if (!reading->op->plan_reason)
        reading->op->plan_reason = (uint8_t)reason;
}

/* ---- Texts ---- */

static const char *read_text(const struct reading *reading, const char *which) {
    struct events_text text = events_text_of(reading->replay->file, reading->event, which);
    if (!text.bytes || text.length != text.true_length) {
        refuse(reading, REPLAY_NO_NAME);
        return NULL;
    }
    return replay_keep_text(reading->replay, text.bytes, text.length);
}

static const char *read_component(const struct reading *reading, const char *which) {
    const char *text = read_text(reading, which);
    if (text && !replay_is_component(text, strlen(text)))
        refuse(reading, REPLAY_BAD_NAME);
    return reading->op->plan_reason ? NULL : text;
}

static void read_texts(const struct reading *reading) {
    struct replay_op *op = reading->op;
    switch (op->row->kind) {
    case KIND_LOOKUP:
    case KIND_MAKE:
    case KIND_REMOVE:
        op->name = read_component(reading, "name");
        if (op->row->type == TYPE_SYMLINK)
            op->text = read_text(reading, "target");
        break;
    case KIND_RENAME:
        op->name = read_component(reading, "name");
        op->text = read_component(reading, "new_name");
        break;
    case KIND_LINK:
        op->name = read_component(reading, "new_name");
        break;
    case KIND_OPEN:
        if (strcmp(op->row->name, "CREATE") == 0)
            op->name = read_component(reading, "name");
        break;
    default:
        if (strstr(op->row->name, "XATTR") && strcmp(op->row->name, "LISTXATTR") != 0)
            op->name = read_text(reading, "attribute");
    }
}

/* ---- Objects of operations ---- */

static enum replay_type type_of_node(const struct replay_op *op) {
    switch (op->row->kind) {
    case KIND_LOOKUP:
    case KIND_MAKE:
    case KIND_REMOVE:
    case KIND_RENAME:
        return TYPE_DIRECTORY;
    case KIND_LINK:
        return TYPE_UNKNOWN;
    default:
        return op->name && op->row->kind == KIND_OPEN ? TYPE_DIRECTORY : op->row->type;
    }
}

static void read_nodes(const struct reading *reading) {
    struct replay *replay = reading->replay;
    struct replay_op *op = reading->op;
    uint64_t cycles = op->start_cycles;
    op->node = replay_node_of(replay, reading->event->node, cycles, type_of_node(op));
    if (op->row->kind == KIND_RENAME || op->row->kind == KIND_LINK)
        op->other = replay_node_of(replay, column(reading, "parent"), cycles, TYPE_DIRECTORY);
    else if (has_column(reading, "out_node"))
        op->other = replay_node_of(replay, column(reading, "out_node"), cycles, TYPE_FILE);
    if (op->row->kind == KIND_RENAME || op->row->kind == KIND_LINK ? !op->other : !op->node)
        refuse(reading, REPLAY_NO_PLACE);
}

/* Operations on an open file determine how it must be opened. */
static void learn_use(const struct reading *reading) {
    struct replay_handle *handles = reading->replay->handles.at;
    const struct replay_op *op = reading->op;
    if (op->handle && strcmp(op->row->name, "WRITE") == 0)
        handles[op->handle].is_written = true;
    if (op->handle && (strcmp(op->row->name, "READ") == 0 || op->out_handle))
        handles[op->handle].is_read = true;
    if (op->out_handle)
        handles[op->out_handle].is_written = true;
}

static void read_handles(const struct reading *reading) {
    struct replay *replay = reading->replay;
    struct replay_op *op = reading->op;
    uint64_t file = column(reading, "file");
    uint64_t out_file = column(reading, "out_file");
    bool is_open = op->row->kind == KIND_OPEN;
    const struct replay_handle handle = {
        .node = is_open && op->entry ? op->entry : op->node,
        .opened_cycles = is_open ? op->start_cycles + op->latency_cycles : 0,
        .is_directory = op->row->type == TYPE_DIRECTORY && !(is_open && op->entry),
    };
    const struct replay_handle out = {.node = op->other};
    if (file && is_open && op->error == 0)
        op->handle = replay_handle_open(replay, file, &handle);
    else if (file && !is_open)
        op->handle = replay_handle_of(replay, file, op->start_cycles, &handle);
    if (out_file)
        op->out_handle = replay_handle_of(replay, out_file, op->start_cycles, &out);
    learn_use(reading);
    if (op->row->kind == KIND_CLOSE && op->handle)
        replay_handle_close(replay, file, op->handle);
}

/* ---- Sizes of files ---- */

static void learn_read(struct replay_node *node, uint64_t end) {
    if (end <= node->size_bytes)
        return;
    node->size_bytes = end;
    if (node->existed && !node->is_truncated)
        node->existed_bytes = end;
}

static void learn_truncation(struct replay_node *node, uint64_t size_bytes) {
    node->size_bytes = size_bytes;
    node->is_truncated = true;
}

static void learn_sizes(const struct reading *reading) {
    struct replay_op *op = reading->op;
    struct replay_node *node = &reading->replay->nodes.at[op->node];
    const char *name = op->row->name;
    if (op->error != 0)
        return;
    if (strcmp(name, "READ") == 0 || strcmp(name, "COPY_FILE_RANGE") == 0)
        learn_read(node, op->offset + op->result);
    else if (strcmp(name, "SETATTR") == 0 && op->args[0] & 1U << 3)
        learn_truncation(node, op->size);
    else if (strcmp(name, "OPEN") == 0 && op->args[0] & O_TRUNC)
        learn_truncation(node, 0);
    else if (strcmp(name, "CREATE") == 0 && op->args[0] & O_TRUNC && op->entry)
        learn_truncation(&reading->replay->nodes.at[op->entry], 0);
    else if (strcmp(name, "FALLOCATE") == 0 && op->args[0] == 0 && op->offset + op->size > node->size_bytes)
        node->size_bytes = op->offset + op->size;
}

/* ---- Operations ---- */

/* SETATTR has more arguments than there is room for: times are combined. */
static void read_arguments(const struct reading *reading) {
    struct replay_op *op = reading->op;
    op->size = column(reading, "size");
    op->offset = column(reading, "offset");
    op->result = column(reading, "result");
    op->umask = (uint32_t)column(reading, "umask") & 0777U;
    for (unsigned i = 0; i < ARRAY_SIZE(op->args) && op->row->arguments[i]; i++)
        op->args[i] = column(reading, op->row->arguments[i]);
    if (strcmp(op->row->name, "SETATTR") != 0)
        return;
    op->args[1] = (uint32_t)column(reading, "owner") | column(reading, "group") << 32;
    op->args[2] = column(reading, "atime_s") * 1000000000U + column(reading, "atime_ns");
    op->args[3] = column(reading, "mtime_s") * 1000000000U + column(reading, "mtime_ns");
    op->umask = (uint32_t)column(reading, "mode") & 07777U;
    if (!has_column(reading, "mode") && op->args[0] & ~UINT64_C(0x188))
        refuse(reading, REPLAY_NOT_RECORDED); /* only size and "now" can be repeated */
}

static void plan_op(const struct reading *reading) {
    struct replay *replay = reading->replay;
    struct replay_op *op = reading->op;
    op->row = replay_row_of(replay->file->ops[reading->event->op].name);
    if (!op->row) {
        refuse(reading, REPLAY_UNKNOWN_OP);
        return;
    }
    read_arguments(reading);
    read_texts(reading);
    read_nodes(reading);
    if (!op->plan_reason && op->name && op->row->kind != KIND_OTHER)
        replay_plan_names(replay, op, column(reading, "entry"));
    else if (!op->plan_reason && op->row->kind == KIND_OPEN && column(reading, "entry") && op->error == 0)
        op->entry = replay_node_of(replay, column(reading, "entry"), 0, TYPE_FILE); /* TMPFILE */
    read_handles(reading);
    if (!op->plan_reason)
        learn_sizes(reading);
}

static int add_op(void *context, const struct event *event) {
    struct replay *replay = context;
    if (events_is_outside(replay->file, event)) {
        replay->left_out[event->op]++;
        return 0;
    }
    uint32_t place = REPLAY_ADD(replay, &replay->ops);
    if (!place)
        return replay->error;
    struct replay_op op = {
        .start_cycles = event->start_cycles,
        .latency_cycles = event->latency_cycles,
        .thread = event->thread,
        .error = (uint16_t)event->error,
        .op = (uint8_t)event->op,
    };
    const struct reading reading = {.replay = replay, .event = event, .op = &op};
    plan_op(&reading);
    memcpy(&replay->ops.at[place], &op, sizeof(op));
    replay_plan_order(replay, place);
    return replay->error;
}

/* ---- The whole ---- */

static int plan(struct replay *replay) {
    uint32_t root = REPLAY_ADD(replay, &replay->nodes);
    if (root != ROOT_NODE || replay->file->clock_hz == 0)
        return root ? -ENODATA : -ENOMEM;
    replay->nodes.at[root].type = TYPE_DIRECTORY;
    int err = events_each(replay->file, add_op, replay);
    if (err == 0 && replay->ops.count <= 1)
        err = replay->file->losses.outside > 0 ? -ERANGE : -ENODATA;
    if (err == 0)
        err = replay_plan_lanes(replay);
    return err < 0 ? err : replay_plan_waits(replay);
}

int replay_create(const struct events_file *file, struct replay **ret_replay) {
    struct replay *replay = calloc(1, sizeof(*replay));
    if (!replay)
        return -ENOMEM;
    replay->file = file;
    replay->root_fd = -1;
    int err = plan(replay);
    if (err < 0) {
        replay_destroy(replay);
        return err;
    }
    replay->first_cycles = replay->ops.at[1].start_cycles;
    *ret_replay = replay;
    return 0;
}

void replay_destroy(struct replay *replay) {
    if (!replay)
        return;
    for (size_t i = 0; i < replay->arena.block_count; i++)
        free(replay->arena.blocks[i]);
    free(replay->arena.blocks);
    free(replay->ops.at);
    free(replay->nodes.at);
    free(replay->names.at);
    free(replay->handles.at);
    free(replay->edges.at);
    free(replay->readers.at);
    number_map_finish(&replay->node_of_id);
    number_map_finish(&replay->handle_of_file);
    free(replay->name_table);
    free(replay->lanes);
    free(replay->counts);
    free(replay->differences);
    free(replay);
}
