/* The page of a report, in the order in which people read: what to look at first; then what is behind it. Sentences and
 * tables are those of osprof show, by the same functions. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "answer_page.h"
#include "base.h"
#include "command.h"
#include "facts_text.h"
#include "html.h"
#include "layers.h"
#include "layers_page.h"
#include "output.h"
#include "picture.h"
#include "plot_bins.h"
#include "report_assets.h"
#include "screen.h"
#include "show.h"
#include "time_bar.h"
#include "why_page.h"

enum {
    BINS_MAX = 160,
    BINS_OF_TABLES = 16,
    CELLS_MAX = 16000,
    GROUP_ROWS_MAX = 15,
    PICTURED_OPS_MAX = 20, /* with a map and a histogram; all are in the table */
    MAPS_SHOWN = 3,        /* the others unfold */
};

struct page {
    const struct report *report;
    const struct aggstats_profile *profile;
    struct screen screen;
    FILE *stream;
    struct show_parts *parts;
    struct plot plot;
    struct plot pair; /* A, and B over it; of no profiles: there is none */
};

#define LATENCY_WORDS "p50: half of the calls had at most this latency."
#define MAX_WORDS " mean: the total divided by the calls that ended. max: the longest call; after <, an upper bound."

/* ---- Sections ----------------------------------------------------------------------------------- */

static bool is_compared(const struct page *page) {
    return page->report->comparison || page->report->verdict;
}

static int put_changed(const struct page *page) {
    if (page->report->verdict) {
        struct verdict_page verdict = *page->report->verdict;
        verdict.is_headed_by_time = true;
        verdict_page_print_parts(&verdict, true, false, &page->screen);
        html_put_block(page->stream, "p", "about",
                       "B/A is how many times as much B has; in brackets the interval of 95 % of that.");
    } else {
        comparison_print_parts(page->report->comparison, true, false, &page->screen);
    }
    return 0;
}

static bool has_changes(const struct page *page) {
    if (page->report->verdict)
        return page->report->verdict->result->op_count > 0 &&
               verdict_is_change(page->report->verdict->result->ops[0].word);
    return page->report->comparison && page->report->comparison->result->different_count > 0;
}

/* The picture of an operation; only the most expensive operations have pictures. */
static void put_pair(const void *context, const char *op) {
    const struct page *page = context;
    const struct plot_bars bars = plot_bars_over(&page->pair);
    for (size_t i = 0; i < page->pair.op_count; i++)
        if (strcmp(page->pair.ops[i].name, op) == 0)
            picture_histogram(&page->pair, &bars, i, page->stream);
}

static int put_changes(const struct page *page) {
    const struct chart_pictures pictures = {put_pair, page};
    html_put_block(page->stream, "p", "about",
                   "Calls by latency, both logarithmic: bars are A, the older, and the outline is B.");
    if (page->report->verdict) {
        struct verdict_page verdict = *page->report->verdict;
        verdict.pictures = &pictures;
        verdict_page_print_parts(&verdict, false, true, &page->screen);
    } else {
        struct comparison comparison = *page->report->comparison;
        comparison.pictures = &pictures;
        comparison_print_parts(&comparison, false, true, &page->screen);
    }
    return 0;
}

static int put_slow_calls(const struct page *page) {
    const struct why_page_options options = {.ops = {0}};
    show_part(page->parts, SHOW_IN_FLIGHT);
    if (why_page_has_any(page->profile))
        why_page_print(page->profile, &options, &page->screen);
    return 0;
}

static int put_time(const struct page *page) {
    fputs(page->report->subject->time, page->stream);
    return 0;
}

static int put_first(const struct page *page) {
    show_part(page->parts, SHOW_ANSWER);
    if (page->profile->op_count > 0)
        html_put_block(page->stream, "p", "about", LATENCY_WORDS MAX_WORDS);
    return 0;
}

static int put_operations(const struct page *page) {
    show_part(page->parts, SHOW_TABLE);
    html_put_block(page->stream, "p", "about", LATENCY_WORDS " p99: 99 % of the calls had." MAX_WORDS);
    return 0;
}

static int put_layers(const struct page *page) {
    fputs(page->report->subject->layers, page->stream);
    return 0;
}

