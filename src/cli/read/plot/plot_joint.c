/* Joint profiles. For each op and value: the op's latencies with their peaks in colours, and below, in the same
 * colours, for each peak the distribution of the value over its calls. If the values of two peaks differ, the value
 * explains why these calls take longer. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "gnuplot.h"
#include "peaks.h"
#include "plot.h"
#include "plot_axis.h"
#include "plot_page.h"
#include "value_text.h"

enum {
    WIDTH = 1000,
    LEFT = 84,
    RIGHT = 24,
    CAPTION = 24,
    LATENCY_BARS = 110,
    LATENCY_AXIS = 64,
    VALUE_BARS = 56,
    VALUE_AXIS = 72, /* with a gap to the next */
    PIXELS_PER_LABEL = 15,
    VALUES_MIN = 8,
};

static const char *const peak_colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};

/* A joint profile to draw. */
struct joint {
    const struct aggstats_joint_profile *data;
    const struct plot_op *op;
    struct peak peaks[PEAKS_MAX]; /* those in which the joint profile has calls */
    size_t peak_count;
    uint64_t peak_calls[PEAKS_MAX];
    unsigned rows[AGGSTATS_VALUE_ROWS_MAX]; /* from left to right */
    size_t row_count;
    double weights[AGGSTATS_VALUE_ROWS_MAX]; /* of each row, for one peak at a time */
    struct plot_axis weight;                 /* of values, in all peaks */
};

struct joints {
    const struct plot *plot;
    struct plot_page page;
    struct joint joint;
    unsigned resolution;
    double scale; /* of bars */
    int number;   /* of the data block */
    int y;        /* where the page continues */
};

/* ---- Choosing what is drawn --------------------------------------------------------------------- */

static bool is_named(enum aggstats_value value) {
    return value == AGGSTATS_ERROR || value == AGGSTATS_PAST_EOF;
}

/* Only names with calls are drawn; of ranges all from the first to the last, so that distances are right. */
static void choose_rows(struct joint *joint) {
    const struct aggstats_joint_profile *data = joint->data;
    for (size_t i = 0; i < data->cell_count; i++) {
        unsigned row = data->cells[i].row;
        if (joint->row_count > 0 && joint->rows[joint->row_count - 1] == row)
            continue;
        while (joint->row_count > 0 && !is_named(data->value) && joint->rows[joint->row_count - 1] + 1 < row) {
            joint->rows[joint->row_count] = joint->rows[joint->row_count - 1] + 1;
            joint->row_count++;
        }
        joint->rows[joint->row_count++] = row;
    }
}

static bool is_in(const struct peak *peak, const struct aggstats_cell *cell) {
    return cell->bucket >= peak->first && cell->bucket <= peak->last;
}

static void weigh(const struct plot *plot, struct joint *joint, const struct peak *peak) {
    memset(joint->weights, 0, sizeof(joint->weights));
    for (size_t i = 0; i < joint->data->cell_count; i++) {
        const struct aggstats_cell *cell = &joint->data->cells[i];
        for (size_t row = 0; row < joint->row_count && is_in(peak, cell); row++) {
            if (joint->rows[row] == cell->row)
                joint->weights[row] += plot_weight(plot, 0, cell->bucket, cell->count);
        }
    }
}

/* Returns false if there is nothing to draw. */
static bool choose_joint(const struct plot *plot, const struct aggstats_joint_profile *data, struct joint *joint) {
    struct peak all[PEAKS_MAX];
    double least = INFINITY;
    double most = 0;
    memset(joint, 0, sizeof(*joint));
    joint->data = data;
    for (size_t i = 0; i < plot->op_count && !joint->op; i++)
        if (strcmp(plot->ops[i].name, data->op) == 0)
            joint->op = &plot->ops[i];
    if (!joint->op)
        return false;
    const size_t count = peaks_find(joint->op->of[0], plot->profiles[0]->resolution, all);
    for (size_t i = 0; i < count; i++) {
        uint64_t calls = 0;
        for (size_t cell = 0; cell < data->cell_count; cell++)
            calls += is_in(&all[i], &data->cells[cell]) ? data->cells[cell].count : 0;
        if (calls == 0)
            continue;
        joint->peaks[joint->peak_count] = all[i];
        joint->peak_calls[joint->peak_count++] = calls;
    }
    if (joint->peak_count == 0)
        return false;
    choose_rows(joint);
    for (size_t i = 0; i < joint->peak_count; i++) {
        weigh(plot, joint, &joint->peaks[i]);
        for (size_t row = 0; row < joint->row_count; row++) {
            least = joint->weights[row] > 0 ? fmin(least, joint->weights[row]) : least;
            most = fmax(most, joint->weights[row]);
        }
    }
    joint->weight = plot_axis_of_bars(plot->by_latency ? least : 1, most, plot_weight_unit(plot));
    return true;
}

