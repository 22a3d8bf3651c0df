/* Reading without waiting: the text from the child, and the end of the child. */
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "control_reader.h"
#include "testing.h"

static char directory[64];
static char path[96];
static struct control_reader reader;

static void set_up(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-reader-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/profile", directory);
}

static void tear_down(void) {
    control_reader_finish(&reader);
    unlink(path);
    rmdir(directory);
}

/* A profile whose text is longer than a pipe holds. */
static void write_profile(void) {
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs("# osprof 1\n# mount: /", stream);
    for (int i = 0; i < 200000; i++)
        putc('m', stream);
    fputs("\nOP_READ 3 5000\n 0 0 0 0 0 0 0 0 0 0 3\n", stream);
    ck_assert_int_eq(fclose(stream), 0);
}

static int collect(struct aggstats_profile *ret_profile) {
    int error = -EAGAIN;
    for (int i = 0; i < 1000 && error == -EAGAIN; i++) {
        control_reader_wait(&reader, 60000000000);
        error = control_reader_collect(&reader, ret_profile);
    }
    return error;
}

static void assert_no_child(void) {
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(a_profile_is_brought_whole) {
    struct aggstats_profile profile;
    write_profile();
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(collect(&profile), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 3);
    ck_assert_uint_eq(strlen(aggstats_profile_label(&profile, "mount")), 200001);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(reader.pid, 0);
    assert_no_child();
}

TEST(who_is_at_it_is_not_begun_again) {
    struct aggstats_profile profile;
    write_profile();
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    pid_t first = reader.pid;
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(reader.pid, first);
    ck_assert_int_eq(collect(&profile), 0);
    aggstats_profile_finish(&profile);
    assert_no_child();
}

TEST(what_cannot_be_read_is_told) {
    struct aggstats_profile profile;
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(collect(&profile), -ENOENT);
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* opening one could take for ever */
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(collect(&profile), -ENOENT);
    assert_no_child();
}

TEST(what_is_no_profile_is_told, .to = 2) {
    static const char *const texts[] = {"OP_READ what\n", ""};
    struct aggstats_profile profile;
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(texts[_i], stream);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(collect(&profile), -EBADMSG);
    assert_no_child();
}

TEST(a_child_that_was_killed_has_brought_nothing) {
    struct aggstats_profile profile;
    write_profile(); /* it cannot have ended: the pipe does not hold all */
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    ck_assert_int_eq(kill(reader.pid, SIGKILL), 0);
    ck_assert_int_eq(collect(&profile), -EIO);
    assert_no_child();
}

TEST(nothing_is_waited_for_at_the_end) {
    write_profile();
    ck_assert_int_eq(control_reader_begin(&reader, path), 0);
    pid_t child = reader.pid;
    kill(child, SIGSTOP);
    control_reader_finish(&reader);
    ck_assert_int_eq(reader.pid, 0);
    waitpid(child, NULL, 0); /* it has been killed */
    assert_no_child();
    control_reader_wait(&reader, 60000000000);
    ck_assert_int_eq(control_reader_collect(&reader, NULL), -EAGAIN);
}
