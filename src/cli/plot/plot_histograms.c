/* A column of histograms. The bars of one profile are filled; if two are compared, the second is an outline over them.
 * Each bucket is drawn between its own bounds, in seconds: so profiles of different clock rates are aligned without
 * rescaling. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "plot.h"
#include "plot_bins.h"
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
    struct plot_bars bars;
    bool has_labels;
    int height; /* of bars, in pixels */
};

/* ---- Bucket numbers ----------------------------------------------------------------------------- */

/* One numbering is valid for both profiles if their cycles are the same; as in sums, up to a thousandth. */
static bool same_buckets(const struct plot *plot) {
    double first = (double)plot->profiles[0]->clock.frequency_hz;
    double last = (double)plot->profiles[plot->profile_count - 1]->clock.frequency_hz;
    return fabs(first - last) * 1000 <= first;
}

static void put_bucket_numbers(struct histograms *it, const struct plot_area *area) {
    unsigned first = 0;
    unsigned end = it->bars.bucket_count;
    unsigned step = 1;
    while (first < end && plot_bars_bound(it->plot, 0, first) < it->bars.time.low)
        first++;
    while (end > first && plot_bars_bound(it->plot, 0, end) > it->bars.time.high)
        end--;
    while ((int)((end - first) / step) * PIXELS_PER_NUMBER > area->right - area->left)
        step *= 2;
    const int y = area->top - CAPTION - 10;
    plot_page_text(&it->page, area->left - 8, y, PLOT_RIGHT, PLOT_PLAIN, PLOT_FAINT, "bucket");
    for (unsigned bucket = (first + step - 1) / step * step; bucket < end; bucket += step) {
        char number[16];
        snprintf(number, sizeof(number), "%u", bucket);
        plot_page_mark(&it->page, sqrt(plot_bars_bound(it->plot, 0, bucket) * plot_bars_bound(it->plot, 0, bucket + 1)),
                       y, number);
    }
}

/* ---- One op ------------------------------------------------------------------------------------- */

static void put_data(const struct histograms *it, size_t index, size_t profile) {
    FILE *script = it->page.script;
    const struct aggstats_op_profile *op = it->plot->ops[index].of[profile];
    fprintf(script, "$op%zu_%zu << EOD\n", index + 1, profile + 1);
    for (unsigned bucket = 0; bucket < it->bars.bucket_count; bucket++) {
        if (op->buckets[bucket] > 0)
            fprintf(script, "%.9g %.9g %.15g\n", plot_bars_bound(it->plot, profile, bucket),
                    plot_bars_bound(it->plot, profile, bucket + 1),
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
    for (unsigned bucket = 0; bucket < it->bars.bucket_count; bucket++) {
        bool counted = op->buckets[bucket] > 0;
        double weight = counted ? plot_weight(it->plot, profile, bucket, op->buckets[bucket]) : 0;
        if (counted != inside)
            fprintf(script, "%.9g %.9g\n", plot_bars_bound(it->plot, profile, bucket), it->bars.weight.low);
        if (counted)
            fprintf(script, "%.9g %.9g\n%.9g %.9g\n", plot_bars_bound(it->plot, profile, bucket), weight,
                    plot_bars_bound(it->plot, profile, bucket + 1), weight);
        else if (inside)
            putc('\n', script); /* the line ends */
        inside = counted;
    }
    if (inside)
        fprintf(script, "%.9g %.9g\n", plot_bars_bound(it->plot, profile, it->bars.bucket_count), it->bars.weight.low);
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
                index + 1, it->bars.weight.low, it->plot->profile_count > 1 ? PLOT_SKY : PLOT_BLUE);
    if (op->of[1])
        fprintf(script, "%s$op%zu_2 using 1:2 with lines lw 2 lc rgb '%s'", op->of[0] ? ", " : "", index + 1,
                PLOT_VERMILLION);
    putc('\n', script);
}

static void put_panel(struct histograms *it, size_t index) {
    const bool last = index + 1 == it->plot->op_count;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT};
    area.top = it->page.top + TOP_AXIS + (int)index * (it->height + CAPTION);
    area.bottom = area.top + it->height;
    plot_page_panel(&it->page, &area);
    put_caption(it, index, &area);
    it->bars.time.labels_max = last ? (unsigned)(area.right - area.left) / 60 : 0;
    it->bars.weight.labels_max = (unsigned)it->height / PIXELS_PER_LABEL;
    plot_axis_put(&it->bars.time, "x", it->page.script);
    plot_axis_put(&it->bars.weight, "y", it->page.script);
    if (index == 0 && same_buckets(it->plot))
        put_bucket_numbers(it, &area);
    plot_page_bar_titles(&it->page, &area, index == 0, last);
    if (it->has_labels)
        plot_labels_put(&it->page, &it->plot->ops[index], &it->bars.time, &it->bars.weight, &area);
    put_plot(it, index);
}

/* ---- The figure --------------------------------------------------------------------------------- */

int plot_histograms(const struct plot *plot, FILE *script) {
    struct histograms it = {.plot = plot};
    const int count = (int)plot->op_count;
    const int around = plot_page_top(plot) + TOP_AXIS + BOTTOM_AXIS - CAPTION;
    it.height = plot_page_fit(plot, plot->op_count, around, CAPTION, count == 1 ? BARS_ALONE : BARS);
    if (it.height < BARS_MIN)
        return -ERANGE;
    it.has_labels = it.height >= PLOT_LABELS_BARS_MIN && plot_labels_any(plot);
    it.bars = plot_bars_over(plot);
    if (it.has_labels)
        plot_axis_leave_room(&it.bars.weight, it.bars.most, PLOT_LABELS_HEIGHT, it.height);
    plot_page_begin(&it.page, plot, WIDTH, around + count * (it.height + CAPTION), script);
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    return 0;
}
