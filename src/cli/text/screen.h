/* The capabilities of the output: its width, its characters, its colours. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "units.h"

struct screen {
    FILE *stream;
    int width; /* columns */
    bool ascii;
    bool colour;
    bool html;  /* for a browser: nothing is cut */
    bool marks; /* inks are marks in the text, for osprof top */
};

/* The capabilities of a stream, as far as the common options of the command line allow them (screen_choice()). Without a
 * choice the width is that of the terminal, else of $COLUMNS, else 80; and there is only ASCII if the locale has no more. */
struct screen screen_of(FILE *stream);
struct screen screen_of_stdout(void);
struct screen screen_of_html(FILE *stream);

enum ink {
    INK_PLAIN,
    INK_STRONG, /* names */
    INK_FAINT,  /* axes, legends */
    INK_BAR,
    INK_WARNING,
};

#define INK_MARK '\016' /* a mark is this and the ink; there is none in names, as terminals would obey it */

/* All that is printed from now on has this colour, until INK_PLAIN. */
void screen_ink(const struct screen *screen, enum ink ink);

/* Prints text in a colour, if there are colours. */
void screen_print(const struct screen *screen, enum ink ink, const char *text);

/* Prints text right-aligned, so that it ends `columns` columns further. */
void screen_print_right(const struct screen *screen, enum ink ink, const char *text, int columns);

#define SCREEN_KEY_COLUMNS 10

/* Prints a key, the first of two columns of a page; it may have come from a file. */
void screen_print_key(const struct screen *screen, const char *key);

/* Protects the blank between a number and its unit, so that no line of a sentence ends there. */
void screen_make_blanks_firm(char *text);
struct units_text screen_firm(struct units_text value);
#define FIRM_BLANK '\1'

/* Prints words with blanks between them, or new lines where they do not fit, then a new line.
 * indent, further: blanks before the first line, and before the others */
void screen_print_words(const struct screen *screen, enum ink ink, int indent, int further, const char *text);

static inline void screen_print_sentence(const struct screen *screen, int indent, const char *text) {
    screen_print_words(screen, INK_PLAIN, indent, 2 * indent, text);
}

/* Prints text from a file, from a column of the line on, then a new line. If it does not fit it is broken, at a blank
 * if there is one, and goes on behind `indent` blanks. */
void screen_print_wrapped(const struct screen *screen, enum ink ink, int column, int indent, const char *text);

/* Prints text from a file: characters that a terminal obeys become '?'. */
void screen_print_untrusted(const struct screen *screen, enum ink ink, const char *text);

/* Which part of a too long text is kept. */
enum screen_part {
    SCREEN_BEGINNING,
    SCREEN_END,
    SCREEN_PATH, /* as many of the last components of a path as fit; else the beginning of the last one. A word before
                  * the path is kept, as in "below /a/b" */
};

/* A text as from screen_print_untrusted(), cut to that many columns, with "..." for the rest.
 * Owner:   the caller frees it. Returns NULL without memory */
char *screen_cut(const struct screen *screen, const char *text, int columns, enum screen_part kept);

#endif
