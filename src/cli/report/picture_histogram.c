/* Histograms of a report. */
#include <inttypes.h>
#include <string.h>

#include "html.h"
#include "panel.h"
#include "picture.h"

#define HEIGHT 110

static void put_bars(const struct panel *panel, const struct plot *plot, const struct plot_bars *bars, size_t profile,
                     const struct aggstats_op_profile *op) {
    const int bottom = PANEL_TOP + panel->height;
    fprintf(panel->page, "<path class=\"%s\" d=\"", plot->profile_count > 1 ? "under" : "bars");
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        const double left = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket));
        const double right = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket + 1));
        const double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
        fprintf(panel->page, "M%.1f %dV%.1fH%.1fV%d", left, bottom, panel_y(panel, &bars->weight, weight), right,
                bottom);
    }
    fputs("\"/>\n", panel->page);
}

/* The outline of bars; between them it runs along the bottom. */
static void put_outline(const struct panel *panel, const struct plot *plot, const struct plot_bars *bars,
                        size_t profile, const struct aggstats_op_profile *op) {
    const int bottom = PANEL_TOP + panel->height;
    bool is_inside = false;
    fputs("<path class=\"outline\" d=\"", panel->page);
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        const double left = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket));
        const double right = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket + 1));
        if (op->buckets[bucket] > 0) {
            const double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
            if (!is_inside)
                fprintf(panel->page, "M%.1f %d", left, bottom);
            fprintf(panel->page, "V%.1fH%.1f", panel_y(panel, &bars->weight, weight), right);
        } else if (is_inside) {
            fprintf(panel->page, "V%d", bottom);
        }
        is_inside = op->buckets[bucket] > 0;
    }
    fputs("\"/>\n", panel->page);
}

/* "1.2 us to 2.4 us" */
static void format_bounds(const struct plot *plot, unsigned bucket, char ret_text[2 * UNITS_TEXT_SIZE + 8]) {
    const unsigned resolution = plot->profiles[0]->resolution;
    const struct units units = {.frequency_hz = plot->profiles[0]->clock.frequency_hz};
    snprintf(ret_text, 2 * UNITS_TEXT_SIZE + 8, "%s to %s",
             units_cycles(&units, aggstats_bucket_lower(bucket, resolution)).text,
             units_cycles(&units, aggstats_bucket_upper(bucket, resolution)).text);
}

static void put_calls(const struct aggstats_op_profile *op, unsigned bucket, FILE *page) {
    char calls[UNITS_TEXT_SIZE] = "-";
    if (op)
        snprintf(calls, sizeof(calls), "%" PRIu64, op->buckets[bucket]);
    html_put_cell(page, HTML_NUMBER, calls);
}

/* Two profiles are in one table only if their buckets are the same. */
static bool has_common_buckets(const struct plot *plot) {
    return plot->profile_count < 2 || plot->profiles[0]->clock.frequency_hz == plot->profiles[1]->clock.frequency_hz;
}

static void put_table(const struct plot *plot, const struct plot_bars *bars, size_t index, FILE *page) {
    const struct plot_op *op = &plot->ops[index];
    const size_t columns = has_common_buckets(plot) ? plot->profile_count : 1;
    fputs("<details><summary>Figures of this histogram</summary>\n", page);
    html_begin_table(page);
    html_begin_row(page);
    html_put_cell(page, HTML_TITLE, "latency");
    for (size_t i = 0; i < columns; i++)
        html_put_cell(page, HTML_NUMBER_TITLE, columns < 2 ? "calls" : i == 0 ? "calls, A" : "calls, B");
    html_end_row(page);
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        char bounds[2 * UNITS_TEXT_SIZE + 8];
        if (!(op->of[0] && op->of[0]->buckets[bucket] > 0) &&
            !(columns > 1 && op->of[1] && op->of[1]->buckets[bucket] > 0))
            continue;
        format_bounds(plot, bucket, bounds);
        html_begin_row(page);
        html_put_cell(page, HTML_NAME, bounds);
        for (size_t i = 0; i < columns; i++)
            put_calls(op->of[i], bucket, page);
        html_end_row(page);
    }
    html_end_table(page);
    fputs("</details>\n", page);
}

void picture_histogram(const struct plot *plot, const struct plot_bars *bars, size_t op, FILE *page) {
    char name[AGGSTATS_NAME_SIZE + 96];
    snprintf(name, sizeof(name), "%s: calls by latency, both logarithmic%s; figures follow", plot->ops[op].name,
             plot->profile_count > 1 ? ", of A as bars and of B as an outline" : "");
    fputs("<figure>\n", page);
    const struct panel panel = panel_begin(page, "histogram", HEIGHT, name, "");
    panel_put_axis_below(&panel, bars->time, plot_in_seconds(plot) ? "latency" : "latency in cycles");
    panel_put_axis_beside(&panel, bars->weight);
    if (plot->ops[op].of[0])
        put_bars(&panel, plot, bars, 0, plot->ops[op].of[0]);
    if (plot->ops[op].of[1])
        put_outline(&panel, plot, bars, 1, plot->ops[op].of[1]);
    panel_end(&panel);
    put_table(plot, bars, op, page);
    fputs("</figure>\n", page);
}
