#include "wait_json.h"

#include "lock_page.h"

#define JSON_VERSION 1

static void write_seconds(struct json_writer *writer, const char *key, uint64_t ns) {
    json_real(writer, key, (double)ns / 1e9);
}

static void write_cause(struct json_writer *writer, const struct wait_cause *cause) {
    static const char *const classes[] = {[WAIT_COUNTS] = "held up", [WAIT_FOR_CPU] = "cpu", [WAIT_IS_WORK] = "work"};
    json_text(writer, "cause", cause->words);
    json_text(writer, "class", classes[cause->class]);
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

void wait_json_write_sums(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row,
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
    wait_json_write_sums(writer, watch, row, "waits");
    if (stack)
        json_text(writer, "stack", stack);
    const struct wait_held *held =
        row->process > 0 ? wait_holders_find(watch->holders, row->cause, row->process) : NULL;
    if (held)
        json_text(writer, "holder", held->sentence);
    json_end(writer, '}');
}

void wait_json_print(struct wait_watch *watch, const struct wait_view *by_cause, const char *whose, FILE *stream) {
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
    json_count(&writer, "lost_waits", wait_watch_lost(watch));
    json_begin(&writer, "waits", '[');
    for (size_t i = 0; i < watch->sums.count; i++)
        write_row(&writer, watch, &watch->sums.rows[i]);
    json_end(&writer, ']');
    if (watch->locks)
        lock_page_write_json(&writer, watch);
    json_end(&writer, '}');
    putc('\n', stream);
}
