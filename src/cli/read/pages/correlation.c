/* Correlated operations: a block for each number of calls, a line for each part. */
#include "comparison.h"

#include "json_writer.h"

#define JSON_VERSION 1

static void put_part(struct sheet *sheet, const struct correlate_part *part, unsigned resolution) {
    sheet_put(sheet, FORM_LINE, INK_STRONG, 2, "%s", part->op->name);
    if (part->first_peak == 0 && part->last_peak + 1 == part->peak_count)
        sheet_span(sheet, INK_PLAIN, ", all calls");
    else if (part->first_peak == part->last_peak)
        sheet_span(sheet, INK_PLAIN, ", peak %u of %u", part->first_peak + 1, part->peak_count);
    else
        sheet_span(sheet, INK_PLAIN, ", peaks %u to %u of %u", part->first_peak + 1, part->last_peak + 1,
                   part->peak_count);
    sheet_span(sheet, INK_PLAIN, ": %s .. %s",
               units_cycles(&sheet->units, aggstats_bucket_lower(part->calls.first, resolution)).text,
               units_cycles(&sheet->units, aggstats_bucket_upper(part->calls.last, resolution)).text);
}

void correlation_print(const struct correlations *correlations, const struct aggstats_profile *profile,
                       const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, profile->clock.frequency_hz);
    if (correlations->count == 0)
        sheet_line(&sheet, 0,
                   "No operations, and no peaks of different ones, with equal numbers of calls that are no chance.");
    for (size_t i = 0; i < correlations->count; i++) {
        const struct correlation *found = &correlations->found[i];
        if (i > 0)
            sheet_gap(&sheet);
        sheet_line(&sheet, 0, "%s calls each (chance would make %.2g such pairs)", units_count(found->calls).text,
                   found->chance);
        for (size_t at = 0; at < found->part_count; at++)
            put_part(&sheet, &found->parts[at], profile->resolution);
    }
    sheet_print(&sheet);
}

static void write_part(struct json_writer *writer, const struct correlate_part *part,
                       const struct aggstats_profile *profile) {
    const double lower_cycles =
        part->calls.first > 0 ? aggstats_bucket_lower(part->calls.first, profile->resolution) : 0;
    const double upper_cycles = aggstats_bucket_upper(part->calls.last, profile->resolution);
    json_begin(writer, NULL, '{');
    json_text(writer, "op", part->op->name);
    json_count(writer, "first_peak", part->first_peak + 1);
    json_count(writer, "last_peak", part->last_peak + 1);
    json_count(writer, "peaks", part->peak_count);
    json_real(writer, "lower_cycles", lower_cycles);
    json_real(writer, "upper_cycles", upper_cycles);
    if (profile->clock.frequency_hz > 0) {
        json_real(writer, "lower_seconds", lower_cycles / (double)profile->clock.frequency_hz);
        json_real(writer, "upper_seconds", upper_cycles / (double)profile->clock.frequency_hz);
    }
    json_end(writer, '}');
}

void correlation_print_json(const struct correlations *correlations, const struct aggstats_profile *profile,
                            const char *name) {
    struct json_writer writer = {.stream = stdout};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", JSON_VERSION);
    json_text(&writer, "name", name);
    json_begin(&writer, "correlations", '[');
    for (size_t i = 0; i < correlations->count; i++) {
        const struct correlation *found = &correlations->found[i];
        json_begin(&writer, NULL, '{');
        json_count(&writer, "calls", found->calls);
        json_real(&writer, "chance", found->chance);
        json_begin(&writer, "parts", '[');
        for (size_t at = 0; at < found->part_count; at++)
            write_part(&writer, &found->parts[at], profile);
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    json_end(&writer, '}');
}
