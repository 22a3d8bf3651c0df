/* The control file: accepted writes and their effects; refused writes, which have no effect. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "control.h"
#include "testing.h"

static const char *const op_names[] = {"READ", "WRITE"};

/* Remembers what the dump command asked for. */
struct dumps {
    int count;
    int answer;
    char file[PATH_MAX]; /* of the last one; "(default)" for NULL */
};

static struct aggstats_recorder *recorder;
static struct dumps dumps;
static struct dumps rotations;
static struct control control;
static struct control_groups groups;
static int groups_answer;
static char reason[CONTROL_REASON_SIZE];

static int record_dump(void *context, const struct control_file *file) {
    struct dumps *record = context;
    record->count++;
    snprintf(record->file, sizeof(record->file), "%s", file->name ? file->name : "(default)");
    return record->answer;
}

static int record_groups(void *context, const struct control_groups *wanted) {
    ck_assert_ptr_eq(context, &groups);
    groups = *wanted;
    return groups_answer;
}

static void set_up(void) {
    const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = 2, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    dumps = (struct dumps){0};
    rotations = (struct dumps){0};
    control = (struct control){.recorder = recorder,
                               .dump = record_dump,
                               .dump_context = &dumps,
                               .rotate = record_dump,
                               .rotate_context = &rotations,
                               .groups = record_groups,
                               .groups_context = &groups};
    groups = (struct control_groups){.groupings = ~0U}; /* of no command */
    groups_answer = 0;
    reason[0] = '\0';
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

static void make_calls(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct aggstats_span span = aggstats_begin(recorder, 0, 0, 0);
        aggstats_end(recorder, &span);
    }
}

/* The READ calls that a reader of the control file sees. */
static uint64_t calls_shown(void) {
    struct aggstats_profile profile = {0};
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "READ");
    uint64_t calls = op ? op->calls : 0;
    aggstats_profile_finish(&profile);
    return calls;
}

static int write_text(const char *text) {
    return control_write(&control, &CONTROL_SELF, text, strlen(text), reason);
}

/* ---- Accepted ------------------------------------------------------------------------------------ */

static const char *const resetting[] = {
    "reset", "reset\n", "0\n", "1\n", "\n", "", "\r\n", "  \t\n", "1", " reset \r\n", "pause\n\nresume\n", "0\n1\n"};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(every_spelling_of_reset_empties_the_profile, .to = ARRAY_SIZE(resetting)) {
    make_calls(7);
    ck_assert_uint_eq(calls_shown(), 7);
    ck_assert_int_eq(write_text(resetting[_i]), 0);
    ck_assert_uint_eq(calls_shown(), 0);
    make_calls(3);
    ck_assert_uint_eq(calls_shown(), 3);
}

TEST(calls_between_pause_and_resume_are_not_shown) {
    make_calls(5);
    ck_assert_int_eq(write_text("pause\n"), 0);
    make_calls(11);
    ck_assert_uint_eq(calls_shown(), 5);
    ck_assert_int_eq(write_text("resume\n"), 0);
    make_calls(2);
    ck_assert_uint_eq(calls_shown(), 7);
}

TEST(a_lone_newline_at_the_end_is_no_empty_line) {
    make_calls(5);
    ck_assert_int_eq(write_text("resume\n"), 0);
    ck_assert_uint_eq(calls_shown(), 5);
}

static const struct {
    const char *text;
    const char *file;
} dumping[] = {
    {"dump", "(default)"},
    {"dump\n", "(default)"},
    {"dump \t \n", "(default)"},
    {"dump /tmp/a.out\n", "/tmp/a.out"},
    {"  dump \t a b  c \r\n", "a b  c"},
    {"dump reset", "reset"},
    {"dump \303\244.out\n", "\303\244.out"},
};

TEST(dump_passes_the_rest_of_the_line, .to = ARRAY_SIZE(dumping)) {
    make_calls(3);
    ck_assert_int_eq(write_text(dumping[_i].text), 0);
    ck_assert_int_eq(dumps.count, 1);
    ck_assert_str_eq(dumps.file, dumping[_i].file);
    ck_assert_uint_eq(calls_shown(), 3);
}

TEST(commands_run_in_order) {
    make_calls(3);
    ck_assert_int_eq(write_text("dump first\npause\nreset\ndump second\nresume"), 0);
    ck_assert_int_eq(dumps.count, 2);
    ck_assert_str_eq(dumps.file, "second");
    ck_assert_uint_eq(calls_shown(), 0);
}

