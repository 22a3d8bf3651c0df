/* Adding profiles up. */
#include "merging.h"

#include <inttypes.h>
#include <string.h>

#include "aggstats/fields.h"
#include "base.h"
#include "str.h"

#define OPS_MAX 4096 /* the parser's limit, so that the sum can be read back */
#define SEPARATOR ", "
#define MORE "..."

/* ---- Numbers ------------------------------------------------------------------------------------ */

/* The library does not add calls in flight; without them the sum's calls would exceed its buckets unexplained. */
static int append_in_flight(struct aggstats_profile *sum, const struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = calls_append(&sum->in_flight, &sum->in_flight_count, &profile->in_flight[i]);
    return err;
}

/* sum: not zeroed. Errors: -EDOM it has another rate, and those of merging_add() */
static int add_to_sum(struct aggstats_profile *sum, const struct aggstats_profile *profile) {
    int error = aggstats_profile_add(sum, profile);
    if (!error && sum->op_count > OPS_MAX)
        error = -E2BIG;
    return error ? error : append_in_flight(sum, profile);
}

static int add_rescaled(struct aggstats_profile *sum, const struct aggstats_profile *profile) {
    struct aggstats_profile rescaled = {0};
    int error = aggstats_profile_copy(profile, &rescaled);
    if (!error)
        error = aggstats_profile_rescale(&rescaled, sum->clock.frequency_hz);
    if (!error)
        error = add_to_sum(sum, &rescaled);
    aggstats_profile_finish(&rescaled);
    return error;
}

/* Adds to the sum of the same rate, or begins one; groups are not added. */
static int add_without_groups(struct merging *merging, const struct aggstats_profile *profile, size_t *ret_sum_index) {
    for (size_t i = 0; i < merging->sum_count; i++) {
        int error = add_to_sum(&merging->sums[i], profile);
        *ret_sum_index = i;
        if (error != -EDOM)
            return error;
    }
    *ret_sum_index = merging->sum_count;
    if (merging->sum_count > 0 && (merging->sums[0].clock.frequency_hz == 0 || profile->clock.frequency_hz == 0))
        return -EDOM;
    if (merging->sum_count == MERGING_RATES_MAX)
        return add_rescaled(&merging->sums[0], profile);
    int error = aggstats_profile_copy(profile, &merging->sums[merging->sum_count]);
    if (!error)
        merging_groups_drop(&merging->sums[merging->sum_count++]);
    return error;
}

/* If there is no sum of its rate, it is rescaled to the first. */
static int add_groups(struct merging *merging, size_t sum_index, const struct aggstats_profile *profile) {
    struct aggstats_profile rescaled = {0};
    if (sum_index < MERGING_RATES_MAX)
        return merging_groups_add(&merging->groups[sum_index], profile);
    int error = aggstats_profile_copy(profile, &rescaled);
    if (!error)
        error = aggstats_profile_rescale(&rescaled, merging->sums[0].clock.frequency_hz);
    if (!error)
        error = merging_groups_add(&merging->groups[0], &rescaled);
    aggstats_profile_finish(&rescaled);
    return error;
}

static int add_numbers(struct merging *merging, const struct aggstats_profile *profile, size_t *ret_sum_index) {
    int error = add_without_groups(merging, profile, ret_sum_index);
    return error ? error : add_groups(merging, *ret_sum_index, profile);
}

static void note_start(struct merging *merging, const struct aggstats_profile *profile) {
    if (merging->added_count == 0) {
        merging->start_ns = profile->start_ns;
        merging->all_have_start = profile->has_start;
    }
    merging->all_have_start = merging->all_have_start && profile->has_start;
    if (profile->start_ns < merging->start_ns)
        merging->start_ns = profile->start_ns;
}

/* ---- Labels ------------------------------------------------------------------------------------- */

static struct merging_label *find_label(struct merging *merging, const char *key) {
    for (size_t i = 0; i < merging->label_count; i++) {
        if (strcmp(merging->labels[i].key, key) == 0)
            return &merging->labels[i];
    }
    return NULL;
}

