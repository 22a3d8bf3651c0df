/* Messages of all subcommands, and their options: getopt_long(3) parses the command line by the command's table. */
#include "command.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "aggstats.h"
#include "base.h"
#include "option_table.h"

#define FOR_MIN_NS UINT64_C(100000000)
#define FOR_MAX_NS UINT64_C(86400000000000)

#define ROWS_MAX 32
#define VALUE_OF_ROWS 256 /* getopt_long's result for the first row's long name: beyond all letters */
#define PAGE_COLUMNS 80
#define PAGE_MARGIN 2
#define LETTERS_OF_ONE_EDIT 4 /* in longer words two are allowed */

/* ---- Messages ----------------------------------------------------------------------------------- */

/* Messages quote names and texts of others: characters that a terminal obeys become '?'. */
__attribute__((format(printf, 1, 0))) static void print_harmless(const char *format, va_list arguments) {
    CLEANUP_FREE char *message = NULL;
    const char *character;
    size_t length;
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    const char *rest = message ? message : "no memory for a message";
    while ((length = next_character(&rest, &character)) > 0) {
        if (is_obeyed_by_terminals(character, length))
            putc('?', stderr);
        else
            fwrite(character, 1, length, stderr);
    }
}

static bool complaints_are_muted;

void complain_mute(bool is_muted) {
    complaints_are_muted = is_muted;
}

void complain(const char *format, ...) {
    va_list arguments;
    if (complaints_are_muted)
        return;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("osprof: ", stderr);
    print_harmless(format, arguments);
    putc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

bool require_part(enum part part, const char *what) {
    const char *missing = part_missing(part);
    if (missing)
        complain("cannot %s: %s", what, missing);
    return !missing;
}

enum status usage_error(const struct command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "osprof %s: ", command->name);
    print_harmless(format, arguments);
    fprintf(stderr, "; see 'osprof help %s'\n", command->name);
    va_end(arguments);
    return STATUS_TROUBLE;
}

/* ---- Names that are near ------------------------------------------------------------------------ */

struct nearest nearest_to(const char *word) {
    return (struct nearest){.word = word, .distance = strlen(word) > LETTERS_OF_ONE_EDIT ? 3 : 2};
}

