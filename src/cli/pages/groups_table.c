/* A table of groups. */
#include "groups_table.h"

#include <math.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "aggstats/words.h"
#include "base.h"
#include "columns.h"
#include "figures.h"
#include "groups.h"
#include "html.h"

#define WHO_COLUMNS (GROUPS_NAME_COLUMNS + GROUPS_ID_COLUMNS)
#define TEXT_GAP 2
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

/* "grep" and its number; users have only the number, programs and cgroups only the name */
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

/* ---- Columns of figures ------------------------------------------------------------------------- */

enum column { COLUMN_CALLS, COLUMN_SHARE, COLUMN_TOTAL, COLUMN_MEAN, COLUMN_MISSED, COLUMN_CACHED, COLUMN_COUNT };

static const struct columns_column columns[COLUMN_COUNT] = {
    {"calls", 11}, {"share", 9}, {"total", 10}, {"mean", 10}, {"in other", 10}, {"cached", 9},
};

/* What the figures leave is for paths or operations. */
static const unsigned order[COLUMN_COUNT] = {COLUMN_SHARE,  COLUMN_TOTAL,  COLUMN_CALLS,
                                             COLUMN_CACHED, COLUMN_MISSED, COLUMN_MEAN};

struct table {
    const struct aggstats_profile *profile;
    double whole_cycles;
    enum aggstats_grouping grouping;
    const struct units *units;
    const struct screen *screen;
    struct columns_table figures; /* a row for each group, of whatever grouping */
    int text_columns;             /* for the text behind the figures: a path, or operations; 0: none */
};

/* Files and directories have a bound of what may be missing; their paths are behind the figures. */
static bool has_paths_last(const struct table *table) {
    return aggstats_grouping_has_objects(table->grouping);
}

/* Of the bytes that read calls returned; nothing if that is not known. */
static void format_cached(const struct aggstats_profile *profile, char ret_text[COLUMNS_CELL_SIZE]) {
    const struct aggstats_cache *cache = &profile->cache;
    if (!profile->has_cache || cache->read_bytes == 0)
        return;
    const double missed = fmin((double)cache->missed_bytes, (double)cache->read_bytes);
    units_format_share(1 - missed / (double)cache->read_bytes, ret_text);
}

static void format_cell(const void *context, size_t row, unsigned column, char ret_text[COLUMNS_CELL_SIZE]) {
    const struct table *table = context;
    const struct aggstats_group *group = &table->profile->groups[row];
    const struct figures_sum sum = figures_sum(&group->profile);
    ret_text[0] = '\0';
    if (group->grouping != table->grouping)
        return;
    if (column == COLUMN_CALLS)
        units_format_count(sum.calls, ret_text);
    else if (column == COLUMN_SHARE)
        snprintf(ret_text, UNITS_TEXT_SIZE, "%.1f %%",
                 table->whole_cycles > 0 ? 100 * sum.total_cycles / table->whole_cycles : 0);
    else if (column == COLUMN_TOTAL)
        units_format_cycles(table->units, sum.total_cycles, ret_text);
    else if (column == COLUMN_MEAN)
        units_format_cycles(table->units, sum.calls > 0 ? sum.total_cycles / (double)sum.calls : 0, ret_text);
    else if (column == COLUMN_CACHED)
        format_cached(&group->profile, ret_text);
    else if (group->missed_cycles_max > 0)
        units_format_cycles(table->units, (double)group->missed_cycles_max, ret_text);
}

static bool has_cached(const struct table *table) {
    for (size_t i = 0; i < table->profile->group_count; i++) {
        const struct aggstats_group *group = &table->profile->groups[i];
        if (group->grouping == table->grouping && group->profile.has_cache && group->profile.cache.read_bytes > 0)
            return true;
    }
    return false;
}

static bool has_missed(const struct table *table) {
    for (size_t i = 0; i < table->profile->group_count; i++)
        if (table->profile->groups[i].grouping == table->grouping && table->profile->groups[i].missed_cycles_max > 0)
            return true;
    return false;
}

