/* Layers of one run, kept in order. */
#include "recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "layers.h"
#include "merging.h"
#include "output.h"

/* ---- Layers ------------------------------------------------------------------------------------- */

static enum layer rank_of(const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    return layers_of_name(layer ? layer : "");
}

int recording_add(struct recording *recording, struct aggstats_profile *profile) {
    size_t place = recording->count;
    if (grow_array(&recording->layers, recording->count, sizeof(*profile)) != 0)
        return -ENOMEM;
    for (; place > 0 && rank_of(&recording->layers[place - 1]) > rank_of(profile); place--)
        recording->layers[place] = recording->layers[place - 1];
    recording->layers[place] = *profile;
    recording->count++;
    *profile = (struct aggstats_profile){0};
    return 0;
}

size_t recording_find(const struct recording *recording, const char *name) {
    size_t place = 0;
    while (place < recording->count && strcmp(layers_name(&recording->layers[place]), name) != 0)
        place++;
    return place;
}

void recording_format_names(const struct recording *recording, char *ret_text, size_t size_bytes) {
    size_t length = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < recording->count && length < size_bytes; i++) {
        const char *before = i == 0 ? "" : i + 1 == recording->count ? " and " : ", ";
        int written =
            snprintf(ret_text + length, size_bytes - length, "%s%s", before, layers_name(&recording->layers[i]));
        length += written > 0 ? (size_t)written : 0;
    }
}

/* ---- Checks ------------------------------------------------------------------------------------- */

bool recording_check(const struct recording *recording, char ret_complaint[RECORDING_COMPLAINT_SIZE]) {
    const char *first_host = NULL;
    const char *first_layer = NULL;
    for (size_t i = 0; recording->count > 1 && i < recording->count; i++) {
        const char *layer = aggstats_profile_label(&recording->layers[i], "layer");
        if (!layer || !layer[0])
            snprintf(ret_complaint, RECORDING_COMPLAINT_SIZE,
                     "one of its profiles does not say of which layer it is; add a line \"# layer: NAME\"");
        else if (recording_find(recording, layer) != i)
            snprintf(ret_complaint, RECORDING_COMPLAINT_SIZE,
                     "the layer %.60s is in it twice; 'osprof save' adds profiles up", layer);
        else
            continue;
        return false;
    }
    for (size_t i = 0; i < recording->count; i++) {
        const char *host = aggstats_profile_label(&recording->layers[i], "host");
        const char *layer = aggstats_profile_label(&recording->layers[i], "layer");
        if (host && first_host && strcmp(host, first_host) != 0) {
            snprintf(ret_complaint, RECORDING_COMPLAINT_SIZE,
                     "its layers are of different hosts: %.20s of %.60s, %.20s of %.60s", first_layer, first_host,
                     layer, host);
            return false;
        }
        first_layer = first_host ? first_layer : layer;
        first_host = first_host ? first_host : host;
    }
    return true;
}

/* ---- Text --------------------------------------------------------------------------------------- */

/* A callback of output_format(). */
static int write_layers(const void *context, FILE *stream) {
    const struct recording *recording = context;
    int error = 0;
    for (size_t i = 0; i < recording->count && error == 0; i++)
        error = aggstats_profile_write(&recording->layers[i], stream);
    return error;
}

int recording_format(const struct recording *recording, char **ret_text, size_t *ret_size_bytes) {
    return output_format(write_layers, recording, ret_text, ret_size_bytes);
}

mode_t recording_mode(const struct recording *recording) {
    mode_t mode = 0644;
    for (size_t i = 0; i < recording->count; i++)
        mode &= output_mode(&recording->layers[i]);
    return mode;
}

int recording_write(const char *path, const struct recording *recording) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = recording_format(recording, &text, &size_bytes);
    return error ? error : output_write(path, recording_mode(recording), text, size_bytes);
}

void recording_finish(struct recording *recording) {
    for (size_t i = 0; i < recording->count; i++)
        aggstats_profile_finish(&recording->layers[i]);
    free(recording->layers);
    *recording = (struct recording){.layers = NULL};
}

/* ---- Sums ------------------------------------------------------------------------------------ */

int layer_sums_add(struct layer_sums *sums, const char *name, const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    struct merging *merging = NULL;
    int error = 0;
    for (size_t i = 0; i < sums->count && !merging; i++) {
        const char *other = merging_layer(&sums->mergings[i]);
        if (!layer || !other || strcmp(layer, other) == 0)
            merging = &sums->mergings[i];
    }
    if (!merging && sums->count == RECORDING_LAYERS_MAX) {
        complain("cannot sum up %s: there are more than %d layers", name, RECORDING_LAYERS_MAX);
        return -E2BIG;
    }
    if (!merging && grow_array(&sums->mergings, sums->count, sizeof(*merging)) == 0) {
        merging = &sums->mergings[sums->count++];
        *merging = (struct merging){.sum_count = 0}; /* NOLINT(clang-analyzer-core.NullDereference): there is room */
    }
    error = merging ? merging_add(merging, profile) : -ENOMEM;
    if (error == -EDOM && profile->clock.frequency_hz == 0)
        complain("cannot sum up %s: it does not tell its clock's rate, as those before it do", name);
    else if (error == -EDOM)
        complain("cannot sum up %s: it tells its clock's rate, which those before it do not", name);
    else if (error == -EOVERFLOW)
        complain("cannot sum up %s: the sum does not fit 64 bits", name);
    else if (error == -E2BIG)
        complain("cannot sum up %s: too many different operations", name);
    else if (error)
        complain("cannot sum up %s: %s", name, strerror(-error));
    return error;
}

int layer_sums_result(struct layer_sums *sums, struct recording *ret_recording) {
    char complaint[RECORDING_COMPLAINT_SIZE];
    int error = 0;
    for (size_t i = 0; i < sums->count && error == 0; i++) {
        struct aggstats_profile sum = {0};
        error = merging_result(&sums->mergings[i], &sum);
        if (error == 0)
            error = recording_add(ret_recording, &sum);
        aggstats_profile_finish(&sum);
    }
    if (error == -EOVERFLOW) {
        complain("cannot sum up: the sum does not fit 64 bits");
    } else if (error) {
        complain("cannot sum up: %s", strerror(-error));
    } else if (!recording_check(ret_recording, complaint)) {
        complain("cannot sum these profiles: they are no run of several layers: %s", complaint);
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
