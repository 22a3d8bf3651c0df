/* Recommended commands, quoted for a shell. */
#include "answer_page.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "figures.h"
#include "groups.h"
#include "units.h"

struct list {
    struct sheet *sheet;
    const unsigned *ranks; /* [3]: of the first, the second, and all further commands */
    size_t count;
};

/* ---- Arguments ---------------------------------------------------------------------------------- */

static bool is_plain(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    return text[0] && text[strspn(text, plain)] == '\0';
}

char *answer_next_quote(const char *argument) {
    CLEANUP_STR struct str text = {0};
    if (is_plain(argument)) {
        str_add(&text, argument);
    } else {
        str_add(&text, "'");
        for (; *argument; argument++)
            str_add_bytes(&text, *argument == '\'' ? "'\\''" : argument, *argument == '\'' ? 4 : 1);
        str_add(&text, "'");
    }
    return str_steal(&text);
}

__attribute__((format(printf, 5, 6))) static void add(struct list *list, const char *why, const char *argument,
                                                      const char *stands_for, const char *format, ...) {
    CLEANUP_FREE char *command = NULL;
    va_list values;
    va_start(values, format);
    if (vasprintf(&command, format, values) < 0)
        command = NULL;
    va_end(values);
    if (!command)
        return;
    list->sheet->rank = list->ranks[list->count < 2 ? list->count : 2];
    list->count++;
    sheet_command(list->sheet, command, argument, stands_for, why);
}

/* ---- Looking at it again ------------------------------------------------------------------------- */

/* The name of a group for --of; NULL: it has none. */
static const char *name_for_of(const struct aggstats_group *group, char id[GROUPS_ID_SIZE]) {
    const char *name = groups_name(group);
    groups_format_id(group, id);
    bool is_found = name[0] && strcmp(name, "kernel") != 0 && strcmp(name, "other") != 0;
    if (is_found && (!id[0] || name[strspn(name, "0123456789")] != '\0'))
        return name;
    return id[0] ? id : NULL;
}

/* " --by process --of cc1", or the part that is known. Owner: the caller frees it */
static char *format_whose(const char *by, const char *of) {
    CLEANUP_FREE char *who = answer_next_quote(of);
    char *text = NULL;
    if (!who || asprintf(&text, "%s%s --of%c%s", by ? " --by " : "", by ? by : "", of[0] == '-' ? '=' : ' ', who) < 0)
        return NULL;
    return text;
}

/* " -d DIR", or nothing if there is no value. Owner: the caller frees it */
static char *format_option(const char *option, const char *value) {
    CLEANUP_FREE char *quoted = answer_next_quote(value ? value : "");
    char *text = NULL;
    if (!quoted || asprintf(&text, "%s%s", value ? option : "", value ? quoted : "") < 0)
        return NULL;
    return text;
}

/* A mount has groups in its memory only, and can be told to. */
static void add_groups(const struct aggstats_profile *live, struct list *list, const char *mount) {
    static const enum aggstats_grouping best_first[] = {AGGSTATS_BY_FILE,    AGGSTATS_BY_DIRECTORY, AGGSTATS_BY_PROGRAM,
                                                        AGGSTATS_BY_PROCESS, AGGSTATS_BY_UID,       AGGSTATS_BY_CGROUP};
    const char *layer = aggstats_profile_label(live, "layer");
    CLEANUP_FREE char *text = NULL;
    size_t i = 0;
    if (!layer || strcmp(layer, "fs") != 0)
        return;
    while (i < ARRAY_SIZE(best_first) && !(live->live_groupings & 1U << best_first[i]))
        i++;
    if (i == ARRAY_SIZE(best_first)) {
        if (asprintf(&text, "%s groups program+file", mount) < 0)
            text = NULL;
        if (text)
            add(list, "from now on: which programs, which files", text, "MOUNT groups program+file", "osprof ctl");
        return;
    }
    add(list, "where, or whose calls", mount, "MOUNT", "osprof show --by %s", aggstats_grouping_name(best_first[i]));
}

/* False where one file has all of the time: then the page has said it. */
static bool has_several_files(const struct aggstats_profile *profile, const struct answer_model *model) {
    double largest = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const double total = group->grouping == AGGSTATS_BY_FILE && group->who == AGGSTATS_WHO_ID
                                 ? figures_sum(&group->profile).total_cycles
                                 : 0;
        largest = total > largest ? total : largest;
    }
    return largest < (1 - ANSWER_SHARE_NONE) * model->sum.total_cycles;
}

