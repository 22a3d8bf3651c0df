/* Paths of nodes and names of callers: from the string table, and for nodes that calls have found or created from these
 * calls: their records have the name and the directory. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_private.h"

#define DEPTH_MAX 128U

/* ---- The string table ---- */

/* The first entry of that kind and key; string_count if there is none. */
static size_t find_string(const struct events_file *file, uint32_t kind, uint64_t key) {
    size_t from = 0;
    size_t to = file->string_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct events_string *head = &file->strings[middle].head;
        if (head->kind < kind || (head->kind == kind && head->key < key))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_of(const struct events_file *file, size_t place, uint32_t kind, uint64_t key) {
    return place < file->string_count && file->strings[place].head.kind == kind && file->strings[place].head.key == key;
}

static struct events_text text_of(const struct events_string_seen *string) {
    return (struct events_text){.bytes = string->bytes, .length = string->length, .true_length = string->length};
}

struct events_text events_path(const struct events_file *file, uint64_t node, uint64_t cycles) {
    size_t place = find_string(file, EVENTS_STRING_PATH, node);
    struct events_text path = {0};
    for (; is_of(file, place, EVENTS_STRING_PATH, node); place++)
        if (!path.bytes || file->strings[place].head.value <= cycles)
            path = text_of(&file->strings[place]);
    return path;
}

uint64_t events_task(const struct events_file *file, const struct event *event, struct events_text *ret_name) {
    size_t place = find_string(file, EVENTS_STRING_TASK, event->thread);
    uint64_t process = 0;
    *ret_name = events_text_of(file, event, "program");
    if (ret_name->bytes)
        return events_value(file, event, "process");
    for (; is_of(file, place, EVENTS_STRING_TASK, event->thread); place++) {
        *ret_name = text_of(&file->strings[place]);
        process = file->strings[place].head.value;
    }
    return process;
}

/* ---- Links ---- */

static int compare_links(const void *left, const void *right) {
    const struct events_link *a = left;
    const struct events_link *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->cycles > b->cycles) - (a->cycles < b->cycles);
}

static int take_link(void *context, const struct event *event) {
    struct events_file *file = context;
    const struct events_link link = {.node = events_value(file, event, "entry"),
                                     .cycles = event->end_cycles,
                                     .directory = event->node,
                                     .name = events_text_of(file, event, "name")};
    if (link.node == 0 || !link.name.bytes)
        return 0;
    int err = grow_array(&file->links, file->link_count, sizeof(*file->links));
    if (err == 0)
        file->links[file->link_count++] = link;
    return err;
}

int events_find_links(struct events_file *file) {
    int err = file->flags & EVENTS_NAMES ? events_each(file, take_link, file) : 0;
    if (file->link_count > 0)
        qsort(file->links, file->link_count, sizeof(*file->links), compare_links);
    return err;
}

/* The last link until then, else the next one; NULL: there is none. */
static const struct events_link *find(const struct events_file *file, uint64_t node, uint64_t cycles) {
    size_t from = 0;
    size_t to = file->link_count;
    while (from < to) { /* the first one after that moment */
        size_t middle = from + (to - from) / 2;
        const struct events_link *link = &file->links[middle];
        if (link->node < node || (link->node == node && link->cycles <= cycles))
            from = middle + 1;
        else
            to = middle;
    }
    if (from > 0 && file->links[from - 1].node == node)
        return &file->links[from - 1];
    return from < file->link_count && file->links[from].node == node ? &file->links[from] : NULL;
}

/* ---- Paths ---- */

static size_t append(char path[EVENTS_PATH_SIZE], size_t length, const struct events_text *text) {
    size_t room = EVENTS_PATH_SIZE - 1 - length;
    size_t count = strnlen(text->bytes, text->length < room ? text->length : room); /* hostile files have zeros */
    memcpy(path + length, text->bytes, count);
    path[length + count] = '\0';
    return length + count;
}

static size_t append_name(char path[EVENTS_PATH_SIZE], size_t length, const struct events_text *name) {
    static const struct events_text slash = {.bytes = "/", .length = 1};
    if (length > 0 && path[length - 1] != '/')
        length = append(path, length, &slash);
    return append(path, length, name);
}

size_t events_whole_path(const struct events_file *file, uint64_t node, uint64_t cycles,
                         char ret_path[EVENTS_PATH_SIZE]) {
    struct events_text names[DEPTH_MAX];
    unsigned depth = 0;
    struct events_text path = events_path(file, node, cycles);
    const struct events_link *link;
    ret_path[0] = '\0';
    while (!path.bytes && depth < DEPTH_MAX && (link = find(file, node, cycles))) {
        names[depth++] = link->name;
        node = link->directory;
        path = events_path(file, node, cycles);
    }
    if (!path.bytes)
        return 0;
    size_t length = append(ret_path, 0, &path);
    while (depth > 0)
        length = append_name(ret_path, length, &names[--depth]);
    return length;
}

void events_path_of(const struct events_file *file, const struct event *event, char ret_path[EVENTS_PATH_SIZE]) {
    const struct events_text name = events_text_of(file, event, "name");
    size_t length = events_whole_path(file, event->node, event->start_cycles, ret_path);
    if (name.bytes)
        append_name(ret_path, length, &name);
}
