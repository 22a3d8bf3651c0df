/* osprof why: what slow calls have waited for. A mount is read from its live file, so that one that hangs tells, too.
 */
#include "base.h"
#include "command.h"
#include "input.h"
#include "option_list.h"
#include "option_table.h"
#include "screen.h"
#include "why_page.h"

struct why_options {
    struct option_list ops;
    bool ascii;
    unsigned width;
    const char *profile;
};

static enum status complain_not_looked(const struct why_options *options) {
    complain("nobody looked for slow calls in %s: mount with -o slow=10ms, or write slow 10ms to the control file",
             options->profile);
    return STATUS_NOT_SO;
}

static enum status why(const struct why_options *options) {
    struct input input;
    enum status status = STATUS_OK;
    if (input_load(options->profile, &input) < 0)
        return STATUS_TROUBLE;
    const struct screen screen = screen_of_stdout((int)options->width, options->ascii);
    if (why_page_has_any(&input.profile))
        why_page_print(&input.profile, &options->ops, &screen);
    else
        status = complain_not_looked(options);
    input_finish(&input);
    return status;
}

static const struct option_row rows[] = {
    ROW_OP(struct why_options, ops),
    ROW_ASCII(struct why_options, ascii),
    ROW_WIDTH(struct why_options, width),
    ROW_MOUNT_ARGUMENTS(FILE, "[PROFILE]"),
    {.kind = OPTION_END},
};

static enum status run_why(const struct command *command, int argc, char **argv) {
    struct why_options options = {.ascii = false};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    options.profile = arguments.rest_count > 0 ? arguments.rest[0] : "osprof.out";
    status = arguments.rest_count > 1 ? usage_error(command, "one profile at a time, not %d", arguments.rest_count)
                                      : why(&options);
    option_list_finish(&options.ops);
    return status;
}

const struct command command_why = {
    .name = "why",
    .summary = "shows what slow calls have waited for",
    .help =
        "A table of what the slow calls of PROFILE have waited for, by the time that it took; what calls in flight "
        "wait for; and the last slow calls. PROFILE is what osproffs has saved, by default osprof.out, a live file, "
        "or a mount, also one that hangs. What slow is, osproffs -o slow=TIME says.",
    .options = rows,
    .run = run_why,
};
