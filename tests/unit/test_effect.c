/* The t test, variances together, many tests, and how many runs it takes. */
#include "effect.h"

#include <math.h>

#include "base.h"
#include "testing.h"

/* A: 1 to 5, B: 2 to 6; the p and the quantile are from tables of Student's distribution with 8 degrees of freedom. */
TEST(effect_is_students) {
    const double values[] = {1, 2, 3, 4, 5, 2, 3, 4, 5, 6};
    struct effect effect = effect_of(values, 5, 10);
    effect_conclude(&effect);
    ck_assert(effect.is_known);
    ck_assert_double_eq_tol(effect.difference, 1, 1e-12);
    ck_assert_double_eq_tol(effect.variance, 2.5, 1e-12);
    ck_assert_double_eq_tol(effect.freedom, 8, 1e-12);
    ck_assert_double_eq_tol(effect.p, 0.34659351, 1e-7);
    ck_assert_double_eq_tol(effect.low, 1 - 2.3060041, 1e-6);
    ck_assert_double_eq_tol(effect.high, 1 + 2.3060041, 1e-6);
}

TEST(tolerance_widens_the_interval_and_spares_what_is_within) {
    const double values[] = {1, 2, 3, 2, 3, 4};
    struct effect effect = effect_of(values, 3, 6);
    struct effect tolerant = effect;
    tolerant.tolerance = 1;
    effect_conclude(&effect);
    effect_conclude(&tolerant);
    ck_assert_double_eq_tol(tolerant.high - effect.high, 1, 1e-12);
    ck_assert_double_eq_tol(effect.low - tolerant.low, 1, 1e-12);
    ck_assert_double_lt(effect.p, 0.5);
    ck_assert_double_eq_tol(tolerant.p, 1, 1e-12);
}

TEST(one_run_borrows_the_spread_of_the_other_side) {
    const double values[] = {10, 1, 2, 3};
    struct effect effect = effect_of(values, 1, 4);
    effect_conclude(&effect);
    ck_assert(effect.is_known);
    ck_assert_double_eq_tol(effect.variance, 1, 1e-12);
    ck_assert_double_eq_tol(effect.freedom, 2, 1e-12);
}

TEST(values_that_are_missing_do_not_count) {
    const double values[] = {1, NAN, 3, NAN, NAN, 5};
    struct effect effect = effect_of(values, 3, 6);
    ck_assert(effect.is_known);
    ck_assert_uint_eq(effect.a_count, 2);
    ck_assert_uint_eq(effect.b_count, 1);
    ck_assert_double_eq_tol(effect.difference, 3, 1e-12);
}

TEST(two_values_tell_nothing) {
    const double values[] = {1, NAN, 3, NAN};
    struct effect effect = effect_of(values, 2, 4);
    effect_conclude(&effect);
    ck_assert(!effect.is_known);
    ck_assert_double_eq(effect.p, 1);
}

TEST(without_spread_any_difference_is_sure) {
    const double values[] = {100, 100, 101, 101};
    struct effect effect = effect_of(values, 2, 4);
    effect_conclude(&effect);
    ck_assert_double_eq(effect.p, 0);
    ck_assert_double_eq(effect.low, 1);
    const double equal[] = {100, 100, 100, 100};
    effect = effect_of(equal, 2, 4);
    effect_conclude(&effect);
    ck_assert_double_eq(effect.p, 1);
}

TEST(what_is_sure_is_the_end_of_the_interval_nearer_to_none) {
    struct effect effect = {.is_known = true, .difference = 0.5, .low = 0.2, .high = 0.8};
    ck_assert_double_eq(effect_sure_difference(&effect), 0.2);
    effect = (struct effect){.is_known = true, .difference = -0.5, .low = -0.8, .high = -0.2};
    ck_assert_double_eq(effect_sure_difference(&effect), -0.2);
    effect.high = 0.1;
    ck_assert_double_eq(effect_sure_difference(&effect), 0);
    effect = (struct effect){.difference = 0.5, .low = 0.2, .high = 0.8};
    ck_assert_double_eq(effect_sure_difference(&effect), 0);
}

/* ---- Variances ---- */

static struct effect effect_with(double variance) {
    return (struct effect){.is_known = true, .a_count = 3, .b_count = 3, .variance = variance, .freedom = 4};
}

