/* Tables of options: values, help and completion. */
#include "option_table.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

bool option_takes_argument(const struct option_row *row) {
    return row->kind != OPTION_FLAG && row->kind != OPTION_UNFLAG && row->kind != OPTION_CONSTANT &&
           row->kind != OPTION_VARIANT;
}

/* ---- In words ----------------------------------------------------------------------------------- */

void option_add_word(char text[OPTION_TEXT_SIZE], const char *before, const char *word, const char *last) {
    size_t length = strlen(text);
    const char *joint = length == 0 ? "" : last ? last : ",";
    snprintf(text + length, OPTION_TEXT_SIZE - length, "%s%s%s%s%s", length > 0 && last ? " " : "", joint,
             length > 0 ? " " : "", before, word);
}

void option_add_words(char text[OPTION_TEXT_SIZE], const char *const *words, const char *last) {
    for (; *words; words++)
        option_add_word(text, "", *words, words[1] ? NULL : last);
}

static bool is_number(const struct option_row *row) {
    return row->kind == OPTION_UNSIGNED || row->kind == OPTION_NUMBER;
}

/* "from 40 to 1000", "process or uid", "from 1 to 1000 or auto" */
static void describe_values(const struct option_row *row, char ret_text[OPTION_TEXT_SIZE]) {
    ret_text[0] = '\0';
    if (is_number(row) && row->max > 0)
        snprintf(ret_text, OPTION_TEXT_SIZE, "from %.16g to %.16g", row->min, row->max);
    else if (is_number(row))
        snprintf(ret_text, OPTION_TEXT_SIZE, "from %.16g on", row->min);
    if (row->words)
        option_add_words(ret_text, row->words, "or");
}

static const char *describe_rule(const struct option_row *row, char why[OPTION_TEXT_SIZE]) {
    char values[OPTION_TEXT_SIZE];
    if (row->rule)
        return row->rule;
    if (row->kind == OPTION_FILE)
        return "the name is missing";
    describe_values(row, values);
    if (is_number(row))
        snprintf(why, OPTION_TEXT_SIZE, "must be %s number%s%s %.400s", row->step == 2 ? "an even" : "a",
                 row->unit ? " of " : "", row->unit ? row->unit : "", values);
    else
        snprintf(why, OPTION_TEXT_SIZE, "must be %.400s", values);
    return why;
}

/* ---- Values ------------------------------------------------------------------------------------- */

typedef int compare_words(const char *a, const char *b);

/* Finds one of a row's words. */
static bool find_word(const char *text, const struct option_row *row, compare_words *compare, unsigned *ret_place) {
    for (unsigned i = 0; row->words && row->words[i]; i++) {
        if (compare(text, row->words[i]) == 0) {
            *ret_place = i;
            return true;
        }
    }
    return false;
}

static bool parse_unsigned(const char *text, const struct option_row *row, unsigned *ret_number) {
    char *end;
    if (find_word(text, row, strcasecmp, ret_number))
        return true;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || (double)number < row->min ||
        (double)number > (row->max > 0 ? row->max : UINT_MAX) || (row->step > 0 && number % row->step != 0))
        return false;
    *ret_number = (unsigned)number;
    return true;
}

/* A decimal number: strtod() alone would take "inf", "0x1p3" and blanks before it. */
static bool parse_number(const char *text, const struct option_row *row, double *ret_number) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(isdigit((unsigned char)text[0]) || text[0] == '.') || strpbrk(text, "xX") ||
        !(number >= row->min && number <= row->max))
        return false;
    *ret_number = number;
    return true;
}

/* "64M" */
static bool parse_bytes(const char *text, const struct option_row *row, uint64_t *ret_bytes) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!isdigit((unsigned char)text[0]) || errno != 0 || (*end && (!unit || end[1])) || number > UINT64_MAX >> shift ||
        (double)(number << shift) < row->min)
        return false;
    *ret_bytes = (uint64_t)number << shift;
    return true;
}

/* Returns false if the option does not take this value. */
static bool keep_value(const struct option_row *row, const char *text, void *member) {
    unsigned place = 0;
    switch (row->kind) {
    case OPTION_UNSIGNED:
        return parse_unsigned(text, row, member);
    case OPTION_NUMBER:
        return parse_number(text, row, member);
    case OPTION_BYTES:
        return parse_bytes(text, row, member);
    case OPTION_WORD:
        if (!find_word(text, row, strcasecmp, &place))
            return false;
        *(const char **)member = row->words[place];
        return true;
    case OPTION_CHOICE:
        return find_word(text, row, strcmp, member);
    case OPTION_EITHER:
        if (!find_word(text, row, strcmp, &place))
            return false;
        *(bool *)member = place == 1;
        return true;
    case OPTION_REFUSED:
        return false;
    default:
        *(const char **)member = text;
        return row->kind != OPTION_FILE || (double)strlen(text) >= row->min;
    }
}

