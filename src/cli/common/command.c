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

#define ROWS_MAX 48
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

/* The options in common, in a struct of their own. */
struct common_values {
    struct screen_choice screen;
    bool has_force;
    bool is_quiet;
    bool has_help;
};

static struct common_values common_values;

const struct screen_choice *screen_choice(void) {
    return &common_values.screen;
}

bool output_is_forced(void) {
    return common_values.has_force;
}

static const struct option_row force_rows[] = {
    {.name = "force",
     .help = "replace a file that is no result of osprof, too",
     INTO(FLAG, struct common_values, has_force)},
    {.kind = OPTION_END},
};

static const struct option_row quiet_rows[] = {
    {.name = "quiet",
     .letter = 'q',
     .help = "print nothing: the exit status tells",
     INTO(FLAG, struct common_values, is_quiet)},
    {.kind = OPTION_END},
};

static const struct option_row screen_rows[] = {
    {.name = "width",
     .metavar = "N",
     .min = SCREEN_WIDTH_MIN,
     .max = SCREEN_WIDTH_MAX,
     .help = "columns to use, {}; default: those of the terminal, else 80",
     INTO(UNSIGNED, struct common_values, screen.width)},
    {.name = "ascii", .help = "only ASCII characters", INTO(FLAG, struct common_values, screen.ascii)},
    {.name = "color",
     .metavar = "WHEN",
     WORDS("auto", "always", "never"),
     .help = "use colours: {}; default: auto, on a terminal, unless NO_COLOR is set",
     INTO(CHOICE, struct common_values, screen.color)},
    {.kind = OPTION_END},
};

static const struct option_row help_rows[] = {
    {.name = "help", .letter = 'h', .help = "print this help", INTO(FLAG, struct common_values, has_help)},
    {.kind = OPTION_END},
};

/* All options of a command: first its own, up to own_count, then those in common. */
struct all_rows {
    struct option_row rows[ROWS_MAX];
    size_t own_count;
};

static void add_rows(struct all_rows *all, const struct option_row *rows, size_t *count) {
    for (; rows->kind != OPTION_END; rows++) {
        assert(*count + 1 < ROWS_MAX);
        all->rows[(*count)++] = *rows;
    }
    all->rows[*count] = *rows;
}

static void find_all_rows(const struct command *command, struct all_rows *ret_all) {
    size_t count = 0;
    add_rows(ret_all, command->options, &count);
    ret_all->own_count = count;
    if (command->common & COMMON_FORCE)
        add_rows(ret_all, force_rows, &count);
    if (command->common & COMMON_QUIET)
        add_rows(ret_all, quiet_rows, &count);
    if (command->common & COMMON_SCREEN)
        add_rows(ret_all, screen_rows, &count);
    add_rows(ret_all, help_rows, &count);
}

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
    struct option long_options[ROWS_MAX];
    char letters[2 * ROWS_MAX + 3];
};

static void parser_init(struct parser *parser, const struct option_row *rows) {
    const struct option_row *arguments = arguments_row(rows);
    *parser = (struct parser){.rows = rows};
    size_t count = 0;
    size_t letters_length = 0;
    if (arguments && arguments->kind == OPTION_COMMAND)
        parser->letters[letters_length++] = '+';
    parser->letters[letters_length++] = ':'; /* reports a missing argument differently, and prints nothing */
    for (; rows[parser->row_count].kind != OPTION_END; parser->row_count++) {
        const struct option_row *row = &rows[parser->row_count];
        const bool has_value = option_takes_argument(row);
        if (!row->name)
            continue;
        parser->long_options[count++] = (struct option){row->name, has_value ? required_argument : no_argument, NULL,
                                                        VALUE_OF_ROWS + (int)parser->row_count};
        if (row->letter)
            parser->letters[letters_length++] = row->letter;
        if (row->letter && has_value)
            parser->letters[letters_length++] = ':';
    }
}

