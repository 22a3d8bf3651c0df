/* Assigning operations to threads: one for each recorded thread. Recorded threads that did not exist at the same time
 * share one, so the replay has as many threads as existed at once. Overlapping calls of a thread (the kernel makes
 * such, to read ahead) get threads of their own. */
#include <string.h>

#include "base.h"
#include "replay_private.h"

/* A recorded thread. */
struct thread {
    uint64_t last_cycles; /* when its last call ended */
    uint32_t lane;        /* from 1; 0: it has had no call yet */
};

struct threads {
    struct number_map places;
    struct thread *at; /* [count] from 1 */
    uint32_t count;
};

static uint64_t end_of(const struct replay_op *op) {
    uint64_t end = op->start_cycles + op->latency_cycles;
    return end < op->start_cycles ? UINT64_MAX : end;
}

/* A lane that is free from then on; if there are too many lanes, the one that will be free first. */
static uint32_t find_lane(struct replay *replay, uint64_t from_cycles) {
    uint32_t best = 0;
    for (uint32_t lane = 0; lane < replay->lane_count; lane++) {
        if (replay->lanes[lane].free_cycles <= from_cycles)
            return lane;
        if (replay->lanes[lane].free_cycles < replay->lanes[best].free_cycles)
            best = lane;
    }
    return replay->lane_count < THREADS_MAX ? replay->lane_count++ : best;
}

static int find_threads(struct replay *replay, struct threads *threads) {
    threads->at = calloc(replay->ops.count + 1, sizeof(*threads->at));
    for (uint32_t i = 1; threads->at && i < replay->ops.count; i++) {
        uint32_t place = replay_map_get(&threads->places, replay->ops.at[i].thread);
        if (!place) {
            place = ++threads->count;
            replay_map_set(replay, &threads->places, replay->ops.at[i].thread, place);
        }
        if (threads->at[place].last_cycles < end_of(&replay->ops.at[i]))
            threads->at[place].last_cycles = end_of(&replay->ops.at[i]);
    }
    return threads->at ? replay->error : -ENOMEM;
}

/* busy: ends of the lanes' last operations. */
static uint32_t choose_lane(struct replay *replay, struct thread *thread, const struct replay_op *op,
                            const uint64_t *busy_cycles) {
    if (!thread->lane) {
        uint32_t lane = find_lane(replay, op->start_cycles);
        thread->lane = lane + 1;
        replay->lanes[lane].free_cycles = thread->last_cycles;
        return lane;
    }
    if (busy_cycles[thread->lane - 1] <= op->start_cycles)
        return thread->lane - 1;
    uint32_t lane = find_lane(replay, op->start_cycles);
    if (replay->lanes[lane].free_cycles < end_of(op))
        replay->lanes[lane].free_cycles = end_of(op);
    return lane;
}

static void append(struct replay *replay, uint32_t lane, uint32_t place) {
    struct replay_lane *to = &replay->lanes[lane];
    replay->ops.at[place].lane = lane;
    if (to->last_op)
        replay->ops.at[to->last_op].next_of_lane = place;
    else
        to->first_op = place;
    to->last_op = place;
}

int replay_plan_lanes(struct replay *replay) {
    struct threads threads = {0};
    CLEANUP_FREE uint64_t *busy_cycles = calloc(THREADS_MAX, sizeof(*busy_cycles));
    replay->lanes = calloc(THREADS_MAX, sizeof(*replay->lanes));
    int err = busy_cycles && replay->lanes ? find_threads(replay, &threads) : -ENOMEM;
    for (uint32_t i = 1; err == 0 && i < replay->ops.count; i++) {
        struct thread *thread = &threads.at[replay_map_get(&threads.places, replay->ops.at[i].thread)];
        uint32_t lane = choose_lane(replay, thread, &replay->ops.at[i], busy_cycles);
        append(replay, lane, i);
        busy_cycles[lane] = end_of(&replay->ops.at[i]);
    }
    replay->recorded_threads = threads.count;
    free(threads.at);
    number_map_finish(&threads.places);
    return err;
}
