/* Names of peaks, and the evidence for them. */
#include "peak_labels.h"

#include <string.h>

#include "aggstats/why.h"
#include "base.h"
#include "html.h"
#include "peak_waits.h"
#include "value_text.h"

#define SENTENCE_SIZE 896
#define REST_SIZE 256

struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration) {
    return (struct peak_times){profile, calibration->times, calibration->count};
}

void peak_labels_print(const struct aggstats_op_profile *op, const struct peak_times *times, const struct units *units,
                       const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = times->count > 0 ? peaks_find(op, times->profile->resolution, peaks) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct peak_reason reason = peak_reason_of(op, &peaks[i], times);
        if (reason.cause != PEAK_CAUSE_NOT_KNOWN)
            screen_print_line(screen, 2, "peak at %s: %s", units_cycles(units, peaks[i].p50_cycles).text,
                              peak_reason_text(&reason, op));
    }
}

/* ---- Evidence ----------------------------------------------------------------------------------- */

static struct units_text text_of_ns(const struct units *units, double ns) {
    return screen_firm(units_seconds(units, ns / 1e9));
}

static void format_near(const struct peak_reason *reason, const struct units *units, char ret_text[REST_SIZE]) {
    snprintf(ret_text, REST_SIZE, "%s of its calls take between half and twice as long as a %s, %s",
             screen_firm(units_share(reason->near_part)).text, characteristic_title(reason->time->kind),
             text_of_ns(units, reason->time->ns.median).text);
}

static void format_memory(const struct peak_reason *reason, const struct units *units, char ret_text[REST_SIZE]) {
    snprintf(ret_text, REST_SIZE,
             "%s of its calls take less than %s, a quarter of the %s below which only one %s in four is",
             screen_firm(units_share(reason->near_part)).text,
             text_of_ns(units, reason->time->ns.lower / PEAK_CAUSE_MEMORY_FACTOR).text,
             text_of_ns(units, reason->time->ns.lower).text, characteristic_title(reason->time->kind));
}

/* What was seen of a disk: how much was read from storage is between the two. */
static void format_witness(const struct peak_reason *reason, const struct aggstats_profile *profile,
                           char ret_text[REST_SIZE]) {
    static const struct {
        const char *before;
        const char *after; /* NULL: how much was read does not matter */
    } texts[] = {
        [PEAK_WITNESS_NONE] = {"", NULL},
        [PEAK_WITNESS_STORAGE] = {", and ", " read from storage"},
        [PEAK_WITNESS_STACKS] = {", and most were seen to wait for it", NULL},
        [PEAK_WITNESS_BLOCK] = {", and they are requests to a disk", NULL},
        [PEAK_WITNESS_OTHERS] = {"; ", " read from storage, maybe for something else"},
        [PEAK_WITNESS_TOO_FEW_BYTES] = {", but no more than ", " read from storage"},
        [PEAK_WITNESS_NOTHING_MOVED] = {", but they read no bytes", NULL},
        [PEAK_WITNESS_OTHER_STACKS] = {", but most were seen to wait for something else", NULL},
    };
    const double bytes = (double)profile->storage_read_bytes;
    const char *after = texts[reason->witness].after;
    if (reason->cause == PEAK_CAUSE_DEVICE_READ && reason->witness == PEAK_WITNESS_NONE)
        snprintf(ret_text, REST_SIZE, "; what was read from storage is not known");
    else if (after && bytes == 0)
        snprintf(ret_text, REST_SIZE, ", %s nothing was read from storage",
                 reason->witness == PEAK_WITNESS_TOO_FEW_BYTES ? "but" : "and");
    else
        snprintf(ret_text, REST_SIZE, "%s%s%s%s", texts[reason->witness].before,
                 after ? screen_firm(units_bytes(bytes)).text : "", after ? " were" : "", after ? after : "");
}

