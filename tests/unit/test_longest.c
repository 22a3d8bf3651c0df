/* The longest call of an op: exact in each window, over threads, pauses, rotations, live files, sums and texts; and
 * never one that the buckets do not allow. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "live_file.h"
#include "testing.h"

enum { OP_READ, OP_LOOKUP, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "LOOKUP"};

#define THREADS 4U
#define CALLS 20011U
#define STEPS 4001U

static struct aggstats_recorder *create_recorder(unsigned resolution, const char *live_path) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = resolution, .live_path = live_path};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    return recorder;
}

/* A call that has already taken so long. Returns its latency */
static uint64_t record(struct aggstats_recorder *recorder, uint64_t object, uint64_t about_cycles) {
    struct aggstats_span span = aggstats_begin(recorder, OP_READ, object, 1);
    span.start_cycles -= about_cycles;
    return aggstats_end(recorder, &span);
}

static struct aggstats_profile snapshot_of(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    return profile;
}

static bool is_possible(const struct aggstats_op_profile *op, unsigned resolution) {
    unsigned last = 64 * resolution;
    while (last > 0 && op->buckets[last - 1] == 0)
        last--;
    return op->longest_cycles == 0 || (last > 0 && aggstats_bucket_of(op->longest_cycles, resolution) == last - 1);
}

/* What is to be seen; 0 cycles: no call. */
struct seen {
    uint64_t cycles;
    uint64_t object;
};

static void raise_seen(struct seen *seen, uint64_t cycles, uint64_t object) {
    if (cycles > seen->cycles)
        *seen = (struct seen){cycles, object};
}

static void check_profile(const struct aggstats_profile *profile, struct seen expected) {
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, "READ");
    ck_assert_int_eq(op != NULL, expected.cycles > 0);
    if (!op)
        return;
    ck_assert_uint_eq(op->longest_cycles, expected.cycles);
    ck_assert_uint_eq(op->longest_object, expected.object);
    ck_assert(is_possible(op, profile->resolution));
    ck_assert_uint_le(op->longest_cycles, op->total_cycles);
}

static void check_recorder(struct aggstats_recorder *recorder, struct seen expected) {
    struct aggstats_profile profile = snapshot_of(recorder);
    check_profile(&profile, expected);
    aggstats_profile_finish(&profile);
}

static unsigned random_number(unsigned *state) {
    *state = *state * 1103515245U + 12345U;
    return *state >> 8;
}

static uint64_t random_latency(unsigned *state) {
    uint64_t octave = UINT64_C(1) << (12 + random_number(state) % 24);
    return octave + (octave >> 24) * random_number(state) + random_number(state) % 4096;
}

/* ---- Windows: what is recorded, reset, paused and rotated at random, against a model ---- */

struct model {
    struct aggstats_recorder *recorder;
    unsigned random;
    bool paused;
    struct seen window;
    struct seen since_mark; /* while a rotation is being saved */
    int answer;
};

static void step_calls(struct model *model) {
    uint64_t object = 1 + random_number(&model->random) % 1000;
    uint64_t cycles = record(model->recorder, object, random_latency(&model->random));
    if (model->paused)
        return;
    raise_seen(&model->window, cycles, object);
    raise_seen(&model->since_mark, cycles, object);
}

static void step_pause(struct model *model) {
    model->paused = random_number(&model->random) % 2;
    ck_assert_int_eq(
        model->paused ? aggstats_recorder_pause(model->recorder) : aggstats_recorder_resume(model->recorder), 0);
}

static int save(void *context, const struct aggstats_profile *profile) {
    struct model *model = context;
    check_profile(profile, model->window);
    model->since_mark = (struct seen){0};
    for (unsigned i = random_number(&model->random) % 4; i > 0; i--)
        step_calls(model);
    if (random_number(&model->random) % 4 == 0)
        step_pause(model);
    for (unsigned i = random_number(&model->random) % 4; i > 0; i--)
        step_calls(model);
    ck_assert_int_eq(aggstats_recorder_rotate(model->recorder, save, model), -EBUSY);
    check_recorder(model->recorder, model->window); /* until it is saved it is shown */
    return model->answer;
}

static void step(struct model *model) {
    switch (random_number(&model->random) % 16) {
    case 0:
        ck_assert_int_eq(aggstats_recorder_reset(model->recorder), 0);
        model->window = (struct seen){0};
        break;
    case 1:
    case 2:
        step_pause(model);
        break;
    case 3:
    case 4:
        model->answer = random_number(&model->random) % 2 ? 0 : -ENOSPC;
        ck_assert_int_eq(aggstats_recorder_rotate(model->recorder, save, model), model->answer);
        if (model->answer == 0)
            model->window = model->since_mark;
        break;
    default:
        step_calls(model);
    }
}

