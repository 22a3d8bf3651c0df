/* A page that is drawn line by line, without knowing whether onto a stream or a part of a terminal's screen.
 *
 * Whatever is drawn is harmless: what a terminal might obey, or could not show in one or two columns, becomes '?'. So
 * names that came from a file system may be drawn like our own words. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>

#include "screen.h"

struct canvas {
    /* Draws text, which is harmless and fits, from `column` of the line on. */
    void (*put)(struct canvas *canvas, enum ink ink, const char *text);
    void (*end_line)(struct canvas *canvas);
    int width;    /* columns; at least 1 */
    bool clipped; /* lines end at that width; else it is only what a page should keep to */
    bool ascii;
    int column; /* where the next text begins */
};

void canvas_text(struct canvas *canvas, enum ink ink, const char *text);

/* Blanks before the text, so that it ends `columns` columns further. */
void canvas_right(struct canvas *canvas, enum ink ink, const char *text, int columns);

/* Blanks up to a column of the line; none if it is reached. */
void canvas_move_to(struct canvas *canvas, int column);

void canvas_end_line(struct canvas *canvas);

/* A line of its own. */
void canvas_line(struct canvas *canvas, enum ink ink, const char *text);

/* One that draws onto a screen's stream. */
struct canvas_stream {
    struct canvas canvas;
    struct screen screen;
};

void canvas_stream_init(struct canvas_stream *stream, const struct screen *screen);

#endif
