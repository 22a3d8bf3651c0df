/* Watching a recorder through its live file: intervals, sums, resets, its end. */
#include <string.h>
#include <sys/prctl.h>

#include "base.h"
#include "testing.h"
#include "top_watch.h"

static char directory[64];
static char live_path[96];
static struct aggstats_recorder *recorder;
static struct top_watch watch;

static void set_up(void) {
    static const char *const op_names[] = {"READ", "FSYNC"};
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-watch-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(live_path, sizeof(live_path), "%s/live", directory);
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = ARRAY_SIZE(op_names), .resolution = 1, .live_path = live_path};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    struct top_source source;
    ck_assert_int_eq(top_source_open(live_path, &source), 0);
    top_watch_init(&watch, &source, TOP_BY_SHARE);
}

static void tear_down(void) {
    top_watch_finish(&watch);
    if (recorder) {
        aggstats_recorder_unlink_live(recorder);
        aggstats_recorder_destroy(recorder);
    }
    unlink(live_path);
    rmdir(directory);
}

static void record_reads(int count) {
    for (int i = 0; i < count; i++) {
        struct aggstats_span span = aggstats_begin(recorder, 0, 0, 0);
        aggstats_end(recorder, &span);
    }
}

static void refresh(void) {
    ck_assert_int_eq(top_watch_refresh(&watch), 0);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(the_first_frame_is_since_the_beginning_the_next_ones_are_intervals) {
    record_reads(7);
    refresh();
    ck_assert(watch.since_beginning);
    ck_assert_uint_eq(watch.frame.ended, 7);
    record_reads(5);
    refresh();
    ck_assert(!watch.since_beginning && !watch.began_anew && !watch.has_ended);
    ck_assert_uint_eq(watch.frame.ended, 5);
    refresh();
    ck_assert_uint_eq(watch.frame.ended, 0);
}

TEST(sums_are_since_the_beginning_or_since_the_mark) {
    record_reads(7);
    refresh();
    record_reads(5);
    refresh();
    ck_assert_int_eq(top_watch_sum(&watch, true), 0);
    ck_assert(watch.since_beginning);
    ck_assert_uint_eq(watch.frame.ended, 12);
    ck_assert_int_eq(top_watch_begin_here(&watch), 0);
    ck_assert_uint_eq(watch.frame.ended, 0);
    for (int i = 0; i < 3; i++) {
        record_reads(11);
        refresh();
    }
    ck_assert(!watch.since_beginning);
    ck_assert_uint_eq(watch.frame.ended, 33);
    ck_assert_int_eq(top_watch_sum(&watch, false), 0);
    ck_assert_uint_eq(watch.frame.ended, 11);
}

TEST(a_reset_makes_it_begin_anew) {
    record_reads(7);
    refresh();
    ck_assert_int_eq(top_watch_begin_here(&watch), 0);
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    record_reads(23); /* more than there were: the counts alone do not tell */
    refresh();
    ck_assert(watch.began_anew && watch.since_beginning);
    ck_assert_uint_eq(watch.frame.ended, 23);
    record_reads(2);
    refresh();
    ck_assert(!watch.began_anew);
    ck_assert_uint_eq(watch.frame.ended, 25); /* a sum still, without the mark */
    ck_assert_int_eq(top_watch_sum(&watch, false), 0);
    ck_assert_uint_eq(watch.frame.ended, 2);
}

TEST(a_pause_is_seen) {
    refresh();
    ck_assert(!watch.is_paused);
    ck_assert_int_eq(aggstats_recorder_pause(recorder), 0);
    record_reads(3);
    refresh();
    ck_assert(watch.is_paused);
    ck_assert_uint_eq(watch.frame.ended, 0);
    ck_assert_int_eq(aggstats_recorder_resume(recorder), 0);
    record_reads(2);
    refresh();
    ck_assert(!watch.is_paused && !watch.began_anew);
    ck_assert_uint_eq(watch.frame.ended, 2);
}

TEST(calls_in_flight_have_the_name_of_their_process) {
    prctl(PR_SET_NAME, "a\033name");
    struct aggstats_span span = aggstats_begin(recorder, 1, 131, (uint64_t)getpid());
    refresh();
    ck_assert_uint_eq(watch.frame.call_count, 1);
    ck_assert_str_eq(watch.frame.calls[0]->program, "a\033name"); /* drawing makes it harmless */
    aggstats_end(recorder, &span);
    refresh();
    ck_assert_uint_eq(watch.frame.call_count, 0);
    span = aggstats_begin(recorder, 1, 131, 0); /* on nobody's behalf */
    refresh();
    ck_assert_str_eq(watch.frame.calls[0]->program, "");
    aggstats_end(recorder, &span);
}

TEST(who_looks_while_it_ends_sees_no_call_twice) {
    record_reads(7);
    refresh();
    watch.latest.profile.elapsed_cycles += UINT64_C(1) << 40; /* the end was announced, but not complete */
    record_reads(2);
    aggstats_recorder_unlink_live(recorder);
    aggstats_recorder_destroy(steal_pointer(&recorder));
    refresh();
    ck_assert(watch.has_ended && !watch.began_anew);
    ck_assert_uint_eq(watch.frame.ended, 2);
}

TEST(the_last_calls_are_seen_although_the_live_file_is_gone) {
    refresh();
    record_reads(13);
    ck_assert_int_eq(aggstats_recorder_unlink_live(recorder), 0);
    aggstats_recorder_destroy(steal_pointer(&recorder));
    refresh();
    ck_assert(watch.has_ended && watch.is_fresh);
    ck_assert_uint_eq(watch.frame.ended, 13);
}
