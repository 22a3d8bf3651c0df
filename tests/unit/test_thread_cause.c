/* What a thread waits for that somebody else has looked at. */
#include "thread_cause.h"

#include <string.h>

#include "base.h"
#include "testing.h"

#define MS INT64_C(1000000)
static const struct kernel_stack no_stack;
static const struct kernel_stack flock_stack = {.functions = {"locks_lock_inode_wait", "__do_sys_flock"}, .count = 2};
static const struct kernel_stack ioctl_stack = {.functions = {"some_driver_ioctl"}, .count = 1};
#define FLOCK_CAUSE "waiting for a lock of a file that another holds (flock)"
#define NO_CPU "waiting for a CPU (runqueue latency)"

static struct thread_causes causes;

static void set_up(void) {
    char why[THREAD_CAUSES_WHY_SIZE];
    ck_assert_int_eq(thread_causes_init(&causes, NULL, why), 0);
}

static void tear_down(void) {
    thread_causes_finish(&causes);
}

static const char *name(const struct thread_seen *seen, uint64_t memory[2]) {
    static struct thread_reading reading;
    thread_read_seen(&causes, seen, memory, &reading);
    return reading.why.words;
}

/* At the first look. */
static const struct {
    struct thread_seen seen;
    const char *cause;
} first_looks[] = {
    {{.stack = &flock_stack, .type = ""}, FLOCK_CAUSE},
    {{.stack = &ioctl_stack, .type = ""}, "waiting in the kernel function some_driver_ioctl"},
    {{.stack = &no_stack, .type = ""}, "(where it waits cannot be seen)"},
    {{.can_run = true, .has_cpu = true, .stack = &no_stack, .type = ""}, "running"},
    {{.can_run = true, .stack = &no_stack, .type = ""}, NO_CPU},
};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(first_look_is_of_that_moment, .to = ARRAY_SIZE(first_looks)) {
    uint64_t memory[2] = {0, 0};
    struct thread_seen seen = first_looks[_i].seen;
    seen.time_ns = 1000 * MS;
    ck_assert_str_eq(name(&seen, memory), first_looks[_i].cause);
}

/* Between two looks 100 ms apart. */
static const struct {
    bool can_run;
    int64_t ran_ms;
    int64_t queued_ms;
    const char *cause;
} later_looks[] = {
    {false, 0, 0, FLOCK_CAUSE}, {true, 0, 0, FLOCK_CAUSE},   {false, 30, 60, NO_CPU},
    {true, 90, 0, "running"},   {false, 90, 0, FLOCK_CAUSE},
};

TEST(later_looks_are_of_the_time_between, .to = ARRAY_SIZE(later_looks)) {
    uint64_t memory[2] = {0, 0};
    struct thread_seen seen = {.time_ns = 1000 * MS, .stack = &flock_stack, .type = ""};
    name(&seen, memory);
    seen.time_ns += 100 * MS;
    seen.can_run = later_looks[_i].can_run;
    seen.ran_ns = (uint64_t)(later_looks[_i].ran_ms * MS);
    seen.queued_ns = (uint64_t)(later_looks[_i].queued_ms * MS);
    ck_assert_str_eq(name(&seen, memory), later_looks[_i].cause);
}

/* Rows of the user's, and the class that the flock of another has then. */
static const struct {
    const char *row;
    enum aggstats_cause_class kind;
    const char *id;
} own_rows[] = {
    {"waiting for * journal: *_sys_flock", AGGSTATS_CAUSE_FLOCK, ""},
    {"- idle: *_sys_flock", AGGSTATS_CAUSE_FLOCK, ""},
    {"mine lock: reading from the disk: *_sys_flock", AGGSTATS_CAUSE_LOCK, "mine"},
    {"disk disk: waiting for a lock of a file that another holds (flock): *_sys_flock", AGGSTATS_CAUSE_DISK, "disk"},
    {"reading from the disk: something_else", AGGSTATS_CAUSE_FLOCK, "flock"},
};

TEST(words_of_ones_own_are_only_words, .to = ARRAY_SIZE(own_rows)) {
    struct causes_error error;
    struct thread_causes with = {.known = causes.known};
    ck_assert_int_eq(causes_parse(own_rows[_i].row, &with.own, &error), 0);
    const struct cause found = thread_causes_find(&with, &flock_stack, "");
    ck_assert_int_eq(found.why.kind, own_rows[_i].kind);
    ck_assert_str_eq(found.why.id, own_rows[_i].id);
    causes_free(with.own);
}

TEST(rows_of_ones_own_that_nothing_else_fits_are_of_no_class) {
    struct causes_error error;
    struct thread_causes with = {.known = causes.known};
    ck_assert_int_eq(causes_parse("waiting for the disk: some_*\n- idle: other_*", &with.own, &error), 0);
    ck_assert_int_eq(thread_causes_find(&with, &ioctl_stack, "").why.kind, AGGSTATS_CAUSE_OTHER);
    const struct kernel_stack other = {.functions = {"other_ioctl"}, .count = 1};
    ck_assert_int_eq(thread_causes_find(&with, &other, "").why.kind, AGGSTATS_CAUSE_WORK);
    causes_free(with.own);
}

/* The text of a stack is for people. */
TEST(a_stack_is_data_beside_its_text) {
    struct thread_seen seen = {.stack = &ioctl_stack, .type = ""};
    struct thread_reading reading;
    struct aggstats_wait wait;
    uint64_t memory[2] = {0, 0};
    thread_read_seen(&causes, &seen, memory, &reading);
    ck_assert_int_eq(reading.why.kind, AGGSTATS_CAUSE_FUNCTION);
    ck_assert_str_eq(reading.why.id, "some_driver_ioctl");
    seen.stack = &flock_stack;
    memory[0] = 0;
    thread_read_seen(&causes, &seen, memory, &reading);
    thread_reading_wait(&reading, &wait);
    ck_assert_str_eq(wait.stack, "locks_lock_inode_wait < __do_sys_flock");
    ck_assert_uint_eq(reading.stack.count, 2);
}
