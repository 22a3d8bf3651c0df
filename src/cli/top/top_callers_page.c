/* Drawing callers. */
#include "top_views.h"

#include <string.h>

#include "base.h"
#include "groups.h"
#include "groups_table.h"
#include "top_table.h"

#define MAIN_OPS_GAP 2

/* ---- Messages ----------------------------------------------------------------------------------- */

/* Until there are calls, the groupings are unknown. */
static enum aggstats_grouping grouping_of(const struct top_callers *callers) {
    if (callers->grouping != AGGSTATS_UNGROUPED)
        return callers->grouping;
    return callers->by != AGGSTATS_UNGROUPED ? callers->by : AGGSTATS_BY_PROCESS;
}

/* The mount point; where a shell would take some character for another, what stands for it in the manual. */
static const char *name_of_mount(const struct top_watch *watch) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    const char *mount = aggstats_profile_label(&watch->latest.profile, "mount");
    return mount && mount[0] == '/' && mount[strspn(mount, plain)] == '\0' ? mount : "MOUNT";
}

static const char *name_of_kind(const struct top_callers *callers) {
    return aggstats_grouping_name(callers->by != AGGSTATS_UNGROUPED ? callers->by : AGGSTATS_BY_PROCESS);
}

/* Groups that are on must be switched off first. */
void top_callers_format_commands(const struct top_watch *watch, char ret_text[TOP_COMMANDS_SIZE]) {
    const char *mount = name_of_mount(watch);
    const char *kind = name_of_kind(&watch->callers);
    if (watch->callers.error == -EBUSY)
        snprintf(ret_text, TOP_COMMANDS_SIZE, "osprof groups %.160s off && osprof groups %.160s %s", mount, mount,
                 kind);
    else
        snprintf(ret_text, TOP_COMMANDS_SIZE, "osprof groups %.160s %s", mount, kind);
}

static void draw_not_recorded(const struct top_watch *watch, struct canvas *canvas) {
    char commands[TOP_COMMANDS_SIZE];
    char text[TOP_COMMANDS_SIZE + 64];
    top_callers_format_commands(watch, commands);
    snprintf(text, sizeof(text),
             "No calls by %s are recorded. This records them from now on:", name_of_kind(&watch->callers));
    canvas_line(canvas, INK_WARNING, text);
    snprintf(text, sizeof(text), "  %s", commands);
    canvas_line(canvas, INK_PLAIN, text);
}

static void draw_about_file(const char *before, const char *path, const char *after, struct canvas *canvas) {
    canvas_text(canvas, INK_WARNING, before);
    canvas_text(canvas, INK_WARNING, path ? path : "the control file");
    canvas_line(canvas, INK_WARNING, after);
}

static void draw_error(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_callers *callers = &watch->callers;
    char reason[160];
    switch (callers->error) {
    case -ENODATA:
    case -EBUSY:
        draw_not_recorded(watch, canvas);
        return;
    case -ENOTCONN:
        draw_about_file("Only a mount's control file tells the callers; there is no ",
                        callers->path ? callers->path : "such file", ".", canvas);
        return;
    case -ESTALE:
        draw_about_file("", callers->path, " is of another recording, or has just been reset.", canvas);
        return;
    default:
        snprintf(reason, sizeof(reason), ": %s.", top_source_reason(callers->error));
        draw_about_file("Cannot read ", callers->path, reason, canvas);
    }
}

void top_callers_page_draw_notices(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_callers *callers = &watch->callers;
    if (watch->has_ended)
        canvas_line(canvas, INK_WARNING, "Whose the last calls were is told by the mount's final profile only.");
    else if (callers->is_late)
        draw_about_file("The mount does not answer: ", callers->path, " cannot be read.", canvas);
    else if (callers->error)
        draw_error(watch, canvas);
}

/* ---- Table -------------------------------------------------------------------------------------- */

struct table {
    struct top_table figures;
    int main_ops_columns; /* 0: there is no room for them */
};

static struct table table_of(const struct top_callers *callers, const struct canvas *canvas) {
    struct table table = {.main_ops_columns = 0};
    top_table_init(&table.figures, &callers->latest, false, canvas);
    int left = top_table_fit(&table.figures, canvas->width - GROUPS_NAME_COLUMNS - GROUPS_ID_COLUMNS) - MAIN_OPS_GAP;
    if (left >= GROUPS_MAIN_OPS_COLUMNS)
        table.main_ops_columns = left;
    return table;
}

