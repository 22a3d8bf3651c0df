/* Whose waits are looked at, and watching these. */
#include "wait_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "proc.h"

/* ---- Whose ---------------------------------------------------------------------------------------- */

enum wait_by wait_by_of_word(const char *word) {
    static const char *const words[] = {WAIT_BY_WORDS}; /* in the order of the enum */
    const size_t by = word ? word_index(words, ARRAY_SIZE(words), word) : ARRAY_SIZE(words);
    return by < ARRAY_SIZE(words) ? (enum wait_by)by : WAIT_BY_NOBODY;
}

/* Errors: reported to the user */
static int check_processes(const struct attach_processes *processes) {
    int error = attach_processes_check(processes);
    for (unsigned i = 0; i < processes->count && error == 0; i++) {
        struct proc_stat stat;
        if (!proc_stat_read(processes->numbers[i], &stat) || !proc_stat_is_of_kernel(&stat))
            continue;
        complain("cannot see what process %u waits for: threads of the kernel are left out", processes->numbers[i]);
        error = -EINVAL;
    }
    return error;
}

int wait_scope_find(const struct attach_processes *processes, const char *cgroup, struct wait_scope *ret_scope) {
    struct wait_scope scope = {.processes = processes};
    char words[ATTACH_NAME_SIZE];
    int error = check_processes(processes);
    if (error == 0 && cgroup)
        error = attach_cgroup_find(cgroup, &scope.cgroup);
    if (error)
        return error;
    if (processes->count > 0) {
        attach_processes_describe(processes, words);
        scope.whose = strdup(words);
    } else if (scope.cgroup.path && asprintf(&scope.whose, "control group %s", scope.cgroup.path) < 0) {
        scope.whose = NULL;
    }
    *ret_scope = scope;
    return 0;
}

void wait_scope_finish(struct wait_scope *scope) {
    attach_cgroup_finish(&scope->cgroup);
    free(scope->whose);
    scope->whose = NULL;
}

/* ---- Beginning and end -------------------------------------------------------------------------- */

static int start(const struct attach_processes *processes, const struct attach_cgroup *cgroup, struct wait_watch *watch,
                 char why[COLLECTOR_WHY_SIZE]) {
    char causes_why[THREAD_CAUSES_WHY_SIZE];
    int error = collector_check(why);
    if (error)
        return error;
    error = thread_causes_init(&watch->table, NULL, causes_why);
    const struct process_numbers numbers = attach_processes_numbers(processes);
    watch->cgroups = wait_cgroups_create(cgroup);
    watch->holders = wait_holders_create(&watch->table);
    if (error == 0 && (!watch->cgroups || !watch->holders))
        error = -ENOMEM;
    snprintf(why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
    if (error == 0)
        error = waits_start(&numbers, &watch->waits, why);
    if (error)
        return error;
    watch->causes = wait_causes_create(watch->waits, &watch->table);
    watch->begin_ns = watch->read_ns = waits_begin_ns(watch->waits);
    return watch->causes ? 0 : -ENOMEM;
}

/* Its causes point into it. */
int wait_watch_start(const struct attach_processes *processes, const struct attach_cgroup *cgroup,
                     struct wait_watch *ret_watch) {
    char why[COLLECTOR_WHY_SIZE];
    *ret_watch = (struct wait_watch){.waits = NULL};
    int error = start(processes, cgroup, ret_watch, why);
    if (error) {
        complain("cannot see what threads wait for: %s%s", why,
                 error == -EPERM && geteuid() != 0 ? COLLECTOR_PERMISSION_HINT : "");
        wait_watch_finish(ret_watch);
    }
    return error;
}

int wait_watch_locks(struct wait_watch *watch) {
    int error = lock_watch_start(watch->waits, &watch->locks);
    if (error == 0)
        wait_holders_know_locks(watch->holders, watch->locks);
    return error;
}

void wait_watch_finish(struct wait_watch *watch) {
    wait_sums_finish(&watch->sums);
    lock_watch_destroy(watch->locks);
    wait_causes_destroy(watch->causes);
    wait_cgroups_destroy(watch->cgroups);
    wait_holders_destroy(watch->holders);
    waits_finish(watch->waits);
    thread_causes_finish(&watch->table);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* A lock_watched_fn. The kernel tells only those of the processes. */
static bool is_watched(void *context, const struct waited_cell *cell) {
    struct wait_watch *watch = context;
    return wait_cgroups_has(watch->cgroups, cell->cgroup);
}

/* A waits_ended_fn. */
static void add(void *context, const struct waited_cell *cell, const struct waited_sum *sum) {
    struct wait_watch *watch = context;
    if (!is_watched(watch, cell))
        return;
    if (cell->kind == WAITED_UNSEEN)
        watch->unseen += sum->waits;
    else
        wait_sums_add(&watch->sums, wait_causes_find(watch->causes, cell), cell, sum);
}

/* A waits_now_fn. */
static void add_now(void *context, const struct waiting_now *now) {
    struct wait_watch *watch = context;
    if (!is_watched(watch, &now->cell))
        return;
    const struct wait_cause *cause = wait_causes_find(watch->causes, &now->cell);
    wait_sums_add_now(&watch->sums, cause, now);
    wait_holders_note(watch->holders, cause, now);
}

int wait_watch_read(struct wait_watch *watch) {
    const struct waits_readers readers = {add, add_now, watch};
    wait_sums_begin_now(&watch->sums);
    wait_holders_begin_now(watch->holders);
    int error = waits_read(watch->waits, &readers);
    if (error == 0 && watch->locks)
        error = lock_watch_read(watch->locks, is_watched, watch);
    watch->read_ns = read_clock_ns(CLOCK_MONOTONIC);
    return error ? error : watch->sums.has_no_memory ? -ENOMEM : 0;
}

int wait_watch_read_with_holders(struct wait_watch *watch) {
    int error = wait_watch_read(watch);
    wait_holders_look(watch->holders, watch->causes);
    return error;
}

int wait_watch_view(struct wait_watch *watch, enum wait_by by, struct wait_view *ret_view) {
    const uint64_t elapsed_ns = (uint64_t)(watch->read_ns - watch->begin_ns);
    return wait_view_make(&watch->sums, elapsed_ns, by, watch->cgroups, ret_view);
}

void wait_watch_mark(struct wait_watch *watch) {
    wait_sums_mark(&watch->sums);
    watch->begin_ns = watch->read_ns;
}

struct waits_losses wait_watch_lost(const struct wait_watch *watch) {
    struct waits_losses losses = waits_lost(watch->waits);
    losses.unseen = watch->unseen;
    return losses;
}
