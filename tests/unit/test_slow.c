/* Slow calls and their causes: what is kept, of which windows, in live files, as text, and in sums. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/fields.h"
#include "aggstats/slow.h"
#include "base.h"
#include "testing.h"

#define THRESHOLD_NS 5000000

enum { OP_READ, OP_FSYNC, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "FSYNC"};

static char directory[] = "/tmp/test_slow.XXXXXX";
static char live_path[64];

/* ---- Help ---- */

static const char *wait_words; /* atomic; what the thread waits for */
static unsigned looks;         /* atomic */

static const char *holder_words; /* atomic; NULL: it has not looked */
static unsigned holder_looks;    /* atomic */
static uint64_t looked_ns[64];   /* atomic; ages of the calls at these looks, in a ring */
static enum aggstats_cause_class wait_class;
static enum aggstats_relation relation; /* atomic; of the holder */

static void find_holder(const struct aggstats_look *look, const char *cause, struct aggstats_wait *wait) {
    const char *words = __atomic_load_n(&holder_words, __ATOMIC_ACQUIRE);
    ck_assert_uint_ge(look->age_ns, THRESHOLD_NS);
    wait->is_put_off = !words;
    if (words && words[0]) {
        struct aggstats_link *link = &wait->chain.links[0];
        wait->chain.count = 1;
        link->thing = AGGSTATS_CAUSE_FLOCK;
        link->relation = __atomic_load_n(&relation, __ATOMIC_ACQUIRE);
        snprintf(link->object, sizeof(link->object), "%s", cause);
        snprintf(link->holder.name, sizeof(link->holder.name), "%s", words);
    }
    __atomic_store_n(&looked_ns[__atomic_load_n(&holder_looks, __ATOMIC_RELAXED) % ARRAY_SIZE(looked_ns)], look->age_ns,
                     __ATOMIC_RELAXED);
    __atomic_fetch_add(&holder_looks, 1, __ATOMIC_RELEASE);
}

static bool find_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    (void)context;
    ck_assert_uint_eq(look->thread, (uint64_t)getpid()); /* the test's only thread that calls */
    look->memory[0]++;
    const char *words = __atomic_load_n(&wait_words, __ATOMIC_ACQUIRE);
    snprintf(ret_wait->cause.words, sizeof(ret_wait->cause.words), "%s", words);
    ret_wait->cause.kind = __atomic_load_n(&wait_class, __ATOMIC_ACQUIRE);
    snprintf(ret_wait->stack, sizeof(ret_wait->stack), "wait_for_%s < do_call", words);
    if (look->wants_holder)
        find_holder(look, words, ret_wait);
    __atomic_fetch_add(&looks, 1, __ATOMIC_RELEASE);
    return true;
}

/* "backup 992 for a lock"; NULL: nobody is known */
static const char *holder_of(const struct aggstats_chain *chain) {
    static char text[AGGSTATS_OBJECT_SIZE + AGGSTATS_PARTY_NAME_SIZE + 8];
    if (!chain)
        return NULL;
    ck_assert_uint_eq(chain->count, 1);
    ck_assert_int_eq(chain->links[0].thing, AGGSTATS_CAUSE_FLOCK);
    snprintf(text, sizeof(text), "%s for %s", chain->links[0].holder.name, chain->links[0].object);
    return text;
}

static char *path_of(void *context, uint64_t object) {
    char *path = NULL;
    (void)context;
    return asprintf(&path, "/path/%llu", (unsigned long long)object) < 0 ? NULL : path;
}

static bool identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    (void)context;
    ck_assert_uint_eq(thread, 4711);
    *ret_identity = (struct aggstats_identity){.id = 4700, .name = "a program whose name is longer than is kept"};
    return true;
}

static struct aggstats_recorder *create_recorder(uint64_t threshold_ns) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = live_path};
    const struct aggstats_slow_options slow = {.threshold_ns = threshold_ns,
                                               .find_cause = find_cause,
                                               .wants_holders = threshold_ns == THRESHOLD_NS,
                                               .path_of = path_of,
                                               .identify = identify};
    struct aggstats_recorder *recorder = NULL;
    unlink(live_path);
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
    return recorder;
}

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static struct aggstats_span begin(struct aggstats_recorder *recorder, unsigned op, const char *words) {
    __atomic_store_n(&wait_words, words, __ATOMIC_RELEASE);
    aggstats_slow_begin(recorder);
    return aggstats_begin(recorder, op, 7, 4711);
}

static uint64_t end_of(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_span *span,
                       uint32_t uid) {
    const struct aggstats_call call = {.latency_cycles = aggstats_end(recorder, span),
                                       .object = 7,
                                       .pid = 4711,
                                       .uid = uid,
                                       .error = EIO,
                                       .asked_bytes = 100,
                                       .moved_bytes = 10,
                                       .offset = 4096};
    aggstats_slow_end(recorder, span, op, &call, NULL);
    return call.latency_cycles;
}

static uint64_t end(struct aggstats_recorder *recorder, unsigned op, const struct aggstats_span *span) {
    return end_of(recorder, op, span, 5);
}

/* Whatever the machine does besides, somebody looks at the next calls. */
static void wait_for_look(unsigned looks_before) {
    for (int i = 0; i < 3000 && __atomic_load_n(&looks, __ATOMIC_ACQUIRE) == looks_before; i++)
        sleep_ms(10);
    ck_assert_uint_ne(__atomic_load_n(&looks, __ATOMIC_ACQUIRE), looks_before);
}

/* A call that is looked at, and then takes so long. */
static uint64_t call_seen(struct aggstats_recorder *recorder, unsigned op, long ms, const char *words) {
    unsigned looks_before = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    struct aggstats_span span = begin(recorder, op, words);
    wait_for_look(looks_before);
    sleep_ms(ms);
    return end(recorder, op, &span);
}

static uint64_t call_for(struct aggstats_recorder *recorder, unsigned op, long ms, const char *words) {
    struct aggstats_span span = begin(recorder, op, words);
    sleep_ms(ms);
    return end(recorder, op, &span);
}

static struct aggstats_profile snapshot_of(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

static struct aggstats_profile live_profile(void) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    CLEANUP_FD int fd = open(live_path, O_RDONLY);
    ck_assert_msg(aggstats_live_read(fd, &profile, NULL, &error) == 0, "%s", error.message);
    return profile;
}

static const struct aggstats_cause *cause_of(const struct aggstats_profile *profile, const char *op, const char *text) {
    for (size_t i = 0; i < profile->cause_count; i++)
        if (strcmp(profile->causes[i].op, op) == 0 && strcmp(profile->causes[i].why.words, text) == 0)
            return &profile->causes[i];
    return NULL;
}

static void make_directory(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(live_path, sizeof(live_path), "%s/live", directory);
}

static void remove_directory(void) {
    unlink(live_path);
    rmdir(directory);
}

/* ---- Tests ---- */

