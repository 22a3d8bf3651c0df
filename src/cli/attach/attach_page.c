#include "attach_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "cost_label.h"
#include "output.h"
#include "recording.h"
#include "show.h"

#define LINES_MAX 20

struct not_told {
    uint64_t calls; /* by name */
    uint64_t failed;
    uint64_t untimed; /* requests */
};

static struct not_told add_up(const struct aggstats_profile *beside) {
    struct not_told sum = {.calls = 0};
    for (size_t i = 0; i < beside->op_count; i++) {
        const bool is_untimed = strcmp(beside->ops[i].name, COLLECTOR_UNTIMED) == 0;
        *(is_untimed ? &sum.untimed : &sum.calls) += beside->ops[i].calls;
        sum.failed += aggstats_failed_calls(&beside->ops[i]);
    }
    return sum;
}

/* What stands before a part of the label. */
static const char *gap(FILE *stream) {
    return ftell(stream) > 0 ? "; " : "";
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void write_not_told(const struct attach_profile *of, const struct not_told *sum,
                           const struct attach_not_told *may_be, FILE *stream) {
    const uint64_t begun_before = collector_begun_before(of->collector);
    const uint64_t processes_lost = collector_processes_lost(of->collector);
    const uint64_t lost = attach_under_way_lost(of->under_way);
    if (sum->calls > 0)
        fprintf(stream, "%s%" PRIu64 " call%s by name (%" PRIu64 " failed), %s, may be %s", gap(stream), sum->calls,
                plural(sum->calls), sum->failed, may_be->whose, may_be->where);
    if (sum->untimed > 0)
        fprintf(stream, "%show long %" PRIu64 " request%s of io_uring took that asked for no completion", gap(stream),
                sum->untimed, plural(sum->untimed));
    if (begun_before > 0)
        fprintf(stream, "%show long %" PRIu64 " call%s took that had begun before osprof attached", gap(stream),
                begun_before, plural(begun_before));
    if (processes_lost > 0)
        fprintf(stream,
                "%scalls of %" PRIu64 " descendant%s, and of what they started: there was no room for more processes",
                gap(stream), processes_lost, plural(processes_lost));
    if (lost > 0)
        fprintf(stream, "%swhat %" PRIu64 " slow call%s waited for: too many ended at once", gap(stream), lost,
                plural(lost));
}

/* How many calls by names were not told, and of how many requests the end and of how many calls the beginning was not, as
 * the label that says so. */
static int add_not_told(const struct attach_profile *of, const struct attach_not_told *may_be,
                        struct aggstats_profile *profile) {
    struct aggstats_profile beside = {0};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = aggstats_recorder_snapshot(of->beside, &beside);
    if (error)
        return error;
    const struct not_told sum = add_up(&beside);
    aggstats_profile_finish(&beside);
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return -ENOMEM;
    write_not_told(of, &sum, may_be, stream);
    if (fclose(stream) != 0)
        return -ENOMEM;
    return text[0] ? aggstats_profile_add_label(profile, "not_told", text) : 0;
}

static int add_cost(const struct attach_profile *of, bool is_beside_another, struct aggstats_profile *profile) {
    struct call_cost cost;
    char text[COST_LABEL_SIZE] = COST_NOT_MEASURED;
    if (!collector_call_cost(of->collector, &cost))
        return 0;
    if (!is_beside_another)
        cost_label_format(&(struct cost_label){cost.all_calls, cost.other_ns, cost.counted_ns}, text);
    return aggstats_profile_add_label(profile, COST_LABEL, text);
}

static int make_recording(const struct attach_profile *of, const struct attach_report *report,
                          struct recording *recording) {
    struct aggstats_profile profile = {0};
    int error = aggstats_recorder_snapshot(of->recorder, &profile);
    if (error == 0)
        error = add_not_told(of, &report->not_told, &profile);
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
        attach_profile_leave(profile);
    if (recording.count > 0 && !report->is_quiet)
        show(&recording, kept, report);
    recording_finish(&recording);
    return error;
}