/* value: the result of getopt_long */
static const struct option_row *find_row(const struct parser *parser, int value) {
    size_t i = 0;
    if (value >= VALUE_OF_ROWS)
        return &parser->rows[value - VALUE_OF_ROWS];
    while (i + 1 < parser->row_count && parser->rows[i].letter != value)
        i++;
    return &parser->rows[i];
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
    static struct all_rows all; /* of the process's one command line; *ret_arguments points into it */
    struct parser parser;
    enum status status = STATUS_OK;
    int answer;
    find_all_rows(command, &all);
    struct arguments arguments = {.rows = all.rows};
    common_values = (struct common_values){.has_force = false};
    parser_init(&parser, all.rows);
    optind = 0; /* resets getopt_long in glibc */
    while (status == STATUS_OK && (answer = getopt_long(argc, argv, parser.letters, parser.long_options, NULL)) != -1) {
        const bool is_wrong = answer == '?' || answer == ':';
        const int value = is_wrong ? optopt : answer;
        const struct option_row *row = is_wrong ? NULL : find_row(&parser, answer);
        const size_t place = row ? (size_t)(row - all.rows) : 0;
        const uint64_t bit = row ? UINT64_C(1) << place : 0;
        /* What has just been found; the value of an option may be in the word behind it. */
        const char *word = argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
        if (value >= VALUE_OF_ROWS && strcspn(word + 2, "=") != strlen(find_row(&parser, value)->name)) {
            status = refuse_name(command, &parser, word); /* getopt_long takes abbreviations of long names */
        } else if (!row) {
            status = refuse_option(command, &parser, answer, word);
        } else if (row->once && (arguments.given & bit)) {
            status = usage_error(command, "--%s can be given once", row->name);
        } else {
            status = take(command, row, optarg, place < all.own_count ? options : &common_values);
        }
        arguments.given |= bit;
        if (status == STATUS_OK && common_values.has_help) {
            options_print_help(command);
            *ret_status = STATUS_OK;
            return false;
        }
    }
    arguments.rest = argv + optind;
    arguments.rest_count = argc - optind;
    *ret_arguments = arguments;
    if (status == STATUS_OK && common_values.is_quiet && !freopen("/dev/null", "w", stdout))
        status = usage_error(command, "cannot open /dev/null: %s", strerror(errno));
    *ret_status = status;
    return status == STATUS_OK;
}

const char *options_given(const struct arguments *arguments, const char *names) {
    return option_given(arguments->rows, arguments->given, names);
}

/* ---- Help and completion ------------------------------------------------------------------------ */

const char *options_parse_for(const char *text, uint64_t *ret_ns) {
    return time_parse(text, FOR_MIN_NS, FOR_MAX_NS, ret_ns) ? NULL
                                                            : "must be a time from 100ms to 24h, such as 10s or 5m";
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

static void print_heading(const char *text) {
    putchar('\n');
    option_print_wrapped(text, 0, PAGE_COLUMNS);
    putchar('\n');
}

/* Help begins behind the longest option. What commands have in common is printed above the first heading, to which it
 * does not belong. */
void options_print_help(const struct command *command) {
    const struct option_row *arguments = arguments_row(command->options);
    struct all_rows all;
    char option[OPTION_TEXT_SIZE];
    struct option_style style = {.dashes = "--", .equals = " ", .margin = PAGE_MARGIN, .columns_max = PAGE_COLUMNS};
    int width = 0;
    bool is_common_told = false;
    find_all_rows(command, &all);
    printf("Usage: osprof %s [OPTION]...%s%s\n\n", command->name, arguments ? " " : "",
           arguments ? arguments->metavar : "");
    option_print_wrapped(command->help, 0, PAGE_COLUMNS);
    putchar('\n');
    for (const struct option_row *row = all.rows; row->kind != OPTION_END; row++)
        if (row->name && option_format(row, &style, option) > width)
            width = option_format(row, &style, option);
    style.indent = PAGE_MARGIN + width + 2;
    for (size_t i = 0; i <= all.own_count; i++) {
        const struct option_row *row = &all.rows[i];
        const bool is_end = i == all.own_count;
        for (const struct option_row *common = &all.rows[all.own_count];
             (is_end || row->kind == OPTION_HEADING) && !is_common_told && common->kind != OPTION_END; common++)
            option_print_help(common, &style);
        is_common_told |= is_end || row->kind == OPTION_HEADING;
        if (!is_end && row->name)
            option_print_help(row, &style);
        else if (!is_end && row->kind == OPTION_HEADING)
            print_heading(row->help);
    }
    if (command->notes) {
        putchar('\n');
        option_print_wrapped(command->notes, 0, PAGE_COLUMNS);
    }
    printf("\nThe manual page osprof-%.*s(1) says more.\n", (int)strcspn(command->name, " "), command->name);
}

void options_print_completion(const struct command *command) {
    struct all_rows all;
    find_all_rows(command, &all);
    for (const struct option_row *row = all.rows; row->kind != OPTION_END; row++)
        if (row->name)
            option_print_completion(row, "--", "");
    const struct option_row *arguments = arguments_row(command->options);
    if (arguments)
        option_print_completion(arguments, "", "");
}