static void expect_one_call(const struct aggstats_profile *profile, uint64_t latency_cycles) {
    const struct aggstats_cause *cause = cause_of(profile, "FSYNC", "the disk");
    ck_assert_uint_eq(profile->cause_count, 1);
    ck_assert_ptr_nonnull(cause);
    ck_assert_uint_eq(cause->calls, 1);
    ck_assert_uint_eq(cause->total_cycles, latency_cycles);
    ck_assert_uint_eq(cause->longest_cycles, latency_cycles);
    ck_assert_ptr_nonnull(cause->buckets);
    for (unsigned bucket = 0; bucket < 64; bucket++)
        ck_assert_uint_eq(cause->buckets[bucket], bucket == aggstats_bucket_of(latency_cycles, 1));
    ck_assert_uint_eq(profile->slow_call_count, 1);
    const struct aggstats_call *call = &profile->slow_calls[0];
    ck_assert_str_eq(call->op, "FSYNC");
    ck_assert_str_eq(call->cause.words, "the disk");
    ck_assert_str_eq(call->path, "/path/7");
    ck_assert_uint_eq(call->latency_cycles, latency_cycles);
    ck_assert_str_eq(call->stack, "wait_for_the disk < do_call");
    ck_assert_uint_eq(call->pid, 4711);
    ck_assert_uint_eq(call->process, 4700);
    ck_assert_str_eq(call->program, "a program whose name is longer ");
    ck_assert_uint_eq(call->uid, 5);
    ck_assert_uint_eq(call->error, EIO);
    ck_assert_uint_eq(call->asked_bytes, 100);
    ck_assert_uint_eq(call->moved_bytes, 10);
    ck_assert_uint_eq(call->offset, 4096);
}

TEST_CASE(.set_up = make_directory, .tear_down = remove_directory);

TEST(a_slow_call) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    uint64_t latency_cycles = call_seen(recorder, OP_FSYNC, 10, "the disk");
    struct aggstats_profile profile = snapshot_of(recorder);
    struct aggstats_profile live = live_profile();
    expect_one_call(&profile, latency_cycles);
    expect_one_call(&live, latency_cycles);
    ck_assert_uint_gt(profile.slow_cycles, 0);
    aggstats_profile_drop_paths(&live);
    ck_assert_uint_eq(live.slow_call_count, 0);
    ck_assert_uint_eq(live.cause_count, 1);
    aggstats_profile_finish(&profile);
    aggstats_profile_finish(&live);
    aggstats_recorder_destroy(recorder);
}

static void wait_for_holder(unsigned looks_before, unsigned more) {
    for (int i = 0; i < 3000 && __atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE) < looks_before + more; i++)
        sleep_ms(10);
    ck_assert_uint_ge(__atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE), looks_before + more);
}

/* Begins a call, and ends it when its holder was looked for so often. */
static void call_held(struct aggstats_recorder *recorder, const char *words, const char *holder, unsigned times) {
    __atomic_store_n(&holder_words, holder, __ATOMIC_RELEASE);
    const unsigned before = __atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE);
    struct aggstats_span span = begin(recorder, OP_FSYNC, words);
    wait_for_holder(before, times);
    sleep_ms(20); /* until it is noted */
    end(recorder, OP_FSYNC, &span);
}

/* Who held what a call waited for stays with the call, for which it was found out. */
TEST(holders) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    call_held(recorder, "a lock", "backup 992", 1);
    call_held(recorder, "the disk", "", 1);
    call_held(recorder, "a server", NULL, 2);
    call_held(recorder, "a lock", "sync 993", 2);
    struct aggstats_profile profile = snapshot_of(recorder);
    struct aggstats_profile live = live_profile();
    ck_assert_uint_eq(profile.slow_call_count, 4);
    ck_assert_str_eq(holder_of(profile.slow_calls[0].chain), "backup 992 for a lock");
    ck_assert_ptr_null(profile.slow_calls[1].chain);
    ck_assert_ptr_null(profile.slow_calls[2].chain);
    ck_assert_str_eq(holder_of(live.slow_calls[3].chain), "sync 993 for a lock");
    aggstats_profile_finish(&profile);
    aggstats_profile_finish(&live);
    aggstats_recorder_reset(recorder);
    call_held(recorder, "a lock", "", 1);
    profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.slow_call_count, 1);
    ck_assert_ptr_null(profile.slow_calls[0].chain);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* Looking costs more than finding the cause: it is done again when the call is twice as old. */
TEST(holders_are_looked_for_less_and_less) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    __atomic_store_n(&holder_words, "backup 992", __ATOMIC_RELEASE);
    const unsigned before = __atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE);
    const unsigned causes_before = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    struct aggstats_span span = begin(recorder, OP_FSYNC, "a lock");
    wait_for_holder(before, 4);
    ck_assert_uint_gt(__atomic_load_n(&looks, __ATOMIC_ACQUIRE) - causes_before, 4);
    struct aggstats_profile live = live_profile();
    ck_assert_str_eq(holder_of(live.in_flight[0].chain), "backup 992 for a lock");
    /* 5, 10, 20 and 40 ms at the earliest */
    ck_assert_uint_ge((double)live.in_flight[0].latency_cycles / (double)live.clock.frequency_hz, 0.04);
    ck_assert(aggstats_profile_has_paths(&live));
    aggstats_profile_drop_paths(&live);
    ck_assert_ptr_null(live.in_flight[0].chain);
    aggstats_profile_finish(&live);
    end(recorder, OP_FSYNC, &span);
    aggstats_recorder_destroy(recorder);
}

/* Begins a call that waits for a lock of a file, and returns once its holder was looked for; ret_looks: so often. */
static struct aggstats_span begin_locked(struct aggstats_recorder *recorder, enum aggstats_relation of,
                                         unsigned *ret_looks) {
    const unsigned before = __atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE);
    __atomic_store_n(&wait_class, AGGSTATS_CAUSE_FLOCK, __ATOMIC_RELEASE);
    __atomic_store_n(&relation, of, __ATOMIC_RELEASE);
    __atomic_store_n(&holder_words, "backup 992", __ATOMIC_RELEASE);
    const struct aggstats_span span = begin(recorder, OP_FSYNC, "a lock");
    wait_for_holder(before, 1);
    *ret_looks = before;
    return span;
}

/* The age at a look, as a multiple of that at the one before. */
static double growth_at(unsigned look) {
    const uint64_t age_ns = __atomic_load_n(&looked_ns[look % ARRAY_SIZE(looked_ns)], __ATOMIC_RELAXED);
    return (double)age_ns / (double)looked_ns[(look - 1) % ARRAY_SIZE(looked_ns)];
}

/* A lock that was let go has no holder, while its waiter is on its way. */
TEST(a_holder_stays_when_later_looks_find_none) {
    unsigned before;
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_span span = begin_locked(recorder, AGGSTATS_HELD, &before);
    sleep_ms(20); /* until it is noted */
    __atomic_store_n(&relation, AGGSTATS_NOBODY_KNOWN, __ATOMIC_RELEASE);
    wait_for_holder(__atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE), 3);
    __atomic_store_n(&holder_words, "sync 993", __ATOMIC_RELEASE);
    wait_for_holder(__atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE), 2);
    struct aggstats_profile live = live_profile();
    ck_assert_str_eq(holder_of(live.in_flight[0].chain), "backup 992 for a lock");
    aggstats_profile_finish(&live);
    __atomic_store_n(&relation, AGGSTATS_HELD, __ATOMIC_RELEASE); /* another one is none worse */
    wait_for_holder(__atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE), 2);
    end(recorder, OP_FSYNC, &span);
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_str_eq(holder_of(profile.slow_calls[0].chain), "sync 993 for a lock");
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* Not only when the call is twice as old, for that may be minutes later. */
TEST(a_holder_that_is_missing_is_looked_for_again_soon) {
    unsigned look;
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_span span = begin_locked(recorder, AGGSTATS_NOBODY_KNOWN, &look);
    do
        wait_for_holder(++look, 1);
    while (growth_at(look) > 1.5);
    end(recorder, OP_FSYNC, &span);
    aggstats_recorder_destroy(recorder);
}

