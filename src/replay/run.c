/* Running a plan: a thread for each lane, which does its operations in order, each at its time and when what it waits
 * for is done. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base.h"
#include "replay_private.h"

#define NAP_NS 100000000 /* how long a thread sleeps at most before it checks whether to stop */
#define STACK_BYTES (256U << 10)

/* ---- Waiting ---- */

static void wait_until_due(struct replay *replay, int64_t due) {
    int64_t left;
    while (!*replay->stop && (left = replay->started_ns + due - read_clock_ns(CLOCK_MONOTONIC)) > 0) {
        int64_t nap = left < NAP_NS ? left : NAP_NS;
        const struct timespec ts = {.tv_nsec = (long)nap};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
    }
}

/* The thread that ends the last operation that another waits for wakes its thread. */
static void wait_for_others(struct replay_lane *lane, struct replay_op *op) {
    if (atomic_load_explicit(&op->pending, memory_order_acquire) == 0)
        return;
    pthread_mutex_lock(&lane->mutex);
    while (atomic_load_explicit(&op->pending, memory_order_acquire) > 0)
        pthread_cond_wait(&lane->is_ready, &lane->mutex);
    pthread_mutex_unlock(&lane->mutex);
}

static void release_others(struct replay *replay, uint32_t place) {
    for (uint32_t i = replay->ops.at[place].first_edge; i && i < replay->edges.count; i++) {
        if (replay->edges.at[i].from != place)
            return;
        struct replay_op *other = &replay->ops.at[replay->edges.at[i].to];
        struct replay_lane *lane = &replay->lanes[other->lane];
        if (atomic_fetch_sub_explicit(&other->pending, 1, memory_order_acq_rel) != 1)
            continue;
        pthread_mutex_lock(&lane->mutex);
        pthread_cond_signal(&lane->is_ready);
        pthread_mutex_unlock(&lane->mutex);
    }
}

/* ---- Operations ---- */

static void do_op(struct replay_lane *lane, struct replay_op *op) {
    lane->reason = REPLAY_DONE;
    lane->latency_cycles = 0;
    lane->moved_bytes = 0;
    op->begun_ns = read_clock_ns(CLOCK_MONOTONIC) - lane->replay->started_ns;
    int err = op->row->run(lane, op);
    op->reason = (uint8_t)lane->reason;
    op->new_error = (uint16_t)(err < 0 ? -err : 0);
    op->new_latency_cycles = lane->latency_cycles;
    op->new_result = lane->moved_bytes;
}

static void run_op(struct replay_lane *lane, struct replay_op *op) {
    struct replay *replay = lane->replay;
    if (!replay->options.is_fast)
        wait_until_due(replay, replay_recorded_ns(replay, op->start_cycles));
    wait_for_others(lane, op);
    if (*replay->stop)
        op->reason = REPLAY_STOPPED;
    else if (op->plan_reason)
        op->reason = op->plan_reason;
    else
        do_op(lane, op);
    release_others(replay, (uint32_t)(op - replay->ops.at));
}

static void *run_lane(void *context) {
    struct replay_lane *lane = context;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    for (uint32_t place = lane->first_op; place; place = lane->replay->ops.at[place].next_of_lane)
        run_op(lane, &lane->replay->ops.at[place]);
    close_fd(&lane->parent_fd);
    free(lane->buffer);
    lane->buffer = NULL;
    return NULL;
}

/* ---- Threads ---- */

static int start_lanes(struct replay *replay) {
    pthread_attr_t attr;
    int err = -pthread_attr_init(&attr);
    if (err == 0)
        err = -pthread_attr_setstacksize(&attr, STACK_BYTES);
    for (uint32_t i = 0; err == 0 && i < replay->lane_count; i++) {
        struct replay_lane *lane = &replay->lanes[i];
        err = -pthread_create(&lane->thread, &attr, run_lane, lane);
        lane->is_started = err == 0;
    }
    pthread_attr_destroy(&attr);
    return err;
}

/* If not all could be started, those that were would wait for the others for ever: so the others' operations are
 * skipped here. */
static void finish_lanes(struct replay *replay, volatile sig_atomic_t *stop_now) {
    for (uint32_t i = 0; i < replay->lane_count; i++)
        if (!replay->lanes[i].is_started)
            *stop_now = 1;
    for (uint32_t i = 0; i < replay->lane_count; i++)
        if (!replay->lanes[i].is_started)
            run_lane(&replay->lanes[i]);
    for (uint32_t i = 0; i < replay->lane_count; i++)
        if (replay->lanes[i].is_started)
            pthread_join(replay->lanes[i].thread, NULL);
}

static void init_lanes(struct replay *replay) {
    for (uint32_t i = 0; i < replay->lane_count; i++) {
        struct replay_lane *lane = &replay->lanes[i];
        lane->replay = replay;
        lane->parent_fd = -1;
        pthread_mutex_init(&lane->mutex, NULL);
        pthread_cond_init(&lane->is_ready, NULL);
    }
}

/* ---- The whole ---- */

/* To the maximum of this process. */
static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Numbers that look like data: some file systems store zeros without work. */
static unsigned char *make_pattern(void) {
    uint64_t *words = NULL;
    uint64_t state = UINT64_C(88172645463325252);
    if (posix_memalign((void **)&words, 4096, PATTERN_BYTES) != 0)
        return NULL;
    for (size_t i = 0; i < PATTERN_BYTES / sizeof(*words); i++) {
        state ^= state << 13; /* xorshift64 */
        state ^= state >> 7;
        state ^= state << 17;
        words[i] = state;
    }
    return (unsigned char *)words;
}

static void close_handles(struct replay *replay) {
    for (uint32_t i = 1; i < replay->handles.count; i++)
        close_fd(&replay->handles.at[i].fd);
}

static int run_prepared(struct replay *replay) {
    volatile sig_atomic_t stop_now = 0;
    int err = replay_populate(replay);
    if (err < 0 && err != -EINTR)
        return err;
    init_lanes(replay);
    replay->started_unix_ns = read_clock_ns(CLOCK_REALTIME);
    replay->started_ns = read_clock_ns(CLOCK_MONOTONIC);
    err = start_lanes(replay);
    if (err < 0)
        replay->stop = &stop_now;
    finish_lanes(replay, &stop_now);
    replay->ended_ns = read_clock_ns(CLOCK_MONOTONIC);
    return err;
}

int replay_run(struct replay *replay, int dir_fd, const struct replay_options *options,
               const volatile sig_atomic_t *stop) {
    struct stat attr;
    if (fstat(dir_fd, &attr) < 0)
        return negative_errno();
    replay->root_device = attr.st_dev;
    replay->options = *options;
    replay->stop = stop;
    replay->root_fd = dir_fd;
    replay->pattern = make_pattern();
    if (!replay->pattern)
        return -ENOMEM;
    aggstats_clock_detect(&replay->clock);
    pthread_rwlock_init(&replay->places_lock, NULL);
    pthread_mutex_init(&replay->charge_lock, NULL);
    raise_limit();
    mode_t mask = umask(0);
    int err = run_prepared(replay);
    umask(mask);
    close_handles(replay);
    free(replay->pattern);
    return err < 0 ? err : replay_sum_up(replay);
}
