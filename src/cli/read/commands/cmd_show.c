/* osprof show: a profile for people, or one of the views for other programs. */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "check_profiles.h"
#include "command.h"
#include "daemon_watch.h"
#include "figures.h"
#include "groups.h"
#include "input.h"
#include "json_writer.h"
#include "kept.h"
#include "layers.h"
#include "layers_page.h"
#include "option_table.h"
#include "output.h"
#include "screen.h"
#include "show.h"
#include "views.h"

#define QUANTUM_MIN_NS UINT64_C(1000)
#define QUANTUM_MAX_NS UINT64_C(3600000000000)

struct show_command {
    const char *view_name;   /* for other programs; NULL: for people */
    const struct view *view; /* the view of that name */
    const char *by;          /* a row for each "process" or "uid", or "all"; NULL: no rows of groups */
    const char *of;          /* calls of this group only; NULL: all */
    const char *layer;       /* of a recording; NULL: see input_choose() */
    bool lists;              /* what is kept, and shows nothing */
    bool checks;             /* whether numbers are consistent, and shows nothing else */
    struct check_options check;
    bool shows_layers; /* all layers of a recording, unless an option needs a single one */
    const char *profile;
    char warning[DAEMON_TEXT_SIZE]; /* the page's */
    struct show_options page;
};

/* ---- Missing groups ----------------------------------------------------------------------------- */

/* Groupings that are wanted, as bits. */
static unsigned groupings_wanted(const struct show_command *options) {
    return !options->by || strcmp(options->by, "all") == 0 ? ~0U : 1U << aggstats_grouping_of_name(options->by);
}

static enum status report_no_groups(const struct show_command *options, const struct input *input) {
    const struct aggstats_profile *profile = &input->profile;
    const char *wanted = groupings_wanted(options) == ~0U ? "process" : options->by;
    bool any_has_ended = false; /* only calls that have ended are assigned to groups */
    if (profile->groupings & groupings_wanted(options))
        return STATUS_OK;
    for (size_t i = 0; i < profile->op_count; i++)
        any_has_ended |= figures_finished(&profile->ops[i], profile->resolution) > 0;
    const bool is_of_other = input->has_owner && input->owner != geteuid() && geteuid() != 0;
    if (is_of_other && (strcmp(wanted, "file") == 0 || strcmp(wanted, "directory") == 0))
        complain("no calls by %s in %s: only the user who mounted it, and root, may see names of files", wanted,
                 options->profile);
    else if (!any_has_ended)
        complain("no calls by %s in %s: no call has ended in its time", wanted, options->profile);
    else if (input->is_live)
        complain("no calls by %s in %s; live files have none", wanted, options->profile);
    else if (strcmp(layers_name(profile), "fuse") == 0)
        complain("no calls by %s in %s; requests that the kernel reports tell no callers and no files", wanted,
                 options->profile);
    else if (aggstats_profile_label(profile, "attached"))
        complain("no calls by %s in %s; osprof attach --by %s records them", wanted, options->profile, wanted);
    else
        complain("no calls by %s in %s; osproffs -o by=%s records them, 'osprof ctl MOUNT groups %s' from now on; live "
                 "files have none",
                 wanted, options->profile, wanted, wanted);
    return STATUS_NOT_SO;
}

