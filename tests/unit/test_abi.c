/* The binary interface: what was compiled for another library is refused, what has other options is understood. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "testing.h"

static const char *const op_names[] = {"READ"};
static const struct aggstats_recorder_options options = {.op_names = op_names, .op_count = 1, .resolution = 1};

TEST(program_compiled_for_another_library_is_refused, .to = 4) {
    static const unsigned others[] = {0, AGGSTATS_ABI - 1, AGGSTATS_ABI + 1, ~0U};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create_sized(others[_i], &options, sizeof(options), &recorder), -EPROTO);
    ck_assert_ptr_null(recorder);
}

/* Options as later headers may have them. */
struct later_options {
    struct aggstats_recorder_options known;
    void *later;
};

TEST(later_options_that_are_not_set_do_no_harm) {
    const struct later_options later = {.known = options};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create_sized(AGGSTATS_ABI, &later.known, sizeof(later), &recorder), 0);
    aggstats_recorder_destroy(recorder);
}

TEST(later_options_that_are_set_are_refused) {
    static char something;
    const struct later_options later = {.known = options, .later = &something};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create_sized(AGGSTATS_ABI, &later.known, sizeof(later), &recorder), -EINVAL);
    ck_assert_ptr_null(recorder);
}

/* As those of an earlier header, behind which there is anything. */
TEST(earlier_options_leave_the_rest_at_zero) {
    struct aggstats_recorder_options earlier = options;
    const size_t earlier_bytes = offsetof(struct aggstats_recorder_options, live_path);
    memset((char *)&earlier + earlier_bytes, 0x5a, sizeof(earlier) - earlier_bytes);
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_create_sized(AGGSTATS_ABI, &earlier, earlier_bytes, &recorder), 0);
    ck_assert_ptr_null(aggstats_recorder_live_path(recorder));
    aggstats_recorder_destroy(recorder);
}
