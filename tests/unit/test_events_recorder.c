/* Recording single calls: the file has exactly the counted calls, whatever happens meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggstats/lane.h"
#include "aggstats/numbered.h"
#include "base.h"
#include "events_reader.h"
#include "events_recorder.h"
#include "events_writer.h"
#include "testing.h"

enum { LOOKUP, READ, WRITE, OPS };

static const char *const names[OPS] = {"LOOKUP", "READ", "WRITE"};
static const char *const ops[OPS] = {"LOOKUP|entry||name", "READ bytes|file size offset result||",
                                     "WRITE bytes|size result|process|program"};

static struct aggstats_recorder *recorder;
static struct events_recorder *events;
static struct events_source source;
static int told;
static unsigned paths_asked;

static bool find_task(void *context, uint32_t thread, uint64_t *ret_process, char ret_name[EVENTS_TASK_NAME_SIZE]) {
    (void)context;
    *ret_process = thread / 10;
    snprintf(ret_name, EVENTS_TASK_NAME_SIZE, "task %u", thread);
    return true;
}

static char *find_path(void *context, uint64_t node) {
    char *path;
    (void)context;
    paths_asked++;
    return asprintf(&path, "/node %llu", (unsigned long long)node) < 0 ? NULL : path;
}

static void tell(void *context, int err) {
    (void)context;
    told = err;
}

static void set_up(void) {
    static char text[2][8] = {"lower", "/lower"};
    static const struct aggstats_label labels[] = {{.key = text[0], .value = text[1]}};
    const struct aggstats_recorder_options options = {.op_names = names, .op_count = OPS, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    source = (struct events_source){.recorder = recorder,
                                    .ops = ops,
                                    .op_count = OPS,
                                    .resolution = 1,
                                    .version = "1.2",
                                    .labels = labels,
                                    .label_count = 1,
                                    .find_task = find_task,
                                    .find_path = find_path,
                                    .tell = tell};
    ck_assert_int_eq(events_recorder_create(&source, &events), 0);
    told = 0;
    paths_asked = 0;
}

static void tear_down(void) {
    ck_assert_int_eq(events_recorder_stop(events), 0);
    events_recorder_destroy(events);
    aggstats_recorder_destroy(recorder);
}

/* ---- Calls ---- */

static uint64_t finish(struct aggstats_span *span, const struct aggstats_outcome *outcome, struct events_ended *call,
                       const struct events_more *more) {
    uint64_t number = aggstats_number_begin(span);
    call->latency_cycles = aggstats_end_with(recorder, span, outcome);
    if (events_wants_names(events) ? events_add_named(events, span, number, *call, more)
                                   : events_add(events, span, number, call))
        aggstats_number_end(span, number);
    else
        aggstats_number_cancel(span, number);
    return call->latency_cycles;
}

static uint64_t call_read(uint64_t node, uint64_t offset) {
    const struct aggstats_outcome outcome = {.has_bytes = true, .asked_bytes = 4096, .moved_bytes = 100};
    const uint64_t columns[] = {3, 4096, offset, 100};
    struct events_ended call = {
        .node = node, .thread = 4711, .uid = 1000, .op = READ, .columns = columns, .column_count = 4};
    struct aggstats_span span = aggstats_begin(recorder, READ, node, 4711);
    return finish(&span, &outcome, &call, &(struct events_more){0});
}

static uint64_t call_lookup(uint64_t directory, const char *name, uint64_t found) {
    const struct aggstats_outcome outcome = {.error = found ? 0 : ENOENT};
    const uint64_t columns[] = {found};
    struct events_ended call = {.node = directory,
                                .thread = 4712,
                                .uid = 1000,
                                .op = LOOKUP,
                                .error = found ? 0 : ENOENT,
                                .columns = columns,
                                .column_count = 1};
    const struct events_more more = {.texts = &name, .text_count = 1};
    struct aggstats_span span = aggstats_begin(recorder, LOOKUP, directory, 4712);
    return finish(&span, &outcome, &call, &more);
}

/* ---- Files ---- */