static void check_live(const char *path, struct seen expected) {
    struct aggstats_profile profile;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, NULL), 0);
    check_profile(&profile, expected);
    aggstats_profile_finish(&profile);
    close(fd);
}

TEST_CASE(.seconds = 300);

TEST(each_window_has_its_own, .to = 4) {
    char path[] = "/tmp/test-longest-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(unlink(path), 0);
    struct model model = {.recorder = create_recorder(1U << _i, path), .random = 17U + (unsigned)_i};
    for (unsigned i = 0; i < STEPS; i++) {
        step(&model);
        check_recorder(model.recorder, model.window);
        if (i % 16 == 0)
            check_live(path, model.window);
    }
    aggstats_recorder_destroy(model.recorder);
    check_live(path, model.window);
    ck_assert_int_eq(unlink(path), 0);
}

/* A recorder that was killed while it moved longest calls into the window leaves none that could be wrong. */
TEST(live_file_of_a_change_half_done_tells_none) {
    char path[] = "/tmp/test-longest-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(unlink(path), 0);
    close(fd);
    struct aggstats_recorder *recorder = create_recorder(1, path);
    record(recorder, 5, 100000);
    fd = open(path, O_RDWR | O_CLOEXEC);
    const uint64_t odd = 1;
    const off_t at_longest_changes = offsetof(struct live_header, longest_changes);
    uint64_t before = 7;
    ck_assert_int_eq(pread(fd, &before, sizeof(before), at_longest_changes), sizeof(before));
    ck_assert_uint_eq(before, 0);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert_int_eq(pread(fd, &before, sizeof(before), at_longest_changes), sizeof(before));
    ck_assert_uint_eq(before, 2);
    record(recorder, 5, 100000);
    ck_assert_int_eq(pwrite(fd, &odd, sizeof(odd), at_longest_changes), sizeof(odd));
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, NULL), 0);
    ck_assert_uint_eq(profile.ops[0].calls, 1);
    ck_assert_uint_eq(profile.ops[0].longest_cycles, 0);
    aggstats_profile_finish(&profile);
    close(fd);
    ck_assert_int_eq(unlink(path), 0);
    aggstats_recorder_destroy(recorder);
}

TEST(child_begins_anew) {
    struct aggstats_recorder *recorder = create_recorder(1, NULL);
    uint64_t cycles = record(recorder, 5, 1 << 30);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        uint64_t own_cycles = record(recorder, 6, 1 << 20);
        struct aggstats_profile profile;
        if (aggstats_recorder_snapshot(recorder, &profile) < 0 || profile.ops[0].longest_cycles != own_cycles)
            _exit(1);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_recorder(recorder, (struct seen){cycles, 5});
    aggstats_recorder_destroy(recorder);
}

/* ---- Threads ---- */

struct load {
    struct aggstats_recorder *recorder;
    pthread_t thread;
    unsigned random;
    struct seen longest;
    bool stops; /* atomic */
};

static void *record_many(void *argument) {
    struct load *load = argument;
    for (unsigned i = 0; i < CALLS || !__atomic_load_n(&load->stops, __ATOMIC_RELAXED); i++) {
        uint64_t object = 1 + random_number(&load->random);
        raise_seen(&load->longest, record(load->recorder, object, random_latency(&load->random)), object);
    }
    return NULL;
}

static void run_threads(struct aggstats_recorder *recorder, struct load *loads) {
    for (unsigned i = 0; i < THREADS; i++) {
        loads[i] = (struct load){.recorder = recorder, .random = 1 + i};
        ck_assert_int_eq(pthread_create(&loads[i].thread, NULL, record_many, &loads[i]), 0);
    }
}

static struct seen join_threads(struct load *loads) {
    struct seen longest = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        __atomic_store_n(&loads[i].stops, true, __ATOMIC_RELAXED);
        ck_assert_int_eq(pthread_join(loads[i].thread, NULL), 0);
        raise_seen(&longest, loads[i].longest.cycles, loads[i].longest.object);
    }
    return longest;
}

TEST(longest_of_all_threads_is_exact, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1U << _i, NULL);
    struct load loads[THREADS];
    run_threads(recorder, loads);
    for (unsigned i = 0; i < 1000; i++) { /* what is seen meanwhile is possible */
        struct aggstats_profile profile = snapshot_of(recorder);
        for (size_t op = 0; op < profile.op_count; op++)
            ck_assert(is_possible(&profile.ops[op], profile.resolution));
        aggstats_profile_finish(&profile);
    }
    check_recorder(recorder, join_threads(loads));
    aggstats_recorder_destroy(recorder);
}

