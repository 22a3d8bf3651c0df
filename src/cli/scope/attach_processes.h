/* Processes that are watched: some, and their descendants. */
#ifndef ATTACH_PROCESSES_H
#define ATTACH_PROCESSES_H

#include <stdint.h>

#include "collector.h"
#include "option_table.h"
#include "str.h"

#define ATTACH_PROCESSES_MAX 4096
#define ATTACH_NAME_SIZE 64

struct attach_processes {
    uint32_t numbers[ATTACH_PROCESSES_MAX];
    unsigned count; /* 0: all */
};

/* Reads "4711,4712" into a struct attach_processes. Of what is wrong *text becomes the part to show, in the same memory. See
 * option_row.parse */
const char *attach_processes_parse(char **text, void *member, char why[OPTION_TEXT_SIZE]);

/* The option that takes them. */
#define ROW_PROCESSES(text, type, processes)                                                                           \
    {                                                                                                                  \
        .name = "pid", .metavar = "PID[,PID]...", .help = text, .completed_as = "process", .kind = OPTION_PARSED,      \
        .offset = offsetof(type, processes), .parse = attach_processes_parse                                           \
    }

/* Whether they can be watched: each is there, and is no mere thread. Errors: reported to the user */
int attach_processes_check(const struct attach_processes *processes);

/* Adds "4711, 4712"; of more than numbers_max "4711, 4712, ...". */
void attach_processes_add(struct str *text, const struct attach_processes *processes, const char *separator,
                          unsigned numbers_max);

/* "process 4711 (postgres)", or "processes 4711, 4712, ...". */
void attach_processes_describe(const struct attach_processes *processes, char ret_words[ATTACH_NAME_SIZE]);

/* The same, for collectors. Owner: processes */
struct process_numbers attach_processes_numbers(const struct attach_processes *processes);

#endif
