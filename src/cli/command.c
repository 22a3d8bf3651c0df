/* Messages and help that all subcommands share. */
#include "command.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

void command_print_help(const struct command *command) {
    printf("Usage: osprof %s %s\n\n%s", command->name, command->arguments, command->help);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("osprof: ", stderr);
    vfprintf(stderr, format, arguments);
    putc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

enum status usage_error(const struct command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "osprof %s: ", command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; see 'osprof help %s'\n", command->name);
    va_end(arguments);
    return STATUS_TROUBLE;
}

enum status option_error(const struct command *command, int answer, char **argv) {
    /* A long option, or a short one that was the last of its word, lies just behind optind. */
    const char *word = argv[optind - 1];
    if (answer == ':')
        return usage_error(command, "option '%s' needs an argument", word);
    if (optopt != 0 && word[0] == '-' && word[1] == '-')
        return usage_error(command, "option '%s' takes no argument", word);
    if (optopt != 0)
        return usage_error(command, "unknown option '-%c'", optopt);
    return usage_error(command, "unknown or ambiguous option '%s'", word);
}
