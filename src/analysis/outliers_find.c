/* Judging profiles by their peers. Each operation of each profile is tested in two ways:
 *
 * - Does its mean latency differ, or its typical one, which is better if rare slow calls dominate the mean? The
 *   logarithm of a mean latency is, except for noise, the sum of what is usual for the operation and of what all
 *   operations of the profile have in common; median polish finds both. The rest is compared with its spread among the
 *   peers (MAD) and with its own sampling error.
 * - Do more of its calls take long? At PLACES times, multiples of the usual mean latency, the share of calls that took
 *   longer is compared with the peers' shares at that time. The own share is taken SLACK_OCTAVES further on, and
 *   further by as much as the whole operation is slower, so that only another shape counts. Without the latter, missing
 *   fast calls are found.
 *
 * All distances are in standard deviations. Student's t turns them into the probability that chance makes one as large
 * in any of the trials that an operation of a profile has. The least probable ones are reported, as many as keep those
 * made by chance below FALSE_SHARE.
 *
 * Source:  Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate, J. R. Statist. Soc. B 57 (1995); F. J.
 *          Anscombe, The transformation of Poisson, binomial and negative-binomial data, Biometrika 35 (1948) */
#include <math.h>
#include <string.h>

#include "base.h"
#include "outliers_cells.h"
#include "statistics.h"

#define POLISH_SWEEPS 4
#define COMMON_OPS_MIN 4 /* the median of the other three tolerates one odd operation */

#define PLACES 29
#define FIRST_PLACE_OCTAVE (-8) /* of the usual mean latency */
#define TRIALS (4 + PLACES)     /* of an operation of a profile: two means, on both sides, and the shares */
#define SLACK_OCTAVES 1.0       /* the width of a bucket at resolution 1, in which calls may lie anywhere */
#define LATENCY_SHARE_MIN 0.05  /* calls with less of the latency do not matter */
#define GONE_SHARE_MIN 0.2      /* share of the peers' calls that must be fast, for missing ones to count */
#define SLOW_END_SHARE 0.01     /* this share of the peers' calls, at least, is their slow end */

#define MEAN_DEVIATION_MIN 0.02 /* however similar peers are */
#define SHARE_DEVIATION_MIN 0.005

/* ---- A group ------------------------------------------------------------------------------------ */

/* Index of a cell in the group. */
struct cell_place {
    uint32_t column;
    uint32_t index;
};

/* The state of judging a group. */
struct judging {
    const struct outliers_group *group;
    struct outliers_result *result;
    double factor_min;
    double *usual;            /* by column: logarithm of the usual mean latency */
    double *common;           /* by member: logarithm of the common factor */
    double *common_beside;    /* by cell: the same, estimated from the member's other cells */
    double pooled_mean;       /* deviation of mean latencies, of all columns together */
    double pooled_centre;     /* ... of typical ones */
    double trials;            /* of all operations that are judged */
    size_t *cells_before;     /* by column: where its cells begin in common_beside */
    size_t *first_of;         /* by member: where its cells begin in cells; one more than members */
    struct cell_place *cells; /* those that are judged, by member */
    double *values;           /* for one column, or one member */
    size_t *order;
    double *scratch;
    double *variances;
};

static bool is_judged(const struct outliers_column *column) {
    return column->cell_count >= OUTLIERS_PROFILES_MIN;
}

static size_t count_judged(const struct outliers_group *group) {
    size_t count = 0;
    for (size_t i = 0; i < group->column_count; i++)
        count += is_judged(&group->columns[i]) ? group->columns[i].cell_count : 0;
    return count;
}

/* Sorts the cells that are judged by member. */
static void index_members(struct judging *it) {
    const struct outliers_group *group = it->group;
    for (size_t c = 0; c < group->column_count; c++) {
        const struct outliers_column *column = &group->columns[c];
        it->cells_before[c + 1] = it->cells_before[c] + (is_judged(column) ? column->cell_count : 0);
        for (size_t i = 0; is_judged(column) && i < column->cell_count; i++)
            it->first_of[column->cells[i].member + 1]++;
    }
    for (size_t m = 0; m < group->member_count; m++)
        it->first_of[m + 1] += it->first_of[m];
    for (size_t c = group->column_count; c-- > 0;) {
        const struct outliers_column *column = &group->columns[c];
        for (size_t i = 0; is_judged(column) && i < column->cell_count; i++)
            it->cells[--it->first_of[column->cells[i].member + 1]] = (struct cell_place){(uint32_t)c, (uint32_t)i};
    }
    /* each entry was decremented to where its member's cells begin, one place too far */
    memmove(it->first_of, it->first_of + 1, group->member_count * sizeof(*it->first_of));
    it->first_of[group->member_count] = count_judged(group);
}

