/* Histograms as people read them. Those of bpftrace, a map's name before each:
 *
 *     @usecs[read]:
 *     (..., 0)               1 |@@@@                                                |
 *     [0]                    3 |@@@@@@@@@@@@                                        |
 *     [1K, 2K)               2 |@@@@@@@@                                            |
 *
 *     @usecs_total[read]: 3072
 *
 * and those of bcc, each a table, perhaps with a line before it that names the operation:
 *
 *     operation = read
 *          usecs               : count     distribution
 *              0 -> 1          : 3        |************                            |
 *              2 -> 3          : 0        |                                        |
 *
 * Other lines are ignored. */
#include "imported_readers.h"

#include <ctype.h>
#include <string.h>

#include "base.h"

__extension__ typedef unsigned __int128 uint128;

/* What the next line may belong to. */
enum place { OUTSIDE, IN_MAP, IN_TABLE };

struct reader {
    struct imported *imported;
    enum place place;
    char *map_name;
    char *key;                            /* NULL: none */
    struct imported_histogram *histogram; /* NULL until its first row */
    size_t line_number;
    struct aggstats_parse_error *error;
};

static int fail_row(const struct reader *reader, const char *line) {
    return imported_fail(reader->error, reader->line_number,
                         "expected a whole row of a histogram: a range, a count and a bar between |, found \"%.60s\"",
                         line);
}

/* ---- Scanning ----------------------------------------------------------------------------------- */

/* Each moves the cursor over what it expects, or returns false. */

static void skip_blanks(const char **cursor) {
    while (**cursor == ' ' || **cursor == '\t')
        (*cursor)++;
}

static bool scan_text(const char **cursor, const char *text) {
    skip_blanks(cursor);
    size_t length = strlen(text);
    if (strncmp(*cursor, text, length) != 0)
        return false;
    *cursor += length;
    return true;
}

static bool scan_number(const char **cursor, uint64_t *ret_number) {
    uint64_t number = 0;
    skip_blanks(cursor);
    if (!isdigit((unsigned char)**cursor))
        return false;
    for (; isdigit((unsigned char)**cursor); (*cursor)++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(**cursor - '0'), &number))
            return false;
    }
    *ret_number = number;
    return true;
}

/* "64", "2K": factors of 1024. 2^64, as the end of the last bucket, is "16E". */
static bool scan_bound(const char **cursor, uint128 *ret_bound) {
    static const char suffixes[] = "KMGTPE";
    uint64_t number;
    if (!scan_number(cursor, &number))
        return false;
    const char *suffix = **cursor ? strchr(suffixes, **cursor) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    *cursor += suffix != NULL;
    *ret_bound = (uint128)number << shift;
    return *ret_bound <= (uint128)1 << 64;
}