/* A call that was running when its holder was looked for may wait since. */
TEST(the_holder_of_another_cause_is_looked_for_at_once) {
    unsigned look;
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_span span = begin_locked(recorder, AGGSTATS_HELD, &look);
    unsigned another = 0;
    static const char *const locks[] = {"another lock", "a third lock", "a fourth lock", "a fifth lock"};
    do {
        ck_assert_uint_lt(another, ARRAY_SIZE(locks)); /* a busy machine may look late */
        look = __atomic_load_n(&holder_looks, __ATOMIC_ACQUIRE);
        __atomic_store_n(&wait_words, locks[another++], __ATOMIC_RELEASE);
        wait_for_holder(look, 1);
    } while (growth_at(look) > 1.5);
    end(recorder, OP_FSYNC, &span);
    aggstats_recorder_destroy(recorder);
}

/* Looks at holders, which are put off until the calls are older by a quarter than at the last one. */
struct turns {
    uint64_t first;  /* the thread whose holder was looked for first; atomic, like the next */
    unsigned firsts; /* looks at that one */
    unsigned others;
    uint64_t next_age_ns;
    bool holds; /* the look waits meanwhile; atomic, like the next */
    bool is_held;
};

static bool find_in_turn(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct turns *turns = context;
    uint64_t nobody = 0;
    ret_wait->cause = (struct aggstats_why){.kind = AGGSTATS_CAUSE_FLOCK, .words = "a lock"};
    ret_wait->is_put_off = look->age_ns < turns->next_age_ns;
    while (__atomic_load_n(&turns->holds, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&turns->is_held, true, __ATOMIC_RELEASE);
        sleep_ms(1);
    }
    if (!look->wants_holder || ret_wait->is_put_off)
        return true;
    turns->next_age_ns = look->age_ns + look->age_ns / 4;
    __atomic_compare_exchange_n(&turns->first, &nobody, look->thread, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(look->thread == turns->first ? &turns->firsts : &turns->others, 1, __ATOMIC_RELEASE);
    return true;
}

static struct aggstats_recorder *create_turning(struct turns *turns, bool wants_holders) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = live_path};
    const struct aggstats_slow_options slow = {
        .threshold_ns = THRESHOLD_NS, .find_cause = find_in_turn, .context = turns, .wants_holders = wants_holders};
    struct aggstats_recorder *recorder = NULL;
    unlink(live_path);
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
    return recorder;
}

static void *call_until_all_were_looked_at(void *argument) {
    const struct turns *turns = ((void **)argument)[0];
    struct aggstats_recorder *recorder = ((void **)argument)[1];
    aggstats_slow_begin(recorder);
    const struct aggstats_span span = aggstats_begin(recorder, OP_READ, 7, 4711);
    for (int i = 0;
         i < 3000 &&
         __atomic_load_n(&turns->firsts, __ATOMIC_ACQUIRE) + __atomic_load_n(&turns->others, __ATOMIC_ACQUIRE) < 8;
         i++)
        sleep_ms(10);
    end(recorder, OP_READ, &span);
    return NULL;
}

/* Nobody is found for any of them, and there is no time for all. */
TEST(calls_have_their_holders_looked_for_in_turn) {
    struct turns turns = {.first = 0};
    struct aggstats_recorder *recorder = create_turning(&turns, true);
    pthread_t threads[2];
    void *arguments[] = {&turns, recorder};
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_until_all_were_looked_at, arguments), 0);
    for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_ge(turns.firsts, 3);
    ck_assert_uint_ge(turns.others, 3);
    aggstats_recorder_destroy(recorder);
}

#define CROWD 70 /* more than are looked at, at a time */

static pthread_barrier_t crowd;

/* Returns when all threads are in their calls, and as many as are looked at have been. */
static void start_crowd(pthread_t *threads, void *(*call)(void *), struct aggstats_recorder *recorder) {
    pthread_barrier_init(&crowd, NULL, CROWD + 1);
    for (size_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call, recorder), 0);
    pthread_barrier_wait(&crowd);
    sleep_ms(500);
}

/* The threads go on from their last wait for the barrier. */
static void end_crowd(const pthread_t *threads) {
    pthread_barrier_wait(&crowd);
    for (size_t i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crowd);
}

static void *call_in_a_crowd(void *argument) {
    struct aggstats_recorder *recorder = argument;
    aggstats_slow_begin(recorder);
    const struct aggstats_span span = aggstats_begin(recorder, OP_READ, 7, 4711);
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
    end(recorder, OP_READ, &span);
    return NULL;
}

/* A call that nobody looked at says why: because there were too many, or, when these have ended, because it was short. */
TEST(calls_beyond_those_that_are_looked_at) {
    struct turns turns = {.first = 0};
    struct aggstats_recorder *recorder = create_turning(&turns, false);
    pthread_t threads[CROWD];
    start_crowd(threads, call_in_a_crowd, recorder);
    __atomic_store_n(&turns.holds, true, __ATOMIC_RELEASE); /* nobody is looked at when another call has ended */
    while (!__atomic_load_n(&turns.is_held, __ATOMIC_ACQUIRE))
        sleep_ms(1);
    end_crowd(threads);
    __atomic_store_n(&turns.holds, false, __ATOMIC_RELEASE);
    const struct aggstats_span unseen = aggstats_begin(recorder, OP_FSYNC, 8, 4711);
    aggstats_end(recorder, &unseen);
    const struct aggstats_call call = {.latency_cycles = UINT64_C(1) << 40};
    aggstats_slow_end(recorder, &unseen, OP_FSYNC, &call, NULL);
    struct aggstats_profile profile = snapshot_of(recorder);
    const struct aggstats_cause *crowded =
        cause_of(&profile, "READ", "(not known: more calls waited than are looked at)");
    ck_assert_ptr_nonnull(crowded);
    ck_assert_uint_eq(crowded->calls, CROWD - 64);
    ck_assert_uint_eq(cause_of(&profile, "READ", "a lock")->calls, 64);
    ck_assert_uint_eq(cause_of(&profile, "FSYNC", "(not known: it ended before it was sampled)")->calls, 1);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

static void *call_and_idle(void *argument) {
    struct aggstats_recorder *recorder = argument;
    aggstats_slow_begin(recorder);
    const struct aggstats_span span = aggstats_begin(recorder, OP_READ, 7, 4711);
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
    aggstats_end(recorder, &span); /* not slow, so not reported */
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
    return NULL;
}

/* Calls that have ended leave their places to others, although their threads make no other calls. */
TEST(calls_after_many_that_were_not_slow) {
    struct turns turns = {.first = 0};
    struct aggstats_recorder *recorder = create_turning(&turns, false);
    pthread_t threads[CROWD];
    start_crowd(threads, call_and_idle, recorder);
    pthread_barrier_wait(&crowd);
    pthread_barrier_wait(&crowd);
    aggstats_slow_begin(recorder);
    const struct aggstats_span span = aggstats_begin(recorder, OP_FSYNC, 7, 4711);
    sleep_ms(500);
    end(recorder, OP_FSYNC, &span);
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.cause_count, 1);
    ck_assert_ptr_nonnull(cause_of(&profile, "FSYNC", "a lock"));
    aggstats_profile_finish(&profile);
    end_crowd(threads);
    aggstats_recorder_destroy(recorder);
}

