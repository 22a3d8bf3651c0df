/* The page of a report, in the order in which people read: what to look at first; then what is behind it. Sentences and
 * tables are those of osprof show, by the same functions. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "html.h"
#include "layers_page.h"
#include "output.h"
#include "picture.h"
#include "plot_ops.h"
#include "report_assets.h"
#include "screen.h"
#include "show.h"
#include "why_page.h"

enum {
    BINS_MAX = 160,
    BINS_OF_TABLES = 16,
    CELLS_MAX = 16000,
    GROUP_ROWS_MAX = 15,
    PICTURED_OPS_MAX = 20, /* with a map and a histogram; all are in the table */
};

struct page {
    const struct report *report;
    const struct aggstats_profile *profile;
    struct screen screen;
    FILE *stream;
    struct show_parts *parts;
    struct plot plot;
};

/* ---- Sections ----------------------------------------------------------------------------------- */

struct section {
    const char *id;
    const char *title;
    bool (*is_there)(const struct page *page); /* NULL: always */
    int (*put)(const struct page *page);
};

static int put_first(const struct page *page) {
    show_parts_answer(page->parts);
    return 0;
}

static bool has_slow_calls(const struct page *page) {
    return page->profile->in_flight_count > 0 || why_page_has_any(page->profile);
}

static int put_slow_calls(const struct page *page) {
    const struct why_page_options options = {.ops = {0}};
    show_parts_in_flight(page->parts);
    if (why_page_has_any(page->profile))
        why_page_print(page->profile, &options, &page->screen);
    return 0;
}

static bool has_ops(const struct page *page) {
    return page->profile->op_count > 0;
}

static int put_table(const struct page *page) {
    show_parts_table(page->parts);
    return 0;
}

static bool has_groups(const struct page *page) {
    return page->profile->groupings != 0;
}

static int put_groups(const struct page *page) {
    show_parts_groups(page->parts);
    return 0;
}

static bool has_layers(const struct page *page) {
    return page->report->layers;
}

static int put_layers(const struct page *page) {
    fputs(page->report->layers, page->stream);
    return 0;
}

static int put_all_layers(const void *recording, FILE *stream) {
    const struct screen screen = screen_of_html(stream);
    const struct layers_page layers = {.recording = recording};
    return layers_page_print(&layers, &screen);
}

int report_layers(const struct recording *recording, char **ret_section) {
    size_t size_bytes;
    return output_format(put_all_layers, recording, ret_section, &size_bytes);
}

static bool has_timeline(const struct page *page) {
    return page->profile->interval_count > 1 && page->plot.op_count > 0;
}

static int put_maps_of(const struct page *page, const struct plot_cells *cells) {
    const struct plot *plot = &page->plot;
    struct plot_cells few;
    int error = plot_cells_init(plot, BINS_OF_TABLES, CELLS_MAX, &few);
    if (error)
        return error;
    picture_map_key(plot, cells, page->stream);
    fputs("<div id=\"zoom\" class=\"zoom\" hidden>Zoom all maps: </div>\n", page->stream);
    for (size_t i = 0; i < plot->op_count; i++) {
        html_put_block(page->stream, "h3", NULL, plot->ops[i].name);
        picture_map(plot, cells, &few, i, page->stream);
    }
    plot_cells_finish(&few);
    return 0;
}

static int put_maps(const struct page *page) {
    struct plot_cells cells;
    int error = plot_cells_init(&page->plot, BINS_MAX, CELLS_MAX, &cells);
    if (error)
        return error == -ENODATA ? 0 : error;
    error = put_maps_of(page, &cells);
    plot_cells_finish(&cells);
    return error;
}

static bool has_pictures(const struct page *page) {
    return page->plot.op_count > 0;
}

static int put_histograms(const struct page *page) {
    const struct plot *plot = &page->plot;
    const struct plot_bars bars = plot_bars_over(plot);
    html_put_block(page->stream, "p", "about",
                   "Calls by latency, both logarithmic, on the same axes for all operations.");
    for (size_t i = 0; i < plot->op_count; i++) {
        html_put_block(page->stream, "h3", NULL, plot->ops[i].name);
        show_parts_op(page->parts, plot->ops[i].of[0]);
        picture_histogram(plot, &bars, i, page->stream);
    }
    return 0;
}

static int put_machine(const struct page *page) {
    show_parts_heading(page->parts);
    return 0;
}

