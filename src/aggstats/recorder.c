/* Recorders: making and freeing them, and what is known of them. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "options.h"
#include "profile.h"
#include "text.h"

struct aggstats_block *aggstats_thread_block_slow(struct aggstats_recorder *recorder) {
    return threads_own_block(&recorder->threads, recorder->hot.id);
}

/* ---- Life cycle ---- */

static bool options_valid(const struct aggstats_recorder_options *options) {
    if (options->op_count == 0 || options->op_count > AGGSTATS_OPS_MAX ||
        !aggstats_resolution_valid(options->resolution))
        return false;
    for (unsigned op = 0; op < options->op_count; op++) {
        if (!text_name_valid(options->op_names[op]))
            return false;
        for (unsigned other = 0; other < op; other++)
            if (strcmp(options->op_names[op], options->op_names[other]) == 0)
                return false;
    }
    for (size_t i = 0; i < options->label_count; i++)
        if (!text_label_valid(&options->labels[i]))
            return false;
    return options->clock.kind == 0 || (clock_readable(options->clock.kind) && options->clock.frequency_hz > 0);
}

static int copy_names(struct aggstats_recorder *recorder, const struct aggstats_recorder_options *options) {
    recorder->op_names = calloc(options->op_count, sizeof(*recorder->op_names));
    if (!recorder->op_names)
        return -ENOMEM;
    for (unsigned op = 0; op < options->op_count; op++)
        text_name_copy(recorder->op_names[op], options->op_names[op]);
    recorder->label_count = options->label_count;
    return labels_copy(options->labels, options->label_count, &recorder->labels);
}

static void choose_clock(struct aggstats_recorder *recorder, const struct aggstats_recorder_options *options) {
    recorder->clock = options->clock;
    if (recorder->clock.kind == 0)
        clock_detect(&recorder->clock, &recorder->clock_measured);
    recorder->created = clock_pair_now(recorder->clock.kind);
}

static int recorder_init(struct aggstats_recorder *recorder, const struct aggstats_recorder_options *options) {
    recorder->layout = layout_make(options->op_count, options->resolution);
    recorder->live = (struct live){.fd = -1, .directory_fd = -1};
    pthread_mutex_init(&recorder->window_lock, NULL);
    pthread_mutex_init(&recorder->sampler_lock, NULL);
    int err = copy_names(recorder, options);
    if (err == 0)
        err = joints_init(&recorder->joints, &recorder->layout);
    if (err == 0)
        err = threads_init(&recorder->threads, &recorder->layout, &recorder->live);
    if (err < 0)
        return err;
    choose_clock(recorder, options);
    return live_create(&recorder->live, options, &recorder->layout, &recorder->clock);
}

/* From here on nothing can fail, and threads may count. */
static void recorder_register(struct aggstats_recorder *recorder) {
    recorder->hot = (struct aggstats_recorder_hot){
        .id = threads_register(&recorder->threads),
        .clock_kind = recorder->clock.kind,
        .resolution = recorder->layout.resolution,
        .counters_stride_bytes = (uint32_t)recorder->layout.counters_stride_bytes,
    };
}

static void recorder_free(struct aggstats_recorder *recorder) {
    threads_finish(&recorder->threads);
    live_finish(&recorder->live);
    timeline_destroy(recorder->timeline);
    joints_finish(&recorder->joints);
    pthread_mutex_destroy(&recorder->window_lock);
    pthread_mutex_destroy(&recorder->sampler_lock);
    labels_free(recorder->labels, recorder->label_count);
    free(recorder->op_names);
    free(recorder);
}

static int create(const struct aggstats_recorder_options *options, struct aggstats_recorder **ret_recorder) {
    if (!options_valid(options))
        return -EINVAL;
    struct aggstats_recorder *recorder = calloc(1, sizeof(*recorder));
    if (!recorder)
        return -ENOMEM;
    int err = recorder_init(recorder, options);
    if (err < 0) {
        recorder_free(recorder);
        return err;
    }
    recorder_register(recorder);
    *ret_recorder = recorder;
    return 0;
}

int aggstats_recorder_create_sized(unsigned abi, const struct aggstats_recorder_options *options, size_t options_bytes,
                                   struct aggstats_recorder **ret_recorder) {
    struct aggstats_recorder_options own = {0};
    if (abi != AGGSTATS_ABI)
        return -EPROTO;
    int err = options_copy(&own, sizeof(own), options, options_bytes);
    return err < 0 ? err : create(&own, ret_recorder);
}

void aggstats_recorder_destroy(struct aggstats_recorder *recorder) {
    if (!recorder)
        return;
    sampler_stop(recorder->sampler);
    grouping_stop(recorder->grouping);
    threads_unregister(&recorder->threads);
    /* what is left of the profile in the live file then tells its true duration */
    __atomic_store_n(&recorder->live.header->seen_cycles, aggstats_clock_now(recorder->clock.kind), __ATOMIC_RELAXED);
    recorder_free(recorder);
}

/* ---- Questions ---- */

int aggstats_recorder_unlink_live(struct aggstats_recorder *recorder) {
    return live_unlink(&recorder->live);
}

const char *aggstats_recorder_live_path(const struct aggstats_recorder *recorder) {
    return recorder->live.path;
}

bool aggstats_recorder_live_complete(const struct aggstats_recorder *recorder) {
    return !__atomic_load_n(&recorder->live.header->incomplete, __ATOMIC_ACQUIRE);
}

struct aggstats_clock aggstats_recorder_clock(const struct aggstats_recorder *recorder) {
    struct aggstats_clock clock = recorder->clock;
    if (!recorder->clock_measured)
        return clock;
    struct clock_pair now = clock_pair_now(clock.kind);
    const uint64_t worth_while_ns = 1000000000; /* well beyond the first measurement */
    if (now.raw_ns - recorder->created.raw_ns > worth_while_ns)
        clock.frequency_hz = clock_pair_frequency(&recorder->created, &now);
    return clock;
}
