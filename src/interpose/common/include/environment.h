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

static inline bool environment_is_there(const void *pointer) {
    const uintptr_t at = (uintptr_t)pointer / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES;
    const bool is_aligned = at == (uintptr_t)pointer;
    return memory_has_word(at) && (is_aligned || memory_has_word(at + MEMORY_WORD_BYTES));
}

/* True if a program with these variables is observed: it has ours, and preloads our library. Memory that is not there
 * is left to the kernel to refuse. May change errno */
static inline bool environment_is_kept(char *const *variables, const char *variable, const char *library) {
    const size_t length = strlen(variable);
    bool has_variable = false;
    bool has_library = false;
    for (; environment_is_there(variables) && *variables && environment_is_there(*variables); variables++) {
        if (strncmp(*variables, variable, length) == 0 && (*variables)[length] == '=')
            has_variable = true;
        else if (strncmp(*variables, "LD_PRELOAD=", sizeof("LD_PRELOAD=") - 1) == 0)
            has_library = strstr(*variables, library) != NULL;
    }
    return has_variable && has_library;
}

#endif
