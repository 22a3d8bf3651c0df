/* Profiles of many files in bounded memory: what is exact is exact, and bounds hold. */
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "heavy.h"
#include "profile_owned.h"
#include "testing.h"
#include "text_format.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char op_names[OP_COUNT][AGGSTATS_NAME_SIZE] = {"READ", "WRITE"};

static struct heavy create(unsigned count_max) {
    struct heavy heavy;
    const struct layout layout = layout_make(OP_COUNT, 1);
    ck_assert_int_eq(heavy_init(&heavy, &layout, count_max), 0);
    return heavy;
}

static void heavy_count(struct heavy *heavy, uint64_t object, unsigned op, uint64_t latency_cycles) {
    const struct group_calls call = {.calls = 1,
                                     .cycles = latency_cycles,
                                     .bucket = aggstats_bucket_of(latency_cycles, heavy->groups.layout.resolution)};
    heavy_count_calls(heavy, object, op, &call);
}

/* The name of object 12 is "/12". */
static void name_all(struct heavy *heavy) {
    uint64_t objects[AGGSTATS_GROUPS_MAX];
    unsigned count = heavy_due(heavy, 0, true, objects);
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "/%llu", (unsigned long long)objects[i]);
        heavy_note(heavy, objects[i], true, name, 0);
    }
}

/* A whole that has any number of calls in each bucket. */
static struct aggstats_profile show_marked(struct heavy *heavy, bool marks) {
    struct aggstats_profile profile = {.resolution = 1};
    for (unsigned op = 0; op < OP_COUNT; op++) {
        uint64_t buckets[64];
        struct aggstats_op_profile whole = {.calls = UINT64_MAX, .buckets = buckets};
        text_name_copy(whole.name, op_names[op]);
        for (unsigned bucket = 0; bucket < 64; bucket++)
            buckets[bucket] = UINT64_MAX / 64;
        ck_assert_int_eq(profile_append_op(&profile, &whole), 0);
    }
    ck_assert_int_eq(heavy_show(heavy, marks, op_names, AGGSTATS_BY_FILE, &profile, NULL), 0);
    return profile;
}

static struct aggstats_profile show(struct heavy *heavy) {
    return show_marked(heavy, false);
}

static const struct aggstats_group *find(const struct aggstats_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].who == AGGSTATS_WHO_ID && strcmp(profile->groups[i].name, name) == 0)
            return &profile->groups[i];
    return NULL;
}

static uint64_t total_of(const struct aggstats_group *group) {
    uint64_t total_cycles = 0;
    for (size_t i = 0; group && i < group->profile.op_count; i++)
        total_cycles += group->profile.ops[i].total_cycles;
    return total_cycles;
}

static void expect(const struct aggstats_profile *profile, const char *name, uint64_t total_cycles,
                   uint64_t missed_cycles_max) {
    const struct aggstats_group *group = find(profile, name);
    ck_assert_msg(group, "%s is not kept", name);
    ck_assert_uint_eq(total_of(group), total_cycles);
    ck_assert_uint_eq(group->missed_cycles_max, missed_cycles_max);
}

static uint64_t total_of_others(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->group_count; i++)
        if (profile->groups[i].who == AGGSTATS_WHO_OTHER)
            return total_of(&profile->groups[i]);
    return 0;
}