TEST(the_longest_path_is_accepted) {
    char text[PATH_MAX + 8] = "dump ";
    memset(text + 5, 'x', PATH_MAX - 1);
    ck_assert_int_eq(write_text(text), 0);
    ck_assert_uint_eq(strlen(dumps.file), PATH_MAX - 1);
}

/* ---- Refused ------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    const char *in_reason; /* words that the reason must hold */
} refused[] = {
    {"rest", "line 1: unknown command 'rest'; accepted are reset, 0, 1, pause, resume, dump [FILE]"},
    {"RESET\n", "line 1: unknown command 'RESET'"},
    {"2\n", "line 1: unknown command '2'"},
    {"reset now\n", "line 1: 'reset' takes no argument, found 'now'"},
    {"pause pause\n", "line 1: 'pause' takes no argument"},
    {"rotate\n", "line 1: rotate: the file is missing"},
    {"reset\nrotate \t\r\n", "line 2: rotate: the file is missing"},
    {"reset\ndump a\nno\n", "line 3: unknown command 'no'"},
    {"reset\n\n\nresume 1\n", "line 4: 'resume' takes no argument, found '1'"},
    {"a\rb\n", "unknown command 'a?b'"},
    {"\033[2Jx", "unknown command '?[2Jx'"},
    {"reset\ngroups\n", "line 2: groups: say of what, such as program+file, or off"},
    {"groups program+fil\n",
     "line 1: groups program+fil: must be off, process, program, cgroup, uid, file, directory, or "},
    {"groups none\n", "must be off, "},
    {"groups filesystem\n", "must be off, "},
    {"groups file+\n", "must be off, "},
    {"groups file file\n", "must be off, "},
    {"groups off+file\n", "must be off, "},
    {"groups file+uid+file\n", "line 1: groups file+uid+file: give each at most once"},
    {"groups file:2\n", "line 1: groups file:2: only directory takes a depth"},
    {"groups directory:0\n", "the depth must be a number from 1 to 64"},
    {"groups directory:65\n", "the depth must be a number from 1 to 64"},
    {"groups directory:2x\n", "the depth must be a number from 1 to 64"},
    {"groups directory:-1\n", "the depth must be a number from 1 to 64"},
    {"groups file\ngroups \n", "line 2: groups: say of what"},
    {"reset\nabcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz\n",
     "'abcdefghijklmnopqrstuvwxyz0123456789abcdefgh...'"},
};

static void assert_nothing_done(void) {
    ck_assert_uint_eq(calls_shown(), 7);
    ck_assert_int_eq(dumps.count, 0);
    ck_assert_uint_eq(groups.groupings, ~0U);
}

TEST(a_malformed_line_refuses_the_whole_write, .to = ARRAY_SIZE(refused)) {
    make_calls(7);
    ck_assert_int_eq(write_text(refused[_i].text), -EINVAL);
    ck_assert_msg(strstr(reason, refused[_i].in_reason) != NULL, "reason is: %s", reason);
    ck_assert_ptr_null(strchr(reason, '\n'));
    assert_nothing_done();
}

static const struct {
    const char *text;
    struct control_groups wanted;
} grouping[] = {
    {"groups off\n", {0}},
    {"groups program+file", {.groupings = 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_FILE}},
    {" groups \t uid \r\n", {.groupings = 1U << AGGSTATS_BY_UID}},
    {"groups directory:64", {.groupings = 1U << AGGSTATS_BY_DIRECTORY, .directory_depth = 64}},
    {"groups directory+process", {.groupings = 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_PROCESS}},
};

TEST(groups_are_passed_on, .to = ARRAY_SIZE(grouping)) {
    ck_assert_int_eq(write_text(grouping[_i].text), 0);
    ck_assert_uint_eq(groups.groupings, grouping[_i].wanted.groupings);
    ck_assert_uint_eq(groups.directory_depth, grouping[_i].wanted.directory_depth);
    groups_answer = -EBUSY;
    ck_assert_int_eq(write_text(grouping[_i].text), -EBUSY);
    ck_assert_msg(strstr(reason, "failed: others are on; 'groups off' ends them") != NULL, "reason is: %s", reason);
    groups_answer = -EOPNOTSUPP;
    ck_assert_int_eq(write_text(grouping[_i].text), -EOPNOTSUPP);
    ck_assert_msg(strstr(reason, "failed: nothing is recorded there (osproffs -o timing)") != NULL, "reason is: %s",
                  reason);
    groups_answer = -ENOMEM;
    ck_assert_int_eq(write_text(grouping[_i].text), -ENOMEM);
    ck_assert_msg(strstr(reason, "failed: Cannot allocate memory") != NULL, "reason is: %s", reason);
}