static void judging_finish(struct judging *it) {
    free(it->usual);
    free(it->common);
    free(it->common_beside);
    free(it->cells_before);
    free(it->first_of);
    free(it->cells);
    free(it->values);
    free(it->order);
    free(it->scratch);
    free(it->variances);
}

static int judging_init(struct judging *it) {
    const struct outliers_group *group = it->group;
    const size_t cell_count = count_judged(group);
    const size_t most = group->member_count + group->column_count + 1; /* values of a column, or of a member */
    it->usual = calloc(group->column_count + 1, sizeof(*it->usual));
    it->common = calloc(group->member_count + 1, sizeof(*it->common));
    it->first_of = calloc(group->member_count + 2, sizeof(*it->first_of));
    it->common_beside = calloc(cell_count + 1, sizeof(*it->common_beside));
    it->cells_before = calloc(group->column_count + 1, sizeof(*it->cells_before));
    it->cells = calloc(cell_count + 1, sizeof(*it->cells));
    it->values = calloc(most, sizeof(*it->values));
    it->order = calloc(most, sizeof(*it->order));
    it->scratch = calloc(most, sizeof(*it->scratch));
    it->variances = calloc(most, sizeof(*it->variances));
    if (!it->usual || !it->common || !it->common_beside || !it->cells_before || !it->first_of || !it->cells ||
        !it->values || !it->order || !it->scratch || !it->variances)
        return -ENOMEM;
    index_members(it);
    return 0;
}

/* ---- Median polish ------------------------------------------------------------------------------ */

/* A member's mean latencies, without the usual ones, in values. Returns how many */
static size_t list_rests(struct judging *it, size_t member) {
    const size_t first = it->first_of[member];
    const size_t count = it->first_of[member + 1] - first;
    for (size_t i = 0; i < count; i++) {
        const struct cell_place at = it->cells[first + i];
        it->values[i] = it->group->columns[at.column].cells[at.index].log_mean - it->usual[at.column];
    }
    return count;
}

/* Median polish. */
static void polish(struct judging *it) {
    for (int sweep = 0; sweep < POLISH_SWEEPS; sweep++) {
        for (size_t c = 0; c < it->group->column_count; c++) {
            const struct outliers_column *column = &it->group->columns[c];
            if (!is_judged(column))
                continue;
            for (size_t i = 0; i < column->cell_count; i++)
                it->values[i] = column->cells[i].log_mean - it->common[column->cells[i].member];
            it->usual[c] = statistics_median(it->values, column->cell_count);
        }
        for (size_t m = 0; m < it->group->member_count; m++) {
            const size_t count = list_rests(it, m);
            if (count >= COMMON_OPS_MIN)
                it->common[m] = statistics_median(it->values, count);
        }
    }
}

/* The common factor estimated from all operations except one: otherwise an operation that is often the median itself
 * would seem to vary less than it does. */
static void tell_common_beside(struct judging *it, size_t member) {
    const size_t first = it->first_of[member];
    const size_t count = list_rests(it, member);
    if (count < COMMON_OPS_MIN)
        return;
    statistics_sort_order(it->order, it->values, count);
    for (size_t i = 0; i < count; i++)
        it->scratch[i] = it->values[it->order[i]];
    for (size_t i = 0; i < count; i++) {
        const struct cell_place at = it->cells[first + it->order[i]];
        /* the median of the sorted values without this one */
        const size_t low = (count - 2) / 2;
        const size_t high = (count - 1) / 2;
        it->common_beside[it->cells_before[at.column] + at.index] =
            (it->scratch[low + (low >= i)] + it->scratch[high + (high >= i)]) / 2;
    }
}

