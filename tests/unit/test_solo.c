/* When one worker is to serve alone: the judge of the calls, and where a thread runs. */
#include "solo.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void call(struct solo_judge *judge, uint32_t caller, int count) {
    for (int i = 0; i < count; i++)
        solo_judge_call(judge, caller, false, false);
}

START_TEST(one_caller_in_a_row_is_enough) {
    struct solo_judge judge = {0};
    call(&judge, 42, 10);
    ck_assert(!solo_judge_is_sure(&judge));
    call(&judge, 42, 40);
    ck_assert(solo_judge_is_sure(&judge));
    ck_assert(!solo_judge_is_wrong(&judge));
}
END_TEST

START_TEST(callers_in_turn_are_never_enough) {
    struct solo_judge judge = {0};
    for (int i = 0; i < 1000; i++) {
        call(&judge, 42, 1);
        call(&judge, 43, 1);
        ck_assert(!solo_judge_is_sure(&judge));
    }
    ck_assert(solo_judge_is_wrong(&judge));
}
END_TEST

START_TEST(processes_one_after_another_are_one_caller) {
    struct solo_judge judge = {0};
    call(&judge, 42, 100);
    for (uint32_t caller = 100; caller < 200; caller++) {
        call(&judge, caller, 20);
        ck_assert(!solo_judge_is_wrong(&judge));
    }
}
END_TEST

START_TEST(slow_calls_end_it) {
    struct solo_judge judge = {0};
    call(&judge, 42, 100);
    solo_judge_call(&judge, 42, false, true);
    ck_assert(!solo_judge_is_wrong(&judge)); /* one is no rule */
    ck_assert(!solo_judge_is_sure(&judge));
    for (int i = 0; i < 20; i++)
        solo_judge_call(&judge, 42, false, true);
    ck_assert(solo_judge_is_wrong(&judge));
}
END_TEST

START_TEST(the_kernels_own_calls_say_nothing) {
    struct solo_judge judge = {0};
    for (int i = 0; i < 100; i++) {
        call(&judge, 42, 1);
        call(&judge, 0, 3);
    }
    ck_assert(solo_judge_is_sure(&judge));
}
END_TEST

static int due_in(struct solo_judge *judge, bool slept, int calls) {
    int due = 0;
    for (int i = 0; i < calls; i++) {
        solo_judge_call(judge, 42, slept, false);
        due += solo_judge_is_due(judge);
    }
    return due;
}

START_TEST(callers_are_looked_for_where_they_may_have_moved) {
    struct solo_judge judge = {0};
    call(&judge, 42, 2);
    ck_assert_int_eq(due_in(&judge, false, 1), 1); /* a new one */
    int while_awake = due_in(&judge, false, 1000);
    ck_assert_int_ge(while_awake, 1);
    ck_assert_int_lt(while_awake, 10);
    ck_assert_int_ge(due_in(&judge, true, 1000), 200); /* it is woken for each: they are apart */
}
END_TEST

START_TEST(cpu_of_a_thread_is_the_one_it_runs_on) {
    cpu_set_t home;
    cpu_set_t one;
    ck_assert_int_eq(pthread_getaffinity_np(pthread_self(), sizeof(home), &home), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &home))
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ck_assert_int_eq(pthread_setaffinity_np(pthread_self(), sizeof(one), &one), 0);
        ck_assert_int_eq(solo_cpu_of((uint32_t)gettid()), cpu);
    }
    pthread_setaffinity_np(pthread_self(), sizeof(home), &home);
    ck_assert_int_eq(solo_cpu_of(UINT32_MAX), -1);
    ck_assert_int_eq(solo_cpu_of(0), -1);
}
END_TEST

static int class_now(void) {
    struct sched_param param;
    int class;
    ck_assert_int_eq(pthread_getschedparam(pthread_self(), &class, &param), 0);
    return class;
}

START_TEST(there_and_home_again) {
    struct solo_home home;
    cpu_set_t now;
    solo_find_home(&home);
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    if (!home.possible)
        return; /* an ordinary user */
    int cpu = 0;
    while (!CPU_ISSET(cpu, &home.cpus))
        cpu++;
    solo_go_idle(pthread_self());
    solo_move(&home, pthread_self(), cpu);
    ck_assert_int_eq(class_now(), SCHED_IDLE);
    ck_assert_int_eq(sched_getcpu(), cpu);
    solo_move(&home, pthread_self(), CPU_SETSIZE - 1); /* none of ours: stays */
    ck_assert_int_eq(sched_getcpu(), cpu);
    solo_go_home(&home, pthread_self());
    ck_assert_int_eq(class_now(), SCHED_OTHER);
    pthread_getaffinity_np(pthread_self(), sizeof(now), &now);
    ck_assert(CPU_EQUAL(&now, &home.cpus));
}
END_TEST

int main(void) {
    TCase *cases = tcase_create("solo");
    tcase_add_test(cases, one_caller_in_a_row_is_enough);
    tcase_add_test(cases, callers_in_turn_are_never_enough);
    tcase_add_test(cases, processes_one_after_another_are_one_caller);
    tcase_add_test(cases, slow_calls_end_it);
    tcase_add_test(cases, the_kernels_own_calls_say_nothing);
    tcase_add_test(cases, callers_are_looked_for_where_they_may_have_moved);
    tcase_add_test(cases, cpu_of_a_thread_is_the_one_it_runs_on);
    tcase_add_test(cases, there_and_home_again);
    Suite *suite = suite_create("solo");
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
