/* osprof why -a: what the threads of the machine wait for. */
#ifndef WHY_ALL_H
#define WHY_ALL_H

#include <stdbool.h>
#include <stdint.h>

#include "attach_processes.h"
#include "command.h"

struct why_all_options {
    uint64_t for_ns; /* 0: until a signal asks to end */
    struct attach_processes processes;
    const char *cgroup; /* NULL: all */
    const char *by;     /* NULL: programs of each cause */
    bool has_work;
    bool has_locks;
    bool has_stacks;
    bool is_verbose;
    bool json;
};

enum status why_all(const struct why_all_options *options);

#endif
