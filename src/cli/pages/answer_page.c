/* The answer page. Each line has a key and a list, which is cut when its lines are full, so that the page is
 * bounded. */
#include "answer_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/why.h"
#include "base.h"
#include "callers_text.h"
#include "disk_others.h"
#include "facts_text.h"
#include "groups.h"
#include "holders_text.h"
#include "layers.h"
#include "peak_labels.h"
#include "sheet.h"

#define PLACE_COLUMNS 32
#define WHOSE_COLUMNS 20
#define NAME_COLUMNS 24
#define PATH_COLUMNS 26
#define NAME_COLUMNS_NARROW 10
#define TEXT_SIZE 512
#define SPAN_MIN 0.02
#define CACHED_SHARE_NEAR 0.001 /* all or nothing, as printed */
#define WITHIN_MIN 0.05         /* of the elapsed time: a smaller part of the calls on a CPU is not mentioned */
#define NOT_SEEN_COLUMNS 160
#define NOT_SEEN_NAMES 2

struct printer {
    const struct answer_rows *rows;
    const struct units *units;
    const struct screen *screen;
    FILE *stream;
};

/* Rows of one kind that follow each other. */
struct range {
    const struct answer_row *first;
    size_t count;
};

static bool is_alike(const struct answer_row *a, const struct answer_row *b) {
    return a->kind == b->kind && a->grouping == b->grouping;
}

/* Those like the row at a place, from there on. */
static struct range range_at(const struct answer_rows *rows, size_t place) {
    struct range range = {.first = &rows->rows[place]};
    while (place + range.count < rows->count && is_alike(range.first, range.first + range.count))
        range.count++;
    return range;
}

static struct range range_of(const struct answer_rows *rows, enum answer_kind kind) {
    size_t place = 0;
    while (place < rows->count && rows->rows[place].kind != kind)
        place++;
    return place < rows->count ? range_at(rows, place) : (struct range){.first = NULL};
}

/* ---- Texts -------------------------------------------------------------------------------------- */

/* One line or more, beginning with a key. */
struct list {
    const struct printer *it;
    int column;
    int lines_left; /* after the current one */
    bool is_begun;
};

static struct list begin_list(const struct printer *it, const char *key, int line_count) {
    screen_begin_entry(it->screen, key);
    int columns = units_text_columns(key);
    return (struct list){.it = it,
                         .column = columns < SCREEN_KEY_COLUMNS ? SCREEN_KEY_COLUMNS : columns + 1,
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
        fprintf(it->stream, "%*s", SCREEN_KEY_COLUMNS, "");
        list->lines_left--;
        list->column = SCREEN_KEY_COLUMNS;
    }
    screen_print(it->screen, INK_PLAIN, item);
    list->column += columns + (list->is_begun && !is_new_line);
    list->is_begun = true;
    return true;
}

static void end_list(const struct list *list) {
    screen_end_line(list->it->screen);
}

/* ---- How much of the time ----------------------------------------------------------------------- */

static void format_time(const struct printer *it, double cycles, char ret_text[TEXT_SIZE]) {
    snprintf(ret_text, TEXT_SIZE, "%s%s", units_cycles(it->units, cycles).text,
             it->units->frequency_hz > 0 ? "" : " cycles");
    screen_make_blanks_firm(ret_text);
}

/* Of a sum of calls that may be at the same time. */
#define ADDED_UP "overlapping ones added up"

/* "to /srv/data", or "" */
static void format_place(const struct printer *it, const struct answer_row *row, const char *preposition,
                         char ret_text[TEXT_SIZE]) {
    CLEANUP_FREE char *shown = row->place ? screen_cut(it->screen, row->place, PLACE_COLUMNS, SCREEN_END) : NULL;
    ret_text[0] = '\0';
    if (shown)
        snprintf(ret_text, TEXT_SIZE, " %s %s", preposition, shown);
}

/* "calls", or with the group of osprof show --of: "calls of program cc1", "calls on /src/a.c" */
static void format_calls(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    snprintf(ret_text, TEXT_SIZE,
             !row->is_of_disk               ? "calls"
             : row->kind == ANSWER_NO_CALLS ? "requests"
                                            : "requests of all programs");
    if (!row->whose)
        return;
    bool is_path = strcmp(row->word, "calls on") == 0;
    CLEANUP_FREE char *key = screen_cut(it->screen, row->word, WHOSE_COLUMNS, SCREEN_BEGINNING);
    CLEANUP_FREE char *whose = screen_cut(it->screen, row->whose, is_path ? PLACE_COLUMNS : WHOSE_COLUMNS,
                                          is_path ? SCREEN_END : SCREEN_BEGINNING);
    if (key && whose)
        snprintf(ret_text, TEXT_SIZE, "%s %s", key, whose);
}

/* "12.4 s elapsed; ", with their number before it if runs or profiles were added up */
static void format_elapsed(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    char time[TEXT_SIZE];
    format_time(it, row->cycles, time);
    if (row->count > 0)
        snprintf(ret_text, TEXT_SIZE, "%llu %s, %.64s elapsed in all; ", (unsigned long long)row->count, row->word,
                 time);
    else
        snprintf(ret_text, TEXT_SIZE, "%.64s elapsed; ", time);
}

