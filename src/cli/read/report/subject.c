/* Profiles, added up. */
#include "subject.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "layers_page.h"
#include "output.h"
#include "screen.h"

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

static int put_layers(const void *recording, FILE *stream) {
    const struct screen screen = screen_of_html(stream);
    const struct layers_page layers = {.recording = recording};
    return layers_page_print(&layers, &screen);
}

int subject_settle(struct subject *subject, const char *name, struct input_layer *layer) {
    const struct recording *layers = &subject->input.layers;
    int error = subject->count > 1 ? take_sum(subject) : 0;
    if (!error && layers->count > 0) {
        size_t size_bytes;
        error = output_format(put_layers, layers, &subject->layers, &size_bytes);
        if (error)
            complain("cannot report on %s: %s", name, strerror(-error));
    }
    subject->mode = output_mode(&subject->input.profile);
    for (size_t i = 0; i < layers->count; i++)
        subject->mode &= output_mode(&layers->layers[i]);
    if (!error)
        error = input_choose(name, layer, &subject->input);
    if (error)
        return error;
    const struct daemon_state daemon = daemon_state_find(&subject->input);
    if (!daemon_state_warn(&daemon, subject->warning))
        subject->warning[0] = '\0';
    subject->layer = subject->layers ? aggstats_profile_label(&subject->input.profile, "layer") : NULL;
    in_flight_find_out(&subject->input);
    return 0;
}

void subject_finish(struct subject *subject) {
    input_finish(&subject->input);
    layer_sums_finish(&subject->sums);
    free(subject->layers);
}
