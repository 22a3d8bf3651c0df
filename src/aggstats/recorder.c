/* Recorders, and which thread counts in which block.
 *
 * A thread keeps its block of the recorder that it used last in aggstats_thread_cache, so that the hot path takes no
 * lock. Behind the cache stands the registry: the list of all recorders and, in their segments, the owners of
 * blocks. It is process-wide because a thread that exits must find all its blocks, and must not touch recorders
 * that have been destroyed meanwhile; it is the library's only mutable global. */
#include "recorder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base.h"
#include "profile.h"
#include "text.h"

__thread struct aggstats_thread_cache aggstats_thread_cache;

/* This thread's name in the registry; 0 until it has one. */
static __thread uint64_t thread_id;

static struct {
    pthread_mutex_t lock;
    struct aggstats_recorder *recorders;
    uint64_t last_recorder_id;
    uint64_t last_thread_id;
    pthread_once_t exit_key_once;
    pthread_key_t exit_key;
    int exit_key_error;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .exit_key_once = PTHREAD_ONCE_INIT};

/* ---- Threads ---- */

static struct segment *first_segment(const struct aggstats_recorder *recorder) {
    return __atomic_load_n(&recorder->segments, __ATOMIC_ACQUIRE);
}

static struct segment *find_segment(const struct aggstats_recorder *recorder, uint64_t owner_thread) {
    for (struct segment *segment = first_segment(recorder); segment; segment = segment->next)
        if (segment->owner_thread == owner_thread)
            return segment;
    return NULL;
}

/* Runs in a thread that exits: its blocks keep their counts and are free for others. */
static void give_back_blocks(void *unused) {
    (void)unused;
    aggstats_thread_cache = (struct aggstats_thread_cache){0};
    pthread_mutex_lock(&registry.lock);
    for (struct aggstats_recorder *recorder = registry.recorders; recorder; recorder = recorder->next) {
        struct segment *segment = find_segment(recorder, thread_id);
        if (!segment)
            continue;
        __atomic_store_n(&segment->block->current_op, 0, __ATOMIC_RELAXED);
        segment->owner_thread = 0;
    }
    pthread_mutex_unlock(&registry.lock);
}

static void create_exit_key(void) {
    registry.exit_key_error = pthread_key_create(&registry.exit_key, give_back_blocks);
}

