/* Which processes osprof why -a --pid looks at: children, and numbers that the kernel may give to others. */
#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "run_suite.h"
#include "wait_processes.h"

static struct wait_processes processes;

static pid_t begin_child(void) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        for (;;)
            pause();
    return child;
}

static void end_child(pid_t child) {
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static void look_at(pid_t process) {
    const struct attach_processes asked = {.numbers = {(uint32_t)process}, .count = 1};
    ck_assert_int_eq(wait_processes_init(&processes, &asked), 0);
}

static bool has(pid_t process, pid_t parent) {
    const struct waited_cell cell = {.process = (uint32_t)process, .parent = (uint32_t)parent};
    return wait_processes_have(&processes, &cell);
}

static void tear_down(void) {
    wait_processes_finish(&processes);
}

START_TEST(without_any_all_are_looked_at) {
    const struct attach_processes nobody = {.count = 0};
    ck_assert_int_eq(wait_processes_init(&processes, &nobody), 0);
    ck_assert(has(4711, 1));
}
END_TEST

START_TEST(children_of_children_are_looked_at_and_others_are_not) {
    look_at(getpid());
    ck_assert(has(getpid(), 1));
    ck_assert(!has(4711, 4710));
    ck_assert(has(4711, getpid()));
    ck_assert(has(4712, 4711));
}
END_TEST

START_TEST(the_number_of_a_child_that_has_ended_is_forgotten) {
    pid_t ends = begin_child();
    pid_t stays = begin_child();
    look_at(getpid());
    ck_assert(has(ends, getpid()) && has(stays, getpid()));
    end_child(ends);
    wait_processes_mark_ended(&processes);
    ck_assert(has(ends, 1)); /* what was counted before */
    ck_assert(has(4712, ends));
    wait_processes_forget_ended(&processes);
    ck_assert(!has(ends, 1));
    ck_assert(has(stays, 1));
    end_child(stays);
}
END_TEST

START_TEST(when_the_only_one_has_ended_nobody_is_looked_at) {
    pid_t child = begin_child();
    look_at(child);
    end_child(child);
    wait_processes_mark_ended(&processes);
    wait_processes_forget_ended(&processes);
    ck_assert(!has(child, 1));
    ck_assert(!has(4711, 1));
}
END_TEST

START_TEST(a_number_that_another_process_has_by_now_is_forgotten) {
    pid_t child = begin_child();
    look_at(getpid());
    ck_assert_int_eq(number_map_set(&processes.some, (uint64_t)child, 2), 0); /* began when the machine did */
    wait_processes_mark_ended(&processes);
    wait_processes_forget_ended(&processes);
    ck_assert(!has(child, 1));
    ck_assert(has(getpid(), 1));
    end_child(child);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("wait_processes");
    TCase *looked_at = suite_case(suite, "looked_at", NULL, tear_down);
    tcase_add_test(looked_at, without_any_all_are_looked_at);
    tcase_add_test(looked_at, children_of_children_are_looked_at_and_others_are_not);
    tcase_add_test(looked_at, the_number_of_a_child_that_has_ended_is_forgotten);
    tcase_add_test(looked_at, when_the_only_one_has_ended_nobody_is_looked_at);
    tcase_add_test(looked_at, a_number_that_another_process_has_by_now_is_forgotten);
    return run_suite(suite);
}
