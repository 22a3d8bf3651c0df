/* The page of a figure. */
#include "plot_page.h"

#include <string.h>
#include <time.h>

#include "figures.h"
#include "gnuplot.h"
#include "str.h"
#include "units.h"

enum { TITLE_Y = 20, SUBTITLE_Y = 41, TITLE_HEIGHT = 56, KEY_HEIGHT = 26, PIXELS_PER_INCH = 96 };

/* ---- The script's beginning --------------------------------------------------------------------- */

/* Fonts are scaled so that a size is in pixels in all formats: for some formats gnuplot counts points. */
static void put_terminal(const struct plot_page *page) {
    const int width = page->width;
    const int height = page->height;
    switch (page->plot->format) {
    case PLOT_SVG:
        fprintf(page->script, "set terminal svg size %d,%d noenhanced font 'sans-serif,12' background rgb 'white'\n",
                width, height);
        break;
    case PLOT_PNG:
        fprintf(page->script,
                "set terminal pngcairo size %d,%d noenhanced font 'Sans,12' fontscale 0.75 background rgb 'white'\n",
                width, height);
        break;
    case PLOT_PDF:
        fprintf(page->script,
                "set terminal pdfcairo size %.4fin,%.4fin noenhanced font 'Sans,12' fontscale 0.56 background rgb "
                "'white'\n",
                (double)width / PIXELS_PER_INCH, (double)height / PIXELS_PER_INCH);
        break;
    }
}

void plot_page_begin(struct plot_page *page, const struct plot *plot, int width, int height, FILE *script) {
    *page = (struct plot_page){.plot = plot, .script = script, .top = plot_page_top(plot)};
    page->width = plot->width > 0 ? plot->width : width;
    page->height = plot->height > 0 ? plot->height : height;
    fputs("# Made by osprof plot; needs gnuplot 5.4 or newer.\nset encoding utf8\n", script);
    put_terminal(page);
    if (plot->output) {
        fputs("set output ", script);
        gnuplot_put_path(script, plot->output);
        putc('\n', script);
    }
    fputs("set border 3 lw 0.7 lc rgb '" PLOT_FAINT "'\n"
          "set tics nomirror out textcolor rgb '" PLOT_TEXT "'\n"
          "set grid xtics ytics ztics back lt 1 lw 0.5 lc rgb '#d8d8d8'\n"
          "set style fill solid 1.0 border lc rgb 'white'\n"
          "unset key\n"
          "set multiplot\n",
          script);
}

void plot_page_bar_titles(struct plot_page *page, const struct plot_area *area, bool is_first, bool is_last) {
    if (is_last)
        plot_page_text(page, (area->left + area->right) / 2, area->bottom + 45, PLOT_CENTRE, PLOT_PLAIN, PLOT_TEXT,
                       plot_latency_title(page->plot));
    if (is_first)
        plot_page_text(page, 14, (page->top + page->height) / 2, PLOT_CENTRE, PLOT_UPRIGHT, PLOT_TEXT,
                       plot_weight_title(page->plot));
}

void plot_page_end(const struct plot_page *page) {
    fputs("unset multiplot\n", page->script);
    if (page->plot->output)
        fputs("unset output\n", page->script);
}

/* ---- Texts and places --------------------------------------------------------------------------- */

/* The SVG of gnuplot has no bold text without markup, which is off; there names are larger. */
void plot_page_untrusted(struct plot_page *page, int x, int y, enum plot_align align, enum plot_style style,
                         const char *colour, const char *text, int characters_max) {
    static const char *const sides[] = {[PLOT_LEFT] = "left", [PLOT_CENTRE] = "center", [PLOT_RIGHT] = "right"};
    static const char *const fonts[][2] = {
        [PLOT_PLAIN] = {"Sans,12", "sans-serif,12"},       [PLOT_SMALL] = {"Sans,11", "sans-serif,11"},
        [PLOT_STRONG] = {"Sans:Bold,12", "sans-serif,13"}, [PLOT_TITLE] = {"Sans:Bold,15", "sans-serif,17"},
        [PLOT_UPRIGHT] = {"Sans,12", "sans-serif,12"},
    };
    fprintf(page->script, "set label %d ", ++page->labels);
    gnuplot_put_text(page->script, text, characters_max > 0 ? (size_t)characters_max : 1);
    fprintf(page->script, " at screen %.5f,%.5f %s font '%s' textcolor rgb '%s'%s\n", (double)x / page->width,
            1 - (double)y / page->height, sides[align], fonts[style][page->plot->format == PLOT_SVG], colour,
            style == PLOT_UPRIGHT ? " rotate" : "");
}

void plot_page_text(struct plot_page *page, int x, int y, enum plot_align align, enum plot_style style,
                    const char *colour, const char *text) {
    plot_page_untrusted(page, x, y, align, style, colour, text, PLOT_TEXT_SIZE);
}

void plot_page_mark(struct plot_page *page, double x, int y, const char *text) {
    fprintf(page->script, "set label %d '%s' at first %.9g, screen %.5f center textcolor rgb '" PLOT_TEXT "'\n",
            ++page->labels, text, x, 1 - (double)y / page->height);
}

void plot_page_square(struct plot_page *page, int x, int y, const char *colour) {
    fprintf(page->script, "set label %d '' at screen %.5f,%.5f point pt 5 ps 1.2 lc rgb '%s'\n", ++page->labels,
            (double)x / page->width, 1 - (double)y / page->height, colour);
}

/* ---- Title -------------------------------------------------------------------------------------- */

