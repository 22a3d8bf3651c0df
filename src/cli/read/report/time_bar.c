/* The bar, and the table of its parts. Colours are classes of the style sheet: the page's policy allows no others. */
#include "time_bar.h"

#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "html.h"
#include "layers.h"
#include "str.h"
#include "units.h"

enum { BAR_WIDTH = 480, BAR_HEIGHT = 28 }; /* units of the picture's box, which is as wide as there is room */

struct time_bar {
    const struct aggstats_profile *profile;
    const struct time_parts *parts;
    const char *layer; /* NULL: as the rest of the page */
    struct units units;
    FILE *page;
};

struct time_parts time_bar_parts(const struct aggstats_profile *profile) {
    struct answer_model model;
    struct time_parts parts;
    answer_model_make(profile, NULL, 0, &model);
    time_parts_make(profile, &model, &parts);
    return parts;
}

const char *time_bar_title(const struct time_parts *parts) {
    return parts->is_wall ? "Where the wall time went" : "Where the latency is";
}

/* ---- Texts -------------------------------------------------------------------------------------- */

/* "calls", or "requests" where no program calls. */
static const char *noun_of(const struct aggstats_profile *profile) {
    const enum layer layer = layers_of_name(layers_name(profile));
    return layer == LAYER_IS_USER || layer == LAYER_IS_FS || layer == LAYER_IS_OTHER ? "calls" : "requests";
}

/* As time if the clock's rate is known. */
static struct units_text time_of(const struct time_bar *bar, double cycles) {
    struct units_text time = units_cycles(&bar->units, cycles);
    if (bar->units.frequency_hz == 0)
        snprintf(time.text + strlen(time.text), sizeof(time.text) - strlen(time.text), " cycles");
    return time;
}

static void add_name(const struct time_bar *bar, const struct time_part *part, struct str *text) {
    static const char *const names[] = {
        [TIME_QUEUE] = "waiting for a CPU",
        [TIME_CPU_OR_WAITS] = "on a CPU, or waiting",
        [TIME_WAITS] = "other waits",
        [TIME_QUEUE_WAITS] = "waiting for a CPU, and other waits",
    };
    const bool is_below_mount = layers_of_name(layers_name(bar->profile)) == LAYER_IS_FS;
    if (part->kind == TIME_OP)
        str_add(text, part->op->name);
    else if (part->kind == TIME_OTHER_OPS)
        str_addf(text, "%zu other operations", part->op_count);
    else if (part->kind == TIME_CPU)
        str_addf(text, "on a CPU outside of %s", noun_of(bar->profile));
    else if (part->kind != TIME_OUTSIDE)
        str_add(text, names[part->kind]);
    else if (bar->parts->has_unmeasured)
        str_addf(text, "outside of measured %s", noun_of(bar->profile));
    else
        str_addf(text, is_below_mount ? "outside of the lower file system" : "outside of %s", noun_of(bar->profile));
}

static void add_time(const struct time_bar *bar, const struct time_part *part, struct str *text) {
    static const char *const bounds[] = {[TIME_EXACT] = "", [TIME_AT_MOST] = "at most ", [TIME_AT_LEAST] = "at least "};
    str_addf(text, "%s%s", bounds[part->bound], time_of(bar, part->cycles).text);
}

static struct units_text share_of(const struct time_bar *bar, const struct time_part *part) {
    return units_share(part->cycles / bar->parts->whole_cycles);
}

/* "of which at most 1.64 s (27.8 %) were in file system calls" */
static void add_calls(const struct time_bar *bar, struct str *text) {
    static const char *const in[] = {
        [LAYER_IS_FS] = "calls to the lower file system", [LAYER_IS_BLOCK] = "requests to disks"};
    const struct time_parts *parts = bar->parts;
    const enum layer layer = layers_of_name(layers_name(bar->profile));
    struct time_part calls = {.cycles = 0};
    for (size_t i = 0; i < parts->count && parts->parts[i].kind <= TIME_OTHER_OPS; i++) {
        calls.bound = parts->parts[i].bound;
        calls.cycles += parts->parts[i].cycles;
    }
    if (calls.cycles == 0)
        return;
    str_add(text, ", of which ");
    add_time(bar, &calls, text);
    str_addf(text, " (%s) were in %s", share_of(bar, &calls).text,
             layer == LAYER_IS_FS || layer == LAYER_IS_BLOCK  ? in[layer]
             : strcmp(noun_of(bar->profile), "requests") == 0 ? "requests"
                                                              : "file system calls");
    if (calls.bound != TIME_EXACT)
        str_add(text,
                ". The time of an operation is its latency summed over threads: an upper bound, because calls may "
                "overlap");
}

