/* osprof plot: the figures of the thesis as pictures. Options become one struct, profiles are read and made comparable,
 * a figure writes its script, and gnuplot draws it. */
#include <getopt.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "figures.h"
#include "gnuplot_run.h"
#include "input.h"
#include "option_list.h"
#include "output.h"
#include "plot.h"

#define DEFAULT_OUTPUT "osprof.svg"

enum figure { FIGURE_HISTOGRAMS, FIGURE_TIMELINE, FIGURE_JOINT };

struct plot_options {
    enum figure figure;
    bool landscape;
    bool script; /* instead of the picture */
    bool no_labels;
    const char *output;
    struct option_list *op_names;
    struct plot plot; /* what else the figure is told */
};

/* ---- Reading profiles --------------------------------------------------------------------------- */

static enum status complain_unplottable(const struct plot *plot, int error) {
    complain("cannot plot %s: %s", plot->names[0], strerror(-error));
    return STATUS_TROUBLE;
}

/* Two profiles are drawn over one axis of time, with buckets that can be compared. */
static enum status make_comparable(struct plot *plot) {
    struct aggstats_profile *a = plot->profiles[0];
    struct aggstats_profile *b = plot->profiles[1];
    if (plot->profile_count < 2)
        return STATUS_OK;
    if ((a->clock.frequency_hz == 0) != (b->clock.frequency_hz == 0)) {
        complain("cannot plot %s over %s: only one of them tells its clock's rate, so they have no common unit of time",
                 plot->names[1], plot->names[0]);
        return STATUS_TROUBLE;
    }
    unsigned resolution = a->resolution < b->resolution ? a->resolution : b->resolution;
    int error = aggstats_profile_coarsen(a, resolution);
    if (!error)
        error = aggstats_profile_coarsen(b, resolution);
    return error ? complain_unplottable(plot, error) : STATUS_OK;
}

/* ---- Choosing operations ------------------------------------------------------------------------ */

static const struct aggstats_op_profile *finished_op(const struct aggstats_profile *profile, const char *name) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
    return op && figures_finished(op, profile->resolution) > 0 ? op : NULL;
}

/* The op as all profiles have it; nothing if it is there already. */
static void add_op(struct plot *plot, const char *name) {
    struct plot_op op = {.name = name};
    for (size_t i = 0; i < plot->op_count; i++) {
        if (strcmp(plot->ops[i].name, name) == 0)
            return;
    }
    for (size_t i = 0; i < plot->profile_count; i++) {
        op.of[i] = finished_op(plot->profiles[i], name);
        op.total += op.of[i] ? plot_time(plot, i, (double)op.of[i]->total_cycles) : 0;
    }
    if (op.of[0] || op.of[1])
        plot->ops[plot->op_count++] = op;
}

static int by_total(const void *a, const void *b) {
    const struct plot_op *left = a;
    const struct plot_op *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return strcmp(left->name, right->name);
}

static bool is_drawn(const struct plot *plot, const char *op_name) {
    for (size_t i = 0; i < plot->op_count; i++) {
        if (strcasecmp(plot->ops[i].name, op_name) == 0)
            return true;
    }
    return false;
}

/* Nothing is drawn unless all that was asked for can be. */
static enum status report_absent(const struct plot_options *options) {
    const struct plot *plot = &options->plot;
    for (size_t i = 0; i < options->op_names->count; i++) {
        if (!is_drawn(plot, options->op_names->texts[i])) {
            complain("no call of %s has ended in %s; 'osprof show' lists the operations of a profile",
                     options->op_names->texts[i], plot->profile_count == 1 ? plot->names[0] : "these profiles");
            return STATUS_NOT_SO;
        }
    }
    if (plot->op_count > 0)
        return STATUS_OK;
    complain("nothing to plot: no call has ended in %s", plot->profile_count == 1 ? plot->names[0] : "these profiles");
    return STATUS_NOT_SO;
}