const char *merging_layer(const struct merging *merging) {
    for (size_t i = 0; i < merging->label_count; i++) {
        if (strcmp(merging->labels[i].key, "layer") == 0)
            return merging->labels[i].value;
    }
    return NULL;
}

/* Keeps the first MERGING_VALUES_MAX values in byte order, so that the order of the profiles does not matter. Takes
 * *value over if it is kept. */
static void insert_value(struct merging_label *label, char **value) {
    size_t at = 0;
    while (at < label->value_count && strcmp(label->values[at], *value) < 0)
        at++;
    label->more = label->more || label->value_count == MERGING_VALUES_MAX;
    if (at == MERGING_VALUES_MAX)
        return;
    if (label->value_count == MERGING_VALUES_MAX)
        free(label->values[--label->value_count]);
    memmove(&label->values[at + 1], &label->values[at], (label->value_count - at) * sizeof(label->values[0]));
    label->values[at] = steal_pointer(value);
    label->value_count++;
}

static int add_value(struct merging_label *label, const char *value, size_t length, bool is_of_list) {
    if (is_of_list && length == strlen(MORE) && strncmp(value, MORE, length) == 0) {
        label->more = true;
        return 0;
    }
    for (size_t i = 0; i < label->value_count; i++) {
        if (strlen(label->values[i]) == length && strncmp(label->values[i], value, length) == 0)
            return 0;
    }
    CLEANUP_FREE char *copy = strndup(value, length);
    if (!copy)
        return -ENOMEM;
    insert_value(label, &copy);
    return 0;
}

static int add_values(struct merging_label *label, const struct aggstats_label *from) {
    label->is_list = label->is_list || from->is_list;
    for (const char *value = from->value;;) {
        const char *end = from->is_list ? strstr(value, SEPARATOR) : NULL;
        int error = add_value(label, value, end ? (size_t)(end - value) : strlen(value), from->is_list);
        if (error || !end)
            return error;
        value = end + strlen(SEPARATOR);
    }
}

/* Labels are for people: of too many only the first are kept. */
static int begin_label(struct merging *merging, const struct aggstats_label *from) {
    if (merging->label_count == MERGING_LABELS_MAX)
        return 0;
    struct merging_label *label = &merging->labels[merging->label_count++];
    *label = (struct merging_label){.key = strdup(from->key), .value = strdup(from->value), .holder_count = 1};
    return label->key && label->value ? add_values(label, from) : -ENOMEM;
}

static int add_label(struct merging *merging, const struct aggstats_label *from) {
    struct merging_label *label = find_label(merging, from->key);
    if (!label)
        return begin_label(merging, from);
    label->holder_count++;
    if (!label->differs && strcmp(label->value, from->value) == 0 && label->is_list == from->is_list)
        return 0;
    label->differs = true;
    return add_values(label, from);
}

static int add_labels(struct merging *merging, const struct aggstats_profile *profile) {
    int error = 0;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = add_label(merging, &profile->labels[i]);
    return error;
}

static bool is_other_layer(const struct merging *merging, const struct aggstats_profile *profile) {
    const char *ours = merging_layer(merging);
    const char *theirs = aggstats_profile_label(profile, "layer");
    return ours && theirs && strcmp(ours, theirs) != 0;
}

int merging_add(struct merging *merging, const struct aggstats_profile *profile) {
    size_t sum_index = 0;
    const uint64_t merged = profile->merged > 0 ? profile->merged : 1;
    if (is_other_layer(merging, profile))
        return -EXDEV;
    int error = add_labels(merging, profile);
    if (!error)
        error = add_numbers(merging, profile, &sum_index);
    if (error)
        return error;
    note_start(merging, profile);
    merging->added_count++;
    if (sum_index > 0)
        merging->rescaled_count += merged;
    return __builtin_add_overflow(merging->merged_count, merged, &merging->merged_count) ? -EOVERFLOW : 0;
}

/* ---- The result --------------------------------------------------------------------------------- */

