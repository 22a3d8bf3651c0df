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

/* The library does not add calls in flight; without them the sum's calls would exceed its buckets unexplained.
 * sum:     not zeroed
 * Errors:  -EDOM it has another rate, and those of merging_add() */
static int add_to_sum(struct aggstats_profile *sum, const struct aggstats_profile *profile) {
    int error = aggstats_profile_add(sum, profile);
    if (!error && sum->op_count > OPS_MAX)
        error = -E2BIG;
    for (size_t i = 0; i < profile->in_flight_count && !error; i++)
        error = calls_append(&sum->in_flight, &sum->in_flight_count, &profile->in_flight[i]);
    return error;
}

/* Adds a profile of another rate, and its groups, to the first sum. */
static int add_rescaled(struct merging *merging, const struct aggstats_profile *profile) {
    struct aggstats_profile rescaled = {0};
    int error = aggstats_profile_copy(profile, &rescaled);
    if (!error)
        error = aggstats_profile_rescale(&rescaled, merging->sums[0].clock.frequency_hz);
    if (!error)
        error = add_to_sum(&merging->sums[0], &rescaled);
    if (!error)
        error = merging_groups_add(&merging->groups[0], &rescaled);
    aggstats_profile_finish(&rescaled);
    return error;
}

/* Adds to the sum of the same rate, or begins one. If there are too many, the profile is rescaled to the first. */
static int add_profile(struct merging *merging, const struct aggstats_profile *profile, size_t *ret_sum_index) {
    size_t i = 0;
    int error = -EDOM;
    while (i < merging->sum_count && (error = add_to_sum(&merging->sums[i], profile)) == -EDOM)
        i++;
    *ret_sum_index = i;
    if (i == merging->sum_count) {
        if (i > 0 && (merging->sums[0].clock.frequency_hz == 0 || profile->clock.frequency_hz == 0))
            return -EDOM;
        if (i == MERGING_RATES_MAX)
            return add_rescaled(merging, profile);
        error = aggstats_profile_copy(profile, &merging->sums[i]);
        if (!error)
            merging_groups_drop(&merging->sums[merging->sum_count++]);
    }
    return error ? error : merging_groups_add(&merging->groups[i], profile);
}

/* ---- Labels ------------------------------------------------------------------------------------- */

const char *merging_layer(const struct merging *merging) {
    for (size_t i = 0; i < merging->label_count; i++) {
        if (strcmp(merging->labels[i].key, "layer") == 0)
            return merging->labels[i].value;
    }
    return NULL;
}