static void format_evidence(const struct peak_reason *reason, const struct aggstats_profile *profile,
                            const struct units *units, char ret_text[2 * REST_SIZE]) {
    char witness[REST_SIZE];
    if (!reason->time)
        snprintf(ret_text, REST_SIZE, "of the calibrated times none is one that this operation waits for");
    else if (reason->cause == PEAK_CAUSE_MEMORY)
        format_memory(reason, units, ret_text);
    else
        format_near(reason, units, ret_text);
    if (!reason->time)
        return;
    format_witness(reason, profile, witness);
    if (reason->near_part < PEAK_CAUSE_NEAR_MIN)
        snprintf(witness, sizeof(witness), "; %s would be evidence",
                 screen_firm(units_share(PEAK_CAUSE_NEAR_MIN)).text);
    size_t length = strlen(ret_text);
    snprintf(ret_text + length, REST_SIZE, "%s", witness);
}

/* Times near the peak that are no evidence: the kernel's and the machine's own. */
static void format_others(const struct peak *peak, const struct peak_reason *reason, const struct peak_times *times,
                          const struct units *units, char ret_text[REST_SIZE]) {
    const struct characteristic *near[CHARACTERISTIC_NEAR_MAX];
    size_t length = 0;
    ret_text[0] = '\0';
    if (reason->cause != PEAK_CAUSE_NOT_KNOWN || times->profile->clock.frequency_hz == 0)
        return;
    double mode_ns = peak->mode_cycles / (double)times->profile->clock.frequency_hz * 1e9;
    size_t count = characteristic_near(times->times, times->count, mode_ns, near);
    for (size_t i = 0; i < count; i++) {
        if (near[i] == reason->time)
            continue;
        length += (size_t)snprintf(ret_text + length, REST_SIZE - length, "%s%s %s",
                                   length == 0 ? "; as near, but no evidence: " : ", ",
                                   characteristic_title(near[i]->kind), text_of_ns(units, near[i]->ns.median).text);
    }
}

void peak_labels_explain(const struct aggstats_op_profile *op, const struct peak *peak, const struct peak_times *times,
                         const struct units *units, const struct screen *screen) {
    const struct peak_reason reason = peak_reason_of(op, peak, times);
    const char *name = peak_reason_text(&reason, op);
    char evidence[2 * REST_SIZE];
    char others[REST_SIZE];
    char text[SENTENCE_SIZE];
    format_evidence(&reason, times->profile, units, evidence);
    format_others(peak, &reason, times, units, others);
    snprintf(text, sizeof(text), "peak at %s: %s, as %s%s", screen_firm(units_cycles(units, peak->p50_cycles)).text,
             name[0] ? name : "no name", evidence, others);
    screen_print_sentence(screen, 2, text);
}

void peak_labels_explain_none(const struct screen *screen) {
    screen_print_sentence(screen, 2,
                          "peaks have no names: no times that 'osprof calibrate' measured are for this profile");
}

void peak_labels_explain_all(const struct aggstats_op_profile *op, const struct peak_times *times,
                             const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = peaks_find(op, times->profile->resolution, peaks);
    if (times->count == 0) {
        peak_labels_explain_none(screen);
        return;
    }
    for (size_t i = 0; i < count; i++)
        peak_labels_explain(op, &peaks[i], times, units, screen);
}

/* ---- Causes of waiting -------------------------------------------------------------------------- */

#define INDENT 2
#define LINE_SIZE (128 + PEAK_WAITS_MAX * (AGGSTATS_WHY_TEXT_SIZE + UNITS_TEXT_SIZE))

static void format_line(const struct peak *peak, const struct peak_waits *waits, const struct units *units,
                        char ret_line[LINE_SIZE]) {
    int length = snprintf(ret_line, LINE_SIZE, "peak at %s: ", units_cycles(units, peak->p50_cycles).text);
    char words[AGGSTATS_WHY_TEXT_SIZE];
    const bool are_some = waits->known_calls < peak->calls;
    length += snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "of %s%s %scall%s ", are_some ? "" : "its ",
                       units_count(waits->known_calls).text, are_some ? "slow " : "", units_plural(waits->known_calls));
    for (size_t i = 0; i < waits->count; i++)
        length +=
            snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "%s%s %s", i > 0 ? ", " : "",
                     units_share(waits->waits[i].share).text, aggstats_why_text(&waits->waits[i].cause->why, words));
}

