/* A column of histograms. The bars of one profile are filled; if two are compared, the second is an outline over them.
 * Each bucket is drawn between its own bounds, in seconds: so profiles of different clock rates are aligned without
 * rescaling. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "peak_labels.h"
#include "plot.h"
#include "plot_bins.h"
#include "plot_page.h"
#include "units.h"

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
    LABELS_PER_OP = 3,
    LABEL_HEIGHT = 14,    /* above bars */
    LABELS_BARS_MIN = 40, /* lower histograms have no room for labels */
    LABEL_SIZE = 48,
    PIXELS_PER_CHARACTER = 6, /* of small text */
    MARGIN = 8,               /* between two labels */
};

struct histograms {
    const struct plot *plot;
    struct plot_page page;
    struct plot_bars bars;
    bool has_labels;
    int height; /* of bars, in pixels */
};

/* ---- Labels of peaks ---------------------------------------------------------------------------- */

struct label {
    char text[LABEL_SIZE];
    double share; /* of the op's latency */
    int x;        /* pixels; the middle */
    int y;
    int half_width;
};

struct labels {
    const struct plot *plot;
    const struct plot_op *op;
    const struct plot_axis *time;
    const struct plot_axis *weight;
    const struct plot_area *area;
    struct label all[PLOT_PROFILES_MAX * PEAKS_MAX]; /* largest share first */
    size_t count;
};

static size_t find_peaks(const struct plot *plot, const struct plot_op *op, size_t profile, struct peak *ret_peaks) {
    if (!op->of[profile] || plot->times[profile].is_off)
        return 0;
    return peaks_find(op->of[profile], plot->profiles[profile]->resolution, ret_peaks);
}

/* True if any peak of the figure has a label. */
static bool has_labels(const struct plot *plot) {
    struct peak peaks[PEAKS_MAX];
    for (size_t i = 0; i < plot->op_count; i++)
        for (size_t profile = 0; profile < plot->profile_count; profile++)
            for (size_t j = find_peaks(plot, &plot->ops[i], profile, peaks); j-- > 0;)
                if (peak_labels_name(plot->profiles[profile], &plot->times[profile], plot->ops[i].of[profile],
                                     &peaks[j])[0])
                    return true;
    return false;
}

/* The position of a value along an axis, from 0 to 1. */
static double part(const struct plot_axis *axis, double value) {
    return log(value / axis->low) / log(axis->high / axis->low);
}

static int pixel_of_time(const struct labels *it, double time) {
    return it->area->left + (int)lround(part(it->time, time) * (it->area->right - it->area->left));
}

/* The top of the highest bar within a label's width. */
static int top_of_bars(const struct labels *it, const struct label *label) {
    double top = 0;
    for (size_t profile = 0; profile < it->plot->profile_count; profile++) {
        const struct aggstats_op_profile *op = it->op->of[profile];
        for (unsigned bucket = 0; op && bucket < 64 * it->plot->profiles[profile]->resolution; bucket++)
            if (op->buckets[bucket] > 0 &&
                pixel_of_time(it, plot_bars_bound(it->plot, profile, bucket)) < label->x + label->half_width &&
                pixel_of_time(it, plot_bars_bound(it->plot, profile, bucket + 1)) > label->x - label->half_width)
                top = fmax(top, part(it->weight, plot_weight(it->plot, profile, bucket, op->buckets[bucket])));
    }
    return it->area->bottom - (int)lround(top * (it->area->bottom - it->area->top));
}

static void add_labels(struct labels *it, size_t profile) {
    const int left = it->area->left;
    const int right = it->area->right;
    struct peak peaks[PEAKS_MAX];
    size_t count = find_peaks(it->plot, it->op, profile, peaks);
    for (size_t i = 0; i < count; i++) {
        const char *title =
            peak_labels_name(it->plot->profiles[profile], &it->plot->times[profile], it->op->of[profile], &peaks[i]);
        const unsigned mode = peaks[i].mode;
        struct label label = {.share = peaks[i].latency_share};
        if (!title[0])
            continue;
        snprintf(label.text, sizeof(label.text), "%s", title);
        const int half = label.half_width = units_text_columns(label.text) * PIXELS_PER_CHARACTER / 2 + MARGIN / 2;
        label.x = pixel_of_time(
            it, sqrt(plot_bars_bound(it->plot, profile, mode) * plot_bars_bound(it->plot, profile, mode + 1)));
        label.x = label.x < left + half ? left + half : label.x;
        label.x = label.x > right - half ? right - half : label.x;
        label.y = top_of_bars(it, &label) - LABEL_HEIGHT / 2;
        size_t at = it->count++;
        for (; at > 0 && it->all[at - 1].share < label.share; at--)
            it->all[at] = it->all[at - 1];
        it->all[at] = label;
    }
}

