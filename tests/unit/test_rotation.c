/* Rotation: each call is in exactly one of the profiles that are saved, or in what is still shown; in all dimensions.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "testing.h"

enum { OP_READ, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "LOOKUP"};

enum { CALLER = 7 };

static struct aggstats_recorder *create_recorder(unsigned resolution, const char *live_path) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution, .live_path = live_path};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

/* With groups, joint profiles and intervals. */
static struct aggstats_recorder *create_full_recorder(unsigned resolution) {
    struct aggstats_recorder *recorder = create_recorder(resolution, NULL);
    const struct aggstats_grouping_options grouping = {.grouping = AGGSTATS_BY_UID};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
    ck_assert_int_eq(aggstats_recorder_set_joint(recorder, OP_READ, 1U << AGGSTATS_SIZE), 0);
    ck_assert_int_eq(aggstats_recorder_set_interval(recorder, AGGSTATS_INTERVAL_MIN_NS, 0), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, unsigned calls) {
    for (unsigned i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, CALLER);
        const struct aggstats_outcome outcome = {
            .error = i % 5 == 0 ? EIO : 0, .has_bytes = true, .asked_bytes = 7, .moved_bytes = 3};
        uint64_t latency_cycles = aggstats_end_with(recorder, &span, &outcome);
        aggstats_joint_add(recorder, OP_READ, AGGSTATS_SIZE, 4096, latency_cycles);
        aggstats_group_add(recorder, OP_READ, &(const struct aggstats_call_of){.thread = CALLER, .uid = CALLER},
                           latency_cycles);
    }
}

/* ---- What profiles hold together ---- */

struct sums {
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t finished;
    uint64_t failures;
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    uint64_t in_groups;
    uint64_t in_groups_cycles;
    uint64_t in_joints;
    unsigned profiles;
    int64_t first_start_ns;
    int64_t start_ns; /* of the last */
    char end[64];     /* of the last */
    int answer;       /* of saving */
};

static void add_op(struct sums *sums, const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    uint64_t finished = 0;
    for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++) {
        uint64_t in_intervals = 0;
        for (size_t i = 0; i < op->sample_count; i++)
            if (op->samples[i].bucket == bucket)
                in_intervals += op->samples[i].count;
        if (profile->interval_cycles > 0)
            ck_assert_uint_eq(in_intervals, op->buckets[bucket]);
        finished += op->buckets[bucket];
    }
    sums->calls += op->calls;
    sums->finished += finished;
    sums->total_cycles += op->total_cycles;
    sums->asked_bytes += op->asked_bytes;
    sums->moved_bytes += op->moved_bytes;
    for (size_t i = 0; i < AGGSTATS_FAILURES; i++)
        sums->failures += op->failures[i];
}

static void add(struct sums *sums, const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->op_count; i++)
        add_op(sums, profile, &profile->ops[i]);
    for (size_t i = 0; i < profile->joint_count; i++)
        for (size_t at = 0; at < profile->joints[i].cell_count; at++)
            sums->in_joints += profile->joints[i].cells[at].count;
    for (size_t i = 0; i < profile->group_count; i++) {
        for (size_t op = 0; op < profile->groups[i].profile.op_count; op++) {
            sums->in_groups += profile->groups[i].profile.ops[op].calls;
            sums->in_groups_cycles += profile->groups[i].profile.ops[op].total_cycles;
        }
    }
    if (sums->profiles++ == 0)
        sums->first_start_ns = profile->start_ns;
    sums->start_ns = profile->start_ns;
}

static int save(void *context, const struct aggstats_profile *profile) {
    struct sums *sums = context;
    const char *end = aggstats_profile_label(profile, "end");
    ck_assert_uint_eq(profile->in_flight_count, 0);
    ck_assert_ptr_nonnull(end);
    if (sums->answer < 0)
        return sums->answer;
    add(sums, profile);
    snprintf(sums->end, sizeof(sums->end), "%s", end);
    return 0;
}

