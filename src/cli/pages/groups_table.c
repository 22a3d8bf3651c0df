/* A table of groups. */
#include "groups_table.h"

#include <string.h>

#include "base.h"
#include "figures.h"
#include "groups.h"

#define TABLE_COLUMNS (GROUPS_NAME_COLUMNS + GROUPS_ID_COLUMNS + 11 + 9 + 10 + 10)
#define FILE_COLUMNS (11 + 9 + 10 + 10 + 10)
#define MAIN_OPS_GAP 2
#define OPS_NAMED_MAX 3
#define OTHER_SHARE_MIN 0.05

void groups_table_format_main_ops(const struct aggstats_profile *profile, double total_cycles, int columns,
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

/* "grep" and its number; users have the number only, programs and cgroups the name */
static void print_who(const struct aggstats_group *group, const struct screen *screen) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    char id[GROUPS_ID_SIZE];
    bool has_ids = aggstats_grouping_has_ids(group->grouping);
    int name_columns = has_ids ? GROUPS_NAME_COLUMNS : GROUPS_NAME_COLUMNS + GROUPS_ID_COLUMNS;
    groups_cut_name(group, (size_t)name_columns, name);
    int columns = units_text_columns(name);
    screen_print_untrusted(screen, INK_STRONG, name);
    fprintf(screen->stream, "%*s", columns < name_columns ? name_columns - columns : 0, "");
    groups_format_id(group, id);
    if (has_ids)
        screen_print_right(screen, INK_PLAIN, id, GROUPS_ID_COLUMNS);
}

static void print_cycles(double cycles, const struct units *units, const struct screen *screen) {
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(units, cycles, text);
    screen_print_right(screen, INK_PLAIN, text, 10);
}

static void print_main_ops(const struct aggstats_profile *profile, double total_cycles, const struct screen *screen) {
    char text[GROUPS_MAIN_OPS_SIZE];
    groups_table_format_main_ops(profile, total_cycles, screen->width - TABLE_COLUMNS - MAIN_OPS_GAP, text);
    if (text[0])
        fprintf(screen->stream, "%*s%s", MAIN_OPS_GAP, "", text);
}

/* What may be missing of its total, and its path, as much of it as fits. */
static void print_file(const struct aggstats_group *group, const struct units *units, const struct screen *screen) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    int columns = screen->width - FILE_COLUMNS - MAIN_OPS_GAP;
    if (group->missed_cycles_max > 0)
        print_cycles((double)group->missed_cycles_max, units, screen);
    else
        screen_print_right(screen, INK_PLAIN, "", 10);
    groups_cut_name(group, columns > GROUPS_NAME_COLUMNS ? (size_t)columns : GROUPS_NAME_COLUMNS, name);
    fprintf(screen->stream, "%*s", MAIN_OPS_GAP, "");
    screen_print_untrusted(screen, INK_STRONG, name);
}

static void print_row(const struct aggstats_group *group, double whole_cycles, const struct units *units,
                      const struct screen *screen) {
    struct figures_sum sum = figures_sum(&group->profile);
    char text[UNITS_TEXT_SIZE];
    bool is_path_last = aggstats_grouping_has_objects(group->grouping);
    if (!is_path_last)
        print_who(group, screen);
    units_format_count(sum.calls, text);
    screen_print_right(screen, INK_PLAIN, text, 11);
    snprintf(text, sizeof(text), "%.1f %%", whole_cycles > 0 ? 100 * sum.total_cycles / whole_cycles : 0);
    screen_print_right(screen, INK_PLAIN, text, 9);
    print_cycles(sum.total_cycles, units, screen);
    print_cycles(sum.calls > 0 ? sum.total_cycles / (double)sum.calls : 0, units, screen);
    if (is_path_last)
        print_file(group, units, screen);
    else
        print_main_ops(&group->profile, sum.total_cycles, screen);
    putc('\n', screen->stream);
}

static const char *plural_of(enum aggstats_grouping grouping) {
    static const char *const plurals[AGGSTATS_GROUPINGS] = {
        [AGGSTATS_BY_PROCESS] = "processes", [AGGSTATS_BY_UID] = "users",  [AGGSTATS_BY_PROGRAM] = "programs",
        [AGGSTATS_BY_CGROUP] = "cgroups",    [AGGSTATS_BY_FILE] = "files", [AGGSTATS_BY_DIRECTORY] = "directories",
    };
    return plurals[grouping];
}

/* Among the others are all that there were too many of, and those that have no name where groups have names only. */
bool groups_table_format_other(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                               char ret_text[GROUPS_OTHER_SIZE]) {
    double whole_cycles = figures_sum(profile).total_cycles;
    double other_cycles = 0;
    size_t told_count = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping == grouping && group->who == AGGSTATS_WHO_OTHER)
            other_cycles += figures_sum(&group->profile).total_cycles;
        told_count += group->grouping == grouping && group->who == AGGSTATS_WHO_ID;
    }
    if (other_cycles <= OTHER_SHARE_MIN * whole_cycles)
        return false;
    snprintf(ret_text, GROUPS_OTHER_SIZE,
             "Other: %.0f %% of the time is of %s; osproffs -o groups=N tells more than %zu %s.",
             100 * other_cycles / whole_cycles,
             aggstats_grouping_has_ids(grouping) ? "those not told apart" : "those not known or not told apart",
             told_count, told_count == 1 ? groups_name_title(grouping) : plural_of(grouping));
    return true;
}

static void print_titles(enum aggstats_grouping grouping, const struct screen *screen) {
    screen_ink(screen, INK_FAINT);
    if (aggstats_grouping_has_objects(grouping))
        fprintf(screen->stream, "%11s%9s%10s%10s%10s  %s\n", "calls", "share", "total", "mean", "missed",
                groups_name_title(grouping));
    else
        fprintf(screen->stream, "%-*s%*s%11s%9s%10s%10s%s\n", GROUPS_NAME_COLUMNS, groups_name_title(grouping),
                GROUPS_ID_COLUMNS, groups_id_title(grouping), "calls", "share", "total", "mean",
                screen->width >= TABLE_COLUMNS + GROUPS_MAIN_OPS_COLUMNS ? "  mostly in" : "");
    screen_ink(screen, INK_PLAIN);
}

void groups_table_print(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                        const struct units *units, const struct screen *screen) {
    double whole_cycles = figures_sum(profile).total_cycles;
    char other[GROUPS_OTHER_SIZE];
    putc('\n', screen->stream);
    if (groups_table_format_other(profile, grouping, other)) {
        screen_print(screen, INK_WARNING, other);
        putc('\n', screen->stream);
    }
    print_titles(grouping, screen);
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].grouping == grouping)
            print_row(&profile->groups[i], whole_cycles, units, screen);
}