/* The recorder looks at a call before it is slow, but reports no cause then. */
TEST(told_when_slow) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_span span = begin(recorder, OP_FSYNC, "the disk");
    bool is_told = false;
    while (!is_told) {
        struct aggstats_profile profile = snapshot_of(recorder);
        ck_assert_uint_eq(profile.in_flight_count, 1);
        is_told = profile.in_flight[0].cause.words[0];
        ck_assert(!is_told || profile.in_flight[0].latency_cycles >= profile.slow_cycles);
        aggstats_profile_finish(&profile);
    }
    end(recorder, OP_FSYNC, &span);
    aggstats_recorder_destroy(recorder);
}

/* The time from look to look is the cause's that is seen then: the parts are the whole. */
TEST(several_causes) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    unsigned looks_before = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    struct aggstats_span span = begin(recorder, OP_FSYNC, "a lock");
    wait_for_look(looks_before);
    __atomic_store_n(&wait_words, "the disk", __ATOMIC_RELEASE);
    wait_for_look(__atomic_load_n(&looks, __ATOMIC_ACQUIRE));
    sleep_ms(400);
    uint64_t latency_cycles = end(recorder, OP_FSYNC, &span);
    struct aggstats_profile profile = snapshot_of(recorder);
    const struct aggstats_cause *lock = cause_of(&profile, "FSYNC", "a lock");
    const struct aggstats_cause *disk = cause_of(&profile, "FSYNC", "the disk");
    ck_assert_uint_eq(profile.cause_count, 2);
    ck_assert(lock && disk);
    ck_assert_uint_eq(lock->total_cycles + disk->total_cycles, latency_cycles);
    ck_assert_uint_eq(lock->calls, 0);
    ck_assert_uint_eq(disk->calls, 1);
    ck_assert_uint_gt(disk->total_cycles, lock->total_cycles);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(time_of_two_causes) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    unsigned looks_before = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    struct aggstats_span span = begin(recorder, OP_READ, "a lock");
    sleep_ms(300);
    __atomic_store_n(&wait_words, "the disk", __ATOMIC_RELEASE);
    sleep_ms(300);
    uint64_t latency_cycles = end(recorder, OP_READ, &span);
    struct aggstats_profile profile = snapshot_of(recorder);
    const struct aggstats_cause *lock = cause_of(&profile, "READ", "a lock");
    const struct aggstats_cause *disk = cause_of(&profile, "READ", "the disk");
    ck_assert(lock && disk);
    ck_assert_uint_eq(lock->total_cycles + disk->total_cycles, latency_cycles);
    ck_assert_uint_gt(lock->total_cycles, latency_cycles / 3); /* a busy machine may look late */
    ck_assert_uint_gt(disk->total_cycles, latency_cycles / 3);
    ck_assert_uint_gt(__atomic_load_n(&looks, __ATOMIC_ACQUIRE) - looks_before, 12);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* Also where it waits, which is nobody else's business. */
static const char *cause_in_flight(void) {
    static char cause[AGGSTATS_CAUSE_SIZE];
    struct aggstats_profile live = live_profile();
    ck_assert_uint_eq(live.in_flight_count, 1);
    memcpy(cause, live.in_flight[0].cause.words, sizeof(cause));
    if (cause[0]) {
        ck_assert_str_eq(live.in_flight[0].stack, "wait_for_the server < do_call");
        ck_assert_str_eq(live.in_flight[0].path, "/path/7");
    }
    ck_assert(aggstats_profile_has_paths(&live) == (cause[0] != '\0'));
    aggstats_profile_drop_paths(&live);
    ck_assert(!live.in_flight[0].stack && !live.in_flight[0].path);
    aggstats_profile_finish(&live);
    return cause;
}

TEST(a_call_in_flight) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_span span = begin(recorder, OP_READ, "the server");
    for (int i = 0; i < 1000 && !cause_in_flight()[0]; i++)
        sleep_ms(10);
    ck_assert_str_eq(cause_in_flight(), "the server");
    aggstats_recorder_destroy(recorder); /* as if it had been killed */
    ck_assert_str_eq(cause_in_flight(), "the server");
    (void)span;
}

TEST(windows) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    call_seen(recorder, OP_FSYNC, 20, "the disk");
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.cause_count + profile.slow_call_count, 0);
    aggstats_profile_finish(&profile);

    call_seen(recorder, OP_FSYNC, 20, "the disk");
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    call_seen(recorder, OP_FSYNC, 20, "not counted");
    profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.cause_count, 1);
    ck_assert_uint_eq(profile.slow_call_count, 1);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    call_seen(recorder, OP_FSYNC, 20, "a lock");
    profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.slow_call_count, 2);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* A thread that begins to look during a pause counts nothing before its end. */
TEST(begun_in_a_pause) {
    const struct aggstats_slow_options slow = {.threshold_ns = THRESHOLD_NS, .find_cause = find_cause};
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = live_path};
    struct aggstats_recorder *recorder = NULL;
    unlink(live_path);
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
    call_seen(recorder, OP_FSYNC, 20, "not counted");
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    call_seen(recorder, OP_FSYNC, 20, "a lock");
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.cause_count, 1);
    ck_assert_str_eq(profile.causes[0].why.words, "a lock");
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST_CASE();

/* Sums of very many profiles can be read again: the last calls stay, and causes without room are one. */
TEST(sums_of_many) {
    struct aggstats_profile addend = {.resolution = 1, .clock = {.frequency_hz = 1000000000}, .cause_count = 5000};
    struct aggstats_profile sum = {.resolution = 1, .clock = {.frequency_hz = 1000000000}};
    addend.causes = calloc(addend.cause_count, sizeof(*addend.causes));
    for (size_t i = 0; i < addend.cause_count; i++) {
        addend.causes[i] = (struct aggstats_cause){.op = "READ", .calls = 1, .total_cycles = 1};
        snprintf(addend.causes[i].why.words, AGGSTATS_CAUSE_SIZE, "cause %zu", i);
    }
    addend.slow_call_count = 3000;
    addend.slow_calls = calloc(addend.slow_call_count, sizeof(*addend.slow_calls));
    for (size_t i = 0; i < addend.slow_call_count; i++)
        addend.slow_calls[i] = (struct aggstats_call){.op = "READ", .end_ns = (int64_t)i, .path = strdup("/p")};
    ck_assert_int_eq(aggstats_profile_add(&sum, &addend), 0);
    uint64_t calls = 0;
    for (size_t i = 0; i < sum.cause_count; i++)
        calls += sum.causes[i].calls;
    ck_assert_uint_eq(calls, 5000);
    ck_assert_int_eq(sum.slow_calls[sum.slow_call_count - 1].end_ns, 2999);
    char *text = NULL;
    size_t size_bytes = 0;
    struct aggstats_profile again;
    struct aggstats_parse_error error;
    ck_assert_int_eq(aggstats_profile_format(&sum, &text, &size_bytes), 0);
    FILE *stream = fmemopen(text, size_bytes, "r");
    ck_assert_msg(aggstats_profile_parse(stream, &again, &error) == 0, "%s", error.message);
    fclose(stream);
    free(text);
    aggstats_profile_finish(&again);
    aggstats_profile_finish(&sum);
    aggstats_profile_finish(&addend);
}

