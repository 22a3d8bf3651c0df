/* Layers of one run, kept in order. */
#include "recording.h"

#include <string.h>

#include "base.h"
#include "layers.h"
#include "output.h"

static size_t rank_of(const struct aggstats_profile *profile) {
    const char *layer = aggstats_profile_label(profile, "layer");
    return layers_rank(layer ? layer : "");
}

int recording_add(struct recording *recording, struct aggstats_profile *profile) {
    struct aggstats_profile *grown = reallocarray(recording->layers, recording->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    size_t place = recording->count;
    recording->layers = grown;
    for (; place > 0 && rank_of(&grown[place - 1]) > rank_of(profile); place--)
        grown[place] = grown[place - 1];
    grown[place] = *profile;
    recording->count++;
    *profile = (struct aggstats_profile){0};
    return 0;
}

int recording_format(const struct recording *recording, char **ret_text, size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    int error = 0;
    for (size_t i = 0; i < recording->count && error == 0; i++)
        error = aggstats_profile_write(&recording->layers[i], stream);
    if (fclose(stream) != 0 && error == 0)
        error = negative_errno();
    if (error)
        return error;
    *ret_text = steal_pointer(&text);
    *ret_size_bytes = size_bytes;
    return 0;
}

mode_t recording_mode(const struct recording *recording) {
    mode_t mode = 0644;
    for (size_t i = 0; i < recording->count; i++)
        mode &= output_mode(&recording->layers[i]);
    return mode;
}

void recording_finish(struct recording *recording) {
    for (size_t i = 0; i < recording->count; i++)
        aggstats_profile_finish(&recording->layers[i]);
    free(recording->layers);
    *recording = (struct recording){.layers = NULL};
}
