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

/* Reads a number, and goes to what is behind it. Returns false if there is none */
static bool read_number(const char **text, uint32_t *ret_number) {
    char *end;
    errno = 0;
    const unsigned long number = strtoul(*text, &end, 10);
    if ((*text)[0] < '0' || (*text)[0] > '9' || (*end && *end != ',') || errno != 0 || number == 0 ||
        number > INT32_MAX)
        return false;
    *text = end;
    *ret_number = (uint32_t)number;
    return true;
}

/* The wrong number alone, if there is one. */
static void show_wrong(char **text, const char *wrong) {
    static const char dots[] = "...";
    const size_t length = strcspn(wrong, ",");
    if (length > 0) {
        *text += wrong - *text;
        (*text)[length] = '\0';
    }
    if (strlen(*text) > WRONG_BYTES_MAX)
        memcpy(*text + WRONG_BYTES_MAX - strlen(dots), dots, sizeof(dots));
}

/* Turns a longer list into "1,2,3,4 and 5,003 more". */
static void show_first(char *list) {
    char *end = list;
    unsigned count = 1;
    for (char *at = list; (at = strchr(at, ',')); at++)
        if (count++ == SHOWN_MAX)
            end = at;
    sprintf(end, " and %s more", units_count(count - SHOWN_MAX).text);
}

const char *attach_processes_parse(char **text, void *member, char why[OPTION_TEXT_SIZE]) {
    struct attach_processes *processes = member;
    (void)why;
    processes->count = 0;
    for (const char *at = *text;; at++) {
        uint32_t number;
        if (!read_number(&at, &number)) {
            show_wrong(text, at);
            return "must be numbers of processes, such as 4711,4712";
        }
        unsigned i = 0;
        while (i < processes->count && processes->numbers[i] != number)
            i++;
        if (i == ATTACH_PROCESSES_MAX) {
            show_first(*text);
            return "has more than 4096 processes";
        }
        processes->numbers[i] = number;
        if (i == processes->count)
            processes->count++;
        if (!*at)
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
            complain("cannot watch process %u: it is osprof itself, whose calls are not counted", number);
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

char *attach_processes_join(const struct attach_processes *processes, const char *separator, unsigned numbers_max) {
    char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return NULL;
    for (unsigned i = 0; i < processes->count && i < numbers_max; i++)
        fprintf(stream, "%s%u", i == 0 ? "" : separator, processes->numbers[i]);
    if (processes->count > numbers_max)
        fprintf(stream, "%s...", separator);
    if (fclose(stream) != 0)
        free(steal_pointer(&text));
    return text;
}

void attach_processes_describe(const struct attach_processes *processes, char ret_words[ATTACH_NAME_SIZE]) {
    char name[16] = "";
    if (processes->count == 1) {
        proc_name_read(processes->numbers[0], name, sizeof(name)); /* there is none if it has just ended */
        snprintf(ret_words, ATTACH_NAME_SIZE, "process %u%s%s%s", processes->numbers[0], name[0] ? " (" : "", name,
                 name[0] ? ")" : "");
        return;
    }
    CLEANUP_FREE char *numbers = attach_processes_join(processes, ", ", SHOWN_MAX);
    snprintf(ret_words, ATTACH_NAME_SIZE, "processes%s%s", numbers ? " " : "", numbers ? numbers : "");
}

struct process_numbers attach_processes_numbers(const struct attach_processes *processes) {
    return (struct process_numbers){processes->numbers, processes->count};
}
