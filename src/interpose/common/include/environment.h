/* What an executed program must find in its environment to be observed too. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "memory_look.h"

/* Programs executed from now on are not part of the run. This changes the variable's text itself, so nothing is
 * allocated. */
static inline void environment_leave(const char *variable) {
    char *value = getenv(variable);
    if (value)
        *value = '\0';
}

static inline bool environment_is_there(const void *pointer, bool is_checked) {
    if (!is_checked)
        return true;
    const uintptr_t at = (uintptr_t)pointer / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    const bool is_aligned = at == (uintptr_t)pointer;
    return memory_has_word(at) && (is_aligned || memory_has_word(at + MEMORY_WORD_BYTES));
}

struct environment {
    const char *preloaded; /* LD_PRELOAD; NULL: there is none */
    size_t count;          /* of variables */
    bool has_run;          /* ours is there */
    bool is_traced;        /* the loader does not start the program, but lists what it loads: so ldd(1) works */
};

/* Reads variables, up to memory that is not there if that is checked: it is left to the kernel to refuse. May change
 * errno */
static inline struct environment environment_read(char *const *variables, const char *variable, bool is_checked) {
    static const char list[] = "LD_PRELOAD=";
    static const char trace[] = "LD_TRACE_LOADED_OBJECTS=";
    const size_t length = strlen(variable);
    struct environment found = {.preloaded = NULL};
    for (; environment_is_there(variables, is_checked) && *variables && environment_is_there(*variables, is_checked);
         variables++) {
        if (strncmp(*variables, variable, length) == 0 && (*variables)[length] == '=')
            found.has_run = true;
        else if (strncmp(*variables, list, sizeof(list) - 1) == 0)
            found.preloaded = *variables + sizeof(list) - 1;
        else if (strncmp(*variables, trace, sizeof(trace) - 1) == 0)
            found.is_traced = true;
        found.count++;
    }
    return found;
}

#endif