static int put_maps(const struct page *page) {
    const struct plot *plot = &page->plot;
    struct plot_cells cells = {.cells = NULL};
    struct plot_cells few = {.cells = NULL}; /* for tables */
    int error = plot_cells_init(plot, BINS_MAX, CELLS_MAX, &cells);
    if (error)
        return error == -ENODATA ? 0 : error;
    error = plot_cells_init(plot, BINS_OF_TABLES, CELLS_MAX, &few);
    if (!error) {
        picture_map_key(plot, &cells, page->stream);
        fputs("<div id=\"zoom\" class=\"zoom\" hidden>Zoom all maps, also by dragging a mouse over one: </div>\n",
              page->stream);
    }
    for (size_t i = 0; i < plot->op_count && !error; i++) {
        if (i == MAPS_SHOWN)
            fprintf(page->stream, "<details><summary>%zu more operation%s over time</summary>\n", plot->op_count - i,
                    units_plural(plot->op_count - i));
        html_put_block(page->stream, "h3", NULL, plot->ops[i].name);
        picture_map(plot, &cells, &few, i, page->stream);
    }
    fputs(!error && plot->op_count > MAPS_SHOWN ? "</details>\n" : "", page->stream);
    plot_cells_finish(&few);
    plot_cells_finish(&cells);
    return error;
}

static int put_histograms(const struct page *page) {
    const struct plot *plot = &page->plot;
    const struct plot_bars bars = plot_bars_over(plot);
    html_put_block(page->stream, "p", "about",
                   "Calls by latency, both logarithmic, on the same axes for all operations.");
    for (size_t i = 0; i < plot->op_count; i++) {
        html_put_block(page->stream, "h3", NULL, plot->ops[i].name);
        show_part_op(page->parts, plot->ops[i].of[0]);
        picture_histogram(plot, &bars, i, page->stream);
    }
    return 0;
}

/* before: the command whose arguments the label has. A sum has those of several commands in one label. */
static void put_typed(const struct page *page, const char *before, const char *key) {
    const char *label = aggstats_profile_label(page->profile, key);
    if (aggstats_profile_has_list(page->profile, key))
        return;
    fprintf(page->stream, "<p>Again, %s: <code>%s",
            answer_next_can_be_typed(label) ? "as far as this profile tells"
                                            : "with quotes as they were, which this profile does not have",
            before);
    html_put(page->stream, label);
    fputs("</code></p>\n", page->stream);
}

/* How a profile of each layer is made. */
static int put_again(const struct page *page) {
    const char *command = aggstats_profile_label(page->profile, "command");
    const char *attached = aggstats_profile_label(page->profile, "attached");
    const char *lower = aggstats_profile_label(page->profile, "lower");
    const char *mount = aggstats_profile_label(page->profile, "mount");
    const char *layer = aggstats_profile_label(page->profile, "layer");
    const bool is_one = lower && !aggstats_profile_has_list(page->profile, "lower");
    CLEANUP_FREE char *from = is_one ? answer_next_quote(lower) : NULL;
    CLEANUP_FREE char *to = mount ? answer_next_quote(mount) : strdup("MOUNTPOINT");
    if (command) {
        put_typed(page, layer && strcmp(layer, "fs") == 0 ? "osprof run --layers fs -- " : "osprof run -- ", "command");
    } else if (attached) {
        put_typed(page, "osprof attach ", "attached");
    } else if (from && to) {
        fputs("<p>Again, as far as this profile tells: <code>osproffs ", page->stream);
        html_put(page->stream, from);
        putc(' ', page->stream);
        html_put(page->stream, to);
        fputs("</code></p>\n", page->stream);
    }
    if (!page->report->again || !page->report->again->page[0])
        return 0;
    fputs("<p>This page, from what was recorded: <code>", page->stream);
    html_put(page->stream, page->report->again->page);
    fputs("</code>; as text: <code>", page->stream);
    html_put(page->stream, page->report->again->text);
    fputs("</code></p>\n", page->stream);
    return 0;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* What the page is about: a command, or a directory. */
static const char *title_of(const struct page *page) {
    static const char *const keys[] = {"command", "attached", "lower", "mount"};
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char *value = aggstats_profile_label(page->profile, keys[i]);
        if (value && value[0])
            return value;
    }
    return page->report->name;
}

