/* Requests of a FUSE daemon and their answers, of which some are lost. */
#include "requests.h"

#include "testing.h"

#define OPCODE_GETATTR 3
#define OPCODE_READ 15
#define ASKED_AGAIN (UINT64_C(1) << 63)

static struct aggstats_recorder *recorder;
static struct requests requests;

static void set_up(void) {
    const struct aggstats_recorder_options options = {
        .op_names = wire_op_names,
        .op_count = WIRE_OP_COUNT,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000},
    };
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    ck_assert_int_eq(requests_init(&requests, recorder), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
    requests_finish(&requests);
}

static void ask(uint64_t unique, uint8_t opcode, uint64_t time_cycles) {
    static struct request request;
    request = (struct request){
        .record = {.kind = REQUEST_ARRIVED, .unique = unique, .opcode = opcode, .time_cycles = time_cycles}};
    requests_take(&requests, &request);
}

static void answer(uint64_t unique, uint64_t time_cycles) {
    static struct request request;
    request = (struct request){.record = {.kind = REQUEST_ANSWERED, .unique = unique, .time_cycles = time_cycles}};
    requests_take(&requests, &request);
}

/* That there is no other op is checked, too. */
static void check_profile(uint64_t calls, uint64_t finished, uint64_t total_cycles) {
    struct aggstats_profile profile;
    uint64_t in_buckets = 0;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    ck_assert_uint_eq(profile.op_count, calls > 0 ? 1 : 0);
    if (calls > 0) {
        for (unsigned bucket = 0; bucket < 64; bucket++)
            in_buckets += profile.ops[0].buckets[bucket];
        ck_assert_uint_eq(profile.ops[0].calls, calls);
        ck_assert_uint_eq(in_buckets, finished);
        ck_assert_uint_eq(profile.ops[0].total_cycles, total_cycles);
    }
    ck_assert_uint_eq(profile.in_flight_count, calls - finished);
    aggstats_profile_finish(&profile);
}

static bool is_incomplete(void) {
    struct aggstats_profile profile;
    requests_note_lost(&requests, 0);
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    const bool incomplete = profile.incomplete;
    aggstats_profile_finish(&profile);
    return incomplete;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(oldest_of_too_many_goes_and_is_lost) {
    for (uint64_t i = 0; i < REQUESTS_MAX; i++)
        ask(2 * (i + 1), OPCODE_GETATTR, 1000 + i);
    ck_assert(!is_incomplete());
    check_profile(REQUESTS_MAX, 0, 0);
    answer(2 * 7, 2006); /* so the places are not in the order of the requests */
    for (uint64_t i = 0; i < 1 + 13; i++)
        ask(100002 + 2 * i, OPCODE_GETATTR, 3000 + i);
    ck_assert_uint_eq(requests.not_counted, 13);
    ck_assert(is_incomplete());
    check_profile(REQUESTS_MAX + 1, 1, 1000);
    answer(2 * 14, 4000); /* of the last that was lost */
    check_profile(REQUESTS_MAX + 1, 1, 1000);
    answer(2 * 15, 1014 + 500);
    answer(100002 + 2 * 13, 3013 + 300);
    check_profile(REQUESTS_MAX + 1, 3, 1000 + 500 + 300);
}

TEST(number_of_another_request_means_that_the_answer_was_lost) {
    ask(2, OPCODE_READ, 1000);
    ask(2, OPCODE_GETATTR, 5000);
    ck_assert_uint_eq(requests.not_counted, 1);
    ck_assert(is_incomplete());
    check_profile(1, 0, 0);
    answer(2, 5100);
    check_profile(1, 1, 100);
}

/* Who serves a mount anew may have the kernel ask again what was not answered. */
TEST(request_that_is_asked_again_goes_on) {
    ask(2, OPCODE_GETATTR, 1000);
    ask(2 | ASKED_AGAIN, OPCODE_GETATTR, 5000);
    check_profile(1, 0, 0);
    answer(2 | ASKED_AGAIN, 6000);
    check_profile(1, 1, 5000);
    ck_assert(!is_incomplete());
}

TEST(what_was_lost_before_a_reset_does_not_make_the_profile_incomplete) {
    ask(2, OPCODE_READ, 1000);
    ask(2, OPCODE_GETATTR, 5000);
    ck_assert(is_incomplete());
    ck_assert_int_eq(aggstats_recorder_reset(recorder), 0);
    ck_assert(!is_incomplete());
    requests_note_lost(&requests, 1);
    ck_assert(is_incomplete());
}
