#include "wait_processes.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "proc.h"

#define BEGIN_FIELD 22 /* of proc_pid_stat(5), in ticks */

/* Values of the map. */
#define BEGAN_UNKNOWN UINT64_C(1)
#define BEGAN_MIN UINT64_C(2) /* is added to ticks */
#define ENDED UINT64_MAX

static uint64_t read_begin(uint64_t process) {
    struct proc_stat stat;
    const char *field = proc_stat_read(process, &stat) ? proc_stat_field(&stat, BEGIN_FIELD) : NULL;
    return field ? strtoull(field, NULL, 10) + BEGAN_MIN : BEGAN_UNKNOWN;
}

static int add(struct wait_processes *processes, uint64_t process) {
    return number_map_set(&processes->some, process, read_begin(process));
}

int wait_processes_init(struct wait_processes *ret_processes, const struct attach_processes *asked) {
    int error = 0;
    *ret_processes = (struct wait_processes){.are_some = asked->count > 0};
    for (unsigned i = 0; i < asked->count && error == 0; i++)
        error = add(ret_processes, asked->numbers[i]);
    return error;
}

void wait_processes_finish(struct wait_processes *processes) {
    number_map_finish(&processes->some);
}

bool wait_processes_have(struct wait_processes *processes, const struct waited_cell *cell) {
    if (!processes->are_some || number_map_get(&processes->some, cell->process) > 0)
        return true;
    return number_map_get(&processes->some, cell->parent) > 0 && add(processes, cell->process) == 0;
}

/* /proc may hide processes of others. */
static bool has_ended(uint64_t process, uint64_t began) {
    if (kill((pid_t)process, 0) < 0 && errno == ESRCH)
        return true;
    const uint64_t begins = read_begin(process);
    return began != BEGAN_UNKNOWN && begins != BEGAN_UNKNOWN && began != begins;
}

void wait_processes_mark_ended(struct wait_processes *processes) {
    struct number_map *some = &processes->some;
    for (size_t i = 0; i < some->room; i++) {
        if (some->rows[i].value == 0 || !has_ended(some->rows[i].key, some->rows[i].value))
            continue;
        some->rows[i].value = ENDED;
        processes->has_ended = true;
    }
}

/* Without memory they are forgotten the next time. */
void wait_processes_forget_ended(struct wait_processes *processes) {
    struct number_map left = {.count = 0};
    const struct number_map *some = &processes->some;
    for (size_t i = 0; processes->has_ended && i < some->room; i++) {
        if (some->rows[i].value == 0 || some->rows[i].value == ENDED)
            continue;
        if (number_map_set(&left, some->rows[i].key, some->rows[i].value) != 0) {
            number_map_finish(&left);
            return;
        }
    }
    if (!processes->has_ended)
        return;
    number_map_finish(&processes->some);
    processes->some = left;
    processes->has_ended = false;
}
