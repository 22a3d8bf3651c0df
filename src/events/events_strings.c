/* The string table: paths of nodes, names of callers. */
#include "events_private.h"

/* The first entry of that kind and key; string_count if there is none. */
static size_t find(const struct events_file *file, uint32_t kind, uint64_t key) {
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
    size_t place = find(file, EVENTS_STRING_PATH, node);
    struct events_text path = {0};
    for (; is_of(file, place, EVENTS_STRING_PATH, node); place++)
        if (!path.bytes || file->strings[place].head.value <= cycles)
            path = text_of(&file->strings[place]);
    return path;
}

uint64_t events_task(const struct events_file *file, const struct event *event, struct events_text *ret_name) {
    size_t place = find(file, EVENTS_STRING_TASK, event->thread);
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
