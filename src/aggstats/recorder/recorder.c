/* Recorders: making and freeing them, what a fork does to them, and questions about them.
 *
 * A child process has its parent's memory, but the live file is the parent's, and other threads, with the changes they
 * are about to make, stay behind. So all locks are held while a process forks. The child's recorders then start anew in
 * memory of their own, before fork() returns there. A child that is made without fork handlers (_Fork(), clone()
 * itself) has no recorder: what it counts is dropped. */
#include "recorder_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "aggstats/lane.h"
#include "aggstats/shared.h"
#include "base.h"
#include "profile_owned.h"
#include "quiet_lock.h"
#include "text_format.h"

static struct aggstats_block *own_block(struct aggstats_recorder *recorder) {
    const uint64_t id = recorder->front.id;
    if (id == 0) /* made without fork handlers: locks may be held by threads that do not exist here */
        return recorder->threads.fallback_block;
    recorder_wake(recorder);
    return aggstats_thread_cache.recorder_id == id ? aggstats_thread_cache.block
                                                   : threads_own_block(&recorder->threads, id);
}

/* ---- Forks ---- */

static sigset_t signals_before_fork; /* under the registry's lock */

static struct aggstats_recorder *first_recorder(void) {
    struct threads *threads = threads_first_registered();
    return threads ? container_of(threads, struct aggstats_recorder, threads) : NULL;
}

static struct aggstats_recorder *next_recorder(const struct aggstats_recorder *recorder) {
    struct threads *threads = recorder->threads.next;
    return threads ? container_of(threads, struct aggstats_recorder, threads) : NULL;
}

static void unlock_recorder(struct aggstats_recorder *recorder) {
    RECORDER_PROBES_DO(recorder, unlock);
    pthread_mutex_unlock(&recorder->window_lock);
    pthread_mutex_unlock(&recorder->probes_lock);
}

static void before_fork(void) {
    sigset_t before;
    threads_lock_registry(&before);
    signals_before_fork = before;
    for (struct aggstats_recorder *recorder = first_recorder(); recorder; recorder = next_recorder(recorder)) {
        pthread_mutex_lock(&recorder->probes_lock);
        pthread_mutex_lock(&recorder->window_lock);
        RECORDER_PROBES_DO(recorder, lock);
    }
}

static void after_fork(void) {
    const sigset_t before = signals_before_fork;
    threads_unlock_registry(&before);
}

static void after_fork_in_parent(void) {
    for (struct aggstats_recorder *recorder = first_recorder(); recorder; recorder = next_recorder(recorder))
        unlock_recorder(recorder);
    after_fork();
}

static void set_hot(struct aggstats_recorder *recorder, uint64_t id) {
    recorder->front.id = id;
    recorder->front.hot = (struct aggstats_recorder_hot){
        .id = id,
        .clock_kind = recorder->clock.kind,
        .resolution = recorder->layout.resolution,
        .counters_stride_bytes = (uint32_t)recorder->layout.counters_stride_bytes,
    };
}

