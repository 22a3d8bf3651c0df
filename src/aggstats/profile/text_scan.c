/* Lines, words, numbers and errors, for the parser of profiles. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "text_parser.h"

#define LINE_BYTES_FIRST 256

/* ---- Errors ---- */

int parser_fail(struct parser *parser, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    parser->error->line = parser->line_number;
    vsnprintf(parser->error->message, sizeof(parser->error->message), format, arguments);
    va_end(arguments);
    make_line(parser->error->message); /* parts of the text end up in it */
    return -EBADMSG;
}

int parser_fail_expected(struct parser *parser, const char *expected, const char *found) {
    return found[0] ? parser_fail(parser, "expected %s, found \"%.40s\"", expected, found)
                    : parser_fail(parser, "expected %s, found the end of the line", expected);
}

/* ---- Lines and words ---- */

/* Room for a character and the end of the line. */
static int reserve_line(struct parser *parser, size_t length) {
    if (length + 1 < parser->line_capacity)
        return 0;
    size_t capacity = parser->line_capacity ? 2 * parser->line_capacity : LINE_BYTES_FIRST;
    char *grown = realloc(parser->line, capacity);
    if (!grown)
        return -ENOMEM;
    parser->line = grown;
    parser->line_capacity = capacity;
    return 0;
}

/* As getline(3), but a line that never ends is refused before it has taken all memory. Returns 1, 0 or an error, like
 * parser_next_line(). */
static int read_line(struct parser *parser, size_t *ret_length) {
    size_t length = 0;
    int c;
    errno = 0;
    while ((c = getc_unlocked(parser->stream)) != EOF && c != '\n') {
        if (length == LINE_BYTES_MAX)
            return parser_fail(parser, "expected lines of at most %u MiB", LINE_BYTES_MAX >> 20);
        if (parser->text_bytes + length >= TEXT_BYTES_MAX)
            return parser_fail(parser, "expected a text of at most %u MiB", TEXT_BYTES_MAX >> 20);
        if (c == '\0')
            return parser_fail(parser, "expected text, found a NUL byte");
        if (reserve_line(parser, length) < 0)
            return -ENOMEM;
        parser->line[length++] = (char)c;
    }
    if (ferror(parser->stream))
        return negative_errno();
    if (c == EOF && length == 0)
        return 0;
    parser->text_bytes += length + 1;
    *ret_length = length;
    return reserve_line(parser, length) < 0 ? -ENOMEM : 1;
}

int parser_next_line(struct parser *parser) {
    size_t length = 0;
    if (parser->line_again) {
        parser->line_again = false;
        return 1;
    }
    parser->line_number++;
    int more = read_line(parser, &length);
    if (more <= 0) {
        parser->line_number -= more == 0;
        return more;
    }
    parser->line[length] = '\0';
    if (length > 0 && parser->line[length - 1] == '\r')
        parser->line[--length] = '\0';
    return 1;
}

void text_skip_blanks(char **cursor) {
    while (text_is_blank(**cursor))
        (*cursor)++;
}

char *text_next_word(char **cursor) {
    text_skip_blanks(cursor);
    char *word = *cursor;
    while (**cursor && !text_is_blank(**cursor))
        (*cursor)++;
    if (**cursor)
        *(*cursor)++ = '\0';
    return word;
}

int parser_number(struct parser *parser, const char *word, const char *expected, uint64_t *ret_number) {
    uint64_t number = 0;
    if (!word[0])
        return parser_fail_expected(parser, expected, word);
    for (const char *digit = word; *digit; digit++) {
        if (!text_is_digit(*digit))
            return parser_fail_expected(parser, expected, word);
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
            return parser_fail(parser, "expected %s below 2^64, found \"%.40s\"", expected, word);
    }
    *ret_number = number;
    return 0;
}

int parser_end_of_line(struct parser *parser, char **cursor) {
    text_skip_blanks(cursor);
    return **cursor ? parser_fail_expected(parser, "the end of the line", *cursor) : 0;
}

int parser_only_number(struct parser *parser, char *text, const char *expected, uint64_t *ret_number) {
    int err = parser_number(parser, text_next_word(&text), expected, ret_number);
    return err < 0 ? err : parser_end_of_line(parser, &text);
}

int parser_keyword(struct parser *parser, char **cursor, const char *keyword) {
    const char *word = text_next_word(cursor);
    return strcmp(word, keyword) == 0 ? 0 : parser_fail_expected(parser, keyword, word);
}

int parser_keyed_number(struct parser *parser, char **cursor, const char *keyword, uint64_t *ret_number) {
    int err = parser_keyword(parser, cursor, keyword);
    return err < 0 ? err : parser_number(parser, text_next_word(cursor), "a number", ret_number);
}

/* ---- Names and texts ---- */

void *parser_grow(void *array, size_t count, size_t size_bytes) {
    const bool full = (count & (count - 1)) == 0; /* capacities are powers of two */
    return full ? reallocarray(array, count ? 2 * count : 1, size_bytes) : array;
}

int parser_name(struct parser *parser, const char *word, char ret_name[AGGSTATS_NAME_SIZE]) {
    if (!text_name_valid(word))
        return parser_fail(parser, "expected an operation's name (letters, digits, _-., at most %d), found \"%.40s\"",
                           AGGSTATS_NAME_SIZE - 1, word);
    text_name_copy(ret_name, word);
    return 0;
}

void text_unescape(char *value) {
    char *to = value;
    for (const char *from = value; *from; to++) {
        unsigned code = 0;
        int digits = 0;
        while (*from == '\\' && digits < 3 && from[1 + digits] >= '0' && from[1 + digits] <= '7')
            code = code * 8 + (unsigned)(from[1 + digits++] - '0');
        bool escaped = digits == 3 && code > 0 && code < 256;
        *to = escaped ? (char)code : *from;
        from += escaped ? 4 : 1;
    }
    *to = '\0';
}

int parser_path(struct parser *parser, char **cursor, char **ret_path) {
    text_skip_blanks(cursor);
    if (!**cursor)
        return 0;
    int err = parser_keyword(parser, cursor, "path");
    if (err < 0)
        return err;
    *ret_path = strdup(*cursor);
    if (!*ret_path)
        return -ENOMEM;
    text_unescape(*ret_path);
    return 0;
}