/* Puts the second text in the place of the first in the live file. Returns where that is */
static off_t replace_in_live(const char *text, const char *with, size_t size_bytes) {
    static char bytes[1 << 20];
    CLEANUP_FD int fd = open(live_path, O_RDWR);
    ssize_t got = pread(fd, bytes, sizeof(bytes), 0);
    const char *found = got > 0 ? memmem(bytes, (size_t)got, text, size_bytes) : NULL;
    ck_assert_ptr_nonnull(found);
    ck_assert_int_eq(pwrite(fd, with, size_bytes, found - bytes), (ssize_t)size_bytes);
    return found - bytes;
}

TEST_CASE(.set_up = make_directory, .tear_down = remove_directory);

/* What no recorder has written, and no reader of the profile's text would take. */
TEST(impossible_live_files, .to = 2) {
    static const char *const wrong[] = {"\0\0\0\0\0\0", "second"};
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    call_seen(recorder, OP_FSYNC, 20, "first!");
    call_seen(recorder, OP_FSYNC, 20, "second");
    replace_in_live("first!", wrong[_i], strlen("first!"));
    CLEANUP_FD int fd = open(live_path, O_RDONLY);
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, &error), -EBADMSG);
    ck_assert_str_eq(error.message, "live file has impossible slow calls");
    aggstats_recorder_destroy(recorder);
}

/* Killed while causes were being changed: what of them is there makes no sense, but all else is whole. */
TEST(half_changed_live_file) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    const uint64_t odd_sequence = 3;
    const off_t behind_sequence = 112; /* are the words of the first cause */
    call_seen(recorder, OP_FSYNC, 20, "first!");
    call_seen(recorder, OP_FSYNC, 20, "second");
    off_t text_at = replace_in_live("first!", "second", strlen("first!"));
    CLEANUP_FD int fd = open(live_path, O_RDWR);
    ck_assert_int_eq(pwrite(fd, &odd_sequence, sizeof(odd_sequence), text_at - behind_sequence), sizeof(odd_sequence));
    ck_assert_msg(aggstats_live_read(fd, &profile, NULL, &error) == 0, "%s", error.message);
    ck_assert_uint_eq(profile.cause_count + profile.slow_call_count, 0);
    ck_assert_uint_eq(profile.ops[0].calls, 2);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* The thread that has woken the one that looks may be kept from beginning its call. */
TEST(begun_late) {
    struct aggstats_recorder *recorder = create_recorder(THRESHOLD_NS);
    sleep_ms(500); /* nothing is in flight: it falls asleep */
    aggstats_slow_begin(recorder);
    sleep_ms(10);
    unsigned looks_before = __atomic_load_n(&looks, __ATOMIC_ACQUIRE);
    __atomic_store_n(&wait_words, "the disk", __ATOMIC_RELEASE);
    struct aggstats_span span = aggstats_begin(recorder, OP_FSYNC, 7, 4711);
    sleep_ms(500);
    ck_assert_uint_ne(__atomic_load_n(&looks, __ATOMIC_ACQUIRE), looks_before);
    end(recorder, OP_FSYNC, &span);
    aggstats_recorder_destroy(recorder);
}

struct saving {
    struct aggstats_recorder *recorder;
    struct aggstats_profile saved;
};

/* A call ends while the profile is being saved: it is the next one's. */
static int save(void *context, const struct aggstats_profile *profile) {
    struct saving *saving = context;
    call_seen(saving->recorder, OP_READ, 20, "the disk");
    call_seen(saving->recorder, OP_FSYNC, 6, "the disk");
    return aggstats_profile_copy(profile, &saving->saved);
}

static uint64_t calls_in_buckets(const struct aggstats_cause *cause) {
    uint64_t calls = 0;
    for (unsigned bucket = 0; cause->buckets && bucket < 64; bucket++)
        calls += cause->buckets[bucket];
    return calls;
}

TEST(rotation) {
    struct saving saving = {.recorder = create_recorder(THRESHOLD_NS)};
    for (int i = 0; i < 3; i++)
        call_seen(saving.recorder, OP_FSYNC, 500, "the disk");
    ck_assert_int_eq(aggstats_recorder_rotate(saving.recorder, save, &saving), 0);
    struct aggstats_profile next = snapshot_of(saving.recorder);
    ck_assert_uint_eq(saving.saved.cause_count, 1);
    ck_assert_uint_eq(saving.saved.causes[0].calls, 3);
    ck_assert_uint_eq(saving.saved.slow_call_count, 3);
    ck_assert_uint_eq(next.cause_count, 2);
    ck_assert_ptr_nonnull(cause_of(&next, "READ", "the disk"));
    ck_assert_uint_eq(next.slow_call_count, 2);
    const struct aggstats_cause *later = cause_of(&next, "FSYNC", "the disk");
    ck_assert_ptr_nonnull(later);
    ck_assert_uint_eq(later->longest_cycles, next.slow_calls[1].latency_cycles);
    ck_assert_uint_lt(later->longest_cycles, saving.saved.causes[0].longest_cycles);
    ck_assert_uint_eq(calls_in_buckets(&saving.saved.causes[0]), 3);
    ck_assert_uint_eq(calls_in_buckets(later), 1);
    ck_assert_uint_eq(later->buckets[aggstats_bucket_of(later->longest_cycles, 1)], 1);
    aggstats_profile_finish(&next);
    aggstats_profile_finish(&saving.saved);
    aggstats_recorder_destroy(saving.recorder);
}

static void call_from(struct aggstats_recorder *recorder, const char *function, const char *stack) {
    const struct aggstats_span span = begin(recorder, OP_FSYNC, "the disk");
    sleep_ms(2);
    const struct aggstats_call call = {
        .latency_cycles = aggstats_end(recorder, &span), .pid = 4711, .user_stack = (char *)(uintptr_t)stack};
    aggstats_slow_end(recorder, &span, OP_FSYNC, &call, function);
}

static uint64_t calls_from(const struct aggstats_profile *profile, const char *function) {
    for (size_t i = 0; i < profile->caller_count; i++)
        if (strcmp(profile->callers[i].function, function) == 0)
            return profile->callers[i].calls;
    return 0;
}

