/* osprof reset: starts a mount's profile afresh, through its control file. */
#include <getopt.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "input.h"

static enum status reset(const char *mount) {
    static const char text[] = "reset\n";
    CLEANUP_FD int fd = -1;
    CLEANUP_FREE char *path = NULL;
    if (input_open_control(mount, &fd, &path) != 0)
        return STATUS_TROUBLE;
    int error = write_all(fd, text, strlen(text));
    if (error) {
        complain("cannot write %s: %s", path, strerror(-error));
        return STATUS_TROUBLE;
    }
    return STATUS_OK;
}

static const struct option long_options[] = {
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum status run_reset(const struct command *command, int argc, char **argv) {
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option != 'h')
            return option_error(command, option, argv, long_options);
        command_print_help(command);
        return STATUS_OK;
    }
    if (argc - optind != 1)
        return usage_error(command, "exactly one mount point must be given");
    return reset(argv[optind]);
}

const struct command command_reset = {
    .name = "reset",
    .summary = "starts the profile of a mount afresh",
    .arguments = "MOUNT",
    .help = "Counts from now on: what the profile of the osproffs mount MOUNT held until now is\n"
            "no longer shown, nor in the final profile. Only who mounted it, and root, may.\n",
    .run = run_reset,
};
