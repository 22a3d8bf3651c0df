/* The prof layer: known latencies in, the same buckets out; nothing else of a call changes. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../bench/partial_ops.h"
#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "aggstats/slow.h"
#include "base.h"
#include "events_reader.h"
#include "layer_delay.h"
#include "layer_failing.h"
#include "op_calls.h"
#include "prof.h"
#include "testing.h"

#define ATTEMPTS 300

static struct aggstats_recorder *recorder;
static struct prof prof;
static struct op_arguments arguments;

static void create_recorder(unsigned resolution) {
    const struct aggstats_recorder_options options = {
        .op_names = fs_op_names, .op_count = FS_OP_COUNT, .resolution = resolution};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    op_arguments_init(&arguments);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

/* ---- Truth ---- */

/* One call through the prof layer, measured from inside and outside. */
struct measured {
    uint64_t inner_cycles;
    uint64_t outer_cycles;
};

static struct measured measure(struct layer_delay *delay, enum fs_op op) {
    uint64_t start_cycles = aggstats_clock_now(delay->clock.kind);
    int status = op_call(&prof.layer, op, &arguments);
    uint64_t end_cycles = aggstats_clock_now(delay->clock.kind);
    ck_assert_int_eq(status, 0);
    return (struct measured){.inner_cycles = delay->elapsed_cycles, .outer_cycles = end_cycles - start_cycles};
}

/* floor(r * log2(latency)), as the formula stands in the thesis (eq. 3.4). */
static unsigned formula(uint64_t latency_cycles, unsigned resolution) {
    return (unsigned)floorl((long double)resolution * log2l((long double)latency_cycles));
}

/* The recorder has seen one call of op, neither shorter nor longer than what was measured around it. */
static void check_one_call(enum fs_op op, unsigned resolution, struct measured measured) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 1);
    const struct aggstats_op_profile *seen = aggstats_profile_op(&profile, fs_op_names[op]);
    ck_assert_ptr_nonnull(seen);
    ck_assert_uint_eq(seen->calls, 1);
    ck_assert_uint_ge(seen->total_cycles, measured.inner_cycles);
    ck_assert_uint_le(seen->total_cycles, measured.outer_cycles);
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        ck_assert_uint_eq(seen->buckets[bucket], bucket == formula(seen->total_cycles, resolution));
    aggstats_profile_finish(&profile);
}

/* The least that is in the same bucket: then what is around it has most room there. */
static uint64_t least_in_bucket(uint64_t cycles, unsigned resolution) {
    uint64_t least = (uint64_t)ceil(aggstats_bucket_lower(formula(cycles, resolution), resolution));
    return formula(least, resolution) == formula(cycles, resolution) ? least : cycles;
}

/* A latency near a bucket's bound may fall on either side of it; calls are repeated until inside and outside lie in
 * one bucket. Then the recorded latency, which lies between, can have no other. */
static void check_truth(enum fs_op op, unsigned resolution, uint64_t delay_ns) {
    struct layer_delay delay;
    create_recorder(resolution);
    struct aggstats_clock clock = aggstats_recorder_clock(recorder);
    layer_delay_init(&delay, clock);
    delay.delay_cycles = least_in_bucket((uint64_t)((double)delay_ns * (double)clock.frequency_hz / 1e9), resolution);
    prof_init(&prof, recorder, &delay.layer);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct measured measured = measure(&delay, op);
        ck_assert_uint_ge(measured.inner_cycles, delay.delay_cycles);
        check_one_call(op, resolution, measured);
        if (formula(measured.inner_cycles, resolution) == formula(measured.outer_cycles, resolution)) {
            tear_down();
            return;
        }
        ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    }
    ck_abort_msg("%s: in %d calls inside and outside never agreed on a bucket", fs_op_names[op], ATTEMPTS);
}

static const uint64_t delays_ns[] = {10000, 1000000, 100000000};

TEST_CASE(.seconds = 120);

TEST(delay_lands_in_the_bucket_of_the_formula, .to = FS_OP_COUNT * (int)ARRAY_SIZE(delays_ns)) {
    check_truth((enum fs_op)(_i % FS_OP_COUNT), 1, delays_ns[_i / FS_OP_COUNT]);
}

