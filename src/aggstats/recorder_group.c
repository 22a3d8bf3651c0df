/* Groups of a recorder. */
#include "options.h"
#include "recorder.h"

int aggstats_recorder_group_sized(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                                  size_t options_bytes) {
    struct aggstats_grouping_options wanted = {0};
    int err = options_copy(&wanted, sizeof(wanted), options, options_bytes);
    if (err < 0)
        return err;
    if (wanted.groups_max == 0)
        wanted.groups_max = AGGSTATS_GROUPS_DEFAULT;
    if (!aggstats_grouping_name(wanted.grouping) || wanted.groups_max < AGGSTATS_GROUPS_MIN ||
        wanted.groups_max > AGGSTATS_GROUPS_MAX)
        return -EINVAL;
    if (recorder->grouping)
        return -EBUSY;
    return grouping_start(&recorder->threads, &wanted, &recorder->grouping);
}

void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, uint32_t caller, bool is_kernel,
                        uint64_t latency_cycles) {
    if (!recorder->grouping)
        return;
    const struct event event = {
        .latency_cycles = latency_cycles, .caller = caller, .op = (uint16_t)op, .is_kernel = is_kernel};
    grouping_add(recorder->grouping, threads_own_events(&recorder->threads, recorder->hot.id), &event);
}
