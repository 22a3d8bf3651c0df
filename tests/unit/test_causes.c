/* Causes: reading kernel stacks, reading the table, and the first line that fits. */
#include "causes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "run_suite.h"

static struct causes *parse(const char *text) {
    struct causes *causes = NULL;
    struct causes_error error = {0};
    int err = causes_parse(text, &causes, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    return causes;
}

static const char *find_in(const char *table, const char *stack_text) {
    static char found[CAUSE_SIZE];
    struct kernel_stack stack;
    struct causes *causes = parse(table);
    kernel_stack_parse(stack_text, &stack);
    const char *cause = causes_find(causes, &stack);
    snprintf(found, sizeof(found), "%s", cause ? cause : "(none)");
    causes_free(causes);
    return found;
}

START_TEST(stacks_are_read) {
    struct kernel_stack stack;
    kernel_stack_parse("[<0>] jbd2_log_wait_commit+0xcd/0x140 [jbd2]\n"
                       "[<0>] ext4_sync_file.isra.0+0x1/0x2\n[<0>] 0xffffffff\n",
                       &stack);
    ck_assert_uint_eq(stack.count, 3);
    ck_assert_str_eq(stack.functions[0], "jbd2_log_wait_commit");
    ck_assert_str_eq(stack.functions[1], "ext4_sync_file");
    kernel_stack_parse("do_sigtimedwait.isra.0", &stack); /* as wchan has it */
    ck_assert_uint_eq(stack.count, 1);
    ck_assert_str_eq(stack.functions[0], "do_sigtimedwait");
    kernel_stack_parse("0", &stack);
    ck_assert_uint_eq(stack.count, 0);
    ck_assert_ptr_null(kernel_stack_place(&stack));
}
END_TEST

START_TEST(long_stacks_are_cut) {
    char text[CAUSE_FUNCTIONS_MAX * 2 * 100] = "";
    struct kernel_stack stack;
    for (int i = 0; i < 2 * CAUSE_FUNCTIONS_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "[<0>] %080d_name+0x1/0x2\n", i);
    kernel_stack_parse(text, &stack);
    ck_assert_uint_eq(stack.count, CAUSE_FUNCTIONS_MAX);
    ck_assert_uint_eq(strlen(stack.functions[0]), CAUSE_FUNCTION_SIZE - 1);
}
END_TEST

START_TEST(first_that_fits) {
    const char *table = "# a comment\n\nspecial: inner < outer\n  general :  inner\nother: in?er_* < main\n";
    ck_assert_str_eq(find_in(table, "inner+0x1\nbetween+0x1\nouter+0x2\n"), "special");
    ck_assert_str_eq(find_in(table, "outer+0x1\ninner+0x2\n"), "general"); /* the other way round */
    ck_assert_str_eq(find_in(table, "inner_part+0x1\nmain+0x2\n"), "other");
    ck_assert_str_eq(find_in(table, "inner_part+0x1\n"), "(none)");
    ck_assert_str_eq(find_in(table, ""), "(none)");
    ck_assert_str_eq(find_in("", "inner"), "(none)");
}
END_TEST

START_TEST(place_without_a_cause) {
    struct kernel_stack stack;
    kernel_stack_parse("io_schedule+0x1\nfolio_wait_bit_common+0x2\nsome_function+0x3\nvfs_read+0x4\n", &stack);
    ck_assert_str_eq(kernel_stack_place(&stack), "some_function");
    kernel_stack_parse("schedule+0x1\nschedule_timeout+0x2\n", &stack);
    ck_assert_str_eq(kernel_stack_place(&stack), "schedule_timeout");
}
END_TEST

static void expect_error(const char *text, size_t line, const char *message) {
    struct causes *causes = NULL;
    struct causes_error error = {0};
    ck_assert_int_eq(causes_parse(text, &causes, &error), -EBADMSG);
    ck_assert_ptr_null(causes);
    ck_assert_uint_eq(error.line, line);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

START_TEST(wrong_lines) {
    char text[300];
    expect_error("words\n", 1, "no colon");
    expect_error("# comment\n\n: function\n", 3, "before the colon");
    expect_error("words:\n", 1, "behind the colon");
    expect_error("words: a <\n", 1, "on each side");
    expect_error("words: a b\n", 1, "< between");
    expect_error("words: a < a < a < a < a < a < a < a < a\n", 1, "at most 8");
    expect_error("a\033b: function\n", 1, "control characters");
    snprintf(text, sizeof(text), "%096d: function\n", 0);
    expect_error(text, 1, "95 characters");
    snprintf(text, sizeof(text), "words: %064d\n", 0);
    expect_error(text, 1, "63 characters");
}
END_TEST

/* Of the table that comes with osproffs: stacks as kernels have shown them. */
START_TEST(real_stacks) {
    static const struct {
        const char *stack;
        const char *cause;
    } rows[] = {
        {"percpu_rwsem_wait\nmnt_want_write\npath_openat\ndo_filp_open\n", "waiting for a frozen file system"},
        {"jbd2_log_wait_commit\next4_sync_file\ndo_fsync\n", "waiting for the ext4 journal to commit"},
        {"fcntl_setlk\n", "waiting for a lock of a file that another holds (fcntl)"},
        {"__x64_sys_flock\n", "waiting for a lock of a file that another holds (flock)"},
        {"rwsem_down_write_slowpath\ndown_write\npath_openat\ndo_filp_open\n", "waiting for a lock of a directory"},
        {"rwsem_down_write_slowpath\next4_buffered_write_iter\nvfs_write\n", "waiting for a lock of a file"},
        {"folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\nvfs_read\n", "reading from the disk"},
        {"request_wait_answer\n__fuse_simple_request\nfuse_lookup_name\n", "waiting for another FUSE daemon"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        ck_assert_str_eq(find_in(causes_text, rows[i].stack), rows[i].cause);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("causes");
    TCase *tcase = suite_case(suite, "causes", NULL, NULL);
    tcase_add_test(tcase, stacks_are_read);
    tcase_add_test(tcase, long_stacks_are_cut);
    tcase_add_test(tcase, first_that_fits);
    tcase_add_test(tcase, place_without_a_cause);
    tcase_add_test(tcase, wrong_lines);
    tcase_add_test(tcase, real_stacks);
    return run_suite(suite);
}
