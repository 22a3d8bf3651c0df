/* Pictures of a report: panels, histograms, and maps of latency over time. A panel is a frame with an axis of latency, and
 * positions in it. Units are those of the picture's box, which is as wide as there is room. */
#include "picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "html.h"
#include "plot_axis.h"
#include "plot_page.h"
#include "sheet.h"

#define UNITS_PER_LABEL_BELOW 56
#define UNITS_PER_LABEL_BESIDE 16
#define COLOUR_FIRST 0.35 /* of the palette: 3:1 on black */

enum { COLOURS = 8, TIMES = 5, KEY_HEIGHT = 14, PARTS_OF_BIN = 10 };

/* ---- Panels ------------------------------------------------------------------------------------- */

enum {
    PANEL_WIDTH = 480,
    PANEL_LEFT = 52,
    PANEL_TOP = 8,
    PANEL_INNER = PANEL_WIDTH - PANEL_LEFT - 8, /* the frame */
    PANEL_HEIGHT = 110,
    PANEL_BOTTOM = PANEL_TOP + PANEL_HEIGHT,
    PANEL_AXIS = 34, /* labels, and the axis's title */
};

/* Begins a picture with a name for those who cannot see it, in its class. It ends with "</svg>". */
static void panel_begin(FILE *page, const char *class, const char *name, const char *attributes) {
    fprintf(page, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", class, PANEL_WIDTH,
            PANEL_BOTTOM + PANEL_AXIS);
    html_put(page, name);
    fprintf(page, "\"%s>\n<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", attributes,
            PANEL_LEFT, PANEL_TOP, PANEL_INNER, PANEL_HEIGHT);
}

/* Along a logarithmic axis. */
static double fraction_of(const struct plot_axis *axis, double value) {
    return log(value / axis->low) / log(axis->high / axis->low);
}

static double panel_x(const struct plot_axis *axis, double value) {
    return PANEL_LEFT + PANEL_INNER * fraction_of(axis, value);
}

static double panel_y(const struct plot_axis *axis, double value) {
    return PANEL_TOP + PANEL_HEIGHT * (1 - fraction_of(axis, value));
}

static void panel_put_title_below(FILE *page, const char *title) {
    fprintf(page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", PANEL_LEFT + PANEL_INNER / 2,
            PANEL_BOTTOM + PANEL_AXIS - 4, title);
}

/* Lines and labels at powers of ten, and the title of the axis. */
static void panel_put_axis_below(FILE *page, struct plot_axis axis, const char *title) {
    axis.labels_max = PANEL_INNER / UNITS_PER_LABEL_BELOW;
    const struct plot_marks marks = plot_axis_marks(&axis);
    for (int exponent = marks.first; exponent <= marks.last; exponent++) {
        char label[UNITS_TEXT_SIZE];
        const double x = panel_x(&axis, pow(10, exponent));
        fprintf(page, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, PANEL_TOP, PANEL_BOTTOM);
        if ((exponent - marks.first) % marks.step != 0)
            continue;
        plot_axis_format_power(&axis, exponent, label);
        fprintf(page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, PANEL_BOTTOM + 14, label);
    }
    panel_put_title_below(page, title);
}

static void panel_put_axis_beside(FILE *page, struct plot_axis axis) {
    axis.labels_max = PANEL_HEIGHT / UNITS_PER_LABEL_BESIDE;
    const struct plot_marks marks = plot_axis_marks(&axis);
    for (int exponent = marks.first; exponent <= marks.last; exponent++) {
        char label[UNITS_TEXT_SIZE];
        const double y = panel_y(&axis, pow(10, exponent));
        fprintf(page, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", PANEL_LEFT, y, PANEL_LEFT + PANEL_INNER);
        if ((exponent - marks.first) % marks.step != 0)
            continue;
        plot_axis_format_power(&axis, exponent, label);
        fprintf(page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", PANEL_LEFT - 5, y + 4, label);
    }
}

/* ---- Histograms --------------------------------------------------------------------------------- */

static void put_bars(const struct plot *plot, const struct plot_bars *bars, size_t profile,
                     const struct aggstats_op_profile *op, FILE *page) {
    fprintf(page, "<path class=\"%s\" d=\"", plot->profile_count > 1 ? "under" : "bars");
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        if (op->buckets[bucket] == 0)
            continue;
        const double left = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket));
        const double right = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket + 1));
        const double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
        fprintf(page, "M%.1f %dV%.1fH%.1fV%d", left, PANEL_BOTTOM, panel_y(&bars->weight, weight), right, PANEL_BOTTOM);
    }
    fputs("\"/>\n", page);
}

