/* Names of peaks, and the evidence for them. */
#include "peak_labels.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "peak_waits.h"

#define SENTENCE_SIZE 640
#define REST_SIZE 256

struct peak_times peak_labels_times(const struct aggstats_profile *profile, const struct calibration *calibration) {
    return (struct peak_times){profile->resolution, profile->clock.frequency_hz, calibration->times,
                               calibration->count};
}

void peak_labels_print(const struct aggstats_op_profile *op, const struct peak_times *times, const struct units *units,
                       const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = times->count > 0 ? peaks_find(op, times->resolution, peaks) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct peak_reason reason = peak_reason_of(op, &peaks[i], times);
        char typical[UNITS_TEXT_SIZE];
        units_format_cycles(units, exp2(peaks[i].centre), typical);
        if (reason.cause != PEAK_CAUSE_NOT_KNOWN)
            fprintf(screen->stream, "  peak at %s: %s\n", typical, peak_cause_text(reason.cause, op));
    }
}

/* ---- Evidence ----------------------------------------------------------------------------------- */

static void format_ns(const struct units *units, double ns, char ret_text[UNITS_TEXT_SIZE]) {
    units_format_seconds(units, ns / 1e9, ret_text);
    screen_make_blanks_firm(ret_text);
}

static void format_part(double part, char ret_text[UNITS_TEXT_SIZE]) {
    units_format_share(part, ret_text);
    screen_make_blanks_firm(ret_text);
}

static void format_near(const struct peak_reason *reason, const struct units *units, char ret_text[REST_SIZE]) {
    char part[UNITS_TEXT_SIZE];
    char time[UNITS_TEXT_SIZE];
    format_part(reason->near_part, part);
    format_ns(units, reason->time->ns.median, time);
    snprintf(ret_text, REST_SIZE, "%s of its calls take between half and twice as long as a %s, %s", part,
             characteristic_title(reason->time->kind), time);
}

static void format_memory(const struct peak_reason *reason, const struct units *units, char ret_text[REST_SIZE]) {
    char part[UNITS_TEXT_SIZE];
    char limit[UNITS_TEXT_SIZE];
    char lower[UNITS_TEXT_SIZE];
    format_part(reason->near_part, part);
    format_ns(units, reason->time->ns.lower / PEAK_CAUSE_MEMORY_FACTOR, limit);
    format_ns(units, reason->time->ns.lower, lower);
    snprintf(ret_text, REST_SIZE,
             "%s of its calls take less than %s, a quarter of the %s below which only one %s in four is", part, limit,
             lower, characteristic_title(reason->time->kind));
}

static void format_evidence(const struct peak_reason *reason, const struct units *units, char ret_text[REST_SIZE]) {
    char needed[UNITS_TEXT_SIZE];
    size_t length;
    if (!reason->time)
        snprintf(ret_text, REST_SIZE, "of the calibrated times none is one that this operation waits for");
    else if (reason->cause == PEAK_CAUSE_MEMORY)
        format_memory(reason, units, ret_text);
    else
        format_near(reason, units, ret_text);
    if (!reason->time || reason->cause != PEAK_CAUSE_NOT_KNOWN)
        return;
    format_part(PEAK_CAUSE_NEAR_MIN, needed);
    length = strlen(ret_text);
    snprintf(ret_text + length, REST_SIZE - length, "; %s would be evidence", needed);
}

/* Times near the peak that are no evidence: the kernel's and the machine's own. */
static void format_others(const struct peak *peak, const struct peak_reason *reason, const struct peak_times *times,
                          const struct units *units, char ret_text[REST_SIZE]) {
    const struct characteristic *near[CHARACTERISTIC_NEAR_MAX];
    size_t length = 0;
    ret_text[0] = '\0';
    if (reason->cause != PEAK_CAUSE_NOT_KNOWN || times->frequency_hz == 0)
        return;
    double mode_ns = peak->mode_cycles / (double)times->frequency_hz * 1e9;
    size_t count = characteristic_near(times->times, times->count, mode_ns, near);
    for (size_t i = 0; i < count; i++) {
        char time[UNITS_TEXT_SIZE];
        if (near[i] == reason->time)
            continue;
        format_ns(units, near[i]->ns.median, time);
        length += (size_t)snprintf(ret_text + length, REST_SIZE - length, "%s%s %s",
                                   length == 0 ? "; as near, but no evidence: " : ", ",
                                   characteristic_title(near[i]->kind), time);
    }
}

