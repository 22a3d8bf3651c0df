/* A shared live file whose other users write anything into it, at any time: the process that made it, readers, and programs
 * that count in it come to no harm. A thread writes at random while all of it is used; OSPROF_HOSTILE_SECONDS makes that
 * last longer. What is asserted: no crash, no end that does not come, and profiles that can be written and read back. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/shared_groups.h"
#include "base.h"
#include "shared_layout.h"
#include "testing.h"

enum { OP_READ, OP_WRITE, OP_OPEN, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE", "OPEN"};

#define ALL_GROUPINGS                                                                                                  \
    (1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_FILESYSTEM | 1U << AGGSTATS_BY_PROGRAM | \
     1U << AGGSTATS_BY_PROCESS)
#define THREADS_MAX 64
#define SECONDS_DEFAULT 3
#define SECONDS_MAX 2000

static char directory[] = "/tmp/test-shared-hostile-XXXXXX";
static char path[sizeof(directory) + 16];
static struct aggstats_recorder *maker;
static struct aggstats_recorder *joined;
static struct live_header header; /* as it was written */
static unsigned char *file;       /* the mapped file, as another user's process has it */
static size_t file_bytes;
static bool is_over; /* atomic */

static const struct aggstats_shared_mount *list_mounts(void *context, size_t *ret_count) {
    static const struct aggstats_shared_mount mounts[] = {{.id = 20, .device = 7, .path = "/", .name = "/ ext4"}};
    (void)context;
    *ret_count = 1;
    return mounts;
}

static void map_file(void) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat attr;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &attr), 0);
    ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), (ssize_t)sizeof(header));
    file_bytes = header.header_bytes + 8 * header.block_stride_bytes; /* the blocks in use */
    ck_assert_uint_le(file_bytes, (size_t)attr.st_size);
    file = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(file, MAP_FAILED);
    close(fd);
}

static void set_up(void) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    const struct aggstats_shared_groups_options groups = {
        .groups_max = 100, .directory_depth = 2, .mounts = list_mounts};
    ck_assert_ptr_nonnull(mkdtemp(strcpy(directory, "/tmp/test-shared-hostile-XXXXXX")));
    snprintf(path, sizeof(path), "%s/live", directory);
    ck_assert_int_eq(aggstats_recorder_create_shared(&options, THREADS_MAX, ALL_GROUPINGS, &maker), 0);
    ck_assert_int_eq(aggstats_recorder_group_shared(maker, &groups), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &joined), 0);
    map_file();
}

static void tear_down(void) {
    munmap(file, file_bytes);
    aggstats_recorder_destroy(maker);
    unlink(path);
    rmdir(directory);
}

/* ---- What is done with the file ---- */

static void count_some(unsigned round) {
    char name[64];
    char caller_name[AGGSTATS_CALLER_NAME_SIZE] = "";
    char of[4096];
    snprintf(name, sizeof(name), "/srv/a/b%u/c/d%u", round % 7, round % 1013);
    snprintf(caller_name, sizeof(caller_name), "program%u", round % 11);
    const aggstats_subject subject = aggstats_subject_of_path(joined, name, strlen(name));
    const unsigned caller = aggstats_shared_caller(joined, round, caller_name);
    aggstats_subject_note_mount(joined, subject, aggstats_subject_mount(joined, 20, 7));
    aggstats_subject_is_directory(joined, subject);
    aggstats_subject_path(joined, subject, of, sizeof(of));
    aggstats_subject_directory(joined, subject, of, sizeof(of));
    struct aggstats_span span = aggstats_shared_begin(joined, round % OP_COUNT, subject, 1);
    aggstats_shared_group_add(joined, caller, subject, round % OP_COUNT, aggstats_end(joined, &span));
    if (round % 64 == 0) {
        struct aggstats_named *named = aggstats_recorder_named(joined);
        struct aggstats_named_program *program = aggstats_named_add(named, 1, caller_name, round);
        if (program)
            aggstats_named_take_back(program);
        aggstats_named_end(named, round);
        aggstats_recorder_note(joined, 1, 1);
    }
}

static void *count_for_a_while(void *unused) {
    for (unsigned round = 0; round < 300; round++)
        count_some(round);
    return unused;
}

/* New threads take blocks. */
static void *count_on(void *unused) {
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, count_for_a_while, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return unused;
}

