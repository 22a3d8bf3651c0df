/* A list is read, checked against /proc, and said in words. */
#include "attach_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "proc.h"
#include "units.h"

#define SHOWN_MAX 4        /* numbers of a longer list */
#define WRONG_BYTES_MAX 60 /* of what is no number */

const char *attach_processes_parse(char **text, void *member, char why[OPTION_TEXT_SIZE]) {
    static const char dots[] = "...";
    struct attach_processes *processes = member;
    (void)why;
    processes->count = 0;
    for (char *at = *text, *end;; at = end + 1) {
        errno = 0;
        const unsigned long number = strtoul(at, &end, 10);
        if (at[0] < '0' || at[0] > '9' || (*end && *end != ',') || errno != 0 || number == 0 || number > INT32_MAX) {
            const size_t length = strcspn(at, ",");
            if (length > 0) { /* else there is no wrong number to show */
                at[length] = '\0';
                *text = at;
            }
            if (strlen(*text) > WRONG_BYTES_MAX)
                memcpy(*text + WRONG_BYTES_MAX - strlen(dots), dots, sizeof(dots));
            return "must be numbers of processes, such as 4711,4712";
        }
        unsigned i = 0;
        while (i < processes->count && processes->numbers[i] != number)
            i++;
        if (i == ATTACH_PROCESSES_MAX) { /* "1,2,3,4 and 5,003 more" */
            unsigned count = 1;
            char *cut = *text;
            for (char *comma = *text; (comma = strchr(comma, ',')); comma++)
                if (count++ == SHOWN_MAX)
                    cut = comma;
            sprintf(cut, " and %s more", units_count(count - SHOWN_MAX).text);
            return "has more than 4096 processes";
        }
        processes->numbers[i] = (uint32_t)number;
        processes->count += i == processes->count;
        if (!*end)
            return NULL;
    }
}

int attach_processes_check(const struct attach_processes *processes) {
    if (processes->count > 0 && !collector_has_process_numbers()) {
        complain("cannot watch single processes from within a PID namespace: osprof must run outside of it");
        return -EXDEV;
    }
    for (unsigned i = 0; i < processes->count; i++) {
        const uint32_t number = processes->numbers[i];
        uint64_t process;
        if (number == (uint32_t)getpid()) {
            complain("cannot watch process %u: it is osprof itself, which does not measure its own calls", number);
            return -EINVAL;
        }
        CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, number, 0);
        if (fd >= 0)
            continue;
        int error = negative_errno();
        if (proc_status_number(number, "Tgid", 10, &process) && process != number)
            complain("cannot watch process %u: it is a thread of process %u", number, (unsigned)process);
        else if (error == -ESRCH)
            complain("cannot watch process %u: there is none of that number", number);
        else
            complain("cannot watch process %u: %s", number, strerror(-error));
        return error;
    }
    return 0;
}

void attach_processes_add(struct str *text, const struct attach_processes *processes, const char *separator,
                          unsigned numbers_max) {
    for (unsigned i = 0; i < processes->count && i < numbers_max; i++)
        str_addf(text, "%s%u", i == 0 ? "" : separator, processes->numbers[i]);
    if (processes->count > numbers_max)
        str_addf(text, "%s...", separator);
}

void attach_processes_describe(const struct attach_processes *processes, char ret_words[ATTACH_NAME_SIZE]) {
    char name[16] = "";
    if (processes->count == 1) {
        proc_name_read(processes->numbers[0], name, sizeof(name)); /* there is none if it has just ended */
        snprintf(ret_words, ATTACH_NAME_SIZE, "process %u%s%s%s", processes->numbers[0], name[0] ? " (" : "", name,
                 name[0] ? ")" : "");
        return;
    }
    CLEANUP_STR struct str numbers = {0};
    attach_processes_add(&numbers, processes, ", ", SHOWN_MAX);
    snprintf(ret_words, ATTACH_NAME_SIZE, "processes %s", str_text(&numbers));
}

struct process_numbers attach_processes_numbers(const struct attach_processes *processes) {
    return (struct process_numbers){processes->numbers, processes->count};
}