void peak_labels_explain(const struct aggstats_op_profile *op, const struct peak *peak, const struct peak_times *times,
                         const struct units *units, const struct screen *screen) {
    const struct peak_reason reason = peak_reason_of(op, peak, times);
    const char *name = peak_cause_text(reason.cause, op);
    char typical[UNITS_TEXT_SIZE];
    char evidence[REST_SIZE];
    char others[REST_SIZE];
    char text[SENTENCE_SIZE];
    units_format_cycles(units, exp2(peak->centre), typical);
    screen_make_blanks_firm(typical);
    format_evidence(&reason, units, evidence);
    format_others(peak, &reason, times, units, others);
    snprintf(text, sizeof(text), "peak at %s: %s, as %s%s", typical, name[0] ? name : "no name", evidence, others);
    screen_print_sentence(screen, 2, text);
}

void peak_labels_explain_none(const struct screen *screen) {
    screen_print_sentence(screen, 2,
                          "peaks have no names: no times that 'osprof calibrate' measured are for this profile");
}

void peak_labels_explain_all(const struct aggstats_op_profile *op, const struct peak_times *times,
                             const struct units *units, const struct screen *screen) {
    struct peak peaks[PEAKS_MAX];
    size_t count = peaks_find(op, times->resolution, peaks);
    if (times->count == 0) {
        peak_labels_explain_none(screen);
        return;
    }
    for (size_t i = 0; i < count; i++)
        peak_labels_explain(op, &peaks[i], times, units, screen);
}

/* ---- What calls have waited for ----------------------------------------------------------------- */

#define INDENT 2
#define LINE_SIZE (128 + PEAK_WAITS_MAX * (AGGSTATS_CAUSE_SIZE + UNITS_TEXT_SIZE))

static void format_line(const struct peak *peak, const struct peak_waits *waits, const struct units *units,
                        char ret_line[LINE_SIZE]) {
    char typical[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    units_format_cycles(units, exp2(peak->centre), typical);
    units_format_count(waits->known_calls, calls);
    int length = snprintf(ret_line, LINE_SIZE, "peak at %s: ", typical);
    if (waits->known_calls < peak->calls)
        length += snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "of %s slow call%s ", calls,
                           units_plural(waits->known_calls));
    for (size_t i = 0; i < waits->count; i++) {
        char share[UNITS_TEXT_SIZE];
        units_format_share(waits->waits[i].share, share);
        length += snprintf(ret_line + length, (size_t)(LINE_SIZE - length), "%s%s %s", i > 0 ? ", " : "", share,
                           waits->waits[i].cause->text);
    }
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
        fprintf(screen->stream, "%*s", INDENT, "");
        screen_print_wrapped(screen, INDENT, 2 * INDENT, line);
    }
}

/* ---- Where a peak is ---------------------------------------------------------------------------- */

void peak_labels_print_place(const struct peak *peak, unsigned resolution, const struct units *units,
                             const struct screen *screen) {
    char from[UNITS_TEXT_SIZE];
    char to[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    char share[UNITS_TEXT_SIZE];
    char text[5 * UNITS_TEXT_SIZE];
    units_format_cycles(units, aggstats_bucket_lower(peak->first, resolution), from);
    units_format_cycles(units, aggstats_bucket_upper(peak->last, resolution), to);
    units_format_count(peak->calls, calls);
    snprintf(share, sizeof(share), "%.1f %%", 100 * peak->latency_share);
    screen_make_blanks_firm(from);
    screen_make_blanks_firm(to);
    screen_make_blanks_firm(share);
    snprintf(text, sizeof(text), "%s .. %s, %s call%s, %s of the latency", from, to, calls, units_plural(peak->calls),
             share);
    screen_print_sentence(screen, 2, text);
}
