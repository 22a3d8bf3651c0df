/* A table of groups. */
#include "groups_table.h"

#include <math.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "aggstats/words.h"
#include "base.h"
#include "figures.h"
#include "groups.h"

#define TEXT_GAP 2
#define OPS_NAMED_MAX 3
#define OTHER_SHARE_MIN 0.05

void groups_table_format_main_ops(const struct aggstats_profile *profile, double total_cycles,
                                  char ret_text[GROUPS_MAIN_OPS_SIZE]) {
    size_t used = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < profile->op_count && i < OPS_NAMED_MAX; i++) {
        char text[AGGSTATS_NAME_SIZE + 16];
        double share = total_cycles > 0 ? (double)profile->ops[i].total_cycles / total_cycles : 0;
        size_t length =
            (size_t)snprintf(text, sizeof(text), "%s%s %.0f %%", i > 0 ? ", " : "", profile->ops[i].name, 100 * share);
        if (used + length >= GROUPS_MAIN_OPS_SIZE)
            return;
        memcpy(ret_text + used, text, length + 1);
        used += length;
    }
}

/* ---- The table ---------------------------------------------------------------------------------- */

enum column {
    COLUMN_NAME,
    COLUMN_ID,
    COLUMN_CALLS,
    COLUMN_SHARE,
    COLUMN_TOTAL,
    COLUMN_MEAN,
    COLUMN_MISSED,
    COLUMN_CACHED,
    COLUMN_OPS,
    COLUMN_PATH,
};

static void add_group(struct sheet *sheet, const struct aggstats_group *group, double whole_cycles) {
    const struct figures_sum sum = figures_sum(&group->profile);
    const struct aggstats_cache *cache = &group->profile.cache;
    char id[GROUPS_ID_SIZE];
    char ops[GROUPS_MAIN_OPS_SIZE];
    groups_format_id(group, id);
    groups_table_format_main_ops(&group->profile, sum.total_cycles, ops);
    sheet_add(sheet, groups_name(group));
    sheet_add(sheet, id);
    sheet_add_count(sheet, sum.calls);
    sheet_addf(sheet, "%.1f %%", whole_cycles > 0 ? 100 * sum.total_cycles / whole_cycles : 0);
    sheet_add_cycles(sheet, sum.total_cycles);
    sheet_add_cycles(sheet, sum.calls > 0 ? sum.total_cycles / (double)sum.calls : 0);
    if (group->missed_cycles_max > 0)
        sheet_add_cycles(sheet, (double)group->missed_cycles_max);
    else
        sheet_add(sheet, "");
    /* Of the bytes that read calls returned; nothing if that is not known. */
    if (group->profile.has_cache && cache->read_bytes > 0)
        sheet_add_share(sheet, 1 - fmin((double)cache->missed_bytes / (double)cache->read_bytes, 1));
    else
        sheet_add(sheet, "");
    sheet_add(sheet, ops);
    sheet_add(sheet, groups_name(group));
}

/* Users have only a number, programs and cgroups only a name; files and directories have a bound of what may be missing,
 * and their paths are behind the figures. */
static unsigned hidden_columns(const struct aggstats_profile *profile, enum aggstats_grouping grouping) {
    unsigned hidden = aggstats_grouping_has_objects(grouping) ? 1U << COLUMN_NAME | 1U << COLUMN_ID | 1U << COLUMN_OPS
                                                              : 1U << COLUMN_PATH;
    bool has_missed = false;
    bool has_cached = false;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping != grouping)
            continue;
        has_missed |= group->missed_cycles_max > 0;
        has_cached |= group->profile.has_cache && group->profile.cache.read_bytes > 0;
    }
    hidden |= aggstats_grouping_has_ids(grouping) ? 0 : 1U << COLUMN_ID;
    hidden |= has_missed ? 0 : 1U << COLUMN_MISSED;
    return hidden | (has_cached ? 0 : 1U << COLUMN_CACHED);
}

static const char *plural_of(enum aggstats_grouping grouping) {
#define PLURAL(constant, word, plural, ...) [AGGSTATS_BY_##constant] = plural,
    static const char *const plurals[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(PLURAL, PLURAL, PLURAL, PLURAL)};
    return plurals[grouping];
}

