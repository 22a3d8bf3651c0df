/* osprof plot: the figures of the thesis as pictures. Options become one struct, profiles are read and made comparable,
 * a figure writes its script, and gnuplot draws it. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "gnuplot.h"
#include "input.h"
#include "option_table.h"
#include "output.h"
#include "plot_bins.h"

#define DEFAULT_OUTPUT "osprof.svg"

struct plot_options {
    const char *figure; /* "timeline", "joint", "layers"; NULL: histograms */
    bool landscape;
    bool script; /* prints the script, not the picture */
    bool no_labels;
    const char *output;
    const char *size;  /* "1000x600"; NULL: chosen by the figure */
    const char *layer; /* of recordings */
    struct option_list ops;
    struct plot plot;                  /* the other options of the figure */
    const struct recording *recording; /* for --layers */
};

static bool is_figure(const struct plot_options *options, const char *name) {
    return options->figure && strcmp(options->figure, name) == 0;
}

/* ---- Reading profiles --------------------------------------------------------------------------- */

static enum status complain_unplottable(const struct plot *plot, int error) {
    complain("cannot plot %s: %s", plot->names[0], strerror(-error));
    return STATUS_TROUBLE;
}

/* Two profiles are drawn over one axis of time, with comparable buckets. */
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
    const unsigned resolution = a->resolution < b->resolution ? a->resolution : b->resolution;
    int error = aggstats_profile_coarsen(a, resolution);
    if (!error)
        error = aggstats_profile_coarsen(b, resolution);
    return error ? complain_unplottable(plot, error) : STATUS_OK;
}

/* ---- Choosing operations ------------------------------------------------------------------------ */