/* The first of them that is there is followed by the table of contents. */
static int put_sections(const struct page *page) {
    const struct aggstats_profile *profile = page->profile;
    const bool has_slow_calls = profile->in_flight_count > 0 || why_page_has_any(profile);
    const bool has_ops = page->plot.op_count > 0; /* with pictures */
    const char *of_b = is_compared(page) ? " (B)" : "";
    const struct {
        const char *id;
        const char *title;
        const char *title_end;
        bool is_there;
        int (*put)(const struct page *page); /* NULL: it is a part of the page of osprof show */
        enum show_part part;
    } sections[] = {
        {"changed", "What has changed from A to B", "", is_compared(page), put_changed},
        {"wall", page->report->subject->time_title, of_b, page->report->subject->time != NULL, put_time},
        {"first", "What to look at first", of_b, true, put_first},
        {"changes", "Each operation that changed", "", has_changes(page), put_changes},
        {"time", "Over time", of_b, profile->interval_count > 1 && has_ops, put_maps},
        {"layers", "Layers", of_b, page->report->subject->layers != NULL, put_layers},
        {"operations", "Operations", of_b, profile->op_count > 0, put_operations},
        {"slow", "Slow calls, and what they waited for", of_b, has_slow_calls, put_slow_calls},
        {"whose", "Files, programs, containers", of_b, profile->group_count > 0, NULL, SHOW_GROUPS},
        {"latency", "Latencies", of_b, has_ops, put_histograms},
        {"values", "What peaks have in common", of_b, profile->joint_count > 0, NULL, SHOW_JOINTS},
        {"machine", "What was profiled, and where", of_b, true, NULL, SHOW_HEADING},
        {"again", "How to get this again", "", true, put_again},
    };
    bool has_contents = false;
    int error = 0;
    for (size_t i = 0; i < ARRAY_SIZE(sections) && !error; i++) {
        const char *id = sections[i].id;
        if (!sections[i].is_there)
            continue;
        fprintf(page->stream, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s%s</h2>\n", id,
                id, id, sections[i].title, sections[i].title_end);
        if (sections[i].put)
            error = sections[i].put(page);
        else
            show_part(page->parts, sections[i].part);
        fputs("</section>\n", page->stream);
        if (has_contents)
            continue;
        has_contents = true;
        fputs("<nav aria-label=\"Sections\">", page->stream);
        for (size_t other = 0; other < ARRAY_SIZE(sections); other++)
            if (sections[other].is_there)
                fprintf(page->stream, "<a href=\"#%s\">%s%s</a>", sections[other].id, sections[other].title,
                        sections[other].title_end);
        fputs("</nav>\n", page->stream);
    }
    return error;
}

static void put_exit(const struct page *page) {
    const struct aggstats_exit *exit = &page->profile->exit;
    CLEANUP_STR struct str text = {0};
    facts_text_add_exit(&text, page->profile);
    if (text.length == 0)
        return;
    fprintf(page->stream, "<p class=\"%s\">Exit%s: ", exit->status > 0 || exit->signal > 0 ? "warning" : "about",
            is_compared(page) ? " of B" : "");
    html_put(page->stream, str_text(&text));
    fputs("</p>\n", page->stream);
}

/* Nothing but what is in the page: its own style, its own script. */
static int put_page(const struct page *page) {
    const size_t count = page->report->subject->count;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '" REPORT_STYLE_HASH
          "'; script-src '" REPORT_SCRIPT_HASH "'; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"osprof " OSPROF_VERSION "\">\n<title>",
          page->stream);
    html_put(page->stream, title_of(page));
    fputs(" - osprof report</title>\n<style>" REPORT_STYLE "</style>\n</head>\n<body>\n<header>\n<h1>", page->stream);
    html_put(page->stream, title_of(page));
    fprintf(page->stream, "</h1>\n<p class=\"about\">%s",
            is_compared(page) ? "what has changed, and where the file-system time of B went"
                              : "where its file-system time went");
    if (count > 1)
        fprintf(page->stream, ", of %zu profiles, added up", count);
    fputs("</p>\n", page->stream);
    put_exit(page);
    fputs("</header>\n<main>\n", page->stream);
    int error = put_sections(page);
    fputs("</main>\n<script>" REPORT_SCRIPT "</script>\n</body>\n</html>\n", page->stream);
    return error;
}

/* Chooses the operations of a figure that have pictures. */
static int choose_ops(struct plot *plot) {
    const struct option_list all = {0};
    int error = plot_ops_choose(plot, &all);
    plot->op_count = plot->op_count < PICTURED_OPS_MAX ? plot->op_count : PICTURED_OPS_MAX;
    return error;
}

