/* Outliers: a line each. */
#include "outliers_report.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "json_writer.h"
#include "units.h"

#define JSON_VERSION 1
#define LIMIT_TOLD 2.0  /* so many times the factor that was asked for cannot be found: it is mentioned */
#define COMMON_TOLD 1.2 /* smaller common factors are not mentioned */

/* ---- Words -------------------------------------------------------------------------------------- */

/* "takes 2.10 times as long", "is 1.50 times as fast"; of several: "take", "are" */
static void print_factor(FILE *stream, double factor, bool is_plural) {
    if (factor >= 1)
        fprintf(stream, "%s %s times as long", is_plural ? "take" : "takes", units_number(factor).text);
    else
        fprintf(stream, "%s %s times as fast", is_plural ? "are" : "is", units_number(1 / factor).text);
}

/* "1.0 %", "0.01 %" */
static void print_share(FILE *stream, double share) {
    fprintf(stream, "%.2g %%", 100 * share);
}

static void print_seconds(const struct screen *screen, double seconds) {
    const struct units units = {.frequency_hz = 1, .ascii = screen->ascii};
    fputs(units_seconds(&units, seconds).text, screen->stream);
}

/* ---- For people --------------------------------------------------------------------------------- */

static void print_peers(const struct outliers_report *report, const struct outlier *outlier,
                        const struct screen *screen) {
    fprintf(screen->stream, " (median of %s", units_count(outlier->peer_count).text);
    if (report->result->group_count > 1 && outlier->layer[0]) {
        fputs(", layer ", screen->stream);
        screen_print_untrusted(screen, INK_PLAIN, outlier->layer);
    }
    if (report->by) {
        fputs(", ", screen->stream);
        screen_print_untrusted(screen, INK_PLAIN, report->by);
        putc(' ', screen->stream);
        screen_print_untrusted(screen, INK_PLAIN, outlier->value[0] ? outlier->value : "not told");
    }
    putc(')', screen->stream);
}

static void print_mean(const struct outlier *outlier, const struct screen *screen) {
    fputs(outlier->is_typical ? " usually " : " ", screen->stream);
    print_factor(screen->stream, outlier->factor, false);
    fputs(" as that of its peers: ", screen->stream);
    print_seconds(screen, outlier->seconds);
    fputs(", theirs ", screen->stream);
    print_seconds(screen, outlier->peers_seconds);
}

static void print_calls(const struct outlier *outlier, const struct screen *screen) {
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    fputs(": ", screen->stream);
    print_share(screen->stream, outlier->share);
    fprintf(screen->stream, " of calls %s ", is_gone ? "below" : "beyond");
    print_seconds(screen, outlier->place_seconds);
    fprintf(screen->stream, ", %s around ", is_gone ? "where those of its peers lie" : "most");
    print_seconds(screen, outlier->around_seconds);
    fputs("; peers ", screen->stream);
    print_share(screen->stream, outlier->peers_share);
}

static void print_outlier(const struct outliers_report *report, const struct outlier *outlier,
                          const struct screen *screen) {
    screen_print_untrusted(screen, INK_STRONG, outlier->profile);
    fprintf(screen->stream, ": %s", outlier->op);
    if (outlier->kind == OUTLIERS_SLOWER || outlier->kind == OUTLIERS_FASTER)
        print_mean(outlier, screen);
    else
        print_calls(outlier, screen);
    print_peers(report, outlier, screen);
    if (outlier->common_factor > COMMON_TOLD || outlier->common_factor < 1 / COMMON_TOLD) {
        fputs("; all its operations ", screen->stream);
        print_factor(screen->stream, outlier->common_factor, true);
    }
    putc('\n', screen->stream);
}

static void print_heading(const struct outliers_result *result, const struct screen *screen) {
    const struct units_text profiles = units_count(result->judged_profile_count);
    screen_print_key(screen, "judged");
    fprintf(screen->stream, "%s operations of %s profiles", units_count(result->judged_count).text, profiles.text);
    if (result->judged_profile_count < result->profile_count)
        fprintf(screen->stream, " of %s; the others have fewer than %d peers", units_count(result->profile_count).text,
                OUTLIERS_PROFILES_MIN - 1);
    putc('\n', screen->stream);
    screen_print_key(screen, "outliers");
    fprintf(screen->stream, "%s\n", units_count(result->found_count).text);
}

