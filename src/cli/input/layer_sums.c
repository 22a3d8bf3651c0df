/* Summing layer by layer. */
#include "layer_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"

static int complain_unmerged(const char *name, const struct aggstats_profile *profile, int error) {
    if (error == -EDOM && profile->clock.frequency_hz == 0)
        complain("cannot merge %s: it does not tell its clock's rate, as those before it do", name);
    else if (error == -EDOM)
        complain("cannot merge %s: it tells its clock's rate, which those before it do not", name);
    else if (error == -EOVERFLOW)
        complain("cannot merge %s: the sum does not fit 64 bits", name);
    else if (error == -E2BIG)
        complain("cannot merge %s: too many different operations", name);
    else
        complain("cannot merge %s: %s", name, strerror(-error));
    return error;
}

static struct merging *find_merging(const struct layer_sums *sums, const char *layer) {
    for (size_t i = 0; i < sums->count; i++) {
        const char *other = merging_layer(&sums->mergings[i]);
        if (!layer || !other || strcmp(layer, other) == 0)
            return &sums->mergings[i];
    }
    return NULL;
}

static struct merging *begin_merging(struct layer_sums *sums) {
    struct merging *grown = reallocarray(sums->mergings, sums->count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    sums->mergings = grown;
    grown[sums->count] = (struct merging){.sum_count = 0};
    return &grown[sums->count++];
}

int layer_sums_add(struct layer_sums *sums, const char *name, const struct aggstats_profile *profile) {
    struct merging *merging = find_merging(sums, aggstats_profile_label(profile, "layer"));
    if (!merging && sums->count == RECORDING_LAYERS_MAX) {
        complain("cannot merge %s: there are more than %d layers", name, RECORDING_LAYERS_MAX);
        return -E2BIG;
    }
    if (!merging)
        merging = begin_merging(sums);
    int error = merging ? merging_add(merging, profile) : -ENOMEM;
    return error ? complain_unmerged(name, profile, error) : 0;
}

static int add_sum(struct merging *merging, struct recording *recording) {
    struct aggstats_profile sum = {0};
    int error = merging_result(merging, &sum);
    if (error == 0)
        error = recording_add(recording, &sum);
    aggstats_profile_finish(&sum);
    return error;
}

int layer_sums_result(struct layer_sums *sums, struct recording *ret_recording) {
    char complaint[RECORDING_COMPLAINT_SIZE];
    int error = 0;
    for (size_t i = 0; i < sums->count && error == 0; i++)
        error = add_sum(&sums->mergings[i], ret_recording);
    if (error == -EOVERFLOW) {
        complain("cannot merge: the sum does not fit 64 bits");
    } else if (error) {
        complain("cannot merge: %s", strerror(-error));
    } else if (!recording_check(ret_recording, complaint)) {
        complain("cannot merge these profiles: the sum is no recording: %s", complaint);
        error = -EINVAL;
    }
    return error;
}

void layer_sums_finish(struct layer_sums *sums) {
    for (size_t i = 0; i < sums->count; i++)
        merging_finish(&sums->mergings[i]);
    free(sums->mergings);
    *sums = (struct layer_sums){0};
}
