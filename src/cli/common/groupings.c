#include "groupings.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "base.h"

static bool is_among(const char *word, const char *const *words) {
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

const char *groupings_parse(const char *text, const char *const *words, unsigned *ret_groupings,
                            char why[OPTION_TEXT_SIZE]) {
    CLEANUP_FREE char *copy = strdup(text);
    char *rest = copy;
    unsigned groupings = 0;
    for (const char *word; (word = strsep(&rest, "+"));) {
        if (is_among(word, words)) {
            groupings |= 1U << aggstats_grouping_of_name(word);
            continue;
        }
        why[0] = '\0';
        option_add_word(why, "must be of ", words[0], NULL);
        option_add_words(why, words + 1, "and");
        option_add_word(why, "", "with + between", NULL);
        return why;
    }
    *ret_groupings = groupings;
    return NULL;
}
