/* Groups of a shared live file: they add up to the whole, however many processes count and however little room there
 * is. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/shared_groups.h"
#include "testing.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define ALL_GROUPINGS                                                                                                  \
    (1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_FILESYSTEM | 1U << AGGSTATS_BY_PROGRAM | \
     1U << AGGSTATS_BY_PROCESS)
#define PROCESSES 8
#define CALLS_OF_A_PROCESS 20000
#define FILES_OF_A_PROCESS 50

static char directory[] = "/tmp/test-shared-groups-XXXXXX";
static char path[sizeof(directory) + 16];
static struct aggstats_recorder *maker;
static struct aggstats_recorder *joined;

static const struct aggstats_shared_mount mounts[] = {
    {.id = 20, .device = 7, .path = "/", .name = "/ ext4"},
    {.id = 30, .device = 8, .path = "/srv", .name = "/srv xfs"},
};

static const struct aggstats_shared_mount *list_mounts(void *context, size_t *ret_count) {
    (void)context;
    *ret_count = sizeof(mounts) / sizeof(mounts[0]);
    return mounts;
}

static void make(unsigned groupings, unsigned groups_max, unsigned depth) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    const struct aggstats_shared_groups_options wanted = {
        .groups_max = groups_max, .directory_depth = depth, .mounts = list_mounts};
    ck_assert_ptr_nonnull(mkdtemp(strcpy(directory, "/tmp/test-shared-groups-XXXXXX")));
    snprintf(path, sizeof(path), "%s/live", directory);
    ck_assert_int_eq(aggstats_recorder_create_shared(&options, 64, groupings, &maker), 0);
    ck_assert_int_eq(aggstats_recorder_group_shared(maker, &wanted), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &joined), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(maker);
    unlink(path);
    rmdir(directory);
}

static aggstats_subject subject(const char *file) {
    return aggstats_subject_of_path(joined, file, strlen(file));
}

static void count(unsigned op, unsigned caller, aggstats_subject of) {
    struct aggstats_span span = aggstats_shared_begin(joined, op, 0, 0);
    const uint64_t latency_cycles = aggstats_end(joined, &span);
    aggstats_shared_group_add(joined, caller, of, op, latency_cycles);
}

static unsigned caller(uint32_t pid, const char *program) {
    char name[AGGSTATS_CALLER_NAME_SIZE] = "";
    memcpy(name, program, strlen(program));
    return aggstats_shared_caller(joined, pid, name);
}

/* Calls of a group; name NULL: of the others. */
static uint64_t calls_of(const struct aggstats_profile *profile, enum aggstats_grouping grouping, const char *name,
                         const char *op_name) {
    uint64_t calls = 0;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const bool is_it =
            name ? group->who == AGGSTATS_WHO_ID && strcmp(group->name, name) == 0 : group->who == AGGSTATS_WHO_OTHER;
        const struct aggstats_op_profile *op =
            group->grouping == grouping && is_it ? aggstats_profile_op(&group->profile, op_name) : NULL;
        calls += op ? op->calls : 0;
    }
    return calls;
}

/* Calls, cycles and buckets of all groups of each grouping are those of the whole. */
static void check_sums(const struct aggstats_profile *profile, unsigned groupings) {
    ck_assert_uint_eq(profile->groupings, groupings);
    for (unsigned grouping = 1; grouping < AGGSTATS_GROUPINGS; grouping++) {
        for (size_t i = 0; i < profile->op_count && groupings & 1U << grouping; i++) {
            const struct aggstats_op_profile *whole = &profile->ops[i];
            struct aggstats_op_profile sum = {0};
            uint64_t buckets[64] = {0};
            for (size_t j = 0; j < profile->group_count; j++) {
                const struct aggstats_group *group = &profile->groups[j];
                const struct aggstats_op_profile *op =
                    group->grouping == grouping ? aggstats_profile_op(&group->profile, whole->name) : NULL;
                sum.calls += op ? op->calls : 0;
                sum.total_cycles += op ? op->total_cycles : 0;
                for (unsigned bucket = 0; op && bucket < 64; bucket++)
                    buckets[bucket] += op->buckets[bucket];
            }
            ck_assert_uint_eq(sum.calls, whole->calls);
            ck_assert_uint_eq(sum.total_cycles, whole->total_cycles);
            ck_assert_mem_eq(buckets, whole->buckets, sizeof(buckets));
        }
    }
}

static struct aggstats_profile snapshot(void) {
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    return profile;
}

TEST_CASE(.tear_down = tear_down);