/* Nothing is drawn unless all requested ops exist. */
static enum status choose_ops(struct plot_options *options) {
    const struct plot *plot = &options->plot;
    const char *where = plot->profile_count == 1 ? plot->names[0] : "these profiles";
    int error = plot_ops_choose(&options->plot, &options->ops);
    if (error)
        return complain_unplottable(plot, error);
    for (size_t i = 0; i < options->ops.count; i++) {
        const char *name = options->ops.texts[i];
        size_t at = 0;
        while (at < plot->op_count && strcasecmp(plot->ops[at].name, name) != 0)
            at++;
        if (at == plot->op_count) {
            complain("no call of %s has ended in %s; 'osprof show' lists the operations of a profile", name, where);
            return STATUS_NOT_SO;
        }
    }
    if (plot->op_count > 0)
        return STATUS_OK;
    complain("nothing to plot: no call has ended in %s", where);
    return STATUS_NOT_SO;
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

static int write_figure(const void *context, FILE *script) {
    const struct plot_options *options = context;
    if (is_figure(options, "layers"))
        return plot_layers(&options->plot, options->recording, &options->ops, script);
    if (is_figure(options, "joint"))
        return plot_joints(&options->plot, script);
    if (!is_figure(options, "timeline"))
        return plot_histograms(&options->plot, script);
    return options->landscape ? plot_landscape(&options->plot, script) : plot_timeline(&options->plot, script);
}

static enum status complain_unscripted(const struct plot_options *options, const struct input *input, int error) {
    const char *name = options->plot.names[0];
    const bool is_joint = is_figure(options, "joint");
    const char *missing = is_joint ? "joint profiles" : "intervals";
    const char *source =
        is_joint ? "osproffs -o joint=OP:VALUE" : "osprof run --interval TIME or osproffs -o interval=TIME";
    if (error != -ENODATA && error != -ERANGE)
        return complain_unplottable(&options->plot, error);
    if (error == -ERANGE && options->plot.height > 0)
        complain("a picture of %dx%d has no room for all of this; choose operations with --op, or a larger --size",
                 options->plot.width, options->plot.height);
    else if (error == -ERANGE)
        complain("a picture of %d pixels has no room for all of this; choose operations with --op", PLOT_SIZE_MAX);
    else if (is_figure(options, "layers"))
        complain("no calls of %s in %s; 'osprof show' has a table of its operations",
                 options->ops.count > 0 ? "these operations" : "an operation at two layers", name);
    else if (input->is_live)
        complain("no %s in %s; live files have none", missing, name);
    else
        complain("no %s%s in %s; %s records them", missing, options->ops.count > 0 ? " of these operations" : "", name,
                 source);
    return error == -ERANGE ? STATUS_TROUBLE : STATUS_NOT_SO;
}

static enum status plot_figure(struct plot_options *options, const struct input *input) {
    CLEANUP_FREE char *script = NULL;
    CLEANUP_FREE char *picture = NULL;
    size_t script_bytes = 0;
    size_t picture_bytes = 0;
    char reason[GNUPLOT_REASON_SIZE];
    int error = output_format(write_figure, options, &script, &script_bytes);
    if (error)
        return complain_unscripted(options, input, error);
    if (options->script) {
        fwrite(script, 1, script_bytes, stdout);
        return STATUS_OK;
    }
    error = gnuplot_run(script, script_bytes, &picture, &picture_bytes, reason);
    if (error == -ENOENT)
        complain("cannot plot: there is no gnuplot in the PATH (Debian: apt-get install gnuplot-nox); "
                 "--gnuplot writes the script for one elsewhere");
    else if (error == -EPROTO)
        complain("cannot plot: gnuplot failed: %s", reason);
    else if (error)
        complain("cannot plot: cannot run gnuplot: %s", strerror(-error));
    if (error)
        return STATUS_TROUBLE;
    return output_deliver(options->output, DEFAULT_OUTPUT, 0644, picture, picture_bytes) ? STATUS_OK : STATUS_TROUBLE;
}

static enum status plot_all_layers(struct plot_options *options) {
    const char *name = options->plot.names[0];
    enum status status = STATUS_OK;
    struct input input;
    if (input_load_recording(name, &input) != 0)
        return STATUS_TROUBLE;
    if (input.layers.count == 0) {
        complain("no layers in %s: it is a profile of one layer; 'osprof run --layers' records several", name);
        status = STATUS_NOT_SO;
    }
    for (size_t i = 0; i < input.layers.count; i++) {
        if (input.layers.layers[i].clock.frequency_hz > 0)
            continue;
        complain("cannot plot the layers of %s: the layer %s does not tell its clock's rate, so they have no common "
                 "unit of time",
                 name, aggstats_profile_label(&input.layers.layers[i], "layer"));
        status = STATUS_TROUBLE;
    }
    if (status == STATUS_OK) {
        options->recording = &input.layers;
        options->plot.profiles[0] = &input.layers.layers[0];
        status = plot_figure(options, &input);
    }
    input_finish(&input);
    return status;
}

static enum status plot(struct plot_options *options) {
    struct plot *plot = &options->plot;
    struct input inputs[PLOT_PROFILES_MAX] = {0};
    struct input_layer layer = {.name = options->layer};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < plot->profile_count && status == STATUS_OK; i++) {
        const input_load_fn load = options->figure ? input_load_whole : input_load_recording;
        if (load(plot->names[i], &inputs[i]) != 0 || input_choose(plot->names[i], &layer, &inputs[i]) != 0)
            status = STATUS_TROUBLE;
        plot->profiles[i] = &inputs[i].profile;
    }
    if (status == STATUS_OK)
        status = make_comparable(plot);
    if (status == STATUS_OK)
        status = choose_ops(options);
    for (size_t i = 0; i < plot->profile_count; i++)
        plot->times[i].is_off = options->no_labels;
    if (status == STATUS_OK && !options->no_labels && !options->figure) {
        if (plot->profile_count > 1)
            calibration_for_pair(plot->profiles[0], plot->profiles[1], &plot->times[0], &plot->times[1]);
        else
            calibration_for_profile(plot->profiles[0], &plot->times[0]);
    }
    if (status == STATUS_OK)
        status = plot_figure(options, &inputs[0]);
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

static const struct option_row rows[] = {
    {.name = "timeline",
     .help = "what happened when, of a profile with intervals: colour for calls",
     INTO(VARIANT, struct plot_options, figure)},
    {.name = "3d", .help = "the same as a landscape", INTO(FLAG, struct plot_options, landscape)},
    {.name = "joint",
     .help = "how values are distributed in each peak, of a profile with joint profiles",
     INTO(VARIANT, struct plot_options, figure)},
    {.name = "layers",
     .help = "each operation at all layers of a run, below each other",
     INTO(VARIANT, struct plot_options, figure)},
    ROW_LAYER(struct plot_options, layer),
    ROW_OP(struct plot_options, ops),
    {.name = "by-latency",
     .help = "the estimated latency of each bucket instead of its calls",
     INTO(FLAG, struct plot_options, plot.by_latency)},
    ROW_NO_LABELS(struct plot_options, no_labels),
    {.name = "title",
     .metavar = "TEXT",
     .help = "instead of the directory that was profiled",
     INTO(TEXT, struct plot_options, plot.title)},
    {.name = "size",
     .metavar = "WxH",
     .help = "of the picture, in pixels; default: 1000 wide, as high as is needed",
     INTO(TEXT, struct plot_options, size)},
    ROW_OUTPUT("FILE.svg, FILE.png or FILE.pdf, written whole or not at all; - is SVG on standard output; default: "
               "osprof.svg",
               struct plot_options, output),
    {.name = "gnuplot",
     .help = "print a script with all data, from which gnuplot makes that file",
     INTO(FLAG, struct plot_options, script)},
    ROW_PROFILE_ARGUMENTS("[PROFILE [PROFILE]]"),
    {.kind = OPTION_END},
};

/* By the suffix; standard output has none, and gets SVG. */
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

static enum status check_options(const struct command *command, struct plot_options *options, int rest_count) {
    const char *output = options->output;
    struct plot *plot = &options->plot;
    char *end;
    if (output && !parse_format(output, &options->plot.format))
        return usage_error(command, "the format is told by the suffix, .svg, .png or .pdf; '%s' has none of them",
                           output);
    if (options->size && !(parse_pixels(options->size, &end, &plot->width) && *end == 'x' &&
                           parse_pixels(end + 1, &end, &plot->height) && *end == '\0'))
        return usage_error(command, "--size must be two numbers from %d to %d, as in 1000x600, not '%s'", PLOT_SIZE_MIN,
                           PLOT_SIZE_MAX, options->size);
    if (rest_count > PLOT_PROFILES_MAX)
        return usage_error(command, "one profile, or two to compare, not %d", rest_count);
    if (rest_count > 1 && options->figure)
        return usage_error(command, "--%s is of one profile, not of two", options->figure);
    if (options->landscape && !is_figure(options, "timeline"))
        return usage_error(command, "--3d is a view of --timeline");
    if (options->no_labels && options->figure)
        return usage_error(command, "--no-labels is about histograms: --%s has no labels", options->figure);
    if (options->layer && is_figure(options, "layers"))
        return usage_error(command, "--layers draws all layers, and --layer one");
    if (options->script && output && output_is_stdout(output))
        return usage_error(command, "--gnuplot writes the script to standard output; -o names the script's picture, "
                                    "which needs a file");
    return STATUS_OK;
}

static enum status run_plot(const struct command *command, int argc, char **argv) {
    struct plot_options options = {.plot = {.names = {"@1"}, .profile_count = 1}};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        status = check_options(command, &options, arguments.rest_count);
        for (int i = 0; status == STATUS_OK && i < arguments.rest_count; i++) {
            options.plot.names[i] = arguments.rest[i];
            options.plot.profile_count = (size_t)i + 1;
        }
        if (options.script)
            options.plot.output = options.output ? options.output : DEFAULT_OUTPUT;
        if (status == STATUS_OK)
            status = is_figure(&options, "layers") ? plot_all_layers(&options) : plot(&options);
    }
    option_list_finish(&options.ops);
    return status;
}

const struct command command_plot = {
    .name = "plot",
    .summary = "draws histograms, timelines, joint profiles, layers",
    .help = "Draws a histogram for each operation, those with the largest total latency first; of two profiles, the "
            "second over the first. PROFILE is as for 'osprof show'.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_plot,
};
