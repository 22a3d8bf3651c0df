/* osprof show: a profile for the eye, or one of the views for other programs. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "groups.h"
#include "input.h"
#include "option_list.h"
#include "screen.h"
#include "show.h"
#include "views.h"

struct show_command {
    const struct view *view; /* for other programs; NULL: for the eye */
    const char *by;          /* a row for each "process" or "uid"; NULL: no */
    const char *of;          /* whose calls only; NULL: all */
    const char *profile;
    struct option_list *op_names;
    struct show_options page;
};

/* ---- What is not there -------------------------------------------------------------------------- */

/* Names of --op that the profile does not hold. */
static enum status report_absent(const struct show_command *options, const struct aggstats_profile *profile) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->op_names->count; i++) {
        bool found = false;
        for (size_t j = 0; j < profile->op_count && !found; j++)
            found = strcasecmp(options->op_names->texts[i], profile->ops[j].name) == 0;
        if (found)
            continue;
        complain("no call of %s in this profile; 'osprof show' without --op lists its operations",
                 options->op_names->texts[i]);
        status = STATUS_NOT_SO;
    }
    return status;
}

static enum status report_no_joints(const struct show_command *options, const struct input *input) {
    if (!options->page.joint || input->profile.joint_count > 0)
        return STATUS_OK;
    complain("no joint profiles in %s; %s", options->profile,
             input->is_live ? "live files have none" : "osproffs -o joint=OP:VALUE records them");
    return STATUS_NOT_SO;
}

static enum status report_no_groups(const struct show_command *options, const struct input *input) {
    const char *has = aggstats_grouping_name(input->profile.grouping);
    const char *wanted = options->by ? options->by : "process";
    if (has && (!options->by || strcmp(has, options->by) == 0))
        return STATUS_OK;
    if (input->is_live)
        complain("no calls by %s in %s; live files have none", wanted, options->profile);
    else
        complain("no calls by %s in %s; osproffs -o by=%s records them, but what recover saves has none", wanted,
                 options->profile, wanted);
    return STATUS_NOT_SO;
}