TEST(calls_are_in_their_groups) {
    make(ALL_GROUPINGS, 256, 0);
    const unsigned cc = caller(100, "cc");
    const unsigned other_cc = caller(101, "cc");
    const unsigned make_program = caller(102, "make");
    ck_assert_uint_eq(caller(100, "cc"), cc);
    for (int i = 0; i < 3; i++)
        count(OP_READ, cc, subject("/usr/include/stdio.h"));
    count(OP_READ, other_cc, subject("/usr/include/errno.h"));
    count(OP_WRITE, make_program, subject("/srv/a.o"));
    count(OP_WRITE, make_program, 0);
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, ALL_GROUPINGS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/usr/include/stdio.h", "READ"), 3);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/usr/include/errno.h", "READ"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/srv/a.o", "WRITE"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "WRITE"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "READ"), 0);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/usr/include", "READ"), 4);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/srv", "WRITE"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_PROGRAM, "cc", "READ"), 4);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_PROGRAM, "make", "WRITE"), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_PROCESS, "cc", "READ"), 4);
    aggstats_profile_finish(&profile);
}

TEST(directories_are_their_own) {
    make(1U << AGGSTATS_BY_DIRECTORY, 256, 0);
    count(OP_READ, 0, subject("/"));
    count(OP_READ, 0, subject("/top"));
    const aggstats_subject known = subject("/usr/share");
    aggstats_subject_is_directory(joined, known);
    count(OP_READ, 0, known);
    count(OP_READ, 0, subject("/usr/share/doc"));
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, 1U << AGGSTATS_BY_DIRECTORY);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/", "READ"), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/usr/share", "READ"), 2);
    aggstats_profile_finish(&profile);
}

TEST(directories_belong_to_one_above) {
    make(1U << AGGSTATS_BY_DIRECTORY, 256, 2);
    count(OP_READ, 0, subject("/usr/share/doc/a/b"));
    count(OP_READ, 0, subject("/usr/share/x"));
    count(OP_READ, 0, subject("/usr/y"));
    struct aggstats_profile profile = snapshot();
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/usr/share", "READ"), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/usr", "READ"), 1);
    aggstats_profile_finish(&profile);
}

TEST(mounts_are_known_by_directory) {
    make(1U << AGGSTATS_BY_FILESYSTEM, 256, 0);
    char text[64];
    aggstats_subject file = subject("/srv/data/a");
    ck_assert(!aggstats_subject_has_mount(file));
    ck_assert_uint_eq(aggstats_subject_directory(joined, file, text, sizeof(text)), strlen("/srv/data"));
    ck_assert_str_eq(text, "/srv/data");
    const unsigned srv = aggstats_subject_mount(joined, 30, 8);
    aggstats_subject_note_mount(joined, file, srv);
    ck_assert(aggstats_subject_has_mount(subject("/srv/data/a")));
    ck_assert(aggstats_subject_has_mount(subject("/srv/data/b"))); /* one look is enough for a directory */
    ck_assert(!aggstats_subject_has_mount(subject("/srv/c")));
    count(OP_READ, 0, subject("/srv/data/a"));
    count(OP_READ, 0, subject("/srv/data/b"));
    count(OP_READ, 0, aggstats_subject_on(subject("/etc/passwd"), aggstats_subject_mount(joined, 20, 7)));
    count(OP_READ, 0, aggstats_subject_on(subject("/lib"), aggstats_subject_mount(joined, 0, 7))); /* an old kernel */
    count(OP_READ, 0, aggstats_subject_on(subject("/ns"), aggstats_subject_mount(joined, 98, 7))); /* other namespace */
    count(OP_WRITE, 0, aggstats_subject_on(subject("/gone/x"), aggstats_subject_mount(joined, 99, 9)));
    count(OP_WRITE, 0, aggstats_subject_on(subject("/srv"), aggstats_subject_mount(joined, 20, 7)));
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, 1U << AGGSTATS_BY_FILESYSTEM);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILESYSTEM, "/srv xfs", "READ"), 2);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILESYSTEM, "/ ext4", "READ"), 3);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILESYSTEM, "/srv xfs", "WRITE"), 1); /* the mount point itself */
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILESYSTEM, NULL, "WRITE"), 1);
    aggstats_profile_finish(&profile);
}

TEST(a_reset_forgets) {
    make(ALL_GROUPINGS, 256, 0);
    count(OP_READ, caller(1, "a"), subject("/x"));
    ck_assert_int_eq(aggstats_recorder_reset(maker), 0);
    count(OP_READ, caller(1, "a"), subject("/x"));
    count(OP_READ, caller(1, "a"), subject("/x"));
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, ALL_GROUPINGS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/x", "READ"), 2);
    aggstats_profile_finish(&profile);
}

