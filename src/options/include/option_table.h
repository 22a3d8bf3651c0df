/* Options as a table, a row each: the values of an option, where they are stored, its --help, its completion, and which
 * options it excludes. The user of a table parses the command line: getopt_long(3) for osprof
 * (cli/common/command.c), libfuse's parser for osproffs (fuse/options/options.c). */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "option_list.h"

#define OPTION_ROWS_MAX 64   /* of a table: a bit each */
#define OPTION_TEXT_SIZE 512 /* for one line about an option */

/* The values of an option, and the type of the member that stores them. */
enum option_kind {
    OPTION_END,         /* no option: the table ends here */
    OPTION_HEADING,     /* no option, but a line of --help above the next ones */
    OPTION_FLAG,        /* no value */
    OPTION_UNFLAG,      /* no value; clears a flag */
    OPTION_CONSTANT,    /* no value; stores the row's constant */
    OPTION_VARIANT,     /* no value; stores its name, and options with one member exclude each other */
    OPTION_UNSIGNED,    /* a whole number within bounds; or one of words, stored as the word's index */
    OPTION_NUMBER,      /* a decimal number within bounds */
    OPTION_BYTES,       /* a size, at least min: 4096, 64M */
    OPTION_WORD,        /* one of words, in letters of either case */
    OPTION_CHOICE,      /* one of words, case matters; stored as the word's index: an enum */
    OPTION_EITHER,      /* one of two words, case matters; stores whether it is the second */
    OPTION_TEXT,        /* anything; words: suggestions */
    OPTION_FILE,        /* a path; min: its minimal length */
    OPTION_COMMAND,     /* a command; as arguments, it ends the options, so that its own are left alone */
    OPTION_TEXTS,       /* anything; may be repeated, like the next two */
    OPTION_DIRECTORIES, /* directories */
    OPTION_OPS,         /* operations, with or without OP_ */
    OPTION_TIME,        /* a time, read by the row's parse_time(); stored as nanoseconds */
    OPTION_PARSED,      /* read by the row's parse() */
    OPTION_REFUSED,     /* no value is valid; rule: why */
};

typedef bool OPTION_FLAG_MEMBER;
typedef bool OPTION_UNFLAG_MEMBER;
typedef unsigned OPTION_CONSTANT_MEMBER;
typedef const char *OPTION_VARIANT_MEMBER;
typedef unsigned OPTION_UNSIGNED_MEMBER;
typedef double OPTION_NUMBER_MEMBER;
typedef uint64_t OPTION_BYTES_MEMBER;
typedef uint64_t OPTION_TIME_MEMBER;
typedef const char *OPTION_WORD_MEMBER;
typedef unsigned OPTION_CHOICE_MEMBER;
typedef bool OPTION_EITHER_MEMBER;
typedef const char *OPTION_TEXT_MEMBER;
typedef const char *OPTION_FILE_MEMBER;
typedef const char *OPTION_COMMAND_MEMBER;
typedef struct option_list OPTION_TEXTS_MEMBER;
typedef struct option_list OPTION_DIRECTORIES_MEMBER;
typedef struct option_list OPTION_OPS_MEMBER;

/* An option. Without name and letter it is a heading or, for any kind, the arguments behind the options. */
struct option_row {
    const char *name;
    char letter;      /* 0: it has none */
    bool once;        /* osprof: may not be repeated; else the last one counts */
    bool is_hidden;   /* not completed by shells */
    bool for_libfuse; /* osproffs: passed on to libfuse too */
    enum option_kind kind;
    unsigned constant;
    size_t offset;            /* of the member, in the table's struct */
    const char *metavar;      /* the name of its value in --help */
    const char *unit;         /* of a number; NULL: a plain number */
    double min;               /* of a number */
    double max;               /* 0: the largest that fits the member */
    unsigned step;            /* 2: even numbers only */
    const char *const *words; /* NULL at the end */
    const char *rule;         /* the rule quoted in an error; NULL: the bounds or the words */
    const char *help;         /* {} is replaced by the bounds or the words; NULL: not in --help */
    const char
        *completed_as;    /* for shells: "mount", mounts of osproffs and files; "profile", also results that are kept;
                               * "options", options of osproffs; "user", a user's name; "process", numbers with commas between; "cgroup",
                               * a name; "list", words with "+" between. NULL: by the kind */
    const char *excludes; /* an option that it excludes; NULL: none */
    const char *why_excluded; /* the reason, in words */