/* ---- Latencies ---------------------------------------------------------------------------------- */

static const char *colour_of(size_t peak) {
    return peak_colours[peak % ARRAY_SIZE(peak_colours)];
}

static double bound(const struct joints *it, unsigned bucket) {
    return plot_time(it->plot, 0, aggstats_bucket_lower(bucket, it->resolution));
}

/* Of the op as a whole, even if the joint profile was begun later. */
static void put_latency_axes(struct joints *it) {
    const struct aggstats_op_profile *op = it->joint.op->of[0];
    unsigned first = AGGSTATS_BUCKETS_MAX;
    unsigned last = 0;
    double least = INFINITY;
    double most = 0;
    for (unsigned bucket = 0; bucket < 64 * it->resolution; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        double weight = plot_weight(it->plot, 0, bucket, op->buckets[bucket]);
        first = bucket < first ? bucket : first;
        last = bucket;
        least = fmin(least, weight);
        most = fmax(most, weight);
    }
    struct plot_axis latency = plot_axis_over(bound(it, first), bound(it, last + 1), plot_time_unit(it->plot));
    struct plot_axis weight = plot_axis_of_bars(it->plot->by_latency ? least : 1, most, plot_weight_unit(it->plot));
    latency.labels_max = (unsigned)it->page.width / 70;
    weight.labels_max = (unsigned)(LATENCY_BARS * it->scale) / PIXELS_PER_LABEL;
    plot_axis_put(&latency, "x", it->page.script);
    plot_axis_put(&weight, "y", it->page.script);
    fprintf(it->page.script, "floor = %.9g\n", weight.low);
}

static void put_latencies(struct joints *it) {
    FILE *script = it->page.script;
    const struct aggstats_op_profile *op = it->joint.op->of[0];
    const int first = it->number + 1;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT, .top = it->y + CAPTION};
    const int y = area.top - CAPTION / 2 + 1;
    char value[VALUE_TEXT_SIZE];
    char text[PLOT_TEXT_SIZE];
    area.bottom = area.top + (int)(LATENCY_BARS * it->scale);
    plot_page_panel(&it->page, &area);
    value_text_of_name(it->joint.data->value, value);
    snprintf(text, sizeof(text), "%s by %s", it->joint.op->name, value);
    plot_page_untrusted(&it->page, area.left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, text, PLOT_TEXT_SIZE);
    plot_format_op(it->plot, it->joint.op, 0, text);
    plot_page_text(&it->page, area.right, y, PLOT_RIGHT, PLOT_SMALL, PLOT_FAINT, text);
    plot_page_text(&it->page, (area.left + area.right) / 2, area.bottom + 44, PLOT_CENTRE, PLOT_PLAIN, PLOT_TEXT,
                   plot_latency_title(it->plot));
    plot_page_text(&it->page, 14, (area.top + area.bottom) / 2, PLOT_CENTRE, PLOT_UPRIGHT, PLOT_TEXT,
                   it->plot->by_latency ? "latency" : "calls");
    put_latency_axes(it);
    for (size_t i = 0; i < it->joint.peak_count; i++) {
        const struct peak *peak = &it->joint.peaks[i];
        fprintf(script, "$data%d << EOD\n", ++it->number);
        for (unsigned bucket = peak->first; bucket <= peak->last; bucket++)
            if (op->buckets[bucket] > 0)
                fprintf(script, "%.9g %.9g %.15g\n", bound(it, bucket), bound(it, bucket + 1),
                        plot_weight(it->plot, 0, bucket, op->buckets[bucket]));
        fputs("EOD\n", script);
    }
    for (size_t i = 0; i < it->joint.peak_count; i++)
        fprintf(script, "%s$data%d using (sqrt($1*$2)):3:1:2:(floor):3 with boxxyerror lw 0.5 fillcolor rgb '%s'",
                i == 0 ? "plot " : ", ", first + (int)i, colour_of(i));
    putc('\n', script);
    it->y = area.bottom + LATENCY_AXIS;
}

/* ---- Values ------------------------------------------------------------------------------------- */

/* A row has its name in its middle, or the lower bound of its range on its edge. Few rows do not fill the panel: bars of
 * its whole width would be misleading. */