/* The outline of bars; between them it runs along the bottom. */
static void put_outline(const struct plot *plot, const struct plot_bars *bars, size_t profile,
                        const struct aggstats_op_profile *op, FILE *page) {
    bool is_inside = false;
    fputs("<path class=\"outline\" d=\"", page);
    for (unsigned bucket = 0; bucket < bars->bucket_count; bucket++) {
        const double left = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket));
        const double right = panel_x(&bars->time, plot_bars_bound(plot, profile, bucket + 1));
        if (op->buckets[bucket] > 0) {
            const double weight = plot_weight(plot, profile, bucket, op->buckets[bucket]);
            if (!is_inside)
                fprintf(page, "M%.1f %d", left, PANEL_BOTTOM);
            fprintf(page, "V%.1fH%.1f", panel_y(&bars->weight, weight), right);
        } else if (is_inside) {
            fprintf(page, "V%d", PANEL_BOTTOM);
        }
        is_inside = op->buckets[bucket] > 0;
    }
    fputs("\"/>\n", page);
}

/* Two profiles are in one table only if their buckets are the same. */
static void put_table_of_histogram(const struct plot *plot, const struct plot_bars *bars, size_t index, FILE *page) {
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
    panel_begin(page, "histogram", name, "");
    panel_put_axis_below(page, bars->time, plot_latency_title(plot));
    panel_put_axis_beside(page, bars->weight);
    if (plot->ops[op].of[0])
        put_bars(plot, bars, 0, plot->ops[op].of[0], page);
    if (plot->ops[op].of[1])
        put_outline(plot, bars, 1, plot->ops[op].of[1], page);
    fputs("</svg>\n", page);
    put_table_of_histogram(plot, bars, op, page);
    fputs("</figure>\n", page);
}

/* ---- Maps --------------------------------------------------------------------------------------- */

struct map {
    const struct plot *plot;
    const struct plot_cells *cells;
    FILE *page;
    const struct aggstats_cell *first;
    size_t count;
    struct plot_axis colours;
    unsigned lowest; /* buckets */
    unsigned highest;
};

/* The axis of all maps of the page. */
static struct plot_axis colour_axis(const struct plot_cells *cells) {
    return plot_axis_of_colours(cells->least, cells->most, PLOT_COUNT);
}

static struct map map_of(const struct plot *plot, const struct plot_cells *cells, size_t op, FILE *page) {
    struct map map = {.plot = plot,
                      .cells = cells,
                      .page = page,
                      .first = cells->cells + cells->begin[op],
                      .count = cells->begin[op + 1] - cells->begin[op],
                      .colours = colour_axis(cells),
                      .lowest = AGGSTATS_BUCKETS_MAX};
    for (size_t i = 0; i < map.count; i++) {
        const unsigned bucket = map.first[i].bucket;
        map.lowest = bucket < map.lowest ? bucket : map.lowest;
        map.highest = bucket > map.highest ? bucket : map.highest;
    }
    return map;
}

/* ---- Colours ------------------------------------------------------------------------------------ */

static unsigned colour_of(const struct map *map, const struct aggstats_cell *cell) {
    const double weight = plot_weight(map->plot, 0, cell->bucket, cell->count);
    const int colour = (int)(fraction_of(&map->colours, weight) * COLOURS);
    return (unsigned)(colour < 0 ? 0 : colour >= COLOURS ? COLOURS - 1 : colour);
}

/* Without the darkest, which would be too dark on the map's black. */
static unsigned colour_value(unsigned colour) {
    return plot_colours_at(COLOUR_FIRST + (1 - COLOUR_FIRST) * colour / (COLOURS - 1));
}

