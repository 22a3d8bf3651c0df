/* Labels of peaks: choosing them, and finding room. */
#include "plot_labels.h"

#include <math.h>
#include <stdlib.h>

#include "peak_labels.h"
#include "units.h"

#define TEXT_SIZE 48
#define PIXELS_PER_CHARACTER 6 /* of small text */
#define MARGIN 8               /* pixels between two labels */

struct label {
    char text[TEXT_SIZE];
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

/* ---- Choosing ----------------------------------------------------------------------------------- */

/* Empty if there is none. */
static const char *title_of(const struct plot *plot, const struct plot_op *op, size_t profile,
                            const struct peak *peak) {
    const struct peak_times times = peak_labels_times(plot->profiles[profile], &plot->times[profile]);
    const struct peak_reason reason = peak_reason_of(op->of[profile], peak, &times);
    return peak_reason_text(&reason, op->of[profile]);
}

static size_t find_peaks(const struct plot *plot, const struct plot_op *op, size_t profile, struct peak *ret_peaks) {
    if (!op->of[profile] || plot->times[profile].count == 0)
        return 0;
    return peaks_find(op->of[profile], plot->profiles[profile]->resolution, ret_peaks);
}

bool plot_labels_any(const struct plot *plot) {
    struct peak peaks[PEAKS_MAX];
    for (size_t i = 0; i < plot->op_count; i++)
        for (size_t profile = 0; profile < plot->profile_count; profile++)
            for (size_t j = find_peaks(plot, &plot->ops[i], profile, peaks); j-- > 0;)
                if (title_of(plot, &plot->ops[i], profile, &peaks[j])[0])
                    return true;
    return false;
}

/* ---- Placing ------------------------------------------------------------------------------------ */

/* The position of a value along an axis, from 0 to 1. */
static double part(const struct plot_axis *axis, double value) {
    return log(value / axis->low) / log(axis->high / axis->low);
}

static int pixel_of_time(const struct labels *it, double time) {
    return it->area->left + (int)lround(part(it->time, time) * (it->area->right - it->area->left));
}

static double bound(const struct labels *it, size_t profile, unsigned bucket) {
    return plot_time(it->plot, profile, aggstats_bucket_lower(bucket, it->plot->profiles[profile]->resolution));
}

/* The top of the highest bar within a label's width. */
static int top_of_bars(const struct labels *it, const struct label *label) {
    double top = 0;
    for (size_t profile = 0; profile < it->plot->profile_count; profile++) {
        const struct aggstats_op_profile *op = it->op->of[profile];
        for (unsigned bucket = 0; op && bucket < 64 * it->plot->profiles[profile]->resolution; bucket++)
            if (op->buckets[bucket] > 0 &&
                pixel_of_time(it, bound(it, profile, bucket)) < label->x + label->half_width &&
                pixel_of_time(it, bound(it, profile, bucket + 1)) > label->x - label->half_width)
                top = fmax(top, part(it->weight, plot_weight(it->plot, profile, bucket, op->buckets[bucket])));
    }
    return it->area->bottom - (int)lround(top * (it->area->bottom - it->area->top));
}

static void place(const struct labels *it, size_t profile, unsigned mode, struct label *label) {
    label->half_width = units_text_columns(label->text) * PIXELS_PER_CHARACTER / 2 + MARGIN / 2;
    label->x = pixel_of_time(it, sqrt(bound(it, profile, mode) * bound(it, profile, mode + 1)));
    if (label->x < it->area->left + label->half_width)
        label->x = it->area->left + label->half_width;
    if (label->x > it->area->right - label->half_width)
        label->x = it->area->right - label->half_width;
    label->y = top_of_bars(it, label) - PLOT_LABELS_HEIGHT / 2;
}

static void add(struct labels *it, const struct label *label) {
    size_t at = it->count++;
    for (; at > 0 && it->all[at - 1].share < label->share; at--)
        it->all[at] = it->all[at - 1];
    it->all[at] = *label;
}

static void find(struct labels *it, size_t profile) {
    struct peak peaks[PEAKS_MAX];
    size_t count = find_peaks(it->plot, it->op, profile, peaks);
    for (size_t i = 0; i < count; i++) {
        const char *title = title_of(it->plot, it->op, profile, &peaks[i]);
        struct label label = {.share = peaks[i].latency_share};
        if (!title[0])
            continue;
        snprintf(label.text, sizeof(label.text), "%s", title);
        place(it, profile, peaks[i].mode, &label);
        add(it, &label);
    }
}

/* ---- On the page -------------------------------------------------------------------------------- */

static bool collides(const struct labels *it, const size_t *put, size_t put_count, const struct label *label) {
    for (size_t i = 0; i < put_count; i++) {
        const struct label *other = &it->all[put[i]];
        if (abs(label->x - other->x) < label->half_width + other->half_width &&
            abs(label->y - other->y) < PLOT_LABELS_HEIGHT)
            return true;
    }
    return false;
}

void plot_labels_put(struct plot_page *page, const struct plot_op *op, const struct plot_axis *time,
                     const struct plot_axis *weight, const struct plot_area *area) {
    struct labels it = {.plot = page->plot, .op = op, .time = time, .weight = weight, .area = area};
    size_t put[PLOT_LABELS_PER_OP];
    size_t put_count = 0;
    for (size_t profile = 0; profile < page->plot->profile_count; profile++)
        find(&it, profile);
    for (size_t i = 0; i < it.count && put_count < PLOT_LABELS_PER_OP; i++) {
        const struct label *label = &it.all[i];
        if (collides(&it, put, put_count, label))
            continue;
        plot_page_text(page, label->x, label->y, PLOT_CENTRE, PLOT_SMALL, PLOT_TEXT, label->text);
        put[put_count++] = i;
    }
}
