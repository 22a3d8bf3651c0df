/* A page that is drawn line by line, to a stream or to a part of a terminal's screen.
 *
 * All that is drawn is harmless: characters that a terminal obeys, or cannot show in one or two columns, become '?'. So
 * names from a file system may be drawn like our own words. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>

#include "screen.h"

struct canvas {
    /* Draws text, which is harmless and fits, at `column` of the line. */
    void (*put)(struct canvas *canvas, enum ink ink, const char *text);
    void (*end_line)(struct canvas *canvas);
    int width;    /* columns; at least 1 */
    bool clipped; /* lines are cut at that width; else it is only a recommendation */
    bool ascii;
    int column; /* where the next text begins */
};

void canvas_text(struct canvas *canvas, enum ink ink, const char *text);

/* Right-aligns the text, so that it ends `columns` columns further. */
void canvas_right(struct canvas *canvas, enum ink ink, const char *text, int columns);

/* Adds blanks up to a column of the line; none if it is reached. */
void canvas_move_to(struct canvas *canvas, int column);

void canvas_end_line(struct canvas *canvas);

/* Draws a whole line. */
void canvas_line(struct canvas *canvas, enum ink ink, const char *text);

/* Draws each line of a text, which ends with one. It is changed. */
void canvas_lines(struct canvas *canvas, char *text);

/* A canvas on a screen's stream. */
struct canvas_stream {
    struct canvas canvas;
    struct screen screen;
};

void canvas_stream_init(struct canvas_stream *stream, const struct screen *screen);

#endif
