/* The metrics of profiles: families and samples. */
#include "metrics_model.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/user_label.h"
#include "aggstats/why.h"
#include "base.h"
#include "views_private.h"

#define OTHER_CAUSES "other causes" /* as in recorders */

/* ---- Labels ------------------------------------------------------------------------------------- */

/* Replaces characters that a terminal obeys by '?'. Owner: the caller frees it */
static char *harmless(const char *value) {
    const char *character;
    size_t length, size_bytes = 0;
    char *copy = malloc(3 * strlen(value) + 1); /* an invalid byte of UTF-8 becomes three */
    if (!copy)
        return NULL;
    while ((length = next_character(&value, &character)) > 0) {
        if (*character != '\n' && is_obeyed_by_terminals(character, length)) {
            copy[size_bytes++] = '?';
            continue;
        }
        memcpy(copy + size_bytes, character, length);
        size_bytes += length;
    }
    copy[size_bytes] = '\0';
    return copy;
}

bool view_is_same_in_metrics(const char *a, const char *b) {
    CLEANUP_FREE char *of_a = harmless(a ? a : "");
    CLEANUP_FREE char *of_b = harmless(b ? b : "");
    return of_a && of_b && strcmp(of_a, of_b) == 0;
}

static int add_label(struct metrics_labels *labels, const char *prefix, const char *name, const char *value) {
    struct metrics_label label = {.value = harmless(value)};
    struct metrics_label *grown = reallocarray(labels->labels, labels->count + 1, sizeof(*grown));
    if (grown)
        labels->labels = grown;
    if (!label.value || !grown || asprintf(&label.name, "%s%s", prefix, name) < 0) {
        free(label.value);
        return -ENOMEM;
    }
    labels->labels[labels->count++] = label;
    return 0;
}

/* Adds the profile's labels that have one of these keys. */
static int add_labels_of(struct metrics_labels *labels, const struct aggstats_profile *profile, const char *const *keys,
                         size_t count) {
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        const char *value = aggstats_profile_label(profile, keys[i]);
        if (value)
            error = add_label(labels, "", keys[i], value);
    }
    return error;
}

/* Adds the user's labels: KEY becomes label_KEY, as in kube-state-metrics; none of our labels begins so. Only the info
 * has them, so that a series goes on when one of them changes. */
static int add_user_labels(struct metrics_labels *labels, const struct aggstats_profile *profile) {
    int error = 0;
    for (size_t i = 0; i < profile->label_count && !error; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        const char *key = user_label_of_key(label->key);
        if (key && aggstats_profile_label(profile, label->key) == label->value) /* if a key occurs twice, the first */
            error = add_label(labels, "label_", key, label->value);
    }
    return error;
}