static void add_of_profile(const struct answer_source *source, const struct aggstats_profile *whole,
                           const struct answer_model *model, struct list *list) {
    const struct aggstats_group *busiest = NULL;
    const bool has_causes = whole->cause_count > 0 && !source->of;
    const bool has_groups = whole->groupings != 0 && (!source->has_groups_unasked || has_several_files(whole, model));
    const bool has_joints = source->is_run && whole->joint_count > 0;
    bool is_kept = strcmp(source->profile, "-") != 0; /* standard input cannot be read again */
    CLEANUP_FREE char *profile = !is_kept             ? strdup("PROFILE")
                                 : source->profile[0] ? answer_next_quote(source->profile)
                                                      : strdup("");
    CLEANUP_FREE char *whose = source->of ? format_whose(source->by, source->of) : strdup("");
    CLEANUP_FREE char *layer = format_option(" --layer ", source->layer);
    if (!profile || !whose || !layer)
        return;
    for (size_t i = 0; i < whole->group_count && !busiest; i++)
        if (whole->groups[i].who == AGGSTATS_WHO_ID)
            busiest = &whole->groups[i];
    add(list, "its latencies as a chart", profile, "PROFILE", "osprof show%s%s --op %s", layer, whose,
        model->peaks[0].op->name);
    if (has_joints) /* they are printed by themselves */
        add(list, "what its peaks have in common", profile, "PROFILE", "osprof show%s --joint", layer);
    if (source->is_run && has_groups) {
        add(list, source->has_groups_unasked ? "all of the files" : "a table of each grouping", profile, "PROFILE",
            "osprof show%s --by %s", layer, source->has_groups_unasked ? "file" : "all");
    } else if (!source->has_groups_unasked && busiest) {
        char id[GROUPS_ID_SIZE];
        const char *name = name_for_of(busiest, id);
        CLEANUP_FREE char *its = name ? format_whose(aggstats_grouping_name(busiest->grouping), name) : NULL;
        if (its)
            add(list, "its calls alone", profile, "PROFILE", "osprof show%s%s", layer, its);
    }
    if (has_causes)
        add(list, "what slow calls waited for", profile, "PROFILE", "osprof why%s", layer);
    if (source->is_live)
        add_groups(whole, list, profile);
    if (source->is_live)
        add(list, "what happens now, and who does it", profile, "MOUNT", "osprof top");
}

/* ---- Running it again ---------------------------------------------------------------------------- */

/* Owner: the caller frees it. Returns NULL if there is none */
static char *busiest_path(const struct aggstats_profile *profile, enum aggstats_grouping grouping) {
    const struct aggstats_group *first = NULL;
    double most = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const double total = figures_sum(&group->profile).total_cycles;
        if (group->grouping == grouping && group->who == AGGSTATS_WHO_ID && group->name[0] == '/' && total > most) {
            first = group;
            most = total;
        }
    }
    const char *type = first && grouping == AGGSTATS_BY_FILESYSTEM ? strrchr(first->name, ' ') : NULL;
    return !first ? NULL : type ? strndup(first->name, (size_t)(type - first->name)) : strdup(first->name);
}

/* "/" cannot be profiled by a mount. Owner: the caller frees it */
static char *find_directory(const struct aggstats_profile *profile) {
    const char *lower = aggstats_profile_label(profile, "lower");
    const bool is_one = lower && lower[0] == '/' && !aggstats_profile_has_list(profile, "lower");
    char *path = is_one ? strdup(lower) : busiest_path(profile, AGGSTATS_BY_FILESYSTEM);
    for (unsigned i = 0; i < 2 && path && strcmp(path, "/") == 0; i++) {
        free(path);
        path = busiest_path(profile, i == 0 ? AGGSTATS_BY_FILESYSTEM : AGGSTATS_BY_DIRECTORY);
    }
    return path ? path : busiest_path(profile, AGGSTATS_BY_DIRECTORY);
}

bool answer_next_can_be_typed(const char *command) {
    const size_t length = strlen(command);
    for (const char *at = command; *at; at++)
        if (*at != ' ' && !is_plain((const char[]){*at, '\0'}))
            return false;
    return length > 0 && !strstr(command, " -c ") && (length < 3 || strcmp(command + length - 3, "...") != 0);
}

char *answer_next_slow(const struct aggstats_profile *profile) {
    const char *command = aggstats_profile_label(profile, "command");
    const bool can_be_typed =
        command && !aggstats_profile_has_list(profile, "command") && answer_next_can_be_typed(command);
    double most = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        most = fmax(most, (double)profile->ops[i].total_cycles);
    const bool is_led_by_locks = most > 0 && figures_locking(profile) >= most;
    CLEANUP_FREE char *path = find_directory(profile);
    CLEANUP_FREE char *directory = path && strcmp(path, "/") != 0 ? answer_next_quote(path) : strdup("DIR");
    char *text = NULL;
    if (!directory || asprintf(&text, "osprof run --layers fs --slow 10ms%s -d %s -- %s",
                               is_led_by_locks ? " --mount-option posix_lock,flock" : "", directory,
                               can_be_typed ? command : "COMMAND") < 0)
        return NULL;
    return text;
}

/* ---- All ----------------------------------------------------------------------------------------- */

void answer_next_put(struct sheet *sheet, const struct answer_source *source, const struct aggstats_profile *profile,
                     const struct answer_model *model, bool wants_calibration, const unsigned ranks[3]) {
    struct list list = {.sheet = sheet, .ranks = ranks};
    CLEANUP_FREE char *directory = source->is_run && source->directory ? answer_next_quote(source->directory) : NULL;
    if (model->peak_count > 0 && source->profile)
        add_of_profile(source, profile, model, &list);
    bool has_names = false;
    for (size_t i = 0; i < model->peak_count; i++)
        has_names |= model->peaks[i].reason.cause != PEAK_CAUSE_NOT_KNOWN;
    if (model->peak_count > 0 && wants_calibration && directory)
        add(&list, has_names ? "once: names for more peaks" : "once: then peaks have names", directory, "DIR",
            "osprof doctor --calibrate");
}

void answer_next_put_layer(struct sheet *sheet, const char *name, const char *layer) {
    const bool is_kept = strcmp(name, "-") != 0;
    CLEANUP_FREE char *profile = is_kept && name[0] ? answer_next_quote(name) : strdup(is_kept ? "" : "RECORDING");
    CLEANUP_FREE char *option = format_option(" --layer ", layer);
    CLEANUP_STR struct str command = {0};
    str_addf(&command, "osprof show%s", option ? option : "");
    if (profile && option)
        sheet_command(sheet, str_text(&command), profile, "RECORDING", "one of the layers");
}