/* Leaves only the calls of some groups. */
static enum status select_groups(const struct show_command *options, struct input *input) {
    enum status status = report_no_groups(options, input);
    if (status != STATUS_OK)
        return status;
    const enum aggstats_grouping grouping =
        groupings_wanted(options) == ~0U ? AGGSTATS_UNGROUPED : aggstats_grouping_of_name(options->by);
    int error = groups_select(&input->profile, grouping, options->of);
    if (error == -ENOENT) {
        complain("no calls of %s in %s; 'osprof show --by %s' lists whose there are", options->of, options->profile,
                 options->by ? options->by : "all");
        return STATUS_NOT_SO;
    }
    if (!error)
        return STATUS_OK;
    complain("cannot show %s: %s", options->profile, strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- For people --------------------------------------------------------------------------------- */

static enum status print_page(const struct show_command *options, struct input *input) {
    const struct option_list *ops = &options->page.ops;
    enum status status = input_report_absent_ops(ops, &input->profile);
    int error = 0;
    if (status == STATUS_OK && options->page.joint && input->profile.joint_count == 0) {
        complain("no joint profiles in %s; %s", options->profile,
                 input->is_live ? "live files have none" : "osproffs -o joint=OP:VALUE records them");
        status = STATUS_NOT_SO;
    }
    if (status != STATUS_OK && input_count_ops(ops, &input->profile) == 0)
        return status;
    if (options->by && !options->of) {
        const enum status missing = report_no_groups(options, input);
        if (missing != STATUS_OK)
            return missing;
        if (ops->count > 0)
            error = groups_keep_ops(&input->profile, ops->texts, ops->count);
        if (error == 0)
            show_groups(input, input->profile.groupings & groupings_wanted(options), &options->page);
    } else {
        error = show_page(input, &options->page);
    }
    if (error == 0)
        return status;
    complain("cannot show %s: no memory", options->profile);
    return STATUS_TROUBLE;
}

/* ---- For other programs ------------------------------------------------------------------------- */

static enum status complain_no_view(const struct show_command *options, int error) {
    const char *name = options->view->name;
    if (error == -EDOM)
        complain("cannot show %s as %s: they are in seconds, and its clock's rate is not known; --json and --csv leave "
                 "seconds out",
                 options->profile, name);
    else if (error == -EOVERFLOW)
        complain("cannot show %s as %s: it has a bucket of 2^63 calls or more; --metrics has room for them",
                 options->profile, name);
    else
        complain("cannot show %s as %s: %s", options->profile, name, strerror(-error));
    return STATUS_TROUBLE;
}

/* A callback of output_format(). */
static int write_json(const void *context, FILE *stream) {
    return advice_json_write(context, stream);
}

/* In memory first: what cannot be written whole is not begun. */
static enum status show_view(const struct show_command *options, const struct input *input) {
    struct aggstats_profile chosen = input->profile; /* shares all but the array of ops with it */
    CLEANUP_FREE struct aggstats_op_profile *ops = calloc(input->profile.op_count + 1, sizeof(*ops));
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    if (!ops)
        return complain_no_view(options, -ENOMEM);
    chosen.ops = ops;
    chosen.op_count = 0;
    for (size_t i = 0; i < input->profile.op_count; i++) {
        if (option_list_wants(&options->page.ops, input->profile.ops[i].name))
            ops[chosen.op_count++] = input->profile.ops[i];
    }
    enum status absent = input_report_absent_ops(&options->page.ops, &input->profile);
    if (absent != STATUS_OK && chosen.op_count == 0)
        return absent;
    int error = options->view == &view_json ? output_format(write_json, &chosen, &text, &size_bytes)
                                            : view_format(options->view, &chosen, &text, &size_bytes);
    if (error)
        return complain_no_view(options, error);
    fwrite(text, 1, size_bytes, stdout);
    return absent;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const char *parse_quantum(const char *text, uint64_t *ret_ns) {
    return time_parse(text, QUANTUM_MIN_NS, QUANTUM_MAX_NS, ret_ns) ? NULL
                                                                    : "must be a time from 1us to 1h, such as 4ms";
}

static const struct option_row rows[] = {
    ROW_OP(struct show_command, page.ops),
    {.name = "charts",
     .help = "a histogram of each operation; with --op there always is",
     INTO(FLAG, struct show_command, page.charts)},
    {.name = "buckets",
     .help = "histograms with a row per bucket and its exact count, instead of columns",
     INTO(FLAG, struct show_command, page.buckets)},
    {.name = "joint",
     .help = "for each peak of latency how the values are distributed that osproffs was told to relate it to",
     INTO(FLAG, struct show_command, page.joint)},
    {.name = "by",
     .metavar = "KIND",
     WORDS_OF("all", GROUPING_WORDS),
     .help = "a table of those whose calls they were: {}; with --of what WHO is",
     INTO(WORD, struct show_command, by)},
    {.name = "of",
     .metavar = "WHO",
     .help = "only the calls of a process or user, by number or name, or on a file, by path; or those of the kernel, "
             "or other",
     INTO(TEXT, struct show_command, of)},
    ROW_LAYER(struct show_command, layer),
    ROW_NO_LABELS(struct show_command, page.no_labels),
    {.name = "explain",
     .help = "why peaks are said to be what they may be, or why nothing is said of them",
     INTO(FLAG, struct show_command, page.explain)},
    {.name = "list",
     .help = "only list the results that 'osprof run' has kept: @1 and so on, when, of which command",
     INTO(FLAG, struct show_command, lists)},
    {.kind = OPTION_HEADING, .help = "Instead of a summary:"},
    {.name = "check",
     .help =
         "only test whether the numbers of PROFILEs are consistent: the calls in buckets and those in flight must be "
         "all calls, and totals must be possible for the buckets; exit status 1: one is not",
     INTO(FLAG, struct show_command, checks)},
    {.name = "preemption",
     .help =
         "with --check: estimate also how many calls took longer because the scheduler gave their CPU to others, and "
         "in which buckets those are; at most, as if all latency were CPU time",
     INTO(FLAG, struct show_command, check.preemption)},
    {.name = "quantum",
     .metavar = "TIME",
     .help =
         "for how long a thread has the CPU, such as 4ms; default: as 'osprof doctor --calibrate' measured it on the "
         "profile's host",
     .parse_time = parse_quantum,
     INTO(TIME, struct show_command, check.quantum_ns)},
    {.name = "threads",
     .metavar = "N",
     .min = 2,
     .max = 100000,
     .help = "threads that want each CPU, {}; default: 2",
     INTO(UNSIGNED, struct show_command, check.threads)},
    {.kind = OPTION_HEADING, .help = "For other programs, see osprof(5):"},
    {.name = "json", .help = "JSON", INTO(VARIANT, struct show_command, view_name)},
    {.name = "csv",
     .help = "comma-separated values, a row per operation and bucket",
     INTO(VARIANT, struct show_command, view_name)},
    {.name = "metrics", .help = "Prometheus metrics", INTO(VARIANT, struct show_command, view_name)},
    {.name = "protobuf",
     .help = "Prometheus metrics as protobuf, with native histograms",
     INTO(VARIANT, struct show_command, view_name)},
    ROW_PROFILE_ARGUMENTS("[PROFILE]\n       osprof show --check [OPTION]... [PROFILE]..."),
    {.kind = OPTION_END},
};

static enum status check_options(const struct command *command, const struct show_command *options,
                                 const struct arguments *arguments) {
    if (options->view == &view_protobuf && !require_part(PART_PROTOBUF, "write protobuf"))
        return STATUS_TROUBLE;
    if (options->view && options_given(arguments, "ascii buckets charts color explain joint no-labels width"))
        return usage_error(
            command,
            "--ascii, --buckets, --charts, --color, --explain, --joint, --no-labels and --width do not go with --%s",
            options->view->name);
    if (options->view && options->by && !options->of)
        return usage_error(command, "--by prints a table, and does not go with --%s without --of", options->view->name);
    if (options->by && !options->of && options_given(arguments, "joint charts buckets no-labels explain"))
        return usage_error(command,
                           "--by prints a table: leave out --joint, --charts, --buckets, --no-labels and --explain");
    if (options->lists && (arguments->rest_count > 0 ||
                           options_given(arguments, "op charts buckets joint by of layer no-labels explain csv metrics "
                                                    "protobuf")))
        return usage_error(command, "--list shows no profile: it goes alone, or with --json");
    const char *of_check = options->checks ? NULL : options_given(arguments, "preemption quantum threads");
    if (of_check)
        return usage_error(command, "--%s goes with --check", of_check);
    if (options_given(arguments, "quantum threads") && !options->check.preemption)
        return usage_error(command, "--quantum and --threads go with --check --preemption");
    if (options->checks) {
        const char *other =
            options_given(arguments, "op charts buckets joint by of no-labels explain list json csv metrics "
                                     "protobuf");
        return other ? usage_error(command, "--check shows nothing else: leave out --%s", other) : STATUS_OK;
    }
    if (options->page.explain && options->page.no_labels)
        return usage_error(command, "--explain is about the names of peaks, and --no-labels leaves them out");
    if (options->of && options->page.joint)
        return usage_error(command, "--of and --joint exclude each other: joint profiles are of all calls");
    if (arguments->rest_count > 1)
        return usage_error(command, "one profile at a time, not %d", arguments->rest_count);
    return STATUS_OK;
}

static enum status show_layer(struct show_command *options, struct input *input) {
    struct input_layer layer = {.name = options->layer};
    bool is_of_several = input->layers.count > 0;
    if (input_choose(options->profile, &layer, input) != 0)
        return STATUS_TROUBLE;
    options->page.source.is_live = input->is_live && input->live.recording;
    const struct daemon_state daemon = daemon_state_find(input);
    if (daemon_state_warn(&daemon, options->warning))
        options->page.warning = options->warning;
    if (options->view && daemon_state_add_labels(&daemon, &input->profile) != 0)
        return complain_no_view(options, -ENOMEM);
    in_flight_find_out(input);
    enum status status = options->of ? select_groups(options, input) : STATUS_OK;
    options->page.source.layer = is_of_several ? aggstats_profile_label(&input->profile, "layer") : NULL;
    if (status == STATUS_OK)
        status = options->view ? show_view(options, input) : print_page(options, input);
    return status;
}

/* The page of all layers of a recording, or of one. */
static enum status show(struct show_command *options) {
    const struct screen screen = screen_of(options->page.stream);
    const bool is_whole = options->page.joint || options->by || options->of;
    CLEANUP_FREE char *live_path = NULL;
    enum status status = STATUS_OK;
    struct input input;
    /* The control file of a stopped daemon does not answer. */
    if (is_whole && input_find_live(options->profile, &live_path) == 0 &&
        input_load_recording(live_path, &input) == 0) {
        char text[DAEMON_TEXT_SIZE];
        const struct daemon_state daemon = daemon_state_find(&input);
        if (daemon_state_format(&daemon, text) && daemon.trouble != DAEMON_UNSEEN)
            complain("%s This waits for its answer, too.", text);
        input_finish(&input);
    }
    if ((is_whole ? input_load_whole : input_load_recording)(options->profile, &input) != 0)
        return STATUS_TROUBLE;
    if (input.layers.count > 0 && options->shows_layers) {
        const struct layers_page page = {.recording = &input.layers, .name = options->profile};
        int error = options->view ? layers_page_write_json(&input.layers, options->page.stream)
                                  : layers_page_print(&page, &screen);
        if (error) {
            complain("cannot show %s: %s", options->profile, strerror(-error));
            status = STATUS_TROUBLE;
        }
    } else {
        status = show_layer(options, &input);
    }
    input_finish(&input);
    return status;
}

/* The results that are kept, a line each, or as JSON after docs/lists.schema.json. */
static enum status list_kept(bool has_json) {
    const struct screen screen = screen_of_stdout();
    CLEANUP_FREE struct kept_entry *entries = NULL;
    size_t count = 0;
    if (kept_list(&entries, &count) != 0)
        return STATUS_TROUBLE;
    enum status status = STATUS_OK;
    struct json_writer writer = {.stream = stdout};
    if (has_json) {
        json_begin(&writer, NULL, '{');
        json_count(&writer, "version", 1);
        json_begin(&writer, "results", '[');
    }
    input_tell_kept(false);
    for (size_t i = 0; i < count; i++) {
        const struct kept_entry *entry = &entries[i];
        struct input input;
        if (input_load_recording(entry->name, &input) != 0) {
            status = STATUS_TROUBLE;
            continue;
        }
        CLEANUP_FREE char *text = input_describe_run(input_layer(&input, 0), strchr(entry->name, '.'));
        input_finish(&input);
        if (has_json) {
            json_begin(&writer, NULL, '{');
            json_text(&writer, "name", entry->name);
            json_text(&writer, "time", entry->time);
            json_text(&writer, "run", text ? text : "");
            json_end(&writer, '}');
            continue;
        }
        const int column = printf("%-4s %s  ", entry->name, entry->time);
        CLEANUP_FREE char *cut = text ? screen_cut(&screen, text, screen.width - column, SCREEN_BEGINNING) : NULL;
        puts(cut ? cut : "");
    }
    if (has_json) {
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    return status;
}

static enum status check(struct show_command *options, const struct arguments *arguments) {
    static char last[] = "@1";
    static char *const lasts[] = {last};
    const bool has_names = arguments->rest_count > 0;
    options->check.layer = options->layer;
    return check_profiles(&options->check, has_names ? arguments->rest : lasts,
                          has_names ? (size_t)arguments->rest_count : 1);
}

static enum status run_show(const struct command *command, int argc, char **argv) {
    static const struct view *const views[] = {&view_json, &view_csv, &view_metrics, &view_protobuf};
    struct show_command options = {.check = {.threads = 2}, .page = {.stream = stdout}};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        for (size_t i = 0; options.view_name && i < ARRAY_SIZE(views); i++)
            if (strcmp(options.view_name, views[i]->name) == 0)
                options.view = views[i];
        options.profile = arguments.rest_count > 0 ? arguments.rest[0] : "@1";
        options.shows_layers = !options_given(&arguments, "layer op of by charts buckets joint explain no-labels csv "
                                                          "metrics protobuf");
        options.page.source = (struct answer_source){.profile = options.profile, .by = options.by, .of = options.of};
        status = check_options(command, &options, &arguments);
        if (status == STATUS_OK)
            status = options.checks  ? check(&options, &arguments)
                     : options.lists ? list_kept(options.view == &view_json)
                                     : show(&options);
    }
    option_list_finish(&options.page.ops);
    return status;
}

const struct command command_show = {
    .name = "show",
    .summary = "prints a profile: what costs the time, operations, histograms",
    .help =
        "PROFILE is a profile file, a mount point of osproffs, a live file, - for standard input, or one of the last "
        "ten results of 'osprof run': @1 is the last, @2 the one before; --list lists them. Without it, the last is "
        "shown.",
    .notes =
        "Exit status: 0; 1 what was asked for is not in the profile, or it is not consistent; 2 it cannot be read.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_QUIET,
    .run = run_show,
};