/* The deviation of all cells from the medians of their columns. Where a column has an odd number of cells one of them is
 * its median, and tells nothing. is_centre: of the typical latency, not the mean */
static int pool(struct judging *it, bool is_centre, double *ret_deviation) {
    CLEANUP_FREE double *rests = calloc(count_judged(it->group) + 1, sizeof(*rests));
    size_t rest_count = 0;
    if (!rests)
        return -ENOMEM;
    for (size_t c = 0; c < it->group->column_count; c++) {
        const struct outliers_column *column = &it->group->columns[c];
        for (size_t i = 0; is_judged(column) && i < column->cell_count; i++)
            it->values[i] = (is_centre ? column->cells[i].log_centre : column->cells[i].log_mean) -
                            it->common_beside[it->cells_before[c] + i];
        if (!is_judged(column))
            continue;
        statistics_sort(it->values, column->cell_count);
        const size_t middle = column->cell_count / 2;
        const double median = (it->values[(column->cell_count - 1) / 2] + it->values[middle]) / 2;
        for (size_t i = 0; i < column->cell_count; i++)
            if (column->cell_count % 2 == 0 || i != middle)
                rests[rest_count++] = it->values[i] - median;
    }
    *ret_deviation = outliers_pooled(rests, rest_count);
    return 0;
}

/* ---- Findings ----------------------------------------------------------------------------------- */

/* Where something was found, and its distance from the peers; 0: nothing was found. */
struct finding {
    double distance;
    double chance;  /* of such a distance */
    double rest;    /* of a mean: its logarithm, without what is usual and common */
    unsigned place; /* of shares of calls */
};

/* The findings about each cell of a column. */
struct findings {
    struct finding mean;
    struct finding centre; /* typical latency; rest is set in any case */
    struct finding slow;   /* more calls are slow */
    struct finding gone;   /* few calls are fast */
};

/* A column while it is judged. */
struct column_judging {
    struct judging *it;
    const struct outliers_column *column;
    const double *common; /* by cell: logarithm of the common factor */
    double usual;
    double usual_centre;
    struct findings *found; /* by cell */
    double shares[PLACES];  /* of calls beyond each place: median */
};

/* The median of the variances. */
static double typical_variance_of(struct judging *it, size_t count) {
    memcpy(it->scratch, it->variances, count * sizeof(*it->scratch));
    return statistics_median(it->scratch, count);
}

/* Judges the values, logarithms of latencies without the common factor, by their variances. */
static struct finding judge_mean(const struct column_judging *judging, size_t index,
                                 const struct outliers_spread *spread, double typical_variance) {
    const struct judging *it = judging->it;
    const size_t count = judging->column->cell_count;
    const struct outliers_spread beside = outliers_spread_beside(spread, it->values, count, index);
    struct finding finding = {.rest = it->values[index] - spread->median};
    double distance =
        outliers_distance(it->values[index], it->variances[index], &beside, typical_variance, MEAN_DEVIATION_MIN);
    if (fabs(distance) < outliers_distance_min(outliers_freedom(&beside), TRIALS) ||
        fabs(finding.rest) < log(it->factor_min))
        return finding;
    finding.distance = distance;
    finding.chance = outliers_chance(fabs(distance), outliers_freedom(&beside));
    return finding;
}

/* Notes the least factor that could be found in a value which is as uncertain as the peers' are. */
static void note_least_factor(const struct judging *it, const struct outliers_spread *spread, size_t count,
                              double typical_variance) {
    struct outliers_result *result = it->result;
    for (size_t i = 0; i < count; i++) {
        const struct outliers_spread beside = outliers_spread_beside(spread, it->values, count, i);
        const double octave =
            outliers_distance(beside.median + LOG_2, typical_variance, &beside, typical_variance, MEAN_DEVIATION_MIN);
        const double factor = exp2(outliers_distance_min(outliers_freedom(&beside), it->trials) / octave);
        result->least_factor = fmax(it->factor_min, fmin(result->least_factor, factor));
        if (count >= SPREAD_VALUES_MIN)
            return; /* it is the same for all */
    }
}

