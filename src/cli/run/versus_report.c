/* Pages of a comparison. */
#include <string.h>

#include "base.h"
#include "calibration.h"
#include "command.h"
#include "comparison.h"
#include "screen.h"
#include "verdict_page.h"
#include "versus.h"

unsigned run_looks_next(unsigned rounds, unsigned most) {
    unsigned next = RUN_LOOKS_FIRST;
    while (next <= rounds)
        next = (3 * next + 1) / 2;
    return next + next / 4 < most ? next : most; /* with few more runs the last look would decide little */
}

/* How many looks there are at most. */
static unsigned run_looks_count(unsigned most) {
    unsigned count = 0;
    for (unsigned rounds = 0; rounds < most; count++)
        rounds = run_looks_next(rounds, most);
    return count;
}

/* ---- Judging ---------------------------------------------------------------------------------------- */

int versus_judge(const struct versus *it, size_t directory, struct verdict_result *ret_result) {
    const struct verdict_options options = {
        .at_least = VERDICT_AT_LEAST,
        .alpha = VERDICT_ALPHA / (versus_is_auto(it) ? run_looks_count(it->vs->most_count) : 1),
    };
    const size_t count = VS_SIDES * it->rounds_count;
    CLEANUP_FREE struct aggstats_profile *profiles = calloc(count, sizeof(*profiles));
    if (!profiles)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        profiles[i] = *versus_run(it, i / it->rounds_count, i % it->rounds_count, directory);
    int error = verdict_compare(profiles, it->rounds_count, count, &options, ret_result);
    for (size_t i = 0; i < count; i++) /* they may have been brought to one clock rate */
        *versus_run(it, i / it->rounds_count, i % it->rounds_count, directory) = profiles[i];
    return error;
}

int versus_complain(const struct versus *it, size_t directory, int error) {
    complain("cannot compare the profiles of %s: %s",
             it->vs->mounts->count > 0 ? it->vs->mounts->daemons[directory].name : "the layer user",
             error == -EOVERFLOW ? "the sum of a side does not fit 64 bits" : strerror(-error));
    return error;
}

/* ---- The comparison ----------------------------------------------------------------------------- */

/* Prints a comparison, or else a verdict. */
static void print_page(const struct versus *it, size_t directory, const struct comparison *comparison,
                       const struct verdict_page *verdict) {
    const struct run_mounts *mounts = it->vs->mounts;
    FILE *stream;
    if (it->vs->is_quiet)
        return;
    int error = run_report_open(&stream);
    if (error) {
        run_report_not_shown("comparison", error);
        return;
    }
    const struct screen screen = screen_of(stream, 0, false);
    if (mounts->count > 1) {
        screen_print_key(&screen, "directory");
        screen_print_untrusted(&screen, INK_PLAIN, mounts->daemons[directory].name);
        putc('\n', stream);
    }
    if (comparison)
        comparison_print(comparison, &screen);
    else
        verdict_page_print(verdict, &screen);
    if (fclose(stream) != 0)
        run_report_not_shown("comparison", negative_errno());
}

/* Saves a page of HTML, which is about B. report: without its subject. Errors: reported to the user */
static int save_page(const struct versus *it, struct report *report) {
    struct subject subject = {.count = 0};
    int error = 0;
    if (!it->vs->page->given)
        return 0;
    report->name = "B";
    for (size_t i = 0; i < it->rounds_count && !error; i++) {
        const struct input input = {.profile = *versus_run(it, VS_B, i, 0)};
        error = subject_add(&subject, report->name, &input);
    }
    if (!error)
        error = run_target_save_page(it->vs->page, report, &subject);
    subject_finish(&subject);
    return error;
}

/* Compares one run of each. page_error: of the page, which is reported */
static int compare_pair(const struct versus *it, size_t directory, int *page_error) {
    const struct aggstats_profile *a = versus_run(it, VS_A, 0, directory);
    const struct aggstats_profile *b = versus_run(it, VS_B, 0, directory);
    const struct compare_options options = compare_defaults(DISTANCE_METHOD_DEFAULT);
    struct compare_result result = {0};
    int error = compare_profiles(a, b, &options, &result);
    if (error)
        return error;
    struct calibration a_times;
    struct calibration b_times;
    calibration_for_pair(a, b, &a_times, &b_times);
    const struct comparison comparison = {
        .result = &result,
        .a_name = aggstats_profile_label(a, "command"),
        .b_name = aggstats_profile_label(b, "command"),
        .a_times = &a_times,
        .b_times = &b_times,
    };
    print_page(it, directory, &comparison, NULL);
    struct report report = {.comparison = &comparison};
    *page_error = save_page(it, &report);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return 0;
}

static int print_sets(const struct versus *it, size_t directory, const struct verdict_result *result) {
    const struct verdict_page page = {
        .result = result,
        .a_name = aggstats_profile_label(versus_run(it, VS_A, 0, directory), "command"),
        .b_name = aggstats_profile_label(versus_run(it, VS_B, 0, directory), "command"),
        .is_job = true,
        .no_charts = !it->vs->charts,
    };
    print_page(it, directory, NULL, &page);
    struct report report = {.verdict = &page};
    return save_page(it, &report);
}

static int compare_sets(struct versus *it, size_t directory, int *page_error) {
    struct verdict_result result;
    int error = versus_judge(it, directory, &result);
    if (error)
        return error;
    *page_error = print_sets(it, directory, &result);
    it->is_so |= verdict_is_so(&result, it->vs->fail_on);
    verdict_finish(&result);
    return 0;
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

static int save_pair(const struct versus *it, size_t directory) {
    int first_error = 0;
    for (size_t side = 0; it->vs->target->given && side < VS_SIDES; side++) {
        int error = run_target_save(it->vs->target, directory, side, versus_run(it, side, 0, directory));
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

/* Each directory is reported independently of the others. */
static int report_directory(struct versus *it, size_t directory) {
    int save_error = save_pair(it, directory);
    int page_error = 0;
    int error =
        it->rounds_count == 1 ? compare_pair(it, directory, &page_error) : compare_sets(it, directory, &page_error);
    if (error)
        versus_complain(it, directory, error);
    error = error ? error : page_error;
    return save_error ? save_error : error;
}

/* The status of A is in no exit status; that of B is not if the comparison decides that. */
static void report_status(const struct versus *it, size_t side) {
    if (it->sides[side].status)
        complain("%s ended with status %d%s", versus_side_name(side), it->sides[side].status,
                 it->vs->warmup_count + it->rounds_count > 1 ? ", in one run at least" : "");
}

int versus_report(struct versus *it) {
    int first_error = 0;
    report_status(it, VS_A);
    if (it->vs->fail_on)
        report_status(it, VS_B);
    for (size_t i = 0; i < versus_count(it); i++) {
        int error = report_directory(it, i);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}