static void rotate(struct aggstats_recorder *recorder, struct sums *sums) {
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save, sums), sums->answer);
}

static void add_shown(struct aggstats_recorder *recorder, struct sums *sums) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_ptr_null(aggstats_profile_label(&profile, "end"));
    add(sums, &profile);
    aggstats_profile_finish(&profile);
}

static struct sums shown(struct aggstats_recorder *recorder) {
    struct sums sums = {0};
    add_shown(recorder, &sums);
    return sums;
}

static void expect_everywhere(const struct sums *sums, uint64_t calls) {
    ck_assert_uint_eq(sums->calls, calls);
    ck_assert_uint_eq(sums->finished, calls);
    ck_assert_uint_eq(sums->asked_bytes, 7 * calls);
    ck_assert_uint_eq(sums->moved_bytes, 3 * calls);
    ck_assert_uint_eq(sums->in_groups, calls);
    ck_assert_uint_eq(sums->in_joints, calls);
    ck_assert_uint_eq(sums->in_groups_cycles, sums->total_cycles);
}

/* ---- One thread ---- */

TEST(what_was_saved_is_not_shown_any_more, .to = 4) {
    struct aggstats_recorder *recorder = create_full_recorder(1U << _i);
    for (unsigned round = 1; round <= 3; round++) {
        struct sums saved = {0};
        record(recorder, 7 * round);
        rotate(recorder, &saved);
        expect_everywhere(&saved, 7 * (uint64_t)round);
        ck_assert_uint_eq(saved.failures, (7 * round + 4) / 5);
        struct sums rest = shown(recorder);
        expect_everywhere(&rest, 0);
    }
    aggstats_recorder_destroy(recorder);
}

static bool is_known; /* atomic */

static bool identify_at_last(void *unused, uint32_t unused_caller, struct aggstats_identity *ret_identity) {
    (void)unused, (void)unused_caller;
    *ret_identity = (struct aggstats_identity){.name = "program"};
    return __atomic_load_n(&is_known, __ATOMIC_ACQUIRE);
}

/* Groups that have names only: who has none yet is among the others of the span in which he called. */
TEST(callers_without_a_name_are_saved_once) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    const struct aggstats_grouping_options grouping = {.grouping = AGGSTATS_BY_PROGRAM, .identify = identify_at_last};
    struct sums saved = {0};
    ck_assert_int_eq(aggstats_recorder_group(recorder, &grouping), 0);
    for (unsigned round = 1; round <= 4; round++) {
        __atomic_store_n(&is_known, round > 2, __ATOMIC_RELEASE);
        saved.answer = round == 2 ? -ENOSPC : 0;
        record(recorder, 5);
        rotate(recorder, &saved);
        ck_assert_uint_eq(saved.in_groups, round == 2 ? 5 : 5 * (uint64_t)round);
        struct sums rest = shown(recorder);
        ck_assert_uint_eq(rest.in_groups, round == 2 ? 5 : 0);
    }
    aggstats_recorder_destroy(recorder);
}

TEST(next_span_begins_where_the_last_ended) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct sums saved = {0};
    struct aggstats_profile profile;
    char *text;
    size_t size_bytes;
    char expected[128];
    rotate(recorder, &saved);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), 0);
    snprintf(expected, sizeof(expected), "\n# start: %s\n", saved.end);
    ck_assert_msg(strstr(text, expected), "the span ended %s, the next: %s", saved.end, text);
    free(text);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

TEST(what_cannot_be_saved_stays) {
    struct aggstats_recorder *recorder = create_full_recorder(1);
    record(recorder, 11);
    struct sums before = shown(recorder);
    for (unsigned attempt = 0; attempt < 3; attempt++) {
        struct sums saved = {.answer = -ENOSPC};
        rotate(recorder, &saved);
    }
    struct sums after = shown(recorder);
    expect_everywhere(&after, 11);
    ck_assert_int_eq(after.start_ns, before.start_ns);
    record(recorder, 2);
    struct sums saved = {0};
    rotate(recorder, &saved);
    expect_everywhere(&saved, 13);
    ck_assert_int_eq(saved.start_ns, before.start_ns);
    aggstats_recorder_destroy(recorder);
}

