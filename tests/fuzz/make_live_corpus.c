/* Makes live files of today's version for the fuzzer of their reader, and as a test that each is accepted or refused as its
 * name says.
 *
 *     make_live_corpus DIRECTORY            makes the directory, and the files in it
 *     make_live_corpus --check DIRECTORY    reads them */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/shared_groups.h"
#include "aggstats/slow.h"
#include "base.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define SLOW_NS INT64_C(5000000)

static void die(const char *what) {
    perror(what);
    exit(EXIT_FAILURE);
}

static void begin_file(const char *path, unsigned resolution, struct aggstats_recorder **ret_recorder) {
    static char text[][16] = {"lower", "/srv/a\nb"};
    static const struct aggstats_label labels[] = {{text[0], text[1]}};
    const struct aggstats_recorder_options options = {.op_names = op_names,
                                                      .op_count = OP_COUNT,
                                                      .resolution = resolution,
                                                      .labels = labels,
                                                      .label_count = 1,
                                                      .live_path = path};
    if (aggstats_recorder_create(&options, ret_recorder) != 0)
        die(path);
}

static void record(struct aggstats_recorder *recorder, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_READ, 5, 6);
        const struct aggstats_outcome outcome = {
            .error = i % 7 == 0 ? ENOENT : 0, .has_bytes = true, .asked_bytes = 4096, .moved_bytes = 100};
        aggstats_end_with(recorder, &span, &outcome);
    }
}

/* ---- Files, each made by a process that ends behind it ---- */

static void make_empty(const char *path) {
    struct aggstats_recorder *recorder;
    begin_file(path, 1, &recorder);
    aggstats_recorder_destroy(recorder);
}

static void make_destroyed(const char *path) {
    struct aggstats_recorder *recorder;
    begin_file(path, 2, &recorder);
    record(recorder, 1009);
    aggstats_recorder_destroy(recorder);
}

static void make_killed_in_flight(const char *path) {
    struct aggstats_recorder *recorder;
    begin_file(path, 8, &recorder);
    record(recorder, 101);
    aggstats_begin(recorder, OP_WRITE, 7, 8);
}

static void make_killed_paused(const char *path) {
    struct aggstats_recorder *recorder;
    begin_file(path, 1, &recorder);
    record(recorder, 11);
    aggstats_recorder_reset(recorder);
    record(recorder, 13);
    aggstats_recorder_pause(recorder);
    record(recorder, 17);
}

static bool find_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    (void)context;
    (void)look;
    snprintf(ret_wait->cause.words, sizeof(ret_wait->cause.words), "waiting for the corpus");
    ret_wait->chain = (struct aggstats_chain){
        .links = {{.thing = AGGSTATS_CAUSE_FLOCK, .relation = AGGSTATS_HELD, .object = "/srv/a b"}}, .count = 1};
    return true;
}

static void make_slow(const char *path) {
    struct aggstats_recorder *recorder;
    const struct aggstats_slow_options options = {.threshold_ns = SLOW_NS, .find_cause = find_cause};
    begin_file(path, 1, &recorder);
    if (aggstats_recorder_set_slow(recorder, &options) != 0)
        die(path);
    for (int i = 0; i < 3; i++) {
        struct aggstats_span span = aggstats_begin(recorder, OP_WRITE, 5, 6);
        aggstats_slow_begin(recorder);
        usleep(4 * SLOW_NS / 1000);
        const uint64_t latency_cycles = aggstats_end(recorder, &span);
        const struct aggstats_call call = {.latency_cycles = latency_cycles, .pid = 6};
        aggstats_slow_end(recorder, &span, OP_WRITE, &call, NULL);
    }
}

/* Without groups it is small enough for a fuzzer. */
static void make_shared_of(const char *path, unsigned groupings) {
    struct aggstats_recorder *maker;
    struct aggstats_recorder *joined;
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    if (aggstats_recorder_create_shared(&options, 2, groupings, &maker) != 0 ||
        aggstats_recorder_join(path, op_names, OP_COUNT, false, &joined) != 0)
        die(path);
    for (int i = 0; i < 103; i++) {
        struct aggstats_span span = aggstats_shared_begin(joined, OP_READ, 0, 6);
        aggstats_end(joined, &span);
    }
    aggstats_subject subject = groupings != 0 ? aggstats_subject_of_path(joined, "/srv/data/file", 14) : 0;
    aggstats_shared_begin(joined, OP_WRITE, aggstats_subject_object(subject), 6);
}

static void make_shared(const char *path) {
    make_shared_of(path, 0);
}

static void make_shared_with_groups(const char *path) {
    make_shared_of(path, 1U << AGGSTATS_BY_FILE);
}

static void make_cut_short(const char *path) {
    make_destroyed(path);
    if (truncate(path, 3000) < 0)
        die(path);
}

static void make_cut_shared(const char *path) {
    make_shared(path);
    if (truncate(path, 200000) < 0)
        die(path);
}

static void make_text(const char *path) {
    FILE *stream = fopen(path, "we");
    if (!stream || fputs("OSPROFLV is how live files begin, and this is none.\n", stream) < 0 || fclose(stream) != 0)
        die(path);
}

static const struct row {
    const char *name;
    void (*make)(const char *path);
} rows[] = {
    {"empty", make_empty},
    {"destroyed", make_destroyed},
    {"killed-in-flight", make_killed_in_flight},
    {"killed-paused", make_killed_paused},
    {"slow", make_slow},
    {"shared", make_shared},
    {"shared-with-groups", make_shared_with_groups},
    {"should-fail-cut-short", make_cut_short},
    {"should-fail-cut-shared", make_cut_shared},
    {"should-fail-text", make_text},
};

/* ---- All of them ---- */

static void make_in_child(const struct row *row, const char *path) {
    int status;
    unlink(path);
    const pid_t child = fork();
    if (child == 0) {
        row->make(path);
        kill(getpid(), SIGKILL);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        die(path);
}

/* Accepted, unless its name says otherwise. */
static bool is_as_named(const struct row *row, const char *path) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int err = fd < 0 ? negative_errno() : aggstats_live_read(fd, &profile, NULL, &error);
    if (err == 0)
        aggstats_profile_finish(&profile);
    const int expected = strncmp(row->name, "should-fail-", strlen("should-fail-")) == 0 ? -EBADMSG : 0;
    if (err != expected)
        fprintf(stderr, "%s: %s: %s\n", path, err == 0 ? "was accepted" : strerror(-err), error.message);
    return err == expected;
}

int main(int argc, char **argv) {
    const bool checks = argc == 3 && strcmp(argv[1], "--check") == 0;
    const char *directory = argc > 1 ? argv[argc - 1] : "";
    bool is_right = true;
    if (!checks && argc != 2)
        return EXIT_FAILURE;
    if (!checks && mkdir(directory, 0777) < 0 && errno != EEXIST)
        die(directory);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CLEANUP_FREE char *path = NULL;
        if (asprintf(&path, "%s/%s", directory, rows[i].name) < 0)
            return EXIT_FAILURE;
        if (!checks)
            make_in_child(&rows[i], path);
        else
            is_right = is_as_named(&rows[i], path) && is_right;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
