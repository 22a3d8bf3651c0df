/* osprof outliers: which of many profiles differ from the others. One of them is in memory at a time. */
#include <math.h>
#include <string.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "command.h"
#include "input.h"
#include "json_writer.h"
#include "kept.h"
#include "name_set.h"
#include "option_table.h"
#include "outliers.h"
#include "path.h"
#include "sheet.h"

#define CONTROL_NAME ".osprof" /* the default of osproffs */
#define JSON_VERSION 1
#define LIMIT_TOLD 2.0     /* so many times the factor that was asked for cannot be found: it is mentioned */
#define LIMIT_TOO_FEW 1000 /* from this factor on: no outlier of practice is found */
#define COMMON_TOLD 1.2    /* smaller common factors are not mentioned */

struct outliers_options {
    const char *layer; /* NULL: all */
    const char *by;
    double factor_min;
    bool json;
};

/* The state of one run. */
struct outliers_run {
    const struct outliers_options *options;
    struct outliers *outliers;
    struct file_set files; /* read so far */
    bool has_trouble;      /* a file could not be read, which has been reported */
    bool has_failed;       /* out of memory: nothing can be judged */
};

/* ---- Profiles ----------------------------------------------------------------------------------- */

/* The header line of that name, or else the user's label. */
static const char *value_of(const struct aggstats_profile *profile, const char *key) {
    const char *value = aggstats_profile_label(profile, key);
    for (size_t i = 0; i < profile->label_count && !value; i++) {
        const char *user_key = user_label_of_key(profile->labels[i].key);
        if (user_key && strcmp(user_key, key) == 0)
            value = profile->labels[i].value;
    }
    return value ? value : "";
}

/* Adds its layers that are wanted, each of which is judged separately. load: input_load_recording(), or input_load_found() */
static void add_profile(struct outliers_run *run, const char *name, input_load_fn load) {
    const struct outliers_options *options = run->options;
    struct input_layer layer = {.name = options->layer};
    struct input input;
    if (load(name, &input) != 0) {
        run->has_trouble = true;
        return;
    }
    if (file_set_add(&run->files, input.device, input.is_file ? input.inode : 0) == 0) {
        complain("%s has been read already: it is judged once", name);
        input_finish(&input);
        return;
    }
    bool is_fine = !layer.name || input_choose(name, &layer, &input) == 0;
    for (size_t i = 0; i < input_layer_count(&input) && is_fine; i++) {
        const struct aggstats_profile *profile = input_layer(&input, i);
        const int error = outliers_add(run->outliers, name, options->by ? value_of(profile, options->by) : "", profile);
        if (error == -EDOM)
            complain("cannot judge %s: it does not tell its clock's rate", name);
        else if (error == -E2BIG)
            complain("cannot judge %s: too many different operations", name);
        else if (error)
            complain("cannot judge %s: %s", name, strerror(-error));
        run->has_failed |= error == -ENOMEM;
        is_fine = error == 0;
    }
    run->has_trouble |= !is_fine;
    input_finish(&input);
}

/* ---- Directories and lists ---------------------------------------------------------------------- */

/* A directory stands for its profiles. The root of a mount has a control file, and counts as one profile. */
static void add_name(struct outliers_run *run, const char *name) {
    struct name_set names;
    if (!name_is_directory(name)) {
        add_profile(run, name, input_load_recording);
        return;
    }
    CLEANUP_FREE char *control = path_join(name, CONTROL_NAME);
    int error = name_set_in(name, "", &names);
    if (!error && names.count == 0 && control && access(control, F_OK) == 0) {
        add_profile(run, name, input_load_recording);
    } else if (error || names.count == 0) {
        complain("cannot find profiles in %s: %s", name,
                 error ? strerror(-error) : "no file there has a name like host.osprof");
        run->has_trouble = true;
    }
    run->has_failed |= error == -ENOMEM;
    for (size_t i = 0; i < names.count && !run->has_failed; i++)
        add_profile(run, names.names[i], input_load_found);
    name_set_finish(&names);
}

static void add_list(struct outliers_run *run, const char *list_name) {
    struct name_list list;
    char name[PATH_MAX];
    int more = name_list_open(&list, list_name);
    if (more < 0) {
        run->has_trouble = true;
        return;
    }
    while (!run->has_failed && (more = name_list_next(&list, name)) > 0) {
        if (strcmp(name, "-") == 0 && list.stream == stdin) {
            complain("cannot judge -: standard input is the list of profiles already");
            run->has_trouble = true;
        } else {
            add_name(run, name);
        }
    }
    run->has_trouble = run->has_trouble || more < 0;
    name_list_close(&list);
}

/* ---- For people --------------------------------------------------------------------------------- */

/* Adds "takes 2.10 times as long", "is 1.50 times as fast"; of several: "take", "are" */
static void add_factor(struct str *text, double factor, bool is_plural) {
    if (factor >= 1)
        str_addf(text, "%s %s times as long", is_plural ? "take" : "takes", units_number(factor).text);
    else
        str_addf(text, "%s %s times as fast", is_plural ? "are" : "is", units_number(1 / factor).text);
}

