/* Live files: what a dead, hung or running process has counted, and files that are none. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "testing.h"

static const char *const op_names[] = {"READ", "WRITE"};
enum { OP_READ, OP_WRITE, OP_COUNT };

static char directory[] = "/tmp/test-live-XXXXXX";
static char path[sizeof(directory) + 16];

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/live", directory);
}

static void tear_down(void) {
    unlink(path);
    rmdir(directory);
}

static int try_create(struct aggstats_recorder **ret_recorder) {
    static char text[][16] = {"lower", "/srv/a\nb", "cache", "auto"};
    static const struct aggstats_label labels[] = {{text[0], text[1]}, {text[2], text[3]}};
    const struct aggstats_recorder_options options = {.op_names = op_names,
                                                      .op_count = OP_COUNT,
                                                      .resolution = 2,
                                                      .labels = labels,
                                                      .label_count = 2,
                                                      .live_path = path};
    return aggstats_recorder_create(&options, ret_recorder);
}

static struct aggstats_recorder *create_recorder(void) {
    struct aggstats_recorder *recorder;
    ck_assert_int_eq(try_create(&recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *recorder, unsigned op, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, op, 5, 6);
        aggstats_end(recorder, &span);
    }
}

static int read_live(struct aggstats_profile *ret_profile, struct aggstats_live_info *ret_info) {
    struct aggstats_parse_error error;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert(aggstats_live_is(fd));
    int err = aggstats_live_read(fd, ret_profile, ret_info, &error);
    close(fd);
    return err;
}

struct seen {
    uint64_t calls;
    uint64_t finished;
};

static struct seen sum_up(const struct aggstats_profile *profile) {
    struct seen seen = {0};
    for (size_t i = 0; i < profile->op_count; i++) {
        uint64_t finished = 0;
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            finished += profile->ops[i].buckets[bucket];
        ck_assert_uint_le(finished, profile->ops[i].calls);
        seen.calls += profile->ops[i].calls;
        seen.finished += finished;
    }
    return seen;
}

static struct seen read_seen(void) {
    struct aggstats_profile profile;
    ck_assert_int_eq(read_live(&profile, NULL), 0);
    struct seen seen = sum_up(&profile);
    aggstats_profile_finish(&profile);
    return seen;
}

/* ---- The file ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(file_is_private_and_new) {
    struct aggstats_recorder *recorder = create_recorder();
    struct aggstats_recorder *second = NULL;
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode, S_IFREG | 0600);
    ck_assert_int_eq(try_create(&second), -EEXIST);
    ck_assert_ptr_null(second);
    ck_assert_str_eq(aggstats_recorder_live_path(recorder), path);
    aggstats_recorder_destroy(recorder);
    ck_assert_int_eq(stat(path, &status), 0);
}

TEST(link_in_its_place_is_not_followed) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(symlink("elsewhere", path), 0);
    ck_assert_int_eq(try_create(&recorder), -EEXIST);
    ck_assert_ptr_null(recorder);
}

TEST(missing_directory_is_an_error) {
    struct aggstats_recorder *recorder = NULL;
    snprintf(path, sizeof(path), "%s/no/live", directory);
    ck_assert_int_eq(try_create(&recorder), -ENOENT);
    ck_assert_ptr_null(recorder);
}

TEST(unlink_removes_the_file_after_a_change_of_directory) {
    snprintf(path, sizeof(path), "live");
    ck_assert_int_eq(chdir(directory), 0);
    struct aggstats_recorder *recorder = create_recorder();
    record(recorder, OP_READ, 2);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    ck_assert_int_eq(rmdir(directory), 0);
    record(recorder, OP_READ, 3); /* goes on without its name */
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(sum_up(&profile).finished, 5);
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(recorder);
}

/* ---- Reading ---- */