static int write_page(const void *context, FILE *stream) {
    const struct report *report = context;
    const struct input *input = &report->subject->input;
    struct page page = {
        .report = report, .profile = &input->profile, .screen = screen_of_html(stream), .stream = stream};
    const struct show_options options = {
        .group_rows_max = GROUP_ROWS_MAX,
        .how_all_groups = "osprof show --by has them all",
        .source = {.layer = report->subject->layer, .is_live = input->is_live && input->live.recording},
        .warning = report->subject->warning[0] ? report->subject->warning : NULL,
    };
    struct aggstats_profile profile = input->profile; /* shares all with it, as the two below */
    struct aggstats_profile older = {0};
    struct aggstats_profile newer = {0};
    int error = show_parts_init(input, &options, &page.screen, &page.parts);
    if (error)
        return error;
    page.plot = (struct plot){.profiles = {&profile}, .names = {report->name}, .profile_count = 1};
    error = choose_ops(&page.plot);
    if (!error && is_compared(&page)) {
        older = report->verdict ? report->verdict->result->a_sum : report->comparison->result->a;
        newer = report->verdict ? report->verdict->result->b_sum : report->comparison->result->b;
        older.clock = newer.clock; /* they have been brought to one rate, to a thousandth */
        page.pair = (struct plot){.profiles = {&older, &newer}, .names = {"A", "B"}, .profile_count = 2};
        error = choose_ops(&page.pair);
    }
    if (!error)
        error = put_page(&page);
    free(page.plot.ops);
    free(page.pair.ops);
    show_parts_finish(page.parts);
    return error;
}

int report_make(const struct report *report, char **ret_page, size_t *ret_size_bytes) {
    int error = output_format(write_page, report, ret_page, ret_size_bytes);
    if (error)
        complain("cannot report on %s: %s", report->name, strerror(-error));
    return error;
}

int report_deliver(const struct report *report, const char *path, const char *default_path) {
    CLEANUP_FREE char *page = NULL;
    size_t size_bytes = 0;
    int error = report_make(report, &page, &size_bytes);
    if (error)
        return error;
    return output_deliver(path, default_path, report->subject->mode, page, size_bytes) ? 0 : -EIO;
}

/* ---- Commands ----------------------------------------------------------------------------------- */

static void add_names(struct str *text, char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *quoted = answer_next_quote(names[i]);
        text->failed |= !quoted;
        str_addf(text, " %s", quoted ? quoted : "");
    }
}

void report_format_again(char *const *a, size_t a_count, char *const *b, size_t b_count, const char *options,
                         struct report_again *ret_again) {
    const bool is_sum = a_count == 0 && b_count > 1;
    const char *const commands[] = {"osprof report", a_count > 0 ? "osprof compare"
                                                     : is_sum    ? "osprof save"
                                                                 : "osprof show"};
    char *texts[] = {ret_again->page, ret_again->text};
    bool is_whole = true;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const bool is_pair = i == 1 && a_count == 1 && b_count == 1;
        CLEANUP_STR struct str text = {0};
        str_addf(&text, "%s%s%s", commands[i], options[0] ? " " : "", options);
        add_names(&text, a, a_count);
        str_add(&text, a_count == 0 || is_pair ? "" : " --");
        add_names(&text, b, b_count);
        str_add(&text, i == 1 && is_sum ? " | osprof show -" : "");
        is_whole &= !text.failed && text.length < REPORT_AGAIN_SIZE;
        snprintf(texts[i], REPORT_AGAIN_SIZE, "%s", str_text(&text));
    }
    if (!is_whole)
        ret_again->page[0] = '\0';
}

/* ---- The subject -------------------------------------------------------------------------------- */

static int copy_input(const struct input *input, struct input *ret_copy) {
    *ret_copy = *input;
    ret_copy->profile = (struct aggstats_profile){0};
    ret_copy->layers = (struct recording){0};
    int error = input->layers.count > 0 ? 0 : aggstats_profile_copy(&input->profile, &ret_copy->profile);
    for (size_t i = 0; i < input->layers.count && !error; i++) {
        struct aggstats_profile copy = {0};
        error = aggstats_profile_copy(&input->layers.layers[i], &copy);
        if (!error)
            error = recording_add(&ret_copy->layers, &copy);
        aggstats_profile_finish(&copy);
    }
    return error;
}

