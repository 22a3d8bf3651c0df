/* Means, variances and t tests. */
#include "effect.h"

#include <math.h>
#include <stdlib.h>

#include "statistics.h"

#define TRIGAMMA_STEPS 50

/* ---- One effect --------------------------------------------------------------------------------- */

static double mean_of(const double *values, size_t count, size_t *ret_count) {
    double sum = 0;
    *ret_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        ++*ret_count;
    }
    return *ret_count > 0 ? sum / (double)*ret_count : 0;
}

static double squares_about(const double *values, size_t count, double mean) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += isnan(values[i]) ? 0 : (values[i] - mean) * (values[i] - mean);
    return sum;
}

struct effect effect_of(const double *values, size_t a_count, size_t count) {
    struct effect effect = {.p = 1};
    effect.a = mean_of(values, a_count, &effect.a_count);
    effect.b = mean_of(values + a_count, count - a_count, &effect.b_count);
    effect.difference = effect.b - effect.a;
    effect.is_known = effect.a_count > 0 && effect.b_count > 0 && effect.a_count + effect.b_count >= 3;
    if (!effect.is_known)
        return effect;
    effect.freedom = (double)(effect.a_count + effect.b_count - 2);
    effect.variance =
        (squares_about(values, a_count, effect.a) + squares_about(values + a_count, count - a_count, effect.b)) /
        effect.freedom;
    return effect;
}

void effect_conclude(struct effect *effect) {
    if (!effect->is_known)
        return;
    double error =
        sqrt(effect->variance * (1.0 / (double)effect->a_count + 1.0 / (double)effect->b_count) + effect->shared);
    double half = error > 0 ? error * statistics_student_quantile((1 - EFFECT_CONFIDENCE) / 2, effect->freedom) : 0;
    double beyond = fmax(0, fabs(effect->difference) - effect->tolerance);
    effect->low = effect->difference - half - effect->tolerance;
    effect->high = effect->difference + half + effect->tolerance;
    if (error > 0)
        effect->p = 2 * statistics_student_beyond(beyond / error, effect->freedom);
    else
        effect->p = beyond == 0 ? 1 : 0; /* all runs have the same value as their side */
}

double effect_sure_difference(const struct effect *effect) {
    if (!effect->is_known)
        return 0;
    return effect->difference > 0 ? fmax(0, effect->low) : fmin(0, effect->high);
}

/* ---- Variances together ------------------------------------------------------------------------- */

/* Solves trigamma(x) = y for x, by Newton's method on 1 / trigamma, which is convex. */
static double trigamma_inverse(double y) {
    double x = 0.5 + 1 / y;
    for (int step = 0; step < TRIGAMMA_STEPS; step++) {
        double trigamma = statistics_trigamma(x);
        double change = trigamma * (1 - trigamma / y) / statistics_tetragamma(x);
        x += change;
        if (-change < 1e-8 * x)
            break;
    }
    return x;
}

static bool has_variance(const struct effect *effect) {
    return effect->is_known && effect->variance > 0;
}

/* log(variance), without the bias caused by its degrees of freedom. */
static double unbiased_log(const struct effect *effect) {
    return log(effect->variance) - statistics_digamma(effect->freedom / 2) + log(effect->freedom / 2);
}

/* What the variances have in common: a variance, and the degrees of freedom that it is worth. */
struct prior {
    double variance;
    double freedom; /* INFINITY: they do not differ */
};

static struct prior prior_of(struct effect *const *effects, size_t count, size_t used) {
    double sum = 0;
    double expected = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_variance(effects[i])) {
            sum += unbiased_log(effects[i]);
            expected += statistics_trigamma(effects[i]->freedom / 2);
        }
    }
    double mean = sum / (double)used;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_variance(effects[i]))
            squares += pow(unbiased_log(effects[i]) - mean, 2);
    }
    double excess = squares / (double)(used - 1) - expected / (double)used;
    if (excess <= 0)
        return (struct prior){.variance = exp(mean), .freedom = INFINITY};
    double half = trigamma_inverse(excess);
    return (struct prior){.variance = exp(mean + statistics_digamma(half) - log(half)), .freedom = 2 * half};
}

void effects_moderate(struct effect *const *effects, size_t count) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += has_variance(effects[i]);
    if (used < 3)
        return;
    const struct prior prior = prior_of(effects, count, used);
    for (size_t i = 0; i < count; i++) {
        struct effect *effect = effects[i];
        if (!has_variance(effect))
            continue;
        double borrowed = fmin(prior.freedom, effect->freedom);
        effect->variance =
            (borrowed * prior.variance + effect->freedom * effect->variance) / (borrowed + effect->freedom);
        effect->freedom += borrowed;
    }
}

/* ---- Many effects ------------------------------------------------------------------------------- */

static int by_p(const void *a, const void *b) {
    const struct effect *const *left = a;
    const struct effect *const *right = b;
    return ((*left)->p > (*right)->p) - ((*left)->p < (*right)->p);
}

void effects_judge(struct effect **effects, size_t count, double alpha) {
    if (count > 0)
        qsort(effects, count, sizeof(struct effect *), by_p);
    for (size_t i = 0; i < count && effects[i]->p <= alpha / (double)(count - i); i++)
        effects[i]->is_beyond = true;
}

size_t effect_runs_needed(const struct effect *effect, double bound, double alpha, size_t most) {
    const double difference = fabs(effect->difference);
    for (size_t runs = 2; runs <= most; runs++) {
        double freedom = effect->freedom - (double)(effect->a_count + effect->b_count) + (double)(2 * runs);
        double error = sqrt(2 * effect->variance / (double)runs + effect->shared);
        double half = error * statistics_student_quantile((1 - EFFECT_CONFIDENCE) / 2, freedom) + effect->tolerance;
        bool is_beyond_chance =
            difference - effect->tolerance > error * statistics_student_quantile(alpha / 2, freedom);
        bool is_within = difference + half <= bound;
        bool is_beyond = is_beyond_chance && difference - half > bound;
        if (is_within || is_beyond)
            return runs;
    }
    return 0;
}

bool effect_line_is_sure(double slope, double variance, double freedom, double alpha) {
    return variance > 0 && fabs(slope) > sqrt(variance) * statistics_student_quantile(alpha / 2, freedom);
}
