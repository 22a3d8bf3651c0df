/* Ops with too few calls for a t test: how often they are called.
 *
 * With few calls, one call more is a large part, and the variance of their number says little. But a number that is the
 * same in all runs of a side, and another in all runs of the other, is exact, and so is the difference. It is chance only
 * if the number of a run is drawn. Take an op that draws one of two numbers, and r runs on each side. Its runs are split
 * like this with a probability of at most 2 / 4^r. For each op that is split so, at least (4^r - 4) / 2 ops are expected
 * that are mixed: a side has both numbers. So the number of mixed ops bounds how many splits are by chance. As with the
 * controls of R. F. Barber, E. J. Candes, Controlling the false discovery rate via knockoffs, Ann. Stat. 43, 2015, one is
 * added to it: without mixed ops the bound is 1 in 30 with three runs on each side, and 1 in 510 with five. Two runs on
 * each side prove nothing. */
#include <math.h>

#include "base.h"
#include "verdict_runs.h"

enum kind { KIND_SAME, KIND_SPLIT, KIND_MIXED, KIND_VARIED };

static uint64_t calls_of(const struct verdict_runs *runs, const struct verdict_op *op, size_t run) {
    const struct aggstats_op_profile *of_run = aggstats_profile_op(&runs->profiles[run], op->name);
    return of_run ? of_run->calls : 0;
}

static enum kind kind_of(const struct verdict_runs *runs, const struct verdict_op *op) {
    const uint64_t first = calls_of(runs, op, 0);
    uint64_t other = first;
    bool is_split = true;
    for (size_t run = 1; run < runs->count; run++) {
        const uint64_t calls = calls_of(runs, op, run);
        if (calls != first && other != first && calls != other)
            return KIND_VARIED;
        other = calls != first ? calls : other;
        is_split &= (calls != first) == (run >= runs->a_count);
    }
    return other == first ? KIND_SAME : is_split ? KIND_SPLIT : KIND_MIXED;
}

/* A bound of the probability that any op is split by chance. side_count: runs of the smaller side */
static double chance_of_split(size_t side_count, size_t mixed_count) {
    if (side_count < 2)
        return 1;
    return fmin(1, (double)(mixed_count + 1) * 2 / (exp2(2 * (double)side_count) - 4));
}

void verdict_judge_rare_calls(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    const size_t side_count = result->a_count < result->b_count ? result->a_count : result->b_count;
    size_t mixed_count = 0;
    for (size_t i = 0; i < result->op_count; i++) {
        struct verdict_op *op = &result->ops[i];
        const enum kind kind = verdict_op_is_judged(op) ? KIND_VARIED : kind_of(runs, op);
        op->has_exact_calls = kind == KIND_SPLIT;
        mixed_count += kind == KIND_MIXED;
    }
    const double chance = chance_of_split(side_count, mixed_count);
    size_t needed_count = side_count;
    while (chance_of_split(needed_count, mixed_count) > result->options.alpha && needed_count < VERDICT_RUNS_MOST)
        needed_count++;
    for (size_t i = 0; i < result->op_count; i++) {
        struct verdict_op *op = &result->ops[i];
        struct effect *effect = &op->own[VERDICT_CALLS].effect;
        if (!op->has_exact_calls)
            continue;
        effect->p = chance;
        effect->is_beyond = chance <= result->options.alpha;
        op->more_runs = needed_count - side_count;
    }
}