/* One file, with calls of all latencies. */
TEST(a_file_has_as_many_cells_as_it_needs) {
    make(1U << AGGSTATS_BY_FILE, 256, 0);
    const aggstats_subject file = subject("/hot");
    for (unsigned op = 0; op < OP_COUNT; op++) {
        for (unsigned bucket = 0; bucket < 60; bucket++) {
            struct aggstats_span span = aggstats_shared_begin(joined, op, 0, 0);
            const struct aggstats_outcome none = {0};
            const uint64_t end_cycles = span.start_cycles + (UINT64_C(1) << bucket);
            const uint64_t latency_cycles = aggstats_end_at(joined, &span, end_cycles, &none);
            aggstats_shared_group_add(joined, 0, file, op, latency_cycles);
        }
    }
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, 1U << AGGSTATS_BY_FILE);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/hot", "READ"), 60);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/hot", "WRITE"), 60);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "READ"), 0);
    aggstats_profile_finish(&profile);
}

/* Few groups are shown, and more files are used than there is room for. */
TEST(too_many_files_add_up) {
    make(ALL_GROUPINGS, 3, 0);
    char file[64];
    for (unsigned i = 0; i < 200000; i++) {
        snprintf(file, sizeof(file), "/d%u/f%u", i % 7, i);
        count(i % 2, caller(i % 3000, i % 2 ? "odd" : "even"), subject(file));
    }
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, ALL_GROUPINGS);
    ck_assert_uint_gt(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "READ"), 90000);
    ck_assert_uint_gt(calls_of(&profile, AGGSTATS_BY_PROGRAM, "even", "READ"), 30000);
    aggstats_profile_finish(&profile);
}

TEST(nothing_is_lost_among_processes) {
    make(ALL_GROUPINGS, 256, 0);
    char file[64];
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (fork() != 0)
            continue;
        const unsigned own = caller((uint32_t)getpid(), "worker");
        for (unsigned j = 0; j < CALLS_OF_A_PROCESS; j++) {
            snprintf(file, sizeof(file), "/shared/%u", j % FILES_OF_A_PROCESS);
            count(OP_READ, own, subject(file));
        }
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, ALL_GROUPINGS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_PROGRAM, "worker", "READ"), PROCESSES * CALLS_OF_A_PROCESS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_DIRECTORY, "/shared", "READ"), PROCESSES * CALLS_OF_A_PROCESS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/shared/7", "READ"),
                      PROCESSES * CALLS_OF_A_PROCESS / FILES_OF_A_PROCESS);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "READ"), 0);
    aggstats_profile_finish(&profile);
}

TEST(odd_names) {
    make(1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY, 256, 0);
    char deep[512] = "";
    for (int i = 0; i < 100; i++)
        count(OP_READ, 0, subject(strcat(deep, "/d"))); /* each is in the one before */
    count(OP_READ, 0, subject("/with\nline"));
    struct aggstats_profile profile = snapshot();
    check_sums(&profile, 1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, deep, "READ"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, "/with\nline", "READ"), 1);
    ck_assert_uint_eq(calls_of(&profile, AGGSTATS_BY_FILE, NULL, "READ"), 0);
    aggstats_profile_finish(&profile);
}

static void *find_subject(void *file) {
    return subject(file) != 0 ? file : NULL;
}

/* What a thread that finds this file has used of its stack. */
static size_t stack_used_bytes(char *file) {
    static char stack[1 << 21] __attribute__((aligned(4096))); /* the thread sanitizer keeps 900 KB there */
    pthread_attr_t attributes;
    pthread_t thread;
    size_t unused_bytes = 0;
    memset(stack, 0x5a, sizeof(stack));
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, sizeof(stack)), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, find_subject, file), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(pthread_attr_destroy(&attributes), 0);
    while (stack[unused_bytes] == 0x5a)
        unused_bytes++;
    return sizeof(stack) - unused_bytes;
}

TEST(deep_names_take_no_stack, .not_memcheck = true) {
    make(1U << AGGSTATS_BY_FILE, 256, 0);
    char flat[] = "/flat";
    char deep[512] = "";
    for (int i = 0; i < 100; i++)
        strcat(deep, "/d");
    stack_used_bytes(flat); /* what is done only once */
    const size_t used_bytes = stack_used_bytes(flat);
    ck_assert_uint_le(stack_used_bytes(deep), used_bytes + 512);
}

TEST(a_file_without_groups_has_none) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    const struct aggstats_shared_groups_options wanted = {.groups_max = 10};
    ck_assert_ptr_nonnull(mkdtemp(strcpy(directory, "/tmp/test-shared-groups-XXXXXX")));
    snprintf(path, sizeof(path), "%s/live", directory);
    ck_assert_int_eq(aggstats_recorder_create_shared(&options, 64, 0, &maker), 0);
    ck_assert_int_eq(aggstats_recorder_group_shared(maker, &wanted), -EINVAL);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &joined), 0);
    ck_assert_uint_eq(aggstats_shared_groupings(joined), 0);
}