static void fit(struct table *table) {
    const bool has_paths = has_paths_last(table);
    const bool shows_missed = has_paths && (!table->screen->html || has_missed(table));
    table->figures = (struct columns_table){
        .screen = table->screen,
        .columns = columns,
        .column_count = COLUMN_COUNT,
        .order = order,
        .hidden = (shows_missed ? 0 : 1U << COLUMN_MISSED) | (has_cached(table) ? 0 : 1U << COLUMN_CACHED),
        .gap = 1,
        .row_count = table->profile->group_count,
        .page = table,
        .format = format_cell,
    };
    int left =
        columns_fit(&table->figures, table->screen->width - (has_paths ? TEXT_GAP + GROUPS_NAME_COLUMNS : WHO_COLUMNS));
    bool is_whole = table->figures.widths[COLUMN_MEAN] > 0;
    if (has_paths)
        table->text_columns = GROUPS_NAME_COLUMNS + (is_whole ? left : 0);
    else
        table->text_columns = is_whole && left - TEXT_GAP >= GROUPS_MAIN_OPS_COLUMNS ? left - TEXT_GAP : 0;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

static void print_main_ops(const struct table *table, const struct aggstats_profile *profile) {
    char text[GROUPS_MAIN_OPS_SIZE];
    groups_table_format_main_ops(profile, figures_sum(profile).total_cycles, table->text_columns, text);
    if (text[0])
        fprintf(table->screen->stream, "%*s%s", TEXT_GAP, "", text);
}

static void print_path(const struct table *table, const struct aggstats_group *group) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    groups_cut_name(group, (size_t)table->text_columns, name);
    fprintf(table->screen->stream, "%*s", TEXT_GAP, "");
    screen_print_untrusted(table->screen, INK_STRONG, name);
}

static void print_row(const struct table *table, size_t row) {
    const struct aggstats_group *group = &table->profile->groups[row];
    if (!has_paths_last(table))
        print_who(group, table->screen);
    columns_print_cells(&table->figures, row, COLUMN_COUNT);
    if (has_paths_last(table))
        print_path(table, group);
    else if (table->text_columns > 0)
        print_main_ops(table, &group->profile);
    putc('\n', table->screen->stream);
}

static const char *plural_of(enum aggstats_grouping grouping) {
#define PLURAL(constant, word, plural, ...) [AGGSTATS_BY_##constant] = plural,
    static const char *const plurals[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(PLURAL, PLURAL, PLURAL, PLURAL)};
    return plurals[grouping];
}

/* Among the others are all that there were too many of, and those that have no name where groups have names only. */
bool groups_table_format_other(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                               char ret_text[GROUPS_OTHER_SIZE]) {
    double whole_cycles = figures_sum(profile).total_cycles;
    double other_cycles = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping == grouping && group->who == AGGSTATS_WHO_OTHER)
            other_cycles += figures_sum(&group->profile).total_cycles;
    }
    const double other_share = whole_cycles > 0 ? other_cycles / whole_cycles : 0;
    if (profile->ungrouped_calls > 0) {
        snprintf(ret_text, GROUPS_OTHER_SIZE,
                 "Other: %.0f %% of the time; %s call%s began before groups were switched on.", 100 * other_share,
                 units_count(profile->ungrouped_calls).text, units_plural(profile->ungrouped_calls));
        return true;
    }
    if (other_share <= OTHER_SHARE_MIN)
        return false;
    snprintf(ret_text, GROUPS_OTHER_SIZE,
             "Other: %.0f %% of the time is of %s without %sa row; at most -o groups=N have one (default %u).",
             100 * other_share, plural_of(grouping), aggstats_grouping_has_ids(grouping) ? "" : "a name or ",
             AGGSTATS_GROUPS_DEFAULT);
    return true;
}

/* Where paths begin; NULL: anywhere */
static const char *base_of(const struct table *table) {
    return table->grouping == AGGSTATS_BY_FILESYSTEM ? NULL : groups_base(table->profile);
}

/* "file", or "file in /srv/data" of a mount, whose paths begin there */
static void print_path_title(const struct table *table) {
    const struct screen *screen = table->screen;
    const char *title = groups_name_title(table->grouping);
    const char *base = base_of(table);
    const int left = table->text_columns - units_text_columns(title) - (int)strlen(" in ");
    CLEANUP_FREE char *shown = base && left > 0 ? screen_cut(screen, base, left, SCREEN_END) : NULL;
    fprintf(screen->stream, "%*s%s%s%s", TEXT_GAP, "", title, shown ? " in " : "", shown ? shown : "");
}