TEST(delay_lands_in_the_fine_bucket_of_the_formula, .to = FS_OP_COUNT) {
    check_truth((enum fs_op)_i, 8, 1000000);
}

/* ---- Passing on ---- */

/* NULL: all of the profiler; then the parts of it that bench measures, which count nothing. */
static const struct fs_ops *const parts[] = {NULL, &partial_tsc_ops, &partial_call_ops};

static void init_part(const struct fs_ops *part, struct fs_layer *next) {
    prof_init(&prof, recorder, next);
    if (part)
        prof.layer.ops = part;
}

static void check_counts(const struct fs_ops *part, enum fs_op op) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, !part);
    if (!part) {
        ck_assert_str_eq(profile.ops[0].name, fs_op_names[op]);
        ck_assert_uint_eq(profile.ops[0].calls, 1);
    }
    aggstats_profile_finish(&profile);
}

static void check_call_is_passed_on(int status) {
    struct layer_failing failing;
    create_recorder(1);
    layer_failing_init(&failing, status);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        for (int number = 0; number < FS_OP_COUNT; number++) {
            enum fs_op op = (enum fs_op)number;
            init_part(parts[i], &failing.layer);
            failing.calls = 0;
            ck_assert_int_eq(op_call(&prof.layer, op, &arguments), status);
            ck_assert_uint_eq(failing.calls, 1);
            ck_assert_msg(layer_failing_was_called_with(&failing, op, &arguments), "%s: arguments changed",
                          fs_op_names[op]);
            ck_assert_msg(op_results_untouched(&arguments), "%s: results changed", fs_op_names[op]);
            check_counts(parts[i], op);
            ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
        }
    }
    tear_down();
}

TEST_CASE();

TEST(call_passes_unchanged_and_is_counted_once) {
    check_call_is_passed_on(0);
}

static const int errors[] = {EPERM, ENOENT, EIO, ENOSYS, EOPNOTSUPP, ESTALE, 4095};

TEST(error_passes_unchanged_and_is_counted_once, .to = (int)ARRAY_SIZE(errors)) {
    check_call_is_passed_on(-errors[_i]);
}

/* ---- What came of calls ---- */

/* The op's name is in the list, where a blank is before and behind each. */
static bool is_listed(const char *list, const char *name) {
    char item[AGGSTATS_NAME_SIZE + 2];
    snprintf(item, sizeof(item), " %s ", name);
    return strstr(list, item) != NULL;
}

/* One call of each op, without and with the value of a joint profile: two wrappers. */
static void call_each_op(int status) {
    struct layer_failing failing;
    layer_failing_init(&failing, status);
    prof_init(&prof, recorder, &failing.layer);
    arguments.results.read_bytes = 41;
    arguments.results.written_bytes = 43;
    arguments.results.copied_bytes = 47;
    for (int number = 0; number < FS_OP_COUNT; number++) {
        enum fs_op op = (enum fs_op)number;
        op_call(&prof.layer, op, &arguments);
        ck_assert_int_eq(prof_set_joint(&prof, op, 1U << AGGSTATS_ERROR), 0);
        op_call(&prof.layer, op, &arguments);
        ck_assert_int_eq(prof_set_joint(&prof, op, 0), 0);
    }
}

static void check_outcome(const struct aggstats_op_profile *op, int error) {
    const bool has_bytes = is_listed(" READ WRITE COPY_FILE_RANGE ", op->name);
    const uint64_t moved_bytes = is_listed(" READ ", op->name) ? 41 : is_listed(" WRITE ", op->name) ? 43 : 47;
    ck_assert_uint_eq(op->calls, 2);
    ck_assert_uint_eq(op->asked_bytes, has_bytes ? 2 * 101 : 0);
    ck_assert_uint_eq(op->moved_bytes, has_bytes && error == 0 ? 2 * moved_bytes : 0);
    ck_assert_uint_eq(aggstats_failed_calls(op), error ? 2 : 0);
    if (error)
        ck_assert_uint_eq(op->failures[aggstats_failure_of_error(error)], 2);
}