TEST(call_in_flight_is_in_the_later_span) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct sums saved = {0};
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
    rotate(recorder, &saved);
    ck_assert_uint_eq(saved.calls, 0);
    ck_assert_uint_eq(shown(recorder).calls, 1);
    aggstats_end(recorder, &span);
    rotate(recorder, &saved);
    ck_assert_uint_eq(saved.finished, 1);
    ck_assert_uint_eq(shown(recorder).calls, 0);
    aggstats_recorder_destroy(recorder);
}

/* ---- Pauses and resets, also while a profile is being saved ---- */

/* c a call; p pause, r resume, z reset; [ and ] begin and end of a rotation, { and ] of one whose saving fails */
static const struct {
    const char *steps;
    uint64_t saved;
    uint64_t shown;
} scripts[] = {
    {"cc[]", 2, 0},         {"cc[c]", 2, 1},      {"cc[c]c", 2, 2},        {"cc{c]", 0, 3},       {"c[c]cc[c]", 4, 1},
    {"cpc[]", 1, 0},        {"cpc[]c", 1, 0},     {"cpc[]rc", 1, 1},       {"cpc[c]crc", 1, 1},   {"c[pc]crc", 1, 1},
    {"c[cpc]crc", 1, 2},    {"c[pcr]c", 1, 1},    {"cpc[crc]c", 1, 2},     {"cpc[crcp]cr", 1, 1}, {"c[z]c", 1, 1},
    {"c[czc]c", 1, 2},      {"c{czc]c", 0, 2},    {"cp[z]rc", 1, 1},       {"cp[cz]crc", 1, 1},   {"c[cpcz]crc", 1, 1},
    {"c[c]p[]rc[c]", 3, 1}, {"c{pc]rc[c]", 2, 1}, {"cpcrc[cpcrc]c", 2, 3},
};

struct play {
    struct aggstats_recorder *recorder;
    const char *steps;
    struct sums saved;
};

static int play_saving(void *context, const struct aggstats_profile *profile);

static void play(struct play *play) {
    for (; *play->steps && *play->steps != ']'; play->steps++) {
        int err = 0;
        bool fails = *play->steps == '{';
        switch (*play->steps) {
        case 'c':
            record(play->recorder, 1);
            break;
        case 'p':
            err = aggstats_recorder_pause(play->recorder);
            break;
        case 'r':
            err = aggstats_recorder_resume(play->recorder);
            break;
        case 'z':
            err = aggstats_recorder_reset(play->recorder);
            break;
        default:
            play->steps++;
            play->saved.answer = fails ? -EIO : 0;
            err = aggstats_recorder_rotate(play->recorder, play_saving, play);
            ck_assert_int_eq(err, fails ? -EIO : 0);
            continue; /* is at the bracket */
        }
        ck_assert_int_eq(err, 0);
    }
}

static int play_saving(void *context, const struct aggstats_profile *profile) {
    struct play *whole = context;
    int err = save(&whole->saved, profile);
    play(whole);
    ck_assert_int_eq(*whole->steps, ']');
    return err;
}

TEST(pauses_and_resets_meanwhile_count_as_after_it, .to = (int)(sizeof(scripts) / sizeof(scripts[0]))) {
    struct play script = {.recorder = create_full_recorder(2), .steps = scripts[_i].steps};
    play(&script);
    ck_assert_int_eq(*script.steps, '\0');
    expect_everywhere(&script.saved, scripts[_i].saved);
    struct sums rest = shown(script.recorder);
    expect_everywhere(&rest, scripts[_i].shown);
    aggstats_recorder_destroy(script.recorder);
}

