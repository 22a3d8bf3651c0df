/* osprof top -a: what the threads of the machine wait for, continuously. */
#ifndef TOP_ALL_H
#define TOP_ALL_H

#include "attach_processes.h"
#include "command.h"

struct top_all_options {
    struct attach_processes processes;
    const char *cgroup; /* NULL: all */
    const char *by;     /* NULL: processes; in batches, programs of each cause */
    bool batch;
    bool ascii;
    unsigned count; /* of reports; 0: without end */
    int64_t delay_ns;
};

enum status top_all(const struct top_all_options *options);

#endif
