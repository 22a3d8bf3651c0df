/* The answer page. Each line has a key and a list, which is cut when its lines are full, so that the page is
 * bounded. */
#include "answer_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "groups.h"
#include "peak_labels.h"

#define KEY_COLUMNS 10 /* as in screen_print_key() */
#define PLACE_COLUMNS 32
#define WHOSE_COLUMNS 20
#define NAME_COLUMNS 24
#define PATH_COLUMNS 26
#define NAME_COLUMNS_NARROW 10
#define GROUPINGS_MAX 5
#define TEXT_SIZE 512

struct printer {
    const struct aggstats_profile *profile;
    const struct answer_model *model;
    const struct units *units;
    const struct screen *screen;
    FILE *stream;
};

/* ---- Texts -------------------------------------------------------------------------------------- */

/* One line or more, beginning with a key. */
struct list {
    const struct printer *it;
    int column;
    int lines_left; /* after the current one */
    bool is_begun;
};

static struct list begin_list(const struct printer *it, const char *key, int line_count) {
    screen_print_key(it->screen, key);
    int columns = units_text_columns(key);
    return (struct list){.it = it,
                         .column = columns < KEY_COLUMNS ? KEY_COLUMNS : columns + 1,
                         /* on a narrow screen lines are short */
                         .lines_left = it->screen->width < 80 ? 2 * line_count : line_count - 1};
}

/* Returns false, and prints nothing, if it does not fit. */
static bool list_add(struct list *list, const char *item) {
    const struct printer *it = list->it;
    int columns = units_text_columns(item) + 1; /* with the comma after it */
    bool is_new_line = list->is_begun && list->column + 1 + columns > it->screen->width;
    if (is_new_line && list->lines_left == 0)
        return false;
    if (list->is_begun)
        fputs(is_new_line ? ",\n" : ", ", it->stream);
    if (is_new_line) {
        fprintf(it->stream, "%*s", KEY_COLUMNS, "");
        list->lines_left--;
        list->column = KEY_COLUMNS;
    }
    fputs(item, it->stream);
    list->column += columns + (list->is_begun && !is_new_line);
    list->is_begun = true;
    return true;
}

static void end_list(const struct list *list) {
    putc('\n', list->it->stream);
}

/* ---- How much of the time ----------------------------------------------------------------------- */

static void format_time(const struct printer *it, double cycles, char ret_text[TEXT_SIZE]) {
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(it->units, cycles, text);
    snprintf(ret_text, TEXT_SIZE, "%s%s", text, it->units->frequency_hz > 0 ? "" : " cycles");
    screen_make_blanks_firm(ret_text);
}

/* "to /srv/data", or "" */
static void format_place(const struct printer *it, const char *preposition, char ret_text[TEXT_SIZE]) {
    const char *lower = aggstats_profile_label(it->profile, "lower");
    const char *mount = aggstats_profile_label(it->profile, "mount");
    const char *place = lower && lower[0] ? lower : mount && mount[0] ? mount : NULL;
    CLEANUP_FREE char *shown = place ? screen_cut(it->screen, place, PLACE_COLUMNS, SCREEN_END) : NULL;
    ret_text[0] = '\0';
    if (shown)
        snprintf(ret_text, TEXT_SIZE, " %s %s", preposition, shown);
}

/* The name alone, from a label that also says how many groups or what may be missing. */
static char *copy_whose(const char *value) {
    const char *more = strstr(value, ", but for ");
    for (const char *next = more; next; next = strstr(next + 1, ", but for "))
        more = next;
    return more ? strndup(value, (size_t)(more - value)) : strdup(value);
}