static const int outcomes[] = {0, ENOENT, EIO, 4095};

TEST(failures_of_all_ops_are_counted_and_bytes_of_those_that_move_them, .to = (int)ARRAY_SIZE(outcomes)) {
    struct aggstats_profile profile;
    create_recorder(1);
    call_each_op(-outcomes[_i]);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, FS_OP_COUNT);
    for (size_t i = 0; i < profile.op_count; i++)
        check_outcome(&profile.ops[i], outcomes[_i]);
    aggstats_profile_finish(&profile);
    tear_down();
}

TEST(forget_passes_uncounted) {
    struct layer_failing failing;
    struct aggstats_profile profile;
    create_recorder(1);
    layer_failing_init(&failing, -EIO);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        init_part(parts[i], &failing.layer);
        prof.layer.ops->forget(&prof.layer, 4711 + i, 13);
        ck_assert_uint_eq(failing.forgets, i + 1);
        ck_assert_uint_eq(failing.forgotten_ino, 4711 + i);
        ck_assert_uint_eq(failing.forgotten_count, 13);
    }
    ck_assert_uint_eq(failing.calls, 0);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 0);
    aggstats_profile_finish(&profile);
    tear_down();
}

/* ---- In flight ---- */

static void *call_write(void *argument) {
    struct layer_delay *delay = argument;
    struct op_arguments own;
    op_arguments_init(&own);
    own.caller.pid = 4711;
    own.ino = 90001;
    delay->delay_cycles = delay->clock.frequency_hz / 4;
    op_call(&prof.layer, FS_OP_WRITE, &own);
    return NULL;
}

TEST(call_in_flight_shows_inode_and_caller) {
    struct layer_delay delay;
    struct aggstats_profile profile;
    pthread_t thread;
    create_recorder(1);
    layer_delay_init(&delay, aggstats_recorder_clock(recorder));
    prof_init(&prof, recorder, &delay.layer);
    ck_assert_int_eq(pthread_create(&thread, NULL, call_write, &delay), 0);
    for (;;) {
        ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
        if (profile.in_flight_count > 0)
            break;
        aggstats_profile_finish(&profile);
    }
    ck_assert_str_eq(profile.in_flight[0].op, "WRITE");
    ck_assert_uint_eq(profile.in_flight[0].object, 90001);
    ck_assert_uint_eq(profile.in_flight[0].pid, 4711);
    aggstats_profile_finish(&profile);
    pthread_join(thread, NULL);
    tear_down();
}

/* ---- Many threads ---- */

#define CALLS 1000007 /* in all, over all threads */
#define WORKERS_MAX 16

static const unsigned thread_counts[] = {1, 2, 8, 16};

struct worker {
    pthread_t thread;
    uint64_t first; /* it makes calls first, first + step, ... below CALLS; call i is of op i % FS_OP_COUNT */
    uint64_t step;
};

static void *work(void *argument) {
    const struct worker *worker = argument;
    struct op_arguments own;
    op_arguments_init(&own);
    for (uint64_t call = worker->first; call < CALLS; call += worker->step)
        op_call(&prof.layer, (enum fs_op)(call % FS_OP_COUNT), &own);
    return NULL;
}