/* Which functions made slow calls: all are counted, with one entry for those that find no room; until a reset. */
TEST(functions) {
    char function[32];
    struct aggstats_recorder *recorder = create_recorder(AGGSTATS_SLOW_MIN_NS);
    call_from(recorder, NULL, NULL);
    for (int i = 0; i < 200; i++) {
        snprintf(function, sizeof(function), "function_%d", i / 2);
        call_from(recorder, i < 100 ? "commit_row" : function, i == 199 ? "fsync < main" : NULL);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(function, sizeof(function), "more_%d", i);
        call_from(recorder, function, NULL);
    }
    struct aggstats_profile live = live_profile();
    uint64_t calls = 0;
    for (size_t i = 0; i < live.caller_count; i++)
        calls += live.callers[i].calls;
    ck_assert_uint_eq(calls, 300);
    ck_assert_str_eq(live.callers[0].function, "commit_row");
    ck_assert_uint_eq(live.callers[0].calls, 100);
    ck_assert_uint_eq(calls_from(&live, "function_99"), 2);
    ck_assert_uint_gt(calls_from(&live, ""), 0);
    ck_assert_uint_lt(live.caller_count, 151);
    ck_assert_ptr_null(live.slow_calls[live.slow_call_count - 1].user_stack);
    aggstats_profile_drop_paths(&live);
    ck_assert_uint_eq(live.caller_count, 0);
    aggstats_profile_finish(&live);
    aggstats_recorder_reset(recorder);
    call_from(recorder, "commit_row", "fsync < commit_row");
    live = live_profile();
    ck_assert_uint_eq(live.caller_count, 1);
    ck_assert_uint_eq(live.callers[0].calls, 1);
    ck_assert_str_eq(live.slow_calls[0].user_stack, "fsync < commit_row");
    aggstats_profile_finish(&live);
    aggstats_recorder_destroy(recorder);
}

static int save_functions(void *context, const struct aggstats_profile *profile) {
    struct saving *saving = context;
    call_from(saving->recorder, "commit_row", NULL);
    return aggstats_profile_copy(profile, &saving->saved);
}

/* Of functions too, a rotation takes what the profile shows, and no more. */
TEST(functions_in_rotation) {
    struct saving saving = {.recorder = create_recorder(AGGSTATS_SLOW_MIN_NS)};
    call_from(saving.recorder, "check_point", NULL);
    call_from(saving.recorder, "commit_row", NULL);
    ck_assert_int_eq(aggstats_recorder_rotate(saving.recorder, save_functions, &saving), 0);
    struct aggstats_profile next = snapshot_of(saving.recorder);
    ck_assert_uint_eq(saving.saved.caller_count, 2);
    ck_assert_uint_eq(next.caller_count, 1);
    ck_assert_uint_eq(calls_from(&next, "commit_row"), 1);
    aggstats_profile_finish(&next);
    aggstats_profile_finish(&saving.saved);
    aggstats_recorder_destroy(saving.recorder);
}

/* More causes and calls than there is room for: causes are added up, the last calls are kept. */
TEST(bounds) {
    static char words[400][16];
    struct aggstats_recorder *recorder = create_recorder(AGGSTATS_SLOW_MIN_NS);
    uint64_t total_cycles = 0;
    for (int i = 0; i < 400; i++) {
        snprintf(words[i], sizeof(words[i]), "cause %d", i);
        total_cycles += call_for(recorder, OP_FSYNC, 3, words[i]);
    }
    struct aggstats_profile profile = snapshot_of(recorder);
    uint64_t calls = 0;
    for (size_t i = 0; i < profile.cause_count; i++) {
        calls += profile.causes[i].calls;
        total_cycles -= profile.causes[i].total_cycles;
    }
    ck_assert_uint_eq(calls, 400);
    ck_assert_uint_eq(total_cycles, 0);
    ck_assert_uint_lt(profile.cause_count, 200);
    ck_assert_uint_gt(profile.slow_call_count, 1);
    ck_assert_uint_lt(profile.slow_call_count, 100);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(thresholds) {
    struct aggstats_recorder *recorder = create_recorder(0);
    struct aggstats_slow_options options = {.threshold_ns = AGGSTATS_SLOW_MIN_NS - 1, .find_cause = find_cause};
    call_for(recorder, OP_READ, 20, "nobody looks");
    ck_assert_uint_eq(aggstats_recorder_slow_cycles(recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &options), -EINVAL);
    options.threshold_ns = AGGSTATS_SLOW_MAX_NS + 1;
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &options), -EINVAL);
    options.threshold_ns = THRESHOLD_NS;
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &options), 0);
    ck_assert_uint_gt(aggstats_recorder_slow_cycles(recorder), 0);
    call_seen(recorder, OP_READ, 20, "the disk");
    options.threshold_ns = 0;
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &options), 0);
    call_for(recorder, OP_READ, 20, "nobody looks");
    struct aggstats_profile profile = snapshot_of(recorder);
    ck_assert_uint_eq(profile.slow_call_count, 1);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* ---- Reports ---- */

#define REPORTS_MAX 512 /* that wait to be reported */

struct told {
    unsigned calls;
    uint64_t lost;
    struct aggstats_call last;
    char last_path[64];
};

static void note_report(void *context, const struct aggstats_call *call, uint64_t lost) {
    struct told *told = context;
    told->last = *call;
    snprintf(told->last_path, sizeof(told->last_path), "%s", call->path);
    __atomic_fetch_add(&told->lost, lost, __ATOMIC_RELEASE);
    __atomic_fetch_add(&told->calls, 1, __ATOMIC_RELEASE);
}

static struct aggstats_recorder *create_reporting(struct told *told, aggstats_slow_fn report) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = OP_COUNT, .resolution = 1};
    const struct aggstats_slow_options slow = {.threshold_ns = AGGSTATS_SLOW_MIN_NS,
                                               .find_cause = find_cause,
                                               .path_of = path_of,
                                               .report = report,
                                               .report_context = told};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
    return recorder;
}

TEST(ended_calls_are_reported) {
    struct told told = {.calls = 0};
    struct aggstats_recorder *recorder = create_reporting(&told, note_report);
    uint64_t latency_cycles = call_seen(recorder, OP_FSYNC, 20, "the journal");
    for (int i = 0; i < 1000 && __atomic_load_n(&told.calls, __ATOMIC_ACQUIRE) == 0; i++)
        sleep_ms(10); /* nobody asks: the recorder's thread tells */
    ck_assert_uint_eq(told.calls, 1);
    ck_assert_str_eq(told.last.op, "FSYNC");
    ck_assert_str_eq(told.last.cause.words, "the journal");
    ck_assert_str_eq(told.last_path, "/path/7");
    ck_assert_uint_eq(told.last.latency_cycles, latency_cycles);
    ck_assert_uint_eq(told.last.error, EIO);
    call_for(recorder, OP_READ, 5, "the disk");
    aggstats_slow_report(recorder);
    ck_assert_uint_eq(told.calls, 2);
    call_for(recorder, OP_READ, 5, "the disk");
    aggstats_recorder_destroy(recorder); /* reports what it has */
    ck_assert_uint_eq(told.calls, 3);
    ck_assert_uint_eq(told.lost, 0);
}

static int gate[2]; /* a pipe: the function that gets a report waits for a byte, as none may */

