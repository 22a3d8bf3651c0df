/* The values of an option that may be repeated. */
#include "option_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int option_list_add(struct option_list *list, const char *text) {
    const char **grown = reallocarray(list->texts, list->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    list->texts = grown;
    list->texts[list->count++] = text;
    return 0;
}

void option_list_finish(struct option_list *list) {
    free(list->texts);
    *list = (struct option_list){0};
}

bool option_list_wants(const struct option_list *list, const char *name) {
    for (size_t i = 0; i < list->count; i++)
        if (strcasecmp(list->texts[i], name) == 0)
            return true;
    return list->count == 0;
}
