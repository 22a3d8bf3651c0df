/* Outliers: a line each. */
#include "outliers_report.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "json_writer.h"

#define JSON_VERSION 1
#define LIMIT_TOLD 2.0  /* so many times the factor that was asked for cannot be found: it is mentioned */
#define COMMON_TOLD 1.2 /* smaller common factors are not mentioned */

/* ---- For people --------------------------------------------------------------------------------- */

/* Adds "takes 2.10 times as long", "is 1.50 times as fast"; of several: "take", "are" */
static void add_factor(struct str *text, double factor, bool is_plural) {
    if (factor >= 1)
        str_addf(text, "%s %s times as long", is_plural ? "take" : "takes", units_number(factor).text);
    else
        str_addf(text, "%s %s times as fast", is_plural ? "are" : "is", units_number(1 / factor).text);
}

static struct units_text seconds_text(const struct sheet *sheet, double seconds) {
    return units_seconds(&sheet->units, seconds);
}

/* "...: READ usually takes 2.10 times as long as that of its peers: 2.00 ms, theirs 1.00 ms (median of 7)"; "...: READ: 1 %
 * of calls beyond 1.00 ms, most around 2.00 ms; peers 0.01 % (median of 7, layer user)" */
static void put_outlier(struct sheet *sheet, const struct outliers_report *report, const struct outlier *outlier) {
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    CLEANUP_STR struct str text = {0};
    if (outlier->kind == OUTLIERS_SLOWER || outlier->kind == OUTLIERS_FASTER) {
        str_add(&text, outlier->is_typical ? " usually " : " ");
        add_factor(&text, outlier->factor, false);
        str_addf(&text, " as that of its peers: %s, theirs %s", seconds_text(sheet, outlier->seconds).text,
                 seconds_text(sheet, outlier->peers_seconds).text);
    } else {
        str_addf(&text, ": %.2g %% of calls %s %s, %s around %s; peers %.2g %%", 100 * outlier->share,
                 is_gone ? "below" : "beyond", seconds_text(sheet, outlier->place_seconds).text,
                 is_gone ? "where those of its peers lie" : "most", seconds_text(sheet, outlier->around_seconds).text,
                 100 * outlier->peers_share);
    }
    str_addf(&text, " (median of %s", units_count(outlier->peer_count).text);
    if (report->result->group_count > 1 && outlier->layer[0])
        str_addf(&text, ", layer %s", outlier->layer);
    if (report->by)
        str_addf(&text, ", %s %s", report->by, outlier->value[0] ? outlier->value : "not told");
    str_add(&text, ")");
    if (outlier->common_factor > COMMON_TOLD || outlier->common_factor < 1 / COMMON_TOLD) {
        str_add(&text, "; all its operations ");
        add_factor(&text, outlier->common_factor, true);
    }
    sheet_put(sheet, FORM_LINE, INK_STRONG, 0, "%s", outlier->profile);
    sheet_span(sheet, INK_PLAIN, ": %s%s", outlier->op, str_text(&text));
}

/* Few profiles, or such that vary, leave much undetected. */
static void put_heading(struct sheet *sheet, const struct outliers_report *report) {
    const struct outliers_result *result = report->result;
    sheet_entry(sheet, FORM_KEYED, "judged", "%s operations of %s profiles", units_count(result->judged_count).text,
                units_count(result->judged_profile_count).text);
    if (result->judged_profile_count < result->profile_count)
        sheet_span(sheet, INK_PLAIN, " of %s; the others have fewer than %d peers",
                   units_count(result->profile_count).text, OUTLIERS_PROFILES_MIN - 1);
    sheet_entry(sheet, FORM_KEYED, "outliers", "%s", units_count(result->found_count).text);
    if (result->least_factor >= LIMIT_TOLD * report->factor_min)
        sheet_entry(sheet, FORM_KEYED, "limit",
                    "with so few profiles, or such different ones, only latencies that differ by a factor of %s or "
                    "more are found",
                    units_number(result->least_factor).text);
}

void outliers_report_print(const struct outliers_report *report, const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, 1);
    const struct outliers_result *result = report->result;
    put_heading(&sheet, report);
    sheet_gap(&sheet);
    for (size_t i = 0; i < result->found_count; i++)
        put_outlier(&sheet, report, &result->found[i]);
    if (result->busy_count > 0)
        sheet_title(&sheet, "No outliers by themselves");
    for (size_t i = 0; i < result->busy_count; i++) {
        CLEANUP_STR struct str text = {0};
        add_factor(&text, result->busy[i].common_factor, true);
        sheet_line(&sheet, 0, "%s: all its operations %s", result->busy[i].profile, str_text(&text));
    }
    sheet_print(&sheet);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void write_outlier(struct json_writer *writer, const struct outliers_report *report,
                          const struct outlier *outlier) {
    static const char *const kinds[] = {
        [OUTLIERS_SLOWER] = "slower",
        [OUTLIERS_FASTER] = "faster",
        [OUTLIERS_SLOW_CALLS] = "slow_calls",
        [OUTLIERS_FAST_GONE] = "fast_calls_gone",
    };
    const bool is_gone = outlier->kind == OUTLIERS_FAST_GONE;
    json_begin(writer, NULL, '{');
    json_text(writer, "profile", outlier->profile);
    if (outlier->layer[0])
        json_text(writer, "layer", outlier->layer);
    if (report->by)
        json_text(writer, "value", outlier->value);
    json_text(writer, "op", outlier->op);
    json_text(writer, "kind", kinds[outlier->kind]);
    json_count(writer, "calls", outlier->calls);
    json_count(writer, "peers", outlier->peer_count);
    json_real(writer, "distance", outlier->distance);
    json_real(writer, "chance", outlier->chance);
    json_real(writer, "common_factor", outlier->common_factor);
    json_text(writer, "measure", outlier->is_typical ? "typical" : "mean");
    json_real(writer, "factor", outlier->factor);
    json_real(writer, "seconds", outlier->seconds);
    json_real(writer, "peers_seconds", outlier->peers_seconds);
    if (outlier->kind == OUTLIERS_SLOW_CALLS || is_gone) {
        json_real(writer, is_gone ? "below_seconds" : "beyond_seconds", outlier->place_seconds);
        json_real(writer, "around_seconds", outlier->around_seconds);
        json_real(writer, "share", outlier->share);
        json_real(writer, "peers_share", outlier->peers_share);
    }
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
    for (size_t i = 0; i < result->busy_count; i++) {
        json_begin(&writer, NULL, '{');
        json_text(&writer, "profile", result->busy[i].profile);
        json_real(&writer, "common_factor", result->busy[i].common_factor);
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    json_end(&writer, '}');
}
