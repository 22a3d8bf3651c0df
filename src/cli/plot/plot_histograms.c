/* A column of histograms. The bars of one profile are filled; if two are compared, the second is an outline over them.
 * Each bucket is drawn between its own bounds, in seconds: so profiles of different clock rates are aligned without
 * rescaling. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "plot.h"
#include "plot_axis.h"
#include "plot_labels.h"
#include "plot_page.h"

enum {
    WIDTH = 1000,
    LEFT = 80,
    RIGHT = 24,
    TOP_AXIS = 42,    /* the bucket numbers */
    BOTTOM_AXIS = 58, /* the latencies */
    CAPTION = 22,     /* above each panel */
    BARS = 64,        /* of one op among many */
    BARS_ALONE = 360,
    BARS_MIN = 12,
    PIXELS_PER_LABEL = 15,
    PIXELS_PER_NUMBER = 34,
};

struct histograms {
    const struct plot *plot;
    struct plot_page page;
    struct plot_axis time;
    struct plot_axis weight;
    unsigned bucket_count;
    bool has_labels;
    int bars; /* pixels */
};

/* ---- Ranges ------------------------------------------------------------------------------------- */

static double bound(const struct histograms *it, size_t profile, unsigned bucket) {
    return plot_time(it->plot, profile, aggstats_bucket_lower(bucket, it->plot->profiles[profile]->resolution));
}

struct extent {
    double first, last; /* time */
    double least, most; /* weight */
};

static void extend(const struct histograms *it, const struct aggstats_op_profile *op, size_t profile,
                   struct extent *extent) {
    for (unsigned bucket = 0; op && bucket < it->bucket_count; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        double weight = plot_weight(it->plot, profile, bucket, op->buckets[bucket]);
        extent->first = fmin(extent->first, bound(it, profile, bucket));
        extent->last = fmax(extent->last, bound(it, profile, bucket + 1));
        extent->least = fmin(extent->least, weight);
        extent->most = fmax(extent->most, weight);
    }
}

static void choose_axes(struct histograms *it) {
    struct extent extent = {.first = INFINITY, .least = INFINITY};
    for (size_t i = 0; i < it->plot->op_count; i++) {
        for (size_t profile = 0; profile < it->plot->profile_count; profile++)
            extend(it, it->plot->ops[i].of[profile], profile, &extent);
    }
    bool seconds = plot_in_seconds(it->plot);
    it->time = plot_axis_over(extent.first, extent.last, seconds ? PLOT_SECONDS : PLOT_COUNT);
    it->weight = plot_axis_of_bars(it->plot->by_latency ? extent.least : 1, extent.most,
                                   it->plot->by_latency && seconds ? PLOT_SECONDS : PLOT_COUNT);
    if (it->has_labels)
        plot_axis_leave_room(&it->weight, extent.most, PLOT_LABELS_HEIGHT, it->bars);
}

/* ---- Bucket numbers ----------------------------------------------------------------------------- */

/* One numbering is valid for both profiles if their cycles are the same; as in sums, up to a thousandth. */
static bool same_buckets(const struct plot *plot) {
    double first = (double)plot->profiles[0]->clock.frequency_hz;
    double last = (double)plot->profiles[plot->profile_count - 1]->clock.frequency_hz;
    return fabs(first - last) * 1000 <= first;
}

static void put_bucket_numbers(struct histograms *it, const struct plot_area *area) {
    unsigned first = 0;
    unsigned end = it->bucket_count;
    unsigned step = 1;
    while (first < end && bound(it, 0, first) < it->time.low)
        first++;
    while (end > first && bound(it, 0, end) > it->time.high)
        end--;
    while ((int)((end - first) / step) * PIXELS_PER_NUMBER > area->right - area->left)
        step *= 2;
    const int y = area->top - CAPTION - 10;
    plot_page_text(&it->page, area->left - 8, y, PLOT_RIGHT, PLOT_PLAIN, PLOT_FAINT, "bucket");
    for (unsigned bucket = (first + step - 1) / step * step; bucket < end; bucket += step) {
        char number[16];
        snprintf(number, sizeof(number), "%u", bucket);
        plot_page_mark(&it->page, sqrt(bound(it, 0, bucket) * bound(it, 0, bucket + 1)), y, number);
    }
}

/* ---- One op ------------------------------------------------------------------------------------- */

static void put_data(const struct histograms *it, size_t index, size_t profile) {
    FILE *script = it->page.script;
    const struct aggstats_op_profile *op = it->plot->ops[index].of[profile];
    fprintf(script, "$op%zu_%zu << EOD\n", index + 1, profile + 1);
    for (unsigned bucket = 0; bucket < it->bucket_count; bucket++) {
        if (op->buckets[bucket] > 0)
            fprintf(script, "%.9g %.9g %.15g\n", bound(it, profile, bucket), bound(it, profile, bucket + 1),
                    plot_weight(it->plot, profile, bucket, op->buckets[bucket]));
    }
    fputs("EOD\n", script);
}