/* "246", "1,300" */
static void format_weight(double weight, char ret_text[UNITS_TEXT_SIZE]) {
    if (weight >= 1000 && weight < 0x1p63)
        units_format_count((uint64_t)llround(weight), ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "%.3g", weight);
}

void picture_map_key(const struct plot *plot, const struct plot_cells *cells, FILE *page) {
    const struct plot_axis axis = colour_axis(cells);
    char weight[PLOT_TEXT_SIZE];
    char least[UNITS_TEXT_SIZE];
    char most[UNITS_TEXT_SIZE];
    plot_cells_format_weight(cells, plot, weight, sizeof(weight));
    format_weight(axis.low, least);
    format_weight(axis.high, most);
    fprintf(page,
            "<p class=\"about\">Time runs from left to right, latency upwards. Colours: %s, from %s (dark) to %s "
            "(bright).</p>\n",
            weight, least, most);
    fprintf(page, "<svg class=\"key-colours\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"colours from %s to %s\">",
            PANEL_WIDTH, KEY_HEIGHT, least, most);
    for (unsigned colour = 0; colour < COLOURS; colour++)
        fprintf(page, "<rect x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>",
                (int)colour * PANEL_WIDTH / COLOURS, PANEL_WIDTH / COLOURS, KEY_HEIGHT, colour_value(colour));
    fputs("</svg>\n", page);
}

/* ---- Cells -------------------------------------------------------------------------------------- */

static double end_of(const struct map *map) {
    return plot_bins_begin(&map->cells->bins, map->plot, map->cells->bins.count);
}

/* The width of the box. */
static unsigned part_count(const struct map *map) {
    return (unsigned)map->cells->bins.count * PARTS_OF_BIN;
}

/* Where a bin begins in the box; that of bin `count` is its right edge. */
static unsigned part_of(const struct map *map, size_t bin) {
    const double begin = plot_bins_begin(&map->cells->bins, map->plot, bin);
    return (unsigned)lround(begin / end_of(map) * part_count(map));
}

/* Rows of the box count down from the highest bucket. Bins of less than a part can be seen too. In one row a run is
 * written by its distance from the one before, which is shorter.
 * before:  where that one ends; NULL: another row, or there is none
 * Returns where this one ends */
static unsigned put_run(const struct map *map, const struct aggstats_cell *first, size_t length,
                        const unsigned *before) {
    const unsigned begin = part_of(map, first->row);
    unsigned end = part_of(map, first->row + length);
    end = end > begin ? end : begin + 1;
    if (before)
        fprintf(map->page, "m%d 0h%u", (int)begin - (int)*before, end - begin);
    else
        fprintf(map->page, "M%u %u.5h%u", begin, map->highest - first->bucket, end - begin);
    return end;
}

/* As runs of one colour along time. */
static void put_colour(const struct map *map, unsigned colour, const size_t *by_bucket) {
    const struct aggstats_cell *last = NULL; /* of this colour */
    unsigned end = 0;
    for (size_t i = 0; i < map->count;) {
        const struct aggstats_cell *cell = &map->first[by_bucket[i]];
        size_t length = 1;
        if (colour_of(map, cell) != colour) {
            i++;
            continue;
        }
        while (i + length < map->count && map->first[by_bucket[i + length]].bucket == cell->bucket &&
               map->first[by_bucket[i + length]].row == cell->row + length &&
               colour_of(map, &map->first[by_bucket[i + length]]) == colour)
            length++;
        if (!last)
            fprintf(map->page, "<path stroke=\"#%06x\" d=\"", colour_value(colour));
        end = put_run(map, cell, length, last && last->bucket == cell->bucket ? &end : NULL);
        last = cell;
        i += length;
    }
    if (last)
        fputs("\"/>\n", map->page);
}