static void labels_finish(struct metrics_labels *labels) {
    for (size_t i = 0; i < labels->count; i++) {
        free(labels->labels[i].name);
        free(labels->labels[i].value);
    }
    free(labels->labels);
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

static const char *label_of(const struct metrics_labels *labels, size_t i) {
    assert(i < labels->count && labels->labels);
    return labels->labels[i].value;
}

/* Finds the series with equal labels; the values have no control characters. NULL: there is none */
static struct metrics_wait *find_wait(const struct metrics_subject *subject, const struct metrics_labels *labels) {
    for (size_t i = 0; i < subject->wait_count; i++) {
        size_t same = 0;
        while (same < labels->count && strcmp(label_of(&subject->waits[i].labels, same), label_of(labels, same)) == 0)
            same++;
        if (same == labels->count)
            return &subject->waits[i];
    }
    return NULL;
}

static int add_wait(struct metrics_subject *subject, const struct view_wait *wait) {
    struct metrics_labels labels = {.count = 0};
    int error = add_label(&labels, "", "cause", wait->cause);
    if (!error)
        error = add_label(&labels, "", "class", wait->class);
    if (!error)
        error = add_label(&labels, "", "program", wait->program);
    struct metrics_wait *found = error ? NULL : find_wait(subject, &labels);
    if (error || found) {
        labels_finish(&labels);
    } else {
        found = &subject->waits[subject->wait_count++];
        *found = (struct metrics_wait){.labels = labels};
    }
    if (found) {
        found->waits += wait->waits;
        found->seconds += wait->seconds;
    }
    return error;
}

static int add_cause(struct metrics_causes *causes, const struct aggstats_cause *added, const char *text) {
    CLEANUP_FREE char *label = harmless(text);
    size_t i = 0;
    if (!label)
        return -ENOMEM;
    while (i < causes->count &&
           (strcmp(causes->causes[i].op, added->op) != 0 || strcmp(causes->causes[i].text, label) != 0))
        i++;
    if (i == causes->count) {
        if (grow_array(&causes->causes, causes->count, sizeof(*causes->causes)) < 0)
            return -ENOMEM;
        causes->causes[causes->count++] = (struct metrics_cause){.op = added->op, .text = steal_pointer(&label)};
    }
    causes->causes[i].calls += added->calls;
    causes->causes[i].total_cycles += (double)added->total_cycles;
    return 0;
}

/* Causes as series: one for each op and label; causes with equal labels are added up. Causes that did not fit in the
 * recorder are not counted, so that all its other causes fit here. */
static int add_causes(struct metrics_causes *causes, const struct aggstats_profile *profile) {
    size_t named = 0;
    int error = 0;
    for (size_t i = 0; i < profile->cause_count && !error; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        char text[AGGSTATS_WHY_TEXT_SIZE];
        bool is_other = cause->why.kind == AGGSTATS_CAUSE_REST || named == METRICS_CAUSES_MAX;
        named += !is_other;
        error = add_cause(causes, cause, is_other ? OTHER_CAUSES : aggstats_why_text(&cause->why, text));
    }
    return error;
}

/* After an error the caller must still finish *subject. */
static int subject_init(struct metrics_subject *subject, const struct view_target *target) {
    static const char *const common[] = {"layer", "host", "mount"};
    static const char *const info[] = {"lower", "cache", "data", "locks"};
    const struct aggstats_profile *profile = target->profile;
    const char *clock = aggstats_clock_name(profile->clock.kind);
    char resolution[16];
    if (target->is_up && !aggstats_resolution_valid(profile->resolution))
        return -EINVAL;
    if (target->is_up && !view_has_seconds(profile))
        return -EDOM;
    subject->profile = profile;
    subject->is_up = target->is_up;
    subject->is_stuck = target->is_stuck;
    subject->knows_waiting = target->knows_waiting;
    subject->waiting = target->waiting;
    int error = add_labels_of(&subject->common, profile, common, ARRAY_SIZE(common));
    if (!error && target->waits) {
        subject->waits = calloc(target->wait_count + 1, sizeof(*subject->waits));
        error = subject->waits ? 0 : -ENOMEM;
        for (size_t i = 0; i < target->wait_count && !error; i++)
            error = add_wait(subject, &target->waits[i]);
    }
    if (error || target->waits || !target->is_up)
        return error;
    error = add_labels_of(&subject->info, profile, info, ARRAY_SIZE(info));
    if (!error)
        error = add_user_labels(&subject->info, profile);
    if (!error)
        error = add_causes(&subject->causes, profile);
    snprintf(resolution, sizeof(resolution), "%u", profile->resolution);
    if (!error)
        error = add_label(&subject->info, "", "resolution", resolution);
    return error || !clock ? error : add_label(&subject->info, "", "clock", clock);
}

int metrics_model_init(struct metrics_model *ret_model, const struct view_target *targets, size_t count) {
    struct metrics_model model = {
        .subjects = calloc(count + 1, sizeof(*model.subjects)), .count = count, .tells_up = true};
    if (!model.subjects)
        return -ENOMEM;
    int error = 0;
    for (size_t i = 0; i < count && !error; i++) {
        error = subject_init(&model.subjects[i], &targets[i]);
        model.has_waits |= targets[i].waits != NULL;
    }
    if (error)
        metrics_model_finish(&model);
    else
        *ret_model = model;
    return error;
}

int metrics_model_init_one(struct metrics_model *ret_model, const struct aggstats_profile *profile) {
    const struct view_target target = {.profile = profile, .is_up = true};
    int error = metrics_model_init(ret_model, &target, 1);
    if (!error)
        ret_model->tells_up = false;
    return error;
}

void metrics_model_finish(struct metrics_model *model) {
    for (size_t i = 0; i < model->count && model->subjects; i++) {
        labels_finish(&model->subjects[i].common);
        labels_finish(&model->subjects[i].info);
        for (size_t cause = 0; cause < model->subjects[i].causes.count; cause++)
            free(model->subjects[i].causes.causes[cause].text);
        free(model->subjects[i].causes.causes);
        for (size_t wait = 0; wait < model->subjects[i].wait_count; wait++)
            labels_finish(&model->subjects[i].waits[wait].labels);
        free(model->subjects[i].waits);
    }
    free(model->subjects);
    *model = (struct metrics_model){0};
}

/* ---- Values ------------------------------------------------------------------------------------- */

static double calls_in_flight(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    return (double)(op->calls - view_finished(profile, op) - op->left_calls);
}

static double oldest_seconds(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t oldest_cycles = 0;
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const struct aggstats_call *call = &profile->in_flight[i];
        if (strcmp(call->op, op->name) == 0 && call->latency_cycles > oldest_cycles)
            oldest_cycles = call->latency_cycles;
    }
    return view_seconds(profile, (double)oldest_cycles);
}