static void draw_main_ops(const struct table *table, enum ink ink, const char *text, struct canvas *canvas) {
    if (table->main_ops_columns == 0 || !text[0])
        return;
    canvas_move_to(canvas, canvas->column + MAIN_OPS_GAP);
    canvas_text(canvas, ink, text);
}

static void draw_titles(const struct table *table, const struct top_watch *watch, struct canvas *canvas) {
    const enum aggstats_grouping grouping = grouping_of(&watch->callers);
    canvas_text(canvas, watch->order == TOP_BY_NAME ? INK_STRONG : INK_FAINT, groups_name_title(grouping));
    canvas_move_to(canvas, GROUPS_NAME_COLUMNS);
    canvas_right(canvas, INK_FAINT, groups_id_title(grouping), GROUPS_ID_COLUMNS);
    top_table_draw_titles(&table->figures, watch->order, canvas);
    draw_main_ops(table, INK_FAINT, "mostly in", canvas);
    canvas_end_line(canvas);
}

static void draw_caller(const struct table *table, const struct top_caller *caller, struct canvas *canvas) {
    char id[GROUPS_ID_SIZE];
    char main_ops[GROUPS_MAIN_OPS_SIZE];
    const enum aggstats_grouping grouping = caller->group->grouping;
    const bool has_ids = aggstats_grouping_has_ids(grouping);
    const int columns = has_ids ? GROUPS_NAME_COLUMNS : GROUPS_NAME_COLUMNS + GROUPS_ID_COLUMNS;
    const struct screen shown = {.ascii = canvas->ascii};
    CLEANUP_FREE char *name = screen_cut(&shown, groups_name(caller->group), columns,
                                         aggstats_grouping_has_paths(grouping) ? SCREEN_PATH : SCREEN_BEGINNING);
    canvas_text(canvas, INK_STRONG, name ? name : "");
    canvas_move_to(canvas, columns);
    groups_format_id(caller->group, id);
    if (has_ids)
        canvas_right(canvas, INK_PLAIN, id, GROUPS_ID_COLUMNS);
    top_table_draw_row(&table->figures, &caller->figures, canvas);
    groups_table_format_main_ops(&caller->group->profile, caller->figures.total_cycles, table->main_ops_columns,
                                 main_ops);
    draw_main_ops(table, INK_PLAIN, main_ops, canvas);
    canvas_end_line(canvas);
}

/* The mount answers when it can, so this may differ from the time in the heading. */
static void draw_span(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_callers *callers = &watch->callers;
    const struct units units = {.frequency_hz = callers->latest.clock.frequency_hz, .ascii = canvas->ascii};
    char span[TOP_SPAN_SIZE];
    char text[TOP_SPAN_SIZE + 32];
    top_table_format_span(&callers->frame.profile, !callers->since_beginning && !watch->summing, &units, span);
    snprintf(text, sizeof(text), "Calls by %s, %s:", aggstats_grouping_name(grouping_of(callers)), span);
    canvas_line(canvas, INK_PLAIN, text);
}

static void draw_table(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_callers_frame *frame = &watch->callers.frame;
    const struct table table = table_of(&watch->callers, canvas);
    draw_span(watch, canvas);
    if (frame->row_count == 0) {
        canvas_line(canvas, INK_FAINT, "Nobody has called.");
        return;
    }
    char other[GROUPS_OTHER_SIZE];
    if (groups_table_format_other(&frame->profile, grouping_of(&watch->callers), other))
        canvas_line(canvas, INK_WARNING, other);
    draw_titles(&table, watch, canvas);
    for (size_t i = 0; i < frame->row_count; i++)
        draw_caller(&table, &frame->rows[i], canvas);
}

/* The last table stays, whatever happens. */
void top_callers_page_draw(const struct top_watch *watch, struct canvas *canvas) {
    const struct top_callers *callers = &watch->callers;
    top_callers_page_draw_notices(watch, canvas);
    if (callers->latest.resolution > 0)
        draw_table(watch, canvas);
    else if (!watch->has_ended && !callers->error && !callers->is_late)
        canvas_line(canvas, INK_FAINT, "The mount is being asked.");
}
