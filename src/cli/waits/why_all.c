#include "why_all.h"

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "signals.h"
#include "wait_json.h"
#include "wait_page.h"
#include "wait_scope.h"

#define READ_MS 500 /* between two times that the kernel's windows are emptied */

/* ---- The page ----------------------------------------------------------------------------------- */

/* With programs a row has two lines. */
static size_t page_rows(const struct why_all_options *options) {
    return options->by ? WAIT_PAGE_ROWS : WAIT_PAGE_ROWS / 2;
}

/* Errors:  -ENOMEM */
static int print_page(struct wait_watch *watch, const struct wait_view *by_cause, const struct why_all_options *options,
                      const char *whose) {
    const struct wait_page_options page = {.by = wait_by_of_word(options->by),
                                           .has_work = options->has_work,
                                           .has_stacks = options->has_stacks,
                                           .rows_max = options->is_verbose ? 0 : page_rows(options),
                                           .whose = whose};
    const struct screen screen = screen_of_stdout((int)options->width, options->ascii);
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
            wait_json_print(watch, &by_cause, whose, stdout);
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

/* Errors: reported to the user */
static int start(const struct why_all_options *options, const struct wait_scope *scope, struct wait_watch *ret_watch) {
    int error = wait_watch_start(scope->processes, &scope->cgroup, ret_watch);
    if (error || !options->has_locks)
        return error;
    error = wait_watch_locks(ret_watch);
    if (error)
        wait_watch_finish(ret_watch);
    return error;
}

static int watch_all(const struct why_all_options *options, const struct wait_scope *scope) {
    struct signals signals;
    struct wait_watch watch;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = start(options, scope, &watch);
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