static uint64_t elapsed(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    uint64_t cycles = profile.elapsed_cycles;
    aggstats_profile_finish(&profile);
    return cycles;
}

static int save_later(void *context, const struct aggstats_profile *profile) {
    uint64_t *elapsed_cycles = context;
    *elapsed_cycles += profile->elapsed_cycles;
    usleep(20000);
    return 0;
}

struct pair {
    struct aggstats_recorder *plain;
    struct aggstats_recorder *rotated;
    uint64_t apart_cycles; /* by so much, at most, what was done to one was done later to the other */
};

static void do_to_both(struct pair *pair, int (*change)(struct aggstats_recorder *recorder)) {
    uint32_t clock_kind = aggstats_recorder_clock(pair->plain).kind;
    uint64_t before = aggstats_clock_now(clock_kind);
    ck_assert_int_eq(change(pair->plain), 0);
    ck_assert_int_eq(change(pair->rotated), 0);
    pair->apart_cycles += aggstats_clock_now(clock_kind) - before;
}

static void rotate_and_pause(struct pair *pair, unsigned round, uint64_t *sum) {
    usleep(5000);
    ck_assert_int_eq(aggstats_recorder_rotate(pair->rotated, save_later, sum), 0);
    if (round == 0 || round == 2)
        do_to_both(pair, aggstats_recorder_pause);
    if (round != 1)
        return;
    usleep(5000);
    do_to_both(pair, aggstats_recorder_resume);
}

/* The elapsed times of the spans add up to that without rotations, whatever was paused. Both are paused in the end. */
TEST(elapsed_times_add_up) {
    struct pair pair = {.plain = create_recorder(1, NULL), .rotated = create_recorder(1, NULL)};
    uint64_t sum = 0;
    do_to_both(&pair, aggstats_recorder_reset);
    for (unsigned round = 0; round < 4; round++)
        rotate_and_pause(&pair, round, &sum);
    uint64_t whole = elapsed(pair.plain);
    sum += elapsed(pair.rotated);
    ck_assert_uint_le(sum, whole + pair.apart_cycles);
    ck_assert_uint_le(whole, sum + pair.apart_cycles);
    aggstats_recorder_destroy(pair.plain);
    aggstats_recorder_destroy(pair.rotated);
}

static int rotate_within(void *context, const struct aggstats_profile *profile) {
    struct sums sums = {0};
    (void)profile;
    ck_assert_int_eq(aggstats_recorder_rotate(context, save, &sums), -EBUSY);
    return 0;
}

TEST(second_rotation_at_once_is_refused) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, rotate_within, recorder), 0);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, rotate_within, recorder), 0);
    aggstats_recorder_destroy(recorder);
}

/* A joint profile that began anew while the span was saved loses nothing to it. */
static int restart_joint(void *context, const struct aggstats_profile *profile) {
    (void)profile;
    aggstats_recorder_set_joint(context, OP_READ, 0);
    aggstats_recorder_set_joint(context, OP_READ, 1U << AGGSTATS_SIZE);
    record(context, 3);
    return 0;
}

TEST(joint_profile_begun_meanwhile_is_whole) {
    struct aggstats_recorder *recorder = create_full_recorder(1);
    record(recorder, 5);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, restart_joint, recorder), 0);
    struct sums rest = shown(recorder);
    expect_everywhere(&rest, 3);
    aggstats_recorder_destroy(recorder);
}

/* ---- Many threads ---- */

enum { RECORDERS = 4, CALLS_EACH = 200003 };

struct load {
    struct aggstats_recorder *recorder;
    unsigned running; /* atomic */
};

