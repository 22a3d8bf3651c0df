/* Tables of options: parsing, help and completion. */
#include "option_table.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define ROWS_MAX 32
#define VALUE_OF_ROWS 256 /* what getopt_long answers for the first row's long name: beyond all letters */
#define PAGE_COLUMNS 80
#define NAMES_SIZE 512

static const struct option_row help_row = {
    .name = "help", .letter = 'h', .kind = OPTION_FLAG, .help = "print this help"};

static bool takes_argument(const struct option_row *row) {
    return row->kind != OPTION_FLAG && row->kind != OPTION_VARIANT;
}

static size_t count_rows(const struct option_row *rows) {
    size_t count = 0;
    while (rows[count].kind != OPTION_END)
        count++;
    assert(count < ROWS_MAX);
    return count;
}

/* The row that tells what follows the options; NULL: none does. */
static const struct option_row *arguments_row(const struct option_row *rows) {
    for (; rows->kind != OPTION_END; rows++)
        if (!rows->name && rows->kind != OPTION_HEADING)
            return rows;
    return NULL;
}

/* ---- In words ----------------------------------------------------------------------------------- */

/* "a, b or c" */
static void add_to_words(char words[NAMES_SIZE], const char *before, const char *word, bool is_last) {
    size_t length = strlen(words);
    snprintf(words + length, NAMES_SIZE - length, "%s%s%s", length == 0 ? "" : is_last ? " or " : ", ", before, word);
}

/* "from 40 to 1000", "process or uid", "from 1 to 1000 or auto" */
static void describe_values(const struct option_row *row, char ret_text[NAMES_SIZE]) {
    ret_text[0] = '\0';
    bool is_number = row->kind == OPTION_UNSIGNED || row->kind == OPTION_NUMBER;
    if (is_number && row->max > 0)
        snprintf(ret_text, NAMES_SIZE, "from %.16g to %.16g", row->min, row->max);
    else if (is_number)
        snprintf(ret_text, NAMES_SIZE, "from %.16g on", row->min);
    for (size_t i = 0; row->words && row->words[i]; i++)
        add_to_words(ret_text, "", row->words[i], !row->words[i + 1]);
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* Finds one of a row's words. */
static bool find_word(const char *text, const struct option_row *row, unsigned *ret_place) {
    for (unsigned i = 0; row->words && row->words[i]; i++) {
        if (strcasecmp(text, row->words[i]) == 0) {
            *ret_place = i;
            return true;
        }
    }
    return false;
}

static bool parse_unsigned(const char *text, const struct option_row *row, unsigned *ret_number) {
    char *end;
    if (find_word(text, row, ret_number))
        return true;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || (double)number < row->min ||
        (double)number > (row->max > 0 ? row->max : UINT_MAX))
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

static bool parse_word(const char *text, const struct option_row *row, const char **ret_word) {
    unsigned place;
    if (!find_word(text, row, &place))
        return false;
    *ret_word = row->words[place];
    return true;
}

static enum status refuse_value(const struct command *command, const struct option_row *row, const char *text) {
    char values[NAMES_SIZE];
    describe_values(row, values);
    if (row->kind == OPTION_WORD)
        return usage_error(command, "--%s must be %s, not '%s'", row->name, values, text);
    return usage_error(command, "--%s must be a number%s%s %s, not '%s'", row->name, row->unit ? " of " : "",
                       row->unit ? row->unit : "", values, text);
}

/* Keeps what an option was given. text: NULL if it takes nothing */
static enum status take(const struct command *command, const struct option_row *row, const char *text, void *options) {
    void *member = (char *)options + row->offset;
    const char **string = member;
    bool is_valid = true;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        break;
    case OPTION_VARIANT:
        if (*string && strcmp(*string, row->name) != 0)
            return usage_error(command, "--%s and --%s exclude each other: give one", *string, row->name);
        *string = row->name;
        break;
    case OPTION_UNSIGNED:
        is_valid = parse_unsigned(text, row, member);
        break;
    case OPTION_NUMBER:
        is_valid = parse_number(text, row, member);
        break;
    case OPTION_WORD:
        is_valid = parse_word(text, row, string);
        break;
    case OPTION_OPS:
        text += strncasecmp(text, "OP_", 3) == 0 ? 3 : 0;
        __attribute__((fallthrough));
    case OPTION_TEXTS:
    case OPTION_DIRECTORIES:
        return option_list_add(member, text) == 0 ? STATUS_OK : usage_error(command, "no memory");
    default:
        *string = text;
    }
    return is_valid ? STATUS_OK : refuse_value(command, row, text);
}

