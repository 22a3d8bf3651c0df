/* Groups of a recorder. */
#include "aggstats/caller_groups.h"
#include <errno.h>

#include "grouping.h"
#include "places.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "snapshot.h"

static struct grouping *to_grouping(struct probe *probe) {
    _Static_assert(offsetof(struct grouping, probe) == 0, "a probe's address is its groupings'");
    return (struct grouping *)probe;
}

/* Those in this process; NULL: none. */
static struct grouping *grouping_of(const struct aggstats_recorder *recorder) {
    return to_grouping(recorder_probe(recorder, PROBE_GROUPS));
}

/* ---- As a probe ---- */

static void prepare(struct probe *probe) {
    grouping_ask_names(to_grouping(probe));
}

static void take_in(struct probe *probe) {
    grouping_take_in(to_grouping(probe));
}

static void reset(struct probe *probe) {
    grouping_reset(to_grouping(probe));
}

static void freeze(struct probe *probe) {
    grouping_set_paused(to_grouping(probe), true);
}

static void thaw(struct probe *probe) {
    grouping_set_paused(to_grouping(probe), false);
}

static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    return grouping_show(to_grouping(probe), source->is_marked, source->op_names, profile);
}

static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    grouping_end_marks(to_grouping(probe), taken != NULL);
}

static void lock(struct probe *probe) {
    pthread_mutex_lock(&to_grouping(probe)->lock);
}

static void unlock(struct probe *probe) {
    pthread_mutex_unlock(&to_grouping(probe)->lock);
}

static void destroy(struct probe *probe) {
    grouping_stop(to_grouping(probe));
}

static const struct probe_ops ops = {
    .prepare = prepare,
    .read = take_in,
    .reset = reset,
    .pause = freeze,
    .resume = thaw,
    .show = show,
    .end_mark = end_mark,
    .lock = lock,
    .unlock = unlock,
    .leave = probe_leave,
    .destroy = destroy,
};

/* ---- The interface ---- */

static int start(struct aggstats_recorder *recorder) {
    struct grouping *grouping;
    int err = grouping_start(&recorder->threads, &grouping);
    if (err < 0)
        return err;
    grouping->probe = (struct probe){.ops = &ops, .recorder = recorder};
    struct probe *parents = recorder_attach(recorder, PROBE_GROUPS, &grouping->probe);
    if (parents)
        destroy(parents);
    return 0;
}

/* Fills in the default. Returns false if it is wrong. */
static bool settle(struct aggstats_grouping_options *wanted) {
    const bool has_places = /* calls on an object count for another one */
        wanted->grouping == AGGSTATS_BY_DIRECTORY || wanted->grouping == AGGSTATS_BY_FILESYSTEM;
    if (wanted->groups_max == 0)
        wanted->groups_max = AGGSTATS_GROUPS_DEFAULT;
    return aggstats_grouping_has_objects(wanted->grouping) == (wanted->name_object != NULL) &&
           has_places == (wanted->place_of != NULL) && aggstats_grouping_name(wanted->grouping) &&
           wanted->groups_max >= AGGSTATS_GROUPS_MIN && wanted->groups_max <= AGGSTATS_GROUPS_MAX;
}

static int begin(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options, unsigned count,
                 bool is_late) {
    struct aggstats_grouping_options wanted[AGGSTATS_GROUPINGS];
    unsigned kinds = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i == AGGSTATS_GROUPINGS || (kinds & 1U << options[i].grouping))
            return -EINVAL;
        wanted[i] = options[i];
        kinds |= 1U << options[i].grouping;
        if (!settle(&wanted[i]))
            return -EINVAL;
    }
    int err = grouping_of(recorder) ? 0 : start(recorder);
    if (err == 0)
        err = grouping_begin(grouping_of(recorder), wanted, count, is_late);
    if (err == 0)
        live_fact_set(recorder->live.header, FACT_GROUPINGS, live_fact(recorder->live.header, FACT_GROUPINGS) | kinds);
    return err;
}

int aggstats_recorder_group(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options) {
    return begin(recorder, options, 1, false);
}

int aggstats_recorder_begin_groups(struct aggstats_recorder *recorder, const struct aggstats_grouping_options *options,
                                   unsigned count) {
    sigset_t before;
    quiet_lock(&recorder->probes_lock, &before);
    int err = begin(recorder, options, count, true);
    quiet_unlock(&recorder->probes_lock, &before);
    return err;
}

void aggstats_recorder_end_groups(struct aggstats_recorder *recorder) {
    sigset_t before;
    quiet_lock(&recorder->probes_lock, &before);
    struct grouping *grouping = grouping_of(recorder);
    if (grouping)
        grouping_end(grouping);
    live_fact_set(recorder->live.header, FACT_GROUPINGS, 0);
    quiet_unlock(&recorder->probes_lock, &before);
}

/* ---- Counting ---- */

/* Not inlined: the fast way is to have no frame for it. */
static __attribute__((noinline)) void add_slowly(struct aggstats_recorder *recorder, unsigned op,
                                                 const struct aggstats_call_of *of, uint64_t latency_cycles) {
    const struct queued_call call = {.latency_cycles = latency_cycles, .of = *of, .op = (uint16_t)op};
    if (recorder->front.id != 0) /* see recorder.c */
        grouping_add_slowly(grouping_of(recorder), threads_own_queue(&recorder->threads, recorder->front.id), &call);
}

void aggstats_group_add(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_call_of *of,
                        uint64_t latency_cycles) {
    struct grouping *grouping = grouping_of(recorder);
    if (grouping && !grouping_add_fast(grouping, threads_known_queue(recorder->front.id), op, of, latency_cycles))
        add_slowly(recorder, op, of, latency_cycles);
}

void aggstats_group_add_calls(struct aggstats_recorder *recorder, const struct aggstats_group_calls *calls) {
    struct grouping *grouping = grouping_of(recorder);
    if (grouping)
        grouping_add_calls(grouping, calls);
}