static size_t least_of(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* By the edit distance.
 * Source:  Damerau 1964: letters that have changed places are one edit, too */
void nearest_consider(struct nearest *nearest, const char *name) {
    size_t rows[NEAREST_NAME_SIZE]
               [NEAREST_NAME_SIZE]; /* [i][j]: between the first i letters of the word and j of the name */
    const char *word = nearest->word;
    const size_t word_length = strlen(word);
    const size_t name_length = strlen(name);
    if (word_length >= NEAREST_NAME_SIZE || name_length >= NEAREST_NAME_SIZE)
        return;
    for (size_t i = 0; i <= word_length; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= name_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= word_length; i++)
        for (size_t j = 1; j <= name_length; j++) {
            const size_t replaced = rows[i - 1][j - 1] + (word[i - 1] != name[j - 1]);
            rows[i][j] = least_of(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced);
            if (i > 1 && j > 1 && word[i - 1] == name[j - 2] && word[i - 2] == name[j - 1])
                rows[i][j] = least_of(rows[i][j], rows[i - 2][j - 2] + 1, replaced);
        }
    const size_t distance = rows[word_length][name_length];
    if (distance >= nearest->distance || distance >= name_length)
        return;
    nearest->distance = distance;
    nearest->name = name;
}

/* ---- Options ------------------------------------------------------------------------------------ */

static const struct option_row help_row = {
    .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"};

/* The row of the arguments behind the options; NULL: there are none. */
static const struct option_row *arguments_row(const struct option_row *rows) {
    for (; rows->kind != OPTION_END; rows++)
        if (!rows->name && rows->kind != OPTION_HEADING)
            return rows;
    return NULL;
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* Stores the value of an option. text: NULL if it takes none */
static enum status take(const struct command *command, const struct option_row *row, char *text, void *options) {
    char why[OPTION_TEXT_SIZE];
    const char *const *variant = row->kind == OPTION_VARIANT ? (const void *)((char *)options + row->offset) : NULL;
    if (variant && *variant && strcmp(*variant, row->name) != 0)
        return usage_error(command, "--%s and --%s exclude each other: give one", *variant, row->name);
    const char *wrong = option_take(row, &text, options, why);
    if (wrong && (row->kind == OPTION_TIME || row->kind == OPTION_PARSED))
        return usage_error(command, "--%s %s: %s", row->name, text, wrong);
    return wrong ? usage_error(command, "--%s %s, not '%s'", row->name, wrong, text) : STATUS_OK;
}

/* A table in the form of getopt_long. */
struct parser {
    const struct option_row *rows;
    size_t row_count;
    struct option long_options[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
};

static void add_option(struct parser *parser, const struct option_row *row, size_t *count, size_t *letters_length) {
    int value = VALUE_OF_ROWS + (row == &help_row ? ROWS_MAX : (int)(row - parser->rows));
    parser->long_options[(*count)++] =
        (struct option){row->name, option_takes_argument(row) ? required_argument : no_argument, NULL, value};
    if (!row->letter)
        return;
    parser->letters[(*letters_length)++] = row->letter;
    if (option_takes_argument(row))
        parser->letters[(*letters_length)++] = ':';
}

static void parser_init(struct parser *parser, const struct option_row *rows) {
    const struct option_row *arguments = arguments_row(rows);
    *parser = (struct parser){.rows = rows};
    size_t count = 0;
    size_t letters_length = 0;
    if (arguments && arguments->kind == OPTION_COMMAND)
        parser->letters[letters_length++] = '+';
    parser->letters[letters_length++] = ':'; /* reports a missing argument differently, and prints nothing */
    for (; rows[parser->row_count].kind != OPTION_END; parser->row_count++) {
        assert(parser->row_count + 1 < ROWS_MAX);
        if (rows[parser->row_count].name)
            add_option(parser, &rows[parser->row_count], &count, &letters_length);
    }
    add_option(parser, &help_row, &count, &letters_length);
}

/* value: the result of getopt_long */
static const struct option_row *find_row(const struct parser *parser, int value) {
    if (value >= VALUE_OF_ROWS)
        return value == VALUE_OF_ROWS + ROWS_MAX ? &help_row : &parser->rows[value - VALUE_OF_ROWS];
    for (size_t i = 0; i < parser->row_count; i++)
        if (parser->rows[i].letter == value)
            return &parser->rows[i];
    return &help_row;
}

/* The options that begin with a word, or else the nearest. Names are not abbreviated: what abbreviates an option of one
 * command may be an option of another. */
static enum status refuse_name(const struct command *command, const struct parser *parser, const char *word) {
    char name[NEAREST_NAME_SIZE] = "";
    char names[OPTION_TEXT_SIZE] = "";
    const char *pending = NULL; /* the last one is printed behind "or" */
    const size_t length = strcspn(word + 2, "=");
    if (length < sizeof(name))
        memcpy(name, word + 2, length);
    struct nearest nearest = nearest_to(name);
    for (const struct option *option = parser->long_options; option->name; option++) {
        nearest_consider(&nearest, option->name);
        if (length == 0 || strncmp(option->name, word + 2, length) != 0)
            continue;
        if (pending)
            option_add_word(names, "--", pending, NULL);
        pending = option->name;
    }
    if (!pending && !nearest.name)
        return usage_error(command, "unknown option '%s'", word);
    option_add_word(names, "--", pending ? pending : nearest.name, "or");
    return usage_error(command, "unknown option '%s' (did you mean %s?)", word, names);
}

/* Explains getopt_long's '?' or ':'. */
static enum status refuse_option(const struct command *command, const struct parser *parser, int answer,
                                 const char *word) {
    if (answer == ':')
        return usage_error(command, "option '%s' needs an argument", word);
    if (optopt == 0)
        return refuse_name(command, parser, word);
    if (optopt >= VALUE_OF_ROWS)
        return usage_error(command, "option '%s' takes no argument", word);
    return usage_error(command, "unknown option '-%c'", optopt);
}

bool options_parse(const struct command *command, int argc, char **argv, void *options, struct arguments *ret_arguments,
                   enum status *ret_status) {
    struct parser parser;
    struct arguments arguments = {.rows = command->options};
    enum status status = STATUS_OK;
    int answer;
    parser_init(&parser, command->options);
    optind = 0; /* resets getopt_long in glibc */
    while (status == STATUS_OK && (answer = getopt_long(argc, argv, parser.letters, parser.long_options, NULL)) != -1) {
        const bool is_wrong = answer == '?' || answer == ':';
        const int value = is_wrong ? optopt : answer;
        const struct option_row *row = is_wrong ? NULL : find_row(&parser, answer);
        /* What has just been found; the value of an option may be in the word behind it. */
        const char *word = argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
        const uint64_t bit = row && row != &help_row ? UINT64_C(1) << (row - arguments.rows) : 0;
        if (value >= VALUE_OF_ROWS && strcspn(word + 2, "=") != strlen(find_row(&parser, value)->name)) {
            status = refuse_name(command, &parser, word); /* getopt_long takes abbreviations of long names */
        } else if (row == &help_row) {
            options_print_help(command);
            *ret_status = STATUS_OK;
            return false;
        } else if (!row) {
            status = refuse_option(command, &parser, answer, word);
        } else if (row->once && (arguments.given & bit)) {
            status = usage_error(command, "--%s can be given once", row->name);
        } else {
            status = take(command, row, optarg, options);
        }
        arguments.given |= bit;
    }
    arguments.rest = argv + optind;
    arguments.rest_count = argc - optind;
    *ret_arguments = arguments;
    *ret_status = status;
    return status == STATUS_OK;
}

const char *options_given(const struct arguments *arguments, const char *names) {
    return option_given(arguments->rows, arguments->given, names);
}

/* ---- Help and completion ------------------------------------------------------------------------ */

const char *options_parse_for(const char *text, uint64_t *ret_ns) {
    return time_parse(text, FOR_MIN_NS, FOR_MAX_NS, ret_ns) ? NULL : "must be a time from 100ms to 86400s, such as 10s";
}

const char *options_parse_groupings(const char *text, const char *const *words, unsigned *ret_groupings,
                                    char why[OPTION_TEXT_SIZE]) {
    CLEANUP_FREE char *copy = strdup(text);
    char *rest = copy;
    unsigned groupings = 0;
    for (const char *word; (word = strsep(&rest, "+"));) {
        const char *const *known = words;
        while (*known && strcmp(*known, word) != 0)
            known++;
        if (*known) {
            groupings |= 1U << aggstats_grouping_of_name(word);
            continue;
        }
        why[0] = '\0';
        option_add_word(why, "must be of ", words[0], NULL);
        option_add_words(why, words + 1, "and");
        option_add_word(why, "", "with + between", NULL);
        return why;
    }
    *ret_groupings = groupings;
    return NULL;
}

/* Help begins behind the longest option. --help is printed above the first heading, to which it does not belong. */
void options_print_help(const struct command *command) {
    const struct option_row *arguments = arguments_row(command->options);
    char option[OPTION_TEXT_SIZE];
    struct option_style style = {.dashes = "--", .equals = " ", .margin = PAGE_MARGIN, .columns_max = PAGE_COLUMNS};
    int width = option_format(&help_row, &style, option);
    bool is_help_told = false;
    printf("Usage: osprof %s [OPTION]...%s%s\n\n", command->name, arguments ? " " : "",
           arguments ? arguments->metavar : "");
    option_print_wrapped(command->help, 0, PAGE_COLUMNS);
    putchar('\n');
    for (const struct option_row *row = command->options; row->kind != OPTION_END; row++)
        if (row->name && option_format(row, &style, option) > width)
            width = option_format(row, &style, option);
    style.indent = PAGE_MARGIN + width + 2;
    for (const struct option_row *row = command->options;; row++) {
        if ((row->kind == OPTION_HEADING || row->kind == OPTION_END) && !is_help_told) {
            option_print_help(&help_row, &style);
            is_help_told = true;
        }
        if (row->kind == OPTION_END)
            break;
        if (row->name)
            option_print_help(row, &style);
        else if (row->kind == OPTION_HEADING)
            printf("\n%s\n\n", row->help);
    }
    if (command->notes) {
        putchar('\n');
        option_print_wrapped(command->notes, 0, PAGE_COLUMNS);
    }
    printf("\nThe manual page osprof-%.*s(1) says more.\n", (int)strcspn(command->name, " "), command->name);
}

void options_print_completion(const struct command *command) {
    const struct option_row *arguments = arguments_row(command->options);
    for (const struct option_row *row = command->options; row->kind != OPTION_END; row++)
        if (row->name)
            option_print_completion(row, "--", "");
    option_print_completion(&help_row, "--", "");
    if (arguments)
        option_print_completion(arguments, "", "");
}