static bool has_longest(const struct aggstats_op_profile *op) {
    return op->longest_cycles > 0;
}

static double longest_seconds(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    return view_seconds(profile, (double)op->longest_cycles);
}

static const char *failed_calls(const struct aggstats_op_profile *op, unsigned failure, uint64_t *ret_count) {
    *ret_count = op->failures[failure];
    return *ret_count > 0 ? aggstats_failure_name(failure) : NULL;
}

static const char *bytes(const struct aggstats_op_profile *op, unsigned series, uint64_t *ret_count) {
    *ret_count = series == 0 ? op->asked_bytes : op->moved_bytes;
    if (op->asked_bytes == 0 && op->moved_bytes == 0)
        return NULL;
    return series == 0 ? "asked" : "moved";
}

static bool has_start(const struct aggstats_profile *profile) {
    return profile->has_start;
}

static double start_seconds(const struct aggstats_profile *profile) {
    return (double)profile->start_ns / 1e9;
}

static bool has_elapsed(const struct aggstats_profile *profile) {
    return profile->has_elapsed;
}

static double elapsed_seconds(const struct aggstats_profile *profile) {
    return view_seconds(profile, (double)profile->elapsed_cycles);
}

static bool has_stopped(const struct aggstats_profile *profile) {
    return profile->stopped_ns > 0;
}

static double stopped_seconds(const struct aggstats_profile *profile) {
    return (double)profile->stopped_ns / 1e9;
}

static double clamped_calls(const struct aggstats_profile *profile) {
    return (double)profile->clamped;
}

static double incomplete(const struct aggstats_profile *profile) {
    return profile->incomplete;
}

static double one(const struct aggstats_profile *profile) {
    (void)profile;
    return 1;
}

const struct metrics_family metrics_families[METRICS_FAMILIES] = {
    {.name = "osprof_up",
     .help = "1 if this is being recorded, could be read and serves its callers, else 0.",
     .is_up = true},
    {.name = "osprof_waiting_requests",
     .help = "Requests that wait for the daemon, besides the calls in flight.",
     .is_waiting = true},
    {.name = "osprof_op_latency_seconds",
     .help = "Latency of the calls that have returned.",
     .type = METRICS_HISTOGRAM},
    {.name = "osprof_op_calls_in_flight", .help = "Calls that have not returned.", .of_op = calls_in_flight},
    {.name = "osprof_op_oldest_call_seconds",
     .help = "Age of the oldest call that has not returned; 0 if all have.",
     .of_op = oldest_seconds},
    {.name = "osprof_op_longest_call_seconds",
     .help = "Latency of the longest call that has returned, since the profile was begun or last reset.",
     .known_of_op = has_longest,
     .of_op = longest_seconds},
    {.name = "osprof_failed_calls_total",
     .help = "Calls that have failed, by error.",
     .type = METRICS_COUNTER,
     .of_series = failed_calls,
     .series_count = AGGSTATS_FAILURES,
     .series_label = "errno"},
    {.name = "osprof_bytes_total",
     .help = "Bytes that calls were to read, write or copy (asked), and that they did (moved).",
     .type = METRICS_COUNTER,
     .of_series = bytes,
     .series_count = 2,
     .series_label = "kind"},
    {.name = "osprof_slow_calls_total",
     .help = "Slow calls that have returned, by what took most of their time.",
     .type = METRICS_COUNTER,
     .series_label = "cause",
     .is_of_causes = true},
    {.name = "osprof_slow_seconds_total",
     .help = "Latency of the slow calls that have returned, by what they have waited for.",
     .type = METRICS_SUM,
     .series_label = "cause",
     .is_of_causes = true},
    {.name = "osprof_wait_seconds_total",
     .help = "Time that threads of this machine have waited, by cause and program.",
     .type = METRICS_SUM,
     .is_of_waits = true},
    {.name = "osprof_waits_total",
     .help = "Waits of threads of this machine that have ended, by cause and program.",
     .type = METRICS_COUNTER,
     .is_of_waits = true},
    {.name = "osprof_start_time_seconds",
     .help = "When the profile was begun or last reset, in Unix time.",
     .known = has_start,
     .of_profile = start_seconds},
    {.name = "osprof_elapsed_seconds",
     .help = "For how long the profile was taken, without pauses.",
     .known = has_elapsed,
     .of_profile = elapsed_seconds},
    {.name = "osprof_stopped_seconds",
     .help = "Time in which the daemon did not run, as it was stopped, frozen or without a CPU.",
     .known = has_stopped,
     .of_profile = stopped_seconds},
    {.name = "osprof_clamped_calls",
     .help = "Calls in which the clock ran backwards, counted as 0 seconds.",
     .of_profile = clamped_calls},
    {.name = "osprof_incomplete",
     .help = "1 if calls are missing: memory or disk space ran out, or events were lost.",
     .of_profile = incomplete},
    {.name = "osprof_info", .help = "What is profiled, and how; always 1.", .of_profile = one, .has_info = true},
};

