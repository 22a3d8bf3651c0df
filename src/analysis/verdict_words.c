/* Words for changes, from effects and their intervals. */
#include <math.h>

#include "base.h"
#include "verdict_runs.h"

const char *verdict_word_name(enum verdict_word word) {
    static const char *const names[] = {
        [VERDICT_SLOWER] = "slower",
        [VERDICT_FASTER] = "faster",
        [VERDICT_SOME_SLOWER] = "some calls slower",
        [VERDICT_SOME_FASTER] = "some calls faster",
        [VERDICT_SLOWER_THAN_REST] = "slower than the rest",
        [VERDICT_FASTER_THAN_REST] = "faster than the rest",
        [VERDICT_MORE_CALLS] = "more calls",
        [VERDICT_FEWER_CALLS] = "fewer calls",
        [VERDICT_FAILS_MORE] = "fails more",
        [VERDICT_FAILS_LESS] = "fails less",
        [VERDICT_ONLY_A] = "only in A",
        [VERDICT_ONLY_B] = "only in B",
        [VERDICT_UNDECIDED] = "inconclusive",
        [VERDICT_ALIKE] = "no change",
        [VERDICT_AS_REST] = "as the rest",
        [VERDICT_FEW] = "few calls",
        [VERDICT_MORE_TIME] = "more time",
        [VERDICT_LESS_TIME] = "less time",
    };
    return names[word];
}

static double bound_of(const struct verdict_result *result) {
    return log1p(result->options.at_least);
}

static bool is_within(const struct effect *effect, double bound) {
    return effect->is_known && effect->low >= -bound && effect->high <= bound;
}

/* Not by chance, and surely larger than what matters. */
static bool is_change(const struct effect *effect, double bound) {
    return effect->is_beyond && fabs(effect_sure_difference(effect)) > bound;
}

/* more, less: the words for a change in this direction */
static enum verdict_word word_of_effect(const struct effect *effect, double bound, enum verdict_word more,
                                        enum verdict_word less) {
    if (is_within(effect, bound))
        return VERDICT_ALIKE;
    if (!is_change(effect, bound))
        return VERDICT_UNDECIDED;
    return effect->difference > 0 ? more : less;
}

/* ---- Changes of latency ------------------------------------------------------------------------- */

/* What made an op slower or faster. */
struct evidence {
    double p; /* INFINITY: there is none */
    enum verdict_figure figure;
    bool is_more;
};

static struct evidence evidence_of_figure(const struct verdict_op *op, enum verdict_figure figure) {
    const struct effect *effect = &op->own[figure].effect;
    return (struct evidence){.p = effect->p, .figure = figure, .is_more = effect->difference > 0};
}

/* Marks what changed. The usual latency decides if it changed, else the mean, and else what is most certain. */
static struct evidence mark_changes(struct verdict_op *op, const struct verdict_options *options) {
    const double bound = log1p(options->at_least);
    struct evidence surest = {.p = INFINITY};
    for (enum verdict_figure figure = 0; figure < VERDICT_FIGURE_COUNT; figure++) {
        op->is_changed[figure] = is_change(&op->own[figure].effect, bound);
        if (op->is_changed[figure] && figure != VERDICT_CALLS && op->own[figure].effect.p < surest.p)
            surest = evidence_of_figure(op, figure);
    }
    op->tail.is_changed = op->tail.effect.is_beyond && fabs(op->tail.sure_cost) > options->at_least;
    if (op->tail.is_changed && op->tail.effect.p < surest.p)
        surest = (struct evidence){op->tail.effect.p, VERDICT_BY_TAIL, op->tail.effect.difference > 0};
    for (size_t i = 0; i < op->peak_count; i++) {
        struct verdict_peak *peak = &op->peaks[i];
        peak->is_changed = peak->effect.is_beyond && fabs(peak->sure_cost) > options->at_least;
        /* An op becomes slower if the share of a slow peak grows, or the share of a fast peak shrinks. */
        const bool is_slow = peak->place.centre > log2(op->ratios[VERDICT_MEAN].a);
        if (peak->is_changed && peak->effect.p < surest.p)
            surest = (struct evidence){peak->effect.p, VERDICT_BY_PEAK, is_slow == (peak->effect.difference > 0)};
    }
    if (op->is_changed[VERDICT_USUAL])
        return evidence_of_figure(op, VERDICT_USUAL);
    return op->is_changed[VERDICT_MEAN] ? evidence_of_figure(op, VERDICT_MEAN) : surest;
}

static enum verdict_word word_of_change(const struct verdict_op *op, const struct evidence *evidence) {
    bool is_plain = true; /* shares of calls are as they are */
    if (evidence->figure < VERDICT_FIGURE_COUNT) {
        /* The figure as it is, of all that moves the machine, lies beyond 1 in this direction too. */
        const struct effect *effect = &op->ratios[evidence->figure].effect;
        is_plain = evidence->is_more ? effect->low > 0 : effect->high < 0;
    }
    if (is_plain && evidence->figure == VERDICT_USUAL)
        return evidence->is_more ? VERDICT_SLOWER : VERDICT_FASTER;
    if (is_plain)
        return evidence->is_more ? VERDICT_SOME_SLOWER : VERDICT_SOME_FASTER;
    return evidence->is_more ? VERDICT_SLOWER_THAN_REST : VERDICT_FASTER_THAN_REST;
}

/* ---- Words of an op ----------------------------------------------------------------------------- */