static void start_workers(struct worker *workers, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.first = i, .step = count};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void join_workers(struct worker *workers, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static uint64_t sum_of_buckets(const struct aggstats_op_profile *op) {
    uint64_t sum = 0;
    for (unsigned bucket = 0; bucket < 64; bucket++)
        sum += op->buckets[bucket];
    return sum;
}

/* Snapshots, and resets if wanted, until told to stop. */
struct watcher {
    pthread_t thread;
    bool reset;
    bool stop; /* atomic */
    unsigned rounds;
    unsigned inconsistent; /* ops that showed more finished calls than calls */
};

static void *watch(void *argument) {
    struct watcher *watcher = argument;
    do {
        struct aggstats_profile profile;
        if (aggstats_recorder_snapshot(recorder, &profile) < 0)
            break;
        for (size_t i = 0; i < profile.op_count; i++)
            watcher->inconsistent += sum_of_buckets(&profile.ops[i]) > profile.ops[i].calls;
        aggstats_profile_finish(&profile);
        if (watcher->reset)
            aggstats_recorder_reset(recorder);
        watcher->rounds++;
    } while (!__atomic_load_n(&watcher->stop, __ATOMIC_RELAXED));
    return NULL;
}

static void stop_watcher(struct watcher *watcher) {
    __atomic_store_n(&watcher->stop, true, __ATOMIC_RELAXED);
    pthread_join(watcher->thread, NULL);
    ck_assert_uint_gt(watcher->rounds, 0);
    ck_assert_uint_eq(watcher->inconsistent, 0);
}

/* Each op shows its share of the first `calls` calls, all of them finished. */
static void check_shares(uint64_t calls) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    for (unsigned op = 0; op < FS_OP_COUNT; op++) {
        const struct aggstats_op_profile *seen = aggstats_profile_op(&profile, fs_op_names[op]);
        ck_assert_ptr_nonnull(seen);
        ck_assert_uint_eq(seen->calls, calls / FS_OP_COUNT + (op < calls % FS_OP_COUNT));
        ck_assert_uint_eq(sum_of_buckets(seen), seen->calls);
    }
    aggstats_profile_finish(&profile);
}

static void run_workers(unsigned count, struct watcher *watcher) {
    static struct layer_delay nothing; /* workers use it */
    struct worker workers[WORKERS_MAX];
    layer_delay_init(&nothing, aggstats_recorder_clock(recorder));
    prof_init(&prof, recorder, &nothing.layer);
    if (watcher)
        ck_assert_int_eq(pthread_create(&watcher->thread, NULL, watch, watcher), 0);
    start_workers(workers, count);
    join_workers(workers, count);
    if (watcher)
        stop_watcher(watcher);
}

TEST_CASE(.seconds = 120);

TEST(no_call_is_lost_by_any_number_of_threads, .to = (int)ARRAY_SIZE(thread_counts)) {
    create_recorder(1);
    run_workers(thread_counts[_i], NULL);
    check_shares(CALLS);
    tear_down();
}

TEST(snapshots_meanwhile_cost_no_call, .to = (int)ARRAY_SIZE(thread_counts)) {
    struct watcher watcher = {.reset = false};
    create_recorder(1);
    run_workers(thread_counts[_i], &watcher);
    check_shares(CALLS);
    tear_down();
}

/* What resets took is gone from sight; but nothing is ever in doubt afterwards, and new calls count exactly. */
TEST(resets_meanwhile_leave_exact_counts, .to = (int)ARRAY_SIZE(thread_counts)) {
    struct watcher watcher = {.reset = true};
    create_recorder(1);
    run_workers(thread_counts[_i], &watcher);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    run_workers(thread_counts[_i], NULL);
    check_shares(CALLS);
    tear_down();
}

/* ---- Names ---- */

TEST_CASE();

TEST(every_op_has_the_name_of_its_row) {
    ck_assert_str_eq(fs_op_names[FS_OP_LOOKUP], "LOOKUP");
    ck_assert_str_eq(fs_op_names[FS_OP_COPY_FILE_RANGE], "COPY_FILE_RANGE");
    for (int op = 0; op < FS_OP_COUNT; op++) {
        ck_assert_ptr_nonnull(fs_op_names[op]);
        for (int other = 0; other < op; other++)
            ck_assert_str_ne(fs_op_names[op], fs_op_names[other]);
    }
}

/* ---- Single calls ---- */

static struct events_recorder *events;

static void create_events(void) {
    const struct events_source source = {
        .recorder = recorder, .ops = fs_op_events, .op_count = FS_OP_COUNT, .resolution = 1, .version = "test"};
    ck_assert_int_eq(events_recorder_create(&source, &events), 0);
}

