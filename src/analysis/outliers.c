/* Storing the numbers of each profile; medians, and deviations from them. */
#include "outliers_cells.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "statistics.h"
#include "usual.h"

#define OPS_MAX 4096 /* the parser's limit */

/* ---- Life cycle --------------------------------------------------------------------------------- */

struct outliers *outliers_create(void) {
    return calloc(1, sizeof(struct outliers));
}

void outliers_destroy(struct outliers *outliers) {
    if (!outliers)
        return;
    for (size_t i = 0; i < outliers->group_count; i++) {
        struct outliers_group *group = &outliers->groups[i];
        for (size_t column = 0; column < group->column_count; column++) {
            free(group->columns[column].cells);
            free(group->columns[column].tails);
        }
        for (size_t member = 0; member < group->member_count; member++)
            free(group->members[member].name);
        free(group->columns);
        free(group->members);
        free(group->layer);
        free(group->value);
    }
    free(outliers->groups);
    free(outliers);
}

/* Makes room for more elements of an array, by doubling it. NULL: no memory */
static void *grow(void *array, size_t needed, size_t *capacity, size_t size_bytes) {
    if (needed <= *capacity)
        return array;
    size_t wanted = needed + needed / 2 + 8;
    void *grown = reallocarray(array, wanted, size_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

/* ---- Groups ------------------------------------------------------------------------------------- */

static struct outliers_group *find_group(struct outliers *outliers, const char *layer, const char *value) {
    for (size_t i = 0; i < outliers->group_count; i++) {
        struct outliers_group *group = &outliers->groups[i];
        if (strcmp(group->layer, layer) == 0 && strcmp(group->value, value) == 0)
            return group;
    }
    void *grown =
        grow(outliers->groups, outliers->group_count + 1, &outliers->group_capacity, sizeof(struct outliers_group));
    if (!grown)
        return NULL;
    outliers->groups = grown;
    struct outliers_group *group = &outliers->groups[outliers->group_count++];
    *group = (struct outliers_group){.layer = strdup(layer), .value = strdup(value)};
    return group->layer && group->value ? group : NULL;
}

static int add_member(struct outliers_group *group, const char *name, uint64_t frequency_hz) {
    void *grown = grow(group->members, group->member_count + 1, &group->member_capacity, sizeof(*group->members));
    if (!grown)
        return -ENOMEM;
    group->members = grown;
    struct outliers_member member = {.name = strdup(name), .log_cycle = -log((double)frequency_hz)};
    if (!member.name)
        return -ENOMEM;
    group->members[group->member_count++] = member;
    return 0;
}

static int find_column(struct outliers_group *group, const char *op, struct outliers_column **ret_column) {
    for (size_t i = 0; i < group->column_count; i++) {
        *ret_column = &group->columns[i];
        if (strcmp(group->columns[i].op, op) == 0)
            return 0;
    }
    if (group->column_count == OPS_MAX)
        return -E2BIG;
    struct outliers_column *grown = reallocarray(group->columns, group->column_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    group->columns = grown;
    *ret_column = &grown[group->column_count++];
    **ret_column = (struct outliers_column){.cells = NULL};
    memcpy((*ret_column)->op, op, strlen(op) + 1); /* it is no longer than the op of a profile */
    return 0;
}

/* ---- Operations --------------------------------------------------------------------------------- */

/* A summary of an operation's buckets. */
struct summary {
    double octaves[64];
    unsigned first; /* octave that is not empty */
    unsigned last;
    double calls;
    double variation;
    struct usual usual;
};

static struct summary summarise(const struct aggstats_op_profile *op, unsigned resolution) {
    struct summary summary = {.first = 64};
    double sum = 0;
    double square_sum = 0;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        double calls = (double)op->buckets[bucket];
        double mean = aggstats_bucket_mean(bucket, resolution);
        summary.last = bucket / resolution;
        summary.first = summary.first < 64 ? summary.first : summary.last;
        summary.octaves[summary.last] += calls;
        summary.calls += calls;
        sum += calls * mean;
        square_sum += calls * mean * mean;
    }
    if (summary.calls > 0) {
        summary.variation = fmax(0, square_sum * summary.calls / (sum * sum) - 1);
        summary.usual = usual_of(op, resolution);
    }
    return summary;
}

static int append_cell(struct outliers_group *group, struct outliers_column *column, const struct summary *summary,
                       unsigned resolution, double total_cycles) {
    const uint32_t member = (uint32_t)group->member_count - 1;
    const double rounding = LOG_2 * summary->usual.isolated / resolution;
    const size_t count = summary->last - summary->first + 1;
    void *grown = grow(column->cells, column->cell_count + 1, &column->cell_capacity, sizeof(*column->cells));
    if (!grown)
        return -ENOMEM;
    column->cells = grown;
    grown = grow(column->tails, column->tail_count + count, &column->tail_capacity, sizeof(*column->tails));
    if (!grown)
        return -ENOMEM;
    column->tails = grown;
    double tail = 0;
    for (size_t i = count; i-- > 0;) {
        tail += summary->octaves[summary->first + i];
        column->tails[column->tail_count + i] = (float)tail;
    }
    column->cells[column->cell_count++] = (struct outliers_cell){
        .member = member,
        .tails = (uint32_t)column->tail_count,
        .tail_count = (uint8_t)count,
        .first_octave = (uint8_t)summary->first,
        .log_mean = (float)(log(total_cycles / summary->calls) + group->members[member].log_cycle),
        .variation = (float)summary->variation,
        .log_centre = (float)(summary->usual.log2_cycles * LOG_2 + group->members[member].log_cycle),
        .centre_variance = (float)(summary->usual.variance * LOG_2 * LOG_2),
        .centre_rounding = (float)(rounding * rounding / 12), /* the variance of a uniform distribution */
        .calls = summary->calls,
    };
    column->tail_count += count;
    return 0;
}

int outliers_add(struct outliers *outliers, const char *name, const char *value,
                 const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    if (profile->clock.frequency_hz == 0)
        return -EDOM;
    struct outliers_group *group = find_group(outliers, layer ? layer : "", value);
    int error = group ? add_member(group, name, profile->clock.frequency_hz) : -ENOMEM;
    for (size_t i = 0; i < profile->op_count && !error; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        const struct summary summary = summarise(op, profile->resolution);
        struct outliers_column *column;
        if (summary.calls <= 0 || op->total_cycles == 0) /* latencies of 0 have no logarithm */
            continue;
        error = find_column(group, op->name, &column);
        if (!error)
            error = append_cell(group, column, &summary, profile->resolution, (double)op->total_cycles);
    }
    return error;
}

double outliers_share_beyond(const struct outliers_column *column, const struct outliers_cell *cell, double log_cycle,
                             double log_seconds) {
    const float *tails = column->tails + cell->tails;
    const double octave = (log_seconds - log_cycle) / LOG_2 - cell->first_octave;
    if (octave <= 0)
        return 1;
    if (octave >= cell->tail_count)
        return 0;
    const size_t whole = (size_t)octave;
    const double next = whole + 1 < cell->tail_count ? tails[whole + 1] : 0;
    return (tails[whole] + (octave - (double)whole) * (next - tails[whole])) / tails[0];
}

/* ---- Spread ------------------------------------------------------------------------------------- */

#define MAD_TO_DEVIATION 1.4826 /* of a normal distribution */
#define MAD_EFFICIENCY 0.37     /* a value is worth this many squares: degrees of freedom */

/* The median distance from the median, of the values on one side of it. sign: -1 below, 1 above */
static double one_sided_deviation(const double *values, size_t count, double median, double sign, double *scratch) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (sign * (values[i] - median) >= 0)
            scratch[kept++] = sign * (values[i] - median);
    return MAD_TO_DEVIATION * statistics_median(scratch, kept);
}

struct outliers_spread outliers_spread_of(const double *values, size_t count, double *scratch) {
    struct outliers_spread spread = {.freedom = fmax(1, MAD_EFFICIENCY * (double)(count - 1))};
    memcpy(scratch, values, count * sizeof(*scratch));
    spread.median = statistics_median(scratch, count);
    spread.below = one_sided_deviation(values, count, spread.median, -1, scratch);
    spread.above = one_sided_deviation(values, count, spread.median, 1, scratch);
    return spread;
}

struct outliers_spread outliers_spread_beside(const struct outliers_spread *spread, const double *values, size_t count,
                                              size_t index) {
    struct outliers_spread beside = *spread;
    if (count >= SPREAD_VALUES_MIN)
        return beside;
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += i == index ? 0 : (values[i] - spread->median) * (values[i] - spread->median);
    beside.below = sqrt(squares / (double)(count - 2));
    beside.above = beside.below;
    return beside;
}

double outliers_pooled(double *rests, size_t count) {
    for (size_t i = 0; i < count; i++)
        rests[i] = fabs(rests[i]);
    return count > 0 ? MAD_TO_DEVIATION * statistics_median(rests, count) : 0;
}

double outliers_freedom(const struct outliers_spread *spread) {
    return spread->freedom + (spread->pooled > 0 ? POOLED_FREEDOM : 0);
}

double outliers_distance(double value, double variance, const struct outliers_spread *spread, double typical_variance,
                         double deviation_min) {
    const double side = value > spread->median ? spread->above : spread->below;
    const double least = deviation_min * deviation_min;
    const double pooled_weight = outliers_freedom(spread) - spread->freedom;
    const double pooled = fmax(spread->pooled * spread->pooled - typical_variance, least);
    double own = fmax(side * side - typical_variance, least);
    own = (spread->freedom * own + pooled_weight * pooled) / (spread->freedom + pooled_weight);
    return (value - spread->median) / sqrt(own + variance);
}

double outliers_distance_min(double freedom, double trials) {
    return statistics_student_quantile(FALSE_SHARE / trials, freedom);
}

double outliers_chance(double distance, double freedom) {
    return statistics_student_beyond(distance, freedom);
}