TEST(without_groups_they_are_refused) {
    control.groups = NULL;
    ck_assert_int_eq(write_text("groups off"), -EINVAL);
    ck_assert_str_eq(reason,
                     "line 1: groups off: not while it runs: osprof attach and osprof fuse take --by when they start");
}

/* Whatever is added to the list of commands, the message about an unknown one must not cut it. */
TEST(the_list_of_commands_is_whole) {
    ck_assert_int_eq(write_text("abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz"), -EINVAL);
    ck_assert_msg(strlen(reason) < CONTROL_REASON_SIZE - 1 && reason[strlen(reason) - 1] == ']', "reason is: %s",
                  reason);
}

TEST(a_nul_byte_is_refused) {
    make_calls(7);
    ck_assert_int_eq(control_write(&control, &CONTROL_SELF, "reset\nre\0set\n", 13, reason), -EINVAL);
    ck_assert_str_eq(reason, "line 2: found a NUL byte; commands are plain text");
    ck_assert_int_eq(control_write(&control, &CONTROL_SELF, "", 1, reason), -EINVAL);
    assert_nothing_done();
}

TEST(too_long_a_path_is_refused) {
    char text[PATH_MAX + 8] = "dump ";
    memset(text + 5, 'x', PATH_MAX);
    make_calls(7);
    ck_assert_int_eq(write_text(text), -EINVAL);
    ck_assert_msg(strstr(reason, "longer than 4095 bytes") != NULL, "reason is: %s", reason);
    assert_nothing_done();
}

TEST(the_longest_write_is_accepted_and_one_byte_more_is_not) {
    static char text[CONTROL_WRITE_MAX + 1];
    memset(text, '\n', sizeof(text));
    make_calls(7);
    ck_assert_int_eq(control_write(&control, &CONTROL_SELF, text, sizeof(text), reason), -EINVAL);
    assert_nothing_done();
    ck_assert_int_eq(control_write(&control, &CONTROL_SELF, text, sizeof(text) - 1, reason), 0);
    ck_assert_uint_eq(calls_shown(), 0);
}

TEST(a_failing_command_stops_the_ones_after_it) {
    make_calls(7);
    dumps.answer = -ENOSPC;
    ck_assert_int_eq(write_text("dump a b\nreset\n"), -ENOSPC);
    ck_assert_str_eq(reason, "line 1: dump a b failed: No space left on device");
    ck_assert_int_eq(dumps.count, 1);
    ck_assert_uint_eq(calls_shown(), 7);
}

TEST(rotate_passes_the_rest_of_the_line) {
    ck_assert_int_eq(write_text("pause\n rotate \t a b.osprof \r\nresume\n"), 0);
    ck_assert_int_eq(rotations.count, 1);
    ck_assert_str_eq(rotations.file, "a b.osprof");
    ck_assert_int_eq(dumps.count, 0);
    rotations.answer = -EEXIST;
    ck_assert_int_eq(write_text("rotate a"), -EEXIST);
    ck_assert_str_eq(reason, "line 1: rotate a failed: the file is there already; name a new one");
    rotations.answer = -EBUSY;
    ck_assert_int_eq(write_text("rotate a"), -EBUSY);
    ck_assert_str_eq(reason, "line 1: rotate a failed: the final profile goes there; name another file");
    rotations.answer = -ECANCELED;
    ck_assert_int_eq(write_text("rotate a"), -ECANCELED);
    ck_assert_str_eq(reason, "line 1: rotate a failed: the mount is ending; its final profile has these calls");
    rotations.answer = -ENOSPC;
    ck_assert_int_eq(write_text("rotate a"), -ENOSPC);
    ck_assert_str_eq(reason, "line 1: rotate a failed: No space left on device");
    control.rotate = NULL;
    ck_assert_int_eq(write_text("rotate a"), -EOPNOTSUPP);
}