static int new_file(void) {
    int fd = memfd_create("events", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static void start(const struct events_wanted *wanted) {
    ck_assert_int_eq(events_recorder_start(events, wanted), 0);
}

/* A file that is read. */
struct copy {
    struct events_file *file;
    void *data;
    size_t size_bytes;
};

static void read_copy(int fd, struct copy *ret_copy) {
    char complaint[EVENTS_COMPLAINT_SIZE];
    struct stat attr;
    ck_assert_int_eq(fstat(fd, &attr), 0);
    *ret_copy = (struct copy){.size_bytes = (size_t)attr.st_size};
    ret_copy->data = mmap(NULL, ret_copy->size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(ret_copy->data, MAP_FAILED);
    int err = events_open(ret_copy->data, ret_copy->size_bytes, &ret_copy->file, complaint);
    ck_assert_msg(err == 0, "%s", complaint);
}

static void free_copy(struct copy *copy) {
    events_close(copy->file);
    munmap(copy->data, copy->size_bytes);
}

/* Counts the calls, and calls `each` for each. */
static unsigned count_calls(const struct copy *copy,
                            void (*each)(const struct events_file *file, const struct event *event)) {
    struct events_cursor *cursor;
    struct event event;
    unsigned count = 0;
    ck_assert_int_eq(events_cursor_open(copy->file, &cursor), 0);
    for (; events_next(cursor, &event); count++)
        if (each)
            each(copy->file, &event);
    events_cursor_close(cursor);
    return count;
}

/* ---- Tests ---- */

static void check_call(const struct events_file *file, const struct event *event) {
    ck_assert_uint_eq(event->uid, 1000);
    ck_assert_uint_eq(event->worker, (uint32_t)syscall(SYS_gettid));
    if (event->op == READ) {
        ck_assert_uint_eq(events_value(file, event, "offset"), event->index);
        ck_assert_uint_eq(events_value(file, event, "size"), 4096);
        ck_assert(event->node == 7 && event->thread == 4711 && event->error == 0);
    } else {
        ck_assert(event->error == ENOENT && events_value(file, event, "entry") == 0);
    }
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(calls_are_in_the_file) {
    int fd = new_file();
    struct copy copy;
    start(&(struct events_wanted){.fd = dup(fd)});
    for (uint64_t i = 0; i < 100; i++)
        call_read(7, i);
    call_lookup(1, "name", 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, check_call), 101);
    const struct events_losses *losses = &copy.file->losses;
    ck_assert(losses->dropped == 0 && losses->missing == 0 && losses->disordered == 0 && losses->unreadable == 0);
    ck_assert(losses->cut_bytes == 0 && losses->skipped == 0 && !losses->is_open);
    ck_assert_str_eq(copy.file->labels[0].value, "/lower");
    ck_assert_str_eq(copy.file->version, "1.2");
    ck_assert_uint_ge(copy.file->clock_count, 2);
    free_copy(&copy);
    close(fd);
}

TEST(time_of_calls_is_that_of_the_wall_clock) {
    int fd = new_file();
    struct copy copy;
    int64_t before_ns = read_clock_ns(CLOCK_REALTIME);
    start(&(struct events_wanted){.fd = dup(fd)});
    call_read(7, 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    int64_t after_ns = read_clock_ns(CLOCK_REALTIME);
    read_copy(fd, &copy);
    struct events_cursor *cursor;
    struct event event;
    ck_assert_int_eq(events_cursor_open(copy.file, &cursor), 0);
    ck_assert(events_next(cursor, &event));
    int64_t when_ns = events_unix_ns(copy.file, event.start_cycles);
    ck_assert_int_gt(when_ns, before_ns - 1000000);
    ck_assert_int_lt(when_ns, after_ns + 1000000);
    events_cursor_close(cursor);
    free_copy(&copy);
    close(fd);
}

/* ---- Lanes ---- */

enum { LANES = 3, ROUNDS = 7001, LOST = 5 };

struct lane {
    struct aggstats_block *block;
    struct events_stream *stream;
};

static struct lane open_lane(void) {
    struct lane lane = {.block = aggstats_lane_create(recorder)};
    ck_assert_ptr_nonnull(lane.block);
    lane.stream = events_lane_stream(events, lane.block);
    ck_assert_ptr_nonnull(lane.stream);
    return lane;
}

static void add_call(const struct lane *lane, uint64_t start_cycles) {
    const uint64_t columns[] = {3, 4096, 0, 100};
    const struct events_ended call = {.latency_cycles = 10,
                                      .node = 7,
                                      .thread = 4711,
                                      .uid = 1000,
                                      .op = READ,
                                      .columns = columns,
                                      .column_count = 4};
    events_lane_add(events, lane->stream, lane->block, start_cycles, &call, NULL);
}

/* One of them is added to by another thread than the others. */
static void *add_calls(void *given) {
    const uint64_t now = aggstats_clock_now(aggstats_hot(recorder)->clock_kind);
    for (uint64_t round = 0; round < ROUNDS; round++)
        add_call(given, now + 20 * round);
    return NULL;
}

static void check_lane_call(const struct events_file *file, const struct event *event) {
    ck_assert_uint_eq(event->latency_cycles, 10);
    ck_assert_uint_eq(event->thread, 4711);
    ck_assert_uint_eq(events_value(file, event, "result"), 100);
    const struct events_text path = events_path(file, event->node, event->start_cycles);
    ck_assert(path.bytes && path.length == strlen("/node 7") && memcmp(path.bytes, "/node 7", path.length) == 0);
}

/* Calls of other threads overlap; what is lost of them is counted, between two of a lane and where nothing else is. */
TEST(calls_in_lanes_are_in_the_file) {
    struct lane lanes[LANES];
    struct copy copy;
    pthread_t thread;
    int fd = new_file();
    start(&(struct events_wanted){.fd = dup(fd), .paths = true});
    for (int i = 0; i < LANES; i++)
        lanes[i] = open_lane();
    const struct lane lost = open_lane();
    ck_assert_int_eq(pthread_create(&thread, NULL, add_calls, &lanes[0]), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    for (int i = 1; i < LANES; i++)
        add_calls(&lanes[i]);
    events_lane_drop(events, lanes[0].stream, lanes[0].block, LOST);
    events_lane_drop(events, lanes[0].stream, lanes[0].block, 0);
    add_call(&lanes[0], aggstats_clock_now(aggstats_hot(recorder)->clock_kind) + 20 * (uint64_t)ROUNDS);
    events_lane_drop(events, lost.stream, lost.block, LOST);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    add_call(&lanes[0], 0); /* it has ended */
    events_lane_drop(events, lost.stream, lost.block, LOST);
    read_copy(fd, &copy);
    const uint64_t dropped = copy.file->losses.dropped;
    ck_assert_uint_ge(dropped, 2 * LOST);
    ck_assert_uint_eq(count_calls(&copy, check_lane_call) + dropped, LANES * ROUNDS + 1 + 2 * LOST);
    ck_assert_uint_eq(copy.file->losses.missing + copy.file->losses.disordered, 0);
    ck_assert_uint_eq(copy.file->flags & EVENTS_NAMES, 0);
    free_copy(&copy);
    close(fd);
}

TEST(callers_have_names) {
    int fd = new_file();
    struct copy copy;
    struct events_text name;
    start(&(struct events_wanted){.fd = dup(fd)});
    call_read(7, 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(events_task(copy.file, &(struct event){.thread = 4711}, &name), 471);
    ck_assert(name.length == 9 && memcmp(name.bytes, "task 4711", 9) == 0);
    free_copy(&copy);
    close(fd);
}

static void add_call_of(const struct lane *lane, uint64_t start_cycles, uint64_t process, const char *program) {
    const uint64_t columns[] = {4096, 100};
    const struct events_ended call = {
        .latency_cycles = 10, .thread = 4711, .op = WRITE, .columns = columns, .column_count = 2};
    const struct events_more more = {&process, 1, &program, 1};
    events_lane_add(events, lane->stream, lane->block, start_cycles, &call, &more);
}

static void check_program(const struct events_file *file, const struct event *event) {
    static const char *const programs[] = {"sh", "make", "cat"};
    struct events_text name;
    const uint64_t number = event->start_cycles / 20;
    ck_assert_uint_eq(events_task(file, event, &name), number == 2 ? 472 : 471);
    ck_assert_uint_eq(name.length, strlen(programs[number]));
    ck_assert_int_eq(memcmp(name.bytes, programs[number], name.length), 0);
}

/* It executes another program, and ends; then another process gets its number. */
TEST(a_call_has_the_name_that_its_thread_had_then) {
    int fd = new_file();
    struct copy copy;
    start(&(struct events_wanted){.fd = dup(fd)});
    const struct lane lane = open_lane();
    add_call_of(&lane, 0, 471, "sh");
    add_call_of(&lane, 20, 471, "make");
    add_call_of(&lane, 40, 472, "cat");
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, check_program), 3);
    free_copy(&copy);
    close(fd);
}

static void check_name(const struct events_file *file, const struct event *event) {
    struct events_text name = events_text_of(file, event, "name");
    if (event->op == LOOKUP)
        ck_assert(name.length == 8 && memcmp(name.bytes, "the name", 8) == 0 && event->has_more);
}

TEST(names_and_paths_are_recorded_where_wanted) {
    int fd = new_file();
    struct copy copy;
    start(&(struct events_wanted){.fd = dup(fd), .names = true});
    call_lookup(5, "the name", 99);
    call_read(99, 0); /* which has been found by name */
    call_read(98, 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, check_name), 3);
    ck_assert_uint_eq(events_path(copy.file, 5, 0).length, 7);
    ck_assert_ptr_nonnull(events_path(copy.file, 98, 0).bytes);
    ck_assert_ptr_null(events_path(copy.file, 99, 0).bytes);
    ck_assert_int_eq(events_find_links(copy.file), 0);
    char path[EVENTS_PATH_SIZE];
    char directory[EVENTS_PATH_SIZE];
    ck_assert_uint_eq(events_whole_path(copy.file, 5, 0, directory), 7);
    ck_assert_uint_eq(events_whole_path(copy.file, 99, 0, path), strlen(path));
    ck_assert_int_eq(strncmp(path, directory, 7), 0);
    ck_assert_str_eq(path + 7, "/the name");
    ck_assert_uint_eq(events_whole_path(copy.file, 4711, 0, path), 0);
    ck_assert_uint_eq(paths_asked, 2);
    free_copy(&copy);
    close(fd);
}

TEST(no_name_is_recorded_where_none_is_wanted) {
    int fd = new_file();
    struct copy copy;
    start(&(struct events_wanted){.fd = dup(fd)});
    call_lookup(5, "secret", 99);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_ptr_null(memmem(copy.data, copy.size_bytes, "secret", 6));
    ck_assert_uint_eq(paths_asked, 0);
    free_copy(&copy);
    close(fd);
}

/* More than a file system lets us write: what does not fit is counted, and the rest stays readable. */
TEST(drops_are_counted_exactly_when_nothing_can_be_saved) {
    int fd = new_file();
    struct copy copy;
    struct events_state state;
    const unsigned calls = 50021;
    start(&(struct events_wanted){.fd = dup(fd)});
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0); /* EPERM from here on */
    for (uint64_t i = 0; i < calls; i++)
        call_read(7, i);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    events_recorder_state(events, &state);
    ck_assert_int_eq(told, -EPERM);
    ck_assert_int_eq(state.error, -EPERM);
    ck_assert_int_eq(state.failure, -EPERM);
    ck_assert_uint_eq(state.failed, state.dropped);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, NULL), state.recorded);
    ck_assert_uint_eq(state.recorded + state.dropped, calls);
    ck_assert(copy.file->losses.cut_bytes == 0 && copy.file->losses.is_open);
    free_copy(&copy);
    close(fd);
}