static enum status choose_ops(struct plot_options *options) {
    struct plot *plot = &options->plot;
    size_t count_max = 0;
    for (size_t i = 0; i < plot->profile_count; i++)
        count_max += plot->profiles[i]->op_count;
    plot->ops = calloc(count_max + 1, sizeof(*plot->ops));
    if (!plot->ops)
        return complain_unplottable(plot, -ENOMEM);
    for (size_t i = 0; i < plot->profile_count; i++) {
        for (size_t j = 0; j < plot->profiles[i]->op_count; j++) {
            if (option_list_wants(options->op_names, plot->profiles[i]->ops[j].name))
                add_op(plot, plot->profiles[i]->ops[j].name);
        }
    }
    qsort(plot->ops, plot->op_count, sizeof(*plot->ops), by_total);
    return report_absent(options);
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

static enum status report_no_data(const struct plot_options *options, const struct input *input) {
    const char *name = options->plot.names[0];
    const bool joint = options->figure == FIGURE_JOINT;
    const char *missing = joint ? "joint profiles" : "intervals";
    if (input->is_live)
        complain("no %s in %s; live files have none", missing, name);
    else if (options->op_names->count > 0)
        complain("no %s of these operations in %s; osproffs -o %s records them", missing, name,
                 joint ? "joint=OP:VALUE" : "interval=SECONDS");
    else
        complain("no %s in %s; osproffs -o %s records them", missing, name,
                 joint ? "joint=OP:VALUE" : "interval=SECONDS");
    return STATUS_NOT_SO;
}

static int write_figure(const struct plot_options *options, FILE *script) {
    switch (options->figure) {
    case FIGURE_TIMELINE:
        return options->landscape ? plot_landscape(&options->plot, script) : plot_timeline(&options->plot, script);
    case FIGURE_JOINT:
        return plot_joints(&options->plot, script);
    default:
        return plot_histograms(&options->plot, script);
    }
}

/* The whole script in memory. */
static int format_script(const struct plot_options *options, char **ret_script, size_t *ret_bytes) {
    CLEANUP_FREE char *script = NULL;
    FILE *stream = open_memstream(&script, ret_bytes);
    if (!stream)
        return -ENOMEM;
    int error = write_figure(options, stream);
    if (ferror(stream) && !error)
        error = -ENOMEM;
    if (fclose(stream) != 0 && !error)
        error = -ENOMEM;
    if (!error)
        *ret_script = steal_pointer(&script);
    return error;
}

static enum status complain_unscripted(const struct plot_options *options, const struct input *input, int error) {
    if (error == -ENODATA)
        return report_no_data(options, input);
    if (error != -ERANGE)
        return complain_unplottable(&options->plot, error);
    if (options->plot.height > 0)
        complain("a picture of %dx%d has no room for all of this; choose operations with --op, or a larger --size",
                 options->plot.width, options->plot.height);
    else
        complain("a picture of %d pixels has no room for all of this; choose operations with --op", PLOT_SIZE_MAX);
    return STATUS_TROUBLE;
}

static enum status draw(const struct plot_options *options, const char *script, size_t script_bytes) {
    CLEANUP_FREE char *picture = NULL;
    size_t picture_bytes = 0;
    char reason[GNUPLOT_REASON_SIZE];
    int error = gnuplot_run(script, script_bytes, &picture, &picture_bytes, reason);
    if (error == -ENOENT)
        complain("cannot plot: there is no gnuplot in the PATH (Debian: apt-get install gnuplot-nox); "
                 "--gnuplot writes the script for one elsewhere");
    else if (error == -EPROTO)
        complain("cannot plot: gnuplot failed: %s", reason);
    else if (error)
        complain("cannot plot: cannot run gnuplot: %s", strerror(-error));
    if (error)
        return STATUS_TROUBLE;
    const char *output = options->output ? options->output : DEFAULT_OUTPUT;
    error = output_write(output, picture, picture_bytes);
    if (error) {
        complain("cannot write %s: %s", output, strerror(-error));
        return STATUS_TROUBLE;
    }
    if (!options->output)
        puts(DEFAULT_OUTPUT);
    return STATUS_OK;
}

static enum status plot_figure(struct plot_options *options, const struct input *input) {
    CLEANUP_FREE char *script = NULL;
    size_t script_bytes = 0;
    int error = format_script(options, &script, &script_bytes);
    if (error)
        return complain_unscripted(options, input, error);
    if (!options->script)
        return draw(options, script, script_bytes);
    fwrite(script, 1, script_bytes, stdout);
    return STATUS_OK;
}

static void find_times(struct plot_options *options) {
    struct plot *plot = &options->plot;
    if (options->no_labels || options->figure != FIGURE_HISTOGRAMS)
        return;
    if (plot->profile_count > 1)
        calibration_for_pair(plot->profiles[0], plot->profiles[1], &plot->times[0], &plot->times[1]);
    else
        calibration_for_profile(plot->profiles[0], &plot->times[0]);
}

static enum status plot(struct plot_options *options) {
    struct plot *plot = &options->plot;
    struct input inputs[PLOT_PROFILES_MAX] = {0};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < plot->profile_count && status == STATUS_OK; i++) {
        int error = options->figure == FIGURE_HISTOGRAMS ? input_load(plot->names[i], &inputs[i])
                                                         : input_load_whole(plot->names[i], &inputs[i]);
        if (error)
            status = STATUS_TROUBLE;
        plot->profiles[i] = &inputs[i].profile;
    }
    if (status == STATUS_OK)
        status = make_comparable(plot);
    if (status == STATUS_OK)
        status = choose_ops(options);
    if (status == STATUS_OK) {
        find_times(options);
        status = plot_figure(options, &inputs[0]);
    }
    for (size_t i = 0; i < plot->profile_count; i++) {
        input_finish(&inputs[i]);
        plot->profiles[i] = NULL;
        calibration_finish(&plot->times[i]);
    }
    free(plot->ops);
    plot->ops = NULL;
    return status;
}