struct spans {
    struct seen longest;
    unsigned known;
    unsigned unknown;
};

static int save_span(void *context, const struct aggstats_profile *profile) {
    struct spans *spans = context;
    const struct aggstats_op_profile *op = aggstats_profile_op(profile, "READ");
    if (!op)
        return 0;
    ck_assert(is_possible(op, profile->resolution));
    spans->known += op->longest_cycles > 0;
    spans->unknown += op->longest_cycles == 0;
    raise_seen(&spans->longest, op->longest_cycles, op->longest_object);
    return 0;
}

/* Of a call that ends at the very border of two spans it may not be known which is its own. */
TEST(rotation_under_load_tells_nothing_that_is_not_so, .to = 4) {
    struct aggstats_recorder *recorder = create_recorder(1U << _i, NULL);
    struct load loads[THREADS];
    struct spans spans = {.known = 0};
    run_threads(recorder, loads);
    for (unsigned i = 0; i < 500; i++)
        ck_assert_int_eq(aggstats_recorder_rotate(recorder, save_span, &spans), 0);
    struct seen longest = join_threads(loads);
    ck_assert_int_eq(aggstats_recorder_rotate(recorder, save_span, &spans), 0);
    ck_assert_uint_gt(spans.known, 0);
    ck_assert_uint_le(spans.unknown, 10);
    ck_assert_uint_le(spans.longest.cycles, longest.cycles);
    if (spans.unknown == 0)
        ck_assert_uint_eq(spans.longest.cycles, longest.cycles);
    aggstats_recorder_destroy(recorder);
}

/* ---- Sums, differences, texts ---- */

static struct aggstats_profile profile_of_calls(unsigned resolution, const uint64_t *latencies, unsigned count,
                                                bool is_known) {
    struct aggstats_profile profile = {.resolution = resolution};
    profile.ops = calloc(1, sizeof(*profile.ops));
    profile.op_count = 1;
    struct aggstats_op_profile *op = &profile.ops[0];
    memcpy(op->name, "READ", sizeof("READ"));
    op->buckets = calloc(64 * (size_t)resolution, sizeof(*op->buckets));
    for (unsigned i = 0; i < count; i++) {
        op->calls++;
        op->total_cycles += latencies[i];
        op->buckets[aggstats_bucket_of(latencies[i], resolution)]++;
        if (is_known && latencies[i] > op->longest_cycles)
            op->longest_cycles = latencies[i];
    }
    op->longest_object = op->longest_cycles;
    if (is_known && op->longest_cycles % 2)
        ck_assert_int_gt(asprintf(&op->longest_path, "/file %llu", (unsigned long long)op->longest_cycles), 0);
    return profile;
}

static uint64_t longest_of(const uint64_t *latencies, unsigned count) {
    uint64_t longest = 0;
    for (unsigned i = 0; i < count; i++)
        longest = latencies[i] > longest ? latencies[i] : longest;
    return longest;
}

static void check_is_known_right(const struct aggstats_profile *profile, uint64_t longest_cycles, bool must_be_known) {
    const struct aggstats_op_profile *op = &profile->ops[0];
    char path[64] = "";
    ck_assert(is_possible(op, profile->resolution));
    if (must_be_known)
        ck_assert_uint_gt(op->longest_cycles, 0);
    if (op->longest_cycles == 0)
        return;
    ck_assert_uint_eq(op->longest_cycles, longest_cycles);
    ck_assert_uint_eq(op->longest_object, longest_cycles);
    if (longest_cycles % 2)
        snprintf(path, sizeof(path), "/file %llu", (unsigned long long)longest_cycles);
    ck_assert_str_eq(op->longest_path ? op->longest_path : "", path);
}

TEST(sum_has_the_longer_and_difference_what_is_new) {
    unsigned random = 1;
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t latencies[40];
        unsigned count = 2 + random_number(&random) % 39;
        unsigned first = 1 + random_number(&random) % (count - 1);
        bool knows_first = random_number(&random) % 3 > 0;
        bool knows_rest = random_number(&random) % 3 > 0;
        unsigned resolution = 1U << random_number(&random) % 4;
        for (unsigned call = 0; call < count; call++)
            latencies[call] = random_latency(&random);
        struct aggstats_profile sum = profile_of_calls(resolution, latencies, first, knows_first);
        struct aggstats_profile rest = profile_of_calls(resolution, latencies + first, count - first, knows_rest);
        ck_assert_int_eq(aggstats_profile_add(&sum, &rest), 0);
        check_is_known_right(&sum, longest_of(latencies, count), knows_first && knows_rest);

        struct aggstats_profile all = profile_of_calls(resolution, latencies, count, true);
        struct aggstats_profile earlier = profile_of_calls(resolution, latencies, first, knows_first);
        ck_assert_int_eq(aggstats_profile_subtract(&all, &earlier), 0);
        uint64_t new_longest = longest_of(latencies + first, count - first);
        check_is_known_right(&all, new_longest, knows_first && new_longest > longest_of(latencies, first));
        aggstats_profile_finish(&sum);
        aggstats_profile_finish(&rest);
        aggstats_profile_finish(&all);
        aggstats_profile_finish(&earlier);
    }
}