const char *option_take(const struct option_row *row, char **text, void *options, char why[OPTION_TEXT_SIZE]) {
    void *member = (char *)options + row->offset;
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_UNFLAG:
        *(bool *)member = row->kind == OPTION_FLAG;
        return NULL;
    case OPTION_CONSTANT:
        *(unsigned *)member = row->constant;
        return NULL;
    case OPTION_VARIANT:
        *(const char **)member = row->name;
        return NULL;
    case OPTION_TIME:
        return row->parse_time(*text, member);
    case OPTION_PARSED:
        return row->parse(text, member, why);
    case OPTION_OPS:
        *text += strncasecmp(*text, "OP_", 3) == 0 ? 3 : 0;
        __attribute__((fallthrough));
    case OPTION_TEXTS:
    case OPTION_DIRECTORIES:
        return option_list_add(member, *text) == 0 ? NULL : "no memory";
    default:
        return keep_value(row, *text, member) ? NULL : describe_rule(row, why);
    }
}

const char *option_given(const struct option_row *rows, uint64_t given, const char *names) {
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        const struct option_row *row = rows;
        length = strcspn(names, " ");
        while (row->kind != OPTION_END && !(row->name && strncmp(row->name, names, length) == 0 && !row->name[length]))
            row++;
        assert(row->kind != OPTION_END);
        if (given & (UINT64_C(1) << (row - rows)))
            return row->name;
    }
    return NULL;
}

/* ---- Help --------------------------------------------------------------------------------------- */

int option_format(const struct option_row *row, const struct option_style *style, char ret_text[OPTION_TEXT_SIZE]) {
    char letter[] = {'-', row->letter, ',', ' ', '\0'};
    return snprintf(ret_text, OPTION_TEXT_SIZE, "%s%s%s%s%s", row->letter ? letter : "",
                    row->name[0] == '-' ? "" : style->dashes, row->name,
                    row->metavar && option_takes_argument(row) ? style->equals : "", row->metavar ? row->metavar : "");
}

void option_print_wrapped(const char *text, int indent, int columns_max) {
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > indent && (text[-1] == '\n' || column + 1 + length > columns_max)) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] != '\0');
    }
    putchar('\n');
}

void option_print_help(const struct option_row *row, const struct option_style *style) {
    char option[OPTION_TEXT_SIZE];
    char values[OPTION_TEXT_SIZE];
    char help[2 * OPTION_TEXT_SIZE];
    const char *gap = strstr(row->help, "{}");
    describe_values(row, values);
    if (gap)
        snprintf(help, sizeof(help), "%.*s%s%s", (int)(gap - row->help), row->help, values, gap + 2);
    int column = style->margin + option_format(row, style, option);
    printf("%*s%s%s%*s", style->margin, "", option, column < style->indent ? "" : "\n",
           column < style->indent ? style->indent - column : style->indent, "");
    option_print_wrapped(gap ? help : row->help, style->indent, style->columns_max);
}

/* ---- Completion --------------------------------------------------------------------------------- */

static const char *completion_kind(const struct option_row *row) {
    if (row->completed_as)
        return row->completed_as;
    if (!option_takes_argument(row))
        return "flag";
    switch (row->kind) {
    case OPTION_FILE:
        return "file";
    case OPTION_COMMAND:
        return "command";
    case OPTION_DIRECTORIES:
        return "directory";
    case OPTION_OPS:
        return "op";
    default:
        return row->words ? "word" : "text";
    }
}

static void print_completion(const struct option_row *row, const char *dashes, const char *name, const char *equals) {
    printf("%s%s%s %s", dashes, name, equals, completion_kind(row));
    for (size_t i = 0; row->words && row->words[i]; i++)
        printf(" %s", row->words[i]);
    putchar('\n');
}

void option_print_completion(const struct option_row *row, const char *dashes, const char *equals) {
    const char letter[] = {row->letter, '\0'};
    if (row->letter)
        print_completion(row, "-", letter, "");
    if (row->name)
        print_completion(row, row->name[0] == '-' ? "" : dashes, row->name, option_takes_argument(row) ? equals : "");
    else if (!row->letter)
        print_completion(row, "", "*", "");
}