/* Calls every op once, and gives the file. */
static struct events_file *record_all_ops(bool with_names, void **ret_data) {
    int fd = memfd_create("events", MFD_CLOEXEC);
    struct layer_delay delay;
    char complaint[EVENTS_COMPLAINT_SIZE];
    struct events_file *file = NULL;
    layer_delay_init(&delay, aggstats_recorder_clock(recorder));
    prof_init(&prof, recorder, &delay.layer);
    create_events();
    const struct events_wanted wanted = {.fd = dup(fd), .names = with_names};
    ck_assert_int_eq(events_recorder_start(events, &wanted), 0);
    prof_set_events(&prof, events);
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        ck_assert_int_eq(op_call(&prof.layer, (enum fs_op)op, &arguments), 0);
    prof_set_events(&prof, NULL);
    op_call(&prof.layer, FS_OP_GETATTR, &arguments); /* not recorded any more */
    ck_assert_int_eq(events_recorder_stop(events), 0);
    events_recorder_destroy(events);
    size_t size_bytes = (size_t)lseek(fd, 0, SEEK_END);
    *ret_data = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_int_eq(events_open(*ret_data, size_bytes, &file, complaint), 0);
    close(fd);
    return file;
}

static const char *text_of(const char *name) {
    if (strcmp(name, "name") == 0 || strcmp(name, "attribute") == 0)
        return arguments.name;
    return strcmp(name, "new_name") == 0 ? arguments.new_name : arguments.results.target;
}

/* The length is that of all columns that the row names, neither more nor less. */
static void check_record(const struct events_file *file, const unsigned char *bytes, unsigned op, bool with_names) {
    struct events_record record;
    memcpy(&record, bytes, sizeof(record));
    const struct events_op *described = &file->ops[op];
    unsigned words = 4 + (with_names ? described->column_count_all : described->column_count);
    size_t text_bytes = 0;
    for (unsigned i = 0; with_names && i < described->text_count; i++)
        text_bytes += 4 + strlen(text_of(described->texts[i]));
    ck_assert_str_eq(described->name, fs_op_names[op]);
    ck_assert_uint_eq(events_head_op(record.head), op);
    if (op != FS_OP_SYMLINK || !with_names) /* whose target is another's buffer */
        ck_assert_uint_eq(events_head_words(record.head), words + (text_bytes + 7) / 8);
    if (!with_names)
        ck_assert_uint_le(events_head_words(record.head), 8);
    ck_assert_uint_eq(record.node, arguments.ino);
    ck_assert_uint_eq(record.thread, (uint32_t)arguments.caller.pid);
    ck_assert_uint_eq(record.uid, arguments.caller.uid);
}

TEST(every_op_is_recorded_with_what_its_row_names, .to = 2) {
    create_recorder(1);
    void *data;
    struct events_file *file = record_all_ops(_i == 1, &data);
    size_t at = 0;
    ck_assert_uint_eq(file->run_count, 1);
    ck_assert_uint_eq(file->runs[0].buffer.record_count, FS_OP_COUNT);
    for (unsigned op = 0; op < FS_OP_COUNT; op++) {
        struct events_record record;
        memcpy(&record, file->runs[0].records + at, sizeof(record));
        check_record(file, file->runs[0].records + at, op, _i == 1);
        at += (size_t)events_head_words(record.head) * 8;
    }
    ck_assert_uint_eq(at, file->runs[0].records_bytes);
    ck_assert_uint_eq(file->losses.unreadable, 0);
    events_close(file);
    tear_down();
}

static void check_create(const struct events_file *file, const struct event *event) {
    struct events_text name = events_text_of(file, event, "name");
    ck_assert_uint_eq(events_value(file, event, "umask"), 027);
    ck_assert_uint_eq(events_value(file, event, "gid"), 67);
    ck_assert(name.length == strlen(arguments.name) && memcmp(name.bytes, arguments.name, name.length) == 0);
}

