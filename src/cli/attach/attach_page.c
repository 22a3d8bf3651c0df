#include "attach_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "output.h"
#include "recording.h"
#include "show.h"

#define LINES_MAX 20

/* How many calls by names are not told, of how many requests the end, and of how many calls the beginning. whose: of the
 * calls by names */
static int add_not_told(const struct attach_profile *of, enum aggstats_untold whose, struct aggstats_profile *profile) {
    struct aggstats_profile beside = {0};
    const int error = aggstats_recorder_snapshot(of->beside.recorder, &beside);
    if (error)
        return error;
    for (size_t i = 0; i < beside.op_count; i++) {
        const bool is_untimed = strcmp(beside.ops[i].name, COLLECTOR_UNTIMED) == 0;
        profile->not_told[is_untimed ? AGGSTATS_UNTOLD_UNTIMED : whose] += beside.ops[i].calls;
        profile->not_told[AGGSTATS_UNTOLD_FAILED] += aggstats_failed_calls(&beside.ops[i]);
    }
    aggstats_profile_finish(&beside);
    profile->not_told[AGGSTATS_UNTOLD_BEGUN] = collector_begun_before(of->collector);
    profile->not_told[AGGSTATS_UNTOLD_PROCESSES] = collector_processes_lost(of->collector);
    profile->not_told[AGGSTATS_UNTOLD_CAUSES] = attach_under_way_lost(of->under_way);
    return 0;
}

/* Where calls take the kernel's slow way already, it cannot be measured what that costs. */
static int add_cost(const struct attach_profile *of, bool is_beside_another, struct aggstats_profile *profile) {
    struct call_cost cost;
    if (!collector_call_cost(of->collector, &cost))
        return 0;
    if (is_beside_another)
        return aggstats_profile_add_label(profile, "cost",
                                          "not measured, as another osprof attach was running already");
    profile->has_cost = true;
    profile->cost_calls = cost.all_calls;
    profile->cost_ns.each = (uint64_t)(fmax(cost.other_ns, 0) + 0.5);
    profile->cost_ns.counted = (uint64_t)(fmax(cost.counted_ns, 0) + 0.5);
    return 0;
}

static int make_recording(const struct attach_profile *of, const struct attach_report *report,
                          struct recording *recording) {
    struct aggstats_profile profile = {0};
    int error = aggstats_recorder_snapshot(of->session.recorder, &profile);
    if (error == 0)
        error = add_not_told(of, report->whose, &profile);
    if (error == 0)
        error = aggstats_profile_add_label(&profile, "attached", report->attached);
    if (error == 0)
        error = add_cost(of, report->is_beside_another, &profile);
    if (error == 0)
        error = recording_add(recording, &profile);
    aggstats_profile_finish(&profile);
    return error;
}

/* ret_is_lost: where it was to be there is nothing. A page that is printed is enough where no file was asked for */
static int save(const struct recording *recording, struct kept *kept, const struct attach_report *report,
                bool *ret_is_lost) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    *ret_is_lost = error;
    if (error) {
        complain("cannot write the profile: %s", strerror(-error));
        return error;
    }
    kept_save(kept, 0, text, size_bytes);
    if (report->file)
        error = output_write_private(report->file, text, size_bytes);
    if (error)
        complain("cannot write the profile to %s: %s%s", report->file, strerror(-error),
                 kept->error ? "" : "; it is kept: osprof show @1");
    *ret_is_lost = kept->error && (report->file ? error != 0 : report->is_quiet);
    return error;
}

static int show(const struct recording *recording, const struct kept *kept, const struct attach_report *report) {
    const struct input input = {.profile = recording->layers[0]};
    const char *again = report->file ? report->file : kept->error ? NULL : "";
    const struct show_options options = {
        .lines_max = report->is_verbose ? 0 : LINES_MAX, .source = {.profile = again}, .stream = stdout};
    return show_page(&input, &options);
}

int attach_page(struct attach_profile *profile, struct kept *kept, const struct attach_report *report) {
    struct recording recording = {.layers = NULL};
    bool is_lost = true;
    int error = make_recording(profile, report, &recording);
    if (error)
        complain("cannot make the profile: %s", strerror(-error));
    else
        error = save(&recording, kept, report, &is_lost);
    if (is_lost)
        session_leave(&profile->session);
    if (recording.count > 0 && !report->is_quiet)
        show(&recording, kept, report);
    recording_finish(&recording);
    return error;
}
