/* Names of peaks, and the evidence for them. */
#include "peak_labels.h"

#include <string.h>

#include "aggstats/why.h"
#include "base.h"
#include "value_text.h"

struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration) {
    return (struct peak_times){profile, calibration->times, calibration->count, calibration->is_off};
}

const char *peak_labels_name(const struct aggstats_profile *profile, const struct calibration *calibration,
                             const struct aggstats_op_profile *op, const struct peak *peak) {
    const struct peak_times times = peak_labels_times(profile, calibration);
    if (peak->calls == 0)
        return "";
    const struct peak_reason reason = peak_reason_of(op, peak, &times);
    return peak_reason_text(&reason, op);
}

void peak_labels_put(struct sheet *sheet, const struct aggstats_op_profile *op, const struct peak_times *times) {
    struct peak peaks[PEAKS_MAX];
    size_t count = peaks_find(op, times->profile->resolution, peaks);
    for (size_t i = 0; i < count; i++) {
        const struct peak_reason reason = peak_reason_of(op, &peaks[i], times);
        if (reason.cause != PEAK_CAUSE_NOT_KNOWN)
            sheet_line(sheet, 2, "peak at %s: %s", units_cycles(&sheet->units, peaks[i].p50_cycles).text,
                       peak_reason_text(&reason, op));
    }
}

/* ---- Evidence ----------------------------------------------------------------------------------- */

static struct units_text text_of_ns(const struct sheet *sheet, double ns) {
    return screen_firm(units_seconds(&sheet->units, ns / 1e9));
}

/* What was seen of a disk: how much was read from storage is between the two. */
static void add_witness(const struct peak_reason *reason, const struct aggstats_profile *profile, struct str *text) {
    static const struct {
        const char *before;
        const char *after; /* NULL: how much was read does not matter */
    } texts[] = {
        [PEAK_WITNESS_NONE] = {"", NULL},
        [PEAK_WITNESS_STORAGE] = {", and ", " read from storage"},
        [PEAK_WITNESS_STACKS] = {", and most were seen to wait for it", NULL},
        [PEAK_WITNESS_BLOCK] = {", and they are requests to a disk", NULL},
        [PEAK_WITNESS_OTHERS] = {"; ", " read from storage, maybe for something else"},
        [PEAK_WITNESS_BELOW] =
            {"; nothing was read from storage, but a FUSE daemon or a server below may have sent the data", NULL},
        [PEAK_WITNESS_ENDS] =
            {", and nothing was read from storage; but some may have read no bytes, at the end of a file", NULL},
        [PEAK_WITNESS_TOO_FEW_BYTES] = {", but no more than ", " read from storage"},
        [PEAK_WITNESS_NOTHING_MOVED] = {", but they read no bytes", NULL},
        [PEAK_WITNESS_OTHER_STACKS] = {", but most were seen to wait for something else", NULL},
    };
    const double bytes = (double)profile->storage_read_bytes;
    const char *after = texts[reason->witness].after;
    if (reason->near_part < PEAK_CAUSE_NEAR_MIN)
        str_addf(text, "; %s would be evidence", screen_firm(units_share(PEAK_CAUSE_NEAR_MIN)).text);
    else if (reason->cause == PEAK_CAUSE_DEVICE_READ && reason->witness == PEAK_WITNESS_NONE)
        str_add(text, "; what was read from storage is not known");
    else if (after && bytes == 0)
        str_addf(text, ", %s nothing was read from storage",
                 reason->witness == PEAK_WITNESS_TOO_FEW_BYTES ? "but" : "and");
    else
        str_addf(text, "%s%s%s%s", texts[reason->witness].before, after ? screen_firm(units_bytes(bytes)).text : "",
                 after ? " were" : "", after ? after : "");
}

static void add_evidence(const struct sheet *sheet, const struct peak_reason *reason,
                         const struct aggstats_profile *profile, struct str *text) {
    if (reason->copy_ns > 0) {
        str_addf(text, "%s of its calls take less than %s, the most for a copy of their bytes",
                 screen_firm(units_share(reason->near_part)).text, text_of_ns(sheet, reason->copy_ns).text);
        add_witness(reason, profile, text);
        return;
    }
    if (!reason->time) {
        str_add(text, "of the calibrated times none is one that this operation waits for");
        return;
    }
    const char *title = characteristic_title(reason->time->kind);
    str_addf(text, "%s of its calls take ", screen_firm(units_share(reason->near_part)).text);
    if (reason->cause == PEAK_CAUSE_MEMORY)
        str_addf(text, "less than %s, a quarter of the %s below which only one %s in four is",
                 text_of_ns(sheet, reason->time->ns.lower / PEAK_CAUSE_MEMORY_FACTOR).text,
                 text_of_ns(sheet, reason->time->ns.lower).text, title);
    else
        str_addf(text, "between half and twice as long as a %s, %s", title,
                 text_of_ns(sheet, reason->time->ns.median).text);
    add_witness(reason, profile, text);
}

