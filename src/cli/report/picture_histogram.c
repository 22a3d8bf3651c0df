/* Histograms of a report. */
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "panel.h"
#include "picture.h"
#include "sheet.h"

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

/* Two profiles are in one table only if their buckets are the same. */
static void put_table(const struct plot *plot, const struct plot_bars *bars, size_t index, FILE *page) {
    const struct aggstats_profile *first = plot->profiles[0];
    const struct plot_op *op = &plot->ops[index];
    const bool has_both = plot->profile_count > 1 && first->clock.frequency_hz == plot->profiles[1]->clock.frequency_hz;
    const struct sheet_column columns[] = {
        {"latency", SHEET_NAME, 0}, {has_both ? "calls, A" : "calls", SHEET_NUMBER, 1}, {"calls, B", SHEET_NUMBER, 2}};
    const struct screen screen = screen_of_html(page);
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, first->clock.frequency_hz);
    SHEET_TABLE(&sheet, columns)->hidden = has_both ? 0 : 1U << 2;
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        if (!(op->of[0] && op->of[0]->buckets[bucket] > 0) &&
            !(has_both && op->of[1] && op->of[1]->buckets[bucket] > 0))
            continue;
        sheet_addf(&sheet, "%s to %s",
                   units_cycles(&sheet.units, aggstats_bucket_lower(bucket, first->resolution)).text,
                   units_cycles(&sheet.units, aggstats_bucket_upper(bucket, first->resolution)).text);
        for (size_t i = 0; i < 2; i++) {
            if (op->of[i])
                sheet_addf(&sheet, "%" PRIu64, op->of[i]->buckets[bucket]);
            else
                sheet_add(&sheet, "-");
        }
    }
    fputs("<details><summary>Figures of this histogram</summary>\n", page);
    sheet_print(&sheet);
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