static void wait_and_note(void *context, const struct aggstats_call *call, uint64_t lost) {
    char byte;
    if (((struct told *)context)->calls == 0)
        ck_assert_int_eq(read(gate[0], &byte, 1), 1);
    note_report(context, call, lost);
}

/* One of another user is reported all the same. */
TEST(calls_that_nobody_is_told_of_are_counted) {
    const unsigned calls = REPORTS_MAX + 44;
    struct told told = {.calls = 0};
    ck_assert_int_eq(pipe(gate), 0);
    struct aggstats_recorder *recorder = create_reporting(&told, wait_and_note);
    for (unsigned i = 0; i < calls; i++)
        call_for(recorder, OP_READ, 2, "the disk");
    struct aggstats_span span = begin(recorder, OP_READ, "the disk");
    sleep_ms(2);
    end_of(recorder, OP_READ, &span, 1013);
    ck_assert_int_eq(write(gate[1], "", 1), 1);
    aggstats_slow_report(recorder);
    ck_assert_uint_eq(told.last.uid, 1013);
    call_for(recorder, OP_READ, 2, "the disk");
    aggstats_recorder_destroy(recorder);
    ck_assert_uint_eq(told.calls + told.lost, calls + 2);
    ck_assert_uint_ge(told.lost, 1);
    close(gate[0]);
    close(gate[1]);
}

/* ---- Text and sums ---- */

static struct aggstats_profile parse(const char *text) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    CLEANUP_STREAM FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int err = aggstats_profile_parse(stream, &profile, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    return profile;
}

#define A_LOCK "cause_id a_lock cause_class flock other_thread yes since_before yes cause a\\040lock"

static const char text[] =
    "# osprof 1\n"
    "# clock: tsc 1000000000 Hz\n"
    "# resolution: 1\n"
    "# slow: 1000\n"
    "# cause: READ calls 1 total 3000 longest 4000 cause waiting\\040for\\040\\033\\040it\n"
    "# cause: READ calls 0 total 1000 longest 0 " A_LOCK "\n"
    "# cause_buckets: 1 11:1\n"
    "# stack: disk_wait < do_call\n"
    "# stack: pread < scan\\033 < main\n"
    "# stack: server\\033 < do_call\n"
    "# call: READ age 60 cause the\\040server inode 3 pid 5 stack 3 link waits_for server object /n source nas\n"
    "# call: READ latency 4000 end_ns 1764038400123456789 cause waiting\\040for\\040\\033\\040it path /a\\040b inode 3 "
    "pid 5 process 4 program a\\040\\134b uid 6 error 5 asked_bytes 10 moved_bytes 2 offset 4096 stack 1\n"
    "# call: READ latency 4000 end_ns 1764038400123456790 " A_LOCK " path link inode 3 pid 5 uid 6 error 0 "
    "asked_bytes 10 moved_bytes 2 offset 4096 stack 1 user_stack 2 link process 5 thread 6 "
    "waits_for flock object /a\\040b relation held holder_process 5 holder_program x\\033 "
    "others 2 link process 5 all_threads yes cause_id events cause_class work cause waiting\\040on "
    "link waits_for disk object sda requests 0 circle\n"
    "# call: READ latency 4000 end_ns 1764038400123456791 path program\\040x inode 3 pid 5 uid 6 "
    "error 0 asked_bytes 10 moved_bytes 2 offset 4096\n"
    "# slow_caller: READ calls 5 program a\\040\\134b function scan\\033\n"
    "# slow_caller: READ calls 2\n"
    "OP_READ 2 4000\n 0 0 0 0 0 0 0 0 0 0 0 1\n";

TEST_CASE();

TEST(text_there_and_back) {
    CLEANUP_FREE char *written = NULL;
    size_t size_bytes;
    struct aggstats_profile profile = parse(text);
    ck_assert_str_eq(profile.causes[0].why.words, "waiting for \033 it");
    ck_assert_str_eq(profile.slow_calls[0].cause.words, "waiting for \033 it");
    ck_assert_str_eq(profile.slow_calls[0].path, "/a b");
    ck_assert_str_eq(profile.slow_calls[0].program, "a \\b");
    ck_assert_str_eq(profile.slow_calls[1].stack, "disk_wait < do_call");
    ck_assert_str_eq(profile.slow_calls[2].path, "program x");
    ck_assert_ptr_null(profile.slow_calls[0].user_stack);
    ck_assert_str_eq(profile.slow_calls[1].user_stack, "pread < scan\033 < main");
    ck_assert_str_eq(profile.callers[0].program, "a \\b");
    ck_assert_str_eq(profile.callers[0].function, "scan\033");
    ck_assert_str_eq(profile.callers[1].program, "");
    ck_assert_str_eq(profile.in_flight[0].stack, "server\033 < do_call");
    ck_assert_str_eq(profile.in_flight[0].cause.words, "the server");
    ck_assert_int_eq(profile.causes[1].why.kind, AGGSTATS_CAUSE_FLOCK);
    ck_assert_uint_eq(profile.causes[1].why.flags, AGGSTATS_WHY_FLAGS);
    ck_assert_ptr_null(profile.slow_calls[0].chain);
    const struct aggstats_chain *chain = profile.slow_calls[1].chain;
    ck_assert(chain->count == 3 && chain->is_circle);
    ck_assert_str_eq(chain->links[0].object, "/a b");
    ck_assert_str_eq(chain->links[0].holder.name, "x\033");
    ck_assert_str_eq(chain->links[1].cause.words, "waiting on");
    ck_assert(chain->links[1].is_all && !chain->links[0].has_in_flight && chain->links[2].has_in_flight);
    ck_assert_str_eq(profile.slow_calls[1].path, "link");
    ck_assert_str_eq(profile.in_flight[0].chain->links[0].source, "nas");
    ck_assert_int_eq(aggstats_profile_format(&profile, &written, &size_bytes), 0);
    ck_assert_str_eq(written, text);
    aggstats_profile_finish(&profile);
}

TEST(sums_and_differences) {
    struct aggstats_profile a = parse(text);
    struct aggstats_profile b = parse(text);
    for (size_t i = 0; i < b.slow_call_count; i++)
        b.slow_calls[i].end_ns += 10;
    ck_assert_int_eq(aggstats_profile_add(&a, &b), 0);
    ck_assert_uint_eq(a.cause_count, 2);
    ck_assert_uint_eq(a.causes[0].calls, 2);
    ck_assert_uint_eq(a.causes[0].total_cycles, 6000);
    ck_assert_uint_eq(a.causes[0].longest_cycles, 4000);
    ck_assert_uint_eq(a.causes[0].buckets[11], 2);
    ck_assert_ptr_null(a.causes[1].buckets);
    ck_assert_uint_eq(a.slow_call_count, 6);
    ck_assert_uint_eq(a.caller_count, 2);
    ck_assert_uint_eq(a.callers[0].calls, 10);
    ck_assert_uint_eq(a.callers[1].calls, 4);
    a.callers[1].calls = b.callers[1].calls;
    b.in_flight_count = 0;
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), 0);
    ck_assert_uint_eq(a.causes[0].calls, 1);
    ck_assert_uint_eq(a.causes[0].total_cycles, 3000);
    ck_assert_uint_eq(a.causes[0].buckets[11], 1);
    ck_assert_uint_eq(a.slow_call_count, 3);
    ck_assert_uint_eq(a.caller_count, 1);
    ck_assert_uint_eq(a.callers[0].calls, 5);
    ck_assert_int_eq(aggstats_profile_subtract(&a, &b), -ERANGE);
    ck_assert_str_eq(a.slow_calls[0].stack, "disk_wait < do_call");
    ck_assert_int_eq(aggstats_profile_rescale(&a, 2000000000), 0);
    ck_assert_uint_eq(a.causes[0].total_cycles, 6000);
    ck_assert_uint_eq(a.slow_calls[0].latency_cycles, 8000);
    ck_assert_uint_eq(a.causes[0].buckets[11], 0);
    ck_assert_uint_eq(a.causes[0].buckets[12], 1);
    ck_assert_uint_eq(a.slow_cycles, 2000);
    aggstats_profile_finish(&a);
    b.in_flight_count = 1;
    aggstats_profile_finish(&b);
}

