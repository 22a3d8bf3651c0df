/* Names of operations, as given. */
#include "op_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int op_names_add(struct op_names *names, const char *argument) {
    const char **grown = reallocarray(names->names, names->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    names->names = grown;
    names->names[names->count++] = strncasecmp(argument, "OP_", 3) == 0 ? argument + 3 : argument;
    return 0;
}

void op_names_finish(struct op_names *names) {
    free(names->names);
    *names = (struct op_names){0};
}

bool op_names_want(const struct op_names *names, const char *op_name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcasecmp(names->names[i], op_name) == 0)
            return true;
    return names->count == 0;
}