/* The profile can be written, read back and written again. */
static void check_profile(const struct aggstats_profile *profile) {
    char *first;
    char *second;
    size_t first_bytes;
    size_t second_bytes;
    struct aggstats_profile again;
    struct aggstats_parse_error error;
    ck_assert_int_eq(aggstats_profile_format(profile, &first, &first_bytes), 0);
    FILE *stream = fmemopen(first, first_bytes, "r");
    ck_assert_ptr_nonnull(stream);
    const int err = aggstats_profile_parse(stream, &again, &error);
    ck_assert_msg(err == 0, "line %zu: %s\n%s", error.line, error.message, first);
    fclose(stream);
    ck_assert_int_eq(aggstats_profile_format(&again, &second, &second_bytes), 0);
    ck_assert_uint_eq(first_bytes, second_bytes);
    aggstats_profile_finish(&again);
    free(first);
    free(second);
}

/* As the maker, and as any other reader, which may refuse it. */
static void read_all(void) {
    struct aggstats_profile profile;
    struct aggstats_shared_facts shared;
    static struct aggstats_named named;
    uint64_t ops;
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    check_profile(&profile);
    aggstats_profile_finish(&profile);
    aggstats_recorder_shared_facts(maker, &shared);
    ck_assert_uint_eq(shared.threads_max, THREADS_MAX);
    aggstats_maker_read_named(maker, &named);
    ck_assert_uint_le(named.count, AGGSTATS_NAMED_MAX);
    aggstats_recorder_shared_in_flight(maker, &ops);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (aggstats_live_read(fd, &profile, NULL, NULL) == 0) {
        check_profile(&profile);
        aggstats_profile_finish(&profile);
    }
}

static void use_for(int seconds) {
    const time_t end = time(NULL) + seconds;
    for (unsigned round = 0; time(NULL) < end; round++) {
        if (round % 5 == 0)
            ck_assert_int_eq(aggstats_recorder_reset(maker), 0);
        read_all();
    }
}

/* ---- What others write ---- */

static uint64_t random_state = 88172645463325252U;

/* Marsaglia's xorshift. */
static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Numbers that sizes, offsets and counts break at. */
static uint64_t random_value(void) {
    switch (random_number() % 6) {
    case 0:
        return random_number() % 256;
    case 1:
        return random_number() % file_bytes;
    case 2:
        return UINT64_MAX - random_number() % 16;
    case 3:
        return UINT64_C(1) << random_number() % 64;
    case 4:
        return 0;
    default:
        return random_number();
    }
}

/* Most of the file is counters, and text: numbers that lead somewhere get their share. */
static size_t random_place(void) {
    const size_t starts[] = {header.shared_offset,
                             header.shared_offset + offsetof(struct live_shared, owners),
                             header.groups_offset,
                             header.groups_offset + offsetof(struct groups_file, mounts),
                             header.groups_offset + offsetof(struct groups_file, objects),
                             header.groups_offset + offsetof(struct groups_file, cells),
                             header.groups_offset + offsetof(struct groups_file, names),
                             header.header_bytes,
                             header.header_bytes + header.block_stride_bytes,
                             0};
    const size_t ranges[] = {256,
                             THREADS_MAX * sizeof(live_owner),
                             offsetof(struct groups_file, mounts),
                             sizeof(struct group_mount) * 8,
                             sizeof(((struct groups_file *)0)->objects),
                             sizeof(((struct groups_file *)0)->cells),
                             65536,
                             4096,
                             4096,
                             file_bytes};
    const size_t which = random_number() % (sizeof(starts) / sizeof(starts[0]));
    return starts[which] + random_number() % ranges[which];
}

__attribute__((no_sanitize("thread"))) static void *write_anything(void *unused) {
    for (unsigned round = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); round++) {
        const uint64_t value = random_value();
        const size_t bytes = random_number() % 2 ? 8 : 4;
        const size_t place = random_place() / bytes * bytes;
        if (place + bytes <= file_bytes)
            memcpy(file + place, &value, bytes);
        if (round % 4096 == 0)
            usleep(1000);
    }
    return unused;
}

/* ---- Tests ---- */

/* check cannot tell a duration of more than 2^31 microseconds. */
static int seconds_wanted(void) {
    const char *wanted = getenv("OSPROF_HOSTILE_SECONDS");
    const int seconds = wanted ? atoi(wanted) : 0;
    return seconds > SECONDS_MAX ? SECONDS_MAX : seconds > 0 ? seconds : SECONDS_DEFAULT;
}

/* Where threads are watched for races it is left out: what is overwritten brings two of them to one place. */
#if defined(__SANITIZE_THREAD__)
#define IS_WATCHED true
#else
#define IS_WATCHED false
#endif

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = SECONDS_MAX + 120);

