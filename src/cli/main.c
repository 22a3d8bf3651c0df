/* osprof: analyses the profiles of osproffs and libaggstats. This file only finds the subcommand. */
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "option_table.h"
#include "output.h"

/* What one may want, and its commands. */
struct command_group {
    const char *name;
    const struct command *const *commands; /* NULL at the end */
};

/* clang-format off */
static const struct command *const measuring[] = {&command_run, &command_attach, &command_fuse, &command_doctor, NULL};
static const struct command *const reading[] = {
    &command_show, &command_why, &command_top, &command_compare, &command_report, &command_plot, &command_events,
    &command_save, NULL,
};
static const struct command *const mounts[] = {&command_ctl, &command_unmount, NULL};
static const struct command *const fleet[] = {&command_serve, &command_outliers, NULL};
/* clang-format on */

static const struct command_group groups[] = {
    {"Measure", measuring}, {"Read", reading}, {"Mounts of osproffs", mounts}, {"Fleet", fleet}};

/* The last word of a name. */
static const char *own_name(const struct command *command) {
    const char *blank = strchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

static const struct command *command_find(const struct command *const *list, const char *name) {
    while (*list && strcmp(own_name(*list), name) != 0)
        list++;
    return *list;
}

/* Of osprof itself. */
static const struct command *command_of(const char *name) {
    const struct command *command = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(groups) && !command; i++)
        command = command_find(groups[i].commands, name);
    return command;
}

static void consider(struct nearest *nearest, const struct command *const *list) {
    for (; *list; list++)
        nearest_consider(nearest, own_name(*list));
}

/* group: the command that lacks this subcommand; NULL: osprof itself */
static enum status unknown_command(const struct command *group, const char *name) {
    struct nearest nearest = nearest_to(name);
    if (group)
        consider(&nearest, group->subcommands);
    for (size_t i = 0; !group && i < ARRAY_SIZE(groups); i++)
        consider(&nearest, groups[i].commands);
    if (!group)
        nearest_consider(&nearest, "help");
    complain("'%s' is not a command%s%s%s%s%s; 'osprof help%s%s' lists them", name, group ? " of osprof " : "",
             group ? group->name : "", nearest.name ? " (did you mean '" : "", nearest.name ? nearest.name : "",
             nearest.name ? "'?)" : "", group ? " " : "", group ? group->name : "");
    return STATUS_TROUBLE;
}

static void print_summaries(FILE *stream, const struct command *const *list) {
    for (; *list; list++)
        fprintf(stream, "  %-10s %s\n", own_name(*list), (*list)->summary);
}

static void print_overview(FILE *stream) {
    fputs("Usage: osprof COMMAND [ARGUMENTS]\n\n"
          "Measures what programs and file systems wait for: osprof run -- COMMAND.\n",
          stream);
    for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
        fprintf(stream, "\n%s:\n", groups[i].name);
        print_summaries(stream, groups[i].commands);
    }
    fputs("\n"
          "  help       explains a command: osprof help COMMAND\n"
          "  --version  shows the version\n\n"
          "A PROFILE is a file, a mount, or a result that osprof run or attach has kept: @1\n"
          "is the last, @2 the one before; 'osprof show --list' lists them.\n"
          "Exit status: 0; 1 the answer is no, such as a profile that differs; 2 trouble.\n",
          stream);
}

static void print_group(FILE *stream, const struct command *group) {
    fprintf(stream, "Usage: osprof %s COMMAND [ARGUMENTS]\n\n%s\n\n", group->name, group->help);
    print_summaries(stream, group->subcommands);
    fprintf(
        stream,
        "\n  --help     shows this\n\n'osprof help %s COMMAND' explains one. The manual page osprof-%s(1) says more.\n",
        group->name, group->name);
}

/* The command, or subcommand, that the words of a command line name. An unknown name is reported. */
static const struct command *find_named(char **words) {
    const struct command *command = command_of(words[0]);
    if (!command)
        unknown_command(NULL, words[0]);
    if (!command || !command->subcommands || !words[1])
        return command;
    const struct command *subcommand = command_find(command->subcommands, words[1]);
    if (!subcommand)
        unknown_command(command, words[1]);
    return subcommand;
}

static enum status help(char **argv) {
    if (!argv[1] || strcmp(argv[1], "help") == 0) {
        print_overview(stdout);
        return STATUS_OK;
    }
    const struct command *command = find_named(argv + 1);
    if (!command)
        return STATUS_TROUBLE;
    if (command->subcommands)
        print_group(stdout, command);
    else
        options_print_help(command);
    return STATUS_OK;
}

static void print_names(const struct command *const *list, const char *before, const char *after) {
    for (; *list; list++)
        printf("%s%s%s", before, own_name(*list), after);
}

/* For completions/: lists the commands, or what may follow one of them. */
static enum status complete(char **argv) {
    if (!argv[1]) {
        for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
            print_names(groups[i].commands, "", "\n");
        return STATUS_OK;
    }
    const struct command *command = find_named(argv + 1);
    if (!command)
        return STATUS_TROUBLE;
    if (command->subcommands) {
        fputs("-h flag\n--help flag\n* word", stdout);
        print_names(command->subcommands, " ", "");
        putchar('\n');
    } else
        options_print_completion(command);
    return STATUS_OK;
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static enum status run(const struct command *command, int argc, char **argv) {
    if (!command->subcommands)
        return command->run(command, argc, argv);
    if (argc < 2 || asks_for_help(argv[1])) {
        print_group(argc < 2 ? stderr : stdout, command);
        return argc < 2 ? STATUS_TROUBLE : STATUS_OK;
    }
    if (argv[1][0] == '-')
        return usage_error(command, "unknown option '%s'", argv[1]);
    const struct command *subcommand = command_find(command->subcommands, argv[1]);
    return subcommand ? subcommand->run(subcommand, argc - 1, argv + 1) : unknown_command(command, argv[1]);
}

static enum status dispatch(int argc, char **argv) {
    if (argc < 1) {
        print_overview(stderr);
        return STATUS_TROUBLE;
    }
    const char *name = argv[0];
    if (asks_for_help(name))
        return help(argv);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("osprof " OSPROF_VERSION);
        return STATUS_OK;
    }
    if (strcmp(name, "--complete") == 0)
        return complete(argv);
    const struct command *command = command_of(name);
    return command ? run(command, argc, argv) : unknown_command(NULL, name);
}

int main(int argc, char **argv) {
    setlocale(LC_CTYPE, "");
    enum status status = dispatch(argc - 1, argv + 1);
    int error;
    if (output_finish_stdout(&error))
        return (int)status;
    complain("cannot write standard output%s%s", error ? ": " : "", error ? strerror(error) : "");
    return STATUS_TROUBLE;
}
