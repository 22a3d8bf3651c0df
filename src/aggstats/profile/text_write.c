/* Profiles as text (thesis §5.8); the layout is in text_format.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "base.h"
#include "facts.h"
#include "profile_owned.h"
#include "text_format.h"

/* subjects: writes the labels that say what was profiled, or all other labels. */
static void write_labels(const struct aggstats_profile *profile, FILE *stream, bool subjects) {
    static const char *const subject_keys[] = {"layer", "host", "lower", "mount"};
    for (size_t i = 0; i < profile->label_count; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        if ((word_index(subject_keys, ARRAY_SIZE(subject_keys), label->key) < ARRAY_SIZE(subject_keys)) != subjects)
            continue;
        fprintf(stream, "# %s: ", label->key);
        text_write_value(stream, label->value);
        putc('\n', stream);
    }
}

/* Labels that say what was profiled are written before the facts, and the others behind the second fact. */
static int write_header(const struct aggstats_profile *profile, FILE *stream) {
    fprintf(stream, "# osprof %d\n", TEXT_VERSION);
    write_labels(profile, stream, true);
    for (const struct fact *fact = facts; fact->key; fact++) {
        if (fact == facts + FACTS_BEFORE_LABELS)
            write_labels(profile, stream, false);
        fact_write(fact, profile, stream);
    }
    return text_write_calls(profile, stream);
}

/* Without trailing zeros; at least one number, so that a row differs from a missing one. */
static void write_row(const uint64_t *row, unsigned bucket_count, FILE *stream) {
    while (bucket_count > 1 && row[bucket_count - 1] == 0)
        bucket_count--;
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        fprintf(stream, " %" PRIu64, row[bucket]);
    putc('\n', stream);
}

/* A row for each interval, up to the last that has calls. */
static void write_samples(const struct aggstats_op_profile *op, unsigned bucket_count, FILE *stream) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    uint32_t interval = 0;
    for (size_t at = 0; at < op->sample_count; interval++) {
        for (; interval < op->samples[at].row; interval++)
            fputs("-\n", stream);
        at = cells_take_row(op->samples, op->sample_count, at, 1, 1, row);
        write_row(row, bucket_count, stream);
    }
    if (op->sample_count == 0)
        fputs("-\n", stream);
}

static void write_op(const struct aggstats_op_profile *op, const struct aggstats_profile *profile, FILE *stream) {
    unsigned bucket_count = 64 * profile->resolution;
    fprintf(stream, "OP_%s %" PRIu64 " %" PRIu64 "\n", op->name, op->calls, op->total_cycles);
    if (profile->interval_cycles > 0)
        write_samples(op, bucket_count, stream);
    else
        write_row(op->buckets, bucket_count, stream);
}

/* "4096: 0 0 12": a row for each value that occurred */
static void write_joint(const struct aggstats_joint_profile *joint, FILE *stream) {
    uint64_t row[AGGSTATS_BUCKETS_MAX];
    fprintf(stream, "JOINT_%s_%s\n", joint->op, aggstats_value_name(joint->value));
    for (size_t at = 0; at < joint->cell_count;) {
        uint64_t first = aggstats_value_first(joint->value, joint->cells[at].row);
        at = cells_take_row(joint->cells, joint->cell_count, at, 1, 1, row);
        fprintf(stream, "%" PRIu64 ":", first);
        write_row(row, ARRAY_SIZE(row), stream);
    }
}

/* "# process: 4711 grep", "# uid: kernel", "# program: grep", "# file: 1200 /src/a.c" */
static void write_group(const struct aggstats_group *group, FILE *stream) {
    const bool has_id = aggstats_grouping_has_ids(group->grouping);
    const char *name = group->who == AGGSTATS_WHO_ID ? group->name : aggstats_who_name(group->who);
    fprintf(stream, "# %s: ", aggstats_grouping_name(group->grouping));
    if (group->who == AGGSTATS_WHO_ID && (has_id || aggstats_grouping_has_objects(group->grouping)))
        fprintf(stream, "%" PRIu64 "%s", has_id ? group->id : group->missed_cycles_max, name[0] ? " " : "");
    else if (group->who == AGGSTATS_WHO_ID && (strcmp(name, "kernel") == 0 || strcmp(name, "other") == 0))
        fprintf(stream, "\\%03o", (unsigned)*name++); /* written as is, the name would be read as one of these words */
    text_write_value(stream, name);
    putc('\n', stream);
    facts_write_of_group(&group->profile, stream);
    for (size_t i = 0; i < group->profile.op_count; i++)
        write_op(&group->profile.ops[i], &group->profile, stream);
}

static bool writable(const struct aggstats_profile *profile) {
    size_t layers = 0;
    if (!aggstats_resolution_valid(profile->resolution))
        return false;
    for (size_t i = 0; i < profile->label_count; i++) {
        layers += strcmp(profile->labels[i].key, "layer") == 0;
        if (layers > 1 || !text_label_valid(&profile->labels[i]))
            return false;
    }
    for (size_t i = 0; i < profile->op_count; i++)
        if (!text_name_valid(profile->ops[i].name) || !profile_failures_possible(profile, &profile->ops[i]) ||
            !profile_longest_possible(profile, &profile->ops[i]))
            return false;
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].profile.resolution != profile->resolution ||
            !aggstats_grouping_name(profile->groups[i].grouping))
            return false;
    return true;
}

int aggstats_profile_write(const struct aggstats_profile *profile, FILE *stream) {
    if (!writable(profile))
        return -EINVAL;
    errno = 0;
    int err = write_header(profile, stream);
    if (err < 0)
        return err;
    for (size_t i = 0; i < profile->op_count; i++)
        write_op(&profile->ops[i], profile, stream);
    for (size_t i = 0; i < profile->joint_count; i++)
        write_joint(&profile->joints[i], stream);
    for (size_t i = 0; i < profile->group_count; i++)
        write_group(&profile->groups[i], stream);
    return fflush(stream) != 0 || ferror(stream) ? negative_errno() : 0;
}

int aggstats_profile_format(const struct aggstats_profile *profile, char **ret_text, size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL; /* set when the stream is closed */
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    int err = aggstats_profile_write(profile, stream);
    if (fclose(stream) != 0 && err == 0)
        err = negative_errno();
    if (err < 0)
        return err;
    *ret_text = steal_pointer(&text);
    *ret_size_bytes = size_bytes;
    return 0;
}