TEST(events_needs_a_file_or_off) {
    ck_assert_int_eq(write_text("events a"), -EINVAL);
    ck_assert_str_eq(reason,
                     "line 1: events a: not possible here: mounts of osproffs take this line, and osprof attach takes "
                     "--events when it starts");
    control.events = record_dump;
    control.events_context = &rotations;
    ck_assert_int_eq(write_text("events \t a b.events \n"), 0);
    ck_assert_str_eq(rotations.file, "a b.events");
    ck_assert_int_eq(write_text("events off"), 0);
    ck_assert_str_eq(rotations.file, "(default)");
    ck_assert_int_eq(write_text("pause\nevents\n"), -EINVAL);
    ck_assert_str_eq(reason, "line 2: events: the file is missing, or off");
    rotations.answer = -EBUSY;
    ck_assert_int_eq(write_text("events a"), -EBUSY);
    ck_assert_str_eq(reason, "line 1: events a failed: events go to another file already; 'events off' ends that");
    rotations.answer = -ENODATA;
    ck_assert_int_eq(write_text("events off"), -ENODATA);
    ck_assert_str_eq(reason, "line 1: events off failed: no events are recorded");
}

TEST(with_a_series_rotate_needs_no_file_and_dump_does) {
    control.has_series = true;
    ck_assert_int_eq(write_text("rotate\n"), 0);
    ck_assert_str_eq(rotations.file, "(default)");
    ck_assert_int_eq(write_text("dump a\n"), 0);
    ck_assert_int_eq(write_text("rotate\ndump\n"), -EINVAL);
    ck_assert_str_eq(reason, "line 2: dump: the file is missing: this mount saves a series (-o rotate); osprof save "
                             "MOUNT -o FILE names one");
    ck_assert_int_eq(rotations.count, 1);
}

TEST(dump_without_a_place_to_dump_is_not_supported) {
    control.dump = NULL;
    ck_assert_int_eq(write_text("dump\n"), -EOPNOTSUPP);
}

/* ---- Reading ------------------------------------------------------------------------------------- */

TEST(reading_gives_the_profile_now) {
    struct control_text text;
    make_calls(13);
    ck_assert_int_eq(control_read(&control, &view_text, true, &text), 0);
    ck_assert_uint_eq(strlen(text.text), text.size_bytes);
    ck_assert_int_eq(strncmp(text.text, "# osprof 1\n", 11), 0);
    ck_assert_msg(strstr(text.text, "\nOP_READ 13 ") != NULL, "text is: %s", text.text);
    ck_assert(!text.has_paths);
    free(text.text);
}

TEST(metrics_keep_the_rate_they_began_with) {
    struct control_text metrics;
    struct control_text json;
    make_calls(1);
    uint64_t frequency_hz = aggstats_recorder_clock(recorder).frequency_hz;
    control.steady_clock = (struct aggstats_clock){.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1 << 30};
    ck_assert_int_eq(control_read(&control, &view_metrics, true, &metrics), 0);
    ck_assert_msg(strstr(metrics.text, "le=\"0.5\"") && strstr(metrics.text, "le=\"64\""), "%s", metrics.text);
    ck_assert_int_eq(control_read(&control, &view_json, true, &json), 0);
    char *rate = strstr(json.text, "\"frequency_hz\": ");
    ck_assert_ptr_nonnull(rate);
    ck_assert_double_eq_tol(strtod(rate + strlen("\"frequency_hz\": "), NULL), (double)frequency_hz,
                            (double)frequency_hz / 100);
    free(metrics.text);
    free(json.text);
}

static char *path_of_object(void *context, uint64_t object) {
    char *path;
    (void)context;
    return asprintf(&path, "/private/%" PRIu64, object) < 0 ? NULL : path;
}

TEST(paths_are_shown_only_where_they_may_be, .to = 2) {
    struct control_text text;
    bool shows = _i == 1;
    control.path_of = path_of_object;
    struct aggstats_span span = aggstats_begin(recorder, 0, 4711, 23);
    ck_assert_int_eq(control_read(&control, &view_text, shows, &text), 0);
    aggstats_end(recorder, &span);
    ck_assert_msg(strstr(text.text, " inode 4711 pid 23"), "text is: %s", text.text);
    ck_assert_msg(shows == (strstr(text.text, " path /private/4711 ") != NULL), "text is: %s", text.text);
    ck_assert(text.has_paths == shows);
    free(text.text);
}
