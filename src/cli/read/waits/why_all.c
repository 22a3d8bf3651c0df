/* osprof why -a: watches all threads, and prints a page, or docs/waits.schema.json. */
#include "why_all.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "holders_text.h"
#include "json_fields.h"
#include "json_writer.h"
#include "signals.h"
#include "wait_page.h"

#define READ_MS 500 /* between two times that the kernel's windows are emptied */
#define JSON_VERSION 1

/* ---- As JSON ------------------------------------------------------------------------------------- */

static void write_seconds(struct json_writer *writer, const char *key, uint64_t ns) {
    json_real(writer, key, (double)ns / 1e9);
}

static void write_sums(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row,
                       const char *counted) {
    char cgroup[WAIT_WHO_SIZE];
    json_text(writer, "program", row->program);
    if (row->process > 0) { /* of one */
        wait_cgroups_name(watch->cgroups, row->cgroup, cgroup);
        json_count(writer, "process", row->process);
        json_count(writer, "thread", row->thread);
        json_text(writer, "thread_name", row->thread_name);
        json_text(writer, "cgroup", cgroup);
    }
    json_count(writer, counted, row->waits);
    json_count(writer, "waiting_now", row->now);
    write_seconds(writer, "total_seconds", row->total_ns + row->now_ns);
    write_seconds(writer, "longest_seconds", row->longest_ns);
}

static void write_row(struct json_writer *writer, struct wait_watch *watch, const struct wait_row *row) {
    const char *stack = row->cause->class != WAIT_FOR_CPU ? wait_causes_stack(watch->causes, row->stack) : NULL;
    json_begin(writer, NULL, '{');
    json_why(writer, &row->cause->why);
    json_text(writer, "class", wait_class_name(row->cause->class));
    json_bool(writer, "named", row->cause->is_named);
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

static void write_locks(struct json_writer *writer, struct wait_watch *watch) {
    const struct wait_sums *sums = &watch->locks->sums;
    const struct waits_losses lost = lock_watch_lost(watch->locks);
    json_count(writer, "lost_contentions", lost.no_room);
    json_count(writer, "skipped_contentions", lost.skipped);
    json_begin(writer, "locks", '[');
    for (size_t i = 0; i < sums->count; i++) {
        const struct lock_place *place = lock_place_of(sums->rows[i].cause);
        const char *access = lock_place_access(place);
        json_begin(writer, NULL, '{');
        json_text(writer, "lock", lock_place_name(place));
        if (access)
            json_text(writer, "access", access);
        json_text(writer, "state", lock_place_state(place));
        if (place->function[0])
            json_text(writer, "function", place->function);
        write_sums(writer, watch, &sums->rows[i], "contentions");
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

/* by_cause: made by nobody; whose: NULL: all of the machine. Errors: those of the stream */
static void print_json(struct wait_watch *watch, const struct wait_view *by_cause, const char *whose, FILE *stream) {
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

/* ---- The page ----------------------------------------------------------------------------------- */

/* Errors:  -ENOMEM */
static int print_page(struct wait_watch *watch, const struct wait_view *by_cause, const struct why_all_options *options,
                      const char *whose) {
    const size_t rows_max = options->by ? WAIT_PAGE_ROWS : WAIT_PAGE_ROWS / 2; /* with programs a row has two lines */
    const struct wait_page_options page = {.by = wait_by_of_word(options->by),
                                           .has_work = options->has_work,
                                           .has_stacks = options->has_stacks,
                                           .rows_max = options->is_verbose ? 0 : rows_max,
                                           .whose = whose};
    const struct screen screen = screen_of_stdout();
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, 1);
    struct wait_view by_who;
    int error = wait_watch_view(watch, page.by == WAIT_BY_NOBODY ? WAIT_BY_PROGRAM : page.by, &by_who);
    if (error)
        return error;
    wait_page_put(&sheet, watch, by_cause, &by_who, &page);
    wait_view_finish(&by_who);
    error = watch->locks ? wait_page_put_locks(&sheet, watch, &page) : 0;
    sheet_print(&sheet);
    return error;
}

/* Errors: reported to the user */
static int print(struct wait_watch *watch, const struct why_all_options *options, const char *whose) {
    struct wait_view by_cause;
    int error = wait_watch_view(watch, WAIT_BY_NOBODY, &by_cause);
    if (error == 0) {
        if (options->json)
            print_json(watch, &by_cause, whose, stdout);
        else
            error = print_page(watch, &by_cause, options, whose);
        wait_view_finish(&by_cause);
    }
    if (error)
        complain("cannot add up what threads waited for: %s", strerror(-error));
    return error;
}

/* ---- Watching ----------------------------------------------------------------------------------- */

/* Errors: reported to the user */
static int follow(struct wait_watch *watch, const struct signals *signals, uint64_t for_ns) {
    struct pollfd event = {.fd = signals->fd, .events = POLLIN};
    const int64_t end_ns = for_ns > 0 ? watch->begin_ns + (int64_t)for_ns : INT64_MAX;
    int error = 0;
    for (bool ends = false; error == 0 && !ends;) {
        const int64_t left_ns = end_ns - read_clock_ns(CLOCK_MONOTONIC);
        const int wait_ms = left_ns < READ_MS * NS_PER_MS ? (int)(left_ns / NS_PER_MS) + 1 : READ_MS;
        ends = left_ns <= 0 || (poll(&event, 1, wait_ms) > 0 && signals_take_ending(signals) != 0);
        error = wait_watch_read_with_holders(watch);
    }
    if (error)
        complain("cannot read what threads waited for: %s", strerror(-error));
    return error;
}

static int watch_all(const struct why_all_options *options, const struct wait_scope *scope) {
    struct signals signals;
    struct wait_watch watch;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = wait_watch_start(scope->processes, &scope->cgroup, &watch);
    if (error == 0 && options->has_locks && (error = wait_watch_locks(&watch)) != 0)
        wait_watch_finish(&watch);
    if (error == 0) {
        if (options->for_ns == 0)
            complain("what %s for is counted until Ctrl-C",
                     scope->whose ? scope->whose : "all threads of this machine wait");
        error = follow(&watch, &signals, options->for_ns);
        if (error == 0)
            error = print(&watch, options, scope->whose);
        wait_watch_finish(&watch);
    }
    signals_finish(&signals);
    return error;
}

enum status why_all(const struct why_all_options *options) {
    struct wait_scope scope;
    int error = wait_scope_find(&options->processes, options->cgroup, &scope);
    if (error)
        return STATUS_TROUBLE;
    error = watch_all(options, &scope);
    wait_scope_finish(&scope);
    return error ? STATUS_TROUBLE : STATUS_OK;
}
