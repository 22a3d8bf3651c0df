/* osprof: looks at the profiles that osproffs and libaggstats take. This file only finds the subcommand. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "option_table.h"

static const struct command *const commands[] = {
    &command_run,   &command_show,   &command_why,   &command_top,      &command_serve,     &command_compare,
    &command_plot,  &command_check,  &command_merge, &command_outliers, &command_import,    &command_recover,
    &command_reset, &command_rotate, &command_dump,  &command_unmount,  &command_calibrate,
};

static const struct command *command_find(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static enum status unknown_command(const char *name) {
    complain("'%s' is not a command; 'osprof help' lists them", name);
    return STATUS_TROUBLE;
}

static void print_overview(FILE *stream) {
    fputs("Usage: osprof COMMAND [ARGUMENTS]\n\n"
          "Looks at latency profiles taken by osproffs.\n\n",
          stream);
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        fprintf(stream, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("  help       explains a command: osprof help COMMAND\n\n"
          "  --help     shows this\n"
          "  --version  shows the version\n\n"
          "Exit status: 0 fine; 1 what was asked about is not so; 2 trouble.\n",
          stream);
}

static enum status help(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return STATUS_OK;
    }
    const struct command *command = command_find(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    options_print_help(command);
    return STATUS_OK;
}

/* For completions/: the commands, or what may follow one of them. */
static enum status complete(const char *name) {
    const struct command *command = name ? command_find(name) : NULL;
    if (command)
        options_print_completion(command);
    for (size_t i = 0; !name && i < ARRAY_SIZE(commands); i++)
        puts(commands[i]->name);
    return name && !command ? unknown_command(name) : STATUS_OK;
}

static enum status dispatch(int argc, char **argv) {
    if (argc < 1) {
        print_overview(stderr);
        return STATUS_TROUBLE;
    }
    const char *name = argv[0];
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc, argv);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("osprof " OSPROF_VERSION);
        return STATUS_OK;
    }
    if (strcmp(name, "--complete") == 0)
        return complete(argc > 1 ? argv[1] : NULL);
    const struct command *command = command_find(name);
    return command ? command->run(command, argc, argv) : unknown_command(name);
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    enum status status = dispatch(argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("cannot write standard output: %s", strerror(errno));
        return STATUS_TROUBLE;
    }
    return (int)status;
}
