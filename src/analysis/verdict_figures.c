/* Figures of ops, as logarithms, and how they differ between the sides. */
#include <math.h>

#include "base.h"
#include "usual.h"
#include "verdict_runs.h"

#define HALF_CALL 0.5                    /* replaces 0 calls, for a logarithm */
#define PERCENTILE_TOLERANCE_BUCKETS 0.5 /* the position of a percentile in its bucket is a guess */

static const struct {
    const char *name;
    bool is_latency; /* has a part in the common factor */
    bool is_judged;
    unsigned percent; /* of a percentile */
} figures[VERDICT_FIGURE_COUNT] = {
    [VERDICT_USUAL] = {"usual", true, true, 0},   [VERDICT_MEAN] = {"mean", true, true, 0},
    [VERDICT_P50] = {"p50", true, false, 50},     [VERDICT_P90] = {"p90", true, false, 90},
    [VERDICT_P99] = {"p99", true, false, 99},     [VERDICT_CALLS] = {"calls", false, true, 0},
    [VERDICT_TOTAL] = {"total", false, false, 0},
};

const char *verdict_figure_name(enum verdict_figure figure) {
    if (figure == VERDICT_BY_TAIL)
        return "slow calls";
    if (figure == VERDICT_BY_PEAK)
        return "peak";
    return figures[figure].name;
}

static double figure_of(const struct aggstats_op_profile *op, unsigned resolution, enum verdict_figure figure) {
    uint64_t finished = op ? figures_finished(op, resolution) : 0;
    if (figure == VERDICT_CALLS)
        return op && op->calls > 0 ? (double)op->calls : HALF_CALL;
    if (finished == 0)
        return NAN;
    const double total_cycles = fmax(VERDICT_HALF_CYCLE, (double)op->total_cycles);
    if (figure == VERDICT_TOTAL)
        return total_cycles;
    if (figure == VERDICT_MEAN)
        return total_cycles / (double)finished;
    if (figure == VERDICT_USUAL)
        return exp2(usual_by_total(op, resolution).log2_cycles);
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

/* Half a bucket on either side, if all calls are where their place in their bucket is not known. */
static double isolated_buckets(const struct verdict_op *op, unsigned resolution) {
    return (usual_by_total(op->a_sum, resolution).isolated + usual_by_total(op->b_sum, resolution).isolated) / 2;
}

static double tolerance_of(const struct verdict_result *result, const struct verdict_op *op,
                           enum verdict_figure figure) {
    const unsigned resolution = result->a_sum.resolution;
    double buckets = figures[figure].percent > 0 ? PERCENTILE_TOLERANCE_BUCKETS : 0;
    if (figure == VERDICT_USUAL && op->a_sum && op->b_sum)
        buckets = isolated_buckets(op, resolution);
    return buckets * M_LN2 / resolution;
}

static void set_sides(const struct verdict_op *op, enum verdict_figure figure, struct verdict_ratio *ratio) {
    const bool is_of_calls = figure == VERDICT_CALLS;
    ratio->a = (is_of_calls ? op->a_calls : op->a_total_cycles) > 0 ? exp(ratio->effect.a) : 0;
    ratio->b = (is_of_calls ? op->b_calls : op->b_total_cycles) > 0 ? exp(ratio->effect.b) : 0;
}

/* Sets the effects of an op, before they are moderated. */
static void compare_values(const struct verdict_runs *runs, size_t index, enum verdict_figure figure) {
    struct verdict_ratio *ratio = &runs->result->ops[index].ratios[figure];
    struct verdict_ratio *own = &runs->result->ops[index].own[figure];
    const struct verdict_op *op = &runs->result->ops[index];
    ratio->effect = effect_of(verdict_values(runs, index, figure), runs->a_count, runs->count);
    set_sides(op, figure, ratio);
    const bool is_zero = ratio->a == 0 && ratio->b == 0; /* exactly, whatever buckets and factors are */
    ratio->effect.tolerance = is_zero ? 0 : tolerance_of(runs->result, op, figure);
    *own = *ratio;
    if (!figures[figure].is_latency || is_zero)
        return;
    own->effect = effect_of(verdict_without_factors(runs, index, figure), runs->a_count, runs->count);
    own->effect.tolerance = ratio->effect.tolerance;
    own->effect.shared = runs->factors_variance;
}

int verdict_compare_figure(struct verdict_runs *runs, enum verdict_figure figure) {
    const size_t op_count = runs->result->op_count;
    CLEANUP_FREE struct effect **plain = calloc(op_count + 1, sizeof(struct effect *));
    CLEANUP_FREE struct effect **own = calloc(op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!plain || !own)
        return -ENOMEM;
    for (size_t i = 0; i < op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        compare_values(runs, i, figure);
        if (!verdict_op_is_judged(op))
            continue;
        plain[count] = &op->ratios[figure].effect;
        own[count++] = &op->own[figure].effect;
    }
    effects_moderate(plain, count);
    effects_moderate(own, count);
    for (size_t i = 0; i < op_count; i++) {
        struct verdict_op *op = &runs->result->ops[i];
        verdict_ratio_conclude(&op->ratios[figure]);
        verdict_ratio_conclude(&op->own[figure]);
        if (verdict_op_is_judged(op) && figures[figure].is_judged)
            verdict_judge(runs, figure == VERDICT_USUAL ? VERDICT_FAMILY_USUAL : VERDICT_FAMILY_REST,
                          &op->own[figure].effect);
    }
    return 0;
}