/* Without a thread that saves: one that waits for a lock of ours, in find_task. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static bool wait_at_gate(void *context, uint32_t thread, uint64_t *ret_process, char ret_name[EVENTS_TASK_NAME_SIZE]) {
    (void)context, (void)thread, (void)ret_process, (void)ret_name;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return false;
}

TEST(full_buffers_drop_and_are_gone_on_with) {
    int fd = new_file();
    struct copy copy;
    struct events_state state;
    const unsigned per_half = EVENTS_HALF_BYTES / 64;
    const unsigned calls = 2 * per_half + 997;
    events_recorder_destroy(events);
    source.find_task = wait_at_gate;
    ck_assert_int_eq(events_recorder_create(&source, &events), 0);
    start(&(struct events_wanted){.fd = dup(fd)});
    pthread_mutex_lock(&gate);
    call_read(7, 0);
    usleep(100000); /* it waits there now, or a little later for sure */
    for (uint64_t i = 1; i < calls; i++)
        call_read(7, i);
    events_recorder_state(events, &state);
    ck_assert_uint_eq(state.dropped, 997);
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 1000 && state.recorded < 2 * per_half; i++) {
        usleep(10000);
        events_recorder_state(events, &state);
    }
    call_read(7, 99);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, NULL), 2 * per_half + 1);
    ck_assert_uint_eq(copy.file->losses.dropped, 997);
    ck_assert_uint_eq(copy.file->failure_count, 0); /* they came too fast */
    ck_assert_uint_eq(copy.file->losses.missing, 0);
    free_copy(&copy);
    close(fd);
}

