/* Rules common to writing and parsing profiles. */
#include "text_format.h"

#include "aggstats/words.h"
#include "base.h"

bool text_name_valid(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t length = strnlen(name, AGGSTATS_NAME_SIZE);
    return length > 0 && length < AGGSTATS_NAME_SIZE && strspn(name, allowed) == length;
}

#define NAME(constant, word, ...) [AGGSTATS_BY_##constant] = word,
static const char *const grouping_names[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(NAME, NAME, NAME, NAME)};
_Static_assert(GROUPING_COUNT + 1 == AGGSTATS_GROUPINGS, "each grouping has a word");

const char *aggstats_grouping_name(enum aggstats_grouping grouping) {
    return (unsigned)grouping < AGGSTATS_GROUPINGS ? grouping_names[grouping] : NULL;
}

#define KNOWN_BY(constant, word, several, heading, known_by) [AGGSTATS_BY_##constant] = known_by,
static const enum grouped_by grouped_by[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(KNOWN_BY, KNOWN_BY, KNOWN_BY, KNOWN_BY)};

bool aggstats_grouping_has_ids(enum aggstats_grouping grouping) {
    return aggstats_grouping_name(grouping) && grouped_by[grouping] == GROUPED_BY_NUMBER;
}

bool aggstats_grouping_has_objects(enum aggstats_grouping grouping) {
    return aggstats_grouping_name(grouping) &&
           (0U GROUPING_ROWS(NOTHING_OF_ROW, NOTHING_OF_ROW, BIT_OF_GROUPING, BIT_OF_GROUPING)) & 1U << grouping;
}

bool aggstats_grouping_has_paths(enum aggstats_grouping grouping) {
    return aggstats_grouping_name(grouping) && grouped_by[grouping] == GROUPED_BY_PATH;
}

enum aggstats_grouping aggstats_grouping_of_name(const char *name) {
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (strcmp(name, grouping_names[grouping]) == 0)
            return (enum aggstats_grouping)grouping;
    return AGGSTATS_UNGROUPED;
}

const char *aggstats_who_name(enum aggstats_who who) {
    return who == AGGSTATS_WHO_KERNEL ? "kernel" : who == AGGSTATS_WHO_OTHER ? "other" : NULL;
}

bool text_is_plain(const char *text) {
    const char *character;
    size_t length;
    for (const char *at = text, *before = text; (length = next_character(&at, &character)) > 0; before = at)
        if (character != before || is_invisible(character, length))
            return false;
    return true;
}

static void write_octal(FILE *stream, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        fprintf(stream, "\\%03o", (unsigned)(unsigned char)bytes[i]);
}

/* next_character() replaces a byte that is not UTF-8 by a character that is not in the text. */
static void write_text(FILE *stream, const char *text, bool escapes_blanks) {
    const char *character;
    size_t length;
    for (const char *at = text, *before = text; (length = next_character(&at, &character)) > 0; before = at) {
        if (character != before)
            write_octal(stream, before, 1);
        else if (is_invisible(character, length) || *character == '\\' ||
                 (*character == ' ' && (escapes_blanks || character == text)))
            write_octal(stream, character, length);
        else
            fwrite(character, 1, length, stream);
    }
}

void text_write_value(FILE *stream, const char *value) {
    write_text(stream, value, false);
}

void text_write_word(const char *word, FILE *stream) {
    write_text(stream, word, true);
}

void text_write_path(const char *path, FILE *stream) {
    if (path) {
        fputs(" path ", stream);
        text_write_value(stream, path);
    }
    putc('\n', stream);
}