/* Adds those of an op: as many as fit beside each other, peaks with most latency first. Its panel has begun, with room
 * for LABEL_HEIGHT above its bars. */
static void put_labels(struct histograms *it, const struct plot_op *op, const struct plot_area *area) {
    struct labels labels = {
        .plot = it->plot, .op = op, .time = &it->bars.time, .weight = &it->bars.weight, .area = area};
    const struct label *put[LABELS_PER_OP];
    size_t put_count = 0;
    for (size_t profile = 0; profile < it->plot->profile_count; profile++)
        add_labels(&labels, profile);
    for (size_t i = 0; i < labels.count && put_count < LABELS_PER_OP; i++) {
        const struct label *label = &labels.all[i];
        bool collides = false;
        for (size_t j = 0; j < put_count; j++)
            collides = collides || (abs(label->x - put[j]->x) < label->half_width + put[j]->half_width &&
                                    abs(label->y - put[j]->y) < LABEL_HEIGHT);
        if (collides)
            continue;
        plot_page_text(&it->page, label->x, label->y, PLOT_CENTRE, PLOT_SMALL, PLOT_TEXT, label->text);
        put[put_count++] = label;
    }
}

/* ---- Bucket numbers ----------------------------------------------------------------------------- */

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

static void put_plot(struct histograms *it, size_t index) {
    FILE *script = it->page.script;
    const struct plot_op *op = &it->plot->ops[index];
    if (op->of[0])
        fprintf(script, "$op%zu_1 << EOD\n", index + 1);
    for (unsigned bucket = 0; op->of[0] && bucket < it->bars.bucket_count; bucket++)
        if (op->of[0]->buckets[bucket] > 0)
            fprintf(script, "%.9g %.9g %.15g\n", plot_bars_bound(it->plot, 0, bucket),
                    plot_bars_bound(it->plot, 0, bucket + 1),
                    plot_weight(it->plot, 0, bucket, op->of[0]->buckets[bucket]));
    if (op->of[0])
        fputs("EOD\n", script);
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
    const struct plot *plot = it->plot;
    const struct plot_op *op = &plot->ops[index];
    const bool last = index + 1 == plot->op_count;
    char text[PLOT_TEXT_SIZE];
    const double first_hz = (double)plot->profiles[0]->clock.frequency_hz;
    const double other_hz = (double)plot->profiles[plot->profile_count - 1]->clock.frequency_hz;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT};
    area.top = it->page.top + TOP_AXIS + (int)index * (it->height + CAPTION);
    area.bottom = area.top + it->height;
    const int y = area.top - CAPTION / 2 + 1;
    plot_page_panel(&it->page, &area);
    plot_page_untrusted(&it->page, area.left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, op->name, AGGSTATS_NAME_SIZE);
    plot_format_op(plot, op, plot->profile_count - 1, text);
    plot_page_text(&it->page, area.right, y, PLOT_RIGHT, PLOT_SMALL,
                   plot->profile_count > 1 ? PLOT_VERMILLION : PLOT_FAINT, text);
    if (plot->profile_count > 1) {
        plot_format_op(plot, op, 0, text);
        plot_page_text(&it->page, (area.left + area.right) / 2 + 100, y, PLOT_RIGHT, PLOT_SMALL, PLOT_BLUE, text);
    }
    it->bars.time.labels_max = last ? (unsigned)(area.right - area.left) / 60 : 0;
    it->bars.weight.labels_max = (unsigned)it->height / PIXELS_PER_LABEL;
    plot_axis_put(&it->bars.time, "x", it->page.script);
    plot_axis_put(&it->bars.weight, "y", it->page.script);
    /* One numbering is valid for both profiles if their cycles are the same; as in sums, up to a thousandth. */
    if (index == 0 && fabs(first_hz - other_hz) * 1000 <= first_hz)
        put_bucket_numbers(it, &area);
    plot_page_bar_titles(&it->page, &area, index == 0, last);
    if (it->has_labels)
        put_labels(it, op, &area);
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
    it.has_labels = it.height >= LABELS_BARS_MIN && has_labels(plot);
    it.bars = plot_bars_over(plot);
    if (it.has_labels)
        plot_axis_leave_room(&it.bars.weight, it.bars.most, LABEL_HEIGHT, it.height);
    plot_page_begin(&it.page, plot, WIDTH, around + count * (it.height + CAPTION), script);
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    return 0;
}
