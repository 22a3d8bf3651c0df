/* Printing within the capabilities of the output. */
#include "screen.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base.h"
#include "command.h"

/* https://no-color.org: NO_COLOR, set and not empty, means no colour. */
struct screen screen_of(FILE *stream) {
    const struct screen_choice *choice = screen_choice();
    const char *variable = getenv("COLUMNS");
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    struct winsize size;
    char *end = NULL;
    long columns = variable ? strtol(variable, &end, 10) : 0;
    if (!variable || end == variable || *end != '\0' || columns <= 0)
        columns = 80;
    if (choice->width > 0)
        columns = choice->width;
    else if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    return (struct screen){
        .stream = stream,
        .width = (int)(columns < SCREEN_WIDTH_MIN   ? SCREEN_WIDTH_MIN
                       : columns > SCREEN_WIDTH_MAX ? SCREEN_WIDTH_MAX
                                                    : columns),
        .ascii = choice->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
        .colour = choice->color == COLOR_ALWAYS ||
                  (choice->color == COLOR_AUTO && isatty(fileno(stream)) && !(no_colour && no_colour[0]) && terminal &&
                   strcmp(terminal, "dumb") != 0),
    };
}

struct screen screen_of_stdout(void) {
    return screen_of(stdout);
}

struct screen screen_of_html(FILE *stream) {
    return (struct screen){.stream = stream, .width = SCREEN_WIDTH_MAX, .html = true};
}

void screen_ink(const struct screen *screen, enum ink ink) {
    static const char *const sequences[] = {
        [INK_PLAIN] = "\033[0m", [INK_STRONG] = "\033[1m",   [INK_FAINT] = "\033[2m",
        [INK_BAR] = "\033[36m",  [INK_WARNING] = "\033[33m",
    };
    if (screen->marks)
        putc(INK_MARK + (int)ink, screen->stream);
    else if (screen->colour)
        fputs(sequences[ink], screen->stream);
}

/* Plain text has no marks of its own. */
static void begin_ink(const struct screen *screen, enum ink ink) {
    if (ink != INK_PLAIN)
        screen_ink(screen, ink);
}

static void end_ink(const struct screen *screen, enum ink ink) {
    if (ink != INK_PLAIN)
        screen_ink(screen, INK_PLAIN);
}

void screen_print(const struct screen *screen, enum ink ink, const char *text) {
    begin_ink(screen, ink);
    fputs(text, screen->stream);
    end_ink(screen, ink);
}

void screen_print_right(const struct screen *screen, enum ink ink, const char *text, int columns) {
    int blanks = columns - units_text_columns(text);
    fprintf(screen->stream, "%*s", blanks > 0 ? blanks : 0, "");
    screen_print(screen, ink, text);
}

static void put_character(const struct screen *screen, const char *character, size_t length) {
    if (is_obeyed_by_terminals(character, length) || (screen->ascii && length > 1))
        putc('?', screen->stream);
    else
        fwrite(character, 1, length, screen->stream);
}

void screen_print_untrusted(const struct screen *screen, enum ink ink, const char *text) {
    const char *character;
    size_t length;
    begin_ink(screen, ink);
    while ((length = next_character(&text, &character)) > 0)
        put_character(screen, character, length);
    end_ink(screen, ink);
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
    const int word_columns = (int)strspn(shown, "abcdefghijklmnopqrstuvwxyz") + 1;
    if (kept == SCREEN_PATH && strncmp(shown + word_columns - 1, " /", 2) == 0 && word_columns <= columns / 2) {
        CLEANUP_FREE char *rest = screen_cut(screen, shown + word_columns, columns - word_columns, kept);
        if (asprintf(&cut, "%.*s%s", word_columns, shown, rest ? rest : "") < 0)
            cut = NULL;
        free(shown);
        return cut;
    }
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

void screen_make_blanks_firm(char *text) {
    for (; *text; text++)
        if (*text == ' ')
            *text = FIRM_BLANK;
}

struct units_text screen_firm(struct units_text value) {
    screen_make_blanks_firm(value.text);
    return value;
}

void screen_print_words(const struct screen *screen, enum ink ink, int indent, int further, const char *text) {
    const char *character;
    begin_ink(screen, ink);
    int column = fprintf(screen->stream, "%*s", indent, "");
    for (bool is_first = true; *text; is_first = false) {
        const size_t length = strcspn(text, " ");
        const char *end = text + length;
        int columns = 0;
        for (const char *rest = text; rest < end; columns++)
            next_character(&rest, &character);
        if (!is_first && column + 1 + columns > screen->width)
            column = fprintf(screen->stream, "\n%*s", further, "") - 1;
        else if (!is_first)
            column += fprintf(screen->stream, " ");
        column += columns;
        while (text < end) {
            const size_t bytes = next_character(&text, &character);
            if (*character == FIRM_BLANK)
                putc(' ', screen->stream);
            else
                put_character(screen, character, bytes);
        }
        text += *text == ' ';
    }
    putc('\n', screen->stream);
    end_ink(screen, ink);
}

/* Columns up to the next blank, or the end. */
static int columns_to_blank(const char *text) {
    const char *character;
    int columns = 0;
    while (*text && *text != ' ' && next_character(&text, &character) > 0)
        columns++;
    return columns;
}

void screen_print_wrapped(const struct screen *screen, enum ink ink, int column, int indent, const char *text) {
    const char *character;
    begin_ink(screen, ink);
    while (*text) {
        const char *start = text;
        const int needed = *text == ' ' ? 1 + columns_to_blank(text + 1) : 1;
        const size_t length = next_character(&text, &character);
        if (column + needed > screen->width && (column > indent || needed == 1)) {
            column = fprintf(screen->stream, "\n%*s", indent, "") - 1;
            if (*start == ' ')
                continue; /* the end of the line replaces it */
        }
        put_character(screen, character, length);
        column++;
    }
    putc('\n', screen->stream);
    end_ink(screen, ink);
}
