/* Forcible preemption, estimated from a profile. */
#include "preemption.h"

#include <math.h>
#include <string.h>

double preemption_probability(const struct preemption_terms *terms, double cpu_cycles) {
    double undisturbed = terms->yield > 0 ? pow(1 - terms->yield, terms->quantum_cycles / terms->period_cycles) : 1;
    return fmin(cpu_cycles / terms->quantum_cycles, 1) * undisturbed;
}

/* ---- CPU time ----------------------------------------------------------------------------------- */

/* The share of a bucket's latency that its calls spent on the CPU, from a joint profile: rows are powers of two of
 * nanoseconds, of which the middle is taken. 1 if it has none of its calls. */
static double cpu_part(const struct aggstats_joint_profile *joint, unsigned bucket, double mean_cycles,
                       uint64_t frequency_hz) {
    double calls = 0;
    double cpu_ns = 0;
    for (size_t i = 0; i < joint->cell_count; i++) {
        const struct aggstats_cell *cell = &joint->cells[i];
        if (cell->bucket != bucket)
            continue;
        calls += (double)cell->count;
        cpu_ns += (double)cell->count * 1.5 * (double)aggstats_value_first(joint->value, cell->row);
    }
    double cpu_cycles = calls > 0 ? cpu_ns / calls * (double)frequency_hz / 1e9 : mean_cycles;
    return fmin(cpu_cycles / mean_cycles, 1);
}

/* ---- Buckets of preempted calls ----------------------------------------------------------------- */

static void add_calls(struct preemption_estimate *estimate, const struct preemption_terms *terms, double calls,
                      unsigned bucket, unsigned resolution, double part) {
    double lower_cycles = aggstats_bucket_lower(bucket, resolution);
    double upper_cycles = aggstats_bucket_upper(bucket, resolution);
    estimate->calls.lower += calls * preemption_probability(terms, part * lower_cycles);
    estimate->calls.upper += calls * preemption_probability(terms, part * upper_cycles);
    double mean_cycles = aggstats_bucket_mean(bucket, resolution);
    double expected = calls * preemption_probability(terms, part * mean_cycles);
    estimate->calls.expected += expected;
    double shown_cycles = mean_cycles + (terms->threads - 1) * terms->quantum_cycles;
    if (shown_cycles < 0x1p63)
        estimate->arriving[aggstats_bucket_of((uint64_t)shown_cycles, resolution)] += expected;
}

void preemption_estimate(const struct preemption_terms *terms, const struct aggstats_profile *profile,
                         const struct aggstats_op_profile *op, struct preemption_estimate *ret_estimate) {
    const struct aggstats_joint_profile *joint = NULL;
    for (size_t i = 0; i < profile->joint_count && !joint; i++)
        if (profile->joints[i].value == AGGSTATS_CPU && strcmp(profile->joints[i].op, op->name) == 0)
            joint = &profile->joints[i];
    const unsigned resolution = profile->resolution;
    memset(ret_estimate, 0, sizeof(*ret_estimate));
    for (unsigned bucket = 1; bucket < 64 * resolution; bucket++) {
        double mean_cycles = aggstats_bucket_mean(bucket, resolution);
        if (mean_cycles >= terms->quantum_cycles)
            break;
        if (op->buckets[bucket] == 0)
            continue;
        double part = joint ? cpu_part(joint, bucket, mean_cycles, profile->clock.frequency_hz) : 1;
        add_calls(ret_estimate, terms, (double)op->buckets[bucket], bucket, resolution, part);
    }
}

/* ---- Terms of a profile ------------------------------------------------------------------------- */

struct preemption_terms preemption_terms_of(const struct aggstats_profile *profile, double quantum_cycles,
                                            unsigned threads) {
    struct preemption_terms terms = {.quantum_cycles = quantum_cycles, .threads = threads};
    double calls = 0;
    double waited = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        calls += (double)profile->ops[i].calls;
    if (!profile->has_elapsed || profile->elapsed_cycles == 0 || calls == 0)
        return terms;
    terms.period_cycles = (double)profile->elapsed_cycles / calls;
    for (size_t i = 0; i < profile->joint_count; i++) {
        const struct aggstats_joint_profile *joint = &profile->joints[i];
        for (size_t cell = 0; joint->value == AGGSTATS_BLOCKED && cell < joint->cell_count; cell++)
            if (aggstats_value_first(joint->value, joint->cells[cell].row) > 0)
                waited += (double)joint->cells[cell].count;
    }
    terms.yield = fmin(waited / calls, 1);
    return terms;
}
