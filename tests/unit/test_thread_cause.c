/* What a thread waits for that somebody else has looked at. */
#include "thread_cause.h"

#include <string.h>

#include "base.h"
#include "run_suite.h"

#define MS INT64_C(1000000)
#define FLOCK_STACK "locks_lock_inode_wait+0x1/0x2\n__do_sys_flock+0x1/0x2\n"
#define FLOCK_CAUSE "waiting for a lock of a file that another holds (flock)"
#define NO_CPU "ready to run, but without a CPU"

static struct thread_causes causes;

static void set_up(void) {
    char why[THREAD_CAUSES_WHY_SIZE];
    ck_assert_int_eq(thread_causes_init(&causes, NULL, why), 0);
}

static void tear_down(void) {
    thread_causes_finish(&causes);
}

static const char *name(const struct thread_seen *seen, uint64_t memory[2]) {
    static struct aggstats_wait wait;
    wait = (struct aggstats_wait){.cause = ""};
    thread_cause_seen(&causes, seen, memory, &wait);
    return wait.cause;
}

/* At the first look. */
static const struct {
    struct thread_seen seen;
    const char *cause;
} first_looks[] = {
    {{.stack = FLOCK_STACK, .type = ""}, FLOCK_CAUSE},
    {{.stack = "some_driver_ioctl+0x1/0x2\n", .type = ""}, "waiting in the kernel function some_driver_ioctl"},
    {{.stack = "", .type = ""}, "(where it waits cannot be seen)"},
    {{.can_run = true, .has_cpu = true, .stack = "", .type = ""}, "running"},
    {{.can_run = true, .stack = "", .type = ""}, NO_CPU},
};

START_TEST(first_look_is_of_that_moment) {
    uint64_t memory[2] = {0, 0};
    struct thread_seen seen = first_looks[_i].seen;
    seen.time_ns = 1000 * MS;
    ck_assert_str_eq(name(&seen, memory), first_looks[_i].cause);
}
END_TEST

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

START_TEST(later_looks_are_of_the_time_between) {
    uint64_t memory[2] = {0, 0};
    struct thread_seen seen = {.time_ns = 1000 * MS, .stack = FLOCK_STACK, .type = ""};
    name(&seen, memory);
    seen.time_ns += 100 * MS;
    seen.can_run = later_looks[_i].can_run;
    seen.ran_ns = (uint64_t)(later_looks[_i].ran_ms * MS);
    seen.queued_ns = (uint64_t)(later_looks[_i].queued_ms * MS);
    ck_assert_str_eq(name(&seen, memory), later_looks[_i].cause);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("thread_cause");
    TCase *tcase = suite_case(suite, "seen", set_up, tear_down);
    tcase_add_loop_test(tcase, first_look_is_of_that_moment, 0, ARRAY_SIZE(first_looks));
    tcase_add_loop_test(tcase, later_looks_are_of_the_time_between, 0, ARRAY_SIZE(later_looks));
    return run_suite(suite);
}
