/* Groups of a recorder. */
#include "base.h"
#include "options.h"
#include "quiet_lock.h"
#include "recorder.h"

static int start(struct aggstats_recorder *recorder) {
    grouping_stop(steal_pointer(&recorder->grouping)); /* the parent's */
    struct grouping *grouping = NULL;
    sigset_t before;
    int err = grouping_start(&recorder->threads, &grouping);
    quiet_lock(&recorder->window_lock, &before); /* not while somebody forks */
    recorder->grouping = grouping;
    quiet_unlock(&recorder->window_lock, &before);
    return err;
}

int aggstats_recorder_group_sized(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                                  size_t options_bytes) {
    struct aggstats_grouping_options wanted = {0};
    int err = options_copy(&wanted, sizeof(wanted), options, options_bytes);
    if (err < 0)
        return err;
    if (wanted.groups_max == 0)
        wanted.groups_max = AGGSTATS_GROUPS_DEFAULT;
    if (aggstats_grouping_has_objects(wanted.grouping) != (wanted.name_object != NULL) ||
        (wanted.grouping == AGGSTATS_BY_DIRECTORY) != (wanted.place_of != NULL))
        return -EINVAL;
    if (!aggstats_grouping_name(wanted.grouping) || wanted.groups_max < AGGSTATS_GROUPS_MIN ||
        wanted.groups_max > AGGSTATS_GROUPS_MAX)
        return -EINVAL;
    err = recorder_grouping(recorder) ? 0 : start(recorder);
    return err < 0 ? err : grouping_add_table(recorder->grouping, &wanted);
}

/* Not inlined: the fast way is to have no frame for it. */
static __attribute__((noinline)) void add_slowly(struct aggstats_recorder *recorder, unsigned op,
                                                 const struct aggstats_call_of *of, uint64_t latency_cycles) {
    const struct queued_call call = {.latency_cycles = latency_cycles, .of = *of, .op = (uint16_t)op};
    if (recorder->front.id != 0) /* see recorder.c */
        grouping_add_slowly(recorder->grouping, threads_own_queue(&recorder->threads, recorder->front.id), &call);
}

void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_call_of *of,
                        uint64_t latency_cycles) {
    struct grouping *grouping = recorder_grouping(recorder);
    if (grouping && !grouping_add_fast(grouping, threads_known_queue(recorder->front.id), op, of, latency_cycles))
        add_slowly(recorder, op, of, latency_cycles);
}