TEST(live_file_shows_what_a_snapshot_shows) {
    struct aggstats_recorder *recorder = create_recorder();
    struct aggstats_profile snapshot;
    struct aggstats_profile live;
    record(recorder, OP_READ, 101);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record(recorder, OP_READ, 211);
    record(recorder, OP_WRITE, 307);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &snapshot), 0);
    ck_assert_int_eq(read_live(&live, NULL), 0);
    ck_assert_uint_ge(live.elapsed_cycles, snapshot.elapsed_cycles);
    live.elapsed_cycles = snapshot.elapsed_cycles; /* the only thing that may differ */
    char *texts[2];
    size_t sizes[2];
    ck_assert_int_eq(aggstats_profile_format(&snapshot, &texts[0], &sizes[0]), 0);
    ck_assert_int_eq(aggstats_profile_format(&live, &texts[1], &sizes[1]), 0);
    ck_assert_str_eq(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    aggstats_profile_finish(&snapshot);
    aggstats_profile_finish(&live);
    aggstats_recorder_destroy(recorder);
}

TEST(info_tells_who_records_and_whether) {
    struct aggstats_recorder *recorder = create_recorder();
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    record(recorder, OP_READ, 11);
    aggstats_recorder_pause(recorder);
    record(recorder, OP_READ, 13);
    ck_assert_int_eq(read_live(&profile, &info), 0);
    ck_assert_int_eq(info.pid, getpid());
    ck_assert(info.recording && info.paused);
    ck_assert_uint_eq(sum_up(&profile).finished, 11);
    aggstats_profile_finish(&profile);
    aggstats_recorder_resume(recorder);
    aggstats_recorder_destroy(recorder);
    ck_assert_int_eq(read_live(&profile, &info), 0);
    ck_assert(!info.recording && !info.paused);
    ck_assert_uint_eq(sum_up(&profile).finished, 11);
    aggstats_profile_finish(&profile);
}

