/* A profile as JSON, after docs/profile.schema.json. */
#include <errno.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "json_fields.h"
#include "json_writer.h"
#include "views_private.h"

#define JSON_VERSION 1

static void write_number(struct json_writer *writer, const char *name, enum aggstats_fact_unit unit, uint64_t number) {
    if (unit == AGGSTATS_FACT_NANOSECONDS)
        json_real(writer, name, (double)number / 1e9);
    else
        json_count(writer, name, number);
}

static void write_fact(struct json_writer *writer, const struct aggstats_profile *profile,
                       const struct aggstats_fact *fact) {
    static const char *const endings[] = {[AGGSTATS_FACT_NANOSECONDS] = "_seconds",
                                          [AGGSTATS_FACT_BYTES] = "_bytes",
                                          [AGGSTATS_FACT_CALLS] = "",
                                          [AGGSTATS_FACT_COUNT] = ""};
    char name[64];
    if (fact->unit == AGGSTATS_FACT_CYCLES) {
        json_cycles(writer, profile->clock.frequency_hz, fact->name, fact->numbers[0]);
        return;
    }
    snprintf(name, sizeof(name), "%s%s", fact->name, endings[fact->unit]);
    if (!fact->words) {
        write_number(writer, name, fact->unit, fact->numbers[0]);
        return;
    }
    json_begin(writer, name, '{');
    for (size_t i = 0; fact->words[i]; i++)
        if (fact->has_zeros || fact->numbers[i] > 0)
            write_number(writer, fact->words[i], fact->unit, fact->numbers[i]);
    json_end(writer, '}');
}