/* ---- The command -------------------------------------------------------------------------------- */

enum {
    OPTION_OP = 256,
    OPTION_TIMELINE,
    OPTION_3D,
    OPTION_JOINT,
    OPTION_BY_LATENCY,
    OPTION_SIZE,
    OPTION_TITLE,
    OPTION_GNUPLOT,
    OPTION_NO_LABELS
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"op", required_argument, NULL, OPTION_OP},
    {"timeline", no_argument, NULL, OPTION_TIMELINE},
    {"3d", no_argument, NULL, OPTION_3D},
    {"joint", no_argument, NULL, OPTION_JOINT},
    {"by-latency", no_argument, NULL, OPTION_BY_LATENCY},
    {"size", required_argument, NULL, OPTION_SIZE},
    {"title", required_argument, NULL, OPTION_TITLE},
    {"gnuplot", no_argument, NULL, OPTION_GNUPLOT},
    {"no-labels", no_argument, NULL, OPTION_NO_LABELS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* The suffix decides; standard output has none, and gets SVG. */
static bool parse_format(const char *output, enum plot_format *ret_format) {
    static const struct {
        const char *suffix;
        enum plot_format format;
    } formats[] = {{".svg", PLOT_SVG}, {".png", PLOT_PNG}, {".pdf", PLOT_PDF}};
    const char *suffix = strrchr(output, '.');
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        if (suffix && strcasecmp(suffix, formats[i].suffix) == 0) {
            *ret_format = formats[i].format;
            return true;
        }
    }
    *ret_format = PLOT_SVG;
    return output_is_stdout(output);
}

static bool parse_pixels(const char *text, char **ret_end, int *ret_pixels) {
    long pixels = *text >= '0' && *text <= '9' ? strtol(text, ret_end, 10) : 0;
    *ret_pixels = (int)pixels;
    return pixels >= PLOT_SIZE_MIN && pixels <= PLOT_SIZE_MAX;
}

/* "1000x600" */
static bool parse_size(const char *text, struct plot *plot) {
    char *end;
    return parse_pixels(text, &end, &plot->width) && *end == 'x' && parse_pixels(end + 1, &end, &plot->height) &&
           *end == '\0';
}

static enum status choose_figure(const struct command *command, struct plot_options *options, enum figure figure) {
    if (options->figure != FIGURE_HISTOGRAMS && options->figure != figure)
        return usage_error(command, "--timeline and --joint exclude each other: give one");
    options->figure = figure;
    return STATUS_OK;
}

static enum status choose_output(const struct command *command, struct plot_options *options, const char *output) {
    options->output = output;
    if (parse_format(output, &options->plot.format))
        return STATUS_OK;
    return usage_error(command, "the format is told by the suffix, .svg, .png or .pdf; '%s' has none of them", output);
}