/* Memory for a block: in the live file if there is one and it has room. */
static int map_block(struct aggstats_recorder *recorder, struct segment *segment) {
    struct live_header *header = recorder->live.header;
    segment->size_bytes = header->block_stride_bytes;
    int err = live_add_block(&recorder->live, &segment->block);
    if (err == 0)
        return 0;
    void *memory = mmap(NULL, segment->size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    if (err != -ENOTSUP)
        __atomic_store_n(&header->incomplete, 1, __ATOMIC_RELEASE);
    segment->block = memory;
    return 0;
}

static struct segment *add_segment(struct aggstats_recorder *recorder) {
    CLEANUP_FREE struct segment *segment = calloc(1, sizeof(*segment));
    if (!segment || map_block(recorder, segment) < 0)
        return NULL;
    segment->next = recorder->segments;
    __atomic_store_n(&recorder->segments, segment, __ATOMIC_RELEASE);
    return steal_pointer(&segment);
}

/* The calling thread's block; under the registry's lock. */
static struct aggstats_block *claim_block(struct aggstats_recorder *recorder) {
    if (thread_id == 0)
        thread_id = ++registry.last_thread_id;
    struct segment *segment = find_segment(recorder, thread_id);
    if (!segment)
        segment = find_segment(recorder, 0);
    if (!segment)
        segment = add_segment(recorder);
    if (!segment) {
        __atomic_store_n(&recorder->fallback_used, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&recorder->live.header->incomplete, 1, __ATOMIC_RELEASE);
        return recorder->fallback_block;
    }
    segment->owner_thread = thread_id;
    return segment->block;
}

struct aggstats_block *aggstats_thread_block_slow(struct aggstats_recorder *recorder) {
    pthread_mutex_lock(&registry.lock);
    struct aggstats_block *block = claim_block(recorder);
    pthread_mutex_unlock(&registry.lock);

    /* any value but NULL makes the destructor run. Without memory for it the block is not reused, but counts */
    pthread_setspecific(registry.exit_key, &registry);
    aggstats_thread_cache = (struct aggstats_thread_cache){.recorder_id = recorder->hot.id, .block = block};
    return block;
}

/* Under the registry's lock. */
static struct events *claim_events(const struct aggstats_recorder *recorder) {
    struct segment *segment = thread_id > 0 ? find_segment(recorder, thread_id) : NULL;
    if (!segment || segment->events)
        return segment ? segment->events : NULL;
    struct events *events = aligned_alloc(CACHE_LINE_BYTES, round_up(sizeof(*events), CACHE_LINE_BYTES));
    if (!events)
        return NULL;
    memset(events, 0, sizeof(*events));
    __atomic_store_n(&segment->events, events, __ATOMIC_RELEASE);
    return events;
}

struct events *recorder_thread_events(struct aggstats_recorder *recorder) {
    pthread_mutex_lock(&registry.lock);
    struct events *events = claim_events(recorder);
    pthread_mutex_unlock(&registry.lock);
    return events;
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
    pthread_mutex_init(&recorder->span_lock, NULL);
    pthread_mutex_init(&recorder->sampler_lock, NULL);
    int err = copy_names(recorder, options);
    if (err == 0)
        err = joints_init(&recorder->joints, &recorder->layout);
    if (err < 0)
        return err;
    recorder->fallback_block =
        aligned_alloc(CACHE_LINE_BYTES, round_up(layout_block_bytes(&recorder->layout), CACHE_LINE_BYTES));
    if (!recorder->fallback_block)
        return -ENOMEM;
    memset(recorder->fallback_block, 0, layout_block_bytes(&recorder->layout));
    choose_clock(recorder, options);
    return live_create(&recorder->live, options, &recorder->layout, &recorder->clock);
}

/* From here on nothing can fail, and threads may count. */
static void recorder_register(struct aggstats_recorder *recorder) {
    pthread_mutex_lock(&registry.lock);
    recorder->hot = (struct aggstats_recorder_hot){
        .id = ++registry.last_recorder_id,
        .clock_kind = recorder->clock.kind,
        .resolution = recorder->layout.resolution,
        .counters_stride_bytes = (uint32_t)recorder->layout.counters_stride_bytes,
    };
    recorder->next = registry.recorders;
    registry.recorders = recorder;
    pthread_mutex_unlock(&registry.lock);
}

static void recorder_unregister(struct aggstats_recorder *recorder) {
    pthread_mutex_lock(&registry.lock);
    struct aggstats_recorder **link = &registry.recorders;
    while (*link != recorder)
        link = &(*link)->next;
    *link = recorder->next;
    pthread_mutex_unlock(&registry.lock);
}

static void recorder_free(struct aggstats_recorder *recorder) {
    struct segment *next;
    for (struct segment *segment = recorder->segments; segment; segment = next) {
        next = segment->next;
        munmap(segment->block, segment->size_bytes);
        free(segment->events);
        free(segment);
    }
    live_finish(&recorder->live);
    timeline_destroy(recorder->timeline);
    joints_finish(&recorder->joints);
    pthread_mutex_destroy(&recorder->span_lock);
    pthread_mutex_destroy(&recorder->sampler_lock);
    labels_free(recorder->labels, recorder->label_count);
    free(recorder->fallback_block);
    free(recorder->op_names);
    free(recorder);
}

int aggstats_recorder_create(const struct aggstats_recorder_options *options, struct aggstats_recorder **ret_recorder) {
    if (!options_valid(options))
        return -EINVAL;
    pthread_once(&registry.exit_key_once, create_exit_key);
    if (registry.exit_key_error)
        return -registry.exit_key_error;
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

void aggstats_recorder_destroy(struct aggstats_recorder *recorder) {
    if (!recorder)
        return;
    sampler_stop(recorder->sampler);
    grouping_stop(recorder->grouping);
    recorder_unregister(recorder);
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