static void judge_means(struct column_judging *judging) {
    struct judging *it = judging->it;
    const struct outliers_cell *cells = judging->column->cells;
    const size_t count = judging->column->cell_count;
    for (size_t i = 0; i < count; i++)
        it->values[i] = cells[i].variation;
    const double typical_variation = statistics_median(it->values, count);
    for (size_t i = 0; i < count; i++) {
        it->variances[i] = log1p(fmax(cells[i].variation, typical_variation) / cells[i].calls);
        it->values[i] = cells[i].log_mean - judging->common[i];
    }
    const double typical_variance = typical_variance_of(it, count);
    struct outliers_spread spread = outliers_spread_of(it->values, count, it->scratch);
    spread.pooled = it->pooled_mean;
    note_least_factor(it, &spread, count, typical_variance);
    for (size_t i = 0; i < count; i++)
        judging->found[i].mean = judge_mean(judging, i, &spread, typical_variance);
}

/* If peers have one clock rate, the width of their buckets shifts them all alike. So the own error is taken for at
 * least the typical one, which is not subtracted from their spread. */
static void judge_centres(struct column_judging *judging) {
    struct judging *it = judging->it;
    const struct outliers_cell *cells = judging->column->cells;
    const size_t count = judging->column->cell_count;
    for (size_t i = 0; i < count; i++)
        it->variances[i] = cells[i].centre_rounding;
    const double typical_rounding = typical_variance_of(it, count);
    for (size_t i = 0; i < count; i++)
        it->variances[i] = cells[i].centre_variance * cells[i].calls;
    const double typical_width = typical_variance_of(it, count);
    for (size_t i = 0; i < count; i++)
        it->variances[i] = fmax(cells[i].centre_variance, typical_width / cells[i].calls);
    const double typical_variance = typical_variance_of(it, count);
    for (size_t i = 0; i < count; i++) {
        it->variances[i] += fmax(cells[i].centre_rounding, typical_rounding);
        it->values[i] = cells[i].log_centre - judging->common[i];
    }
    struct outliers_spread spread = outliers_spread_of(it->values, count, it->scratch);
    spread.pooled = it->pooled_centre;
    judging->usual_centre = spread.median;
    note_least_factor(it, &spread, count, typical_variance);
    for (size_t i = 0; i < count; i++)
        judging->found[i].centre = judge_mean(judging, i, &spread, typical_variance);
}

static double common_of(const struct column_judging *judging, const struct outliers_cell *cell) {
    return judging->common[cell - judging->column->cells];
}

static double log_place(const struct column_judging *judging, double place) {
    return judging->usual + (FIRST_PLACE_OCTAVE + place) * LOG_2;
}

/* The share of calls beyond a place, which moves with the common factor, and by shift in addition. */
static double share_beyond(const struct column_judging *judging, const struct outliers_cell *cell, double place,
                           double shift) {
    const struct judging *it = judging->it;
    return outliers_share_beyond(judging->column, cell, it->group->members[cell->member].log_cycle,
                                 log_place(judging, place) + common_of(judging, cell) + shift);
}

/* Calls beyond a place must be this much further beyond it, so that a slower operation as a whole does not count. */
static double shift_of(const struct findings *findings) {
    return SLACK_OCTAVES * LOG_2 + fmax(0, findings->centre.rest);
}

/* The share of a cell's latency in calls that take longer, from their octaves. */
static double latency_share_beyond(const struct column_judging *judging, const struct outliers_cell *cell,
                                   double log_seconds) {
    const float *tails = judging->column->tails + cell->tails;
    double octave = (log_seconds - judging->it->group->members[cell->member].log_cycle) / LOG_2 - cell->first_octave;
    double beyond = 0;
    double whole = 0;
    for (int i = 0; i < cell->tail_count; i++) {
        double latency = (tails[i] - (i + 1 < cell->tail_count ? tails[i + 1] : 0)) * exp2(i);
        whole += latency;
        beyond += latency * fmin(1, fmax(0, i + 1 - octave));
    }
    return beyond / whole;
}

static double odds(double share) {
    return share / fmax(1 - share, 1e-12);
}