static void print_titles(const struct table *table) {
    const struct screen *screen = table->screen;
    screen_ink(screen, INK_FAINT);
    if (!has_paths_last(table))
        fprintf(screen->stream, "%-*s%*s", GROUPS_NAME_COLUMNS, groups_name_title(table->grouping), GROUPS_ID_COLUMNS,
                groups_id_title(table->grouping));
    columns_print_cell_titles(&table->figures);
    screen_ink(screen, INK_FAINT);
    if (has_paths_last(table))
        print_path_title(table);
    else if (table->text_columns > 0)
        fprintf(screen->stream, "%*smostly in", TEXT_GAP, "");
    putc('\n', screen->stream);
    screen_ink(screen, INK_PLAIN);
}

/* ---- In HTML ---- */

static void put_titles(const struct table *table) {
    FILE *stream = table->screen->stream;
    const char *base = has_paths_last(table) ? base_of(table) : NULL;
    CLEANUP_FREE char *text = NULL;
    if (asprintf(&text, "%s%s%s", groups_name_title(table->grouping), base ? " in " : "", base ? base : "") < 0)
        text = NULL;
    html_begin_row(stream);
    html_put_cell(stream, HTML_TITLE, text ? text : "");
    if (aggstats_grouping_has_ids(table->grouping))
        html_put_cell(stream, HTML_NUMBER_TITLE, groups_id_title(table->grouping));
    columns_put_cell_titles(&table->figures);
    if (!has_paths_last(table))
        html_put_cell(stream, HTML_TITLE, "mostly in");
    html_end_row(stream);
}

static void put_row(const struct table *table, size_t row) {
    const struct aggstats_group *group = &table->profile->groups[row];
    FILE *stream = table->screen->stream;
    char text[GROUPS_MAIN_OPS_SIZE];
    char name[AGGSTATS_GROUP_NAME_SIZE];
    char id[GROUPS_ID_SIZE];
    groups_cut_name(group, sizeof(name) - 1, name);
    groups_format_id(group, id);
    html_begin_row(stream);
    html_put_cell(stream, HTML_NAME, name);
    if (aggstats_grouping_has_ids(table->grouping))
        html_put_cell(stream, HTML_NUMBER, id);
    columns_put_cells(&table->figures, row);
    if (!has_paths_last(table)) {
        groups_table_format_main_ops(&group->profile, figures_sum(&group->profile).total_cycles,
                                     GROUPS_MAIN_OPS_SIZE - 1, text);
        html_put_cell(stream, HTML_TEXT, text);
    }
    html_end_row(stream);
}

/* ---- The table ---------------------------------------------------------------------------------- */

static void explain_cached(const struct table *table) {
    if (table->figures.widths[COLUMN_CACHED] == 0)
        return;
    screen_print_in_ink(table->screen, INK_FAINT,
                        "cached: of the bytes that read calls returned, those that were in the page cache.");
}

static void explain_missed(const struct table *table) {
    if (!has_missed(table) || table->figures.widths[COLUMN_MISSED] == 0)
        return;
    screen_print_in_ink(table->screen, INK_FAINT,
                        "in other: calls of that row that are counted there took at most this long.");
}

size_t groups_table_print(const struct aggstats_profile *profile, enum aggstats_grouping grouping, size_t row_max,
                          const struct units *units, const struct screen *screen) {
    struct table table = {.profile = profile,
                          .whole_cycles = figures_sum(profile).total_cycles,
                          .grouping = grouping,
                          .units = units,
                          .screen = screen};
    char other[GROUPS_OTHER_SIZE];
    size_t row_count = 0;
    fit(&table);
    putc('\n', screen->stream);
    if (groups_table_format_other(profile, grouping, other))
        screen_print_in_ink(screen, INK_WARNING, other);
    if (screen->html)
        html_begin_table(screen->stream);
    (screen->html ? put_titles : print_titles)(&table);
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].grouping == grouping && row_count++ < row_max)
            (screen->html ? put_row : print_row)(&table, i);
    if (screen->html)
        html_end_table(screen->stream);
    explain_missed(&table);
    explain_cached(&table);
    return row_count > row_max ? row_count - row_max : 0;
}

void groups_table_print_left_out(enum aggstats_grouping grouping, size_t count, const char *how,
                                 const struct screen *screen) {
    char text[256];
    snprintf(text, sizeof(text), "And %s more %s: %s.", units_count(count).text,
             count == 1 ? groups_name_title(grouping) : plural_of(grouping), how);
    screen_print_sentence(screen, 0, text);
}
