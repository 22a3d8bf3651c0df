#include "wait_scope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "proc.h"

enum wait_by wait_by_of_word(const char *word) {
    static const char *const words[] = {WAIT_BY_WORDS}; /* in the order of the enum */
    const size_t by = word ? word_index(words, ARRAY_SIZE(words), word) : ARRAY_SIZE(words);
    return by < ARRAY_SIZE(words) ? (enum wait_by)by : WAIT_BY_NOBODY;
}

static bool is_of_kernel(uint32_t process) {
    struct proc_stat stat;
    return proc_stat_read(process, &stat) && proc_stat_is_of_kernel(&stat);
}

/* Errors: reported to the user */
static int check_processes(const struct attach_processes *processes) {
    int error = attach_processes_check(processes);
    for (unsigned i = 0; i < processes->count && error == 0; i++)
        if (is_of_kernel(processes->numbers[i])) {
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
