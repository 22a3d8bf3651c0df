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

#define ENVIRONMENT_PAGES 4U

/* at: aligned to a word. known: pages that are there, as few have all variables */
static inline bool environment_has_word(uintptr_t at, uintptr_t known[ENVIRONMENT_PAGES]) {
    const uintptr_t page = at / MEMORY_LEAST_PAGE_BYTES;
    if (known[page % ENVIRONMENT_PAGES] != page && memory_has_word(at))
        known[page % ENVIRONMENT_PAGES] = page;
    return known[page % ENVIRONMENT_PAGES] == page;
}

/* known: NULL: memory is not checked */
static inline bool environment_is_there(const void *pointer, uintptr_t *known) {
    const uintptr_t at = (uintptr_t)pointer / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    const bool is_aligned = at == (uintptr_t)pointer;
    return !known || (at >= MEMORY_LEAST_PAGE_BYTES && environment_has_word(at, known) &&
                      (is_aligned || environment_has_word(at + MEMORY_WORD_BYTES, known)));
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
    uintptr_t pages[ENVIRONMENT_PAGES] = {0};
    uintptr_t *known = is_checked ? pages : NULL;
    struct environment found = {.preloaded = NULL};
    for (; environment_is_there(variables, known) && *variables && environment_is_there(*variables, known);
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
