/* Options as a table, a row each: what an option takes, where that is kept, what --help says of it, what a shell
 * completes, and what it goes together with. Taking a command line apart is left to who has the table: getopt_long(3)
 * for osprof (cli/common/command_options.c), libfuse's parser for osproffs (fuse/options/options.c). */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "option_list.h"

#define OPTION_ROWS_MAX 64   /* of a table: a bit each */
#define OPTION_TEXT_SIZE 512 /* for what is said of an option in one line */

/* What an option takes, and in which type of member it is kept. */
enum option_kind {
    OPTION_END,         /* no option: the table ends here */
    OPTION_HEADING,     /* no option, but a line of --help above those that follow */
    OPTION_FLAG,        /* nothing */
    OPTION_UNFLAG,      /* nothing; takes a flag back */
    OPTION_CONSTANT,    /* nothing; the row's constant is kept */
    OPTION_VARIANT,     /* nothing; its name is kept, and options with one member exclude each other */
    OPTION_UNSIGNED,    /* a whole number within bounds; or one of words, kept as the word's place, from 0 */
    OPTION_NUMBER,      /* a decimal number within bounds */
    OPTION_BYTES,       /* a size, at least min: 4096, 64M */
    OPTION_WORD,        /* one of words, in letters of either case */
    OPTION_CHOICE,      /* one of words, as they are written; kept as the word's place, from 0: an enum */
    OPTION_EITHER,      /* one of two words, as they are written; whether it is the second is kept */
    OPTION_TEXT,        /* anything; words: what it often is */
    OPTION_FILE,        /* a path; min: how long it must be */
    OPTION_COMMAND,     /* a command; as arguments, it ends the options, so that its own are left alone */
    OPTION_TEXTS,       /* anything; may be repeated, and so may the next two */
    OPTION_DIRECTORIES, /* directories */
    OPTION_OPS,         /* operations, with or without OP_ */
    OPTION_TIME,        /* a time, which the row's parse_time() reads; kept as nanoseconds */
    OPTION_PARSED,      /* what the row's parse() reads */
    OPTION_REFUSED,     /* nothing that it takes is right; rule: why */
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

/* An option; with neither name nor letter a heading, or, of any kind, the arguments that follow the options. */
struct option_row {
    const char *name;
    char letter;      /* 0: it has none */
    bool once;        /* osprof: may not be given again; else the last one counts */
    bool is_hidden;   /* shells do not offer it */
    bool for_libfuse; /* osproffs: libfuse is told too */
    enum option_kind kind;
    unsigned constant;
    size_t offset;            /* of the member of the struct that the table is about */
    const char *metavar;      /* what it takes, as --help calls that */
    const char *unit;         /* of a number; NULL: it counts */
    double min;               /* of a number */
    double max;               /* 0: as large as the member can be */
    unsigned step;            /* 2: even numbers only */
    const char *const *words; /* NULL at the end */
    const char *rule;         /* what a refusal says that it must be; NULL: the bounds or the words */
    const char *help;         /* {} stands for the bounds or the words; NULL: --help does not have it */
    const char *completed_as; /* what shells offer: "mount", mounts of osproffs and files; "options", its options;
                               * "list", words with "+" between. NULL: what the kind says */
    const char *excludes;     /* the option that it does not go with; NULL: none */
    const char *why_excluded; /* the reason, in words */

    /* Of OPTION_TIME. Returns NULL, or what is wrong with text */
    const char *(*parse_time)(const char *text, uint64_t *ret_ns);

    /* Of OPTION_PARSED: keeps what *text says; may change it. Returns NULL, or what is wrong with *text, which then may
     * be a part of it. why: room for the answer */
    const char *(*parse)(char **text, void *options, char why[OPTION_TEXT_SIZE]);

    /* Whether it goes together with all that was given. NULL: it does. Returns as parse() */
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

#define ROW_ARGUMENTS(option_kind, text)                                                                               \
    { .kind = OPTION_##option_kind, .metavar = text }

bool option_takes_argument(const struct option_row *row);

/* ---- Values ------------------------------------------------------------------------------------- */

/* Keeps what an option was given, in the struct that the table is about.
 * text:    may be changed, and is kept; NULL if it takes nothing
 * Returns NULL, or what is wrong with *text, which then may be a part of it. why: room for the answer */
const char *option_take(const struct option_row *row, char **text, void *options, char why[OPTION_TEXT_SIZE]);

/* Which of these options was given, the first if several; NULL: none. given: rows, as bits. names: blanks between */
const char *option_given(const struct option_row *rows, uint64_t given, const char *names);

/* ---- In words ----------------------------------------------------------------------------------- */

/* How options are written. */
struct option_style {
    const char *dashes; /* before a name that has none of its own: "--", "-o " */
    const char *equals; /* between the name and what it takes: " ", "=" */
    int margin;         /* blanks before an option */
    int indent;         /* the column at which help begins */
    int columns_max;    /* of the page */
};

/* "-o, --output FILE". Returns its length */
int option_format(const struct option_row *row, const struct option_style *style, char ret_text[OPTION_TEXT_SIZE]);

/* Adds a word to a list: "a, b or c" */
void option_add_word(char words[OPTION_TEXT_SIZE], const char *before, const char *word, bool is_last);

/* Prints an option's lines of --help, on standard output. */
void option_print_help(const struct option_row *row, const struct option_style *style);

/* Prints lines of whole words, from column `indent` on, where the cursor is. A new line in the text is one here. */
void option_print_wrapped(const char *text, int indent, int columns_max);

/* Prints for completions/ what may stand on the command line, on standard output: a line for each way to write the
 * option, or for the arguments, as "*"; what it takes; and words. dashes: before its name; equals: behind that of one
 * that takes something */
void option_print_completion(const struct option_row *row, const char *dashes, const char *equals);

#endif