/* "12 |@@@   |" at the end of a line: a bar without its end was cut off. */
static bool scan_count_and_bar(const char **cursor, uint64_t *ret_count) {
    if (!scan_number(cursor, ret_count) || !scan_text(cursor, "|"))
        return false;
    const char *end = strrchr(*cursor, '|');
    return end && end[1 + strspn(end + 1, " \t")] == '\0';
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Makes the histogram of the heading above, at its first row. */
static int begin_histogram(struct reader *reader) {
    if (reader->histogram)
        return 0;
    struct imported_map *map = imported_get_map(reader->imported, reader->place == IN_MAP ? reader->map_name : "");
    if (!map)
        return -ENOMEM;
    return imported_add_histogram(reader->imported, map, reader->key, reader->line_number, &reader->histogram,
                                  reader->error);
}

/* The range of a row: from min up to, but not including, end. */
struct row {
    uint128 min;
    uint128 end;
    bool negative;
    bool endless;
    uint64_t count;
};

static bool scan_row_below(const char *cursor, struct row *row) {
    row->negative = true;
    return scan_text(&cursor, "(...,") && scan_bound(&cursor, &row->end) && row->end == 0 && scan_text(&cursor, ")") &&
           scan_count_and_bar(&cursor, &row->count);
}

/* "[4, 8)", "[4]", and "[100, ...)" of an lhist() */
static bool scan_row_range(const char *cursor, struct row *row) {
    if (!scan_text(&cursor, "[") || !scan_bound(&cursor, &row->min))
        return false;
    if (scan_text(&cursor, "]"))
        row->end = row->min + 1;
    else if (scan_text(&cursor, ", ...)"))
        row->endless = true;
    else if (!scan_text(&cursor, ",") || !scan_bound(&cursor, &row->end) || !scan_text(&cursor, ")"))
        return false;
    return scan_count_and_bar(&cursor, &row->count);
}

static bool scan_row_table(const char *cursor, struct row *row) {
    uint64_t min;
    uint64_t max;
    bool whole = scan_number(&cursor, &min) && scan_text(&cursor, "->") && scan_number(&cursor, &max) &&
                 scan_text(&cursor, ":") && scan_count_and_bar(&cursor, &row->count);
    if (whole) {
        row->min = min;
        row->end = (uint128)max + 1;
    }
    return whole;
}

static int add_row(struct reader *reader, const struct row *row) {
    int error = begin_histogram(reader);
    if (error)
        return error;
    if (row->negative)
        return imported_add_negative(reader->histogram, row->count, reader->line_number, reader->error);
    bool empty = row->min > UINT64_MAX || (!row->endless && row->end <= row->min);
    uint64_t min = empty ? 1 : (uint64_t)row->min;
    uint64_t max = row->endless ? UINT64_MAX : (uint64_t)(row->end - 1);
    return imported_add_calls(reader->histogram, min, empty ? 0 : max, row->count, reader->line_number, reader->error);
}

static int read_map_row(struct reader *reader, const char *line) {
    struct row row = {0};
    bool whole = line[0] == '(' ? scan_row_below(line, &row) : scan_row_range(line, &row);
    return whole ? add_row(reader, &row) : fail_row(reader, line);
}

static int read_table_row(struct reader *reader, const char *line) {
    struct row row = {0};
    return scan_row_table(line, &row) ? add_row(reader, &row) : fail_row(reader, line);
}

/* ---- Headings ----------------------------------------------------------------------------------- */

static void leave(struct reader *reader) {
    reader->place = OUTSIDE;
    reader->histogram = NULL;
    free(reader->key);
    reader->key = NULL;
}

static int set_text(char **text, const char *from, size_t length) {
    char *copy = strndup(from, length);
    if (!copy)
        return -ENOMEM;
    free(*text);
    *text = copy;
    return 0;
}

/* The text behind a map's name: nothing before a histogram; the number of a sum(); "count 1, average 5, total 5" of a
 * stats(). */
static int read_map_value(struct reader *reader, const char *value) {
    uint64_t total;
    skip_blanks(&value);
    if (*value == '\0') {
        reader->place = IN_MAP;
        return 0;
    }
    const char *stats_total = strstr(value, ", total ");
    if (stats_total)
        value = stats_total + strlen(", total ");
    if (!scan_number(&value, &total) || *value != '\0')
        return 0;
    return imported_add_total(reader->imported, reader->map_name, reader->key, total, reader->line_number,
                              reader->error);
}

/* "@name:", "@name[key]:" */
static int read_map_heading(struct reader *reader, const char *line) {
    size_t name_length = 1;
    leave(reader);
    while (isalnum((unsigned char)line[name_length]) || line[name_length] == '_')
        name_length++;
    const char *rest = line + name_length;
    int error = set_text(&reader->map_name, line, name_length);
    if (!error && rest[0] == '[') {
        const char *end = strstr(rest, "]:");
        if (!end)
            return 0;                                                  /* a stack, in a map of stacks */
        for (const char *next = end; (next = strstr(next + 1, "]:"));) /* a key may hold brackets too */
            end = next;
        error = set_text(&reader->key, rest + 1, (size_t)(end - rest - 1));
        rest = end + 1;
    }
    return error || rest[0] != ':' ? error : read_map_value(reader, rest + 1);
}

/* "     usecs               : count     distribution" */
static bool is_table_heading(const char *line) {
    const char *colon = strchr(line, ':');
    const char *cursor = colon ? colon + 1 : line;
    return colon && scan_text(&cursor, "count") && scan_text(&cursor, "distribution") && *cursor == '\0';
}

static int read_table_heading(struct reader *reader, const char *line) {
    size_t length = strcspn(line, " \t:");
    struct imported_map *map = imported_get_map(reader->imported, "");
    reader->histogram = NULL;
    reader->place = IN_TABLE;
    if (!map)
        return -ENOMEM;
    if (!map->unit)
        return set_text(&map->unit, line, length);
    if (strlen(map->unit) == length && strncmp(map->unit, line, length) == 0)
        return 0;
    return imported_fail(reader->error, reader->line_number, "a table in %.*s after one in %.40s",
                         (int)(length < 40 ? length : 40), line, map->unit);
}

/* "operation = 'read'": the operation of the next table. */
static int read_section(struct reader *reader, const char *equals) {
    const char *value = equals + strlen(" = ");
    leave(reader);
    skip_blanks(&value);
    return set_text(&reader->key, value, strlen(value));
}

/* ---- Lines -------------------------------------------------------------------------------------- */

static bool is_map_row(const char *line) {
    return line[0] == '[' || line[0] == '(';
}

static bool is_table_row(const char *line) {
    return isdigit((unsigned char)line[0]) && strstr(line, "->");
}

static int read_line(struct reader *reader, const char *line) {
    if (reader->place == IN_MAP && is_map_row(line))
        return read_map_row(reader, line);
    if (reader->place == IN_TABLE && isdigit((unsigned char)line[0]))
        return read_table_row(reader, line);
    if (line[0] == '@')
        return read_map_heading(reader, line);
    if (is_table_heading(line))
        return read_table_heading(reader, line);
    const char *equals = strstr(line, " = ");
    if (equals && !strchr(line, '|'))
        return read_section(reader, equals);
    if ((is_map_row(line) || is_table_row(line)) && strchr(line, '|'))
        return imported_fail(reader->error, reader->line_number, "a row without a heading before it");
    if (line[0] == '\0' && reader->place == OUTSIDE)
        return 0; /* a blank line may separate a section's line from its table */
    leave(reader);
    return 0;
}

/* Cuts off the blanks around a line. */
static char *trim(char *line) {
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r", line[length - 1]))
        line[--length] = '\0';
    return line + strspn(line, " \t");
}

static int read_lines(struct reader *reader, const char *text, size_t size_bytes) {
    CLEANUP_FREE char *line = NULL;
    int error = 0;
    for (size_t at = 0; at < size_bytes && !error;) {
        const char *newline = memchr(text + at, '\n', size_bytes - at);
        size_t length = newline ? (size_t)(newline - text) - at : size_bytes - at;
        reader->line_number++;
        if (memchr(text + at, '\0', length))
            return imported_fail(reader->error, reader->line_number, "expected text, found a NUL byte");
        error = set_text(&line, text + at, length);
        if (!error)
            error = read_line(reader, trim(line));
        at += length + 1;
    }
    return error;
}

int imported_text_parse(const char *text, size_t size_bytes, struct imported *imported,
                        struct aggstats_parse_error *ret_error) {
    struct reader reader = {.imported = imported, .error = ret_error};
    int error = read_lines(&reader, text, size_bytes);
    free(reader.map_name);
    free(reader.key);
    return error;
}