/* ---- Samples ------------------------------------------------------------------------------------ */

static int visit_series(struct metrics_sample sample, metrics_visit_fn visit, void *context) {
    int error = 0;
    for (unsigned series = 0; series < sample.family->series_count && !error; series++) {
        uint64_t count = 0;
        sample.series = sample.family->of_series(sample.op, series, &count);
        sample.count = count;
        error = sample.series ? visit(context, &sample) : 0;
    }
    return error;
}

static int visit_ops(struct metrics_sample sample, metrics_visit_fn visit, void *context) {
    const struct aggstats_profile *profile = sample.subject->profile;
    int error = 0;
    for (size_t i = 0; i < profile->op_count && !error; i++) {
        sample.op = &profile->ops[i];
        sample.op_name = sample.op->name;
        if (sample.family->known_of_op && !sample.family->known_of_op(sample.op))
            continue;
        sample.value = sample.family->of_op ? sample.family->of_op(profile, sample.op) : 0;
        error = sample.family->of_series ? visit_series(sample, visit, context) : visit(context, &sample);
    }
    return error;
}

static int visit_causes(struct metrics_sample sample, metrics_visit_fn visit, void *context) {
    const struct metrics_causes *causes = &sample.subject->causes;
    int error = 0;
    for (size_t i = 0; i < causes->count && !error; i++) {
        sample.op_name = causes->causes[i].op;
        sample.series = causes->causes[i].text;
        sample.count = causes->causes[i].calls;
        sample.value = view_seconds(sample.subject->profile, causes->causes[i].total_cycles);
        error = visit(context, &sample);
    }
    return error;
}

static int visit_waits(struct metrics_sample sample, metrics_visit_fn visit, void *context) {
    int error = 0;
    for (size_t i = 0; i < sample.subject->wait_count && !error; i++) {
        const struct metrics_wait *wait = &sample.subject->waits[i];
        sample.own = &wait->labels;
        sample.count = wait->waits;
        sample.value = wait->seconds;
        error = visit(context, &sample);
    }
    return error;
}

static int visit_subject(struct metrics_sample sample, metrics_visit_fn visit, void *context) {
    const struct aggstats_profile *profile = sample.subject->profile;
    if (sample.family->is_of_waits || sample.subject->waits)
        return sample.family->is_of_waits ? visit_waits(sample, visit, context) : 0;
    if (sample.family->is_up) {
        sample.value = sample.subject->is_up && !sample.subject->is_stuck;
        return visit(context, &sample);
    }
    if (sample.family->is_waiting) {
        sample.value = (double)sample.subject->waiting;
        return sample.subject->knows_waiting ? visit(context, &sample) : 0;
    }
    if (!sample.subject->is_up)
        return 0;
    if (sample.family->known && !sample.family->known(profile))
        return 0;
    if (sample.family->is_of_causes)
        return visit_causes(sample, visit, context);
    if (!sample.family->of_profile)
        return visit_ops(sample, visit, context);
    sample.value = sample.family->of_profile(profile);
    return visit(context, &sample);
}

bool metrics_has_family(const struct metrics_model *model, const struct metrics_family *family) {
    if (family->is_of_waits)
        return model->has_waits;
    return model->tells_up || !(family->is_up || family->is_waiting);
}

int metrics_visit(const struct metrics_model *model, const struct metrics_family *family, metrics_visit_fn visit,
                  void *context) {
    int error = 0;
    for (size_t i = 0; i < model->count && !error; i++)
        error =
            visit_subject((struct metrics_sample){.family = family, .subject = &model->subjects[i]}, visit, context);
    return error;
}
