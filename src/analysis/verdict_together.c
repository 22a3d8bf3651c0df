/* All ops together: their common factor, the runs' duration, and a trend over time. */
#include "verdict_together.h"

#include <math.h>

#include "base.h"

#define TREND_ALPHA 0.01
#define TREND_RUNS_MIN 6U

void verdict_compare_common(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common)
        return;
    result->common.effect = effect_of(runs->factors, runs->a_count, runs->count);
    verdict_ratio_conclude(&result->common);
    result->common_spread = verdict_ratio_of(sqrt(result->common.effect.variance));
    verdict_judge(runs, &result->common.effect);
}

void verdict_compare_elapsed(const struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    for (size_t run = 0; run < runs->count; run++) {
        if (!runs->profiles[run].has_elapsed || runs->profiles[run].elapsed_cycles == 0)
            return;
        runs->scratch[run] = log((double)runs->profiles[run].elapsed_cycles);
    }
    result->has_elapsed = true;
    result->elapsed.effect = effect_of(runs->scratch, runs->a_count, runs->count);
    result->elapsed.a = exp(result->elapsed.effect.a);
    result->elapsed.b = exp(result->elapsed.effect.b);
    verdict_ratio_conclude(&result->elapsed);
}

/* How many runs began before this one. */
static double place_in_time(const struct verdict_runs *runs, size_t run) {
    size_t before = 0;
    for (size_t other = 0; other < runs->count; other++)
        before += runs->profiles[other].start_ns < runs->profiles[run].start_ns;
    return (double)before;
}

static bool all_tell_their_start(const struct verdict_runs *runs) {
    for (size_t run = 0; run < runs->count; run++) {
        if (!runs->profiles[run].has_start)
            return false;
    }
    return true;
}

/* A line through the factors of the runs, each less its side's mean, by their order. */
void verdict_find_trend(const struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    if (!result->has_common || runs->count < TREND_RUNS_MIN || !all_tell_their_start(runs))
        return;
    CLEANUP_FREE double *places = calloc(runs->count, sizeof(*places));
    if (!places)
        return; /* nothing is said of it */
    for (size_t run = 0; run < runs->count; run++)
        places[run] = place_in_time(runs, run);
    const struct effect place = effect_of(places, runs->a_count, runs->count);
    double squares = 0;
    double products = 0;
    for (size_t run = 0; run < runs->count; run++) {
        double x = places[run] - (run < runs->a_count ? place.a : place.b);
        squares += x * x;
        products +=
            x * (runs->factors[run] - (run < runs->a_count ? result->common.effect.a : result->common.effect.b));
    }
    double freedom = (double)runs->count - 3;
    double slope = squares > 0 ? products / squares : 0;
    double rest = result->common.effect.variance * result->common.effect.freedom - slope * products;
    result->has_trend = squares > 0 && effect_line_is_sure(slope, rest / freedom / squares, freedom, TREND_ALPHA);
    result->trend = verdict_ratio_of(slope);
}
