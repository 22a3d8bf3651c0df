/* osprof why: what slow calls waited for. A mount is read from its live file, so this also works if it hangs. */
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "command.h"
#include "daemon_watch.h"
#include "input.h"
#include "layers.h"
#include "option_table.h"
#include "screen.h"
#include "views.h"
#include "wait_watch.h"
#include "why_all.h"
#include "why_page.h"

struct why_command {
    struct why_page_options page;
    bool json;
    const char *layer;
    const char *profile;
    bool has_all; /* of the machine, now: no profile */
    struct why_all_options all;
};

static enum status complain_not_looked(const char *name, const struct aggstats_profile *profile) {
    const char *attached = aggstats_profile_label(profile, "attached");
    if (layers_of_name(layers_name(profile)) == LAYER_IS_DAEMON) {
        complain("nobody looked for slow calls in %s: start the daemon by 'osprof fuse --slow 10ms'", name);
    } else if (strcmp(layers_name(profile), "fuse") == 0) {
        const char *mount = aggstats_profile_label(profile, "mount");
        complain(
            "nobody looked for slow calls in %s: requests that the kernel reports have no causes; osprof attach --slow "
            "10ms %s finds those of system calls",
            name, mount ? mount : "DIR");
    } else if (strcmp(layers_name(profile), "syscall") == 0 && attached) {
        complain("nobody looked for slow calls in %s: osprof attach --slow 10ms %s does", name, attached);
    } else if (strcmp(layers_name(profile), "syscall") == 0) {
        /* A live profile of attach does not say which arguments it was started with. */
        complain("nobody looks for slow calls in %s: begin osprof attach anew, with --slow 10ms", name);
    } else if (aggstats_profile_label(profile, "command")) {
        /* For a shell: the line has nothing behind it. */
        CLEANUP_FREE char *command = answer_next_slow(profile);
        complain("nobody looked for slow calls in %s: run the command again, with the directory of its files: %s", name,
                 command ? command : "osprof run --layers fs --slow 10ms -d DIR -- COMMAND");
    } else {
        complain(
            "nobody looked for slow calls in %s: mount with -o slow=10ms, or from now on: osprof ctl MOUNT slow 10ms",
            name);
    }
    return STATUS_TROUBLE;
}

/* ---- For other programs ------------------------------------------------------------------------- */

/* Prints the parts of a profile that the page would have: slow calls, causes and calls in flight of the chosen operations.
 * These share all but the arrays with the whole. */