TEST(file_of_limited_size_ends_there) {
    int fd = new_file();
    struct copy copy;
    struct events_state state = {.is_on = true};
    uint64_t made = 0;
    start(&(struct events_wanted){.fd = dup(fd), .size_bytes = 1U << 20});
    for (; state.is_on && made < 10000000; made++) {
        call_read(7, made);
        if (made % 1000 == 0)
            events_recorder_state(events, &state);
    }
    ck_assert(!state.is_on && state.is_full);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_le(copy.size_bytes, 1U << 20);
    ck_assert_uint_gt(copy.size_bytes, (1U << 20) - (1U << 17));
    ck_assert(!copy.file->losses.is_open && copy.file->losses.missing == 0);
    ck_assert_uint_eq(count_calls(&copy, NULL), state.recorded);
    ck_assert_uint_eq(copy.file->losses.dropped, state.dropped);
    ck_assert_uint_eq(copy.file->failure_count, 1);
    ck_assert_uint_eq(copy.file->failures[0].error, 0); /* the size, and nothing that failed */
    ck_assert_uint_eq(copy.file->failures[0].dropped, state.failed);
    free_copy(&copy);
    close(fd);
}

/* A limit of file sizes is one of the file: it has an end, too. */
TEST(limit_of_file_sizes_is_kept_to) {
    int fd = new_file();
    struct copy copy;
    struct events_state state = {.is_on = true};
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1U << 20, before.rlim_max});
    start(&(struct events_wanted){.fd = dup(fd)});
    setrlimit(RLIMIT_FSIZE, &before);
    for (uint64_t made = 0; state.is_on && made < 10000000; made++) {
        call_read(7, made);
        if (made % 1000 == 0)
            events_recorder_state(events, &state);
    }
    ck_assert(!state.is_on && state.is_full);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_le(copy.size_bytes, 1U << 20);
    ck_assert(!copy.file->losses.is_open);
    free_copy(&copy);
    close(fd);
}

