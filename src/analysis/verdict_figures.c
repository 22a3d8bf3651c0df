/* Figures of ops, as logarithms, and how they differ between the sides. */
#include <math.h>

#include "base.h"
#include "verdict_runs.h"

#define HALF_CALL 0.5                    /* replaces 0 calls, for a logarithm */
#define PERCENTILE_TOLERANCE_BUCKETS 0.5 /* the position of a percentile in its bucket is a guess */

static const struct {
    const char *name;
    bool is_latency; /* compared without the common factor */
    bool is_judged;
    unsigned percent; /* of a percentile */
} figures[VERDICT_FIGURE_COUNT] = {
    [VERDICT_MEAN] = {"mean", true, true, 0},    [VERDICT_P50] = {"p50", true, true, 50},
    [VERDICT_P90] = {"p90", true, true, 90},     [VERDICT_P99] = {"p99", true, true, 99},
    [VERDICT_CALLS] = {"calls", false, true, 0}, [VERDICT_TOTAL] = {"total", false, false, 0},
};

const char *verdict_figure_name(enum verdict_figure figure) {
    return figures[figure].name;
}

static double figure_of(const struct aggstats_op_profile *op, unsigned resolution, enum verdict_figure figure) {
    uint64_t finished = op ? figures_finished(op, resolution) : 0;
    if (figure == VERDICT_CALLS)
        return op && op->calls > 0 ? (double)op->calls : HALF_CALL;
    if (finished == 0 || op->total_cycles == 0)
        return NAN;
    if (figure == VERDICT_TOTAL)
        return (double)op->total_cycles;
    if (figure == VERDICT_MEAN)
        return (double)op->total_cycles / (double)finished;
    struct aggstats_percentile percentile;
    aggstats_percentile(op, resolution, 10 * figures[figure].percent, &percentile);
    return percentile.cycles;
}

void verdict_read_op(const struct verdict_runs *runs, size_t index) {
    struct verdict_op *op = &runs->result->ops[index];
    for (size_t run = 0; run < runs->count; run++) {
        const struct aggstats_profile *profile = &runs->profiles[run];
        const struct aggstats_op_profile *of_run = aggstats_profile_op(profile, op->name);
        for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++)
            verdict_values(runs, index, figure)[run] = log(figure_of(of_run, profile->resolution, figure));
        double calls = of_run ? (double)of_run->calls : 0;
        double total_cycles = of_run ? (double)of_run->total_cycles : 0;
        size_t side_count = run < runs->a_count ? runs->a_count : runs->count - runs->a_count;
        *(run < runs->a_count ? &op->a_calls : &op->b_calls) += calls / (double)side_count;
        *(run < runs->a_count ? &op->a_total_cycles : &op->b_total_cycles) += total_cycles / (double)side_count;
    }
}

static double tolerance_of(const struct verdict_result *result, enum verdict_figure figure) {
    return figures[figure].percent > 0 ? PERCENTILE_TOLERANCE_BUCKETS * M_LN2 / result->a_sum.resolution : 0;
}

int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure) {
    CLEANUP_FREE struct effect **effects = calloc(runs->result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < runs->result->op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        struct verdict_ratio *ratio = &op->ratios[figure];
        const double *values = verdict_values(runs, i, figure);
        const struct effect plain = effect_of(values, runs->a_count, runs->count);
        ratio->a = exp(plain.a);
        ratio->b = exp(plain.b);
        ratio->effect = effect_of(figures[figure].is_latency ? verdict_beside_factors(runs, values) : values,
                                  runs->a_count, runs->count);
        ratio->effect.tolerance = tolerance_of(runs->result, figure);
        ratio->effect.shared = figures[figure].is_latency ? runs->factors_variance : 0;
        if (verdict_op_is_judged(op))
            effects[count++] = &ratio->effect;
    }
    effects_moderate(effects, count);
    for (size_t i = 0; i < runs->result->op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        verdict_ratio_conclude(&op->ratios[figure]);
        if (verdict_op_is_judged(op) && figures[figure].is_judged)
            verdict_judge(runs, &op->ratios[figure].effect);
    }
    return 0;
}
