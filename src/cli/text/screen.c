/* Printing within the capabilities of the output. */
#include "screen.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base.h"
#include "html.h"

static int clamp_width(long width) {
    if (width < SCREEN_WIDTH_MIN)
        return SCREEN_WIDTH_MIN;
    return width > SCREEN_WIDTH_MAX ? SCREEN_WIDTH_MAX : (int)width;
}

static int natural_width(FILE *stream) {
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return clamp_width(size.ws_col);
    const char *columns = getenv("COLUMNS");
    char *end = NULL;
    long width = columns ? strtol(columns, &end, 10) : 0;
    return columns && end != columns && *end == '\0' && width > 0 ? clamp_width(width) : 80;
}

/* https://no-color.org: set and not empty means no colour */
static bool wants_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(stream)) && !(no_colour && no_colour[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

struct screen screen_of(FILE *stream, int width, bool ascii) {
    return (struct screen){
        .stream = stream,
        .width = width > 0 ? clamp_width(width) : natural_width(stream),
        .ascii = ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
        .colour = wants_colour(stream),
    };
}

struct screen screen_of_stdout(int width, bool ascii) {
    return screen_of(stdout, width, ascii);
}

struct screen screen_of_html(FILE *stream) {
    return (struct screen){.stream = stream, .width = SCREEN_WIDTH_MAX, .html = true};
}

size_t screen_count_lines(const struct screen *screen, void (*print)(const void *context, const struct screen *screen),
                          const void *context) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    size_t lines = 0;
    struct screen nowhere = *screen;
    nowhere.stream = open_memstream(&text, &size_bytes);
    if (!nowhere.stream)
        return 0;
    print(context, &nowhere);
    if (fclose(nowhere.stream) != 0)
        return 0;
    for (size_t i = 0; i < size_bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

static const char *ink_sequence(enum ink ink) {
    switch (ink) {
    case INK_STRONG:
        return "\033[1m";
    case INK_FAINT:
        return "\033[2m";
    case INK_BAR:
        return "\033[36m";
    case INK_WARNING:
        return "\033[33m";
    case INK_PLAIN:
        break;
    }
    return "\033[0m";
}

void screen_ink(const struct screen *screen, enum ink ink) {
    if (screen->colour)
        fputs(ink_sequence(ink), screen->stream);
}

void screen_print(const struct screen *screen, enum ink ink, const char *text) {
    if (ink != INK_PLAIN)
        screen_ink(screen, ink);
    if (screen->html)
        html_put(screen->stream, text);
    else
        fputs(text, screen->stream);
    if (ink != INK_PLAIN)
        screen_ink(screen, INK_PLAIN);
}

void screen_print_right(const struct screen *screen, enum ink ink, const char *text, int columns) {
    int blanks = columns - units_text_columns(text);
    fprintf(screen->stream, "%*s", blanks > 0 ? blanks : 0, "");
    screen_print(screen, ink, text);
}

void screen_print_untrusted(const struct screen *screen, enum ink ink, const char *text) {
    if (ink != INK_PLAIN)
        screen_ink(screen, ink);
    const char *character;
    size_t length;
    while ((length = next_character(&text, &character)) > 0) {
        if (screen->html)
            html_put_character(screen->stream, character, length);
        else if (is_obeyed_by_terminals(character, length) || (screen->ascii && length > 1))
            putc('?', screen->stream);
        else
            fwrite(character, 1, length, screen->stream);
    }
    if (ink != INK_PLAIN)
        screen_ink(screen, INK_PLAIN);
}

static const char *skip_characters(const char *text, int count) {
    for (const char *character; count > 0 && *text; count--)
        next_character(&text, &character);
    return text;
}

/* Owner: the caller frees it. Returns NULL without memory */
static char *make_shown(const struct screen *screen, const char *text) {
    char *shown = NULL;
    size_t size_bytes;
    struct screen memory = {.ascii = screen->ascii, .stream = open_memstream(&shown, &size_bytes)};
    if (!memory.stream)
        return NULL;
    screen_print_untrusted(&memory, INK_PLAIN, text);
    if (fclose(memory.stream) == 0)
        return shown;
    free(shown);
    return NULL;
}

char *screen_cut(const struct screen *screen, const char *text, int columns, enum screen_part kept) {
    char *shown = make_shown(screen, text);
    char *cut = NULL;
    int length = shown ? units_text_columns(shown) : 0;
    if (length <= columns || columns < 4)
        return shown;
    const int kept_columns = columns - 3;
    size_t from = (size_t)(skip_characters(shown, length - kept_columns) - shown); /* SCREEN_END */
    const char *name = kept == SCREEN_PATH ? strrchr(shown, '/') : NULL;
    if (name && units_text_columns(name) <= kept_columns) {
        kept = SCREEN_END;
        from += strcspn(shown + from, "/");
    } else if (name) {
        cut = screen_cut(screen, name + 1, columns, SCREEN_BEGINNING);
        free(shown);
        return cut;
    }
    if (kept == SCREEN_END) {
        if (asprintf(&cut, "...%s", shown + from) < 0)
            cut = NULL;
    } else if (asprintf(&cut, "%.*s...", (int)(skip_characters(shown, kept_columns) - shown), shown) < 0) {
        cut = NULL;
    }
    free(shown);
    return cut;
}

void screen_print_key(const struct screen *screen, const char *key) {
    int blanks = SCREEN_KEY_COLUMNS - units_text_columns(key);
    screen_print_untrusted(screen, INK_FAINT, key);
    fprintf(screen->stream, "%*s", blanks > 0 ? blanks : 1, "");
}

void screen_print_entry(const struct screen *screen, const char *key, const char *text) {
    const int columns = units_text_columns(key);
    if (screen->html) {
        html_put_entry(screen->stream, key, text);
        return;
    }
    screen_print_key(screen, key);
    screen_print_wrapped(screen, columns < SCREEN_KEY_COLUMNS ? SCREEN_KEY_COLUMNS : columns + 1, SCREEN_KEY_COLUMNS,
                         text);
}

void screen_print_gap(const struct screen *screen) {
    putc('\n', screen->stream);
}

void screen_print_title(const struct screen *screen, const char *title) {
    if (screen->html)
        html_put_block(screen->stream, "h3", NULL, title);
    else
        fprintf(screen->stream, "\n%s:\n", title);
}

void screen_begin_line(const struct screen *screen, int indent) {
    if (screen->html)
        fputs("<p>", screen->stream);
    else
        fprintf(screen->stream, "%*s", indent, "");
}

void screen_begin_entry(const struct screen *screen, const char *key) {
    if (screen->html)
        html_begin_entry(screen->stream, key);
    else
        screen_print_key(screen, key);
}

void screen_begin_heading(const struct screen *screen) {
    fputs(screen->html ? "<h3>" : "\n", screen->stream);
}

void screen_end_line(const struct screen *screen) {
    fputs(screen->html ? "</p>\n" : "\n", screen->stream);
}

void screen_end_heading(const struct screen *screen) {
    fputs(screen->html ? "</h3>\n" : "\n", screen->stream);
}

__attribute__((format(printf, 2, 0))) static void print_formatted(const struct screen *screen, const char *format,
                                                                  va_list arguments) {
    CLEANUP_FREE char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    else
        screen_print(screen, INK_PLAIN, text);
}

void screen_printf(const struct screen *screen, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_formatted(screen, format, arguments);
    va_end(arguments);
}

void screen_print_line(const struct screen *screen, int indent, const char *format, ...) {
    va_list arguments;
    screen_begin_line(screen, indent);
    va_start(arguments, format);
    print_formatted(screen, format, arguments);
    va_end(arguments);
    screen_end_line(screen);
}

int screen_begin_words(const struct screen *screen, const char *why) {
    screen_print_gap(screen);
    screen_begin_line(screen, 0);
    screen_printf(screen, "%s:", why);
    return units_text_columns(why) + 1;
}

int screen_print_word(const struct screen *screen, int column, const char *word) {
    const int columns = units_text_columns(word);
    if (column + 1 + columns > screen->width) {
        fputs("\n ", screen->stream);
        column = 1;
    }
    screen_printf(screen, " %s", word);
    return column + 1 + columns;
}

#define FIRM_BLANK '\1'

void screen_make_blanks_firm(char *text) {
    for (; *text; text++)
        if (*text == ' ')
            *text = FIRM_BLANK;
}

struct units_text screen_firm(struct units_text value) {
    screen_make_blanks_firm(value.text);
    return value;
}

static void print_paragraph(const struct screen *screen, enum ink ink, const char *text) {
    const char *character;
    size_t length;
    fputs(ink == INK_WARNING ? "<p class=\"warning\">"
          : ink == INK_FAINT ? "<p class=\"faint\">"
                             : "<p>",
          screen->stream);
    while ((length = next_character(&text, &character)) > 0) {
        if (*character == FIRM_BLANK)
            fputs("&nbsp;", screen->stream);
        else
            html_put_character(screen->stream, character, length);
    }
    fputs("</p>\n", screen->stream);
}

static void print_word(FILE *stream, const char *word, size_t length_bytes) {
    for (size_t i = 0; i < length_bytes; i++)
        putc(word[i] == FIRM_BLANK ? ' ' : word[i], stream);
}

static int word_columns(const char *word, size_t length_bytes) {
    int columns = 0;
    for (size_t i = 0; i < length_bytes; i++)
        columns += ((unsigned char)word[i] & 0xc0) != 0x80; /* not a continuation byte */
    return columns;
}

void screen_print_sentence(const struct screen *screen, int indent, const char *text) {
    if (screen->html) {
        print_paragraph(screen, INK_PLAIN, text);
        return;
    }
    int column = fprintf(screen->stream, "%*s", indent, "");
    for (bool is_first = true; *text; is_first = false) {
        size_t length = strcspn(text, " ");
        int columns = word_columns(text, length);
        if (!is_first && column + 1 + columns > screen->width)
            column = fprintf(screen->stream, "\n%*s", 2 * indent, "") - 1;
        else if (!is_first)
            column += fprintf(screen->stream, " ");
        column += columns;
        print_word(screen->stream, text, length);
        text += length + (text[length] == ' ');
    }
    putc('\n', screen->stream);
}

void screen_print_in_ink(const struct screen *screen, enum ink ink, const char *text) {
    if (screen->html) {
        print_paragraph(screen, ink, text);
        return;
    }
    screen_ink(screen, ink);
    screen_print_sentence(screen, 0, text);
    screen_ink(screen, INK_PLAIN);
}

/* Columns up to the next blank, or the end. */
static int columns_to_blank(const char *text) {
    const char *character;
    int columns = 0;
    while (*text && *text != ' ' && next_character(&text, &character) > 0)
        columns++;
    return columns;
}

static int break_line(const struct screen *screen, int indent) {
    return fprintf(screen->stream, "\n%*s", indent, "") - 1;
}

void screen_print_wrapped(const struct screen *screen, int column, int indent, const char *text) {
    const char *character;
    size_t length;
    if (screen->html) {
        html_put_block(screen->stream, "p", NULL, text);
        return;
    }
    while (*text) {
        const char *start = text;
        int needed = *text == ' ' ? 1 + columns_to_blank(text + 1) : 1;
        length = next_character(&text, &character);
        if (column + needed > screen->width && (column > indent || needed == 1)) {
            column = break_line(screen, indent);
            if (*start == ' ')
                continue; /* the end of the line replaces it */
        }
        char one[8] = "";
        memcpy(one, character, length < sizeof(one) ? length : 0);
        screen_print_untrusted(screen, INK_PLAIN, one);
        column++;
    }
    putc('\n', screen->stream);
}
