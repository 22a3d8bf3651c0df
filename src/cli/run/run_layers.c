#include "run_layers.h"

#include <string.h>

#include "base.h"
#include "option_table.h"
#include "run_served.h"

struct layer_word {
    const char *word;
    unsigned layers;
};

#define WORD_AND_BIT(constant, word) {word, LAYER_##constant},
static const struct layer_word words[] = {LAYER_ROWS(WORD_AND_BIT, NOTHING_OF_ROW){"all", LAYERS_ALL}};

/* NULL if there is none. */
static const struct layer_word *find_word(const char *text, size_t length) {
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i].word) == length && strncmp(words[i].word, text, length) == 0)
            return &words[i];
    return NULL;
}

bool run_layers_parse(const struct command *command, const char *list, struct run_layers *ret_layers) {
    const char *rest = list ? list : "user";
    for (bool is_last = false; !is_last;) {
        size_t length = strcspn(rest, ",");
        const struct layer_word *word = find_word(rest, length);
        if (!word) {
            char layers[OPTION_TEXT_SIZE] = "";
            option_add_words(layers, (const char *const[]){LAYER_WORDS_OF_RUN NULL}, "and");
            usage_error(command, "--layers takes %s, with commas between, or all, not '%s'", layers, list);
            return false;
        }
        ret_layers->wanted |= word->layers;
        ret_layers->are_optional |= word->layers == LAYERS_ALL;
        is_last = rest[length] == '\0';
        rest += length + 1;
    }
    return true;
}

void run_layers_choose(struct run_layers *layers, const char *const *directories, size_t count) {
    struct run_served served;
    const char *name;
    if (!layers->are_optional || layers->wanted & LAYER_DAEMON ||
        run_served_find(directories, count, &served, &name) != 0)
        return;
    run_served_finish(&served);
    layers->wanted = (layers->wanted & ~(unsigned)LAYER_FS) | LAYER_DAEMON;
}
