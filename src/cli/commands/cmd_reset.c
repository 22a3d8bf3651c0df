/* osprof reset: starts a mount's profile afresh, through its control file. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "input.h"
#include "option_table.h"

static enum status reset(const char *mount) {
    int error = input_command(mount, "reset\n", NULL);
    if (error < 0)
        complain("cannot reset the profile of %s: %s", mount, strerror(-error));
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static const struct option_row rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static enum status run_reset(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count != 1)
        return usage_error(command, "exactly one mount point must be given");
    return reset(arguments.rest[0]);
}

const struct command command_reset = {
    .name = "reset",
    .summary = "starts the profile of a mount afresh",
    .help = "Counts from now on: what the profile of the osproffs mount MOUNT held until now is no longer "
            "shown, nor in the final profile. Who mounted it may, unless that is root, "
            "and who has CAP_SYS_ADMIN.",
    .options = rows,
    .run = run_reset,
};
