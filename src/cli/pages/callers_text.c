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

bool callers_text_add(struct str *text, const struct aggstats_profile *profile, const char *op) {
    wide_count calls;
    const struct aggstats_caller *caller = find_decisive(profile, op, &calls);
    size_t kind = ARRAY_SIZE(others) - 1;
    if (!caller)
        return false;
    while (strncmp(caller->function, others[kind].begin, strlen(others[kind].begin)) != 0)
        kind--;
    const char *function = caller->function + strlen(others[kind].begin);
    str_addf(text, "%s of %s %s%s", units_count(caller->calls).text, units_count(calls).text, op, units_plural(calls));
    if (others[kind].words)
        str_addf(text, " of %s from %s: %.*s", caller->program, others[kind].words, (int)strcspn(function, ")"),
                 function);
    else
        str_addf(text, " from %s of %s", function, caller->program);
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