/* Keeps the first MERGING_VALUES_MAX values in byte order, so that the order of the profiles does not matter. */
static int add_value(struct merging_label *label, const char *value, size_t length, bool is_of_list) {
    CLEANUP_FREE char *copy = strndup(value, length);
    size_t at = 0;
    if (!copy)
        return -ENOMEM;
    if (is_of_list && strcmp(copy, MORE) == 0) {
        label->more = true;
        return 0;
    }
    while (at < label->value_count && strcmp(label->values[at], copy) < 0)
        at++;
    if (at < label->value_count && strcmp(label->values[at], copy) == 0)
        return 0;
    label->more = label->more || label->value_count == MERGING_VALUES_MAX;
    if (at == MERGING_VALUES_MAX)
        return 0;
    if (label->value_count == MERGING_VALUES_MAX)
        free(label->values[--label->value_count]);
    memmove(&label->values[at + 1], &label->values[at], (label->value_count - at) * sizeof(label->values[0]));
    label->values[at] = steal_pointer(&copy);
    label->value_count++;
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
static int add_label(struct merging *merging, const struct aggstats_label *from) {
    struct merging_label *label = merging->labels;
    while (label < merging->labels + merging->label_count && strcmp(label->key, from->key) != 0)
        label++;
    if (label == merging->labels + MERGING_LABELS_MAX)
        return 0;
    if (label == merging->labels + merging->label_count) {
        *label = (struct merging_label){.key = strdup(from->key), .value = strdup(from->value), .holder_count = 1};
        merging->label_count++;
        return label->key && label->value ? add_values(label, from) : -ENOMEM;
    }
    label->holder_count++;
    if (!label->differs && strcmp(label->value, from->value) == 0 && label->is_list == from->is_list)
        return 0;
    label->differs = true;
    return add_values(label, from);
}

int merging_add(struct merging *merging, const struct aggstats_profile *profile) {
    size_t sum_index = 0;
    const uint64_t merged = profile->merged > 0 ? profile->merged : 1;
    const char *ours = merging_layer(merging);
    const char *theirs = aggstats_profile_label(profile, "layer");
    int error = ours && theirs && strcmp(ours, theirs) != 0 ? -EXDEV : 0;
    for (size_t i = 0; i < profile->label_count && !error; i++)
        error = add_label(merging, &profile->labels[i]);
    if (!error)
        error = add_profile(merging, profile, &sum_index);
    if (error)
        return error;
    merging->all_have_start = (merging->added_count == 0 || merging->all_have_start) && profile->has_start;
    if (merging->added_count == 0 || profile->start_ns < merging->start_ns)
        merging->start_ns = profile->start_ns;
    merging->added_count++;
    if (sum_index > 0)
        merging->rescaled_count += merged;
    return __builtin_add_overflow(merging->merged_count, merged, &merging->merged_count) ? -EOVERFLOW : 0;
}

/* ---- The result --------------------------------------------------------------------------------- */

/* One value, or a list: "node1, node2, ..." */
static int append_merged_label(const struct merging *merging, struct aggstats_profile *profile,
                               const struct merging_label *label) {
    CLEANUP_STR struct str list = {0};
    /* The values of these two labels are true of profiles without the label, too. */
    const bool speaks_for_all = strcmp(label->key, "layer") == 0 || strcmp(label->key, "approximate") == 0;
    const bool is_missing = label->holder_count < merging->added_count && !speaks_for_all;
    const bool is_one = !label->differs && !is_missing;
    for (size_t i = 0; i < label->value_count && !is_one; i++)
        str_addf(&list, "%s%s", i > 0 ? SEPARATOR : "", label->values[i]);
    if (!is_one && (label->more || is_missing))
        str_addf(&list, "%s" MORE, label->value_count > 0 ? SEPARATOR : "");
    if (list.failed)
        return -ENOMEM;
    const int error = aggstats_profile_add_label(profile, label->key, is_one ? label->value : str_text(&list));
    if (error == 0)
        profile->labels[profile->label_count - 1].is_list = label->is_list || !is_one;
    return error;
}

static int replace_labels(struct merging *merging, struct aggstats_profile *profile) {
    char text[96];
    struct aggstats_label rescaled = {.key = (char[]){"approximate"}, .value = text};
    int error = 0;
    for (size_t i = 0; i < profile->label_count; i++) {
        free(profile->labels[i].key);
        free(profile->labels[i].value);
    }
    profile->label_count = 0;
    snprintf(text, sizeof(text),
             "buckets and totals of %" PRIu64 " of the profiles are rescaled from other clock rates",
             merging->rescaled_count);
    if (merging->rescaled_count > 0)
        error = add_label(merging, &rescaled);
    for (size_t i = 0; i < merging->label_count && !error; i++)
        error = append_merged_label(merging, profile, &merging->labels[i]);
    return error;
}

int merging_result(struct merging *merging, struct aggstats_profile *ret_profile) {
    struct aggstats_profile *sum = &merging->sums[0];
    int error = merging->sum_count > 0 ? 0 : -EINVAL;
    for (size_t i = 1; i < merging->sum_count && !error; i++) {
        error = merging_groups_give(&merging->groups[i], &merging->sums[i]);
        if (!error)
            error = add_rescaled(merging, &merging->sums[i]);
    }
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

void merging_finish(struct merging *merging) {
    for (size_t i = 0; i < MERGING_RATES_MAX; i++) {
        aggstats_profile_finish(&merging->sums[i]);
        merging_groups_finish(&merging->groups[i]);
    }
    for (size_t i = 0; i < merging->label_count; i++) {
        struct merging_label *label = &merging->labels[i];
        for (size_t value = 0; value < label->value_count; value++)
            free(label->values[value]);
        free(label->key);
        free(label->value);
    }
    *merging = (struct merging){0};
}