TEST(columns_have_the_arguments_of_the_call) {
    create_recorder(1);
    void *data;
    struct events_file *file = record_all_ops(true, &data);
    struct events_cursor *cursor;
    struct event event;
    ck_assert_int_eq(events_cursor_open(file, &cursor), 0);
    while (events_next(cursor, &event)) {
        if (event.op == FS_OP_SETATTR)
            ck_assert_uint_eq(events_value(file, &event, "size"), 73);
        if (event.op == FS_OP_IOCTL)
            ck_assert_uint_eq(events_value(file, &event, "command"), 79);
        if (event.op == FS_OP_READ || event.op == FS_OP_GETATTR || event.op == FS_OP_FSYNC)
            ck_assert_uint_eq(events_value(file, &event, "file"), 2011);
        if (event.op == FS_OP_CREATE)
            check_create(file, &event);
    }
    events_cursor_close(cursor);
    events_close(file);
    tear_down();
}

/* ---- What is wanted besides counting ---- */

enum { WITH_VALUES = 1, WITH_GROUPS = 2, WITH_SLOW = 4, WITH_EVENTS = 8, WITH_ALL = 15 };

#define WANTED_CALLS 3

static bool find_no_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    (void)context, (void)look;
    snprintf(ret_wait->cause.words, sizeof(ret_wait->cause.words), "not known");
    return false;
}

static void want_details(unsigned with) {
    const struct aggstats_grouping_options by_uid = {.grouping = AGGSTATS_BY_UID};
    const struct aggstats_slow_options slow = {.threshold_ns = AGGSTATS_SLOW_MIN_NS, .find_cause = find_no_cause};
    if (with & WITH_GROUPS) {
        ck_assert_int_eq(aggstats_recorder_group(recorder, &by_uid), 0);
        prof_set_grouped(&prof, true);
    }
    if (with & WITH_VALUES)
        ck_assert_int_eq(prof_set_joint(&prof, FS_OP_WRITE, 1U << AGGSTATS_SIZE), 0);
    if (with & WITH_SLOW) {
        ck_assert_int_eq(aggstats_recorder_set_slow(recorder, &slow), 0);
        prof_set_slow(&prof);
    }
    const struct events_wanted ring = {.fd = -1, .ring_bytes = 2U << 20};
    create_events();
    if (with & WITH_EVENTS) {
        ck_assert_int_eq(events_recorder_start(events, &ring), 0);
        prof_set_events(&prof, events);
    }
}

static void check_events(uint64_t calls) {
    struct events_state state;
    events_recorder_state(events, &state);
    ck_assert_uint_eq(state.recorded, calls);
}

static void check_details(unsigned with, uint64_t calls) {
    struct aggstats_profile profile;
    uint64_t related = 0;
    uint64_t slow = 0;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_uint_eq(profile.ops[0].calls, calls);
    ck_assert_uint_eq(profile.joint_count, with & WITH_VALUES ? 1 : 0);
    for (size_t i = 0; with & WITH_VALUES && i < profile.joints[0].cell_count; i++)
        related += profile.joints[0].cells[i].count;
    ck_assert_uint_eq(related, with & WITH_VALUES ? calls : 0);
    ck_assert_uint_eq(profile.group_count, with & WITH_GROUPS ? 1 : 0);
    if (with & WITH_GROUPS) {
        ck_assert_uint_eq(profile.groups[0].id, arguments.caller.uid);
        ck_assert_uint_eq(profile.groups[0].profile.ops[0].calls, calls);
    }
    for (size_t i = 0; i < profile.cause_count; i++)
        slow += profile.causes[i].calls;
    ck_assert_uint_eq(slow, with & WITH_SLOW ? calls : 0);
    aggstats_profile_finish(&profile);
}

static void call_writes(void) {
    for (int call = 0; call < WANTED_CALLS; call++)
        ck_assert_int_eq(op_call(&prof.layer, FS_OP_WRITE, &arguments), 0);
}

