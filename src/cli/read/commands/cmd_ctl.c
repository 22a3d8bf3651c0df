/* osprof ctl: a line of the control file, for what profiles a mount or a directory. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "mount_command.h"
#include "option_table.h"
#include "str.h"

static const struct option_row rows[] = {
    {.kind = OPTION_COMMAND, .metavar = "PLACE COMMAND [ARGUMENT]...", .completed_as = "mount"},
    {.kind = OPTION_END},
};

/* The commands that write a profile have a command of their own. */
static bool names_profile(const char *verb, char *const *arguments) {
    return arguments[0] && (strcmp(verb, "dump") == 0 || strcmp(verb, "rotate") == 0);
}

static enum status run_ctl(const struct command *command, int argc, char **argv) {
    CLEANUP_STR struct str line = {0};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count < 2)
        return usage_error(command,
                           "a mount point, and a command for it, must be given, such as: osprof ctl /mnt reset");
    const char *place = arguments.rest[0];
    const char *verb = arguments.rest[1];
    char *const *words = arguments.rest + 2;
    if (names_profile(verb, words))
        return usage_error(command, "'osprof save%s %s -o %s' writes the profile to a file",
                           strcmp(verb, "rotate") == 0 ? " --rotate" : "", place, words[0]);
    if (place[0] == '\0' || verb[strspn(verb, " \t")] == '\0')
        return usage_error(command, "the %s is empty", place[0] == '\0' ? "mount point" : "command");
    if (strcmp(verb, "events") == 0 && words[0] && words[1])
        return usage_error(command, "events takes one file, not '%s' too; quote a name with blanks", words[1]);
    if (strcmp(verb, "events") == 0 && words[0] && strcmp(words[0], "off") != 0)
        return mount_command_file(place, verb, words[0]) == 0 ? STATUS_OK : STATUS_TROUBLE;
    for (int i = 1; i < arguments.rest_count; i++)
        str_addf(&line, "%s%s", i > 1 ? " " : "", arguments.rest[i]);
    if (line.failed) {
        complain("no memory");
        return STATUS_TROUBLE;
    }
    return mount_command(place, str_text(&line)) == 0 ? STATUS_OK : STATUS_TROUBLE;
}

const struct command command_ctl = {
    .name = "ctl",
    .summary = "gives a mount a command: reset, groups, slow, events, ...",
    .help =
        "Sends COMMAND, a line of the control file .osprof, to the process that profiles PLACE: a mount of osproffs, "
        "or a "
        "mount or directory that osprof fuse or osprof attach profiles. reset: count from now on. pause, resume. "
        "groups "
        "KIND[+KIND]... or off: also a profile of each process, program, cgroup, uid, file or directory. slow TIME or "
        "off: find out what calls wait for that take so long. interval TIME or off: also a profile of each interval. "
        "joint OP VALUE or off: relate the latency of OP to size, result, offset or error. events FILE or off: record "
        "single calls in a new file. dump: save the profile to the place of the final one; rotate: to the next file of "
        "its series.",
    .notes = "Permitted: the user who mounted it, and processes with CAP_SYS_ADMIN.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_ctl,
};
