/* osprof reset, dump and rotate: commands to a mount, a row each. */
#include <errno.h>

#include "command.h"
#include "mount_command.h"
#include "option_table.h"

static const struct option_row mount_rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static const struct option_row mount_and_file_rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT [FILE]"),
    {.kind = OPTION_END},
};

/* ---- What is done ------------------------------------------------------------------------------- */

static const char *why_not_saved(int error, const char *file) {
    return error == -EINVAL && !file ? "it is mounted with -o rotate, so name a file" : NULL;
}

static const char *why_not_rotated(int error, const char *file) {
    (void)file;
    switch (error) {
    case -EEXIST:
        return "it is there already; choose a new name";
    case -EBUSY:
        return "the final profile of the mount goes there; choose another name";
    case -EINVAL:
        return "it is not mounted with -o rotate, so name a file; or osproffs is too old";
    default:
        return NULL;
    }
}

static const struct mount_verb reset = {
    .verb = "reset",
    .wrong_usage = "exactly one mount point must be given",
    .failed = "cannot reset the profile of",
};

static const struct mount_verb dump = {
    .verb = "dump",
    .use = MOUNT_FILE_REPLACED,
    .files_max = 1,
    .wrong_usage = "a mount point must be given, and at most one file",
    .failed = "cannot save the profile of",
    .to = "in",
    .no_file = "the place of its final profile",
    .why = why_not_saved,
};

static const struct mount_verb rotate = {
    .verb = "rotate",
    .use = MOUNT_FILE_NEW,
    .files_max = 1,
    .wrong_usage = "a mount point and a new file must be given",
    .failed = "cannot rotate the profile of",
    .to = "into",
    .no_file = "the next of its files",
    .unchanged = "; the profile is unchanged",
    .why = why_not_rotated,
};

static enum status run_reset(const struct command *command, int argc, char **argv) {
    return mount_verb_run(&reset, command, argc, argv);
}

static enum status run_dump(const struct command *command, int argc, char **argv) {
    return mount_verb_run(&dump, command, argc, argv);
}

static enum status run_rotate(const struct command *command, int argc, char **argv) {
    return mount_verb_run(&rotate, command, argc, argv);
}

/* ---- The commands ------------------------------------------------------------------------------- */

const struct command command_reset = {
    .name = "reset",
    .summary = "starts the profile of a mount afresh",
    .help = "Counts from now on: what the profile of the osproffs mount MOUNT held until now is no longer "
            "shown, nor in the final profile. Who mounted it may, unless that is root, "
            "and who has CAP_SYS_ADMIN.",
    .options = mount_rows,
    .run = run_reset,
};

const struct command command_dump = {
    .name = "dump",
    .summary = "saves the profile of a mount so far",
    .help = "Saves the profile of the osproffs mount MOUNT, which goes on, in FILE, or where its final profile will "
            "go. A profile that is there is replaced. Who mounted it may, unless that is "
            "root, and who has CAP_SYS_ADMIN.",
    .options = mount_and_file_rows,
    .run = run_dump,
};

const struct command command_rotate = {
    .name = "rotate",
    .summary = "saves the profile of a mount, and begins the next at the same instant",
    .help = "Saves what the osproffs mount MOUNT has counted since the last rotation in the new file FILE, and "
            "counts afresh from that instant: each call is in exactly one of these profiles. Who mounted it "
            "may, unless that is root, and who has CAP_SYS_ADMIN. FILE may be left out where the mount rotates by "
            "itself (osproffs -o rotate): then it is "
            "the next of its files.",
    .options = mount_and_file_rows,
    .run = run_rotate,
};
