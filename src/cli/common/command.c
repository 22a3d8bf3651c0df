/* Messages and help that all subcommands share. */
#include "command.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base.h"

void command_print_help(const struct command *command) {
    printf("Usage: osprof %s %s\n\n%s", command->name, command->arguments, command->help);
}

/* Messages quote names and texts that others have made: what a terminal obeys becomes '?'. */
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

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("osprof: ", stderr);
    print_harmless(format, arguments);
    putc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
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

/* True if getopt_long knows an option by this value: then what it complains about is the option's argument. */
static bool is_known(int value, const struct option *long_options) {
    for (const struct option *option = long_options; option->name; option++) {
        if (option->val == value)
            return true;
    }
    return false;
}

enum status option_error(const struct command *command, int answer, char **argv, const struct option *long_options) {
    const char *word = argv[optind - 1]; /* all of a long option; a short one may stand in the next word */
    if (answer == ':')
        return usage_error(command, "option '%s' needs an argument", word);
    if (optopt == 0)
        return usage_error(command, "unknown or ambiguous option '%s'", word);
    if (is_known(optopt, long_options))
        return usage_error(command, "option '%s' takes no argument", word);
    return usage_error(command, "unknown option '-%c'", optopt);
}
