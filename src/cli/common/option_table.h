/* The options of a subcommand as one table: how they are parsed, what --help says of them and what a shell completes
 * come from it. Every command has -h, --help besides, which is in no table. */
#ifndef OPTION_TABLE_H
#define OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "option_list.h"

/* What an option takes, and in which type of member it is kept. */
enum option_kind {
    OPTION_END,         /* no option: the table ends here */
    OPTION_HEADING,     /* no option, but a line of --help above those that follow */
    OPTION_FLAG,        /* nothing */
    OPTION_VARIANT,     /* nothing; its name is kept, and options with one member exclude each other */
    OPTION_UNSIGNED,    /* a whole number within bounds; or one of words, kept as the word's place, from 0 */
    OPTION_NUMBER,      /* a decimal number within bounds */
    OPTION_WORD,        /* one of words, in letters of either case */
    OPTION_TEXT,        /* anything; words: what it often is */
    OPTION_FILE,        /* a path */
    OPTION_COMMAND,     /* a command; as arguments, it ends the options, so that its own are left alone */
    OPTION_TEXTS,       /* anything; may be repeated, and so may the next two */
    OPTION_DIRECTORIES, /* directories */
    OPTION_OPS,         /* operations, with or without OP_ */
};

typedef bool OPTION_FLAG_MEMBER;
typedef const char *OPTION_VARIANT_MEMBER;
typedef unsigned OPTION_UNSIGNED_MEMBER;
typedef double OPTION_NUMBER_MEMBER;
typedef const char *OPTION_WORD_MEMBER;
typedef const char *OPTION_TEXT_MEMBER;
typedef const char *OPTION_FILE_MEMBER;
typedef const char *OPTION_COMMAND_MEMBER;
typedef struct option_list OPTION_TEXTS_MEMBER;
typedef struct option_list OPTION_DIRECTORIES_MEMBER;
typedef struct option_list OPTION_OPS_MEMBER;

/* An option; without a name a heading, or, of any kind, the arguments that follow the options. */
struct option_row {
    const char *name;
    char letter; /* 0: it has none */
    bool once;   /* may not be given again; else the last one counts */
    enum option_kind kind;
    size_t offset;            /* of the member of the command's struct */
    const char *metavar;      /* what it takes, as --help calls that */
    const char *unit;         /* of a number; NULL: it counts */
    double min;               /* of a number */
    double max;               /* 0: as large as the member can be */
    const char *const *words; /* NULL at the end */
    const char *help;         /* {} stands for the bounds or the words */
    const char *completed_as; /* what shells offer: "mount", mounts of osproffs and files; "options", its options. NULL:
                               * what the kind says */
};

/* The kind of a row, and its member, whose type must be the kind's. */
#define INTO(option_kind, type, member)                                                                                \
    .kind = OPTION_##option_kind, .offset = _Generic(((type *)0)->member, OPTION_##option_kind##_MEMBER                \
                                                     : offsetof(type, member))

#define WORDS(...)                                                                                                     \
    .words = (const char *const[]) {                                                                                   \
        __VA_ARGS__, NULL                                                                                              \
    }

/* Rows that several commands have. */
#define ROW_OP(type, member)                                                                                           \
    { .name = "op", .metavar = "NAME", .help = "only this operation; may be repeated", INTO(OPS, type, member) }
#define ROW_ASCII(type, member)                                                                                        \
    { .name = "ascii", .help = "only ASCII characters", INTO(FLAG, type, member) }
#define ROW_WIDTH(type, member)                                                                                        \
    {                                                                                                                  \
        .name = "width", .metavar = "N", .min = SCREEN_WIDTH_MIN, .max = SCREEN_WIDTH_MAX,                             \
        .help = "columns to use, {}; default: those of the terminal, else 80", INTO(UNSIGNED, type, member)            \
    }
#define ROW_NO_LABELS(type, member)                                                                                    \
    {                                                                                                                  \
        .name = "no-labels", .help = "do not say what peaks may be by the times of 'osprof calibrate'",                \
        INTO(FLAG, type, member)                                                                                       \
    }
#define ROW_BY(text, type, member)                                                                                     \
    {                                                                                                                  \
        .name = "by", .metavar = "KIND", WORDS("process", "program", "cgroup", "uid", "file", "directory"),            \
        .help = text, INTO(WORD, type, member)                                                                         \
    }
#define ROW_LAYER(type, member)                                                                                        \
    {                                                                                                                  \
        .name = "layer", .metavar = "NAME", WORDS("user", "fuse", "daemon", "fs", "block"),                            \
        .help = "this layer of a recording; default: " LAYER_DEFAULT_TEXT, INTO(TEXT, type, member)                    \
    }
#define LAYER_DEFAULT_TEXT "fs if it is there, else the outermost"
#define ROW_LAYER_OF_ALL(type, member)                                                                                 \
    {                                                                                                                  \
        .name = "layer", .metavar = "NAME", WORDS("user", "fuse", "daemon", "fs", "block"),                            \
        .help = "only this layer of recordings; default: all", INTO(TEXT, type, member)                                \
    }
#define ROW_OUTPUT(text, type, member)                                                                                 \
    { .name = "output", .letter = 'o', .metavar = "FILE", .help = text, INTO(FILE, type, member) }
#define ROW_MOUNT_ARGUMENTS(option_kind, text)                                                                         \
    { .kind = OPTION_##option_kind, .metavar = text, .completed_as = "mount" }
#define ROW_ARGUMENTS(option_kind, text)                                                                               \
    { .kind = OPTION_##option_kind, .metavar = text }

/* What stood on a command line. */
struct arguments {
    const struct option_row *rows;
    uint64_t given; /* a bit for each row */
    char **rest;    /* what follows the options; NULL behind the last */
    int rest_count;
};

/* Fills *options, the struct that the command's rows are about, which holds the defaults.
 * Returns false if nothing is left to do: help was printed, or wrong arguments complained about, as *ret_status says */
bool options_parse(const struct command *command, int argc, char **argv, void *options, struct arguments *ret_arguments,
                   enum status *ret_status);

/* Which of these options was given, the first if several; NULL: none. names: blanks between */
const char *options_given(const struct arguments *arguments, const char *names);

/* Prints usage and help of a command on standard output. */
void options_print_help(const struct command *command);

/* Prints for completions/ what may stand on the command line, on standard output: a line for each way to write an
 * option, and for the arguments, as "*"; what it takes; and words. */
void options_print_completion(const struct command *command);

#endif
