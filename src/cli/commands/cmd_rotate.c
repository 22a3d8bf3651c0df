/* osprof rotate: the profile of a mount since the last rotation goes to a file, and the next begins at the same
 * instant. */
#include "command.h"
#include "mount_command.h"
#include "option_table.h"
#include <errno.h>

static const char *why_failed(int error) {
    switch (error) {
    case -EEXIST:
        return "it is there already; choose a new name";
    case -EBUSY:
        return "the final profile of the mount goes there; choose another name";
    case -EINVAL:
        return "it is not mounted with -o rotate, so name a file; or osproffs is too old";
    default:
        return mount_command_why(error);
    }
}

static enum status rotate(const char *mount, const char *file) {
    int error = mount_command(mount, "rotate", file, MOUNT_FILE_NEW);
    if (error < 0)
        complain("cannot rotate the profile of %s into %s: %s; the profile is unchanged", mount,
                 file ? file : "the next of its files", why_failed(error));
    return error ? STATUS_TROUBLE : STATUS_OK;
}

static const struct option_row rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT [FILE]"),
    {.kind = OPTION_END},
};

static enum status run_rotate(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count < 1 || arguments.rest_count > 2)
        return usage_error(command, "a mount point and a new file must be given");
    return rotate(arguments.rest[0], arguments.rest_count > 1 ? arguments.rest[1] : NULL);
}

const struct command command_rotate = {
    .name = "rotate",
    .summary = "saves the profile of a mount, and begins the next at the same instant",
    .help = "Saves what the osproffs mount MOUNT has counted since the last rotation in the new file FILE, and "
            "counts afresh from that instant: each call is in exactly one of these profiles. Who mounted it "
            "may, unless that is root, and who has CAP_SYS_ADMIN. FILE may be left out where the mount rotates by "
            "itself (osproffs -o rotate): then it is "
            "the next of its files.",
    .options = rows,
    .run = run_rotate,
};