/* What getopt_long is told, for a table. */
struct parser {
    const struct option_row *rows;
    size_t row_count;
    struct option long_options[ROWS_MAX + 1];
    char letters[2 * ROWS_MAX + 3];
};

static void add_option(struct parser *parser, const struct option_row *row, size_t *count, size_t *letters_length) {
    int value = VALUE_OF_ROWS + (row == &help_row ? ROWS_MAX : (int)(row - parser->rows));
    parser->long_options[(*count)++] =
        (struct option){row->name, takes_argument(row) ? required_argument : no_argument, NULL, value};
    if (!row->letter)
        return;
    parser->letters[(*letters_length)++] = row->letter;
    if (takes_argument(row))
        parser->letters[(*letters_length)++] = ':';
}

static void parser_init(struct parser *parser, const struct option_row *rows) {
    const struct option_row *arguments = arguments_row(rows);
    *parser = (struct parser){.rows = rows, .row_count = count_rows(rows)};
    size_t count = 0;
    size_t letters_length = 0;
    if (arguments && arguments->kind == OPTION_COMMAND)
        parser->letters[letters_length++] = '+';
    parser->letters[letters_length++] = ':'; /* a missing argument is told apart, and nothing is printed */
    for (size_t i = 0; i < parser->row_count; i++)
        if (rows[i].name)
            add_option(parser, &rows[i], &count, &letters_length);
    add_option(parser, &help_row, &count, &letters_length);
}

/* value: what getopt_long has answered */
static const struct option_row *find_row(const struct parser *parser, int value) {
    if (value >= VALUE_OF_ROWS)
        return value == VALUE_OF_ROWS + ROWS_MAX ? &help_row : &parser->rows[value - VALUE_OF_ROWS];
    for (size_t i = 0; i < parser->row_count; i++)
        if (parser->rows[i].letter == value)
            return &parser->rows[i];
    return &help_row;
}

/* A long option that is the beginning of no option's name, or of several. */
static enum status refuse_name(const struct command *command, const struct parser *parser, const char *word) {
    char names[NAMES_SIZE] = "";
    const char *pending = NULL; /* the last one stands behind "or" */
    size_t length = strcspn(word + 2, "=");
    for (const struct option *option = parser->long_options; option->name; option++) {
        if (strncmp(option->name, word + 2, length) != 0)
            continue;
        if (pending)
            add_to_words(names, "--", pending, false);
        pending = option->name;
    }
    if (!pending)
        return usage_error(command, "unknown option '%s'", word);
    add_to_words(names, "--", pending, true);
    return usage_error(command, "option '%s' is ambiguous: %s", word, names);
}

/* What getopt_long's '?' or ':' means. */
static enum status refuse_option(const struct command *command, const struct parser *parser, int answer, char **argv) {
    const char *word = argv[optind - 1]; /* all of a long option; a short one may stand in the next word */
    if (answer == ':')
        return usage_error(command, "option '%s' needs an argument", word);
    if (optopt == 0)
        return refuse_name(command, parser, word);
    if (optopt >= VALUE_OF_ROWS)
        return usage_error(command, "option '%s' takes no argument", word);
    return usage_error(command, "unknown option '-%c'", optopt);
}

static enum status take_row(const struct command *command, const struct option_row *row, void *options,
                            struct arguments *arguments) {
    uint64_t bit = UINT64_C(1) << (row - arguments->rows);
    if (row->once && (arguments->given & bit))
        return usage_error(command, "--%s can be given once", row->name);
    arguments->given |= bit;
    return take(command, row, optarg, options);
}

bool options_parse(const struct command *command, int argc, char **argv, void *options, struct arguments *ret_arguments,
                   enum status *ret_status) {
    struct parser parser;
    struct arguments arguments = {.rows = command->options};
    enum status status = STATUS_OK;
    int answer;
    parser_init(&parser, command->options);
    optind = 0; /* glibc's way to begin anew */
    while (status == STATUS_OK && (answer = getopt_long(argc, argv, parser.letters, parser.long_options, NULL)) != -1) {
        const struct option_row *row = answer == '?' || answer == ':' ? NULL : find_row(&parser, answer);
        if (row == &help_row) {
            options_print_help(command);
            *ret_status = STATUS_OK;
            return false;
        }
        status = row ? take_row(command, row, options, &arguments) : refuse_option(command, &parser, answer, argv);
    }
    arguments.rest = argv + optind;
    arguments.rest_count = argc - optind;
    *ret_arguments = arguments;
    *ret_status = status;
    return status == STATUS_OK;
}