/* One option that getopt_long has found. */
static enum status take_option(const struct command *command, int option, char **argv, struct plot_options *options) {
    switch (option) {
    case 'o':
        return choose_output(command, options, optarg);
    case OPTION_OP:
        optarg += strncasecmp(optarg, "OP_", 3) == 0 ? 3 : 0;
        return option_list_add(options->op_names, optarg) == 0 ? STATUS_OK : usage_error(command, "no memory");
    case OPTION_TIMELINE:
        return choose_figure(command, options, FIGURE_TIMELINE);
    case OPTION_JOINT:
        return choose_figure(command, options, FIGURE_JOINT);
    case OPTION_3D:
        options->landscape = true;
        return STATUS_OK;
    case OPTION_BY_LATENCY:
        options->plot.by_latency = true;
        return STATUS_OK;
    case OPTION_SIZE:
        if (parse_size(optarg, &options->plot))
            return STATUS_OK;
        return usage_error(command, "--size must be two numbers from %d to %d, as in 1000x600, not '%s'", PLOT_SIZE_MIN,
                           PLOT_SIZE_MAX, optarg);
    case OPTION_TITLE:
        options->plot.title = optarg;
        return STATUS_OK;
    case OPTION_GNUPLOT:
        options->script = true;
        return STATUS_OK;
    case OPTION_NO_LABELS:
        options->no_labels = true;
        return STATUS_OK;
    default:
        return option_error(command, option, argv, long_options);
    }
}

static enum status check_options(const struct command *command, const struct plot_options *options, int rest_count) {
    if (rest_count > PLOT_PROFILES_MAX)
        return usage_error(command, "one profile, or two to compare, not %d", rest_count);
    if (rest_count > 1 && options->figure != FIGURE_HISTOGRAMS)
        return usage_error(command, "--timeline and --joint are of one profile, not of two");
    if (options->landscape && options->figure != FIGURE_TIMELINE)
        return usage_error(command, "--3d is a view of --timeline");
    if (options->no_labels && options->figure != FIGURE_HISTOGRAMS)
        return usage_error(command, "--no-labels is about histograms: --timeline and --joint have no labels");
    if (options->script && output_is_stdout(options->output) && options->output)
        return usage_error(command, "--gnuplot writes the script to standard output; -o names the script's picture, "
                                    "which needs a file");
    return STATUS_OK;
}

static void name_profiles(struct plot *plot, char **names, size_t count) {
    plot->names[0] = "osprof.out";
    for (size_t i = 0; i < count; i++)
        plot->names[i] = names[i];
    plot->profile_count = count > 0 ? count : 1;
}

static enum status run_plot(const struct command *command, int argc, char **argv) {
    CLEANUP_OPTION_LIST struct option_list op_names = {0};
    struct plot_options options = {.op_names = &op_names};
    enum status status = STATUS_OK;
    int option;
    while (status == STATUS_OK && (option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
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
    name_profiles(&options.plot, argv + optind, (size_t)(argc - optind));
    if (options.script)
        options.plot.output = options.output ? options.output : DEFAULT_OUTPUT;
    return plot(&options);
}

const struct command command_plot = {
    .name = "plot",
    .summary = "draws profiles with gnuplot: histograms, timelines, joint profiles",
    .arguments = "[-o FILE] [--op NAME]... [--by-latency] [--no-labels] [--title TEXT] [--size WxH]\n"
                 "                   [--gnuplot] [--timeline [--3d] | --joint] [PROFILE [PROFILE]]",
    .help = "Draws a histogram for each operation, those with the largest total latency first; of two\n"
            "profiles, the second over the first. PROFILE is as for 'osprof show'.\n\n"
            "  --timeline         what happened when, of a profile with intervals: colour for calls\n"
            "  --3d               the same as a landscape\n"
            "  --joint            how values are distributed in each peak, of a profile with joint profiles\n"
            "  --op NAME          only this operation; may be repeated\n"
            "  --by-latency       the estimated latency of each bucket instead of its calls\n"
            "  --no-labels        no labels of peaks that lie near a time of 'osprof calibrate'\n"
            "  --title TEXT       instead of the directory that was profiled\n"
            "  --size WxH         of the picture, in pixels; default: 1000 wide, as high as is needed\n"
            "  -o, --output FILE  FILE.svg, FILE.png or FILE.pdf, written whole or not at all; - is SVG on\n"
            "                     standard output; default: osprof.svg\n"
            "  --gnuplot          print a script with all data, from which gnuplot makes that file\n",
    .run = run_plot,
};