static bool is_in_each(const struct verdict_runs *runs, const struct verdict_op *op, size_t first, size_t end) {
    for (size_t run = first; run < end; run++) {
        const struct aggstats_op_profile *of_run = aggstats_profile_op(&runs->profiles[run], op->name);
        if (!of_run || of_run->calls == 0)
            return false;
    }
    return true;
}

/* Of an op that is called too rarely for its figures to be judged, on one side at least. */
static enum verdict_word word_without_figures(const struct verdict_runs *runs, const struct verdict_op *op) {
    const struct effect *calls = &op->own[VERDICT_CALLS].effect;
    const bool is_exact = op->has_exact_calls && calls->is_beyond;
    if (op->b_calls == 0 && (is_exact || (op->a_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, 0, runs->a_count))))
        return VERDICT_ONLY_A;
    if (op->a_calls == 0 &&
        (is_exact || (op->b_calls >= VERDICT_CALLS_MIN && is_in_each(runs, op, runs->a_count, runs->count))))
        return VERDICT_ONLY_B;
    if (!op->has_exact_calls || is_within(calls, bound_of(runs->result)))
        return VERDICT_FEW;
    return word_of_effect(calls, bound_of(runs->result), VERDICT_MORE_CALLS, VERDICT_FEWER_CALLS);
}

static size_t more_runs_for(const struct verdict_runs *runs, enum verdict_family family, const struct effect *effect) {
    const struct verdict_options *options = &runs->result->options;
    size_t had = effect->a_count < effect->b_count ? effect->a_count : effect->b_count;
    size_t needed =
        effect_runs_needed(effect, log1p(options->at_least), verdict_alpha_of_one(runs, family), VERDICT_RUNS_MOST);
    return needed > had ? needed - had : needed > 0 ? 1 : 0;
}

/* True if latency and calls lie within the bound; else sets the first figure that does not, and how many more runs would
 * decide. */
static bool is_decided(const struct verdict_runs *runs, struct verdict_op *op) {
    static const enum verdict_figure deciding[] = {VERDICT_USUAL, VERDICT_MEAN, VERDICT_CALLS};
    bool is_decided = true;
    op->more_runs = 1;
    for (size_t i = 0; i < ARRAY_SIZE(deciding); i++) {
        const struct effect *effect = &op->own[deciding[i]].effect;
        if (is_within(effect, bound_of(runs->result)))
            continue;
        const bool is_usual = deciding[i] == VERDICT_USUAL;
        const size_t more = more_runs_for(runs, is_usual ? VERDICT_FAMILY_USUAL : VERDICT_FAMILY_REST, effect);
        op->decided_by = is_decided ? deciding[i] : op->decided_by;
        if (op->more_runs > 0 && (more == 0 || more > op->more_runs)) /* 0: very many */
            op->more_runs = more;
        is_decided = false;
    }
    return is_decided;
}

void verdict_find_word(const struct verdict_runs *runs, struct verdict_op *op) {
    op->failures.is_changed =
        op->failures.effect.is_beyond && op->failures.sure_times > 1 + runs->result->options.at_least;
    if (!verdict_op_is_judged(op)) {
        op->word = word_without_figures(runs, op);
        op->decided_by = VERDICT_CALLS;
        op->is_changed[VERDICT_CALLS] = op->has_exact_calls && verdict_is_change(op->word);
        op->calls_word = op->word == VERDICT_ONLY_A || op->word == VERDICT_ONLY_B ? VERDICT_FEW : op->word;
        return;
    }
    const struct evidence evidence = mark_changes(op, &runs->result->options);
    const bool is_plain = is_within(&op->ratios[VERDICT_USUAL].effect, bound_of(runs->result)) &&
                          is_within(&op->ratios[VERDICT_MEAN].effect, bound_of(runs->result));
    op->decided_by = evidence.figure;
    op->calls_word =
        word_of_effect(&op->own[VERDICT_CALLS].effect, bound_of(runs->result), VERDICT_MORE_CALLS, VERDICT_FEWER_CALLS);
    if (evidence.p < INFINITY)
        op->word = word_of_change(op, &evidence);
    else if (op->is_changed[VERDICT_CALLS])
        op->word = op->calls_word;
    else if (op->failures.is_changed)
        op->word = op->failures.effect.difference > 0 ? VERDICT_FAILS_MORE : VERDICT_FAILS_LESS;
    else
        op->word = !is_decided(runs, op) ? VERDICT_UNDECIDED : is_plain ? VERDICT_ALIKE : VERDICT_AS_REST;
}

/* ---- Words of all ops together ------------------------------------------------------------------ */

static void find_word(const struct verdict_runs *runs, struct verdict_change *change, enum verdict_word more,
                      enum verdict_word less) {
    if (!change->is_there)
        return;
    change->word = word_of_effect(&change->ratio.effect, bound_of(runs->result), more, less);
    if (change->word == VERDICT_UNDECIDED)
        change->more_runs = more_runs_for(runs, VERDICT_FAMILY_REST, &change->ratio.effect);
}

void verdict_find_words_of_all(const struct verdict_runs *runs) {
    find_word(runs, &runs->result->common, VERDICT_SLOWER, VERDICT_FASTER);
    find_word(runs, &runs->result->total, VERDICT_MORE_TIME, VERDICT_LESS_TIME);
    find_word(runs, &runs->result->elapsed, VERDICT_MORE_TIME, VERDICT_LESS_TIME);
}