/* Two chunks of each of two errors; and a truncated chunk. */
TEST(failures_are_told_by_error) {
    struct events_writer writer = {0};
    struct events_file *file;
    char complaint[EVENTS_COMPLAINT_SIZE];
    const struct events_failure failures[] = {{.error = ENOSPC, .dropped = 7, .first_cycles = 50, .last_cycles = 60},
                                              {.error = EIO, .dropped = UINT64_MAX},
                                              {.error = ENOSPC, .dropped = 11, .first_cycles = 10, .last_cycles = 20},
                                              {.error = EIO, .dropped = 1}};
    events_write_start(&writer, 0);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        events_chunk_begin(&writer, EVENTS_FAILURE, &failures[i], sizeof(failures[i]));
        events_chunk_end(&writer);
    }
    events_chunk_begin(&writer, EVENTS_FAILURE, &failures[0], 8);
    events_chunk_end(&writer);
    ck_assert_int_eq(events_open(writer.bytes, writer.size_bytes, &file, complaint), 0);
    ck_assert_uint_eq(file->losses.skipped, 1);
    ck_assert_uint_eq(file->failure_count, 2);
    ck_assert_uint_eq(file->failures[0].error, EIO);
    ck_assert_uint_eq(file->failures[0].dropped, UINT64_MAX);
    ck_assert_uint_eq(file->failures[1].error, ENOSPC);
    ck_assert_uint_eq(file->failures[1].dropped, 18);
    ck_assert_uint_eq(file->failures[1].first_cycles, 10);
    ck_assert_uint_eq(file->failures[1].last_cycles, 60);
    events_close(file);
    events_writer_finish(&writer);
}

TEST(ring_holds_the_last_calls) {
    int fd = new_file();
    struct copy copy;
    const unsigned calls = 100003;
    start(&(struct events_wanted){.fd = -1, .ring_bytes = 1U << 20});
    for (uint64_t i = 0; i < calls; i++) {
        call_read(7, i);
        if (i % 1000 == 0)
            usleep(1000);
    }
    ck_assert_int_eq(events_recorder_write_ring(events, fd), 0);
    read_copy(fd, &copy);
    unsigned held = count_calls(&copy, NULL);
    const struct events_losses *losses = &copy.file->losses;
    ck_assert_uint_ge(held, EVENTS_HALF_BYTES / 64);
    ck_assert_uint_lt(held, 1U << 14);
    ck_assert_uint_eq(held + losses->dropped + losses->missing, calls);
    ck_assert(copy.file->flags & EVENTS_RING && !losses->is_open);
    free_copy(&copy);
    close(fd);
}

