/* From counters to a profile. */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats/fields.h"
#include "base.h"
#include "profile_owned.h"
#include "recorder_state.h"
#include "text_format.h"

static int add_op(struct aggstats_profile *profile, const char *name, const struct aggstats_counters *visible) {
    size_t buckets_bytes = 64 * (size_t)profile->resolution * sizeof(uint64_t);
    uint64_t *buckets = malloc(buckets_bytes);
    if (!buckets)
        return -ENOMEM;
    const uint64_t *beside = &visible->buckets[64 * (size_t)profile->resolution];
    memcpy(buckets, visible->buckets, buckets_bytes);
    struct aggstats_op_profile *op = &profile->ops[profile->op_count++];
    *op = (struct aggstats_op_profile){
        .calls = visible->calls,
        .total_cycles = visible->total_cycles,
        .buckets = buckets,
        .asked_bytes = beside[AGGSTATS_ASKED],
        .moved_bytes = beside[AGGSTATS_MOVED],
        .longest_cycles = visible->longest_cycles,
        .longest_object = beside[AGGSTATS_LONGEST_OBJECT],
    };
    memcpy(op->failures, &beside[AGGSTATS_FAILED], sizeof(op->failures));
    text_name_copy(op->name, name);
    return 0;
}

static int add_ops(struct aggstats_profile *profile, const struct snapshot_source *source) {
    const struct layout *layout = &source->tally->layout;
    profile->ops = calloc(layout->op_count, sizeof(*profile->ops));
    CLEANUP_FREE struct aggstats_counters *visible = malloc(layout->counters_stride_bytes);
    if (!profile->ops || !visible)
        return -ENOMEM;
    for (unsigned op = 0; op < layout->op_count; op++) {
        window_visible(source->window, source->tally, op, visible);
        int err = visible->calls > 0 ? add_op(profile, source->op_names[op], visible) : 0;
        if (err < 0)
            return err;
        if (visible->calls > 0 && profile->busy.by_op)
            profile->ops[profile->op_count - 1].busy_looks = live_busy_looks(source->looks, op, profile->busy.busy);
    }
    aggstats_profile_sort(profile);
    return 0;
}

static int add_calls_in_flight(struct aggstats_profile *profile, const struct snapshot_source *source) {
    const struct tally *tally = source->tally;
    int err = 0;
    for (size_t i = 0; i < tally->in_flight_count && !source->window->paused && err == 0; i++) {
        const struct tally_call *call = &tally->in_flight[i];
        struct aggstats_call shown = {.is_in_flight = true, .object = call->object, .pid = call->pid};
        if (call->start_cycles > 0 && source->now_cycles > call->start_cycles)
            shown.latency_cycles = source->now_cycles - call->start_cycles;
        text_name_copy(shown.op, source->op_names[call->op]);
        err = calls_append(&profile->in_flight, &profile->in_flight_count, &shown);
    }
    return err;
}

static int fill_profile(struct aggstats_profile *profile, const struct snapshot_source *source) {
    *profile = (struct aggstats_profile){
        .resolution = source->tally->layout.resolution,
        .clock = source->clock,
        .start_ns = source->window->start_ns,
        .has_start = true,
        .elapsed_cycles = window_elapsed_cycles(source->window, source->now_cycles),
        .has_elapsed = true,
        .clamped = window_visible_clamped(source->window, source->tally),
        .incomplete = source->incomplete,
        .busy = live_busy(source->header),
    };
    profile->busy.by_op = source->looks && profile->busy.looks > 0;
    facts_read_live(profile, source->header->facts_known, source->header->facts);
    if (!source->recorder)
        profile->live_groupings = (unsigned)source->header->facts[FACT_GROUPINGS];
    int err = labels_copy(source->labels, source->label_count, &profile->labels);
    if (err < 0)
        return err;
    profile->label_count = source->label_count;
    err = add_ops(profile, source);
    if (err == 0)
        err = add_calls_in_flight(profile, source);
    if (err == 0)
        err = slow_store_show(source->slow, source->op_names, source->tally, profile);
    for (unsigned place = 0; source->recorder && place < PROBES_MAX && err == 0; place++) {
        struct probe *probe = recorder_probe(source->recorder, place);
        if (probe && probe->ops->show)
            err = probe->ops->show(probe, source, profile);
    }
    return err;
}

int snapshot_make(const struct snapshot_source *source, struct aggstats_profile *ret_profile) {
    struct aggstats_profile profile;
    int err = fill_profile(&profile, source);
    if (err < 0) {
        aggstats_profile_finish(&profile);
        return err;
    }
    *ret_profile = profile;
    return 0;
}