    /* For OPTION_TIME. Returns NULL, or what is wrong with text */
    const char *(*parse_time)(const char *text, uint64_t *ret_ns);

    /* For OPTION_PARSED: stores the value of *text; may change it. member: at the row's offset; without one it is the
     * table's struct. Returns NULL, or what is wrong with *text, which may then be a part of it. why: room for the answer */
    const char *(*parse)(char **text, void *member, char why[OPTION_TEXT_SIZE]);

    /* Checks it against all other options. Returns as parse() */
    const char *(*check)(const void *options, char why[OPTION_TEXT_SIZE]);
};

/* The kind of a row, and its member, whose type must be the kind's. */
#define INTO(option_kind, type, member)                                                                                \
    .kind = OPTION_##option_kind, .offset = _Generic(((type *)0)->member, OPTION_##option_kind##_MEMBER                \
                                                     : offsetof(type, member))

#define WORDS(...)                                                                                                     \
    .words = (const char *const[]) {                                                                                   \
        __VA_ARGS__, NULL                                                                                              \
    }

/* The same for a list with a comma after each word, as in aggstats/words.h. */
#define WORDS_OF(...)                                                                                                  \
    .words = (const char *const[]) {                                                                                   \
        __VA_ARGS__ NULL                                                                                               \
    }

#define ROW_ARGUMENTS(option_kind, text)                                                                               \
    { .kind = OPTION_##option_kind, .metavar = text }

bool option_takes_argument(const struct option_row *row);

/* ---- Values ------------------------------------------------------------------------------------- */

/* Stores the value of an option in the table's struct.
 * text:    may be changed, and is kept; NULL if it takes none
 * Returns NULL, or what is wrong with *text, which may then be a part of it. why: room for the answer */
const char *option_take(const struct option_row *row, char **text, void *options, char why[OPTION_TEXT_SIZE]);

/* The first of these options that was given; NULL: none. given: rows, as bits. names: separated by blanks */
const char *option_given(const struct option_row *rows, uint64_t given, const char *names);

/* ---- In words ----------------------------------------------------------------------------------- */

/* How options are written. */
struct option_style {
    const char *dashes; /* before a name without dashes of its own: "--", "-o " */
    const char *equals; /* between the name and its value: " ", "=" */
    int margin;         /* blanks before an option */
    int indent;         /* the column at which help begins */
    int columns_max;    /* of the page */
};

/* "-o, --output FILE". Returns its length */
int option_format(const struct option_row *row, const struct option_style *style, char ret_text[OPTION_TEXT_SIZE]);

/* Adds a word to a list: "a, b or c". last: "or", "and" before the last; NULL: it is not the last */
void option_add_word(char text[OPTION_TEXT_SIZE], const char *before, const char *word, const char *last);
void option_add_words(char text[OPTION_TEXT_SIZE], const char *const *words, const char *last);

/* Prints an option's lines of --help, on standard output. */
void option_print_help(const struct option_row *row, const struct option_style *style);

/* Prints lines of whole words, from column `indent` on, where the cursor is. Keeps new lines of the text. */
void option_print_wrapped(const char *text, int indent, int columns_max);

/* Prints for completions/ what is possible on the command line, on standard output: a line for each form of the option,
 * or for the arguments, as "*"; its kind of value; and words. dashes: before its name; equals: behind one that takes a
 * value */
void option_print_completion(const struct option_row *row, const char *dashes, const char *equals);

#endif
