/* Correlated operations: a block for each number of calls, a line for each part. */
#include "comparison.h"

#include "json_writer.h"
#include "units.h"

#define JSON_VERSION 1

static void print_part(const struct correlate_part *part, unsigned resolution, const struct units *units,
                       const struct screen *screen) {
    fputs("  ", screen->stream);
    screen_print(screen, INK_STRONG, part->op->name);
    const struct units_text to = units_cycles(units, aggstats_bucket_upper(part->calls.last, resolution));
    if (part->first_peak == 0 && part->last_peak + 1 == part->peak_count)
        fputs(", all calls", screen->stream);
    else if (part->first_peak == part->last_peak)
        fprintf(screen->stream, ", peak %u of %u", part->first_peak + 1, part->peak_count);
    else
        fprintf(screen->stream, ", peaks %u to %u of %u", part->first_peak + 1, part->last_peak + 1, part->peak_count);
    fprintf(screen->stream, ": %s .. %s\n",
            units_cycles(units, aggstats_bucket_lower(part->calls.first, resolution)).text, to.text);
}

void correlation_print(const struct correlations *correlations, const struct aggstats_profile *profile,
                       const struct screen *screen) {
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = screen->ascii};
    if (correlations->count == 0)
        fputs("No operations, and no peaks of different ones, with equal numbers of calls that are no chance.\n",
              screen->stream);
    for (size_t i = 0; i < correlations->count; i++) {
        const struct correlation *found = &correlations->found[i];
        char calls[UNITS_TEXT_SIZE];
        units_format_count(found->calls, calls);
        fprintf(screen->stream, "%s%s calls each (chance would make %.2g such pairs)\n", i > 0 ? "\n" : "", calls,
                found->chance);
        for (size_t at = 0; at < found->part_count; at++)
            print_part(&found->parts[at], profile->resolution, &units, screen);
    }
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
