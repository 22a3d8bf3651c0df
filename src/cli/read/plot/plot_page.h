/* The page of a figure: the picture's size and format, its title, and panels below each other. Positions are in pixels
 * from the upper left corner, whatever the format; text is 12 pixels high. */
#ifndef PLOT_PAGE_H
#define PLOT_PAGE_H

#include <stdio.h>

#include "plot.h"

/* Colours that the colour-blind can distinguish (Okabe and Ito), in gnuplot's form. */
#define PLOT_BLUE "#0072B2"
#define PLOT_SKY "#56B4E9"
#define PLOT_VERMILLION "#D55E00"
#define PLOT_TEXT "#202020"
#define PLOT_FAINT "#606060"

struct plot_page {
    const struct plot *plot;
    FILE *script;
    int width;
    int height;
    int top;    /* below the title */
    int labels; /* texts of the panel so far */
};

struct plot_area {
    int left;
    int right;
    int top;
    int bottom;
};

enum plot_style { PLOT_PLAIN, PLOT_SMALL, PLOT_STRONG, PLOT_TITLE, PLOT_UPRIGHT };
enum plot_align { PLOT_LEFT, PLOT_CENTRE, PLOT_RIGHT };

/* The height of title and subtitle in pixels. */
int plot_page_top(const struct plot *plot);

/* The height of each of `count` panels below each other: as wanted, unless the user has chosen the picture's height, or
 * the picture would be too high. around: space outside the panels; caption: space above each */
int plot_page_fit(const struct plot *plot, size_t count, int around, int caption, int wanted);

/* Begins the script. width, height: of the picture, unless the user has chosen another */
void plot_page_begin(struct plot_page *page, const struct plot *plot, int width, int height, FILE *script);

/* Begins a panel: the next plots go there. */
void plot_page_panel(struct plot_page *page, const struct plot_area *area);

/* The same for three dimensions, which have no margins of their own. */
void plot_page_space(struct plot_page *page, const struct plot_area *area);

/* Text on the page, vertically centred at y; call it after the panel has begun, and before it is plotted. */
void plot_page_text(struct plot_page *page, int x, int y, enum plot_align align, enum plot_style style,
                    const char *colour, const char *text);

/* The same for text that is not ours, of at most that many characters. */
void plot_page_untrusted(struct plot_page *page, int x, int y, enum plot_align align, enum plot_style style,
                         const char *colour, const char *text, int characters_max);

/* Plain text of ours over a position of the panel's x axis. */
void plot_page_mark(struct plot_page *page, double x, int y, const char *text);

/* A square of a colour, for keys. */
void plot_page_square(struct plot_page *page, int x, int y, const char *colour);

/* The titles of the axes of bars, once on the page: of weights beside the first panel, of latencies below the last. */
void plot_page_bar_titles(struct plot_page *page, const struct plot_area *area, bool is_first, bool is_last);

void plot_page_end(const struct plot_page *page);

/* ---- Texts for several figures ------------------------------------------------------------------ */

#define PLOT_TEXT_SIZE 192

/* "8,103 calls, 874 ms, 74.3 %"; the share is of all ops of the profile. */
void plot_format_op(const struct plot *plot, const struct plot_op *op, size_t profile, char ret_text[PLOT_TEXT_SIZE]);

/* "latency", "latency in cycles" */
const char *plot_latency_title(const struct plot *plot);

/* The meaning of bars and colours: "calls", "estimated latency" */
const char *plot_weight_title(const struct plot *plot);

#endif