static void put_value_axis(struct joints *it, bool labelled) {
    FILE *script = it->page.script;
    const struct joint *joint = &it->joint;
    const enum aggstats_value value = joint->data->value;
    const struct units units = {.frequency_hz = 1};
    const size_t labels_max = (size_t)(it->page.width - LEFT - RIGHT) / 64;
    const size_t step = joint->row_count / labels_max + 1;
    const size_t shown = joint->row_count < VALUES_MIN ? VALUES_MIN : joint->row_count;
    fprintf(script, "unset logscale x\nset xrange [-0.6:%g]\nset xtics (", (double)shown - 0.4);
    for (size_t row = 0; row < joint->row_count; row += step) {
        const uint64_t first = aggstats_value_first(value, joint->rows[row]);
        char text[VALUE_TEXT_SIZE] = "";
        if (labelled && is_named(value))
            value_text_of_row(value, joint->rows[row], &units, text);
        else if (labelled)
            value_text_of_first(value, first, &units, text);
        fputs(row > 0 ? ", " : "", script);
        gnuplot_put_text(script, text, VALUE_TEXT_SIZE);
        fprintf(script, " %g", is_named(value) || first == 0 ? (double)row : (double)row - 0.5);
    }
    fputs(")\n", script);
}

/* A panel below "1.58 µs .. 12.6 µs, 7,303 calls". */
static void put_values(struct joints *it, size_t index) {
    FILE *script = it->page.script;
    struct joint *joint = &it->joint;
    const struct peak *peak = &joint->peaks[index];
    const bool last = index + 1 == joint->peak_count;
    const double half = is_named(joint->data->value) ? 0.4 : 0.5; /* ranges adjoin */
    const struct units units = {.frequency_hz = it->plot->profiles[0]->clock.frequency_hz};
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT, .top = it->y + CAPTION};
    const int y = area.top - CAPTION / 2 + 1;
    char name[VALUE_TEXT_SIZE];
    char text[PLOT_TEXT_SIZE];
    area.bottom = area.top + (int)(VALUE_BARS * it->scale);
    plot_page_panel(&it->page, &area);
    snprintf(text, sizeof(text), "%s .. %s, %s call%s",
             units_cycles(&units, aggstats_bucket_lower(peak->first, it->resolution)).text,
             units_cycles(&units, aggstats_bucket_upper(peak->last, it->resolution)).text,
             units_count(joint->peak_calls[index]).text, units_plural(joint->peak_calls[index]));
    plot_page_square(&it->page, area.left + 5, y, colour_of(index));
    plot_page_text(&it->page, area.left + 16, y, PLOT_LEFT, PLOT_PLAIN, PLOT_TEXT, text);
    joint->weight.labels_max = (unsigned)(VALUE_BARS * it->scale) / PIXELS_PER_LABEL;
    plot_axis_put(&joint->weight, "y", script);
    put_value_axis(it, last);
    value_text_of_name(joint->data->value, name);
    if (last)
        plot_page_text(&it->page, (area.left + area.right) / 2, area.bottom + 44, PLOT_CENTRE, PLOT_PLAIN, PLOT_TEXT,
                       name);
    weigh(it->plot, joint, peak);
    fprintf(script, "$data%d << EOD\n", ++it->number);
    for (size_t row = 0; row < joint->row_count; row++)
        if (joint->weights[row] > 0)
            fprintf(script, "%zu %.15g\n", row, joint->weights[row]);
    fprintf(script, "EOD\nplot $data%d using 1:2:($1-%g):($1+%g):(%.9g):2 with boxxyerror lw 0.5 fillcolor rgb '%s'\n",
            it->number, half, half, joint->weight.low, colour_of(index));
    it->y = area.bottom;
}

/* ---- The figure --------------------------------------------------------------------------------- */

int plot_joints(const struct plot *plot, FILE *script) {
    const double scale_min = 0.4;
    const struct aggstats_profile *profile = plot->profiles[0];
    struct joints it = {.plot = plot, .resolution = profile->resolution, .scale = 1};
    int fixed = plot_page_top(plot); /* pixels */
    int bars = 0;                    /* pixels, which grow with the picture */
    for (size_t i = 0; i < profile->joint_count && fixed <= PLOT_SIZE_MAX; i++) {
        if (!choose_joint(plot, &profile->joints[i], &it.joint))
            continue;
        const int peaks = (int)it.joint.peak_count;
        fixed += CAPTION + LATENCY_AXIS + peaks * CAPTION + VALUE_AXIS;
        bars += LATENCY_BARS + peaks * VALUE_BARS;
    }
    if (bars == 0)
        return -ENODATA;
    if (plot->height > 0 || fixed + bars > PLOT_SIZE_MAX)
        it.scale = (double)((plot->height > 0 ? plot->height : PLOT_SIZE_MAX) - fixed) / bars;
    if (it.scale < scale_min)
        return -ERANGE;
    plot_page_begin(&it.page, plot, WIDTH, fixed + (int)(it.scale * bars), script);
    it.y = it.page.top;
    for (size_t i = 0; i < profile->joint_count; i++) {
        if (!choose_joint(plot, &profile->joints[i], &it.joint))
            continue;
        put_latencies(&it);
        for (size_t peak = 0; peak < it.joint.peak_count; peak++)
            put_values(&it, peak);
        it.y += VALUE_AXIS;
    }
    plot_page_end(&it.page);
    return 0;
}