static void after_fork_in_child(void) {
    for (struct aggstats_recorder *recorder = first_recorder(); recorder; recorder = next_recorder(recorder)) {
        unlock_recorder(recorder);
        live_leave(&recorder->live);
        recorder->rotation = NULL;
        recorder->changed = NULL;
        RECORDER_PROBES_DO(recorder, leave);
        set_hot(recorder, threads_start_anew(&recorder->threads));
    }
    after_fork();
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error;

static void watch_forks(void) {
    fork_error = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
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

static int recorder_init(struct aggstats_recorder *recorder, const struct aggstats_recorder_options *options) {
    recorder->layout = layout_make(options->op_count, options->resolution);
    recorder->live = (struct live){.fd = -1, .directory_fd = -1};
    pthread_mutex_init(&recorder->window_lock, NULL);
    pthread_mutex_init(&recorder->probes_lock, NULL);
    recorder->op_names = calloc(options->op_count, sizeof(*recorder->op_names));
    if (!recorder->op_names)
        return -ENOMEM;
    for (unsigned op = 0; op < options->op_count; op++)
        text_name_copy(recorder->op_names[op], options->op_names[op]);
    int err = labels_copy(options->labels, options->label_count, &recorder->labels);
    if (err == 0) {
        recorder->label_count = options->label_count;
        err = threads_init(&recorder->threads, &recorder->layout, &recorder->live);
    }
    if (err < 0)
        return err;
    recorder->front.own_block = own_block;
    recorder->clock = options->clock;
    if (recorder->clock.kind == 0)
        clock_detect(&recorder->clock, &recorder->clock_measured);
    recorder->created = clock_pair_now(recorder->clock.kind);
    return 0;
}

/* A child has either nothing of the live file, or a recorder that leaves it. */
static int recorder_register(struct aggstats_recorder *recorder, const struct aggstats_recorder_options *options,
                             uint64_t shared_threads, unsigned groupings) {
    sigset_t before;
    threads_lock_registry(&before);
    int err = live_create(&recorder->live, options, shared_threads, groupings, &recorder->layout, &recorder->clock);
    if (err == 0 && recorder->live.is_shared)
        recorder->shared = shared_part_of(recorder->live.header, &recorder->layout, recorder->live.fd);
    if (err == 0) /* from here on nothing can fail, and threads may count */
        set_hot(recorder, threads_register(&recorder->threads));
    threads_unlock_registry(&before);
    return err;
}

/* With an older kernel, children without fork handlers count in their parent's live file. */
static void wipe_in_children(struct aggstats_recorder *recorder, bool wipe) {
    madvise(recorder, RECORDER_PAGE_BYTES, wipe ? MADV_WIPEONFORK : MADV_KEEPONFORK);
}

static struct aggstats_recorder *recorder_alloc(void) {
    size_t size_bytes = round_up(sizeof(struct aggstats_recorder), RECORDER_PAGE_BYTES);
    struct aggstats_recorder *recorder = aligned_alloc(RECORDER_PAGE_BYTES, size_bytes);
    if (!recorder)
        return NULL;
    recorder->front.hot = (struct aggstats_recorder_hot){0};
    recorder->front.id = 0;
    memset((char *)recorder + RECORDER_PAGE_BYTES, 0, size_bytes - RECORDER_PAGE_BYTES);
    wipe_in_children(recorder, true);
    return recorder;
}

static void recorder_free(struct aggstats_recorder *recorder) {
    threads_finish(&recorder->threads);
    live_finish(&recorder->live);
    pthread_mutex_destroy(&recorder->window_lock);
    pthread_mutex_destroy(&recorder->probes_lock);
    labels_free(recorder->labels, recorder->label_count);
    free(recorder->op_names);
    wipe_in_children(recorder, false);
    free(recorder);
}

static int create(const struct aggstats_recorder_options *options, uint64_t shared_threads, unsigned groupings,
                  struct aggstats_recorder **ret_recorder) {
    if (!options_valid(options))
        return -EINVAL;
    pthread_once(&fork_once, watch_forks);
    struct aggstats_recorder *recorder = fork_error ? NULL : recorder_alloc();
    if (!recorder)
        return -ENOMEM;
    int err = recorder_init(recorder, options);
    if (err == 0)
        err = recorder_register(recorder, options, shared_threads, groupings);
    if (err < 0) {
        recorder_free(recorder);
        return err;
    }
    *ret_recorder = recorder;
    return 0;
}

/* The options are of an earlier or a later header, which may have members that we do not know: these must be zero. */
int aggstats_recorder_create_sized(unsigned abi, const struct aggstats_recorder_options *options, size_t options_bytes,
                                   struct aggstats_recorder **ret_recorder) {
    struct aggstats_recorder_options own = {0};
    const unsigned char *bytes = (const void *)options;
    if (abi != AGGSTATS_ABI)
        return -EPROTO;
    for (size_t i = sizeof(own); i < options_bytes; i++)
        if (bytes[i] != 0)
            return -EINVAL;
    memcpy(&own, options, options_bytes < sizeof(own) ? options_bytes : sizeof(own));
    return create(&own, 0, 0, ret_recorder);
}

int aggstats_recorder_create_shared(const struct aggstats_recorder_options *options, uint64_t shared_threads,
                                    unsigned groupings, struct aggstats_recorder **ret_recorder) {
    if (shared_threads == 0 || shared_threads > AGGSTATS_SHARED_THREADS_MAX || !options->live_path)
        return -EINVAL;
    return create(options, shared_threads, groupings, ret_recorder);
}

void aggstats_recorder_destroy(struct aggstats_recorder *recorder) {
    sigset_t before;
    if (!recorder)
        return;
    threads_lock_registry(&before);
    threads_unregister(&recorder->threads);
    live_close(&recorder->live);
    threads_unlock_registry(&before);
    for (unsigned place = 0; place < PROBES_MAX; place++)
        if (recorder->probes[place])
            recorder->probes[place]->ops->destroy(recorder->probes[place]);
    recorder_free(recorder);
}

struct probe *recorder_attach(struct aggstats_recorder *recorder, unsigned place, struct probe *probe) {
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before); /* not while another thread forks */
    if (probe && probe->ops->pause && live_window(&recorder->live)->paused)
        probe->ops->pause(probe);
    struct probe *earlier = __atomic_exchange_n(&recorder->probes[place], probe, __ATOMIC_ACQ_REL);
    quiet_unlock(&recorder->window_lock, &before);
    return earlier;
}

struct aggstats_block *aggstats_lane_create(struct aggstats_recorder *recorder) {
    return threads_add_lane(&recorder->threads);
}

/* Calls first, buckets last, as for calls that are counted one by one: readers read in the opposite order. */
void aggstats_lane_count(const struct aggstats_recorder *recorder, struct aggstats_block *lane, unsigned op,
                         const struct aggstats_counted *counted) {
    const struct layout *layout = &recorder->layout;
    struct aggstats_counters *counters = layout_counters(layout, lane->counters, op);
    __atomic_store_n(&lane->current_start_cycles, counted->seen_cycles, __ATOMIC_RELAXED);
    aggstats_add(&lane->clamped, counted->clamped);
    for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
        aggstats_add(&counters->calls, counted->buckets[bucket]);
    if (counted->longest_cycles > __atomic_load_n(&counters->longest_cycles, __ATOMIC_RELAXED))
        aggstats_note_longest(lane, counters, layout->resolution, counted->longest_cycles);
    aggstats_add(&counters->total_cycles, counted->total_cycles);
    for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
        aggstats_add(&counters->buckets[aggstats_slot(bucket, layout->resolution)], counted->buckets[bucket]);
    uint64_t *beside = aggstats_beside(counters, layout->resolution);
    aggstats_add(&beside[AGGSTATS_ASKED], counted->asked_bytes);
    aggstats_add(&beside[AGGSTATS_MOVED], counted->moved_bytes);
    for (unsigned failure = 0; counted->failures && failure < AGGSTATS_FAILURES; failure++)
        aggstats_add(&beside[AGGSTATS_FAILED + failure], counted->failures[failure]);
}

void aggstats_wake(struct aggstats_recorder *recorder) {
    recorder_wake(recorder);
}

void aggstats_recorder_add_lost(struct aggstats_recorder *recorder, uint64_t calls) {
    uint64_t *lost = &recorder->live.header->lost;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    if (!live_window(&recorder->live)->paused)
        __atomic_store_n(lost, *lost + calls, __ATOMIC_RELAXED);
    quiet_unlock(&recorder->window_lock, &before);
}

/* ---- Questions ---- */

int aggstats_recorder_unlink_live(struct aggstats_recorder *recorder) {
    return live_unlink(&recorder->live);
}

const char *aggstats_recorder_live_path(const struct aggstats_recorder *recorder) {
    return recorder->live.fd >= 0 ? recorder->live.path : NULL;
}

bool aggstats_recorder_live_complete(const struct aggstats_recorder *recorder) {
    struct shared_numbers numbers = {0};
    if (recorder->live.is_shared && recorder->live.fd >= 0)
        shared_part_read_numbers(&recorder->shared, &numbers);
    return !numbers.is_incomplete && !__atomic_load_n(&recorder->live.header->incomplete, __ATOMIC_ACQUIRE);
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

/* ---- For the process that made a shared live file ---- */

unsigned aggstats_recorder_shared_in_flight(struct aggstats_recorder *recorder, uint64_t *ret_ops) {
    uint64_t ops = 0;
    const unsigned busy = recorder->live.is_shared ? shared_part_in_flight(&recorder->shared, &ops) : 0;
    if (ret_ops)
        *ret_ops = ops;
    return busy;
}

void aggstats_recorder_shared_facts(const struct aggstats_recorder *recorder, struct aggstats_shared_facts *ret_facts) {
    struct shared_numbers numbers;
    *ret_facts = (struct aggstats_shared_facts){.threads_max = recorder->live.header->shared_threads};
    if (!recorder->live.is_shared || shared_part_read_numbers(&recorder->shared, &numbers) < 0)
        return;
    ret_facts->crowded_threads = numbers.crowded;
    ret_facts->broken_threads = __atomic_load_n(&recorder->broken_threads, __ATOMIC_RELAXED);
    memcpy(ret_facts->sums, numbers.sums, sizeof(numbers.sums));
    for (size_t i = 0; i < AGGSTATS_NOTES; i++)
        ret_facts->notes[i] = numbers.notes[i] + __atomic_load_n(&recorder->own_notes[i], __ATOMIC_RELAXED);
}

void aggstats_maker_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more) {
    __atomic_fetch_add(&recorder->own_notes[note], more, __ATOMIC_RELAXED);
}

int aggstats_maker_name(struct aggstats_recorder *recorder, unsigned note, const char *name) {
    struct aggstats_named_program program = {
        .state = AGGSTATS_NAMED_WHOLE, .note = note, .start_ns = read_clock_ns(CLOCK_MONOTONIC)};
    if (!recorder->live.is_shared || recorder->own_named_count >= AGGSTATS_NAMED_OWN_MAX)
        return -1;
    memcpy(program.name, name, strnlen(name, sizeof(program.name)));
    shared_part_write_named(&recorder->shared, recorder->own_named_count, 0, &program, sizeof(program));
    return (int)recorder->own_named_count++;
}

void aggstats_maker_name_pid(const struct aggstats_recorder *recorder, int number, uint32_t pid) {
    shared_part_write_named(&recorder->shared, (unsigned)number, offsetof(struct aggstats_named_program, pid), &pid,
                            sizeof(pid));
}

void aggstats_maker_name_take_back(const struct aggstats_recorder *recorder, int number) {
    const uint32_t state = AGGSTATS_NAMED_TAKEN_BACK;
    shared_part_write_named(&recorder->shared, (unsigned)number, offsetof(struct aggstats_named_program, state), &state,
                            sizeof(state));
}

void aggstats_maker_read_named(const struct aggstats_recorder *recorder, struct aggstats_named *ret_named) {
    *ret_named = (struct aggstats_named){0};
    if (recorder->live.is_shared)
        shared_part_read_named(&recorder->shared, ret_named);
}
