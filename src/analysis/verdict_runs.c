/* What all parts of the comparison of runs use. */
#include "verdict_runs.h"

#include <math.h>

#include "base.h"

#define LOG_MAX 100.0 /* of a ratio; beyond it nothing is known */

static const double family_shares[VERDICT_FAMILY_COUNT] = {
    [VERDICT_FAMILY_USUAL] = 0.7,
    [VERDICT_FAMILY_TAIL] = 0.2,
    [VERDICT_FAMILY_REST] = 0.1,
};

double *verdict_values(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    return &runs->values[(op * VERDICT_FIGURE_COUNT + figure) * runs->count];
}

bool verdict_is_zero(const struct verdict_runs *runs, size_t op, size_t run) {
    return verdict_values(runs, op, VERDICT_TOTAL)[run] <= log(VERDICT_HALF_CYCLE);
}

void verdict_judge(struct verdict_runs *runs, enum verdict_family family, struct effect *effect) {
    if (!effect->is_known)
        return;
    runs->tested[family][runs->tested_counts[family]++] = effect;
    runs->result->tested_count++;
}

void verdict_judge_all(struct verdict_runs *runs, enum verdict_family family, struct effect **effects, size_t count) {
    effects_moderate(effects, count);
    for (size_t i = 0; i < count; i++) {
        effect_conclude(effects[i]);
        verdict_judge(runs, family, effects[i]);
    }
}

double verdict_alpha_of_all(const struct verdict_runs *runs, enum verdict_family family) {
    return family_shares[family] * runs->result->options.alpha;
}

double verdict_alpha_of_one(const struct verdict_runs *runs, enum verdict_family family) {
    return verdict_alpha_of_all(runs, family) / fmax(1, (double)runs->tested_counts[family]);
}

bool verdict_op_is_judged(const struct verdict_op *op) {
    return op->a_calls >= VERDICT_CALLS_MIN && op->b_calls >= VERDICT_CALLS_MIN;
}

int verdict_compare_each(struct verdict_runs *runs, enum verdict_family family,
                         struct effect *(*compare)(const struct verdict_runs *runs, struct verdict_op *op)) {
    struct verdict_result *result = runs->result;
    CLEANUP_FREE struct effect **effects = calloc(result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < result->op_count; i++) {
        struct effect *effect = verdict_op_is_judged(&result->ops[i]) ? compare(runs, &result->ops[i]) : NULL;
        if (effect)
            effects[count++] = effect;
    }
    verdict_judge_all(runs, family, effects, count);
    return 0;
}

double verdict_ratio_of(double logarithm) {
    return exp(fmax(-LOG_MAX, fmin(LOG_MAX, logarithm)));
}

void verdict_ratio_conclude(struct verdict_ratio *ratio) {
    effect_conclude(&ratio->effect);
    ratio->ratio = verdict_ratio_of(ratio->effect.difference);
    ratio->low = verdict_ratio_of(ratio->effect.low);
    ratio->high = verdict_ratio_of(ratio->effect.high);
}

/* ---- The factors of the runs -------------------------------------------------------------------- */

const double *verdict_without_factors(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    const double *values = verdict_values(runs, op, figure);
    for (size_t run = 0; run < runs->count; run++)
        runs->scratch[run] = values[run] - (verdict_is_zero(runs, op, run) ? 0 : runs->factors[run]);
    return runs->scratch;
}