TEST(few_files_are_all_exact) {
    struct heavy heavy = create(4);
    for (unsigned i = 0; i < 100; i++)
        heavy_count(&heavy, 1 + i % 4, i % 2, 10 * (1 + i % 4));
    name_all(&heavy);
    struct aggstats_profile profile = show(&heavy);
    ck_assert_uint_eq(profile.group_count, 4);
    expect(&profile, "/1", 250, 0);
    expect(&profile, "/4", 1000, 0);
    ck_assert_str_eq(profile.groups[0].name, "/4");
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

/* Of 100, 20 and 30 the second goes; its calls are others', and the newcomer may be it. */
TEST(smallest_bound_goes_and_is_taken_over) {
    struct heavy heavy = create(3);
    heavy_count(&heavy, 1, OP_READ, 100);
    heavy_count(&heavy, 2, OP_READ, 20);
    heavy_count(&heavy, 3, OP_WRITE, 30);
    heavy_count(&heavy, 4, OP_READ, 5);
    heavy_count(&heavy, 2, OP_READ, 7); /* again, and for 4: 25 is less than 30 */
    name_all(&heavy);
    struct aggstats_profile profile = show(&heavy);
    ck_assert_ptr_null(find(&profile, "/4"));
    expect(&profile, "/1", 100, 0);
    expect(&profile, "/3", 30, 0);
    expect(&profile, "/2", 7, 25);
    ck_assert_uint_eq(total_of_others(&profile), 25);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

TEST(nothing_to_work_on_is_among_the_others) {
    struct heavy heavy = create(2);
    heavy_count(&heavy, 0, OP_READ, 100);
    struct aggstats_profile profile = show(&heavy);
    ck_assert_uint_eq(profile.group_count, 1);
    ck_assert_uint_eq(total_of_others(&profile), 100);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

TEST(files_of_one_name_are_shown_as_one) {
    struct heavy heavy = create(3);
    heavy_count(&heavy, 9, OP_READ, 8);
    heavy_count(&heavy, 1, OP_READ, 1);
    heavy_count(&heavy, 2, OP_READ, 2);
    heavy_count(&heavy, 3, OP_WRITE, 4); /* evicts 1, and takes over its bound */
    heavy_note(&heavy, 9, true, "/else", 0);
    heavy_note(&heavy, 2, true, "/same", 0);
    heavy_note(&heavy, 3, true, "/same", 0);
    struct aggstats_profile profile = show(&heavy);
    ck_assert_uint_eq(profile.group_count, 3);
    expect(&profile, "/same", 6, 1);
    expect(&profile, "/else", 8, 0);
    ck_assert_uint_eq(total_of_others(&profile), 1);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

TEST(latest_name_is_kept_and_a_reason_until_there_is_one) {
    struct heavy heavy = create(2);
    uint64_t objects[2];
    heavy_count(&heavy, 1, OP_READ, 1);
    ck_assert_uint_eq(heavy_due(&heavy, 0, false, objects), 1);
    heavy_note(&heavy, 1, false, "(reason)", 1);
    ck_assert_uint_eq(heavy_due(&heavy, INT64_MAX, true, objects), 0); /* it has not called since */
    heavy_count(&heavy, 1, OP_READ, 1);
    ck_assert_uint_eq(heavy_due(&heavy, 2, false, objects), 0);
    ck_assert_uint_eq(heavy_due(&heavy, 2, true, objects), 1);
    struct aggstats_profile profile = show(&heavy);
    expect(&profile, "(reason)", 2, 0);
    aggstats_profile_finish(&profile);
    heavy_note(&heavy, 1, true, "/old", 0);
    heavy_note(&heavy, 1, true, "/new", 0);
    heavy_note(&heavy, 1, false, "(gone)", 0);
    heavy_note(&heavy, 7, true, "/not kept", 0);
    profile = show(&heavy);
    expect(&profile, "/new", 2, 0);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

TEST(after_a_reset_all_is_as_new) {
    struct heavy heavy = create(2);
    for (unsigned i = 1; i < 10; i++)
        heavy_count(&heavy, i, OP_READ, i);
    heavy_clear(&heavy);
    struct aggstats_profile profile = show(&heavy);
    ck_assert_uint_eq(profile.group_count, 0);
    aggstats_profile_finish(&profile);
    heavy_count(&heavy, 9, OP_READ, 3);
    heavy_count(&heavy, 1, OP_READ, 4);
    name_all(&heavy);
    profile = show(&heavy);
    expect(&profile, "/9", 3, 0);
    expect(&profile, "/1", 4, 0);
    ck_assert_uint_eq(profile.group_count, 2);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

/* While what was marked is saved, 2 goes and comes again: what it has missed then may be of the new window. */
TEST(rotation_takes_what_was_saved_from_bounds) {
    struct heavy heavy = create(2);
    heavy_count(&heavy, 1, OP_READ, 100);
    heavy_count(&heavy, 2, OP_READ, 20);
    name_all(&heavy);
    struct aggstats_profile saved = show_marked(&heavy, true);
    expect(&saved, "/1", 100, 0);
    aggstats_profile_finish(&saved);
    heavy_count(&heavy, 1, OP_READ, 3);
    heavy_count(&heavy, 2, OP_READ, 5);
    heavy_count(&heavy, 3, OP_READ, 7);
    heavy_end_marks(&heavy, true);
    heavy_count(&heavy, 4, OP_READ, 1); /* in the place of 1, whose bound is 3 now; but 2 went with 25 */
    name_all(&heavy);
    struct aggstats_profile profile = show(&heavy);
    expect(&profile, "/3", 7, 25);
    expect(&profile, "/4", 1, 25);
    ck_assert_uint_eq(total_of_others(&profile), 3 + 5);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

TEST(rotation_that_failed_changes_nothing) {
    struct heavy heavy = create(2);
    heavy_count(&heavy, 1, OP_READ, 100);
    heavy_count(&heavy, 2, OP_READ, 20);
    struct aggstats_profile saved = show_marked(&heavy, true);
    aggstats_profile_finish(&saved);
    heavy_end_marks(&heavy, false);
    heavy_count(&heavy, 3, OP_READ, 7);
    name_all(&heavy);
    struct aggstats_profile profile = show(&heavy);
    expect(&profile, "/1", 100, 0);
    expect(&profile, "/3", 7, 20);
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
}

/* ---- A million files, used as Zipf says ---- */

enum { FILES = 1000000, CALLS = 2000003, TOP = 20 };

static uint64_t random_state = 1;

static double random_share(void) {
    random_state ^= random_state << 13; /* xorshift64 */
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(random_state >> 11) * 0x1p-53;
}

/* How likely is a file before this one. */
static double *make_distribution(void) {
    double *before = malloc((FILES + 1) * sizeof(*before));
    ck_assert_ptr_nonnull(before);
    before[0] = 0;
    for (unsigned file = 0; file < FILES; file++)
        before[file + 1] = before[file] + 1.0 / (file + 1);
    return before;
}

static unsigned draw(const double *before) {
    double wanted = random_share() * before[FILES];
    unsigned low = 0;
    for (unsigned step = 1U << 19; step > 0; step /= 2)
        if (low + step < FILES && before[low + step] <= wanted)
            low += step;
    return low;
}

static int compare_totals(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a < b) - (a > b);
}

static uint64_t least_of_top(const uint64_t *true_cycles) {
    uint64_t *sorted = malloc((FILES + 1) * sizeof(*sorted));
    ck_assert_ptr_nonnull(sorted);
    memcpy(sorted, true_cycles, (FILES + 1) * sizeof(*sorted));
    qsort(sorted, FILES + 1, sizeof(*sorted), compare_totals);
    uint64_t least = sorted[TOP - 1];
    free(sorted);
    return least;
}

/* No statement about any file is wrong. Returns how many of the true top are among the first that are shown. */
static unsigned check_shown(const struct aggstats_profile *profile, const uint64_t *true_cycles, uint64_t all_cycles,
                            unsigned groups_max) {
    uint64_t least = least_of_top(true_cycles);
    uint64_t shown_cycles = 0;
    unsigned found = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        uint64_t total_cycles = total_of(group);
        shown_cycles += total_cycles;
        if (group->who != AGGSTATS_WHO_ID)
            continue;
        uint64_t truth = true_cycles[strtoull(group->name + 1, NULL, 10)];
        ck_assert_uint_le(total_cycles, truth);
        ck_assert_uint_le(truth, total_cycles + group->missed_cycles_max);
        ck_assert_uint_le(group->missed_cycles_max, all_cycles / groups_max);
        found += i < TOP && truth >= least;
    }
    ck_assert_uint_eq(shown_cycles, all_cycles);
    return found;
}

/* Every file once, as a backup would, and then as Zipf says. */
static void count_zipf(struct heavy *heavy, const double *before, uint64_t *true_cycles, uint64_t *all_cycles) {
    for (unsigned i = 0; i < FILES + CALLS; i++) {
        uint64_t file = 1 + (i < FILES ? i : draw(before)) * UINT64_C(7919) % FILES; /* of numbers anywhere */
        uint64_t latency_cycles = (uint64_t)exp2(10 + 6 * random_share());
        heavy_count(heavy, file, i % OP_COUNT, latency_cycles);
        true_cycles[file] += latency_cycles;
        *all_cycles += latency_cycles;
    }
}

TEST_CASE(.seconds = 240);

TEST(top_files_of_a_million_are_found_in_bounded_memory) {
    double *before = make_distribution();
    uint64_t *true_cycles = calloc(FILES + 1, sizeof(*true_cycles));
    uint64_t all_cycles = 0;
    ck_assert_ptr_nonnull(true_cycles);
    size_t used_bytes = mallinfo2().uordblks;
    struct heavy heavy = create(AGGSTATS_GROUPS_DEFAULT);
    count_zipf(&heavy, before, true_cycles, &all_cycles);
    size_t heavy_bytes = mallinfo2().uordblks - used_bytes;
    name_all(&heavy);
    struct aggstats_profile profile = show(&heavy);
    unsigned found = check_shown(&profile, true_cycles, all_cycles, AGGSTATS_GROUPS_DEFAULT);
    printf("%d files, %d calls: %u of the top %d found; %zu bytes; what is not kept has %.2f %% of all at most\n",
           FILES, FILES + CALLS, found, TOP, heavy_bytes, 100.0 * (double)heavy.evicted_cycles / (double)all_cycles);
    ck_assert_uint_ge(found, TOP * 95 / 100);
    ck_assert_uint_lt(heavy_bytes, AGGSTATS_GROUPS_DEFAULT * (OP_COUNT * 600 + 600));
    aggstats_profile_finish(&profile);
    heavy_finish(&heavy);
    free(true_cycles);
    free(before);
}
