#include "fail_on.h"

#include <string.h>

#include "base.h"

static const struct {
    const char *word;
    enum verdict_question question;
} words[] = {
    {"change", VERDICT_ON_CHANGE}, {"slower", VERDICT_ON_SLOWER},   {"calls", VERDICT_ON_CALLS},
    {"total", VERDICT_ON_TOTAL},   {"elapsed", VERDICT_ON_ELAPSED},
};

/* 0: no such word */
static unsigned question_of(const char *word, size_t length) {
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strlen(words[i].word) == length && strncasecmp(words[i].word, word, length) == 0)
            return words[i].question;
    return 0;
}

const char *fail_on_parse(const char *text, unsigned *ret_questions, char why[OPTION_TEXT_SIZE]) {
    unsigned questions = 0;
    for (const char *rest = text; rest;) {
        const size_t length = strcspn(rest, ",");
        const unsigned question = question_of(rest, length);
        if (question == 0) {
            snprintf(why, OPTION_TEXT_SIZE,
                     "must be change, slower, calls, total or elapsed, or several of them with commas between");
            return why;
        }
        questions |= question;
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    *ret_questions = questions;
    return NULL;
}
