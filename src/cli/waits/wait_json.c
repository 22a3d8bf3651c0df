#include "wait_json.h"

#include "holders_text.h"
#include "json_fields.h"
#include "json_writer.h"
#include "lock_watch.h"

#define JSON_VERSION 1

static void write_seconds(struct json_writer *writer, const char *key, uint64_t ns) {
    json_real(writer, key, (double)ns / 1e9);
}

static void write_cause(struct json_writer *writer, const struct wait_cause *cause) {
    json_why(writer, &cause->why);
    json_text(writer, "class", wait_class_name(cause->class));
    json_bool(writer, "named", cause->is_named);
}

static void write_who(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row) {
    char cgroup[WAIT_WHO_SIZE];
    json_text(writer, "program", row->program);
    if (row->process == 0) /* of several */
        return;
    wait_cgroups_name(watch->cgroups, row->cgroup, cgroup);
    json_count(writer, "process", row->process);
    json_count(writer, "thread", row->thread);
    json_text(writer, "thread_name", row->thread_name);
    json_text(writer, "cgroup", cgroup);
}

static void write_sums(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row,
                       const char *counted) {
    write_who(writer, watch, row);
    json_count(writer, counted, row->waits);
    json_count(writer, "waiting_now", row->now);
    write_seconds(writer, "total_seconds", row->total_ns + row->now_ns);
    write_seconds(writer, "longest_seconds", row->longest_ns);
}

static void write_row(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row) {
    const char *stack = row->cause->class != WAIT_FOR_CPU ? wait_causes_stack(watch->causes, row->stack) : NULL;
    json_begin(writer, NULL, '{');
    write_cause(writer, row->cause);
    write_sums(writer, watch, row, "waits");
    if (stack)
        json_text(writer, "stack", stack);
    const struct wait_held *held = wait_holders_find(watch->holders, WAIT_BY_THREAD, row);
    if (held) {
        char text[HOLDERS_TEXT_SIZE];
        json_text(writer, "holder", holders_format(held->chain, text, sizeof(text)));
        json_links(writer, held->chain);
    }
    json_end(writer, '}');
}

/* ---- Locks ----------------------------------------------------------------------------------------- */

static void write_lock(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row) {
    const struct lock_place *place = lock_place_of(row->cause);
    const char *access = lock_place_access(place);
    json_begin(writer, NULL, '{');
    json_text(writer, "lock", lock_place_name(place));
    if (access)
        json_text(writer, "access", access);
    json_text(writer, "state", lock_place_state(place));
    if (place->function[0])
        json_text(writer, "function", place->function);
    write_sums(writer, watch, row, "contentions");
    json_end(writer, '}');
}

static void write_locks(struct json_writer *writer, struct wait_watch *watch) {
    const struct wait_sums *sums = &watch->locks->sums;
    const struct waits_losses lost = lock_watch_lost(watch->locks);
    json_count(writer, "lost_contentions", lost.no_room);
    json_count(writer, "skipped_contentions", lost.skipped);
    json_begin(writer, "locks", '[');
    for (size_t i = 0; i < sums->count; i++)
        write_lock(writer, watch, &sums->rows[i]);
    json_end(writer, ']');
}

/* ---- The document -------------------------------------------------------------------------------- */

void wait_json_print(struct wait_watch *watch, const struct wait_view *by_cause, const char *whose, FILE *stream) {
    const struct waits_losses lost = wait_watch_lost(watch);
    struct json_writer writer = {.stream = stream};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", JSON_VERSION);
    if (whose)
        json_text(&writer, "of", whose);
    write_seconds(&writer, "elapsed_seconds", by_cause->elapsed_ns);
    json_count(&writer, "threads", by_cause->threads);
    json_count(&writer, "processes", by_cause->processes);
    json_count(&writer, "threads_of_work", by_cause->work_threads);
    write_seconds(&writer, "total_seconds", by_cause->total_ns);
    write_seconds(&writer, "unnamed_seconds", by_cause->unnamed_ns);
    write_seconds(&writer, "work_seconds", by_cause->work_ns);
    json_count(&writer, "lost_waits", lost.no_room + lost.unseen);
    if (lost.processes > 0)
        json_count(&writer, "lost_processes", lost.processes);
    json_count(&writer, "skipped_waits", lost.skipped);
    const char *hidden = wait_holders_hidden(watch->holders);
    if (hidden)
        json_text(&writer, "hidden", hidden);
    json_begin(&writer, "waits", '[');
    for (size_t i = 0; i < watch->sums.count; i++)
        write_row(&writer, watch, &watch->sums.rows[i]);
    json_end(&writer, ']');
    if (watch->locks)
        write_locks(&writer, watch);
    json_end(&writer, '}');
    putc('\n', stream);
}
