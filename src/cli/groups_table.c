/* A table of groups, and a profile made of some of them. */
#include "groups_table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "figures.h"

#define TABLE_COLUMNS (GROUPS_NAME_COLUMNS + GROUPS_ID_COLUMNS + 11 + 9 + 10 + 10)
#define MAIN_OPS_GAP 2
#define OPS_NAMED_MAX 3

/* ---- Texts ---- */

const char *groups_name_title(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_UID ? "user" : "process";
}

const char *groups_id_title(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_UID ? "uid" : "pid";
}

const char *groups_name(const struct aggstats_group *group) {
    return group->who == AGGSTATS_WHO_ID ? group->name : aggstats_who_name(group->who);
}

void groups_format_id(const struct aggstats_group *group, char ret_text[UNITS_TEXT_SIZE]) {
    if (group->who == AGGSTATS_WHO_ID)
        snprintf(ret_text, UNITS_TEXT_SIZE, "%" PRIu64, group->id);
    else
        ret_text[0] = '\0';
}

void groups_format_main_ops(const struct aggstats_profile *profile, double total_cycles, int columns,
                            char ret_text[GROUPS_MAIN_OPS_SIZE]) {
    int used = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < profile->op_count && i < OPS_NAMED_MAX; i++) {
        char text[AGGSTATS_NAME_SIZE + 16];
        double share = total_cycles > 0 ? (double)profile->ops[i].total_cycles / total_cycles : 0;
        int length = snprintf(text, sizeof(text), "%s%s %.0f %%", i > 0 ? ", " : "", profile->ops[i].name, 100 * share);
        if (used + length > columns)
            return;
        memcpy(ret_text + used, text, (size_t)length + 1);
        used += length;
    }
}

/* ---- Table ---- */

/* "grep" and its number; users have the number only */
static void print_who(const struct aggstats_group *group, const struct screen *screen) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    char id[UNITS_TEXT_SIZE];
    snprintf(name, sizeof(name), "%.*s", GROUPS_NAME_COLUMNS, groups_name(group));
    int columns = units_text_columns(name);
    screen_print_foreign(screen, INK_STRONG, name);
    fprintf(screen->stream, "%*s", columns < GROUPS_NAME_COLUMNS ? GROUPS_NAME_COLUMNS - columns : 0, "");
    groups_format_id(group, id);
    screen_print_right(screen, INK_PLAIN, id, GROUPS_ID_COLUMNS);
}

static void print_cycles(double cycles, const struct units *units, const struct screen *screen) {
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(units, cycles, text);
    screen_print_right(screen, INK_PLAIN, text, 10);
}

static void print_main_ops(const struct aggstats_profile *profile, double total_cycles, const struct screen *screen) {
    char text[GROUPS_MAIN_OPS_SIZE];
    groups_format_main_ops(profile, total_cycles, screen->width - TABLE_COLUMNS - MAIN_OPS_GAP, text);
    if (text[0])
        fprintf(screen->stream, "%*s%s", MAIN_OPS_GAP, "", text);
}

static void print_row(const struct aggstats_group *group, double whole_cycles, const struct units *units,
                      const struct screen *screen) {
    struct figures_sum sum = figures_sum(&group->profile);
    char text[UNITS_TEXT_SIZE];
    print_who(group, screen);
    units_format_count(sum.calls, text);
    screen_print_right(screen, INK_PLAIN, text, 11);
    snprintf(text, sizeof(text), "%.1f %%", whole_cycles > 0 ? 100 * sum.total_cycles / whole_cycles : 0);
    screen_print_right(screen, INK_PLAIN, text, 9);
    print_cycles(sum.total_cycles, units, screen);
    print_cycles(sum.calls > 0 ? sum.total_cycles / (double)sum.calls : 0, units, screen);
    print_main_ops(&group->profile, sum.total_cycles, screen);
    putc('\n', screen->stream);
}

void groups_table_print(const struct aggstats_profile *profile, const struct units *units,
                        const struct screen *screen) {
    double whole_cycles = figures_sum(profile).total_cycles;
    screen_ink(screen, INK_FAINT);
    fprintf(screen->stream, "\n%-*s%*s%11s%9s%10s%10s%s\n", GROUPS_NAME_COLUMNS, groups_name_title(profile->grouping),
            GROUPS_ID_COLUMNS, groups_id_title(profile->grouping), "calls", "share", "total", "mean",
            screen->width >= TABLE_COLUMNS + GROUPS_MAIN_OPS_COLUMNS ? "  mostly in" : "");
    screen_ink(screen, INK_PLAIN);
    for (size_t i = 0; i < profile->group_count; i++)
        print_row(&profile->groups[i], whole_cycles, units, screen);
}

/* ---- Choosing ---- */

/* Names are the programs' own: one that calls itself by a number, or as the kernel, is only found by its number. */
static bool is_meant(const struct aggstats_group *group, const char *who) {
    char id[UNITS_TEXT_SIZE];
    if (group->who != AGGSTATS_WHO_ID || strcmp(who, "kernel") == 0 || strcmp(who, "other") == 0)
        return group->who != AGGSTATS_WHO_ID && strcmp(groups_name(group), who) == 0;
    snprintf(id, sizeof(id), "%" PRIu64, group->id);
    bool is_number = who[strspn(who, "0123456789")] == '\0';
    return strcmp(is_number ? id : group->name, who) == 0;
}

static int add_meant(const struct aggstats_profile *profile, const char *who, struct aggstats_profile *sum,
                     size_t *ret_count) {
    int error = 0;
    *ret_count = 0;
    for (size_t i = 0; i < profile->group_count && !error; i++) {
        if (!is_meant(&profile->groups[i], who))
            continue;
        error = aggstats_profile_add(sum, &profile->groups[i].profile);
        ++*ret_count;
    }
    return error;
}

/* Whose calls they are, for the heading. */
static int label_sum(struct aggstats_profile *sum, enum aggstats_grouping grouping, const char *who, size_t count) {
    char value[AGGSTATS_GROUP_NAME_SIZE + 32];
    if (count > 1)
        snprintf(value, sizeof(value), "%.*s, %zu of them", AGGSTATS_GROUP_NAME_SIZE - 1, who, count);
    else
        snprintf(value, sizeof(value), "%.*s", AGGSTATS_GROUP_NAME_SIZE - 1, who);
    return aggstats_profile_add_label(sum, grouping == AGGSTATS_BY_UID ? "calls of user" : "calls of", value);
}

int groups_select(struct aggstats_profile *profile, const char *who) {
    struct aggstats_profile sum = {0};
    size_t count;
    int error = add_meant(profile, who, &sum, &count);
    if (!error && count == 0)
        error = -ENOENT;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = aggstats_profile_add_label(&sum, profile->labels[i].key, profile->labels[i].value);
    if (!error)
        error = label_sum(&sum, profile->grouping, who, count);
    if (error) {
        aggstats_profile_finish(&sum);
        return error;
    }
    sum.has_start = profile->has_start;
    sum.start_ns = profile->start_ns;
    sum.has_elapsed = profile->has_elapsed;
    sum.elapsed_cycles = profile->elapsed_cycles;
    sum.incomplete = profile->incomplete;
    aggstats_profile_finish(profile);
    *profile = sum;
    return 0;
}