/* "calls", or with the group of osprof show --of: "calls of program cc1", "calls on /src/a.c" */
static void format_calls(const struct printer *it, char ret_text[TEXT_SIZE]) {
    snprintf(ret_text, TEXT_SIZE, "calls");
    for (size_t i = 0; i < it->profile->label_count; i++) {
        const struct aggstats_label *label = &it->profile->labels[i];
        bool is_path = strncmp(label->key, "calls on ", strlen("calls on ")) == 0;
        if (!is_path && strncmp(label->key, "calls of", strlen("calls of")) != 0)
            continue;
        CLEANUP_FREE char *name = is_path ? copy_whose(label->value) : strdup(label->value);
        CLEANUP_FREE char *key =
            screen_cut(it->screen, is_path ? "calls on" : label->key, WHOSE_COLUMNS, SCREEN_BEGINNING);
        CLEANUP_FREE char *whose = name ? screen_cut(it->screen, name, is_path ? PLACE_COLUMNS : WHOSE_COLUMNS,
                                                     is_path ? SCREEN_END : SCREEN_BEGINNING)
                                        : NULL;
        if (key && whose)
            snprintf(ret_text, TEXT_SIZE, "%s %s", key, whose);
    }
}

/* "12.4 s elapsed; ", with their number before it if runs or profiles were added up */
static void format_elapsed(const struct printer *it, char ret_text[TEXT_SIZE]) {
    const char *runs = aggstats_profile_label(it->profile, "runs");
    const char *merged = aggstats_profile_label(it->profile, "merged");
    const char *number = runs ? runs : merged;
    char time[TEXT_SIZE];
    ret_text[0] = '\0';
    if (!it->profile->has_elapsed)
        return;
    format_time(it, (double)it->profile->elapsed_cycles, time);
    if (number && number[0] && strlen(number) < 20 && number[strspn(number, "0123456789")] == '\0')
        snprintf(ret_text, TEXT_SIZE, "%s %s, %.64s elapsed in all; ", number, runs ? "runs" : "profiles", time);
    else
        snprintf(ret_text, TEXT_SIZE, "%.64s elapsed; ", time);
}

/* "79 % ± 1", "0.31 % ± 0.12": as many digits as are significant */
static void format_busy_share(const struct printer *it, char ret_text[UNITS_TEXT_SIZE]) {
    double error = 100 * it->model->busy_error;
    int digits = error >= 0.95 ? 0 : error >= 0.095 ? 1 : 2;
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.*f %% %s %.*f", digits, 100 * it->model->busy_share,
             it->screen->ascii ? "+-" : "±", digits, error);
    screen_make_blanks_firm(ret_text);
}