/* Each of what may be wanted gets each call once, whatever else is wanted; and none any more when it is not. */
TEST(whatever_is_wanted_gets_each_call_once, .to = WITH_ALL + 1) {
    struct layer_delay delay;
    create_recorder(1);
    arguments.results.written_bytes = 41;
    layer_delay_init(&delay, aggstats_recorder_clock(recorder));
    delay.delay_cycles = delay.clock.frequency_hz / 1000 * 2;
    prof_init(&prof, recorder, &delay.layer);
    want_details((unsigned)_i);
    call_writes();
    check_details((unsigned)_i, WANTED_CALLS);
    ck_assert_int_eq(prof_set_joint(&prof, FS_OP_WRITE, 0), 0);
    prof_set_events(&prof, NULL);
    call_writes();
    ck_assert_int_eq(events_recorder_stop(events), 0);
    check_events(_i & WITH_EVENTS ? WANTED_CALLS : 0);
    events_recorder_destroy(events);
    check_details((unsigned)_i & (WITH_GROUPS | WITH_SLOW), 2 * WANTED_CALLS);
    tear_down();
}

/* Ops that have a value beside the error, and what their calls have of it. */
static const struct {
    enum aggstats_value value;
    uint64_t number;
    uint64_t number_if_failed;
    const char *ops;
} values_of_calls[] = {
    {AGGSTATS_SIZE, 101, 101, " READLINK READ WRITE SETXATTR GETXATTR LISTXATTR COPY_FILE_RANGE "},
    {AGGSTATS_SIZE, 4007, 4007, " FALLOCATE "},
    {AGGSTATS_OFFSET, 4001, 4001, " READ WRITE READDIR READDIRPLUS FALLOCATE LSEEK COPY_FILE_RANGE "},
    {AGGSTATS_RESULT, 41, 0, " WRITE "},
    {AGGSTATS_RESULT, 43, 0, " COPY_FILE_RANGE "},
    {AGGSTATS_RESULT, 47, 0, " GETXATTR LISTXATTR "},
    {AGGSTATS_RESULT, 2003, 0, " LSEEK "},
    {AGGSTATS_RESULT, 0, 0, " READ READDIR READDIRPLUS "},
    {AGGSTATS_PAST_EOF, 1, 0, " READ READDIR READDIRPLUS "},
};

/* The call's number of that value is in the profile; or there is no such value, and that is said. */
static void check_value(enum fs_op op, enum aggstats_value value, int status) {
    unsigned found_op;
    enum aggstats_value found_value;
    struct aggstats_profile profile;
    size_t row = 0;
    while (row < ARRAY_SIZE(values_of_calls) &&
           (values_of_calls[row].value != value || !is_listed(values_of_calls[row].ops, fs_op_names[op])))
        row++;
    const char *why = prof_find_joint(fs_op_names[op], aggstats_value_name(value), &found_op, &found_value);
    if (row == ARRAY_SIZE(values_of_calls)) {
        ck_assert_str_eq(why, "the operation has no such value");
        return;
    }
    ck_assert_msg(!why, "%s by %s: %s", fs_op_names[op], aggstats_value_name(value), why);
    ck_assert(found_op == op && found_value == value);
    ck_assert_int_eq(prof_set_joint(&prof, op, 1U << value), 0);
    ck_assert_int_eq(op_call(&prof.layer, op, &arguments), status);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.joints[0].cell_count, 1);
    ck_assert_uint_eq(
        profile.joints[0].cells[0].row,
        aggstats_value_row(value, status < 0 ? values_of_calls[row].number_if_failed : values_of_calls[row].number));
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(prof_set_joint(&prof, op, 0), 0);
}

TEST(latency_is_related_to_the_values_of_the_call, .to = (int)ARRAY_SIZE(outcomes)) {
    static const enum aggstats_value values[] = {AGGSTATS_SIZE, AGGSTATS_OFFSET, AGGSTATS_RESULT, AGGSTATS_PAST_EOF};
    struct layer_failing failing;
    create_recorder(1);
    layer_failing_init(&failing, -outcomes[_i]);
    prof_init(&prof, recorder, &failing.layer);
    arguments.results.read_bytes = 0;
    arguments.results.written_bytes = 41;
    arguments.results.copied_bytes = 43;
    arguments.results.size_bytes = 47;
    arguments.results.offset = 2003;
    arguments.results.entry_count = 0;
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        for (size_t i = 0; i < ARRAY_SIZE(values); i++)
            check_value((enum fs_op)op, values[i], -outcomes[_i]);
    tear_down();
}

/* ---- Run ---- */