TEST(coarser_or_at_another_rate_it_stays_or_is_not_known) {
    unsigned random = 7;
    for (unsigned i = 0; i < 500; i++) {
        uint64_t latencies[10];
        for (unsigned call = 0; call < 10; call++)
            latencies[call] = random_latency(&random);
        struct aggstats_profile profile = profile_of_calls(4, latencies, 10, true);
        uint64_t longest = longest_of(latencies, 10);
        profile.clock.frequency_hz = 1000000000;
        ck_assert_int_eq(aggstats_profile_coarsen(&profile, 1), 0);
        check_is_known_right(&profile, longest, true);
        ck_assert_int_eq(aggstats_profile_rescale(&profile, 2000000000), 0);
        ck_assert_uint_eq(profile.ops[0].longest_cycles, 2 * longest);
        ck_assert_int_eq(aggstats_profile_rescale(&profile, 1234567890), 0);
        ck_assert(is_possible(&profile.ops[0], 1));
        aggstats_profile_finish(&profile);
    }
}

static int parse(const char *text, struct aggstats_profile *ret_profile, struct aggstats_parse_error *error) {
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    ck_assert_ptr_nonnull(stream);
    int err = aggstats_profile_parse(stream, ret_profile, error);
    fclose(stream);
    return err;
}

TEST(text_keeps_it) {
    const uint64_t latencies[] = {5000, 70001, 33};
    struct aggstats_profile profile = profile_of_calls(1, latencies, 3, true);
    struct aggstats_profile read;
    char *text;
    size_t size_bytes;
    free(profile.ops[0].longest_path);
    profile.ops[0].longest_path = strdup("/a\nb \\ c");
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), 0);
    ck_assert_ptr_nonnull(strstr(text, "# longest: READ 70001 object 70001 path /a\\012b \\134 c\n"));
    ck_assert_int_eq(parse(text, &read, NULL), 0);
    ck_assert_uint_eq(read.ops[0].longest_cycles, 70001);
    ck_assert_uint_eq(read.ops[0].longest_object, 70001);
    ck_assert_str_eq(read.ops[0].longest_path, "/a\nb \\ c");
    ck_assert(aggstats_profile_has_paths(&read));
    aggstats_profile_drop_paths(&read);
    ck_assert(!aggstats_profile_has_paths(&read));
    ck_assert_ptr_null(read.ops[0].longest_path);
    ck_assert_uint_eq(read.ops[0].longest_cycles, 70001);
    free(text);
    aggstats_profile_finish(&profile);
    aggstats_profile_finish(&read);
}

static const struct wrong {
    const char *line;
    const char *message;
} wrongs[] = {
    {"READ 9 object 1", "expected the longest call of OP_READ in its last bucket that has calls"},
    {"READ 65 object 1", "expected the longest call of OP_READ in its last bucket that has calls"},
    {"READ", "expected the latency of a call in cycles, found the end of the line"},
    {"READ 40", "expected object, found the end of the line"},
    {"READ 40 object 1 file x", "expected path, found \"file\""},
    {"READ 40 object 1\n# longest: READ 40 object 1", "expected one \"longest\" line of OP_READ, found a second one"},
    {"WRITE 40 object 1 path /x", "expected OP_WRITE behind what is told of its calls"},
};

TEST(text_that_cannot_be_is_refused, .to = (int)(sizeof(wrongs) / sizeof(wrongs[0]))) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    char text[256];
    snprintf(text, sizeof(text), "# osprof 1\n# longest: %s\nOP_READ 2 60\n 0 0 0 0 1 1\n", wrongs[_i].line);
    ck_assert_int_eq(parse(text, &profile, &error), -EBADMSG);
    ck_assert_str_eq(error.message, wrongs[_i].message);
}

TEST(what_cannot_be_is_not_written) {
    const uint64_t latencies[] = {5000, 70001, 33};
    struct aggstats_profile profile = profile_of_calls(1, latencies, 3, true);
    char *text;
    size_t size_bytes;
    profile.ops[0].longest_cycles = 700010;
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), -EINVAL);
    aggstats_profile_finish(&profile);
}
