/* The page of osprof events replay. */
#include "events_commands.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"
#include "units.h"

#define DIFFERENCES_SHOWN 20U

/* Over all operations. */
struct sums {
    uint64_t recorded;
    uint64_t done;
    uint64_t unlike; /* of those done: with another outcome */
};

static struct sums sum_up(const struct replay_report *report) {
    struct sums sums = {0};
    for (size_t i = 0; i < report->count_count; i++) {
        sums.recorded += report->counts[i].recorded;
        sums.done += report->counts[i].done;
        sums.unlike += report->counts[i].other_error + report->counts[i].other_result;
    }
    return sums;
}

uint64_t replay_page_unlike(const struct replay_report *report) {
    struct sums sums = sum_up(report);
    return sums.recorded - sums.done + sums.unlike;
}

static const char *count_text(uint64_t count, char text[UNITS_TEXT_SIZE]) {
    units_format_count(count, text);
    return text;
}

static const char *seconds_text(const struct replay_page *page, int64_t ns, char text[UNITS_TEXT_SIZE]) {
    const struct units units = {.ascii = page->screen->ascii};
    units_format_seconds(&units, (double)ns / 1e9, text);
    return text;
}

/* ---- Operations done ---- */

static void print_names(const struct replay_page *page) {
    screen_print_key(page->screen, "replay");
    screen_print_untrusted(page->screen, INK_STRONG, page->file);
    fputs(" in ", stdout);
    screen_print_untrusted(page->screen, INK_STRONG, page->directory);
    puts(page->options->is_fast ? ", as fast as possible" : ", with the recorded gaps");
}

static void print_made(const struct replay_page *page) {
    const struct replay_report *report = page->report;
    char directories[UNITS_TEXT_SIZE];
    char files[UNITS_TEXT_SIZE];
    char bytes[UNITS_TEXT_SIZE];
    units_format_bytes((double)report->made_bytes, bytes);
    screen_print_key(page->screen, "made first");
    printf("directories: %s, files: %s, ", count_text(report->made_directories, directories),
           count_text(report->made_files, files));
    printf(page->options->is_sparse ? "each a hole\n" : "filled with %s of a pattern\n", bytes);
    if (report->not_made > 0)
        printf("            %s name%s that must have been there could not be made; the first: %s\n",
               count_text(report->not_made, files), units_plural(report->not_made),
               report->not_made_error == EFBIG ? "files would hold more than --max-bytes"
                                               : strerror(report->not_made_error));
    if (report->replaced_targets > 0)
        printf("            %s symbolic link%s could lead out, and got other targets of the same length\n",
               count_text(report->replaced_targets, files), units_plural(report->replaced_targets));
}

static void print_calls(const struct replay_page *page) {
    struct sums sums = sum_up(page->report);
    char recorded[UNITS_TEXT_SIZE];
    char done[UNITS_TEXT_SIZE];
    char left[UNITS_TEXT_SIZE];
    char unlike[UNITS_TEXT_SIZE];
    screen_print_key(page->screen, "calls");
    printf("%s recorded, %s done, %s not done; %s came out otherwise\n", count_text(sums.recorded, recorded),
           count_text(sums.done, done), count_text(sums.recorded - sums.done, left), count_text(sums.unlike, unlike));
    screen_print_key(page->screen, "threads");
    printf("%u for %u recorded\n", page->report->thread_count, page->report->recorded_thread_count);
}

/* ---- Times ---- */

static void print_times(const struct replay_page *page) {
    const struct replay_report *report = page->report;
    char recorded[UNITS_TEXT_SIZE];
    char replayed[UNITS_TEXT_SIZE];
    char late[4][UNITS_TEXT_SIZE];
    screen_print_key(page->screen, "time");
    printf("recorded %s, replayed %s\n", seconds_text(page, report->recorded_ns, recorded),
           seconds_text(page, report->replayed_ns, replayed));
    if (page->options->is_fast)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(late); i++)
        seconds_text(page, report->late_ns[i], late[i]);
    screen_print_key(page->screen, "late");
    printf("half of the calls began at most %s late, 95 %% %s, 99 %% %s, all %s\n", late[0], late[1], late[2], late[3]);
}

