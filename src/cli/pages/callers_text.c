#include "callers_text.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "units.h"

/* How functions begin that are none, up to the reason, and what is said of them. */
static const struct {
    const char *begin;
    const char *words;
} others[] = {
    {"", NULL}, /* it is one */
    {"(not known: ", "an unknown function"},
    {"(none: ", "no function of its own"},
};

/* Of an operation: by calls, most first. */
static const struct aggstats_caller *find_first(const struct aggstats_profile *profile, const char *op,
                                                wide_count *ret_calls) {
    const struct aggstats_caller *first = NULL;
    *ret_calls = 0;
    for (size_t i = 0; i < profile->caller_count; i++) {
        const struct aggstats_caller *caller = &profile->callers[i];
        if (strcmp(caller->op, op) != 0)
            continue;
        *ret_calls += caller->calls;
        if (caller->program[0] && (!first || caller->calls > first->calls))
            first = caller;
    }
    return first;
}

/* The one that made half of them, or more. */
static const struct aggstats_caller *find_decisive(const struct aggstats_profile *profile, const char *op,
                                                   wide_count *ret_calls) {
    const struct aggstats_caller *first = find_first(profile, op, ret_calls);
    return first && 2 * (wide_count)first->calls >= *ret_calls ? first : NULL;
}

static size_t kind_of(const char *function) {
    size_t kind = ARRAY_SIZE(others) - 1;
    while (strncmp(function, others[kind].begin, strlen(others[kind].begin)) != 0)
        kind--;
    return kind;
}

bool callers_text_format(const struct aggstats_profile *profile, const char *op, const struct screen *screen,
                         char ret_text[CALLERS_TEXT_SIZE]) {
    wide_count calls;
    const struct aggstats_caller *caller = find_decisive(profile, op, &calls);
    if (!caller)
        return false;
    const size_t kind = kind_of(caller->function);
    CLEANUP_FREE char *shown_op = screen_cut(screen, op, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *program = screen_cut(screen, caller->program, AGGSTATS_PROGRAM_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *function =
        screen_cut(screen, caller->function + strlen(others[kind].begin), AGGSTATS_FUNCTION_SIZE, SCREEN_BEGINNING);
    if (!shown_op || !program || !function)
        return false;
    const int length = snprintf(ret_text, CALLERS_TEXT_SIZE, "%s of %s %.40s%s", units_count(caller->calls).text,
                                units_count(calls).text, shown_op, units_plural(calls));
    char *rest = ret_text + length;
    const size_t room = CALLERS_TEXT_SIZE - (size_t)length;
    if (others[kind].words)
        snprintf(rest, room, " of %.40s from %s: %.*s", program, others[kind].words, (int)strcspn(function, ")"),
                 function);
    else
        snprintf(rest, room, " from %.120s of %.40s", function, program);
    return true;
}

const char *callers_text_first(const struct aggstats_profile *profile) {
    const char *op = NULL;
    wide_count most = 0;
    for (size_t i = 0; i < profile->caller_count; i++) {
        wide_count calls;
        if (find_decisive(profile, profile->callers[i].op, &calls) && calls > most) {
            op = profile->callers[i].op;
            most = calls;
        }
    }
    return op;
}