/* Cells come by bin, then bucket; they are put by bucket, then bin. */
static void put_cells(const struct map *map) {
    const unsigned resolution = map->plot->profiles[0]->resolution;
    const struct plot_axis *axis = &map->cells->latency;
    const double top = panel_y(axis, plot_time(map->plot, 0, aggstats_bucket_upper(map->highest, resolution)));
    const double bottom = panel_y(axis, plot_time(map->plot, 0, aggstats_bucket_lower(map->lowest, resolution)));
    CLEANUP_FREE size_t *by_bucket = calloc(map->count + 1, sizeof(*by_bucket));
    size_t count = 0;
    for (unsigned bucket = map->lowest; by_bucket && bucket <= map->highest; bucket++)
        for (size_t i = 0; i < map->count; i++)
            if (map->first[i].bucket == bucket)
                by_bucket[count++] = i;
    fprintf(map->page,
            "<svg class=\"cells\" x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"%.2f\" viewBox=\"0 0 %u %u\" "
            "preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">\n",
            PANEL_LEFT, top, PANEL_INNER, bottom - top, part_count(map), map->highest - map->lowest + 1);
    for (unsigned colour = 0; by_bucket && colour < COLOURS; colour++)
        put_colour(map, colour, by_bucket);
    fputs("</svg>\n", map->page);
}

/* ---- The whole map ------------------------------------------------------------------------------ */

/* The p50 of a bin is in the bucket of its middle call, and its longest call below the bound of its last bucket. */
static void put_table_of_map(const struct map *map) {
    const struct sheet_column columns[] = {{plot_cells_time_title(map->plot), SHEET_NAME, 0},
                                           {"calls", SHEET_NUMBER, 1},
                                           {"p50", SHEET_NUMBER, 2},
                                           {"max, at most", SHEET_NUMBER, 3}};
    const unsigned resolution = map->plot->profiles[0]->resolution;
    const struct aggstats_cell *cells = map->first;
    const struct screen screen = screen_of_html(map->page);
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, map->plot->profiles[0]->clock.frequency_hz);
    SHEET_TABLE(&sheet, columns);
    for (size_t begin = 0, end; begin < map->count; begin = end) {
        size_t middle = begin;
        uint64_t calls = 0;
        uint64_t below = 0;
        for (end = begin; end < map->count && cells[end].row == cells[begin].row; end++)
            calls += cells[end].count;
        while (middle + 1 < end && 2 * (below + cells[middle].count) < calls)
            below += cells[middle++].count;
        sheet_addf(&sheet, "%.3g", plot_bins_begin(&map->cells->bins, map->plot, cells[begin].row));
        sheet_addf(&sheet, "%" PRIu64, calls);
        sheet_add_cycles(&sheet, aggstats_bucket_mean(cells[middle].bucket, resolution));
        sheet_add_cycles(&sheet, aggstats_bucket_upper(cells[end - 1].bucket, resolution));
    }
    fputs("<details><summary>Figures of this map</summary>\n", map->page);
    sheet_print(&sheet);
    fputs("</details>\n", map->page);
}

void picture_map(const struct plot *plot, const struct plot_cells *cells, const struct plot_cells *few, size_t op,
                 FILE *page) {
    const struct map map = map_of(plot, cells, op, page);
    const struct map table = map_of(plot, few, op, page);
    char name[AGGSTATS_NAME_SIZE + 64];
    char attributes[96];
    snprintf(name, sizeof(name), "%s: calls by latency over time; figures follow", plot->ops[op].name);
    snprintf(attributes, sizeof(attributes), " data-end=\"%.6g\" data-parts=\"%u\"", end_of(&map), part_count(&map));
    fputs("<figure>\n", page);
    panel_begin(page, "map", name, attributes);
    panel_put_axis_beside(page, cells->latency);
    if (map.count > 0)
        put_cells(&map);
    for (int i = 0; i < TIMES; i++)
        fprintf(page, "<text class=\"time\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%.3g</text>\n",
                PANEL_LEFT + PANEL_INNER * i / (TIMES - 1), PANEL_BOTTOM + 14,
                i == 0           ? "start"
                : i == TIMES - 1 ? "end"
                                 : "middle",
                end_of(&map) * i / (TIMES - 1));
    panel_put_title_below(page, plot_cells_time_title(plot));
    fputs("</svg>\n", page);
    put_table_of_map(&table);
    fputs("</figure>\n", page);
}