/* "...: READ usually takes 2.10 times as long as that of its peers: 2.00 ms, theirs 1.00 ms (median of 7)"; "...: READ: 1 %
 * of calls beyond 1.00 ms, most around 2.00 ms; peers 0.01 % (median of 7, layer user)" */
static void put_outlier(struct sheet *sheet, const struct outliers_options *options,
                        const struct outliers_result *result, const struct outlier *outlier) {
    const struct units *units = &sheet->units;
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    CLEANUP_STR struct str text = {0};
    if (outlier->kind == OUTLIERS_SLOWER || outlier->kind == OUTLIERS_FASTER) {
        str_add(&text, outlier->is_typical ? " usually " : " ");
        add_factor(&text, outlier->factor, false);
        str_addf(&text, " as that of its peers: %s, theirs %s", units_seconds(units, outlier->seconds).text,
                 units_seconds(units, outlier->peers_seconds).text);
    } else {
        str_addf(&text, ": %.2g %% of calls %s %s, %s around %s; peers %.2g %%", 100 * outlier->share,
                 is_gone ? "below" : "beyond", units_seconds(units, outlier->place_seconds).text,
                 is_gone ? "where those of its peers lie" : "most", units_seconds(units, outlier->around_seconds).text,
                 100 * outlier->peers_share);
    }
    str_addf(&text, " (median of %s", units_count(outlier->peer_count).text);
    if (result->group_count > 1 && outlier->layer[0])
        str_addf(&text, ", layer %s", outlier->layer);
    if (options->by)
        str_addf(&text, ", %s %s", options->by, outlier->value[0] ? outlier->value : "unknown");
    str_add(&text, ")");
    if (outlier->common_factor > COMMON_TOLD || outlier->common_factor < 1 / COMMON_TOLD) {
        str_add(&text, "; all its operations ");
        add_factor(&text, outlier->common_factor, true);
    }
    sheet_put(sheet, FORM_LINE, INK_STRONG, 0, "%s", outlier->profile);
    sheet_span(sheet, INK_PLAIN, ": %s%s", outlier->op, str_text(&text));
}

/* A line for each outlier, the clearest first, then one for each profile that is slow or fast as a whole. Few profiles, or
 * such that vary, leave much undetected: that is said before. */
static void print_result(const struct outliers_options *options, const struct outliers_result *result) {
    const struct screen screen = screen_of_stdout();
    CLEANUP_SHEET struct sheet sheet = sheet_of(&screen, 1);
    sheet_entry(&sheet, FORM_KEYED, "judged", "%s operations of %s profiles", units_count(result->judged_count).text,
                units_count(result->judged_profile_count).text);
    if (result->judged_profile_count < result->profile_count)
        sheet_span(&sheet, INK_PLAIN, " of %s; the others have fewer than %d peers",
                   units_count(result->profile_count).text, OUTLIERS_PROFILES_MIN - 1);
    sheet_entry(&sheet, FORM_KEYED, "outliers", "%s", units_count(result->found_count).text);
    if (result->least_factor >= LIMIT_TOO_FEW)
        sheet_entry(&sheet, FORM_KEYED, "limit", "too few profiles, or too different ones, to find any outlier");
    else if (result->least_factor >= LIMIT_TOLD * options->factor_min)
        sheet_entry(&sheet, FORM_KEYED, "limit",
                    "with so few profiles, or such different ones, only latencies that differ by a factor of %s or "
                    "more are found",
                    units_number(result->least_factor).text);
    sheet_gap(&sheet);
    for (size_t i = 0; i < result->found_count; i++)
        put_outlier(&sheet, options, result, &result->found[i]);
    if (result->busy_count > 0)
        sheet_title(&sheet, "No outliers by themselves");
    for (size_t i = 0; i < result->busy_count; i++) {
        CLEANUP_STR struct str text = {0};
        add_factor(&text, result->busy[i].common_factor, true);
        sheet_line(&sheet, 0, "%s: all its operations %s", result->busy[i].profile, str_text(&text));
    }
    sheet_print(&sheet);
}

/* ---- JSON, after docs/outliers.schema.json ------------------------------------------------------ */

static void write_outlier(struct json_writer *writer, const struct outliers_options *options,
                          const struct outlier *outlier) {
    static const char *const kinds[] = {
        [OUTLIERS_SLOWER] = "slower",
        [OUTLIERS_FASTER] = "faster",
        [OUTLIERS_SLOW_CALLS] = "slow_calls",
        [OUTLIERS_FAST_GONE] = "fast_calls_gone",
    };
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    json_begin(writer, NULL, '{');
    json_text(writer, "profile", outlier->profile);
    if (outlier->layer[0])
        json_text(writer, "layer", outlier->layer);
    if (options->by)
        json_text(writer, "value", outlier->value);
    json_text(writer, "op", outlier->op);
    json_text(writer, "kind", kinds[outlier->kind]);
    json_count(writer, "calls", outlier->calls);
    json_count(writer, "peers", outlier->peer_count);
    json_real(writer, "distance", outlier->distance);
    json_real(writer, "chance", outlier->chance);
    json_real(writer, "common_factor", outlier->common_factor);
    json_text(writer, "measure", outlier->is_typical ? "typical" : "mean");
    json_real(writer, "factor", outlier->factor);
    json_real(writer, "seconds", outlier->seconds);
    json_real(writer, "peers_seconds", outlier->peers_seconds);
    if (outlier->kind == OUTLIERS_SLOW_CALLS || is_gone) {
        json_real(writer, is_gone ? "below_seconds" : "beyond_seconds", outlier->place_seconds);
        json_real(writer, "around_seconds", outlier->around_seconds);
        json_real(writer, "share", outlier->share);
        json_real(writer, "peers_share", outlier->peers_share);
    }
    json_end(writer, '}');
}