void peak_labels_print_waits(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                             const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = profile->cause_count > 0 ? peaks_find(op, profile->resolution, peaks) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct peak_waits waits = peak_waits_find(profile, op, &peaks[i]);
        char line[LINE_SIZE];
        if (waits.count == 0)
            continue;
        format_line(&peaks[i], &waits, units, line);
        if (!screen->html)
            fprintf(screen->stream, "%*s", INDENT, "");
        screen_print_wrapped(screen, INDENT, 2 * INDENT, line);
    }
}

/* ---- Places of peaks ---------------------------------------------------------------------------- */

void peak_labels_print_place(const struct peak *peak, unsigned resolution, const struct units *units,
                             const struct screen *screen) {
    struct units_text share;
    char text[5 * UNITS_TEXT_SIZE];
    snprintf(share.text, sizeof(share.text), "%.1f %%", 100 * peak->latency_share);
    snprintf(text, sizeof(text), "%s .. %s, %s call%s, %s of the latency",
             screen_firm(units_cycles(units, aggstats_bucket_lower(peak->first, resolution))).text,
             screen_firm(units_cycles(units, aggstats_bucket_upper(peak->last, resolution))).text,
             units_count(peak->calls).text, units_plural(peak->calls), screen_firm(share).text);
    screen_print_sentence(screen, 2, text);
}

/* ---- Values ------------------------------------------------------------------------------------- */

#define VALUE_COLUMNS 24

static void put_value(const char *value, const char *calls, const char *share, const struct screen *screen) {
    html_begin_row(screen->stream);
    html_put_cell(screen->stream, HTML_NAME, value);
    html_put_cell(screen->stream, HTML_NUMBER, calls);
    html_put_cell(screen->stream, HTML_NUMBER, share);
    html_end_row(screen->stream);
}

static void print_value(enum aggstats_value value, unsigned row, uint64_t calls, uint64_t peak_calls,
                        const struct units *units, const struct screen *screen) {
    char text[VALUE_TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    value_text_of_row(value, row, units, text);
    snprintf(share, sizeof(share), "%.1f %%", 100.0 * (double)calls / (double)peak_calls);
    if (screen->html) {
        put_value(text, units_count(calls).text, share, screen);
        return;
    }
    fprintf(screen->stream, "    %-*s", VALUE_COLUMNS, text);
    screen_print_right(screen, INK_PLAIN, units_count(calls).text, 14);
    screen_print_right(screen, INK_PLAIN, share, 9);
    putc('\n', screen->stream);
}

static void print_values(const struct aggstats_joint_profile *joint, const struct peak *peak, const struct units *units,
                         const struct screen *screen) {
    for (size_t at = 0; at < joint->cell_count;) {
        unsigned row = joint->cells[at].row;
        uint64_t calls = 0;
        for (; at < joint->cell_count && joint->cells[at].row == row; at++)
            if (joint->cells[at].bucket >= peak->first && joint->cells[at].bucket <= peak->last)
                calls += joint->cells[at].count;
        if (calls > 0)
            print_value(joint->value, row, calls, peak->calls, units, screen);
    }
}

static void put_values(const struct aggstats_joint_profile *joint, const struct peak *peak, const struct units *units,
                       const struct screen *screen) {
    char title[VALUE_TEXT_SIZE];
    value_text_of_name(joint->value, title);
    html_begin_table(screen->stream);
    html_begin_row(screen->stream);
    html_put_cell(screen->stream, HTML_TITLE, title);
    html_put_cell(screen->stream, HTML_NUMBER_TITLE, "calls");
    html_put_cell(screen->stream, HTML_NUMBER_TITLE, "of the peak");
    html_end_row(screen->stream);
    print_values(joint, peak, units, screen);
    html_end_table(screen->stream);
}

void peak_labels_print_joint(const struct aggstats_joint_profile *joint, const struct aggstats_op_profile *op,
                             unsigned resolution, const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    char title[VALUE_TEXT_SIZE];
    value_text_of_name(joint->value, title);
    size_t count = peaks_find(op, resolution, peaks);
    screen_begin_heading(screen);
    screen_print(screen, INK_STRONG, op->name);
    screen_printf(screen, " by %s, for each peak of latency", title);
    screen_end_heading(screen);
    for (size_t i = 0; i < count; i++) {
        peak_labels_print_place(&peaks[i], resolution, units, screen);
        (screen->html ? put_values : print_values)(joint, &peaks[i], units, screen);
    }
}