TEST(whatever_others_write_harms_nobody) {
    pthread_t threads[3];
    if (IS_WATCHED)
        return;
    is_over = false;
    random_state += (uint64_t)time(NULL);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, write_anything, NULL), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, count_on, NULL), 0);
    ck_assert_int_eq(pthread_create(&threads[2], NULL, count_on, NULL), 0);
    use_for(seconds_wanted());
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* Directories that are in each other. */
TEST(parents_in_a_circle_have_an_end) {
    struct groups_file *groups = (struct groups_file *)(void *)(file + header.groups_offset);
    unsigned changed = 0;
    for (unsigned round = 0; round < 100; round++)
        count_some(round);
    for (unsigned object = 1; object < GROUPS_OBJECTS; object++) {
        const uint32_t name = groups->objects[object].name;
        if (name == 0)
            continue;
        memcpy(groups->names + name, &object, sizeof(uint32_t)); /* its own parent */
        changed++;
    }
    ck_assert_uint_gt(changed, 50);
    read_all();
    count_some(1);
}

static double seconds_since(const struct timespec *begin) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* How long the maker takes for a snapshot of the file as it is. */
static double snapshot_seconds(void) {
    struct timespec begin;
    struct aggstats_profile profile;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    check_profile(&profile);
    aggstats_profile_finish(&profile);
    return seconds_since(&begin);
}

/* All files have one name, as long as all names together. Each is looked through. */
TEST(names_of_megabytes_take_no_time) {
    struct groups_file *groups = (struct groups_file *)(void *)(file + header.groups_offset);
    const uint32_t place = 64;
    const uint32_t name[] = {0, GROUPS_NAMES_BYTES - place - sizeof(struct group_name)};
    memset(groups->names, 'a', sizeof(groups->names));
    memcpy(groups->names + place, name, sizeof(name));
    memset(groups->used_blocks, 1, sizeof(groups->used_blocks));
    groups->names_used = GROUPS_NAMES_BYTES;
    for (unsigned object = 1; object < GROUPS_OBJECTS; object++) {
        groups->objects[object] = (struct group_object){.hash = object, .name = place};
        groups->cells[object] =
            (struct group_cell){.key = CELL_IS_USED | (uint64_t)object << CELL_SUBJECT_SHIFT, .calls = 1, .cycles = 1};
    }
    ck_assert_double_lt(snapshot_seconds(), 5);
}

/* What the maker knows of the file is in its own memory. */
TEST(sizes_that_others_change_mean_nothing_to_the_maker) {
    struct live_header *mapped = (struct live_header *)(void *)file;
    struct aggstats_profile profile;
    for (unsigned round = 0; round < 30; round++)
        count_some(round);
    mapped->labels_bytes = mapped->header_bytes = mapped->shared_threads = UINT64_C(0x414141414140);
    mapped->block_stride_bytes = mapped->shared_offset = mapped->groups_offset = mapped->labels_bytes;
    mapped->op_count = mapped->resolution = 0x41414141;
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 10);
    ck_assert(!profile.incomplete);
    aggstats_profile_finish(&profile);
}

/* Counters that no recorder has written are left out, and it is said of how many threads. */
TEST(counters_that_are_impossible_are_left_out_alone) {
    struct aggstats_block *block = (struct aggstats_block *)(void *)(file + header.header_bytes);
    struct aggstats_profile profile;
    struct aggstats_shared_facts shared;
    pid_t child = fork();
    if (child == 0) {
        for (unsigned round = 0; round < 21; round++)
            count_some(round);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    for (unsigned round = 0; round < 9; round++)
        count_some(round);
    memset(block->counters + AGGSTATS_OPS_MAX, 0xff, 4096 - AGGSTATS_OPS_MAX - sizeof(*block)); /* this thread's */
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 7);
    ck_assert(profile.incomplete);
    aggstats_profile_finish(&profile);
    aggstats_recorder_shared_facts(maker, &shared);
    ck_assert_uint_eq(shared.broken_threads, 1);
}

/* A process that has mapped a file which is cut short is killed by SIGBUS. The maker has nothing of it mapped. */
TEST(maker_survives_a_file_that_is_cut_short) {
    struct aggstats_profile profile;
    struct aggstats_shared_facts shared;
    uint64_t ops;
    count_some(0);
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_recorder_reset(maker), 0);
    ck_assert_uint_eq(aggstats_recorder_shared_in_flight(maker, &ops), 0);
    aggstats_recorder_shared_facts(maker, &shared);
    aggstats_maker_note(maker, 0, 1);
    ck_assert_int_ge(aggstats_maker_name(maker, 0, "program"), 0);
}

/* No process of root's counts in a file that another user could cut short under it. */
TEST(file_of_another_user_is_not_joined) {
    struct aggstats_recorder *recorder = NULL;
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chown(path, 65534, (gid_t)-1), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), -EPERM);
    ck_assert_int_eq(chown(path, 0, (gid_t)-1), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), 0);
}