/* Judges the share of calls beyond a place, and a shift, like the values. */
static void judge_share(const struct column_judging *judging, size_t index, unsigned place, double shift,
                        const struct outliers_spread *spread, double typical_variance, struct finding *finding) {
    const struct judging *it = judging->it;
    const struct outliers_cell *cell = &judging->column->cells[index];
    const double share = share_beyond(judging, cell, place, shift);
    const double log_seconds = log_place(judging, place) + judging->common[index] + shift;
    double distance =
        outliers_distance(asin(sqrt(share)), it->variances[index], spread, typical_variance, SHARE_DEVIATION_MIN);
    const double peers_share = judging->shares[place];
    if (distance < outliers_distance_min(spread->freedom, TRIALS) || distance <= finding->distance ||
        odds(share) < it->factor_min * odds(peers_share) ||
        latency_share_beyond(judging, cell, log_seconds) * (1 - peers_share / share) < LATENCY_SHARE_MIN)
        return;
    *finding =
        (struct finding){.distance = distance, .chance = outliers_chance(distance, spread->freedom), .place = place};
}

/* The arcsine of its root has a sampling error that depends only on the number of calls. */
static void judge_place(struct column_judging *judging, unsigned place) {
    struct judging *it = judging->it;
    const struct outliers_column *column = judging->column;
    const size_t count = column->cell_count;
    for (size_t i = 0; i < count; i++) {
        it->variances[i] = 1 / (4 * column->cells[i].calls);
        it->values[i] = asin(sqrt(share_beyond(judging, &column->cells[i], place, 0)));
    }
    const double typical_variance = typical_variance_of(it, count);
    const struct outliers_spread spread = outliers_spread_of(it->values, count, it->scratch);
    judging->shares[place] = pow(sin(spread.median), 2);
    for (size_t i = 0; i < count; i++) {
        struct findings *findings = &judging->found[i];
        judge_share(judging, i, place, shift_of(findings), &spread, typical_variance, &findings->slow);
        const double peers_share = 1 - judging->shares[place];
        if (peers_share >= GONE_SHARE_MIN && 1 - share_beyond(judging, &column->cells[i], place, 0) <= peers_share / 2)
            judge_share(judging, i, place, SLACK_OCTAVES * LOG_2, &spread, typical_variance, &findings->gone);
    }
}

/* ---- Reports ------------------------------------------------------------------------------------ */

/* Logarithm of the middle of the octave with most of a cell's calls beyond a time. */
static double most_beyond(const struct column_judging *judging, const struct outliers_cell *cell, double log_seconds) {
    const double log_cycle = judging->it->group->members[cell->member].log_cycle;
    const float *tails = judging->column->tails + cell->tails;
    int best = cell->tail_count - 1;
    double most = 0;
    for (int i = cell->tail_count - 1; i >= 0 && log_cycle + (cell->first_octave + i + 1) * LOG_2 > log_seconds; i--) {
        double calls = tails[i] - (i + 1 < cell->tail_count ? tails[i + 1] : 0);
        if (calls > most) {
            most = calls;
            best = i;
        }
    }
    return log_cycle + (cell->first_octave + best + 0.5) * LOG_2;
}

static void take_chance(struct outlier *outlier, const struct finding *finding) {
    outlier->distance = fmax(outlier->distance, fabs(finding->distance));
    if (finding->distance != 0)
        outlier->chance = fmin(outlier->chance, TRIALS * finding->chance);
}

static void tell_slow_calls(const struct column_judging *judging, const struct outliers_cell *cell,
                            const struct findings *findings, struct outlier *outlier) {
    const double place = findings->slow.place + shift_of(findings) / LOG_2;
    const double log_seconds = log_place(judging, place) + common_of(judging, cell);
    outlier->kind = OUTLIERS_SLOW_CALLS;
    take_chance(outlier, &findings->slow);
    outlier->place_seconds = exp(log_seconds);
    outlier->around_seconds = exp(most_beyond(judging, cell, log_seconds));
    outlier->share = share_beyond(judging, cell, place, 0);
    const unsigned whole = place < PLACES - 1 ? (unsigned)place : PLACES - 1; /* of the places examined */
    outlier->peers_share = judging->shares[whole];
    if (whole < PLACES - 1)
        outlier->peers_share += (place - whole) * (judging->shares[whole + 1] - judging->shares[whole]);
}

