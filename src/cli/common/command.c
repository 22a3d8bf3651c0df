/* Messages of all subcommands. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base.h"

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