/* Among the others are all that there were too many of, and those that have no name where groups have names only. */
void groups_table_put_other(struct sheet *sheet, const struct aggstats_profile *profile,
                            enum aggstats_grouping grouping) {
    const double whole_cycles = figures_sum(profile).total_cycles;
    double other_cycles = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping == grouping && group->who == AGGSTATS_WHO_OTHER)
            other_cycles += figures_sum(&group->profile).total_cycles;
    }
    const double other_share = whole_cycles > 0 ? other_cycles / whole_cycles : 0;
    if (profile->ungrouped_calls > 0)
        sheet_warning(sheet, "Other: %.0f %% of the time; %s call%s began before groups were switched on.",
                      100 * other_share, units_count(profile->ungrouped_calls).text,
                      units_plural(profile->ungrouped_calls));
    else if (other_share > OTHER_SHARE_MIN)
        sheet_warning(sheet,
                      "Other: %.0f %% of the time is of %s without %sa row; at most -o groups=N have one (default %u).",
                      100 * other_share, plural_of(grouping), aggstats_grouping_has_ids(grouping) ? "" : "a name or ",
                      AGGSTATS_GROUPS_DEFAULT);
}

void groups_table_put(struct sheet *sheet, const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                      size_t rows_max, const char *how) {
    const char *base = grouping == AGGSTATS_BY_FILESYSTEM ? NULL : groups_base(profile); /* where paths begin */
    CLEANUP_STR struct str path_title = {0};
    str_addf(&path_title, "%s%s%s", groups_name_title(grouping), base ? " in " : "", base ? base : "");
    const int name_width = GROUPS_NAME_COLUMNS + (aggstats_grouping_has_ids(grouping) ? 0 : GROUPS_ID_COLUMNS);
    const struct sheet_column columns[] = {
        [COLUMN_NAME] = {groups_name_title(grouping), aggstats_grouping_has_paths(grouping) ? SHEET_PATH : SHEET_NAME,
                         0, name_width, name_width},
        [COLUMN_ID] = {groups_id_title(grouping), SHEET_NUMBER, 1, GROUPS_ID_COLUMNS},
        [COLUMN_CALLS] = {"calls", SHEET_NUMBER, 4, 11},
        [COLUMN_SHARE] = {"share", SHEET_NUMBER, 2, 9},
        [COLUMN_TOTAL] = {"total", SHEET_NUMBER, 3, 10},
        [COLUMN_MEAN] = {"mean", SHEET_NUMBER, 7, 10},
        [COLUMN_MISSED] = {"in other", SHEET_NUMBER, 6, 10},
        [COLUMN_CACHED] = {"cached", SHEET_NUMBER, 5, 9},
        [COLUMN_OPS] = {"top operations", SHEET_LIST, 8, TEXT_GAP + GROUPS_MAIN_OPS_COLUMNS},
        [COLUMN_PATH] = {str_text(&path_title), SHEET_PATH, 9, TEXT_GAP + GROUPS_NAME_COLUMNS,
                         TEXT_GAP + GROUPS_NAME_COLUMNS},
    };
    const double whole_cycles = figures_sum(profile).total_cycles;
    size_t count = 0;
    sheet_gap(sheet);
    groups_table_put_other(sheet, profile, grouping);
    struct sheet_table *table = SHEET_TABLE(sheet, columns);
    table->gap = 1;
    table->hidden = hidden_columns(profile, grouping);
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].grouping == grouping && (count++ < rows_max || rows_max == 0))
            add_group(sheet, &profile->groups[i], whole_cycles);
    sheet->only_with = 1U << COLUMN_MISSED;
    sheet_legend(sheet, "in other: calls of that row that are counted there took at most this long.");
    sheet->only_with = 1U << COLUMN_CACHED;
    sheet_legend(sheet, "cached: of the bytes that read calls returned, those that were in the page cache.");
    sheet->only_with = 0;
    if (rows_max > 0 && count > rows_max)
        sheet_sentence(sheet, 0, "And %s more %s: %s.", units_count(count - rows_max).text,
                       count - rows_max == 1 ? groups_name_title(grouping) : plural_of(grouping), how);
}