static void write_unseen_programs(struct json_writer *writer, const struct aggstats_profile *profile) {
    if (profile->unseen_program_count == 0)
        return;
    json_begin(writer, "unseen_programs", '[');
    for (size_t i = 0; i < profile->unseen_program_count; i++) {
        const struct aggstats_unseen_program *program = &profile->unseen_programs[i];
        json_begin(writer, NULL, '{');
        json_text(writer, "kind", aggstats_unseen_name(program->kind));
        json_text(writer, "program", program->name);
        json_count(writer, "runs", program->runs);
        json_real(writer, "least_seconds", (double)program->least_ns / 1e9);
        if (program->most_ns > 0)
            json_real(writer, "most_seconds", (double)program->most_ns / 1e9);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

/* Labels that have several values. */
static void write_lists(struct json_writer *writer, const struct aggstats_profile *profile) {
    bool has_any = false;
    for (size_t i = 0; i < profile->label_count; i++) {
        if (!profile->labels[i].is_list)
            continue;
        if (!has_any)
            json_begin(writer, "lists", '[');
        json_text(writer, NULL, profile->labels[i].key);
        has_any = true;
    }
    if (has_any)
        json_end(writer, ']');
}

static void write_header(struct json_writer *writer, const struct aggstats_profile *profile) {
    const char *kind = aggstats_clock_name(profile->clock.kind);
    struct aggstats_fact fact;
    json_count(writer, "version", JSON_VERSION);
    json_labels(writer, profile);
    write_lists(writer, profile);
    json_begin(writer, "clock", '{');
    if (kind)
        json_text(writer, "kind", kind);
    if (profile->clock.frequency_hz > 0)
        json_count(writer, "frequency_hz", profile->clock.frequency_hz);
    json_end(writer, '}');
    json_count(writer, "resolution", profile->resolution);
    if (profile->has_start) {
        char start[UTC_TEXT_SIZE];
        format_utc(profile->start_ns, start);
        json_text(writer, "start", start);
    }
    for (unsigned position = 0; aggstats_profile_next_fact(profile, &position, &fact);)
        write_fact(writer, profile, &fact);
    write_unseen_programs(writer, profile);
    json_bool(writer, "incomplete", profile->incomplete);
    if (profile->busy.looks > 0) {
        json_begin(writer, "busy", '{');
        json_count(writer, "looks", profile->busy.looks);
        json_count(writer, "busy", profile->busy.busy);
        json_count(writer, "most", profile->busy.most);
        json_end(writer, '}');
    }
}

static void write_bucket(struct json_writer *writer, const struct aggstats_profile *profile, unsigned bucket,
                         uint64_t count) {
    double lower_cycles = view_bucket_lower(profile, bucket);
    double upper_cycles = aggstats_bucket_upper(bucket, profile->resolution);
    json_begin(writer, NULL, '{');
    json_count(writer, "bucket", bucket);
    json_real(writer, "lower_cycles", lower_cycles);
    json_real(writer, "upper_cycles", upper_cycles);
    if (view_has_seconds(profile)) {
        json_real(writer, "lower_seconds", view_seconds(profile, lower_cycles));
        json_real(writer, "upper_seconds", view_seconds(profile, upper_cycles));
    }
    json_count(writer, "count", count);
    json_end(writer, '}');
}

/* Only non-empty ones. */
static void write_buckets(struct json_writer *writer, const struct aggstats_profile *profile, const uint64_t *buckets) {
    json_begin(writer, "buckets", '[');
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
        if (buckets[bucket] > 0)
            write_bucket(writer, profile, bucket, buckets[bucket]);
    json_end(writer, ']');
}

static void write_causes(struct json_writer *writer, const struct aggstats_profile *profile) {
    json_begin(writer, "causes", '[');
    for (size_t i = 0; i < profile->cause_count; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        json_begin(writer, NULL, '{');
        json_fields(writer, cause_fields, cause, profile->clock.frequency_hz, JSON_FOR_PROFILE);
        if (cause->buckets)
            write_buckets(writer, profile, cause->buckets);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

/* Also if slow calls are not watched any more. */
static void write_slow(struct json_writer *writer, const struct aggstats_profile *profile) {
    if (profile->slow_cycles == 0 && profile->cause_count == 0 && profile->slow_call_count == 0)
        return;
    if (profile->slow_cycles > 0)
        json_cycles(writer, profile->clock.frequency_hz, "slow", profile->slow_cycles);
    write_causes(writer, profile);
    json_records(writer, "slow_calls", call_fields, profile->slow_calls, profile->slow_call_count,
                 sizeof(*profile->slow_calls), profile->clock.frequency_hz);
    if (profile->caller_count > 0)
        json_records(writer, "slow_callers", caller_fields, profile->callers, profile->caller_count,
                     sizeof(*profile->callers), 0);
}

/* For a sampled profile. */
static void write_intervals(struct json_writer *writer, const struct aggstats_profile *profile) {
    if (profile->interval_cycles == 0)
        return;
    json_cycles(writer, profile->clock.frequency_hz, "interval", profile->interval_cycles);
    json_begin(writer, "borders", '[');
    for (size_t i = 0; i < profile->interval_count; i++) {
        json_begin(writer, NULL, '{');
        json_cycles(writer, profile->clock.frequency_hz, "end", profile->borders[i]);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

static void write_samples(struct json_writer *writer, const struct aggstats_op_profile *op) {
    json_begin(writer, "samples", '[');
    for (size_t at = 0; at < op->sample_count; at++) {
        json_begin(writer, NULL, '{');
        json_count(writer, "interval", op->samples[at].row);
        json_count(writer, "bucket", op->samples[at].bucket);
        json_count(writer, "count", op->samples[at].count);
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

static void write_joints(struct json_writer *writer, const struct aggstats_profile *profile) {
    if (profile->joint_count == 0)
        return;
    json_begin(writer, "joints", '[');
    for (size_t i = 0; i < profile->joint_count; i++) {
        const struct aggstats_joint_profile *joint = &profile->joints[i];
        json_begin(writer, NULL, '{');
        json_text(writer, "op", joint->op);
        json_text(writer, "value", aggstats_value_name(joint->value));
        json_begin(writer, "cells", '[');
        for (size_t at = 0; at < joint->cell_count; at++) {
            json_begin(writer, NULL, '{');
            json_count(writer, "number", aggstats_value_first(joint->value, joint->cells[at].row));
            json_count(writer, "bucket", joint->cells[at].bucket);
            json_count(writer, "count", joint->cells[at].count);
            json_end(writer, '}');
        }
        json_end(writer, ']');
        json_end(writer, '}');
    }
    json_end(writer, ']');
}

/* Writes those members that are known. */
static void write_outcome(struct json_writer *writer, const struct aggstats_op_profile *op) {
    if (op->asked_bytes > 0 || op->moved_bytes > 0) {
        json_count(writer, "asked_bytes", op->asked_bytes);
        json_count(writer, "moved_bytes", op->moved_bytes);
    }
    if (aggstats_failed_calls(op) == 0)
        return;
    json_begin(writer, "failed", '{');
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (op->failures[failure] > 0)
            json_count(writer, aggstats_failure_name(failure), op->failures[failure]);
    json_end(writer, '}');
}

static void write_percentiles(struct json_writer *writer, const struct aggstats_profile *profile,
                              const struct aggstats_op_profile *op) {
    static const struct {
        const char *name;
        unsigned per_mille;
    } rows[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99_9", 999}};
    struct aggstats_percentile percentile;
    if (!aggstats_percentile(op, profile->resolution, 500, &percentile))
        return;
    json_begin(writer, "percentiles", '{');
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (aggstats_percentile(op, profile->resolution, rows[i].per_mille, &percentile))
            json_latency(writer, profile->clock.frequency_hz, rows[i].name, percentile.cycles);
    json_end(writer, '}');
}

static void write_op(struct json_writer *writer, const struct aggstats_profile *profile,
                     const struct aggstats_op_profile *op) {
    json_begin(writer, NULL, '{');
    json_text(writer, "op", op->name);
    json_count(writer, "calls", op->calls);
    if (op->left_calls > 0)
        json_count(writer, "left", op->left_calls);
    json_cycles(writer, profile->clock.frequency_hz, "total", op->total_cycles);
    if (profile->busy.by_op)
        json_count(writer, "busy_looks", op->busy_looks);
    if (op->longest_cycles > 0)
        json_cycles(writer, profile->clock.frequency_hz, "longest", op->longest_cycles);
    if (op->longest_cycles > 0 && op->longest_path)
        json_text(writer, "longest_path", op->longest_path);
    write_percentiles(writer, profile, op);
    write_outcome(writer, op);
    write_buckets(writer, profile, op->buckets);
    if (profile->interval_cycles > 0)
        write_samples(writer, op);
    json_end(writer, '}');
}

/* {"grouping": "process", "who": "id", "id": 4711, "name": "grep", "ops": [...]}; "kernel" and "other" have no
 * number */
static void write_group(struct json_writer *writer, const struct aggstats_group *group) {
    json_begin(writer, NULL, '{');
    json_text(writer, "grouping", aggstats_grouping_name(group->grouping));
    json_text(writer, "who", group->who == AGGSTATS_WHO_ID ? "id" : aggstats_who_name(group->who));
    if (group->who == AGGSTATS_WHO_ID && aggstats_grouping_has_ids(group->grouping))
        json_count(writer, "id", group->id);
    if (group->name[0])
        json_text(writer, "name", group->name);
    if (aggstats_grouping_has_objects(group->grouping) && group->who == AGGSTATS_WHO_ID)
        json_count(writer, "missed_cycles_max", group->missed_cycles_max);
    if (group->profile.has_cache) {
        json_count(writer, "cache_read_bytes", group->profile.cache.read_bytes);
        json_count(writer, "cache_missed_bytes", group->profile.cache.missed_bytes);
        json_count(writer, "cache_unjudged_bytes", group->profile.cache.unjudged_bytes);
    }
    json_begin(writer, "ops", '[');
    for (size_t i = 0; i < group->profile.op_count; i++)
        write_op(writer, &group->profile, &group->profile.ops[i]);
    json_end(writer, ']');
    json_end(writer, '}');
}

static void write_groups(struct json_writer *writer, const struct aggstats_profile *profile) {
    if (profile->groupings == 0)
        return;
    json_begin(writer, "groupings", '[');
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (profile->groupings & 1U << grouping)
            json_text(writer, NULL, aggstats_grouping_name((enum aggstats_grouping)grouping));
    json_end(writer, ']');
    json_begin(writer, "groups", '[');
    for (size_t i = 0; i < profile->group_count; i++)
        write_group(writer, &profile->groups[i]);
    json_end(writer, ']');
}

static void write_known_text(struct json_writer *writer, const char *key, const char *text) {
    if (text)
        json_text(writer, key, text);
}

static void write_advice(struct json_writer *writer, const struct view_advice *advice) {
    json_begin(writer, NULL, '{');
    json_text(writer, "rule", advice->rule);
    write_known_text(writer, "op", advice->op);
    write_known_text(writer, "program", advice->program);
    write_known_text(writer, "place", advice->place);
    json_count(writer, "calls", advice->calls);
    json_count(writer, "of_calls", advice->of_calls);
    if (advice->busy_seconds > 0)
        json_real(writer, "busy_seconds", advice->busy_seconds);
    json_real(writer, "bound", advice->bound);
    if (advice->between > 0)
        json_real(writer, "between", advice->between);
    json_end(writer, '}');
}

int view_write_advised_json(const struct aggstats_profile *profile, const struct view_advice *advice, size_t count,
                            FILE *stream) {
    struct json_writer writer = {.stream = stream};
    if (!aggstats_resolution_valid(profile->resolution))
        return -EINVAL;
    errno = 0;
    json_begin(&writer, NULL, '{');
    write_header(&writer, profile);
    if (count > 0)
        json_begin(&writer, "advice", '[');
    for (size_t i = 0; i < count; i++)
        write_advice(&writer, &advice[i]);
    if (count > 0)
        json_end(&writer, ']');
    json_records(&writer, "in_flight", call_fields, profile->in_flight, profile->in_flight_count,
                 sizeof(*profile->in_flight), profile->clock.frequency_hz);
    write_slow(&writer, profile);
    write_intervals(&writer, profile);
    json_begin(&writer, "ops", '[');
    for (size_t i = 0; i < profile->op_count; i++)
        write_op(&writer, profile, &profile->ops[i]);
    json_end(&writer, ']');
    write_joints(&writer, profile);
    write_groups(&writer, profile);
    json_end(&writer, '}');
    return view_finish(stream);
}

static int write_json(const struct aggstats_profile *profile, FILE *stream) {
    return view_write_advised_json(profile, NULL, 0, stream);
}

const struct view view_json = {.name = "json", .write = write_json};