const char *options_given(const struct arguments *arguments, const char *names) {
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        const struct option_row *row = arguments->rows;
        length = strcspn(names, " ");
        while (row->kind != OPTION_END && !(row->name && strncmp(row->name, names, length) == 0 && !row->name[length]))
            row++;
        assert(row->kind != OPTION_END);
        if (arguments->given & (UINT64_C(1) << (row - arguments->rows)))
            return row->name;
    }
    return NULL;
}

/* ---- Help --------------------------------------------------------------------------------------- */

/* "-o, --output FILE". Returns its length */
static int format_option(const struct option_row *row, char ret_text[NAMES_SIZE]) {
    char letter[] = {'-', row->letter, ',', ' ', '\0'};
    return snprintf(ret_text, NAMES_SIZE, "%s--%s%s%s", row->letter ? letter : "", row->name, row->metavar ? " " : "",
                    row->metavar ? row->metavar : "");
}

/* Lines of whole words, from column `indent` on, where the cursor is. */
static void print_wrapped(const char *text, int indent) {
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > indent && (text[-1] == '\n' || column + 1 + length > PAGE_COLUMNS)) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] != '\0');
    }
    putchar('\n');
}

static void print_option(const struct option_row *row, int indent) {
    char option[NAMES_SIZE];
    char values[NAMES_SIZE];
    char help[2 * NAMES_SIZE];
    const char *gap = strstr(row->help, "{}");
    describe_values(row, values);
    if (gap)
        snprintf(help, sizeof(help), "%.*s%s%s", (int)(gap - row->help), row->help, values, gap + 2);
    format_option(row, option);
    printf("  %-*s", indent - 2, option);
    print_wrapped(gap ? help : row->help, indent);
}

/* --help stands above the first heading, which is not about it. */
static void print_rows(const struct option_row *row, int indent) {
    bool is_help_told = false;
    for (; row->kind != OPTION_END; row++) {
        if (row->kind == OPTION_HEADING && !is_help_told) {
            print_option(&help_row, indent);
            is_help_told = true;
        }
        if (row->name)
            print_option(row, indent);
        else if (row->kind == OPTION_HEADING)
            printf("\n%s\n\n", row->help);
    }
    if (!is_help_told)
        print_option(&help_row, indent);
}

void options_print_help(const struct command *command) {
    char option[NAMES_SIZE];
    const struct option_row *arguments = arguments_row(command->options);
    int indent = format_option(&help_row, option);
    printf("Usage: osprof %s [OPTION]...%s%s\n\n", command->name, arguments ? " " : "",
           arguments ? arguments->metavar : "");
    print_wrapped(command->help, 0);
    putchar('\n');
    for (const struct option_row *row = command->options; row->kind != OPTION_END; row++)
        if (row->name && format_option(row, option) > indent)
            indent = format_option(row, option);
    indent += 4;
    print_rows(command->options, indent);
    if (command->notes) {
        putchar('\n');
        print_wrapped(command->notes, 0);
    }
    printf("\nThe manual page osprof-%.*s(1) says more.\n", (int)strcspn(command->name, " "), command->name);
}

/* ---- Completion --------------------------------------------------------------------------------- */

static const char *completion_kind(const struct option_row *row) {
    if (row->completed_as)
        return row->completed_as;
    switch (row->kind) {
    case OPTION_FLAG:
    case OPTION_VARIANT:
        return "flag";
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

static void print_completion(const struct option_row *row, const char *dashes, const char *name) {
    printf("%s%s %s", dashes, name, completion_kind(row));
    for (size_t i = 0; row->words && row->words[i]; i++)
        printf(" %s", row->words[i]);
    putchar('\n');
}

static void print_completions(const struct option_row *row) {
    const char letter[] = {row->letter, '\0'};
    if (row->letter)
        print_completion(row, "-", letter);
    print_completion(row, "--", row->name);
}

void options_print_completion(const struct command *command) {
    const struct option_row *arguments = arguments_row(command->options);
    for (const struct option_row *row = command->options; row->kind != OPTION_END; row++)
        if (row->name)
            print_completions(row);
    print_completions(&help_row);
    if (arguments)
        print_completion(arguments, "", "*");
}