TEST(equal_variances_stay_and_are_known_better) {
    struct effect effects[4];
    struct effect *pointers[4];
    for (size_t i = 0; i < 4; i++) {
        effects[i] = effect_with(2);
        pointers[i] = &effects[i];
    }
    effects_moderate(pointers, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(effects[i].freedom, 8, 1e-9); /* at most as much again */
        ck_assert_double_gt(effects[i].variance, 2);          /* less the bias of the logarithm */
        ck_assert_double_lt(effects[i].variance, 2.7);
    }
}

TEST(a_variance_that_is_small_by_chance_is_drawn_to_the_others) {
    const double variances[] = {1e-4, 1, 1.2, 0.8, 1.1, 0.9};
    struct effect effects[6];
    struct effect *pointers[6];
    for (size_t i = 0; i < 6; i++) {
        effects[i] = effect_with(variances[i]);
        pointers[i] = &effects[i];
    }
    effects_moderate(pointers, 6);
    ck_assert_double_gt(effects[0].variance, 1e-3);
    ck_assert_double_gt(effects[0].freedom, 4);
    ck_assert_double_le(effects[0].freedom, 8);
}

TEST(no_variance_and_few_effects_are_left_alone) {
    struct effect effects[3] = {effect_with(0), effect_with(1), effect_with(2)};
    struct effect *pointers[3] = {&effects[0], &effects[1], &effects[2]};
    effects_moderate(pointers, 3);
    ck_assert_double_eq(effects[0].variance, 0);
    ck_assert_double_eq(effects[1].variance, 1);
    ck_assert_double_eq(effects[2].freedom, 4);
}

/* ---- Many ---- */

static void judge(const double *p, size_t count, struct effect *ret_effects) {
    struct effect *pointers[8];
    for (size_t i = 0; i < count; i++) {
        ret_effects[i] = (struct effect){.p = p[i]};
        pointers[i] = &ret_effects[i];
    }
    effects_judge(pointers, count, 0.05);
}

/* Holm: the least against 0.05 / 4, the next against 0.05 / 3, ... until one is above. */
TEST(tests_are_judged_together) {
    const double p[] = {0.04, 0.01, 0.026, 0.016};
    struct effect effects[4];
    judge(p, 4, effects);
    ck_assert(effects[1].is_beyond);
    ck_assert(effects[3].is_beyond);
    ck_assert(!effects[2].is_beyond);
    ck_assert(!effects[0].is_beyond);
    judge(p, 1, effects);
    ck_assert(effects[0].is_beyond);
}

/* ---- Runs ---- */

TEST(runs_needed_grow_with_the_spread) {
    struct effect effect = {.a_count = 3, .b_count = 3, .difference = 0.2, .freedom = 4, .variance = 0.01};
    size_t few = effect_runs_needed(&effect, 0.1, 0.01, 1000);
    effect.variance = 0.1;
    size_t many = effect_runs_needed(&effect, 0.1, 0.01, 1000);
    ck_assert_uint_gt(few, 3);
    ck_assert_uint_lt(few, 40);
    ck_assert_uint_gt(many, 3 * few);
    effect.difference = 0.1; /* on the bound itself */
    ck_assert_uint_eq(effect_runs_needed(&effect, 0.1, 0.01, 1000), 0);
    effect.variance = 0.01;
    effect.difference = 0.2;
    effect.tolerance = 0.09; /* leaves a hundredth beyond the bound */
    ck_assert_uint_gt(effect_runs_needed(&effect, 0.1, 0.01, 1000), 5 * few);
    effect.tolerance = 0.1;
    ck_assert_uint_eq(effect_runs_needed(&effect, 0.1, 0.01, 1000), 0);
    effect.tolerance = 0;
    effect.variance = 0.1;
    effect.difference = 0; /* to be found within */
    ck_assert_uint_gt(effect_runs_needed(&effect, 0.1, 0.01, 1000), 10);
}

TEST(slope_is_tested_against_its_variance) {
    ck_assert(effect_line_is_sure(-1, 0.01, 5, 0.01));
    ck_assert(!effect_line_is_sure(0.1, 0.01, 5, 0.01));
    ck_assert(!effect_line_is_sure(1, 0, 5, 0.01));
}
