/* What a program that is executed has to find in its environment to be seen, too. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Programs that are executed from now on are not part of the run. The variable's text itself is changed, so that
 * nothing is allocated. */
static inline void environment_leave(const char *variable) {
    char *value = getenv(variable);
    if (value)
        *value = '\0';
}

/* Whether a program that gets these variables is seen: it has ours, and preloads our library. */
static inline bool environment_is_kept(char *const *variables, const char *variable, const char *library) {
    const size_t length = strlen(variable);
    bool has_variable = false;
    bool has_library = false;
    for (; variables && *variables; variables++) {
        if (strncmp(*variables, variable, length) == 0 && (*variables)[length] == '=')
            has_variable = true;
        else if (strncmp(*variables, "LD_PRELOAD=", sizeof("LD_PRELOAD=") - 1) == 0)
            has_library = strstr(*variables, library) != NULL;
    }
    return has_variable && has_library;
}

#endif