static int add_to_sums(struct subject *subject, const char *name, const struct input *input) {
    int error = 0;
    for (size_t i = 0; i < input->layers.count && !error; i++)
        error = layer_sums_add(&subject->sums, name, &input->layers.layers[i]);
    return input->layers.count > 0 ? error : layer_sums_add(&subject->sums, name, &input->profile);
}

/* The first is kept as it is, with all that a sum does not have, until there is a second. */
int subject_add(struct subject *subject, const char *name, const struct input *input) {
    int error = 0;
    if (subject->count++ == 0) {
        error = copy_input(input, &subject->input);
        if (error)
            complain("cannot report on %s: %s", name, strerror(-error));
        return error;
    }
    if (subject->count == 2) {
        error = add_to_sums(subject, name, &subject->input);
        input_finish(&subject->input);
        subject->input = (struct input){0};
    }
    return error ? error : add_to_sums(subject, name, input);
}

static int take_sum(struct subject *subject) {
    struct recording sum = {0};
    int error = layer_sums_result(&subject->sums, &sum);
    if (!error && sum.count > 1) {
        subject->input.layers = sum;
        return 0;
    }
    if (!error) {
        subject->input.profile = sum.layers[0];
        sum.count = 0;
    }
    recording_finish(&sum);
    return error;
}

static int write_layers(const void *recording, FILE *stream) {
    const struct screen screen = screen_of_html(stream);
    const struct layers_page layers = {.recording = recording};
    return layers_page_print(&layers, &screen);
}

struct timed {
    const struct aggstats_profile *profile;
    const char *layer;
    struct time_parts parts;
};

static int write_time(const void *context, FILE *stream) {
    const struct timed *timed = context;
    time_bar_put(timed->profile, &timed->parts, timed->layer, stream);
    return 0;
}

/* Makes the bar of a profile. layer: as for time_bar_put(). Errors: reported to the user */
static int make_time(const char *name, struct subject *subject, const struct aggstats_profile *profile,
                     const char *layer) {
    const struct timed timed = {profile, layer, time_bar_parts(profile)};
    size_t size_bytes;
    subject->time_title = time_bar_title(&timed.parts);
    int error = timed.parts.count > 0 ? output_format(write_time, &timed, &subject->time, &size_bytes) : 0;
    if (error)
        complain("cannot report on %s: %s", name, strerror(-error));
    return error;
}

/* The layer user of a run has the CPU time of the command, which others do not have. */
static int make_time_of_user(const char *name, struct subject *subject) {
    const struct recording *layers = &subject->input.layers;
    const size_t user = recording_find(layers, "user");
    const bool is_shown = user == 0 && recording_find(layers, "fs") == layers->count;
    if (user == layers->count)
        return 0;
    return make_time(name, subject, &layers->layers[user], is_shown ? NULL : layers_title("user"));
}

int subject_settle(struct subject *subject, const char *name, struct input_layer *layer) {
    const struct recording *layers = &subject->input.layers;
    int error = subject->count > 1 ? take_sum(subject) : 0;
    if (!error && layers->count > 0) {
        size_t size_bytes;
        error = output_format(write_layers, layers, &subject->layers, &size_bytes);
        if (error)
            complain("cannot report on %s: %s", name, strerror(-error));
    }
    subject->mode = output_mode(&subject->input.profile);
    for (size_t i = 0; i < layers->count; i++)
        subject->mode &= output_mode(&layers->layers[i]);
    if (!error && layers->count > 0 && !layer->name)
        error = make_time_of_user(name, subject);
    if (!error)
        error = input_choose(name, layer, &subject->input);
    if (error)
        return error;
    const struct daemon_state daemon = daemon_state_find(&subject->input);
    if (!daemon_state_warn(&daemon, subject->warning))
        subject->warning[0] = '\0';
    subject->layer = subject->layers ? aggstats_profile_label(&subject->input.profile, "layer") : NULL;
    in_flight_find_out(&subject->input);
    return subject->time ? 0 : make_time(name, subject, &subject->input.profile, NULL);
}

void subject_finish(struct subject *subject) {
    input_finish(&subject->input);
    layer_sums_finish(&subject->sums);
    free(subject->layers);
    free(subject->time);
}