static void tell_fast_gone(const struct column_judging *judging, const struct outliers_cell *cell,
                           const struct findings *findings, struct outlier *outlier) {
    const unsigned place = findings->gone.place;
    const double common = common_of(judging, cell);
    outlier->kind = OUTLIERS_FAST_GONE;
    take_chance(outlier, &findings->gone);
    outlier->place_seconds = exp(log_place(judging, place) + common);
    unsigned best = 0; /* the place before that one beyond which the next has most of the peers' calls */
    for (unsigned i = 1; i < place; i++)
        if (judging->shares[i] - judging->shares[i + 1] > judging->shares[best] - judging->shares[best + 1])
            best = i;
    outlier->around_seconds = exp(log_place(judging, best + 0.5) + common);
    outlier->share = 1 - share_beyond(judging, cell, place, 0);
    outlier->peers_share = 1 - judging->shares[place];
}

/* True if slow calls have moved by less than half as much as the whole: then not all calls are slower. */
static bool slow_end_stays(const struct column_judging *judging, const struct outliers_cell *cell,
                           const struct findings *findings) {
    unsigned place = 0;
    while (place + 1 < PLACES && judging->shares[place + 1] > SLOW_END_SHARE)
        place++;
    return share_beyond(judging, cell, place, findings->centre.rest / 2) < SLOW_END_SHARE;
}

static void tell_mean(const struct column_judging *judging, const struct outliers_cell *cell,
                      const struct findings *findings, struct outlier *outlier) {
    outlier->is_typical = fabs(findings->centre.distance) > fabs(findings->mean.distance);
    const struct finding *finding = outlier->is_typical ? &findings->centre : &findings->mean;
    outlier->kind = finding->distance < 0 ? OUTLIERS_FASTER : OUTLIERS_SLOWER;
    take_chance(outlier, finding);
    outlier->factor = exp(finding->rest);
    outlier->seconds = exp((double)(outlier->is_typical ? cell->log_centre : cell->log_mean));
    outlier->peers_seconds = exp(outlier->is_typical ? judging->usual_centre : judging->usual);
}

/* Capacities are powers of two. NULL: no memory */
static void *next_place(void *array, size_t count, size_t size_bytes) {
    return (count & (count - 1)) == 0 ? reallocarray(array, count > 0 ? 2 * count : 1, size_bytes) : array;
}

static int tell(const struct column_judging *judging, size_t index) {
    const struct judging *it = judging->it;
    const struct outliers_cell *cell = &judging->column->cells[index];
    struct outliers_result *result = it->result;
    struct outlier outlier = {
        .profile = it->group->members[cell->member].name,
        .layer = it->group->layer,
        .value = it->group->value,
        .op = judging->column->op,
        .calls = (uint64_t)cell->calls,
        .peer_count = judging->column->cell_count - 1,
        .chance = 1,
        .common_factor = exp(judging->common[index]),
    };
    const struct findings *findings = &judging->found[index];
    tell_mean(judging, cell, findings, &outlier);
    if (findings->gone.distance > 0 && slow_end_stays(judging, cell, findings)) /* the shape says more than the mean */
        tell_fast_gone(judging, cell, findings, &outlier);
    else if (findings->slow.distance > 0)
        tell_slow_calls(judging, cell, findings, &outlier);
    if (outlier.distance <= 0)
        return 0;
    struct outlier *found = next_place(result->found, result->found_count, sizeof(*found));
    if (!found)
        return -ENOMEM;
    result->found = found;
    found[result->found_count++] = outlier;
    return 0;
}

static int judge_column(struct judging *it, size_t index) {
    const struct outliers_column *column = &it->group->columns[index];
    CLEANUP_FREE struct findings *found = calloc(column->cell_count, sizeof(*found));
    struct column_judging judging = {
        .it = it,
        .column = column,
        .common = it->common_beside + it->cells_before[index],
        .usual = it->usual[index],
        .found = found,
    };
    if (!found)
        return -ENOMEM;
    judge_means(&judging);
    judge_centres(&judging);
    for (unsigned place = 0; place < PLACES && column->cell_count >= SPREAD_VALUES_MIN; place++)
        judge_place(&judging, place);
    int error = 0;
    for (size_t i = 0; i < column->cell_count && !error; i++)
        error = tell(&judging, i);
    return error;
}