TEST(ring_that_has_ended_can_be_written) {
    int fd = new_file();
    struct copy copy;
    start(&(struct events_wanted){.fd = -1, .ring_bytes = 1U << 20});
    call_read(7, 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    ck_assert_int_eq(events_recorder_write_ring(events, fd), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(count_calls(&copy, NULL), 1);
    ck_assert(!copy.file->losses.is_open);
    free_copy(&copy);
    close(fd);
}

TEST(recording_begins_and_ends_at_any_time) {
    struct copy copy;
    uint64_t all = 0;
    for (unsigned round = 1; round < 5; round++) {
        int fd = new_file();
        call_read(7, 0); /* before */
        start(&(struct events_wanted){.fd = dup(fd)});
        ck_assert_int_eq(events_recorder_start(events, &(struct events_wanted){.fd = -1}), -EBUSY);
        for (unsigned i = 0; i < round; i++)
            call_read(7, i);
        ck_assert_int_eq(events_recorder_stop(events), 0);
        call_read(7, 0); /* after */
        read_copy(fd, &copy);
        all += count_calls(&copy, NULL);
        ck_assert(copy.file->losses.missing == 0 && copy.file->losses.dropped == 0);
        free_copy(&copy);
        close(fd);
    }
    ck_assert_uint_eq(all, 1 + 2 + 3 + 4);
}

/* ---- The profile made of calls is the recorded one ---- */

/* What a profile says of an op. */
struct sums {
    uint64_t total_cycles;
    uint64_t asked_bytes;
    uint64_t buckets[64];
};

static struct sums sums_of_window(const struct events_file *file, unsigned op) {
    struct sums sums = {0};
    struct events_cursor *cursor;
    struct event event;
    ck_assert_int_eq(events_cursor_open(file, &cursor), 0);
    while (events_next(cursor, &event)) {
        bool counts = true;
        for (size_t i = 0; i < file->mark_count; i++) {
            const struct events_mark_seen *mark = &file->marks[i];
            bool is_after = !events_is_before(mark, &event);
            if (mark->mark.kind == EVENTS_MARK_RESET)
                counts = counts && is_after;
            if (mark->mark.kind == EVENTS_MARK_PAUSE && i + 1 < file->mark_count)
                counts = counts && !(is_after && events_is_before(&file->marks[i + 1], &event));
        }
        if (!counts || event.op != op)
            continue;
        sums.total_cycles += event.latency_cycles;
        sums.asked_bytes += events_value(file, &event, "size");
        sums.buckets[aggstats_bucket_of(event.latency_cycles, 1)]++;
    }
    events_cursor_close(cursor);
    return sums;
}

static void check_equal(const struct events_file *file, const struct aggstats_profile *profile) {
    for (unsigned op = 0; op <= READ; op++) {
        struct sums sums = sums_of_window(file, op);
        const struct aggstats_op_profile *counted = aggstats_profile_op(profile, names[op]);
        ck_assert_ptr_nonnull(counted);
        ck_assert_uint_eq(counted->total_cycles, sums.total_cycles);
        ck_assert_uint_eq(counted->asked_bytes, sums.asked_bytes);
        for (unsigned bucket = 0; bucket < 64; bucket++)
            ck_assert_uint_eq(counted->buckets[bucket], sums.buckets[bucket]);
    }
}

static bool is_over;

/* Not more than can be saved: this is about sides, not about drops. */
static void *make_calls(void *unused) {
    (void)unused;
    for (uint64_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
        call_read(7, i);
        call_lookup(1, "name", 0);
        if (i % 128 == 0)
            usleep(1000);
    }
    return NULL;
}

/* The marks on whose sides calls count: a pause and its resume follow one another. */
static void change_windows(unsigned rounds) {
    for (unsigned round = 0; round < rounds; round++) {
        usleep(2000);
        if (round == rounds / 2)
            ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
        ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
        usleep(500);
        ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    }
}

TEST(profile_of_calls_is_the_recorded_one) {
    int fd = new_file();
    struct copy copy;
    struct aggstats_profile profile;
    pthread_t threads[2];
    start(&(struct events_wanted){.fd = dup(fd)});
    __atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_calls, NULL), 0);
    change_windows(60);
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_int_eq(events_recorder_stop(events), 0);
    read_copy(fd, &copy);
    ck_assert_uint_eq(copy.file->losses.dropped, 0);
    ck_assert_uint_eq(copy.file->mark_count, 2 + 2 * 60 + 1);
    check_equal(copy.file, &profile);
    aggstats_profile_finish(&profile);
    free_copy(&copy);
    close(fd);
}