/* "36,484 calls, 1.18 s, from 2026-11-21 05:24:50 UTC" */
static void add_sum(struct str *text, const struct aggstats_profile *profile) {
    const struct units units = {.frequency_hz = profile->clock.frequency_hz};
    struct figures_sum sum = figures_sum(profile);
    char start[64];
    time_t seconds = (time_t)(profile->start_ns / 1000000000);
    struct tm tm;
    str_addf(text, "%s call%s, %s%s", units_count(sum.calls).text, units_plural(sum.calls),
             units_cycles(&units, sum.total_cycles).text, units.frequency_hz > 0 ? "" : " cycles");
    if (profile->has_start && localtime_r(&seconds, &tm) &&
        strftime(start, sizeof(start), ", from %Y-%m-%d %H:%M:%S %Z", &tm) > 0)
        str_add(text, start);
}

static bool has_title(const struct plot *plot) {
    return plot->title ? plot->title[0] != '\0' : plot->profile_count == 1;
}

/* For two profiles a key replaces the subtitle. */
static void put_key(struct plot_page *page) {
    static const char *const colours[PLOT_PROFILES_MAX] = {PLOT_SKY, PLOT_VERMILLION};
    const int half = page->width / 2;
    const int y = has_title(page->plot) ? SUBTITLE_Y + KEY_HEIGHT / 2 + 4 : SUBTITLE_Y - 4;
    for (int i = 0; i < PLOT_PROFILES_MAX; i++) {
        int x = 30 + i * half;
        CLEANUP_STR struct str text = {0};
        plot_page_square(page, x, y, colours[i]);
        plot_page_untrusted(page, x + 14, y - 8, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, page->plot->names[i],
                            (half - 60) / 8);
        add_sum(&text, page->plot->profiles[i]);
        plot_page_untrusted(page, x + 14, y + 8, PLOT_LEFT, PLOT_SMALL, PLOT_FAINT, str_text(&text), (half - 60) / 6);
    }
}

int plot_page_top(const struct plot *plot) {
    if (plot->profile_count == 1)
        return TITLE_HEIGHT;
    return TITLE_HEIGHT + (has_title(plot) ? KEY_HEIGHT : 0);
}

int plot_page_fit(const struct plot *plot, size_t count, int around, int caption, int wanted) {
    if (plot->height == 0 && around + (int)count * (wanted + caption) <= PLOT_SIZE_MAX)
        return wanted;
    return ((plot->height > 0 ? plot->height : PLOT_SIZE_MAX) - around) / (int)count - caption;
}

/* Labels are drawn with each panel until they are unset, so the title belongs to the first one. It is the profiled
 * directory, or else the file. */
static void begin_panel(struct plot_page *page) {
    const struct plot *plot = page->plot;
    const bool is_first = page->labels == 0;
    fputs("unset label\n", page->script);
    if (!is_first)
        return;
    if (has_title(plot)) {
        const char *lower = aggstats_profile_label(plot->profiles[0], "lower");
        const char *title = plot->title;
        if (!title)
            title = plot->profile_count == 1 && lower && lower[0] ? lower : plot->names[0];
        plot_page_untrusted(page, page->width / 2, TITLE_Y, PLOT_CENTRE, PLOT_TITLE, PLOT_TEXT, title,
                            page->width / 10);
    }
    if (plot->profile_count > 1) {
        put_key(page);
        return;
    }
    CLEANUP_STR struct str text = {0};
    add_sum(&text, plot->profiles[0]);
    plot_page_untrusted(page, page->width / 2, SUBTITLE_Y, PLOT_CENTRE, PLOT_PLAIN, PLOT_FAINT, str_text(&text),
                        page->width / 7);
}

void plot_page_panel(struct plot_page *page, const struct plot_area *area) {
    begin_panel(page);
    fprintf(page->script, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", (double)area->left / page->width,
            (double)area->right / page->width);
    fprintf(page->script, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
            1 - (double)area->top / page->height, 1 - (double)area->bottom / page->height);
}

void plot_page_space(struct plot_page *page, const struct plot_area *area) {
    begin_panel(page);
    fprintf(page->script, "set origin %.5f,%.5f\nset size %.5f,%.5f\n", (double)area->left / page->width,
            1 - (double)area->bottom / page->height, (double)(area->right - area->left) / page->width,
            (double)(area->bottom - area->top) / page->height);
}

/* ---- Texts that figures share ------------------------------------------------------------------- */

void plot_format_op(const struct plot *plot, const struct plot_op *op, size_t profile, char ret_text[PLOT_TEXT_SIZE]) {
    const struct aggstats_op_profile *of = op->of[profile];
    const struct units units = {.frequency_hz = plot->profiles[profile]->clock.frequency_hz};
    double all_cycles = figures_sum(plot->profiles[profile]).total_cycles;
    char calls[UNITS_TEXT_SIZE];
    if (!of) {
        snprintf(ret_text, PLOT_TEXT_SIZE, "no calls");
        return;
    }
    units_format_count(of->calls, calls);
    snprintf(ret_text, PLOT_TEXT_SIZE, "%s call%s, %s%s, %.1f %%", calls, units_plural(of->calls),
             units_cycles(&units, (double)of->total_cycles).text, units.frequency_hz > 0 ? "" : " cycles",
             all_cycles > 0 ? 100 * (double)of->total_cycles / all_cycles : 0.0);
}

const char *plot_latency_title(const struct plot *plot) {
    return plot_in_seconds(plot) ? "latency" : "latency in cycles";
}

const char *plot_weight_title(const struct plot *plot) {
    if (!plot->by_latency)
        return "calls";
    return plot_in_seconds(plot) ? "estimated latency" : "estimated latency in cycles";
}