/* Other times near a peak without a name are mentioned, but are no evidence: they are the kernel's and the machine's own. */
void peak_labels_explain(struct sheet *sheet, const struct aggstats_op_profile *op, const struct peak *peak,
                         const struct peak_times *times) {
    const struct peak_reason reason = peak_reason_of(op, peak, times);
    const char *name = peak_reason_text(&reason, op);
    const double frequency_hz = (double)times->profile->clock.frequency_hz;
    const struct characteristic *near[CHARACTERISTIC_NEAR_MAX];
    const char *before = "; as near, but no evidence: ";
    size_t count = 0;
    CLEANUP_STR struct str text = {0};
    str_addf(&text, "peak at %s: %s, as ", screen_firm(units_cycles(&sheet->units, peak->p50_cycles)).text,
             name[0] ? name : "no name");
    add_evidence(sheet, &reason, times->profile, &text);
    if (reason.cause == PEAK_CAUSE_NOT_KNOWN && frequency_hz > 0)
        count = characteristic_near(times->times, times->count, peak->mode_cycles / frequency_hz * 1e9, near);
    for (size_t i = 0; i < count; i++) {
        if (near[i] == reason.time)
            continue;
        str_addf(&text, "%s%s %s", before, characteristic_title(near[i]->kind),
                 text_of_ns(sheet, near[i]->ns.median).text);
        before = ", ";
    }
    sheet_sentence(sheet, 2, "%s", str_text(&text));
}

void peak_labels_explain_none(struct sheet *sheet, bool are_others) {
    sheet_sentence(sheet, 2,
                   "%speaks have no names: no times that 'osprof doctor --calibrate' measured are for this profile",
                   are_others ? "other " : "");
}

void peak_labels_explain_all(struct sheet *sheet, const struct aggstats_op_profile *op,
                             const struct peak_times *times) {
    struct peak peaks[PEAKS_MAX];
    const size_t count = peaks_find(op, times->profile->resolution, peaks);
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        const bool has_name = peak_reason_of(op, &peaks[i], times).cause != PEAK_CAUSE_NOT_KNOWN;
        named += has_name;
        if (has_name || times->count > 0)
            peak_labels_explain(sheet, op, &peaks[i], times);
    }
    if (times->count == 0 && named < count)
        peak_labels_explain_none(sheet, named > 0);
}

/* ---- Causes of waiting -------------------------------------------------------------------------- */

void peak_labels_put_waits(struct sheet *sheet, const struct aggstats_profile *profile,
                           const struct aggstats_op_profile *op) {
    struct peak peaks[PEAKS_MAX];
    char words[AGGSTATS_WHY_TEXT_SIZE];
    size_t count = profile->cause_count > 0 ? peaks_find(op, profile->resolution, peaks) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct peak_waits waits = peak_waits_find(profile, op, &peaks[i]);
        const bool are_some = waits.known_calls < peaks[i].calls;
        CLEANUP_STR struct str text = {0};
        str_addf(&text, "peak at %s: of %s%s %scall%s ", units_cycles(&sheet->units, peaks[i].p50_cycles).text,
                 are_some ? "" : "its ", units_count(waits.known_calls).text, are_some ? "slow " : "",
                 units_plural(waits.known_calls));
        for (size_t wait = 0; wait < waits.count; wait++)
            str_addf(&text, "%s%s %s", wait > 0 ? ", " : "", units_share(waits.waits[wait].share).text,
                     aggstats_why_text(&waits.waits[wait].cause->why, words));
        if (waits.count > 0)
            sheet_text(sheet, 2, "%s", str_text(&text));
    }
}

/* ---- Places of peaks, and values ---------------------------------------------------------------- */

void peak_labels_put_place(struct sheet *sheet, const struct peak *peak, unsigned resolution) {
    sheet_sentence(sheet, 2, "%s .. %s, %s call%s, %s of the latency",
                   screen_firm(units_cycles(&sheet->units, aggstats_bucket_lower(peak->first, resolution))).text,
                   screen_firm(units_cycles(&sheet->units, aggstats_bucket_upper(peak->last, resolution))).text,
                   units_count(peak->calls).text, units_plural(peak->calls),
                   screen_firm(units_share(peak->latency_share)).text);
}

void peak_labels_put_joint(struct sheet *sheet, const struct aggstats_joint_profile *joint,
                           const struct aggstats_op_profile *op, unsigned resolution) {
    struct peak peaks[PEAKS_MAX];
    char title[VALUE_TEXT_SIZE];
    value_text_of_name(joint->value, title);
    const struct sheet_column columns[] = {
        {title, SHEET_NAME, 0, 28, .gap = 4}, {"calls", SHEET_NUMBER, 1, 14}, {"of the peak", SHEET_NUMBER, 2, 9}};
    size_t count = peaks_find(op, resolution, peaks);
    sheet_heading(sheet, "%s", op->name);
    sheet_span(sheet, INK_PLAIN, " by %s, for each peak of latency", title);
    for (const struct peak *peak = peaks; peak < peaks + count; peak++) {
        peak_labels_put_place(sheet, peak, resolution);
        SHEET_TABLE(sheet, columns);
        for (size_t at = 0; at < joint->cell_count;) {
            const unsigned row = joint->cells[at].row;
            uint64_t calls = 0;
            char value[VALUE_TEXT_SIZE];
            for (; at < joint->cell_count && joint->cells[at].row == row; at++)
                if (joint->cells[at].bucket >= peak->first && joint->cells[at].bucket <= peak->last)
                    calls += joint->cells[at].count;
            if (calls == 0)
                continue;
            value_text_of_row(joint->value, row, &sheet->units, value);
            sheet_add(sheet, value);
            sheet_add_count(sheet, calls);
            sheet_add_share(sheet, (double)calls / (double)peak->calls);
        }
    }
}
