/* Functions that all parts of a comparison of sets of runs use. */
#include "verdict_runs.h"

#include <math.h>

#define LOG_MAX 100.0 /* of a ratio; beyond it nothing is known */

double *verdict_values(const struct verdict_runs *runs, size_t op, enum verdict_figure figure) {
    return &runs->values[(op * VERDICT_FIGURE_COUNT + figure) * runs->count];
}

void verdict_judge(struct verdict_runs *runs, struct effect *effect) {
    if (effect->is_known)
        runs->tested[runs->result->tested_count++] = effect;
}

void verdict_judge_all(struct verdict_runs *runs, struct effect **effects, size_t count) {
    effects_moderate(effects, count);
    for (size_t i = 0; i < count; i++) {
        effect_conclude(effects[i]);
        verdict_judge(runs, effects[i]);
    }
}

bool verdict_op_is_judged(const struct verdict_op *op) {
    return op->a_calls >= VERDICT_CALLS_MIN && op->b_calls >= VERDICT_CALLS_MIN;
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