/* A value of each kind of field. */
static const char *value_of(const struct field *field) {
    static const char *const values[] = {
        [FIELD_FLAG] = "yes",       [FIELD_NUMBER] = "4711",  [FIELD_CLASS] = "disk",
        [FIELD_RELATION] = "taken", [FIELD_CAUSE_ID] = "a-b", [FIELD_TEXT] = "a\\040<\\040\\134\\040b\\012"};
    return values[field->kind];
}

/* In the live file a chain is a text of fields. */
TEST(links_there_and_back) {
    char text_of_all[CHAIN_TEXT_SIZE] = " link";
    char encoded[CHAIN_TEXT_SIZE];
    struct aggstats_chain chain;
    for (const struct field *field = link_fields; field->key; field++) {
        char *end = text_of_all + strlen(text_of_all);
        snprintf(end, CHAIN_TEXT_SIZE - (size_t)(end - text_of_all), " %s %s", field->key, value_of(field));
    }
    strcat(text_of_all, " link circle");
    ck_assert(chain_decode(text_of_all, &chain));
    ck_assert(chain.count == 2 && chain.is_circle);
    for (const struct field *field = link_fields; field->key; field++) {
        ck_assert(field_is_there(field, &chain.links[0]) && !field_is_there(field, &chain.links[1]));
        if (field->kind == FIELD_NUMBER)
            ck_assert_uint_eq(field_number(field, &chain.links[0]), 4711);
    }
    ck_assert_str_eq(chain.links[0].object, "a < \\ b\n");
    chain_encode(&chain, encoded);
    ck_assert_str_eq(encoded, text_of_all);
}

TEST(the_last_links_of_a_long_chain_are_left_out) {
    char encoded[CHAIN_TEXT_SIZE];
    struct aggstats_chain chain = {.count = 4, .is_circle = true};
    struct aggstats_chain decoded;
    for (size_t i = 0; i < 4; i++)
        memset(chain.links[i].object, 'a' + (int)i, 300);
    chain_encode(&chain, encoded);
    ck_assert(chain_decode(encoded, &decoded));
    ck_assert(decoded.count == 3 && !decoded.is_circle);
    ck_assert_str_eq(decoded.links[2].object, chain.links[2].object);
    chain.count = 0;
    chain_encode(&chain, encoded);
    ck_assert_str_eq(encoded, "");
    ck_assert(chain_decode(encoded, &decoded));
    ck_assert_uint_eq(decoded.count, 0);
    memset(encoded, 'x', sizeof(encoded));
    ck_assert(!chain_decode(encoded, &decoded)); /* has no end */
    strcpy(encoded, " link object x y");
    ck_assert(!chain_decode(encoded, &decoded));
}

#define ENDED "# call: READ latency 1 end_ns 1 pid 1 uid 1 error 1 asked_bytes 1 moved_bytes 1 offset 1"
#define CAUSE(calls) "# cause: READ calls " #calls " total 3 longest 4 cause x"

static const char *const wrong_lines[] = {
    "# slow: x",
    "# cause: READ calls 1 total 3 longest 4",
    "# cause: READ calls 1 total 3 cause x",
    "# cause: READ calls 1 total 3 longest 4 cause ",
    "# cause: READ calls 1 total 3 longest 4 cause_id < cause_class disk cause x",
    "# cause: READ calls 1 total 3 longest 4 cause_class journal cause x",
    "# cause: READ calls 1 total 3 longest 4 since_before no cause x",
    CAUSE(1) " y",
    CAUSE(1) "\n" CAUSE(1),
    "# cause_buckets: 1 3:1",
    CAUSE(1) "\n# cause_buckets: 1 3:1 4:1",
    CAUSE(9) "\n# cause_buckets: 1 3:1 3:1",
    CAUSE(9) "\n# cause_buckets: 1 64:1",
    CAUSE(9) "\n# cause_buckets: 1 3",
    CAUSE(9) "\n# cause_buckets: 1 3:1\n# resolution: 2",
    "# stack: ",
    ENDED " stack 1",
    "# stack: f\n" ENDED " stack 0",
    "# stack: f\n" ENDED " user_stack 2",
    ENDED " stack f",
    ENDED " program 12345678901234567890123456789012",
    ENDED " pid 1",
    ENDED " age 1",
    ENDED " cause_id x",
    ENDED " path",
    "# call: READ latency 1 end_ns 1 pid 1 uid 1 error 1 asked_bytes 1 moved_bytes 1",
    "# call: READ latency 1 end_ns 9223372036854775808 pid 1 uid 1 error 1 asked_bytes 1 moved_bytes 1 offset 1",
    "# call: READ latency 1 end_ns 99999999999999999999",
    "# call: READ latency 1",
    "# call: READ age 1",
    "# slow_caller: READ calls x",
    "# slow_caller: READ calls 1 function scan",
    "# slow_caller: READ calls 1 program db",
    "# slow_caller: READ calls 1 program db function scan\n# slow_caller: READ calls 1 program db function scan",
    "# call: READ age 1 pid 1 link waits_for journal",
    "# call: READ age 1 pid 1 link relation <",
    "# call: READ age 1 pid 1 link process -1",
    "# call: READ age 1 pid 1 link process 18446744073709551616",
    "# call: READ age 1 pid 1 link process 1 process 1",
    "# call: READ age 1 pid 1 link all_threads no",
    "# call: READ age 1 pid 1 link cause_id <",
    "# call: READ age 1 pid 1 link object",
    "# call: READ age 1 pid 1 link held by x",
    "# call: READ age 1 pid 1 circle",
    "# call: READ age 1 pid 1 link link link link link",
};

TEST(wrong_text, .to = ARRAY_SIZE(wrong_lines)) {
    char wrong[512];
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    snprintf(wrong, sizeof(wrong), "# osprof 1\n%s\n", wrong_lines[_i]);
    CLEANUP_STREAM FILE *stream = fmemopen(wrong, strlen(wrong), "r");
    ck_assert_int_eq(aggstats_profile_parse(stream, &profile, &error), -EBADMSG);
    ck_assert_uint_gt(error.line, 1);
}