/* What the bar is of, and what its bounds are bounds of. */
static void put_explanation(const struct time_bar *bar) {
    const struct time_parts *parts = bar->parts;
    const struct aggstats_profile *profile = bar->profile;
    const uint64_t runs = profile->has_runs ? profile->runs : profile->merged;
    const char *noun = noun_of(profile);
    CLEANUP_STR struct str text = {0};
    str_addf(&text, parts->is_wall ? "The bar is the wall time, %s" : "The bar is latency summed over threads, %s",
             time_of(bar, parts->whole_cycles).text);
    if (runs > 1)
        str_addf(&text, " of %s %s", units_count(runs).text, profile->has_runs ? "runs" : "profiles");
    if (parts->is_wall)
        add_calls(bar, &text);
    else if (profile->has_elapsed)
        str_addf(&text, " within %s of wall time: %s overlap", time_of(bar, (double)profile->elapsed_cycles).text,
                 noun);
    else
        str_add(&text, "; the wall time is not known");
    str_add(&text, ".");
    if (bar->layer)
        str_addf(&text, " It is of the layer %s.", bar->layer);
    if (parts->queued_most > 0)
        str_addf(&text, " Waiting for a CPU: at most %s.", time_of(bar, parts->queued_most).text);
    if (parts->has_unmeasured && parts->is_wall)
        str_addf(&text, " Outside of measured %s are also those that were not measured, or have not ended.", noun);
    html_put_block(bar->page, "p", "about", str_text(&text));
}

/* ---- The bar ------------------------------------------------------------------------------------ */

/* The class of a part: operations have colours by their place. */
static void put_class(const struct time_bar *bar, size_t i) {
    static const char *const classes[] = {
        [TIME_OTHER_OPS] = "part-others",   [TIME_CPU] = "part-cpu",     [TIME_QUEUE] = "part-queue",
        [TIME_CPU_OR_WAITS] = "part-mixed", [TIME_WAITS] = "part-waits", [TIME_QUEUE_WAITS] = "part-waits",
        [TIME_OUTSIDE] = "part-waits",
    };
    const enum time_part_kind kind = bar->parts->parts[i].kind;
    if (kind != TIME_OP)
        fputs(classes[kind], bar->page);
    else if (i < TIME_PARTS_OPS_MAX)
        fprintf(bar->page, "part-%zu", i + 1);
    else
        fputs("part-others", bar->page);
}

/* For those who cannot see it: what it is, and where its figures are. */
static void put_svg(const struct time_bar *bar) {
    const struct time_parts *parts = bar->parts;
    double begin = 0;
    fprintf(bar->page,
            "<svg class=\"parts\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s, as a bar; figures follow\">\n",
            BAR_WIDTH, BAR_HEIGHT, time_bar_title(parts));
    for (size_t i = 0; i < parts->count; i++) {
        const struct time_part *part = &parts->parts[i];
        const double width = BAR_WIDTH * part->cycles / parts->whole_cycles;
        CLEANUP_STR struct str text = {0};
        add_name(bar, part, &text);
        str_add(&text, ": ");
        add_time(bar, part, &text);
        str_addf(&text, ", %s", share_of(bar, part).text);
        fputs("<rect class=\"", bar->page);
        put_class(bar, i);
        fprintf(bar->page, "\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\">", begin, width, BAR_HEIGHT);
        html_put_block(bar->page, "title", NULL, str_text(&text));
        fputs("</rect>\n", bar->page);
        begin += width;
    }
    fputs("</svg>\n", bar->page);
}

static void put_table(const struct time_bar *bar) {
    fprintf(bar->page,
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table class=\"parts\">\n<tr><th "
            "scope=\"col\">part</th><th scope=\"col\" class=\"number\">time</th>"
            "<th scope=\"col\" class=\"number\">%s</th></tr>\n",
            bar->parts->is_wall ? "% of wall time" : "% of latency");
    for (size_t i = 0; i < bar->parts->count; i++) {
        const struct time_part *part = &bar->parts->parts[i];
        CLEANUP_STR struct str name = {0};
        CLEANUP_STR struct str time = {0};
        add_name(bar, part, &name);
        add_time(bar, part, &time);
        fputs("<tr><th scope=\"row\"><svg class=\"swatch\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"",
              bar->page);
        put_class(bar, i);
        fputs("\" width=\"1\" height=\"1\"/></svg> ", bar->page);
        html_put(bar->page, str_text(&name));
        fprintf(bar->page, "</th><td class=\"number\">%s</td><td class=\"number\">%s</td></tr>\n", str_text(&time),
                share_of(bar, part).text);
    }
    fputs("</table></div>\n", bar->page);
}

void time_bar_put(const struct aggstats_profile *profile, const struct time_parts *parts, const char *layer,
                  FILE *page) {
    const struct time_bar bar = {.profile = profile,
                                 .parts = parts,
                                 .layer = layer,
                                 .units = {.frequency_hz = profile->clock.frequency_hz},
                                 .page = page};
    fputs("<figure>\n", page);
    put_svg(&bar);
    put_table(&bar);
    fputs("</figure>\n", page);
    put_explanation(&bar);
}