static void format_busy(const struct printer *it, char ret_text[TEXT_SIZE]) {
    const struct answer_model *model = it->model;
    char time[TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    char place[TEXT_SIZE];
    char callers[64] = "a caller";
    format_time(it, model->busy_share * (double)it->profile->elapsed_cycles, time);
    format_busy_share(it, share);
    format_place(it, "for", place);
    if (model->busy_most > 1)
        snprintf(callers, sizeof(callers), "at least one of up to %llu callers", (unsigned long long)model->busy_most);
    snprintf(ret_text, TEXT_SIZE, "in %.64s of them (%s) %s waited%.160s", time, share, callers, place);
}

static void format_sum(const struct printer *it, char ret_text[TEXT_SIZE]) {
    const struct answer_model *model = it->model;
    char calls[TEXT_SIZE];
    char place[TEXT_SIZE];
    char time[TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    format_calls(it, calls);
    format_place(it, "to", place);
    format_time(it, model->sum.total_cycles, time);
    units_format_share(model->elapsed_share, share);
    screen_make_blanks_firm(share);
    if (model->sum.calls == 0)
        snprintf(ret_text, TEXT_SIZE, "no %.160s%.160s", calls, place);
    else if (model->elapsed_share > 0)
        snprintf(ret_text, TEXT_SIZE, "%.160s%.160s took %.64s, summed over callers (%s)", calls, place, time, share);
    else
        snprintf(ret_text, TEXT_SIZE, "%.160s%.160s took %.64s, summed over callers", calls, place, time);
}

static void print_time(const struct printer *it) {
    char elapsed[TEXT_SIZE];
    char calls[TEXT_SIZE];
    char text[2 * TEXT_SIZE];
    format_elapsed(it, elapsed);
    if (it->model->has_busy)
        format_busy(it, calls);
    else
        format_sum(it, calls);
    if (!elapsed[0] && calls[0] >= 'a' && calls[0] <= 'z')
        calls[0] = (char)(calls[0] - 'a' + 'A');
    snprintf(text, sizeof(text), "%s%s", elapsed, calls);
    screen_print_sentence(it->screen, 0, text);
}

/* A call that hangs is the answer. */
static void print_in_flight(const struct printer *it) {
    const struct aggstats_call_in_flight *oldest = it->model->oldest;
    char count[UNITS_TEXT_SIZE];
    char age[TEXT_SIZE];
    char text[TEXT_SIZE];
    if (!oldest)
        return;
    units_format_count(it->profile->in_flight_count, count);
    format_time(it, (double)oldest->age_cycles, age);
    CLEANUP_FREE char *op = screen_cut(it->screen, oldest->op, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *cause = screen_cut(it->screen, oldest->cause, AGGSTATS_CAUSE_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *program = screen_cut(it->screen, oldest->program, AGGSTATS_PROGRAM_SIZE, SCREEN_BEGINNING);
    snprintf(text, sizeof(text), "In flight: %s call%s, the oldest %s%s%.40s for %.64s%s%.100s", count,
             units_plural(it->profile->in_flight_count), op ? op : "", program && program[0] ? " by " : "",
             program ? program : "", age, cause && cause[0] ? ", " : "", cause ? cause : "");
    screen_print_sentence(it->screen, 0, text);
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

/* True if some peak has known causes of waits. */
static bool has_waits(const struct answer_model *model) {
    for (size_t i = 0; i < model->peak_count; i++)
        if (model->peaks[i].wait)
            return true;
    return false;
}

/* The observed cause, or else the probable one; beside observed causes, that has a question mark.
 * Owner:   the caller frees it; NULL: no memory */
static char *make_cause(const struct printer *it, const struct answer_peak *peak, int columns) {
    const char *name = peak_cause_text(peak->reason.cause, peak->op);
    char guess[64];
    snprintf(guess, sizeof(guess), "%s%s", name, name[0] && has_waits(it->model) ? "?" : "");
    return screen_cut(it->screen, peak->wait ? peak->wait->text : guess, columns, SCREEN_BEGINNING);
}

/* The cells behind the name. The share is before it, so that no line looks like one of the table of operations. */
enum cell { CELL_CALLS, CELL_TYPICAL, CELL_CAUSE, CELL_PLACE, CELL_COUNT };

#define SHARE_COLUMNS 8
#define GAP_COLUMNS 2 /* before texts */
#define PATH_COLUMNS_MIN 12

static const struct {
    const char *title;
    int columns;
} cells[CELL_COUNT] = {{"calls", 13}, {"typical", 11}, {"may be", GAP_COLUMNS + 6}, {"mostly on", 0}};

#define CAUSE_COLUMNS_MIN (GAP_COLUMNS + 16) /* of an observed cause; if less is left it is omitted */

/* The widths of columns; 0: the column is omitted. */
struct peak_columns {
    int name;
    int cells[CELL_COUNT];
};

/* Of a number. */
static void format_cell(const struct printer *it, const struct answer_peak *peak, enum cell cell,
                        char ret_text[UNITS_TEXT_SIZE]) {
    if (cell == CELL_CALLS)
        units_format_count(peak->peak.calls, ret_text);
    else
        units_format_cycles(it->units, peak->typical_cycles, ret_text);
}

static void print_text_cell(const struct printer *it, enum ink ink, const char *text, int columns) {
    int used = GAP_COLUMNS + units_text_columns(text);
    fprintf(it->stream, "%*s", GAP_COLUMNS, "");
    screen_print(it->screen, ink, text);
    fprintf(it->stream, "%*s", used < columns ? columns - used : 0, "");
}

static void print_place(const struct printer *it, const struct answer_peak *peak, int columns) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    if (!peak->place)
        return;
    groups_cut_name(peak->place, (size_t)(columns - GAP_COLUMNS), name);
    CLEANUP_FREE char *shown = screen_cut(it->screen, name, columns - GAP_COLUMNS, SCREEN_END);
    if (shown)
        print_text_cell(it, INK_PLAIN, shown, 0);
}

/* The width of the longest cause of these peaks. Observed causes are cut to what is left. */
static int cause_columns(const struct printer *it, int left) {
    int columns = 0;
    for (size_t i = 0; i < it->model->peak_count; i++) {
        CLEANUP_FREE char *cause = make_cause(it, &it->model->peaks[i], AGGSTATS_CAUSE_SIZE);
        int length = cause ? units_text_columns(cause) : 0;
        columns = length > columns ? length : columns;
    }
    if (columns > 0 && columns < cells[CELL_CAUSE].columns - GAP_COLUMNS)
        columns = cells[CELL_CAUSE].columns - GAP_COLUMNS;
    columns += columns > 0 ? GAP_COLUMNS : 0;
    return columns > left && left >= CAUSE_COLUMNS_MIN && has_waits(it->model) ? left : columns;
}

/* With two blanks before each. */
static int number_columns(const struct printer *it, enum cell cell) {
    int columns = cells[cell].columns;
    for (size_t i = 0; i < it->model->peak_count; i++) {
        char text[UNITS_TEXT_SIZE];
        format_cell(it, &it->model->peaks[i], cell, text);
        int length = GAP_COLUMNS + units_text_columns(text);
        columns = length > columns ? length : columns;
    }
    return columns;
}

static bool has_places(const struct answer_model *model) {
    for (size_t i = 0; i < model->peak_count; i++)
        if (model->peaks[i].place)
            return true;
    return false;
}

/* A column is shown if it fits with those before it; paths get the rest. */
static struct peak_columns find_columns(const struct printer *it, int name) {
    struct peak_columns columns = {.name = name};
    int left = it->screen->width - SHARE_COLUMNS - GAP_COLUMNS - name;
    for (unsigned cell = 0; cell < CELL_PLACE; cell++) {
        int wanted = cell == CELL_CAUSE ? cause_columns(it, left) : number_columns(it, (enum cell)cell);
        if (wanted > left)
            continue;
        columns.cells[cell] = wanted;
        left -= wanted;
    }
    if (has_places(it->model) && left >= GAP_COLUMNS + PATH_COLUMNS_MIN)
        columns.cells[CELL_PLACE] = left;
    return columns;
}

static void print_cause(const struct printer *it, const struct answer_peak *peak, int columns, bool is_last) {
    CLEANUP_FREE char *cause = make_cause(it, peak, columns - GAP_COLUMNS);
    if (cause && (cause[0] || !is_last))
        print_text_cell(it, INK_PLAIN, cause, is_last ? 0 : columns);
}

static void print_peak(const struct printer *it, const struct answer_peak *peak, const struct peak_columns *columns) {
    char text[UNITS_TEXT_SIZE];
    bool is_last = !peak->place || columns->cells[CELL_PLACE] == 0;
    units_format_share(peak->cost_share, text);
    screen_print_right(it->screen, INK_PLAIN, text, SHARE_COLUMNS);
    fputs("  ", it->stream);
    screen_print_untrusted(it->screen, INK_STRONG, peak->op->name);
    fprintf(it->stream, "%*s", columns->name - (int)strlen(peak->op->name), "");
    for (unsigned cell = 0; cell < CELL_PLACE; cell++) {
        if (columns->cells[cell] == 0)
            continue;
        if (cell == CELL_CAUSE) {
            print_cause(it, peak, columns->cells[cell], is_last);
            continue;
        }
        format_cell(it, peak, (enum cell)cell, text);
        screen_print_right(it->screen, INK_PLAIN, text, columns->cells[cell]);
    }
    if (!is_last)
        print_place(it, peak, columns->cells[CELL_PLACE]);
    putc('\n', it->stream);
}

static void print_peak_titles(const struct printer *it, const char *title, const struct peak_columns *columns) {
    screen_print_right(it->screen, INK_FAINT, "share", SHARE_COLUMNS);
    fputs("  ", it->stream);
    screen_print(it->screen, INK_FAINT, title);
    fprintf(it->stream, "%*s", columns->name - (int)strlen(title), "");
    for (unsigned cell = 0; cell < CELL_CAUSE; cell++)
        if (columns->cells[cell] > 0)
            screen_print_right(it->screen, INK_FAINT, cells[cell].title, columns->cells[cell]);
    if (columns->cells[CELL_CAUSE] > 0)
        print_text_cell(it, INK_FAINT, has_waits(it->model) ? "cause" : cells[CELL_CAUSE].title,
                        columns->cells[CELL_PLACE] > 0 ? columns->cells[CELL_CAUSE] : 0);
    if (columns->cells[CELL_PLACE] > 0)
        print_text_cell(it, INK_FAINT, cells[CELL_PLACE].title, 0);
    putc('\n', it->stream);
}

static void print_peaks(const struct printer *it) {
    const char *title = "most time in";
    int names = (int)strlen(title);
    for (size_t i = 0; i < it->model->peak_count; i++) {
        int length = (int)strlen(it->model->peaks[i].op->name);
        names = length > names ? length : names;
    }
    if (it->model->peak_count == 0)
        return;
    const struct peak_columns columns = find_columns(it, names);
    putc('\n', it->stream);
    print_peak_titles(it, title, &columns);
    for (size_t i = 0; i < it->model->peak_count; i++)
        print_peak(it, &it->model->peaks[i], &columns);
}

/* ---- Callers, bytes, failures ------------------------------------------------------------------- */

static void format_group(const struct printer *it, const struct aggstats_group *group, double share,
                         char ret_text[TEXT_SIZE]) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    char id[GROUPS_ID_SIZE];
    char part[UNITS_TEXT_SIZE];
    bool has_path = aggstats_grouping_has_objects(group->grouping);
    int columns = it->screen->width < 80 ? NAME_COLUMNS_NARROW : has_path ? PATH_COLUMNS : NAME_COLUMNS;
    groups_cut_name(group, (size_t)columns, name);
    groups_format_id(group, id);
    units_format_share(share, part);
    CLEANUP_FREE char *shown = screen_cut(it->screen, name, columns, SCREEN_BEGINNING);
    const char *who = shown ? shown : "";
    snprintf(ret_text, TEXT_SIZE, "%.255s%s%s %s", who, who[0] && id[0] ? " " : "", id, part);
}

/* The busiest groups of a grouping, in a line. */
static void print_groups(const struct printer *it, enum aggstats_grouping grouping) {
    struct list list = begin_list(it, groups_name_title(grouping), 1);
    bool is_room = true;
    for (size_t i = 0; i < it->profile->group_count && is_room; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        char text[TEXT_SIZE];
        if (group->grouping != grouping)
            continue;
        double total = figures_sum(&group->profile).total_cycles;
        double share = it->model->sum.total_cycles > 0 ? total / it->model->sum.total_cycles : 0;
        if (list.is_begun && share < ANSWER_SHARE_MIN)
            continue;
        format_group(it, group, share, text);
        is_room = list_add(&list, text);
    }
    if (!list.is_begun)
        list_add(&list, "nobody");
    end_list(&list);
}

/* Files and directories come first. Of six kinds the last is omitted, so that the page is bounded. */
static void print_all_groups(const struct printer *it) {
    static const enum aggstats_grouping order[] = {AGGSTATS_BY_FILE,    AGGSTATS_BY_DIRECTORY, AGGSTATS_BY_PROGRAM,
                                                   AGGSTATS_BY_PROCESS, AGGSTATS_BY_UID,       AGGSTATS_BY_CGROUP};
    unsigned count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(order) && count < GROUPINGS_MAX; i++) {
        if (!(it->profile->groupings & 1U << order[i]))
            continue;
        print_groups(it, order[i]);
        count++;
    }
}

static void print_rate(struct list *list, double per_second, const char *of_what) {
    char bytes[UNITS_TEXT_SIZE];
    char text[TEXT_SIZE];
    if (per_second <= 0)
        return;
    units_format_bytes(per_second, bytes);
    snprintf(text, sizeof(text), "%s/s %s", bytes, of_what);
    list_add(list, text);
}

static void print_transfer(const struct printer *it, const struct answer_transfer *transfer) {
    const char *key = transfer->op->name[0] == 'R' ? "read" : transfer->op->name[0] == 'W' ? "written" : "copied";
    struct list list = begin_list(it, key, 1);
    char bytes[UNITS_TEXT_SIZE];
    units_format_bytes((double)transfer->op->moved_bytes, bytes);
    list_add(&list, bytes);
    print_rate(&list, transfer->per_elapsed_second, "overall");
    print_rate(&list, transfer->per_call_second, "within calls");
    end_list(&list);
}

static void print_no_bytes(const struct printer *it) {
    struct list list = begin_list(it, "bytes", 1);
    list_add(&list, "none read or written");
    end_list(&list);
}

static void print_no_failures(const struct printer *it) {
    char count[UNITS_TEXT_SIZE];
    char text[TEXT_SIZE] = "nothing";
    if (!it->model->knows_outcomes)
        return;
    struct list list = begin_list(it, "failed", 1);
    units_format_count(it->model->asked_for, count);
    if (it->model->asked_for > 0)
        snprintf(text, sizeof(text), "nothing but %s quer%s for what is not there", count,
                 it->model->asked_for == 1 ? "y" : "ies");
    if (list.column + units_text_columns(text) > it->screen->width)
        snprintf(text, sizeof(text), "nothing");
    list_add(&list, text);
    end_list(&list);
}

static void print_failures(const struct printer *it) {
    const struct answer_model *model = it->model;
    wide_count told = 0;
    char count[UNITS_TEXT_SIZE];
    char text[TEXT_SIZE];
    if (model->failure_count == 0) {
        print_no_failures(it);
        return;
    }
    struct list list = begin_list(it, "failed", 2);
    for (size_t i = 0; i < model->failure_count; i++) {
        const struct answer_failure *failure = &model->failures[i];
        units_format_count(failure->calls, count);
        CLEANUP_FREE char *op = screen_cut(it->screen, failure->op->name, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
        snprintf(text, sizeof(text), "%s %s %s", op ? op : "", aggstats_failure_name(failure->failure), count);
        if (list_add(&list, text))
            told += failure->calls;
    }
    units_format_count(model->failed_calls - told, count);
    snprintf(text, sizeof(text), "others %s", count);
    if (told < model->failed_calls)
        list_add(&list, text);
    end_list(&list);
}

static void print_facts(const struct printer *it) {
    const struct answer_model *model = it->model;
    if (model->peak_count > 0)
        putc('\n', it->stream);
    print_all_groups(it);
    for (size_t i = 0; i < model->transfer_count; i++)
        print_transfer(it, &model->transfers[i]);
    if (model->transfer_count == 0 && model->knows_outcomes)
        print_no_bytes(it);
    print_failures(it);
}

/* ---- Reasons for the names of peaks ------------------------------------------------------------- */

static void print_reasons(const struct printer *it, const struct calibration *calibration) {
    const struct peak_times times = peak_labels_times(it->profile, calibration);
    if (times.count == 0) {
        putc('\n', it->stream);
        peak_labels_explain_none(it->screen);
        return;
    }
    for (size_t i = 0; i < it->model->peak_count; i++) {
        putc('\n', it->stream);
        screen_print_untrusted(it->screen, INK_STRONG, it->model->peaks[i].op->name);
        putc('\n', it->stream);
        peak_labels_explain(it->model->peaks[i].op, &it->model->peaks[i].peak, &times, it->units, it->screen);
    }
}

/* ---- The whole ---------------------------------------------------------------------------------- */

void answer_page_print(const struct answer_page *page, const struct units *units, const struct screen *screen) {
    struct answer_model model;
    answer_model_make(page->profile, page->calibration->times, page->calibration->count, &model);
    const struct printer it = {page->profile, &model, units, screen, screen->stream};
    print_time(&it);
    print_in_flight(&it);
    print_peaks(&it);
    print_facts(&it);
    answer_next_print(page->source, page->profile, &model, page->calibration->count == 0 && !page->no_labels, screen);
    if (page->explain)
        print_reasons(&it, page->calibration);
}