static void print_rate(const struct replay_page *page, uint64_t calls, int64_t length_ns) {
    char text[UNITS_TEXT_SIZE];
    units_format_number(length_ns > 0 ? (double)calls * 1e9 / (double)length_ns : 0, text);
    screen_print_right(page->screen, INK_PLAIN, text, 13);
}

/* The thesis's figures 8.2 and 8.3, as a table. */
static void print_rates(const struct replay_page *page) {
    const struct replay_report *report = page->report;
    int64_t longer_ns = report->recorded_ns > report->replayed_ns ? report->recorded_ns : report->replayed_ns;
    char text[UNITS_TEXT_SIZE];
    if (page->options->is_fast)
        return;
    units_format_share(report->rate_error, text);
    screen_print_key(page->screen, "rates");
    printf("of ten parts of the time differ by %s of the calls\n\n", text);
    puts("       from     recorded     replayed  calls a second");
    for (unsigned i = 0; i < REPLAY_INTERVALS; i++) {
        seconds_text(page, longer_ns / REPLAY_INTERVALS * i, text);
        screen_print_right(page->screen, INK_FAINT, text, 11);
        print_rate(page, report->intervals[i].recorded, longer_ns / REPLAY_INTERVALS);
        print_rate(page, report->intervals[i].replayed, longer_ns / REPLAY_INTERVALS);
        putchar('\n');
    }
}

/* ---- Operations not done ---- */

static void print_line(const struct replay_page *page, const char *name, uint64_t count) {
    char text[UNITS_TEXT_SIZE];
    fputs("  ", stdout);
    screen_print_untrusted(page->screen, INK_STRONG, name);
    screen_print_right(page->screen, INK_PLAIN, count_text(count, text), 28 - units_text_columns(name));
    fputs("  ", stdout);
}

static void print_not_done(const struct replay_page *page) {
    bool is_first = true;
    for (size_t i = 0; i < page->report->count_count; i++) {
        const struct replay_count *count = &page->report->counts[i];
        for (unsigned reason = REPLAY_DONE + 1; reason < REPLAY_REASONS; reason++) {
            if (count->not_done[reason] == 0)
                continue;
            if (is_first)
                puts("\nNot done:");
            is_first = false;
            print_line(page, count->name, count->not_done[reason]);
            puts(replay_reason_text((enum replay_reason)reason));
        }
    }
}

static const char *error_text(unsigned error) {
    return error ? strerror((int)error) : "done";
}

static void print_other_errors(const struct replay_page *page) {
    const struct replay_report *report = page->report;
    for (size_t i = 0; i < report->difference_count && i < DIFFERENCES_SHOWN; i++) {
        const struct replay_difference *difference = &report->differences[i];
        print_line(page, difference->name, difference->count);
        printf("recorded: %s; ", error_text(difference->recorded_error));
        printf("now: %s\n", error_text(difference->error));
    }
    if (report->difference_count > DIFFERENCES_SHOWN)
        printf("  and %zu other ways\n", report->difference_count - DIFFERENCES_SHOWN);
}

static void print_otherwise(const struct replay_page *page) {
    const struct replay_report *report = page->report;
    if (sum_up(report).unlike > 0)
        puts("\nCame out otherwise:");
    print_other_errors(page);
    for (size_t i = 0; i < report->count_count; i++) {
        if (report->counts[i].other_result == 0)
            continue;
        print_line(page, report->counts[i].name, report->counts[i].other_result);
        puts("moved other numbers of bytes");
    }
}

void replay_page_print(const struct replay_page *page) {
    print_names(page);
    print_made(page);
    print_calls(page);
    print_times(page);
    print_rates(page);
    print_not_done(page);
    print_otherwise(page);
}
