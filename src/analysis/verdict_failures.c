/* The share of calls that failed, in two sets of runs. */
#include "verdict_failures.h"

#include <math.h>

#include "base.h"
#include "shares.h"

/* Of a run. NAN: no call has ended */
static double logit_of_failures(const struct aggstats_profile *profile, const char *name, double *ret_share) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    uint64_t finished = op ? figures_finished(op, profile->resolution) : 0;
    uint64_t failed = op ? aggstats_failed_calls(op) : 0;
    *ret_share = 0;
    if (finished == 0)
        return NAN;
    failed = failed < finished ? failed : finished;
    *ret_share = (double)failed / (double)finished;
    return share_logit(failed, finished);
}

static bool any_failed(const struct verdict_op *op) {
    return (op->a_sum && aggstats_failed_calls(op->a_sum) > 0) || (op->b_sum && aggstats_failed_calls(op->b_sum) > 0);
}

/* Returns whether there is anything to judge: a call has failed, and both sides have runs enough. */
static bool compare_failures(const struct verdict_runs *runs, struct verdict_op *op) {
    struct verdict_failures *failures = &op->failures;
    double shares[2] = {0, 0};
    if (!any_failed(op))
        return false;
    for (size_t run = 0; run < runs->count; run++) {
        double share;
        runs->scratch[run] = logit_of_failures(&runs->profiles[run], op->name, &share);
        shares[run >= runs->a_count] += share;
    }
    failures->effect = verdict_effect_of_shares(runs, op, shares, &failures->a_share, &failures->b_share);
    return failures->effect.is_known;
}

int verdict_compare_failures(struct verdict_runs *runs) {
    struct verdict_result *result = runs->result;
    CLEANUP_FREE struct effect **effects = calloc(result->op_count + 1, sizeof(struct effect *));
    size_t count = 0;
    if (!effects)
        return -ENOMEM;
    for (size_t i = 0; i < result->op_count; i++)
        if (verdict_op_is_judged(&result->ops[i]) && compare_failures(runs, &result->ops[i]))
            effects[count++] = &result->ops[i].failures.effect;
    verdict_judge_all(runs, effects, count);
    return 0;
}

bool verdict_failures_changed(const struct verdict_failures *failures, double at_least) {
    double low = fmin(failures->a_share, failures->b_share);
    double high = fmax(failures->a_share, failures->b_share);
    return failures->effect.is_beyond && high > (1 + at_least) * low;
}