/* The outline of bars; between them it runs along the bottom. */
static void put_outline(const struct histograms *it, size_t index, size_t profile) {
    FILE *script = it->page.script;
    const struct aggstats_op_profile *op = it->plot->ops[index].of[profile];
    bool inside = false;
    fprintf(script, "$op%zu_%zu << EOD\n", index + 1, profile + 1);
    for (unsigned bucket = 0; bucket < it->bucket_count; bucket++) {
        bool counted = op->buckets[bucket] > 0;
        double weight = counted ? plot_weight(it->plot, profile, bucket, op->buckets[bucket]) : 0;
        if (counted != inside)
            fprintf(script, "%.9g %.9g\n", bound(it, profile, bucket), it->weight.low);
        if (counted)
            fprintf(script, "%.9g %.9g\n%.9g %.9g\n", bound(it, profile, bucket), weight,
                    bound(it, profile, bucket + 1), weight);
        else if (inside)
            putc('\n', script); /* the line ends */
        inside = counted;
    }
    if (inside)
        fprintf(script, "%.9g %.9g\n", bound(it, profile, it->bucket_count), it->weight.low);
    fputs("EOD\n", script);
}

static void put_caption(struct histograms *it, size_t index, const struct plot_area *area) {
    const struct plot_op *op = &it->plot->ops[index];
    const int y = area->top - CAPTION / 2 + 1;
    char text[PLOT_TEXT_SIZE];
    plot_page_untrusted(&it->page, area->left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, op->name, AGGSTATS_NAME_SIZE);
    plot_format_op(it->plot, op, it->plot->profile_count - 1, text);
    plot_page_text(&it->page, area->right, y, PLOT_RIGHT, PLOT_SMALL,
                   it->plot->profile_count > 1 ? PLOT_VERMILLION : PLOT_FAINT, text);
    if (it->plot->profile_count == 1)
        return;
    plot_format_op(it->plot, op, 0, text);
    plot_page_text(&it->page, (area->left + area->right) / 2 + 100, y, PLOT_RIGHT, PLOT_SMALL, PLOT_BLUE, text);
}

static void put_plot(struct histograms *it, size_t index) {
    FILE *script = it->page.script;
    const struct plot_op *op = &it->plot->ops[index];
    if (op->of[0])
        put_data(it, index, 0);
    if (op->of[1])
        put_outline(it, index, 1);
    fputs("plot ", script);
    if (op->of[0])
        fprintf(script, "$op%zu_1 using (sqrt($1*$2)):3:1:2:(%.9g):3 with boxxyerror lw 0.5 fillcolor rgb '%s'",
                index + 1, it->weight.low, it->plot->profile_count > 1 ? PLOT_SKY : PLOT_BLUE);
    if (op->of[1])
        fprintf(script, "%s$op%zu_2 using 1:2 with lines lw 2 lc rgb '%s'", op->of[0] ? ", " : "", index + 1,
                PLOT_VERMILLION);
    putc('\n', script);
}

static void put_panel(struct histograms *it, size_t index) {
    const bool last = index + 1 == it->plot->op_count;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT};
    area.top = it->page.top + TOP_AXIS + (int)index * (it->bars + CAPTION);
    area.bottom = area.top + it->bars;
    plot_page_panel(&it->page, &area);
    put_caption(it, index, &area);
    it->time.labels_max = last ? (unsigned)(area.right - area.left) / 60 : 0;
    it->weight.labels_max = (unsigned)it->bars / PIXELS_PER_LABEL;
    plot_axis_put(&it->time, "x", it->page.script);
    plot_axis_put(&it->weight, "y", it->page.script);
    if (index == 0 && same_buckets(it->plot))
        put_bucket_numbers(it, &area);
    plot_page_bar_titles(&it->page, &area, index == 0, last);
    if (it->has_labels)
        plot_labels_put(&it->page, &it->plot->ops[index], &it->time, &it->weight, &area);
    put_plot(it, index);
}

/* ---- The figure --------------------------------------------------------------------------------- */

int plot_histograms(const struct plot *plot, FILE *script) {
    struct histograms it = {.plot = plot, .bucket_count = 64 * plot->profiles[0]->resolution};
    const int count = (int)plot->op_count;
    const int around = plot_page_top(plot) + TOP_AXIS + BOTTOM_AXIS - CAPTION;
    it.bars = plot_page_fit(plot, plot->op_count, around, CAPTION, count == 1 ? BARS_ALONE : BARS);
    if (it.bars < BARS_MIN)
        return -ERANGE;
    it.has_labels = it.bars >= PLOT_LABELS_BARS_MIN && plot_labels_any(plot);
    choose_axes(&it);
    plot_page_begin(&it.page, plot, WIDTH, around + count * (it.bars + CAPTION), script);
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    return 0;
}