/* How a profile of each layer is made. */
static int put_again(const struct page *page) {
    const char *command = aggstats_profile_label(page->profile, "command");
    const char *attached = aggstats_profile_label(page->profile, "attached");
    const char *lower = aggstats_profile_label(page->profile, "lower");
    const struct {
        const char *before;
        const char *what;
    } ways[] = {{"osprof run -- ", command}, {"osprof attach ", attached}, {"osproffs ", lower}};
    size_t i = 0;
    while (i + 1 < ARRAY_SIZE(ways) && !ways[i].what)
        i++;
    if (ways[i].what) {
        fputs("<p>Again, as far as this profile tells: <code>", page->stream);
        fputs(ways[i].before, page->stream);
        html_put(page->stream, ways[i].what);
        fputs("</code></p>\n", page->stream);
    }
    fputs("<p>This page, from a profile: <code>osprof report ", page->stream);
    html_put(page->stream, page->report->name);
    fputs("</code>; as text: <code>osprof show ", page->stream);
    html_put(page->stream, page->report->name);
    fputs("</code></p>\n", page->stream);
    return 0;
}

static const struct section sections[] = {
    {"first", "What to look at first", NULL, put_first},
    {"layers", "Layers", has_layers, put_layers},
    {"operations", "Operations", has_ops, put_table},
    {"slow", "Slow calls, and what they waited for", has_slow_calls, put_slow_calls},
    {"whose", "Files, programs, containers", has_groups, put_groups},
    {"time", "Over time", has_timeline, put_maps},
    {"latency", "Latencies", has_pictures, put_histograms},
    {"machine", "What was profiled, and where", NULL, put_machine},
    {"again", "How to get this again", NULL, put_again},
};

static bool is_there(const struct page *page, const struct section *section) {
    return !section->is_there || section->is_there(page);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* What the page is about: a command, or a directory. */
static const char *subject(const struct page *page) {
    static const char *const keys[] = {"command", "attached", "lower", "mountpoint"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char *value = aggstats_profile_label(page->profile, keys[i]);
        if (value && value[0])
            return value;
    }
    return page->report->name;
}

/* Nothing but what is in the page: its own style, its own script. */
static void put_head(const struct page *page) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '" REPORT_STYLE_HASH
          "'; script-src '" REPORT_SCRIPT_HASH "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"osprof " OSPROF_VERSION "\">\n<title>",
          page->stream);
    html_put(page->stream, subject(page));
    fputs(" - osprof report</title>\n<style>" REPORT_STYLE "</style>\n</head>\n", page->stream);
}

static void put_contents(const struct page *page) {
    fputs("<nav aria-label=\"Sections\">", page->stream);
    for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
        if (is_there(page, &sections[i]))
            fprintf(page->stream, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].title);
    fputs("</nav>\n", page->stream);
}

static int put_sections(const struct page *page) {
    int error = 0;
    for (size_t i = 0; i < ARRAY_SIZE(sections) && !error; i++) {
        const struct section *section = &sections[i];
        if (!is_there(page, section))
            continue;
        fprintf(page->stream, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
                section->id, section->id, section->id, section->title);
        error = section->put(page);
        fputs("</section>\n", page->stream);
        if (i == 0)
            put_contents(page);
    }
    return error;
}

static int put_page(const struct page *page) {
    put_head(page);
    fputs("<body>\n<header>\n<h1>", page->stream);
    html_put(page->stream, subject(page));
    fputs("</h1>\n<p class=\"about\">where its file-system time went</p>\n</header>\n<main>\n", page->stream);
    int error = put_sections(page);
    fputs("</main>\n<script>" REPORT_SCRIPT "</script>\n</body>\n</html>\n", page->stream);
    return error;
}

int report_write(const void *context, FILE *stream) {
    const struct report *report = context;
    struct page page = {
        .report = report, .profile = &report->input->profile, .screen = screen_of_html(stream), .stream = stream};
    const struct show_options options = {
        .group_rows_max = GROUP_ROWS_MAX,
        .how_all_groups = "osprof show --by has them all",
        .source = {.layer = report->layer, .is_live = report->input->is_live && report->input->live.recording},
        .warning = report->warning,
    };
    const struct option_list all = {0};
    struct aggstats_profile profile = report->input->profile; /* shares all with it */
    int error = show_parts_init(report->input, &options, &page.screen, &page.parts);
    if (error)
        return error;
    page.plot = (struct plot){.profiles = {&profile}, .names = {report->name}, .profile_count = 1};
    error = plot_ops_choose(&page.plot, &all);
    page.plot.op_count = page.plot.op_count < PICTURED_OPS_MAX ? page.plot.op_count : PICTURED_OPS_MAX;
    if (!error)
        error = put_page(&page);
    free(page.plot.ops);
    show_parts_finish(page.parts);
    return error;
}