/* True for a label whose values are true of profiles without it, too. */
static bool speaks_for_all(const struct merging_label *label) {
    return strcmp(label->key, "layer") == 0 || strcmp(label->key, "approximate") == 0;
}

/* "node1, node2, ..." */
static char *list_values(const struct merging_label *label, bool more) {
    struct str list = {0};
    for (size_t i = 0; i < label->value_count; i++)
        str_addf(&list, "%s%s", i > 0 ? SEPARATOR : "", label->values[i]);
    if (more)
        str_addf(&list, "%s" MORE, label->value_count > 0 ? SEPARATOR : "");
    return str_steal(&list);
}

static int append_merged_label(const struct merging *merging, struct aggstats_profile *profile,
                               const struct merging_label *label) {
    bool missing = label->holder_count < merging->added_count && !speaks_for_all(label);
    const bool is_one = !label->differs && !missing;
    CLEANUP_FREE char *list = is_one ? NULL : list_values(label, label->more || missing);
    if (!is_one && !list)
        return -ENOMEM;
    const int error = aggstats_profile_add_label(profile, label->key, is_one ? label->value : list);
    if (error == 0)
        profile->labels[profile->label_count - 1].is_list = label->is_list || !is_one;
    return error;
}

static int note_rescaled(struct merging *merging) {
    char text[96];
    struct aggstats_label label = {.key = (char[]){"approximate"}, .value = text};
    if (merging->rescaled_count == 0)
        return 0;
    snprintf(text, sizeof(text),
             "buckets and totals of %" PRIu64 " of the profiles are rescaled from other clock rates",
             merging->rescaled_count);
    return add_label(merging, &label);
}

static void drop_labels(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->label_count; i++) {
        free(profile->labels[i].key);
        free(profile->labels[i].value);
    }
    profile->label_count = 0;
}

static int replace_labels(struct merging *merging, struct aggstats_profile *profile) {
    drop_labels(profile);
    int error = note_rescaled(merging);
    for (size_t i = 0; i < merging->label_count && !error; i++)
        error = append_merged_label(merging, profile, &merging->labels[i]);
    return error;
}

/* Adds the sum of another rate, and its groups, to the first. */
static int add_sum(struct merging *merging, size_t index) {
    struct aggstats_profile *sum = &merging->sums[index];
    struct aggstats_profile rescaled = {0};
    int error = merging_groups_give(&merging->groups[index], sum);
    if (!error)
        error = aggstats_profile_copy(sum, &rescaled);
    if (!error)
        error = aggstats_profile_rescale(&rescaled, merging->sums[0].clock.frequency_hz);
    if (!error)
        error = add_to_sum(&merging->sums[0], &rescaled);
    if (!error)
        error = merging_groups_add(&merging->groups[0], &rescaled);
    aggstats_profile_finish(&rescaled);
    return error;
}

int merging_result(struct merging *merging, struct aggstats_profile *ret_profile) {
    struct aggstats_profile *sum = &merging->sums[0];
    int error = merging->sum_count > 0 ? 0 : -EINVAL;
    for (size_t i = 1; i < merging->sum_count && !error; i++)
        error = add_sum(merging, i);
    if (!error)
        error = merging_groups_give(&merging->groups[0], sum);
    if (!error)
        error = replace_labels(merging, sum);
    if (error)
        return error;
    sum->merged = merging->merged_count;
    sum->has_start = merging->all_have_start;
    sum->start_ns = merging->start_ns;
    *ret_profile = *sum;
    *sum = (struct aggstats_profile){0};
    return 0;
}

static void label_finish(struct merging_label *label) {
    for (size_t i = 0; i < label->value_count; i++)
        free(label->values[i]);
    free(label->key);
    free(label->value);
}

void merging_finish(struct merging *merging) {
    for (size_t i = 0; i < MERGING_RATES_MAX; i++) {
        aggstats_profile_finish(&merging->sums[i]);
        merging_groups_finish(&merging->groups[i]);
    }
    for (size_t i = 0; i < merging->label_count; i++)
        label_finish(&merging->labels[i]);
    *merging = (struct merging){0};
}
