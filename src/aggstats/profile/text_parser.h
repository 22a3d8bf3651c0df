/* Private: reading profiles as text. text_scan.c has lines, words and numbers, text_parse.c the whole; of the header
 * text_facts.c, text_outcome.c and text_calls.c have what takes more than a number.
 *
 * Every function that finds an error ends with `return parser_fail(...)`, which fills the caller's error and returns
 * -EBADMSG. */
#ifndef TEXT_PARSER_H
#define TEXT_PARSER_H

#include "text_format.h"

#define INTERVALS_MAX 1048576
#define OPS_MAX 4096 /* limits what a small hostile text can make us allocate */

/* A file that is no profile must not take all memory. The longest line has INTERVALS_MAX borders of up to 20 digits,
 * which is 21 MiB. An interval in which nothing happened takes 3 bytes for each op. */
#define LINE_BYTES_MAX (32U << 20)
#define TEXT_BYTES_MAX (1U << 30)

struct outcome;

struct parser {
    FILE *stream;
    char *line; /* the current line without its end */
    size_t line_capacity;
    size_t line_number;
    size_t first_line; /* number of the profile's first line */
    bool is_alone;     /* the text may hold no other profile */
    bool has_next;     /* the current line begins the next profile */
    size_t text_bytes; /* bytes of all lines so far */
    bool line_again;   /* the current line must be read once more */
    struct aggstats_profile profile;
    uint64_t facts_seen; /* bit i: facts[i] */
    bool has_borders;
    uint32_t rows_most;       /* of any op so far */
    uint64_t *grouped_calls;  /* [AGGSTATS_GROUPINGS][ops]: calls in all groups of that grouping so far */
    size_t group_op_count;    /* ops in all groups so far */
    struct outcome *outcomes; /* what the header says of the calls of ops, which follow */
    size_t outcome_count;
    char **stacks; /* stacks so far */
    size_t stack_count;
    size_t chain_count; /* calls with links so far */
    struct aggstats_parse_error *error;
};

/* Return -EBADMSG. found: the text at the error; only its beginning is shown */
int parser_fail(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
int parser_fail_expected(struct parser *parser, const char *expected, const char *found);

/* 1: parser->line is the next line; 0: end of the text; else an error. */
int parser_next_line(struct parser *parser);

static inline bool text_is_blank(char c) {
    return c == ' ' || c == '\t';
}

static inline bool text_is_digit(char c) {
    return c >= '0' && c <= '9';
}

void text_skip_blanks(char **cursor);

/* Skips blanks and cuts off the next word; "" at the end of the line. */
char *text_next_word(char **cursor);

/* expected: what the number is, for the message. ret_number may have been set on errors */
int parser_number(struct parser *parser, const char *word, const char *expected, uint64_t *ret_number);
int parser_end_of_line(struct parser *parser, char **cursor);

/* A line with one number. */
int parser_only_number(struct parser *parser, char *text, const char *expected, uint64_t *ret_number);

/* The given word must follow. */
int parser_keyword(struct parser *parser, char **cursor, const char *keyword);

/* The given word and a number must follow. */
int parser_keyed_number(struct parser *parser, char **cursor, const char *keyword, uint64_t *ret_number);

/* The name of an operation. */
int parser_name(struct parser *parser, const char *word, char ret_name[AGGSTATS_NAME_SIZE]);

/* Turns \ooo back into its character, in place. A backslash before anything else, or \000, stands for itself. */
void text_unescape(char *value);

/* Makes room for one more element; moves the array. NULL: no memory. */
void *parser_grow(void *array, size_t count, size_t size_bytes);

/* "path /srv/a file", to the end of the line; or nothing. Owner: the caller frees *ret_path */
int parser_path(struct parser *parser, char **cursor, char **ret_path);

/* Values of facts (text_facts.c). */
int parser_clock(struct parser *parser, char *value);
int parser_resolution(struct parser *parser, char *value);
int parser_start(struct parser *parser, char *value);
int parser_lists(struct parser *parser, char *value);
int parser_interval(struct parser *parser, char *value);
int parser_borders(struct parser *parser, char *value);

/* The values of "busy_ops", "failed", "bytes", "longest" and "left" (text_outcome.c). They become part of the profile once it has
 * all of its ops. */
int parser_failed(struct parser *parser, char *value);
int parser_bytes(struct parser *parser, char *value);
int parser_longest(struct parser *parser, char *value);
int parser_busy_ops(struct parser *parser, char *value);
int parser_left(struct parser *parser, char *value);
int parser_settle_outcomes(struct parser *parser);
void parser_free_outcomes(struct parser *parser);

/* Lines about calls (text_calls.c). */
int parser_slow(struct parser *parser, char *value);
int parser_cause(struct parser *parser, char *value);
int parser_cause_buckets(struct parser *parser, char *value);
bool parser_has_cause_buckets(const struct parser *parser);
int parser_stack(struct parser *parser, char *value);
int parser_call(struct parser *parser, char *value);
int parser_slow_caller(struct parser *parser, char *value);
void parser_free_stacks(struct parser *parser);

/* The value of "unseen_program" (profile_unseen.c). */
int parser_unseen(struct parser *parser, char *value);

#endif
