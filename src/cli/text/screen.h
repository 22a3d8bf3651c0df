/* The capabilities of the output: its width, its characters, its colours. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "units.h"

#define SCREEN_WIDTH_MIN 40
#define SCREEN_WIDTH_MAX 1000

struct screen {
    FILE *stream;
    int width; /* columns */
    bool ascii;
    bool colour;
    bool html; /* for a browser, see html.h: sentences are paragraphs, keys with their texts too, and nothing is cut */
};

/* The capabilities of a stream. width: 0 = that of the terminal, else of $COLUMNS, else 80; ascii: only ASCII, even if
 * the locale has more. */
struct screen screen_of(FILE *stream, int width, bool ascii);
struct screen screen_of_stdout(int width, bool ascii);
struct screen screen_of_html(FILE *stream);

/* How many lines a function prints on such a screen. Without memory: 0 */
size_t screen_count_lines(const struct screen *screen, void (*print)(const void *context, const struct screen *screen),
                          const void *context);

enum ink {
    INK_PLAIN,
    INK_STRONG, /* names */
    INK_FAINT,  /* axes, legends */
    INK_BAR,
    INK_WARNING,
};

/* All that is printed from now on has this colour, until INK_PLAIN. */
void screen_ink(const struct screen *screen, enum ink ink);

/* Prints text in a colour, if there are colours. */
void screen_print(const struct screen *screen, enum ink ink, const char *text);

/* Prints text right-aligned, so that it ends `columns` columns further. */
void screen_print_right(const struct screen *screen, enum ink ink, const char *text, int columns);

#define SCREEN_KEY_COLUMNS 10

/* Prints a key, the first of two columns of a page; it may have come from a file. */
void screen_print_key(const struct screen *screen, const char *key);

/* Prints a key and a text, which may both have come from files, in a line or more. */
void screen_print_entry(const struct screen *screen, const char *key, const char *text);

/* Prints an empty line between parts of a page, and one and a title: of a part of ours. */
void screen_print_gap(const struct screen *screen);
void screen_print_title(const struct screen *screen, const char *title);

/* ---- Lines that are put together, and not broken ------------------------------------------------- */

/* Begins a line; one with a key, as of screen_print_entry(); and an empty line and one about what follows. In HTML they are
 * a paragraph, and a heading. indent: blanks before it */
void screen_begin_line(const struct screen *screen, int indent);
void screen_begin_entry(const struct screen *screen, const char *key);
void screen_begin_heading(const struct screen *screen);

void screen_end_line(const struct screen *screen);
void screen_end_heading(const struct screen *screen);

/* Prints a text of ours within a line; and a line with nothing else. */
void screen_printf(const struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_print_line(const struct screen *screen, int indent, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Words, and sentences ------------------------------------------------------------------------ */

/* Prints a word of a list, with a blank before it, on a new line if it does not fit. column: where the last one ended
 * Returns where this one ends */
int screen_print_word(const struct screen *screen, int column, const char *word);

/* Begins such a list, behind an empty line: "why:". Returns where it ends. The caller ends the line */
int screen_begin_words(const struct screen *screen, const char *why);

/* Within a sentence: protects the blank between a number and its unit, so that no line ends there. Characters that
 * terminals obey must be replaced in texts from files before they are put into a sentence. */
void screen_make_blanks_firm(char *text);
struct units_text screen_firm(struct units_text value);

/* Prints words with blanks between them, or new lines where they do not fit, then a new line. indent: blanks before the
 * first word; further lines have twice as many */
void screen_print_sentence(const struct screen *screen, int indent, const char *text);

/* The same in an ink, without an indent. */
void screen_print_in_ink(const struct screen *screen, enum ink ink, const char *text);

/* Prints text from a file, from a column of the line on, then a new line. If it does not fit it is broken, at a blank
 * if there is one, and goes on behind `indent` blanks. */
void screen_print_wrapped(const struct screen *screen, int column, int indent, const char *text);

/* Prints text from a file: characters that a terminal obeys become '?'. */
void screen_print_untrusted(const struct screen *screen, enum ink ink, const char *text);

/* Which part of a too long text is kept. */
enum screen_part {
    SCREEN_BEGINNING,
    SCREEN_END,
    SCREEN_PATH, /* as many of the last components of a path as fit; else the beginning of the last one */
};

/* A text as from screen_print_untrusted(), cut to that many columns, with "..." for the rest.
 * Owner:   the caller frees it. Returns NULL without memory */
char *screen_cut(const struct screen *screen, const char *text, int columns, enum screen_part kept);

#endif