/* Few profiles, or such that vary, leave much undetected. */
static void print_limit(const struct outliers_report *report, const struct screen *screen) {
    if (report->result->least_factor < LIMIT_TOLD * report->factor_min)
        return;
    screen_print_key(screen, "limit");
    fprintf(screen->stream,
            "with so few profiles, or such different ones, only latencies that differ by a factor of %s or more are "
            "found\n",
            units_number(report->result->least_factor).text);
}

void outliers_report_print(const struct outliers_report *report, const struct screen *screen) {
    const struct outliers_result *result = report->result;
    print_heading(result, screen);
    print_limit(report, screen);
    for (size_t i = 0; i < result->found_count; i++) {
        if (i == 0)
            putc('\n', screen->stream);
        print_outlier(report, &result->found[i], screen);
    }
    for (size_t i = 0; i < result->busy_count; i++) {
        if (i == 0)
            fputs("\nNo outliers by themselves:\n", screen->stream);
        screen_print_untrusted(screen, INK_PLAIN, result->busy[i].profile);
        fputs(": all its operations ", screen->stream);
        print_factor(screen->stream, result->busy[i].common_factor, true);
        putc('\n', screen->stream);
    }
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static const char *kind_name(enum outliers_kind kind) {
    static const char *const names[] = {
        [OUTLIERS_SLOWER] = "slower",
        [OUTLIERS_FASTER] = "faster",
        [OUTLIERS_SLOW_CALLS] = "slow_calls",
        [OUTLIERS_FAST_GONE] = "fast_calls_gone",
    };
    return names[kind];
}

static void write_calls(struct json_writer *writer, const struct outlier *outlier) {
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    json_real(writer, is_gone ? "below_seconds" : "beyond_seconds", outlier->place_seconds);
    json_real(writer, "around_seconds", outlier->around_seconds);
    json_real(writer, "share", outlier->share);
    json_real(writer, "peers_share", outlier->peers_share);
}

static void write_outlier(struct json_writer *writer, const struct outliers_report *report,
                          const struct outlier *outlier) {
    json_begin(writer, NULL, '{');
    json_text(writer, "profile", outlier->profile);
    if (outlier->layer[0])
        json_text(writer, "layer", outlier->layer);
    if (report->by)
        json_text(writer, "value", outlier->value);
    json_text(writer, "op", outlier->op);
    json_text(writer, "kind", kind_name(outlier->kind));
    json_count(writer, "calls", outlier->calls);
    json_count(writer, "peers", outlier->peer_count);
    json_real(writer, "distance", outlier->distance);
    json_real(writer, "chance", outlier->chance);
    json_real(writer, "common_factor", outlier->common_factor);
    json_text(writer, "measure", outlier->is_typical ? "typical" : "mean");
    json_real(writer, "factor", outlier->factor);
    json_real(writer, "seconds", outlier->seconds);
    json_real(writer, "peers_seconds", outlier->peers_seconds);
    if (outlier->kind == OUTLIERS_SLOW_CALLS || outlier->kind == OUTLIERS_FAST_GONE)
        write_calls(writer, outlier);
    json_end(writer, '}');
}

static void write_busy(struct json_writer *writer, const struct outliers_busy *busy) {
    json_begin(writer, NULL, '{');
    json_text(writer, "profile", busy->profile);
    json_real(writer, "common_factor", busy->common_factor);
    json_end(writer, '}');
}

void outliers_report_print_json(const struct outliers_report *report) {
    const struct outliers_result *result = report->result;
    struct json_writer writer = {.stream = stdout};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", JSON_VERSION);
    if (report->by)
        json_text(&writer, "by", report->by);
    json_real(&writer, "factor_min", report->factor_min);
    json_count(&writer, "profiles", result->profile_count);
    json_count(&writer, "groups", result->group_count);
    json_count(&writer, "judged_profiles", result->judged_profile_count);
    json_count(&writer, "judged_operations", result->judged_count);
    json_real(&writer, "least_factor", result->least_factor);
    json_begin(&writer, "outliers", '[');
    for (size_t i = 0; i < result->found_count; i++)
        write_outlier(&writer, report, &result->found[i]);
    json_end(&writer, ']');
    json_begin(&writer, "busy", '[');
    for (size_t i = 0; i < result->busy_count; i++)
        write_busy(&writer, &result->busy[i]);
    json_end(&writer, ']');
    json_end(&writer, '}');
}