/* Finds common factors that stand out among those of the peers. */
static int find_busy(struct judging *it) {
    const size_t count = it->group->member_count;
    struct outliers_result *result = it->result;
    const struct outliers_spread spread = outliers_spread_of(it->common, count, it->scratch);
    const double distance_min = outliers_distance_min(spread.freedom, 2 * (double)count);
    for (size_t m = 0; m < count; m++) {
        double distance = outliers_distance(it->common[m], 0, &spread, 0, MEAN_DEVIATION_MIN);
        double rest = it->common[m] - spread.median;
        if (fabs(rest) < log(it->factor_min) || fabs(distance) < distance_min)
            continue;
        struct outliers_busy *busy = next_place(result->busy, result->busy_count, sizeof(*busy));
        if (!busy)
            return -ENOMEM;
        result->busy = busy;
        busy[result->busy_count++] = (struct outliers_busy){it->group->members[m].name, exp(rest)};
    }
    return 0;
}

/* judged_count: of all groups */
static int judge_group(const struct outliers_group *group, double factor_min, uint64_t judged_count,
                       struct outliers_result *result) {
    struct judging it = {
        .group = group, .result = result, .factor_min = factor_min, .trials = TRIALS * (double)judged_count};
    int error = judging_init(&it);
    if (!error) {
        for (size_t m = 0; m < group->member_count; m++)
            result->judged_profile_count += it.first_of[m + 1] > it.first_of[m];
        polish(&it);
        for (size_t m = 0; m < group->member_count; m++)
            tell_common_beside(&it, m);
        error = pool(&it, false, &it.pooled_mean);
    }
    if (!error)
        error = pool(&it, true, &it.pooled_centre);
    for (size_t c = 0; c < group->column_count && !error; c++)
        if (is_judged(&group->columns[c]))
            error = judge_column(&it, c);
    if (!error && group->member_count >= SPREAD_VALUES_MIN)
        error = find_busy(&it);
    judging_finish(&it);
    return error;
}

/* ---- All ---------------------------------------------------------------------------------------- */

static int compare_found(const void *left, const void *right) {
    const struct outlier *a = left;
    const struct outlier *b = right;
    if (a->chance != b->chance)
        return a->chance > b->chance ? 1 : -1;
    if (a->distance != b->distance)
        return a->distance < b->distance ? 1 : -1;
    int order = strcmp(a->profile, b->profile);
    return order ? order : strcmp(a->op, b->op);
}

static int compare_busy(const void *left, const void *right) {
    const struct outliers_busy *a = left;
    const struct outliers_busy *b = right;
    double difference = fabs(log(b->common_factor)) - fabs(log(a->common_factor));
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(a->profile, b->profile);
}

int outliers_find(const struct outliers *outliers, double factor_min, struct outliers_result *ret_result) {
    struct outliers_result result = {.group_count = outliers->group_count, .least_factor = INFINITY};
    int error = 0;
    for (size_t i = 0; i < outliers->group_count; i++)
        result.judged_count += count_judged(&outliers->groups[i]);
    for (size_t i = 0; i < outliers->group_count && !error; i++) {
        result.profile_count += outliers->groups[i].member_count;
        error = judge_group(&outliers->groups[i], factor_min, result.judged_count, &result);
    }
    if (error) {
        outliers_result_finish(&result);
        return error;
    }
    if (result.found_count > 0)
        qsort(result.found, result.found_count, sizeof(*result.found), compare_found);
    /* The n-th is kept if chance alone is expected to make as many findings as it among n / FALSE_SHARE. */
    while (result.found_count > 0 && result.found[result.found_count - 1].chance * (double)result.judged_count >
                                         FALSE_SHARE * (double)result.found_count)
        result.found_count--;
    if (result.busy_count > 0)
        qsort(result.busy, result.busy_count, sizeof(*result.busy), compare_busy);
    *ret_result = result;
    return 0;
}

void outliers_result_finish(struct outliers_result *result) {
    free(result->found);
    free(result->busy);
    *result = (struct outliers_result){0};
}
