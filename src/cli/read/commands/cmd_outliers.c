/* osprof outliers: which of many profiles differ from the others. One of them is in memory at a time. */
#include <string.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "command.h"
#include "input.h"
#include "kept.h"
#include "name_set.h"
#include "option_table.h"
#include "outliers.h"
#include "outliers_report.h"
#include "path.h"

#define CONTROL_NAME ".osprof" /* the default of osproffs */

struct outliers_options {
    const char *layer; /* NULL: all */
    const char *by;
    double factor_min;
    bool json;
    bool ascii;
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

/* The root of a mount has a control file, and counts as one profile. */
static void add_directory(struct outliers_run *run, const char *directory) {
    struct name_set names;
    CLEANUP_FREE char *control = path_join(directory, CONTROL_NAME);
    int error = name_set_in(directory, "", &names);
    if (!error && names.count == 0 && control && access(control, F_OK) == 0) {
        add_profile(run, directory, input_load_recording);
    } else if (error || names.count == 0) {
        complain("cannot find profiles in %s: %s", directory,
                 error ? strerror(-error) : "no file there has a name like host.osprof");
        run->has_trouble = true;
    }
    run->has_failed |= error == -ENOMEM;
    for (size_t i = 0; i < names.count && !run->has_failed; i++)
        add_profile(run, names.names[i], input_load_found);
    name_set_finish(&names);
}

static void add_name(struct outliers_run *run, const char *name) {
    if (name_is_directory(name))
        add_directory(run, name);
    else
        add_profile(run, name, input_load_recording);
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

/* ---- Judging ------------------------------------------------------------------------------------ */

static enum status judge(const struct outliers_run *run) {
    const struct outliers_options *options = run->options;
    const struct screen screen = screen_of_stdout(0, options->ascii);
    struct outliers_result result;
    int error = outliers_find(run->outliers, options->factor_min, &result);
    if (error) {
        complain("cannot judge the profiles: %s", strerror(-error));
        return STATUS_TROUBLE;
    }
    const struct outliers_report report = {.result = &result, .by = options->by, .factor_min = options->factor_min};
    enum status status = result.found_count > 0 ? STATUS_NOT_SO : STATUS_OK;
    if (result.judged_profile_count == 0) {
        complain("cannot judge the profiles: %zu are too few; an operation is judged that is in %d of one layer%s",
                 result.profile_count, OUTLIERS_PROFILES_MIN, options->by ? " and one value of --by" : "");
        status = STATUS_TROUBLE;
    } else if (options->json) {
        outliers_report_print_json(&report);
    } else {
        outliers_report_print(&report, &screen);
    }
    outliers_result_finish(&result);
    return run->has_trouble ? STATUS_TROUBLE : status;
}

static enum status find_outliers(const struct outliers_options *options, char *const *arguments) {
    struct outliers_run run = {.options = options, .outliers = outliers_create()};
    if (!run.outliers) {
        complain("no memory");
        return STATUS_TROUBLE;
    }
    for (; *arguments && !run.has_failed; arguments++) {
        if ((*arguments)[0] == '@' && !kept_is_name(*arguments))
            add_list(&run, *arguments + 1);
        else
            add_name(&run, *arguments);
    }
    enum status status = run.has_failed ? STATUS_TROUBLE : judge(&run);
    outliers_destroy(run.outliers);
    file_set_finish(&run.files);
    return status;
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
    ROW_ASCII(struct outliers_options, ascii),
    ROW_PROFILE_ARGUMENTS("PROFILE..."),
    {.kind = OPTION_END},
};

static enum status run_outliers(const struct command *command, int argc, char **argv) {
    struct outliers_options options = {.factor_min = 1.5};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    if (arguments.rest_count == 0)
        return usage_error(command, "no profile given");
    if (!require_part(PART_STATISTICS, "look for outliers"))
        return STATUS_TROUBLE;
    return find_outliers(&options, arguments.rest);
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
    .run = run_outliers,
};
