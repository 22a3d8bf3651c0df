/* osprof dump: saves the profile of a mount so far, which goes on. */
#include <errno.h>

#include "command.h"
#include "mount_command.h"
#include "option_table.h"

static enum status dump(const char *mount, const char *file) {
    int error = mount_command(mount, "dump", file, MOUNT_FILE_REPLACED);
    if (error < 0)
        complain("cannot save the profile of %s in %s: %s", mount, file ? file : "the place of its final profile",
                 error == -EINVAL && !file ? "it is mounted with -o rotate, so name a file" : mount_command_why(error));
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static const struct option_row rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT [FILE]"),
    {.kind = OPTION_END},
};

static enum status run_dump(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count < 1 || arguments.rest_count > 2)
        return usage_error(command, "a mount point must be given, and at most one file");
    return dump(arguments.rest[0], arguments.rest_count > 1 ? arguments.rest[1] : NULL);
}

const struct command command_dump = {
    .name = "dump",
    .summary = "saves the profile of a mount so far",
    .help = "Saves the profile of the osproffs mount MOUNT, which goes on, in FILE, or where its final profile will "
            "go. A profile that is there is replaced. Who mounted it may, unless that is "
            "root, and who has CAP_SYS_ADMIN.",
    .options = rows,
    .run = run_dump,
};