static void print_json(const struct outliers_options *options, const struct outliers_result *result) {
    struct json_writer writer = {.stream = stdout};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", JSON_VERSION);
    if (options->by)
        json_text(&writer, "by", options->by);
    json_real(&writer, "factor_min", options->factor_min);
    json_count(&writer, "profiles", result->profile_count);
    json_count(&writer, "groups", result->group_count);
    json_count(&writer, "judged_profiles", result->judged_profile_count);
    json_count(&writer, "judged_operations", result->judged_count);
    json_real(&writer, "least_factor", result->least_factor);
    json_begin(&writer, "outliers", '[');
    for (size_t i = 0; i < result->found_count; i++)
        write_outlier(&writer, options, &result->found[i]);
    json_end(&writer, ']');
    json_begin(&writer, "busy", '[');
    for (size_t i = 0; i < result->busy_count; i++) {
        json_begin(&writer, NULL, '{');
        json_text(&writer, "profile", result->busy[i].profile);
        json_real(&writer, "common_factor", result->busy[i].common_factor);
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    json_end(&writer, '}');
}

static enum status judge(const struct outliers_run *run) {
    const struct outliers_options *options = run->options;
    struct outliers_result result;
    int error = outliers_find(run->outliers, options->factor_min, &result);
    if (error) {
        complain("cannot judge the profiles: %s", strerror(-error));
        return STATUS_TROUBLE;
    }
    enum status status = result.found_count > 0 ? STATUS_NOT_SO : STATUS_OK;
    if (result.judged_profile_count == 0) {
        complain("cannot judge %zu profile%s: at least %d of one layer%s with the same operation are needed",
                 result.profile_count, result.profile_count == 1 ? "" : "s", OUTLIERS_PROFILES_MIN,
                 options->by ? " and one value of --by" : "");
        status = STATUS_TROUBLE;
    } else if (options->json) {
        print_json(options, &result);
    } else {
        print_result(options, &result);
    }
    outliers_result_finish(&result);
    return run->has_trouble ? STATUS_TROUBLE : status;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {.name = "by",
     .metavar = "LABEL",
     WORDS("host", "lower", "mount", "cache"),
     .help = "peers have the same value of this line of the header, or of this label of --label; default: all are "
             "peers",
     INTO(TEXT, struct outliers_options, by)},
    {.name = "at-least",
     .metavar = "FACTOR",
     .min = 1.1,
     .max = 1000,
     .help = "smaller differences do not matter, {}; default: 1.5",
     INTO(NUMBER, struct outliers_options, factor_min)},
    ROW_LAYER_OF_ALL(struct outliers_options, layer),
    {.name = "json", .help = "print JSON", INTO(FLAG, struct outliers_options, json)},
    ROW_PROFILE_ARGUMENTS("PROFILE..."),
    {.kind = OPTION_END},
};

static enum status run_outliers(const struct command *command, int argc, char **argv) {
    struct outliers_options options = {.factor_min = 1.5};
    struct outliers_run run = {.options = &options};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count == 0)
        return usage_error(command, "no profile given");
    if (!require_part(PART_STATISTICS, "look for outliers"))
        return STATUS_TROUBLE;
    run.outliers = outliers_create();
    if (!run.outliers) {
        complain("no memory");
        return STATUS_TROUBLE;
    }
    for (char *const *name = arguments.rest; *name && !run.has_failed; name++) {
        if ((*name)[0] == '@' && !kept_is_name(*name))
            add_list(&run, *name + 1);
        else
            add_name(&run, *name);
    }
    status = run.has_failed ? STATUS_TROUBLE : judge(&run);
    outliers_destroy(run.outliers);
    file_set_finish(&run.files);
    return status;
}

const struct command command_outliers = {
    .name = "outliers",
    .summary = "finds profiles that are not like their peers",
    .help = "Compares each operation of each PROFILE with the same operation of all others, and prints those that take "
            "longer, or have more slow calls, than chance explains. How often they were called does not count, nor "
            "what slows all operations of a profile down. PROFILE is as for 'osprof show', a directory, which stands "
            "for its files *.osprof, or @LIST, which stands for the names in LIST, one a line; @- is standard input. "
            "Layers are judged apart.",
    .notes = "Exit status: 0 there are no outliers; 1 there are some; 2 trouble, also with one PROFILE of many.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_QUIET,
    .run = run_outliers,
};