TEST(head_has_labels_and_state_but_no_counts) {
    struct aggstats_recorder *recorder = create_recorder();
    struct aggstats_profile whole;
    struct aggstats_profile head;
    struct aggstats_live_info info;
    struct aggstats_parse_error error;
    record(recorder, 1, 7);
    aggstats_recorder_pause(recorder);
    ck_assert_int_eq(read_live(&whole, NULL), 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(aggstats_live_read_head(fd, &head, &info, &error), 0);
    ck_assert_uint_eq(head.op_count, 0);
    ck_assert_str_eq(aggstats_profile_label(&head, "lower"), aggstats_profile_label(&whole, "lower"));
    ck_assert_str_eq(aggstats_profile_label(&head, "cache"), "auto");
    ck_assert_int_eq(head.start_ns, whole.start_ns);
    ck_assert(info.recording && info.paused);
    ck_assert_int_eq(info.pid, getpid());
    aggstats_profile_finish(&head);
    aggstats_recorder_destroy(recorder);
    ck_assert_int_eq(truncate(path, 600), 0);
    ck_assert_int_eq(aggstats_live_read_head(fd, &head, &info, &error), -EBADMSG);
    aggstats_profile_finish(&whole);
    close(fd);
}

TEST(elapsed_time_of_a_finished_recorder_stands_still) {
    struct aggstats_recorder *recorder = create_recorder();
    struct aggstats_profile profiles[2];
    const uint32_t kind = aggstats_hot(recorder)->clock_kind;
    uint64_t start_cycles = aggstats_clock_now(kind);
    usleep(5000);
    uint64_t recorded_cycles = aggstats_clock_now(kind) - start_cycles;
    aggstats_recorder_destroy(recorder);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(read_live(&profiles[i], NULL), 0);
    ck_assert_uint_eq(profiles[0].elapsed_cycles, profiles[1].elapsed_cycles);
    ck_assert_uint_ge(profiles[0].elapsed_cycles, recorded_cycles);
    aggstats_profile_finish(&profiles[0]);
    aggstats_profile_finish(&profiles[1]);
}

struct writer {
    pthread_t thread;
    struct aggstats_recorder *recorder;
    bool stop; /* atomic */
};

static void *write_on(void *argument) {
    struct writer *writer = argument;
    for (int i = 0; !__atomic_load_n(&writer->stop, __ATOMIC_RELAXED); i++) {
        record(writer->recorder, OP_READ, 101);
        if (i % 16 == 0)
            aggstats_recorder_reset(writer->recorder);
    }
    return NULL;
}

TEST(reading_while_others_record_and_reset_is_consistent) {
    struct writer writers[2];
    struct aggstats_recorder *recorder = create_recorder();
    for (int i = 0; i < 2; i++) {
        writers[i] = (struct writer){.recorder = recorder};
        ck_assert_int_eq(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (int i = 0; i < 2003; i++)
        read_seen(); /* checks every op */
    for (int i = 0; i < 2; i++) {
        __atomic_store_n(&writers[i].stop, true, __ATOMIC_RELAXED);
        pthread_join(writers[i].thread, NULL);
    }
    aggstats_recorder_destroy(recorder);
}

/* ---- Processes that hang or die ---- */

TEST(hung_call_is_shown_with_its_age) {
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct aggstats_recorder *recorder;
        if (try_create(&recorder) < 0)
            _exit(1);
        aggstats_begin(recorder, OP_WRITE, 12, 4711);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte;
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    usleep(20000);
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    ck_assert_int_eq(read_live(&profile, &info), 0);
    ck_assert(info.recording);
    ck_assert_int_eq(info.pid, child);
    ck_assert_uint_eq(profile.in_flight_count, 1);
    ck_assert_str_eq(profile.in_flight[0].op, "WRITE");
    ck_assert_uint_eq(profile.in_flight[0].object, 12);
    ck_assert_uint_eq(profile.in_flight[0].pid, 4711);
    ck_assert_uint_ge(profile.in_flight[0].latency_cycles, profile.clock.frequency_hz / 1000 * 19);
    ck_assert_uint_eq(sum_up(&profile).calls, 1);
    aggstats_profile_finish(&profile);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(read_live(&profile, &info), 0);
    ck_assert(!info.recording);
    aggstats_profile_finish(&profile);
    close(ready[0]);
}

#define VICTIM_THREADS 4

/* How many calls each thread of the victim knows to have finished; shared with the parent. */
struct victim {
    struct aggstats_recorder *recorder;
    uint64_t done[VICTIM_THREADS];
    uint64_t next; /* threads take their places */
};

static struct victim *share_victim(void) {
    void *memory = mmap(NULL, sizeof(struct victim), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

static void *count_until_killed(void *argument) {
    struct victim *victim = argument;
    uint64_t place = __atomic_fetch_add(&victim->next, 1, __ATOMIC_RELAXED);
    for (;;) {
        record(victim->recorder, OP_READ, 1);
        __atomic_store_n(&victim->done[place], victim->done[place] + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void run_victim(struct victim *victim) {
    pthread_t thread;
    if (try_create(&victim->recorder) < 0)
        _exit(1);
    for (int i = 1; i < VICTIM_THREADS; i++)
        if (pthread_create(&thread, NULL, count_until_killed, victim) != 0)
            _exit(1);
    count_until_killed(victim);
}

static void kill_and_reap(pid_t child) {
    int status;
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

TEST(every_finished_call_survives_sigkill, .to = 20) {
    struct victim *victim = share_victim();
    pid_t child = fork();
    if (child == 0)
        run_victim(victim);
    for (int i = 0; i < VICTIM_THREADS; i++)
        while (__atomic_load_n(&victim->done[i], __ATOMIC_ACQUIRE) == 0)
            usleep(100);
    usleep((useconds_t)(_i * 709));
    kill_and_reap(child);
    uint64_t done = 0;
    for (int i = 0; i < VICTIM_THREADS; i++)
        done += victim->done[i];
    struct seen seen = read_seen();
    ck_assert_uint_ge(seen.finished, done);
    ck_assert_uint_le(seen.finished, done + VICTIM_THREADS); /* finished, but not yet noted in done */
    ck_assert_uint_le(seen.calls, done + VICTIM_THREADS);
    munmap(victim, sizeof(*victim));
}

/* Resets so often that most kills hit a reset. */
static void reset_until_killed(struct victim *victim) {
    if (try_create(&victim->recorder) < 0)
        _exit(1);
    for (;;) {
        record(victim->recorder, OP_READ, 3);
        aggstats_recorder_reset(victim->recorder);
        __atomic_store_n(&victim->done[0], victim->done[0] + 1, __ATOMIC_RELEASE);
    }
}

TEST(sigkill_in_a_reset_leaves_the_window_before_or_after, .to = 20) {
    struct victim *victim = share_victim();
    pid_t child = fork();
    if (child == 0)
        reset_until_killed(victim);
    while (__atomic_load_n(&victim->done[0], __ATOMIC_ACQUIRE) == 0)
        usleep(100);
    usleep((useconds_t)(_i * 211));
    kill_and_reap(child);
    struct seen seen = read_seen();
    ck_assert_uint_le(seen.calls, 3);
    munmap(victim, sizeof(*victim));
}

/* ---- Files that are none ---- */

static size_t read_file(char **ret_data) {
    FILE *stream = fopen(path, "re");
    ck_assert_ptr_nonnull(stream);
    fseek(stream, 0, SEEK_END);
    size_t size_bytes = (size_t)ftell(stream);
    rewind(stream);
    *ret_data = malloc(size_bytes);
    ck_assert_uint_eq(fread(*ret_data, 1, size_bytes, stream), size_bytes);
    fclose(stream);
    return size_bytes;
}

static char *make_sample(size_t *ret_size_bytes) {
    struct aggstats_recorder *recorder = create_recorder();
    char *data;
    record(recorder, OP_READ, 7);
    aggstats_recorder_destroy(recorder);
    *ret_size_bytes = read_file(&data);
    return data;
}

static int read_bytes(const char *data, size_t size_bytes, struct aggstats_parse_error *ret_error) {
    int fd = memfd_create("live", MFD_CLOEXEC);
    ck_assert_int_eq(write(fd, data, size_bytes), (ssize_t)size_bytes);
    struct aggstats_profile profile;
    int err = aggstats_live_read(fd, &profile, NULL, ret_error);
    if (err == 0) {
        sum_up(&profile);
        aggstats_profile_finish(&profile);
    }
    close(fd);
    return err;
}

TEST(file_cut_short_is_refused_with_a_reason) {
    size_t size_bytes;
    char *data = make_sample(&size_bytes);
    struct aggstats_parse_error error;
    ck_assert_int_eq(read_bytes(data, size_bytes, &error), 0);
    for (size_t cut = 0; cut < size_bytes; cut += cut < 300 ? 1 : 61) {
        error.message[0] = '\0';
        ck_assert_int_eq(read_bytes(data, cut, &error), -EBADMSG);
        ck_assert_uint_gt(strlen(error.message), 0);
    }
    free(data);
}

/* Whatever a byte becomes, the reader returns; in the header's fixed part it mostly refuses. */
TEST(damaged_byte_never_crashes) {
    size_t size_bytes;
    char *data = make_sample(&size_bytes);
    struct aggstats_parse_error error;
    for (size_t i = 0; i < size_bytes; i += i < 1024 ? 1 : 97) {
        char kept = data[i];
        data[i] = (char)~kept;
        int err = read_bytes(data, size_bytes, &error);
        ck_assert(err == 0 || err == -EBADMSG);
        data[i] = kept;
    }
    free(data);
}

TEST(other_files_are_not_live_files) {
    struct aggstats_parse_error error;
    static const char text[] = "# osprof 1\nOP_READ 1 1\n 1\n";
    ck_assert_int_eq(read_bytes(text, strlen(text), &error), -EBADMSG);
    ck_assert_str_eq(error.message, "not a live file");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert(!aggstats_live_is(fd));
    close(fd);
    ck_assert(!aggstats_live_is(-1));
}

TEST(newer_version_is_refused) {
    size_t size_bytes;
    char *data = make_sample(&size_bytes);
    struct aggstats_parse_error error;
    data[8] ^= 0x40; /* the version follows the magic */
    ck_assert_int_eq(read_bytes(data, size_bytes, &error), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(error.message, "version"));
    free(data);
}