/* "79 % ± 1", "0.31 % ± 0.12": as many digits as are significant */
static void format_busy_share(const struct printer *it, const struct answer_row *row, char ret_text[UNITS_TEXT_SIZE]) {
    double error = 100 * row->error;
    int digits = error >= 0.95 ? 0 : error >= 0.095 ? 1 : 2;
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.*f %% %s %.*f", digits, 100 * row->share, it->screen->ascii ? "+-" : "±",
             digits, error);
    screen_make_blanks_firm(ret_text);
}

static void format_share(double share, char ret_text[UNITS_TEXT_SIZE]) {
    units_format_share(share, ret_text);
    screen_make_blanks_firm(ret_text);
}

static void format_busy(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    char time[TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    char place[TEXT_SIZE];
    char most[64] = "";
    const bool are_several = row->count > 1;
    format_time(it, row->cycles, time);
    if (row->kind == ANSWER_BUSY)
        format_busy_share(it, row, share);
    else
        format_share(row->share, share);
    format_place(it, row, row->is_of_programs ? "on" : "to", place);
    if (are_several)
        snprintf(most, sizeof(most), ", up to %llu at a time", (unsigned long long)row->count);
    const char *before = row->is_of_programs ? are_several ? "the job was in file calls" : "the job was in a file call"
                         : are_several       ? "calls"
                                             : "a call";
    const char *behind = row->is_of_programs ? "" : are_several ? " were in flight" : " was in flight";
    snprintf(ret_text, TEXT_SIZE, "in %s%.64s of them (%s) %s%.160s%s%s", row->is_at_least ? "at least " : "", time,
             share, before, place, behind, most);
}

static void format_sum(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    char calls[TEXT_SIZE];
    char place[TEXT_SIZE];
    char time[TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    format_calls(it, row, calls);
    format_place(it, row, "to", place);
    format_time(it, row->cycles, time);
    format_share(row->share, share);
    const char *bound = row->is_at_least ? "at least " : "";
    if (row->kind == ANSWER_NO_CALLS)
        snprintf(ret_text, TEXT_SIZE, "no %.160s%.160s%s", calls, place, row->is_at_least ? " were seen" : "");
    else if (row->share > 0)
        snprintf(ret_text, TEXT_SIZE, "%.160s%.160s took %s%.64s (%s), " ADDED_UP, calls, place, bound, time, share);
    else
        snprintf(ret_text, TEXT_SIZE, "%.160s%.160s took %s%.64s, " ADDED_UP, calls, place, bound, time);
}

static void add_locks(const struct printer *it, const struct answer_row *locks, const struct answer_row *row,
                      char text[TEXT_SIZE]) {
    const size_t length = strlen(text);
    char time[TEXT_SIZE];
    format_time(it, locks->cycles, time);
    snprintf(text + length, TEXT_SIZE - length,
             row->kind == ANSWER_BUSY ? "; calls for locks took %.64s, " ADDED_UP : "; %.64s of that for locks", time);
}

/* "1.00 s", or "1.00 to 1.20 s" if that differs by more than SPAN_MIN of the elapsed time */
static void format_span(const struct printer *it, double least, double most, double elapsed, char ret_text[TEXT_SIZE]) {
    char least_text[TEXT_SIZE];
    char most_text[TEXT_SIZE];
    format_time(it, least, least_text);
    format_time(it, most, most_text);
    if (most - least <= SPAN_MIN * elapsed)
        format_time(it, (least + most) / 2, ret_text);
    else
        snprintf(ret_text, TEXT_SIZE, "%.64s to %.64s", least_text, most_text);
}

/* Of one thread: "Outside of these calls it was on a CPU for 121 ms", "It was on a CPU for at least 130 ms within these
 * calls, and outside of them for 20.0 ms" */
static void format_computing(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    const struct answer_rest *rest = &row->rest;
    char within[TEXT_SIZE];
    char outside[TEXT_SIZE];
    format_span(it, rest->computing_least, rest->computing_most, row->cycles, outside);
    format_time(it, rest->within_least, within);
    if (rest->within_least >= WITHIN_MIN * row->cycles)
        snprintf(ret_text, TEXT_SIZE,
                 "It was on a CPU for at least %.64s within these calls, and outside of them for %.150s", within,
                 outside);
    else
        snprintf(ret_text, TEXT_SIZE, "Outside of these calls it was on a CPU for %.150s", outside);
}

/* Of several threads or processes, one after the other or at the same time. */
static void print_rest_of_several(const struct printer *it, const struct answer_row *row) {
    char computing[TEXT_SIZE];
    char idle[TEXT_SIZE];
    char text[TEXT_SIZE];
    const bool is_idle = !row->is_at_least && row->rest.idle_least >= ANSWER_SHARE_MIN * row->cycles;
    format_time(it, row->rest.cpu, computing);
    format_time(it, row->rest.idle_least, idle);
    snprintf(text, sizeof(text),
             "Its threads and processes were on CPUs for %.64s, in these calls and outside%s%.64s%s", computing,
             is_idle ? "; that leaves at least " : "", is_idle ? idle : "",
             is_idle ? " of the elapsed time for something else" : "");
    screen_print_sentence(it->screen, 0, text);
}

/* Where the command was outside of its calls. */
static void print_rest(const struct printer *it, const struct answer_row *row) {
    const struct answer_rest *rest = &row->rest;
    const bool has_queued = rest->queued_most >= ANSWER_SHARE_MIN * row->cycles; /* part of others_most */
    const bool has_others = rest->others_most >= ANSWER_SHARE_MIN * row->cycles;
    char computing[TEXT_SIZE];
    char queued[TEXT_SIZE];
    char others[TEXT_SIZE];
    char text[2 * TEXT_SIZE];
    if (rest->kind == ANSWER_REST_SEVERAL) {
        print_rest_of_several(it, row);
        return;
    }
    format_computing(it, row, computing);
    format_span(it, rest->others_least, rest->others_most, row->cycles, others);
    format_time(it, rest->queued_most, queued);
    snprintf(text, sizeof(text), "%.250s%s%.64s%s%.150s", computing, has_queued ? ", waited for one for at most " : "",
             has_queued ? queued : "",
             has_others ? has_queued ? ", and for something else " : ", and waited for something else " : "",
             has_others ? others : "");
    screen_print_sentence(it->screen, 0, text);
}

static void print_fuse(const struct printer *it, const struct answer_row *row) {
    char time[TEXT_SIZE];
    char text[TEXT_SIZE];
    format_time(it, row->cycles, time);
    snprintf(text, sizeof(text), "FUSE, the page cache and copying added at most %.64s to these calls (%s request%s)",
             time, units_count(row->count).text, units_plural(row->count));
    screen_print_sentence(it->screen, 0, text);
}

void answer_page_print_hidden_locks(double cycles, const struct units *units, const struct screen *screen) {
    const struct printer it = {.units = units};
    char time[TEXT_SIZE];
    char text[TEXT_SIZE];
    format_time(&it, cycles, time);
    snprintf(text, sizeof(text),
             "Programs waited %.64s in all for locks of files; the mount does not forward them (-o "
             "posix_lock,flock does), so that is in no operation",
             time);
    screen_print_sentence(screen, 0, text);
}

/* Of each kind of programs only the first names; the heading has more. */
static void print_not_seen(const struct printer *it, const struct answer_row *row) {
    CLEANUP_STR struct str kinds = {0};
    CLEANUP_STR struct str text = {0};
    if (row->profile)
        facts_text_add_not_seen(&kinds, row->profile, NOT_SEEN_NAMES);
    CLEANUP_FREE char *what = screen_cut(it->screen, str_text(&kinds), NOT_SEEN_COLUMNS, SCREEN_BEGINNING);
    str_addf(&text, "Not seen: %s", what ? what : "");
    if (row->count > 0)
        str_addf(&text, "%spage faults of mapped files (%s major in all)", row->profile ? ", " : "",
                 units_count(row->count).text);
    screen_print_in_ink(it->screen, INK_WARNING, str_text(&text));
}

static void print_not_told(const struct printer *it, const struct answer_row *row) {
    CLEANUP_STR struct str text = {0};
    CLEANUP_STR struct str what = {0};
    facts_text_add_not_told(&what, row->profile);
    str_addf(&text, "Not told: %s", str_text(&what));
    screen_print_sentence(it->screen, 0, str_text(&text));
}

/* True of all kinds of programs and calls. A user's mount is in a user namespace, in which set-id bits do nothing. */
static void print_remedy(const struct printer *it, const struct answer_row *row) {
    char text[TEXT_SIZE];
    snprintf(text, sizeof(text), "A mount over their files sees them: osprof run --layers fs -d DIR%s",
             row->is_of_set_id ? ", for set-id programs as root" : "");
    screen_print_sentence(it->screen, 0, text);
}

/* The command begins the line, so that it is not broken. */
static void print_attach(const struct printer *it, const struct answer_row *row) {
    char text[TEXT_SIZE];
    snprintf(text, sizeof(text), "%.400s sees them while they run, on that file system", row->word);
    screen_print_sentence(it->screen, 0, text);
}

static void print_elsewhere(const struct printer *it, const struct answer_row *row) {
    char place[TEXT_SIZE];
    char text[TEXT_SIZE];
    format_place(it, row, "in", place);
    snprintf(text, sizeof(text),
             "%s of the bytes that programs read and wrote were of files%.160s: %s were of others, pipes, sockets or "
             "terminals; without -d all files count",
             row->share > 0 ? "Hardly any" : "None", place, units_bytes(row->bytes).text);
    screen_print_in_ink(it->screen, INK_WARNING, text);
}

/* ---- Advice ---- */

/* "DIR", "/srv/DIR" of a mount, whose paths begin there, cut at its beginning. Owner: the caller. NULL: no memory */
static char *make_place(const struct printer *it, const struct answer_row *row) {
    const struct aggstats_group *place = row->advice->place;
    const bool has_base = row->base && place->grouping != AGGSTATS_BY_FILESYSTEM;
    CLEANUP_FREE char *path = NULL;
    if (asprintf(&path, "%s%s", has_base ? row->base : "", place->name) < 0)
        path = NULL;
    return path ? screen_cut(it->screen, path, PLACE_COLUMNS, SCREEN_END) : NULL;
}

/* "FSYNC by sqlite3 in /db", "Files of /mnt fuse.sshfs", "FUSE of this mount" */
static void format_subject(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    const struct advice *advice = row->advice;
    CLEANUP_FREE char *op =
        screen_cut(it->screen, advice->op ? advice->op->name : "", AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *program =
        screen_cut(it->screen, advice->program ? advice->program->name : "", NAME_COLUMNS, SCREEN_BEGINNING);
    CLEANUP_FREE char *place = advice->place ? make_place(it, row) : NULL;
    const char *before = advice->place && advice->place->grouping == AGGSTATS_BY_FILE ? " on " : " in ";
    if (advice->rule == ADVICE_MOUNT)
        snprintf(ret_text, TEXT_SIZE, "FUSE of this mount");
    else if (advice->rule == ADVICE_FUSE)
        snprintf(ret_text, TEXT_SIZE, "Files of %.200s", place ? place : "FUSE");
    else
        snprintf(ret_text, TEXT_SIZE, "%.100s%s%.100s%s%.200s", op ? op : "", program && program[0] ? " by " : "",
                 program ? program : "", place ? before : "", place ? place : "");
}

/* "3,000 calls", "1,000 of 1,100 calls for what is not there" */
static void format_advised_calls(const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    const struct advice *advice = row->advice;
    const struct units_text calls = units_count(advice->calls);
    switch (advice->rule) {
    case ADVICE_TINY_READS:
    case ADVICE_TINY_WRITES:
        snprintf(ret_text, TEXT_SIZE, "%s calls of %s each", calls.text, units_bytes(advice->bytes).text);
        break;
    case ADVICE_MISSING:
        snprintf(ret_text, TEXT_SIZE, "%s of %s calls for what is not there", calls.text,
                 units_count(advice->of_calls).text);
        break;
    case ADVICE_REOPENED:
        snprintf(ret_text, TEXT_SIZE, "opened %s times", calls.text);
        break;
    default:
        snprintf(ret_text, TEXT_SIZE, "%s calls", calls.text);
    }
}

/* ", one at a time in 680 ms of 1.59 s"; "about": an estimate */
static void format_advised_time(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    const struct advice *advice = row->advice;
    char busy[TEXT_SIZE];
    char elapsed[TEXT_SIZE];
    format_time(it, advice->busy_cycles, busy);
    format_time(it, row->cycles, elapsed);
    snprintf(ret_text, TEXT_SIZE, "%s %s%.64s of %.64s", advice->is_one_at_a_time ? ", one at a time in" : ", in",
             advice->is_exact ? "" : "about ", busy, elapsed);
}

/* Rounded up, as bounds are. */
static void format_percent(double percent, char ret_text[UNITS_TEXT_SIZE]) {
    snprintf(ret_text, UNITS_TEXT_SIZE, "%.0f %%", percent);
    screen_make_blanks_firm(ret_text);
}

/* "at most 43 % in calls and 5 % between them". Where all of the rest may be saved too, that is no bound, and has no
 * figure. */
static void format_bound(const struct advice *advice, char ret_text[TEXT_SIZE]) {
    const double percent = ceil(100 * advice->bound);
    const double between_percent = fmin(ceil(100 * advice->between), 100 - percent);
    char bound[UNITS_TEXT_SIZE];
    char between[UNITS_TEXT_SIZE];
    format_percent(percent, bound);
    format_percent(between_percent, between);
    if (between_percent >= 1 && percent + between_percent >= 100)
        snprintf(ret_text, TEXT_SIZE, "at most %s in calls, besides the work between them", bound);
    else if (between_percent >= 1)
        snprintf(ret_text, TEXT_SIZE, "at most %s in calls and %s between them", bound, between);
    else
        snprintf(ret_text, TEXT_SIZE, "at most %s in calls", bound);
}

static void print_advice(const struct printer *it, const struct answer_row *row) {
    char subject[TEXT_SIZE];
    char calls[TEXT_SIZE];
    char time[TEXT_SIZE];
    char bound[TEXT_SIZE];
    char text[2 * TEXT_SIZE];
    format_subject(it, row, subject);
    format_advised_calls(row, calls);
    format_advised_time(it, row, time);
    format_bound(row->advice, bound);
    if (row->advice->rule == ADVICE_MOUNT) /* how much it added is said before: ANSWER_FUSE */
        snprintf(text, sizeof(text), "%.400s: %s can save %.100s", subject, advice_remedy(ADVICE_MOUNT), bound);
    else
        snprintf(text, sizeof(text), "%.400s: %.150s%.200s: %s can save %.100s", subject, calls, time,
                 advice_remedy(row->advice->rule), bound);
    screen_print_sentence(it->screen, 0, text);
}

static void print_all_advice(const struct printer *it, struct range rows) {
    for (size_t i = 0; i < rows.count; i++)
        print_advice(it, &rows.first[i]);
}

static void print_disk_others(const struct printer *it, const struct answer_row *row) {
    CLEANUP_STR struct str text = {0};
    if (disk_others_add(&text, row->profile, it->screen))
        screen_print_sentence(it->screen, 0, str_text(&text));
}

static void print_missed_bytes(const struct printer *it, const struct answer_row *row) {
    const struct bytes_witness *witness = row->witness;
    char read[UNITS_TEXT_SIZE];
    char written[UNITS_TEXT_SIZE];
    char text[TEXT_SIZE];
    format_share(witness->share.read, read);
    format_share(witness->share.written, written);
    const bool are_both = witness->is_read_missed && witness->is_written_missed;
    snprintf(text, sizeof(text), "Only %s of the bytes that the kernel %s%s%s%s for these programs were seen%s",
             witness->is_read_missed ? read : written, witness->is_read_missed ? "read" : "wrote",
             are_both ? ", and of those that it wrote " : "", are_both ? written : "", are_both ? "," : "",
             row->profile ? ""
                          : "; the rest may be of programs into which nothing is preloaded, or of what the C library "
                            "writes when a program ends");
    screen_print_in_ink(it->screen, INK_WARNING, text);
}

/* elapsed: NULL: unknown */
static void print_time(const struct printer *it, const struct answer_row *elapsed, const struct answer_row *row) {
    char before[TEXT_SIZE] = "";
    char calls[TEXT_SIZE];
    char text[2 * TEXT_SIZE];
    if (elapsed)
        format_elapsed(it, elapsed, before);
    if (row->kind == ANSWER_BUSY || row->kind == ANSWER_ONE_BY_ONE)
        format_busy(it, row, calls);
    else
        format_sum(it, row, calls);
    if (row->is_below_fuse && row->kind != ANSWER_NO_CALLS && !row->whose)
        snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), ", FUSE%s not counted",
                 row->has_local_locks ? " and waiting for locks" : "");
    const struct range locks = range_of(it->rows, ANSWER_LOCKS);
    if (locks.count > 0)
        add_locks(it, locks.first, row, calls);
    if (!elapsed && calls[0] >= 'a' && calls[0] <= 'z')
        calls[0] = (char)(calls[0] - 'a' + 'A');
    snprintf(text, sizeof(text), "%s%s", before, calls);
    screen_print_sentence(it->screen, 0, text);
}

/* Owner: the caller frees it. NULL: unknown */
static char *make_holder(const struct printer *it, const struct aggstats_chain *chain) {
    char holder[HOLDERS_SHORT_SIZE];
    return chain ? screen_cut(it->screen, holders_format_thing(chain, holder, sizeof(holder)), sizeof(holder),
                              SCREEN_BEGINNING)
                 : NULL;
}

/* "Slow: FLOCK of 2.7 s waited for the flock of /srv/x, held by backup 992" */
static void print_holder(const struct printer *it, const struct answer_row *row) {
    char latency[TEXT_SIZE];
    char text[AGGSTATS_NAME_SIZE + HOLDERS_SHORT_SIZE + 128];
    format_time(it, row->cycles, latency);
    CLEANUP_FREE char *op = screen_cut(it->screen, row->slow_call->op, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *holder = make_holder(it, row->slow_call->chain);
    snprintf(text, sizeof(text), "Slow: %s of %.64s waited for %s", op ? op : "", latency, holder ? holder : "");
    screen_print_sentence(it->screen, 0, text);
}

/* "Slow: 4,120 of 4,203 FSYNCs from commit_row of db" */
static void print_callers(const struct printer *it, const struct answer_row *row) {
    char callers[CALLERS_TEXT_SIZE];
    char text[CALLERS_TEXT_SIZE + 16];
    if (!callers_text_format(row->profile, row->word, it->screen, callers))
        return;
    snprintf(text, sizeof(text), "Slow: %s", callers);
    screen_print_sentence(it->screen, 0, text);
}

/* A call that hangs is the answer. */
static void print_in_flight(const struct printer *it, const struct answer_row *row) {
    const struct aggstats_call *oldest = row->in_flight;
    char age[TEXT_SIZE];
    char words[AGGSTATS_WHY_TEXT_SIZE];
    char text[TEXT_SIZE + HOLDERS_SHORT_SIZE];
    format_time(it, row->cycles, age);
    CLEANUP_FREE char *op = screen_cut(it->screen, oldest->op, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *cause =
        screen_cut(it->screen, aggstats_why_text(&oldest->cause, words), sizeof(words), SCREEN_BEGINNING);
    CLEANUP_FREE char *program = screen_cut(it->screen, oldest->program, AGGSTATS_PROGRAM_SIZE, SCREEN_BEGINNING);
    CLEANUP_FREE char *holder = make_holder(it, oldest->chain);
    snprintf(text, sizeof(text), "In flight: %s call%s, the oldest %s%s%.40s for %.64s%s%.100s%s%s",
             units_count(row->count).text, units_plural(row->count), op ? op : "", program && program[0] ? " by " : "",
             program ? program : "", age, cause && cause[0] ? ", " : "", cause ? cause : "", holder ? ": " : "",
             holder ? holder : "");
    screen_print_sentence(it->screen, 0, text);
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

/* The share is before the name, so that no line looks like one of the table of operations. */
enum column { COLUMN_SHARE, COLUMN_NAME, COLUMN_CALLS, COLUMN_P50, COLUMN_LONGEST, COLUMN_CAUSE, COLUMN_PLACE };

#define CAUSE_COLUMNS_MIN 18
#define PLACE_COLUMNS_MIN 14

/* What is true of some of the peaks. */
struct peaks {
    bool has_causes;
    bool has_observed; /* causes */
    bool has_places;
    bool has_uneven; /* p50 does not explain all of the shares */
    bool has_some;   /* of the calls of an operation */
    bool has_queued;
    const char *base; /* where the paths begin; NULL: elsewhere */
};

static struct peaks look_at(struct range rows) {
    struct peaks peaks = {.base = NULL};
    for (size_t i = 0; i < rows.count; i++) {
        const struct answer_row *row = &rows.first[i];
        peaks.has_causes |= row->wait || row->word[0];
        peaks.has_observed |= row->is_observed;
        peaks.has_places |= row->group || row->place;
        peaks.has_uneven |= row->is_uneven;
        peaks.has_some |= row->count < row->of_count;
        peaks.has_queued |= layers_is_queued(LAYER_IS_BLOCK, row->op->name);
        peaks.base = peaks.base ? peaks.base : row->base;
    }
    return peaks;
}

static void add_peak(struct sheet_table *table, const struct answer_row *row, const struct peaks *peaks) {
    char words[AGGSTATS_WHY_TEXT_SIZE];
    sheet_add_share(table, row->share);
    sheet_add(table, row->op->name);
    if (row->count < row->of_count)
        sheet_addf(table, "%s of %s", units_count(row->count).text, units_count(row->of_count).text);
    else
        sheet_add_count(table, row->count);
    sheet_add_cycles(table, row->cycles);
    sheet_addf(table, "%s%s", row->is_bound ? "<" : "", units_cycles(table->units, row->longest).text);
    if (row->wait)
        sheet_add(table, aggstats_why_text(row->wait, words));
    else /* beside observed causes, a probable one has a question mark */
        sheet_addf(table, "%s%s", row->word, row->word[0] && peaks->has_observed && !row->is_observed ? "?" : "");
    sheet_add(table, row->group ? groups_name(row->group) : row->place ? row->place : "");
}

/* True if lines follow. Commands that are too long for the screen are left out. */
static bool is_anything_behind(const struct printer *it, struct range rows) {
    const struct answer_row *end = it->rows->rows + it->rows->count;
    for (const struct answer_row *row = rows.first + rows.count; row < end; row++)
        if (row->kind != ANSWER_NEXT || answer_next_fits(&row->next, it->screen))
            return true;
    return false;
}

static void print_peaks(const struct printer *it, struct range rows) {
    const struct peaks peaks = look_at(rows);
    CLEANUP_STR struct str place_title = {0};
    str_addf(&place_title, "mostly on%s%s", peaks.base ? ", in " : "", peaks.base ? peaks.base : "");
    const struct sheet_column columns[] = {
        [COLUMN_SHARE] = {it->screen->html ? "of call time" : "of time", SHEET_NUMBER, 0, 8}, /* not the headline's */
        [COLUMN_NAME] = {"spent in", SHEET_NAME, 1},
        [COLUMN_CALLS] = {"calls", SHEET_NUMBER, 2, 9},
        [COLUMN_P50] = {peaks.has_some ? "their p50" : "p50", SHEET_NUMBER, 3, 10},
        [COLUMN_LONGEST] = {"longest", SHEET_NUMBER, 4, 10},
        [COLUMN_CAUSE] = {peaks.has_observed ? "cause" : "may be", SHEET_LINE, 5, CAUSE_COLUMNS_MIN},
        [COLUMN_PLACE] = {str_text(&place_title), SHEET_PLACE, 6, PLACE_COLUMNS_MIN},
    };
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(columns, it->units);
    table.fills = true;
    table.hidden = (peaks.has_uneven ? 0 : 1U << COLUMN_LONGEST) | (peaks.has_causes ? 0 : 1U << COLUMN_CAUSE) |
                   (peaks.has_places ? 0 : 1U << COLUMN_PLACE);
    for (size_t i = 0; i < rows.count; i++)
        add_peak(&table, &rows.first[i], &peaks);
    screen_print_gap(it->screen);
    sheet_print(&table, it->screen);
    if (peaks.has_queued)
        screen_print_in_ink(it->screen, INK_FAINT, ANSWER_QUEUED);
    if (is_anything_behind(it, rows))
        putc('\n', it->stream);
}

/* ---- Callers, bytes, failures ------------------------------------------------------------------- */

static void format_group(const struct printer *it, const struct answer_row *row, char ret_text[TEXT_SIZE]) {
    char id[GROUPS_ID_SIZE];
    bool has_path = aggstats_grouping_has_objects(row->grouping);
    int columns = it->screen->width < 80 ? NAME_COLUMNS_NARROW : has_path ? PATH_COLUMNS : NAME_COLUMNS;
    groups_format_id(row->group, id);
    CLEANUP_FREE char *shown = screen_cut(it->screen, groups_name(row->group), columns,
                                          aggstats_grouping_has_paths(row->grouping) ? SCREEN_PATH : SCREEN_BEGINNING);
    const char *who = shown ? shown : "";
    snprintf(ret_text, TEXT_SIZE, "%.255s%s%s %s", who, who[0] && id[0] ? " " : "", id, units_share(row->share).text);
}

/* Where a line has no end: about as many as fit a terminal. */
#define GROUPS_IN_HTML 5

static void print_groups(const struct printer *it, struct range rows) {
    struct list list = begin_list(it, groups_name_title(rows.first->grouping), 1);
    const size_t most = it->screen->html ? GROUPS_IN_HTML : rows.count;
    bool is_room = true;
    for (size_t i = 0; i < rows.count && i < most && is_room; i++) {
        char text[TEXT_SIZE] = "none";
        if (rows.first[i].group)
            format_group(it, &rows.first[i], text);
        is_room = list_add(&list, text);
    }
    end_list(&list);
}

static void print_rate(struct list *list, double per_second, const char *of_what) {
    char text[TEXT_SIZE];
    if (per_second <= 0)
        return;
    snprintf(text, sizeof(text), "%s/s %s", units_bytes(per_second).text, of_what);
    list_add(list, text);
}

static void print_moved(const struct printer *it, const struct answer_row *row) {
    struct list list = begin_list(it, row->word, 1);
    list_add(&list, units_bytes(row->bytes).text);
    print_rate(&list, row->per_elapsed_second, "overall");
    if (row->per_call_second >= row->per_elapsed_second) /* else calls overlap */
        print_rate(&list, row->per_call_second, "within calls");
    end_list(&list);
}

/* "all of", "38.2 % of" */
static void format_cached_share(const struct aggstats_cache *cache, char ret_text[UNITS_TEXT_SIZE]) {
    const double share = 1 - (double)cache->missed_bytes / (double)cache->read_bytes;
    if (cache->missed_bytes == 0 || cache->missed_bytes >= cache->read_bytes)
        snprintf(ret_text, UNITS_TEXT_SIZE, cache->missed_bytes == 0 ? "all of" : "none of");
    else if (share < CACHED_SHARE_NEAR || share > 1 - CACHED_SHARE_NEAR)
        snprintf(ret_text, UNITS_TEXT_SIZE, share < 0.5 ? "less than 0.1 %% of" : "more than 99.9 %% of");
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "%.1f %% of", 100 * share);
}

static void print_cached(const struct printer *it, const struct answer_row *row) {
    const struct aggstats_cache *cache = &row->profile->cache;
    char share[UNITS_TEXT_SIZE];
    char judged[TEXT_SIZE] = "";
    char unjudged[TEXT_SIZE] = "";
    char text[TEXT_SIZE];
    if (cache->read_bytes > 0) {
        format_cached_share(cache, share);
        snprintf(judged, sizeof(judged), "%s the %s that read calls returned", share,
                 units_bytes((double)cache->read_bytes).text);
    }
    if (cache->unjudged_bytes > 0)
        snprintf(unjudged, sizeof(unjudged), "%snot judged: %s (O_DIRECT, DAX, tmpfs, FUSE, overlayfs and the like)",
                 cache->read_bytes > 0 ? "; " : "", units_bytes((double)cache->unjudged_bytes).text);
    snprintf(text, sizeof(text), "%.160s%.160s", judged, unjudged);
    screen_print_entry(it->screen, "cached", text);
}

static void print_cost(const struct printer *it, const struct answer_row *row) {
    CLEANUP_STR struct str text = {0};
    facts_text_add_cost(&text, row->profile, it->units);
    screen_print_entry(it->screen, "cost", text.length > 0 ? str_text(&text) : row->word);
}

static void print_none_moved(const struct printer *it, const struct answer_row *row) {
    screen_print_entry(it->screen, "bytes", row->word);
}

static void print_none_failed(const struct printer *it, const struct answer_row *row) {
    char text[TEXT_SIZE] = "nothing";
    struct list list = begin_list(it, "failed", 1);
    if (row->count > 0)
        snprintf(text, sizeof(text), "nothing but %s quer%s for what is not there", units_count(row->count).text,
                 row->count == 1 ? "y" : "ies");
    if (list.column + units_text_columns(text) > it->screen->width)
        snprintf(text, sizeof(text), "nothing");
    list_add(&list, text);
    end_list(&list);
}

/* Kinds that do not fit are counted as others. Searches for what is not there follow what is a failure for certain. */
static void print_failed(const struct printer *it, struct range rows, wide_count others) {
    struct list list = begin_list(it, "failed", 2);
    char count[UNITS_TEXT_SIZE];
    char text[TEXT_SIZE];
    bool is_search = false;
    for (size_t i = 0; i < rows.count; i++) {
        const struct answer_row *row = &rows.first[i];
        const char *before = row->word || is_search ? ""
                             : i == 0               ? "nothing but names that are not there: "
                                                    : "not there: ";
        units_format_count(row->count, count);
        is_search = !row->word;
        CLEANUP_FREE char *op = screen_cut(it->screen, row->op->name, AGGSTATS_NAME_SIZE, SCREEN_BEGINNING);
        snprintf(text, sizeof(text), "%s%s%s%s %s", before, op ? op : "", row->word ? " " : "",
                 row->word ? row->word : "", count);
        if (!list_add(&list, text))
            others += row->count;
    }
    units_format_count(others, count);
    snprintf(text, sizeof(text), "others %s", count);
    if (others > 0)
        list_add(&list, text);
    end_list(&list);
}

/* ---- Reasons for the names of peaks ------------------------------------------------------------- */

static void print_reasons(const struct printer *it, const struct answer_page *page, const struct answer_model *model) {
    const struct peak_times times = peak_labels_times(page->profile, page->calibration);
    if (times.count == 0) {
        putc('\n', it->stream);
        peak_labels_explain_none(it->screen);
        return;
    }
    for (size_t i = 0; i < model->peak_count; i++) {
        screen_begin_heading(it->screen);
        screen_print_untrusted(it->screen, INK_STRONG, model->peaks[i].op->name);
        screen_end_heading(it->screen);
        peak_labels_explain(model->peaks[i].op, &model->peaks[i].peak, &times, it->units, it->screen);
    }
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* Commands are for a terminal on the machine itself. */
static void print_next(const struct printer *it, struct range rows) {
    bool is_first = true;
    if (it->screen->html)
        return;
    for (size_t i = 0; i < rows.count; i++)
        if (answer_next_print(&rows.first[i].next, is_first, it->screen))
            is_first = false;
}

static void print_hidden_locks(const struct printer *it, const struct answer_row *row) {
    answer_page_print_hidden_locks(row->cycles, it->units, it->screen);
}

static void print_time_of(const struct printer *it, const struct answer_row *row) {
    print_time(it, range_of(it->rows, ANSWER_ELAPSED).first, row);
}

static void print_all_moved(const struct printer *it, struct range rows) {
    for (size_t i = 0; i < rows.count; i++)
        print_moved(it, &rows.first[i]);
}

static void print_all_failed(const struct printer *it, struct range rows) {
    const struct range others = range_of(it->rows, ANSWER_OTHERS_FAILED);
    print_failed(it, rows, others.count > 0 ? others.first->count : 0);
}

/* How rows of a kind that follow each other are printed. What is not in here is part of other sentences. */
static const struct {
    void (*first)(const struct printer *it, const struct answer_row *row); /* there is one; else: */
    void (*all)(const struct printer *it, struct range rows);
} printed[] = {
    [ANSWER_FUSE] = {.first = print_fuse},
    [ANSWER_MISSED_BYTES] = {.first = print_missed_bytes},
    [ANSWER_ADVICE] = {.all = print_all_advice},
    [ANSWER_DISK_OTHERS] = {.first = print_disk_others},
    [ANSWER_NOT_SEEN] = {.first = print_not_seen},
    [ANSWER_NOT_TOLD] = {.first = print_not_told},
    [ANSWER_REMEDY] = {.first = print_remedy},
    [ANSWER_ATTACH] = {.first = print_attach},
    [ANSWER_ELSEWHERE] = {.first = print_elsewhere},
    [ANSWER_HIDDEN_LOCKS] = {.first = print_hidden_locks},
    [ANSWER_REST] = {.first = print_rest},
    [ANSWER_BUSY] = {.first = print_time_of},
    [ANSWER_ONE_BY_ONE] = {.first = print_time_of},
    [ANSWER_SUM] = {.first = print_time_of},
    [ANSWER_NO_CALLS] = {.first = print_time_of},
    [ANSWER_IN_FLIGHT] = {.first = print_in_flight},
    [ANSWER_HOLDER] = {.first = print_holder},
    [ANSWER_CALLERS] = {.first = print_callers},
    [ANSWER_PEAK] = {.all = print_peaks},
    [ANSWER_GROUP] = {.all = print_groups},
    [ANSWER_MOVED] = {.all = print_all_moved},
    [ANSWER_CACHED] = {.first = print_cached},
    [ANSWER_NONE_MOVED] = {.first = print_none_moved},
    [ANSWER_FAILED] = {.all = print_all_failed},
    [ANSWER_COST] = {.first = print_cost},
    [ANSWER_NONE_FAILED] = {.first = print_none_failed},
    [ANSWER_NEXT] = {.all = print_next},
};

static void print_range(const struct printer *it, struct range rows) {
    const enum answer_kind kind = rows.first->kind;
    if (kind < ARRAY_SIZE(printed) && printed[kind].first)
        printed[kind].first(it, rows.first);
    else if (kind < ARRAY_SIZE(printed) && printed[kind].all)
        printed[kind].all(it, rows);
}

static void print_rows(const struct printer *it) {
    for (size_t i = 0; i < it->rows->count;) {
        const struct range range = range_at(it->rows, i);
        print_range(it, range);
        i += range.count;
    }
}

static void print_rows_on(const void *context, const struct screen *screen) {
    struct printer it = *(const struct printer *)context;
    it.screen = screen;
    it.stream = screen->stream;
    print_rows(&it);
}

void answer_page_print(const struct answer_page *page, const struct units *units, const struct screen *screen) {
    struct answer_model model;
    struct answer_rows rows;
    answer_model_make(page->profile, page->calibration->times, page->calibration->count, &model);
    answer_rows_make(page->profile, &model, page->source, page->calibration->count == 0 && !page->no_labels, &rows);
    const struct printer it = {&rows, units, screen, screen->stream};
    while (page->lines_max > 0 && screen_count_lines(screen, print_rows_on, &it) > page->lines_max)
        if (!answer_rows_leave_out(&rows))
            break;
    print_rows(&it);
    if (page->explain)
        print_reasons(&it, page, &model);
    answer_rows_finish(&rows);
}
