/* Causes as series: one for each op and label, up to a bound. */
#include "metrics_causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/why.h"
#include "base.h"

#define OTHER_CAUSES "other causes" /* as in recorders */

static struct metrics_cause *find(const struct metrics_causes *causes, const char *op, const char *text) {
    for (size_t i = 0; i < causes->count; i++)
        if (strcmp(causes->causes[i].op, op) == 0 && strcmp(causes->causes[i].text, text) == 0)
            return &causes->causes[i];
    return NULL;
}

/* Takes the text. */
static struct metrics_cause *append(struct metrics_causes *causes, const char *op, char **text) {
    struct metrics_cause *grown = reallocarray(causes->causes, causes->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    causes->causes = grown;
    causes->causes[causes->count] = (struct metrics_cause){.op = op, .text = steal_pointer(text)};
    return &causes->causes[causes->count++];
}

static int add(struct metrics_causes *causes, const struct aggstats_cause *added, const char *text,
               char *(*label_of)(const char *text)) {
    CLEANUP_FREE char *label = label_of(text);
    if (!label)
        return -ENOMEM;
    struct metrics_cause *cause = find(causes, added->op, label);
    if (!cause)
        cause = append(causes, added->op, &label);
    if (!cause)
        return -ENOMEM;
    cause->calls += added->calls;
    cause->total_cycles += (double)added->total_cycles;
    return 0;
}

/* Those that did not fit in the recorder are not counted, so that all its other causes fit here. */
int metrics_causes_init(struct metrics_causes *causes, const struct aggstats_profile *profile,
                        char *(*label_of)(const char *text)) {
    size_t named = 0;
    int error = 0;
    *causes = (struct metrics_causes){.count = 0};
    for (size_t i = 0; i < profile->cause_count && !error; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        char text[AGGSTATS_WHY_TEXT_SIZE];
        bool is_other = cause->why.kind == AGGSTATS_CAUSE_REST || named == METRICS_CAUSES_MAX;
        named += !is_other;
        error = add(causes, cause, is_other ? OTHER_CAUSES : aggstats_why_text(&cause->why, text), label_of);
    }
    return error;
}

void metrics_causes_finish(struct metrics_causes *causes) {
    for (size_t i = 0; i < causes->count; i++)
        free(causes->causes[i].text);
    free(causes->causes);
    *causes = (struct metrics_causes){.count = 0};
}