static enum status print_json(const struct why_command *options, const struct aggstats_profile *whole) {
    const struct option_list *ops = &options->page.ops;
    struct aggstats_profile told = *whole;
    CLEANUP_FREE struct aggstats_cause *causes = calloc(whole->cause_count + 1, sizeof(*causes));
    CLEANUP_FREE struct aggstats_call *in_flight = calloc(whole->in_flight_count + 1, sizeof(*in_flight));
    CLEANUP_FREE struct aggstats_call *slow_calls = calloc(whole->slow_call_count + 1, sizeof(*slow_calls));
    CLEANUP_FREE struct aggstats_caller *callers = calloc(whole->caller_count + 1, sizeof(*callers));
    int error = causes && in_flight && slow_calls && callers ? 0 : -ENOMEM;
    told.op_count = told.joint_count = told.group_count = told.interval_count = 0;
    told.interval_cycles = told.groupings = 0;
    told.cause_count = told.in_flight_count = told.slow_call_count = told.caller_count = 0;
    told.causes = causes;
    told.in_flight = in_flight;
    told.slow_calls = slow_calls;
    told.callers = callers;
    for (size_t i = 0; !error && i < whole->cause_count; i++)
        if (option_list_wants(ops, whole->causes[i].op))
            causes[told.cause_count++] = whole->causes[i];
    for (size_t i = 0; !error && i < whole->in_flight_count; i++)
        if (option_list_wants(ops, whole->in_flight[i].op))
            in_flight[told.in_flight_count++] = whole->in_flight[i];
    for (size_t i = 0; !error && i < whole->slow_call_count; i++)
        if (option_list_wants(ops, whole->slow_calls[i].op))
            slow_calls[told.slow_call_count++] = whole->slow_calls[i];
    for (size_t i = 0; !error && i < whole->caller_count; i++)
        if (option_list_wants(ops, whole->callers[i].op))
            callers[told.caller_count++] = whole->callers[i];
    if (!error)
        error = view_json.write(&told, stdout);
    if (!error)
        return STATUS_OK;
    complain("cannot show %s as json: %s", options->profile, strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- The command -------------------------------------------------------------------------------- */

/* Calls in flight count: a profile has only those that are slow already, or looked at. */
static bool has_slow(const struct why_command *options, const struct aggstats_profile *profile) {
    const struct option_list *ops = &options->page.ops;
    bool has_any = false;
    for (size_t i = 0; i < profile->cause_count && !has_any; i++)
        has_any = option_list_wants(ops, profile->causes[i].op);
    for (size_t i = 0; i < profile->slow_call_count && !has_any; i++)
        has_any = option_list_wants(ops, profile->slow_calls[i].op);
    for (size_t i = 0; i < profile->in_flight_count && !has_any; i++)
        has_any = option_list_wants(ops, profile->in_flight[i].op) &&
                  profile->in_flight[i].latency_cycles >= profile->slow_cycles;
    return has_any;
}

static enum status print(const struct why_command *options, const struct screen *screen,
                         const struct aggstats_profile *profile) {
    enum status absent = input_report_absent_ops(&options->page.ops, profile);
    if (absent != STATUS_OK && input_count_ops(&options->page.ops, profile) == 0)
        return absent;
    if (options->json) {
        enum status printed = print_json(options, profile);
        return printed != STATUS_OK ? printed : absent;
    }
    why_page_print(profile, &options->page, screen);
    if (!has_slow(options, profile))
        return STATUS_NOT_SO;
    if (!options->page.by || profile->slow_call_count > 0 || profile->cause_count == 0)
        return absent;
    complain(
        "cannot tell whose slow calls these were: %s has no calls one by one; they are for root and who mounted, and "
        "not in sums without paths",
        options->profile);
    return STATUS_NOT_SO;
}

/* A stopped daemon has no calls in flight, and its causes are not watched. */
static enum status why(const struct why_command *options) {
    const struct screen screen = screen_of_stdout();
    struct input input;
    struct input_layer layer = {.name = options->layer};
    char warning[DAEMON_TEXT_SIZE];
    if (input_load(options->profile, &layer, &input) < 0)
        return STATUS_TROUBLE;
    const struct daemon_state daemon = daemon_state_find(&input);
    if (!options->json && daemon_state_warn(&daemon, warning))
        screen_print_words(&screen, INK_WARNING, 0, 0, warning);
    if (options->json && daemon_state_add_labels(&daemon, &input.profile) != 0)
        complain("cannot tell the state of the daemon: no memory");
    enum status status = why_page_has_any(&input.profile) ? print(options, &screen, &input.profile)
                                                          : complain_not_looked(options->profile, &input.profile);
    input_finish(&input);
    return status;
}

#define OF_ALL_ONLY "pid cgroup for locks idle verbose"
#define OF_PROFILES_ONLY "op layer"

static const struct option_row rows[] = {
    {.name = "all",
     .letter = 'a',
     .help = "what all threads of this machine wait for, from now on",
     INTO(FLAG, struct why_command, has_all)},
    ROW_PROCESSES("of -a: only these processes and their descendants", struct why_command, all.processes),
    ROW_CGROUP("of -a: only processes in that control group and below", struct why_command, all.cgroup),
    ROW_FOR("of -a: end after TIME, such as 10s; default: at Ctrl-C", struct why_command, all.for_ns),
    {.name = "locks",
     .help = "of -a: contention of locks in the kernel, too",
     INTO(FLAG, struct why_command, all.has_locks)},
    {.name = "idle",
     .help = "of -a: show idle waits, for input, requests or timers, too",
     INTO(FLAG, struct why_command, all.has_work)},
    {.name = "verbose", .letter = 'v', .help = "of -a: show all rows", INTO(FLAG, struct why_command, all.is_verbose)},
    ROW_OP(struct why_command, page.ops),
    {.name = "by",
     .metavar = "KIND",
     WORDS("process", "program", "uid", "thread", "cgroup"),
     .help =
         "whose the last slow calls were, and what these waited for: by process, program or uid; of -a: who waited, "
         "by process, program, thread or cgroup",
     INTO(WORD, struct why_command, page.by)},
    {.name = "stacks",
     .help = "where in the kernel each call waited, and which functions of its program made it, if that is known",
     INTO(FLAG, struct why_command, page.stacks)},
    ROW_LAYER(struct why_command, layer),
    {.name = "json", .help = "JSON, see osprof(5)", INTO(FLAG, struct why_command, json)},
    ROW_PROFILE_ARGUMENTS("[PROFILE]"),
    {.kind = OPTION_END},
};

static enum status check_options(const struct command *command, const struct why_command *options,
                                 const struct arguments *arguments) {
    static const char *const of_all[] = {WAIT_BY_WORDS NULL};
    static const char *const of_profiles[] = {GROUPING_WORDS_OF_CALLERS NULL};
    const bool has_all = options->has_all;
    const char *by = options->page.by;
    const char *other = options_given(arguments, has_all ? OF_PROFILES_ONLY : OF_ALL_ONLY);
    const char *const *word = has_all ? of_all : of_profiles;
    while (by && *word && strcmp(by, *word) != 0)
        word++;
    if (other)
        return usage_error(command, "--%s %s", other, has_all ? "does not go with -a" : "goes with -a only");
    if (has_all && arguments->rest_count > 0)
        return usage_error(command, "-a takes no profile: it looks at what happens from now on");
    if (has_all && options->all.processes.count > 0 && options->all.cgroup)
        return usage_error(command, "--pid and --cgroup exclude each other");
    if (!*word)
        return usage_error(command, "--by %s goes with %s only", by, has_all ? "slow calls" : "-a");
    if (options->json && options_given(arguments, "ascii by color stacks width"))
        return usage_error(command, "--ascii, --by, --color, --stacks and --width do not go with --json");
    if (!has_all && by && options->page.stacks)
        return usage_error(command, "--by and --stacks exclude each other: one tells of all calls, one of each");
    if (arguments->rest_count > 1)
        return usage_error(command, "one profile at a time, not %d", arguments->rest_count);
    return STATUS_OK;
}

static enum status run_why(const struct command *command, int argc, char **argv) {
    struct why_command options = {.json = false};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        options.profile = arguments.rest_count > 0 ? arguments.rest[0] : "@1";
        status = check_options(command, &options, &arguments);
        options.all.by = options.page.by;
        options.all.has_stacks = options.page.stacks;
        options.all.json = options.json;
        if (status == STATUS_OK)
            status = options.has_all ? why_all(&options.all) : why(&options);
    }
    option_list_finish(&options.page.ops);
    return status;
}

const struct command command_why = {
    .name = "why",
    .summary = "shows what slow calls, or all threads, have waited for",
    .help =
        "A table of what the slow calls of PROFILE have waited for, by the time that it took; what calls in flight "
        "wait for; and the longest of the slow calls that are kept. PROFILE is what osproffs has saved, a live file, "
        "a mount, also one that hangs, what osprof attach watches, or a result of 'osprof run', such as @1, the last, "
        "which is the default. osproffs -o slow=TIME and --slow TIME of osprof run, attach and fuse say what slow is. "
        "With -a: what all threads of this machine wait for, from now on.",
    .notes = "Exit status: 0; 1 no call was slow, or none is as asked for; 2 nobody looked for slow calls, or trouble.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_QUIET,
    .run = run_why,
};