static void *record_many(void *argument) {
    struct load *load = argument;
    record(load->recorder, CALLS_EACH);
    __atomic_sub_fetch(&load->running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Calls and totals exactly; of calls that were just ending groups and joint profiles may lack some, of each bucket no
 * more than there are threads. */
TEST(spans_add_up_to_all_calls, .to = 4) {
    struct load load = {.recorder = create_full_recorder(1U << _i), .running = RECORDERS};
    struct sums saved = {0};
    struct sums failed = {.answer = -EIO};
    pthread_t threads[RECORDERS];
    for (unsigned i = 0; i < RECORDERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, record_many, &load), 0);
    do {
        rotate(load.recorder, &saved);
        rotate(load.recorder, &failed);
    } while (__atomic_load_n(&load.running, __ATOMIC_ACQUIRE) > 0);
    for (unsigned i = 0; i < RECORDERS; i++)
        pthread_join(threads[i], NULL);
    unsigned rotations = saved.profiles;
    add_shown(load.recorder, &saved);
    const uint64_t calls = (uint64_t)RECORDERS * CALLS_EACH;
    ck_assert_uint_gt(rotations, 3);
    ck_assert_uint_eq(saved.calls, calls);
    ck_assert_uint_eq(saved.finished, calls);
    ck_assert_uint_eq(saved.asked_bytes, 7 * calls);
    ck_assert_uint_eq(saved.moved_bytes, 3 * calls);
    ck_assert_uint_eq(saved.failures, (uint64_t)RECORDERS * ((CALLS_EACH + 4) / 5));
    ck_assert_uint_le(saved.in_groups, calls);
    ck_assert_uint_ge(saved.in_groups + 64 * (1U << _i) * RECORDERS, calls);
    ck_assert_uint_le(saved.in_joints, calls);
    ck_assert_uint_ge(saved.in_joints + 64 * (1U << _i) * RECORDERS, calls);
    aggstats_recorder_destroy(load.recorder);
}

/* The same recorder would show this total if it had never been rotated. */
TEST(totals_add_up_exactly) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    struct sums saved = {0};
    uint64_t total_cycles = 0;
    for (unsigned i = 0; i < 1009; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 1, 1);
        total_cycles += aggstats_end(recorder, &span);
        if (i % 10 == 0)
            rotate(recorder, &saved);
    }
    add_shown(recorder, &saved);
    ck_assert_uint_eq(saved.total_cycles, total_cycles);
    aggstats_recorder_destroy(recorder);
}

/* ---- Live file, fork ---- */

static uint64_t calls_in_live(const char *path) {
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    struct aggstats_parse_error why;
    struct sums sums = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(aggstats_live_read(fd, &profile, &info, &why), 0);
    close(fd);
    add(&sums, &profile);
    aggstats_profile_finish(&profile);
    return sums.calls;
}

TEST(live_file_has_the_span_since) {
    char path[] = "rotation.live";
    struct sums saved = {0};
    struct sums failed = {.answer = -EIO};
    unlink(path);
    struct aggstats_recorder *recorder = create_recorder(1, path);
    record(recorder, 5);
    rotate(recorder, &saved);
    record(recorder, 3);
    ck_assert_uint_eq(calls_in_live(path), 3);
    rotate(recorder, &failed);
    ck_assert_uint_eq(calls_in_live(path), 3);
    aggstats_recorder_destroy(recorder);
    ck_assert_uint_eq(calls_in_live(path), 3);
    unlink(path);
}

static int fork_while_saving(void *context, const struct aggstats_profile *profile) {
    struct aggstats_recorder *recorder = context;
    (void)profile;
    pid_t child = fork();
    if (child == 0) {
        struct aggstats_profile own;
        struct sums sums = {0};
        record(recorder, 2);
        if (aggstats_recorder_rotate(recorder, save, &sums) != 0 || sums.calls != 2)
            _exit(1);
        if (aggstats_recorder_snapshot(recorder, &own) != 0 || own.op_count != 0)
            _exit(2);
        _exit(0);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    return 0;
}

TEST(child_of_who_saves_rotates_by_itself) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    record(recorder, 5);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, fork_while_saving, recorder), 0);
    ck_assert_uint_eq(shown(recorder).calls, 0);
    aggstats_recorder_destroy(recorder);
}
