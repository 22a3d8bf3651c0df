#include "user_options.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/words.h"
#include "base.h"
#include "option_table.h"

#define GROUPINGS_UNASKED                                                                                              \
    (1U << AGGSTATS_BY_FILESYSTEM | 1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_PROGRAM)
#define GROUPINGS_KNOWN (GROUPINGS_UNASKED | 1U << AGGSTATS_BY_PROCESS)
#define DEPTH_MAX 32U

static const char by_none[] = "none";

static const char *take_depth(struct user_options *options, enum aggstats_grouping grouping, char *text,
                              char why[OPTION_TEXT_SIZE]) {
    static const struct option_row row = {
        .min = 1, .max = DEPTH_MAX, INTO(UNSIGNED, struct user_options, directory_depth)};
    if (grouping != AGGSTATS_BY_DIRECTORY)
        return "only directory takes a depth";
    return option_take(&row, &text, options, why);
}

static const char *take_grouping(struct user_options *options, char *name, char why[OPTION_TEXT_SIZE]) {
    static const char *const known[] = {"process", "program", "file", "directory", "filesystem", NULL};
    char *depth = strchr(name, ':');
    if (depth)
        *depth++ = '\0';
    const enum aggstats_grouping grouping = aggstats_grouping_of_name(name);
    why[0] = '\0';
    if (!(GROUPINGS_KNOWN & 1U << grouping)) {
        option_add_word(why,
                        grouping == AGGSTATS_UNGROUPED ? "must be "
                                                       : "needs a mount, as with --layers fs; without "
                                                         "one it must be ",
                        by_none, NULL);
        option_add_words(why, known, "or");
        option_add_word(why, "", "or several of them, such as program+file", NULL);
        return why;
    }
    options->session.groupings |= 1U << grouping;
    return depth ? take_depth(options, grouping, depth, why) : NULL;
}

/* "program+file", or "none" */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct user_options *options = data;
    CLEANUP_FREE char *list = strcmp(*text, by_none) != 0 ? strdup(*text) : NULL;
    char *rest = list;
    const char *wrong = NULL;
    options->session.groupings = 0;
    options->has_groups_unasked = false;
    for (char *name; !wrong && (name = strsep(&rest, "+"));)
        wrong = take_grouping(options, name, why);
    return wrong;
}

static const char *check_resolution(const void *data, char why[OPTION_TEXT_SIZE]) {
    const struct user_options *options = data;
    (void)why;
    return aggstats_resolution_valid(options->session.resolution) ? NULL : "must be 1, 2, 4 or 8";
}

static const char *parse_interval(const char *text, uint64_t *ret_ns) {
    return time_parse(text, AGGSTATS_INTERVAL_MIN_NS, AGGSTATS_INTERVAL_MAX_NS, ret_ns) ? NULL : AGGSTATS_INTERVAL_RULE;
}

static const struct option_row rows[] = {
    {.name = "resolution",
     INTO(UNSIGNED, struct user_options, session.resolution),
     .min = 1,
     .max = 8,
     .rule = "1, 2, 4 or 8",
     .check = check_resolution},
    {.name = "interval", INTO(TIME, struct user_options, session.interval_ns), .parse_time = parse_interval},
    {.name = "intervals",
     INTO(UNSIGNED, struct user_options, session.intervals_max),
     .min = 2,
     .max = AGGSTATS_INTERVALS_MAX,
     .step = 2},
    {.name = "by", .kind = OPTION_PARSED, .parse = parse_by},
    {.name = "groups",
     INTO(UNSIGNED, struct user_options, session.groups_max),
     .min = AGGSTATS_GROUPS_MIN,
     .max = AGGSTATS_GROUPS_MAX},
};

static const struct option_row *find_row(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Returns false after reporting it. option: "NAME=VALUE"; may be changed */
static bool take(const struct command *command, char *option, bool is_alone, struct user_options *options) {
    char why[OPTION_TEXT_SIZE] = "";
    char *value = strchr(option, '=');
    if (value)
        *value++ = '\0';
    const struct option_row *row = find_row(option);
    if (!row && is_alone) {
        usage_error(command, "-o %s needs a mount, as with --layers fs; without one there are " USER_OPTIONS_TEXT,
                    option);
        return false;
    }
    if (!row || (!value && !is_alone))
        return true;
    const char *wrong = value ? option_take(row, &value, options, why) : "needs a value";
    if (!wrong && row->check)
        wrong = row->check(options, why);
    if (wrong && is_alone)
        usage_error(command, "-o %s=%s: %s", option, value ? value : "", wrong);
    return !wrong || !is_alone; /* else osproffs says so */
}

bool user_options_take(const struct command *command, const struct option_list *lists, bool is_alone,
                       struct user_options *ret_options) {
    *ret_options = (struct user_options){.session = {.resolution = RUN_RESOLUTION,
                                                     .groupings = GROUPINGS_UNASKED,
                                                     .groups_max = AGGSTATS_GROUPS_DEFAULT},
                                         .has_groups_unasked = true};
    for (size_t i = 0; i < lists->count; i++) {
        CLEANUP_FREE char *list = strdup(lists->texts[i]);
        char *rest = list;
        for (char *option; (option = strsep(&rest, ","));)
            if (!take(command, option, is_alone, ret_options))
                return false;
    }
    return true;
}
