/* A table of groups, and a profile made of some of them. */
#include "groups_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"

#define NAME_COLUMNS 16
#define TABLE_COLUMNS (NAME_COLUMNS + 9 + 11 + 9 + 10 + 10)
#define MAIN_OPS_COLUMNS 12 /* at least */
#define OPS_NAMED_MAX 3

/* ---- Table ---- */

static const char *who_name(const struct aggstats_group *group) {
    static const char *const names[] = {[AGGSTATS_WHO_KERNEL] = "kernel", [AGGSTATS_WHO_OTHER] = "other"};
    return group->who == AGGSTATS_WHO_ID ? group->name : names[group->who];
}

/* "grep" and its number; users have the number only */
static void print_who(const struct aggstats_group *group, const struct screen *screen) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    char id[UNITS_TEXT_SIZE] = "";
    snprintf(name, sizeof(name), "%.*s", NAME_COLUMNS, who_name(group));
    int columns = units_text_columns(name);
    screen_print_foreign(screen, INK_STRONG, name);
    fprintf(screen->stream, "%*s", columns < NAME_COLUMNS ? NAME_COLUMNS - columns : 0, "");
    if (group->who == AGGSTATS_WHO_ID)
        snprintf(id, sizeof(id), "%" PRIu64, group->id);
    screen_print_right(screen, INK_PLAIN, id, 9);
}

static void print_cycles(double cycles, const struct units *units, const struct screen *screen) {
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(units, cycles, text);
    screen_print_right(screen, INK_PLAIN, text, 10);
}

/* "READ 61 %, OPEN 20 %": as many as fit in so many columns. Ops are sorted by total. */
static void print_main_ops(const struct aggstats_profile *profile, double total_cycles, int columns, FILE *stream) {
    for (size_t i = 0; i < profile->op_count && i < OPS_NAMED_MAX; i++) {
        char text[AGGSTATS_NAME_SIZE + 16];
        double share = total_cycles > 0 ? (double)profile->ops[i].total_cycles / total_cycles : 0;
        int length =
            snprintf(text, sizeof(text), "%s%s %.0f %%", i > 0 ? ", " : "  ", profile->ops[i].name, 100 * share);
        columns -= length;
        if (columns < 0)
            return;
        fputs(text, stream);
    }
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
    print_main_ops(&group->profile, sum.total_cycles, screen->width - TABLE_COLUMNS, screen->stream);
    putc('\n', screen->stream);
}

void groups_table_print(const struct aggstats_profile *profile, const struct units *units,
                        const struct screen *screen) {
    bool of_users = profile->grouping == AGGSTATS_BY_UID;
    double whole_cycles = figures_sum(profile).total_cycles;
    screen_ink(screen, INK_FAINT);
    fprintf(screen->stream, "\n%-*s%9s%11s%9s%10s%10s%s\n", NAME_COLUMNS, of_users ? "user" : "process",
            of_users ? "uid" : "pid", "calls", "share", "total", "mean",
            screen->width >= TABLE_COLUMNS + MAIN_OPS_COLUMNS ? "  mostly in" : "");
    screen_ink(screen, INK_PLAIN);
    for (size_t i = 0; i < profile->group_count; i++)
        print_row(&profile->groups[i], whole_cycles, units, screen);
}

/* ---- Choosing ---- */

/* Names are the programs' own: one that calls itself by a number, or as the kernel, is only found by its number. */
static bool is_meant(const struct aggstats_group *group, const char *who) {
    char id[UNITS_TEXT_SIZE];
    if (group->who != AGGSTATS_WHO_ID || strcmp(who, "kernel") == 0 || strcmp(who, "other") == 0)
        return group->who != AGGSTATS_WHO_ID && strcmp(who_name(group), who) == 0;
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

static int add_label(struct aggstats_profile *profile, const char *key, const char *value) {
    struct aggstats_label *grown = reallocarray(profile->labels, profile->label_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->labels = grown;
    struct aggstats_label label = {.key = strdup(key), .value = strdup(value)};
    profile->labels[profile->label_count++] = label; /* also if half empty: the profile frees it */
    return label.key && label.value ? 0 : -ENOMEM;
}

/* Whose calls they are, for the heading. */
static int label_sum(struct aggstats_profile *sum, enum aggstats_grouping grouping, const char *who, size_t count) {
    char value[AGGSTATS_GROUP_NAME_SIZE + 32];
    if (count > 1)
        snprintf(value, sizeof(value), "%.*s, %zu of them", AGGSTATS_GROUP_NAME_SIZE - 1, who, count);
    else
        snprintf(value, sizeof(value), "%.*s", AGGSTATS_GROUP_NAME_SIZE - 1, who);
    return add_label(sum, grouping == AGGSTATS_BY_UID ? "calls of user" : "calls of", value);
}

int groups_select(struct aggstats_profile *profile, const char *who) {
    struct aggstats_profile sum = {0};
    size_t count;
    int error = add_meant(profile, who, &sum, &count);
    if (!error && count == 0)
        error = -ENOENT;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = add_label(&sum, profile->labels[i].key, profile->labels[i].value);
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