/* Leaves only the calls of some. */
static enum status select_groups(const struct show_command *options, struct input *input) {
    enum status status = report_no_groups(options, input);
    if (status != STATUS_OK)
        return status;
    int error = groups_select(&input->profile, options->of);
    if (error == -ENOENT) {
        complain("no calls of %s in %s; 'osprof show --by process' or '--by uid' lists whose there are", options->of,
                 options->profile);
        return STATUS_NOT_SO;
    }
    if (!error)
        return STATUS_OK;
    complain("cannot show %s: %s", options->profile, strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- For the eye -------------------------------------------------------------------------------- */

static size_t count_chosen(const struct show_command *options, const struct aggstats_profile *profile) {
    size_t count = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        count += option_list_wants(options->op_names, profile->ops[i].name);
    return count;
}

static enum status print_groups(const struct show_command *options, const struct input *input) {
    enum status status = report_no_groups(options, input);
    if (status == STATUS_OK)
        show_groups(input, &options->page);
    return status;
}

static enum status print_page(const struct show_command *options, const struct input *input) {
    enum status status = report_absent(options, &input->profile);
    if (status == STATUS_OK)
        status = report_no_joints(options, input);
    if (status == STATUS_OK && options->by)
        return print_groups(options, input);
    if (status != STATUS_OK && count_chosen(options, &input->profile) == 0)
        return status;
    if (show_page(input, &options->page) == 0)
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
    else
        complain("cannot show %s as %s: %s", options->profile, name, strerror(-error));
    return STATUS_TROUBLE;
}

static enum status print_view(const struct show_command *options, const struct aggstats_profile *profile) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    int error = view_format(options->view, profile, &text, &size_bytes);
    if (error)
        return complain_no_view(options, error);
    fwrite(text, 1, size_bytes, stdout);
    return STATUS_OK;
}

static enum status show_view(const struct show_command *options, const struct input *input) {
    struct aggstats_profile chosen = input->profile; /* shares all with it but the array of ops */
    CLEANUP_FREE struct aggstats_op_profile *ops = calloc(input->profile.op_count + 1, sizeof(*ops));
    if (!ops)
        return complain_no_view(options, -ENOMEM);
    chosen.ops = ops;
    chosen.op_count = 0;
    for (size_t i = 0; i < input->profile.op_count; i++) {
        if (option_list_wants(options->op_names, input->profile.ops[i].name))
            ops[chosen.op_count++] = input->profile.ops[i];
    }
    enum status absent = report_absent(options, &input->profile);
    if (absent != STATUS_OK && chosen.op_count == 0)
        return absent;
    enum status printed = print_view(options, &chosen);
    return printed != STATUS_OK ? printed : absent;
}

/* ---- The command -------------------------------------------------------------------------------- */

static bool parse_width(const char *text, int *ret_width) {
    char *end;
    long width = strtol(text, &end, 10);
    if (end == text || *end != '\0' || width < SCREEN_WIDTH_MIN || width > SCREEN_WIDTH_MAX)
        return false;
    *ret_width = (int)width;
    return true;
}

enum {
    OPTION_ASCII = 256,
    OPTION_WIDTH,
    OPTION_OP,
    OPTION_BUCKETS,
    OPTION_JOINT,
    OPTION_BY,
    OPTION_OF,
    OPTION_NO_LABELS,
    OPTION_JSON,
    OPTION_CSV,
    OPTION_METRICS
};

static const struct option long_options[] = {
    {"ascii", no_argument, NULL, OPTION_ASCII},
    {"width", required_argument, NULL, OPTION_WIDTH},
    {"op", required_argument, NULL, OPTION_OP},
    {"buckets", no_argument, NULL, OPTION_BUCKETS},
    {"joint", no_argument, NULL, OPTION_JOINT},
    {"by", required_argument, NULL, OPTION_BY},
    {"of", required_argument, NULL, OPTION_OF},
    {"no-labels", no_argument, NULL, OPTION_NO_LABELS},
    {"json", no_argument, NULL, OPTION_JSON},
    {"csv", no_argument, NULL, OPTION_CSV},
    {"metrics", no_argument, NULL, OPTION_METRICS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum status choose_view(const struct command *command, int option, struct show_command *options) {
    const struct view *view = option == OPTION_JSON ? &view_json : option == OPTION_CSV ? &view_csv : &view_metrics;
    if (options->view && options->view != view)
        return usage_error(command, "--%s and --%s exclude each other: give one", options->view->name, view->name);
    options->view = view;
    return STATUS_OK;
}

static enum status check_options(const struct command *command, const struct show_command *options, int rest_count) {
    if (options->view && (options->page.ascii || options->page.buckets || options->page.joint || options->by ||
                          options->page.no_labels || options->page.width > 0))
        return usage_error(command, "--ascii, --buckets, --by, --joint, --no-labels and --width do not go with --%s",
                           options->view->name);
    if (options->by && (options->of || options->page.joint || options->page.buckets || options->page.no_labels ||
                        options->op_names->count > 0))
        return usage_error(command, "--by prints one table: leave out --of, --op, --joint, --buckets and --no-labels");
    if (options->of && options->page.joint)
        return usage_error(command, "--of and --joint exclude each other: joint profiles are of all calls");
    if (rest_count > 1)
        return usage_error(command, "one profile at a time, not %d", rest_count);
    return STATUS_OK;
}

/* One option that getopt_long has found. */
static enum status take_option(const struct command *command, int option, char **argv, struct show_command *options) {
    switch (option) {
    case OPTION_ASCII:
        options->page.ascii = true;
        return STATUS_OK;
    case OPTION_JOINT:
        options->page.joint = true;
        return STATUS_OK;
    case OPTION_BY:
        options->by = optarg;
        if (strcmp(optarg, "process") == 0 || strcmp(optarg, "uid") == 0)
            return STATUS_OK;
        return usage_error(command, "--by must be process or uid, not '%s'", optarg);
    case OPTION_OF:
        options->of = optarg;
        return STATUS_OK;
    case OPTION_NO_LABELS:
        options->page.no_labels = true;
        return STATUS_OK;
    case OPTION_BUCKETS:
        options->page.buckets = true;
        return STATUS_OK;
    case OPTION_WIDTH:
        if (parse_width(optarg, &options->page.width))
            return STATUS_OK;
        return usage_error(command, "--width must be a number from %d to %d, not '%s'", SCREEN_WIDTH_MIN,
                           SCREEN_WIDTH_MAX, optarg);
    case OPTION_OP:
        optarg += strncasecmp(optarg, "OP_", 3) == 0 ? 3 : 0;
        return option_list_add(options->op_names, optarg) == 0 ? STATUS_OK : usage_error(command, "no memory");
    case OPTION_JSON:
    case OPTION_CSV:
    case OPTION_METRICS:
        return choose_view(command, option, options);
    default:
        return option_error(command, option, argv, long_options);
    }
}

static enum status run_show(const struct command *command, int argc, char **argv) {
    CLEANUP_OPTION_LIST struct option_list op_names = {0};
    struct show_command options = {
        .op_names = &op_names, .profile = "osprof.out", .page = {.op_names = &op_names, .stream = stdout}};
    enum status status = STATUS_OK;
    int option;
    while (status == STATUS_OK && (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h') {
            command_print_help(command);
            return STATUS_OK;
        }
        status = take_option(command, option, argv, &options);
    }
    if (status == STATUS_OK)
        status = check_options(command, &options, argc - optind);
    if (status != STATUS_OK)
        return status;
    if (optind < argc)
        options.profile = argv[optind];
    struct input input;
    bool is_whole_needed = options.page.joint || options.by || options.of;
    if ((is_whole_needed ? input_load_whole(options.profile, &input) : input_load(options.profile, &input)) != 0)
        return STATUS_TROUBLE;
    status = options.of ? select_groups(&options, &input) : STATUS_OK;
    if (status == STATUS_OK)
        status = options.view ? show_view(&options, &input) : print_page(&options, &input);
    input_finish(&input);
    return status;
}

const struct command command_show = {
    .name = "show",
    .summary = "prints a profile: a table of the operations and their latency histograms",
    .arguments = "[--op NAME]... [--of WHO] [--buckets] [--joint] [--no-labels] [--ascii] [--width N] [PROFILE]\n"
                 "       osprof show --by process|uid [--ascii] [--width N] [PROFILE]\n"
                 "       osprof show --json|--csv|--metrics [--op NAME]... [--of WHO] [PROFILE]",
    .help = "PROFILE is a profile file, a mount point of osproffs, a live file, or - for standard\n"
            "input; without it, osprof.out in the current directory.\n\n"
            "  --op NAME   only this operation; may be repeated\n"
            "  --buckets   a row per bucket with its exact count, instead of columns\n"
            "  --joint     for each peak of latency how the values are distributed that osproffs\n"
            "              was told to relate it to\n"
            "  --by WHOM   a table of the processes, or of the users (uid), whose calls they were\n"
            "  --of WHO    only the calls of a process or user, by number or name; or those of the\n"
            "              kernel, or other\n"
            "  --no-labels do not say which of the times of 'osprof calibrate' a peak lies near\n"
            "  --ascii     only ASCII characters\n"
            "  --width N   columns to use, 40 to 1000; default: those of the terminal, else 80\n\n"
            "For other programs, see osprof(5):\n\n"
            "  --json      JSON\n"
            "  --csv       comma-separated values, a row per operation and bucket\n"
            "  --metrics   Prometheus metrics\n",
    .run = run_show,
};
