/* Replays of recordings made of text, in private directories: what is done, in which order, and what never is. */
#include "replay.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base.h"
#include "events_script.h"
#include "run_suite.h"

#define MIB (UINT64_C(1) << 20)

static char outer[] = "/tmp/osprof-replay-XXXXXX"; /* holds the directory, and "secret" beside it */
static char place[64];
static struct events_writer writer;
static struct events_file *file;
static struct replay *replay;
static const struct replay_report *report;
static volatile sig_atomic_t is_stopped;
static struct replay_options options;

static void set_up(void) {
    memset(outer + strlen(outer) - 6, 'X', 6);
    ck_assert_ptr_nonnull(mkdtemp(outer));
    snprintf(place, sizeof(place), "%s/dir", outer);
    ck_assert_int_eq(mkdir(place, 0755), 0);
    char secret[64];
    snprintf(secret, sizeof(secret), "%s/secret", outer);
    ck_assert_int_eq(mkdir(secret, 0755), 0);
    writer = (struct events_writer){0};
    file = NULL;
    replay = NULL;
    is_stopped = 0;
    options = (struct replay_options){.is_fast = true, .max_bytes = 64 * MIB};
}

static void tear_down(void) {
    char command[128];
    replay_destroy(replay);
    events_close(file);
    ck_assert_int_eq(events_writer_finish(&writer), 0);
    snprintf(command, sizeof(command), "rm -rf %s", outer);
    ck_assert_int_eq(system(command), 0);
}

static void run(const char *script) {
    char complaint[EVENTS_COMPLAINT_SIZE];
    FILE *input = fmemopen((void *)(uintptr_t)script, strlen(script), "r");
    events_script_read(input, &writer);
    fclose(input);
    ck_assert_int_eq(events_open(writer.bytes, writer.size_bytes, &file, complaint), 0);
    ck_assert_int_eq(replay_create(file, &replay), 0);
    CLEANUP_FD int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(replay_run(replay, fd, &options, &is_stopped), 0);
    report = replay_report_of(replay);
}

static const struct replay_count *count_of(const char *op) {
    for (size_t i = 0; i < report->count_count; i++)
        if (strcmp(report->counts[i].name, op) == 0)
            return &report->counts[i];
    ck_abort_msg("no %s", op);
}

static uint64_t refused(const char *op, enum replay_reason reason) {
    return count_of(op)->not_done[reason];
}

/* All calls were done, and came out as recorded. */
static void assert_all_done(void) {
    for (size_t i = 0; i < report->count_count; i++) {
        const struct replay_count *count = &report->counts[i];
        ck_assert_msg(count->done == count->recorded, "%s: %d of %d done", count->name, (int)count->done,
                      (int)count->recorded);
        ck_assert_msg(count->other_error + count->other_result == 0, "%s: %d came out otherwise", count->name,
                      (int)(count->other_error + count->other_result));
    }
}

static struct stat stat_of(const char *name) {
    char path[512];
    struct stat attr;
    snprintf(path, sizeof(path), "%s/%s", place, name);
    ck_assert_msg(lstat(path, &attr) == 0, "%s is not there", name);
    return attr;
}

static bool is_there(const char *name) {
    char path[512];
    struct stat attr;
    snprintf(path, sizeof(path), "%s/%s", place, name);
    return lstat(path, &attr) == 0;
}

/* Nothing has come to be beside the directory, or in what is beside it. */
static void assert_nothing_outside(void) {
    char path[128];
    unsigned count = 0;
    snprintf(path, sizeof(path), "%s/secret", outer);
    ck_assert_int_eq(rmdir(path), 0); /* only if it is empty */
    DIR *directory = opendir(outer);
    while (readdir(directory))
        count++;
    closedir(directory);
    ck_assert_uint_eq(count, 3); /* ".", ".." and the directory */
}

/* ---- What is done ---- */

START_TEST(what_was_there_before_is_made_first) {
    run("path 3 /src/deep/a.c\n"
        "call 1 0 1 OPEN 3 file=7 flags=0\n"
        "call 1 10 1 READ 3 file=7 size=65536 offset=0 result=65536\n"
        "call 1 20 1 READ 3 file=7 size=65536 offset=65536 result=1000\n"
        "call 1 30 1 RELEASE 3 file=7\n"
        "call 1 40 1 LOOKUP 1 entry=9 name=other\n"
        "call 1 50 1 OPENDIR 9 file=8\n"
        "call 1 60 1 READLINK 12 size=100\n"
        "path 12 /link\n"
        "call 1 70 1 UNLINK 1 name=old\n");
    assert_all_done();
    ck_assert_int_eq(stat_of("src/deep/a.c").st_size, 66536);
    ck_assert_int_ge(stat_of("src/deep/a.c").st_blocks * 512, 66536); /* no hole */
    ck_assert(S_ISDIR(stat_of("other").st_mode));
    ck_assert(S_ISLNK(stat_of("link").st_mode));
    ck_assert(!is_there("old"));
}
END_TEST

START_TEST(what_is_made_later_was_not_there_before) {
    run("call 1 0 1 LOOKUP 1 errno=2 name=a\n"
        "call 1 10 1 CREATE 1 file=7 entry=3 mode=0640 flags=0x42 name=a\n"
        "call 1 20 1 WRITE 3 file=7 size=3000000 offset=0 result=3000000\n"
        "call 1 30 1 RELEASE 3 file=7\n"
        "call 1 40 1 MKDIR 1 entry=4 mode=0750 name=b\n"
        "call 1 50 1 SYMLINK 4 entry=5 name=c target=x\n"
        "call 1 60 1 LINK 3 entry=3 parent=4 new_name=d\n"
        "call 1 70 1 RENAME2 4 parent=1 name=d new_name=e\n"
        "call 1 80 1 SETATTR 3 which=8 size=1000\n"
        "call 1 90 1 OPEN 3 file=9 flags=2\n"
        "call 1 91 1 COPY_FILE_RANGE 3 file=9 size=1000 offset=0 result=1000 out_node=3 out_file=9 out_offset=1000\n");
    assert_all_done();
    ck_assert_uint_eq(report->made_files, 0);
    ck_assert_int_eq(stat_of("a").st_size, 2000);
    ck_assert_uint_eq(stat_of("a").st_nlink, 2);
    ck_assert_uint_eq(stat_of("a").st_ino, stat_of("e").st_ino);
    ck_assert_uint_eq(stat_of("a").st_mode & 07777, 0640);
    ck_assert_int_eq(stat_of("b/c").st_size, 1);
}
END_TEST

START_TEST(nodes_are_found_after_their_directory_was_renamed) {
    run("call 1 0 1 MKDIR 1 entry=2 mode=0755 name=a\n"
        "call 1 10 1 CREATE 2 file=7 entry=3 mode=0644 flags=0x41 name=f\n"
        "call 1 20 1 RELEASE 3 file=7\n"
        "call 1 30 1 RENAME2 1 parent=1 name=a new_name=b\n"
        "call 1 40 1 GETATTR 3\n"
        "call 1 50 1 UNLINK 2 name=f\n"
        "call 1 60 1 RMDIR 1 name=b\n");
    assert_all_done();
    ck_assert(!is_there("b"));
}
END_TEST

/* As fast as possible, and each file is used by another thread than made it. */
START_TEST(operations_wait_for_what_made_or_renamed_their_file) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    for (unsigned i = 0; i < 200; i++) {
        unsigned us = 100 * i;
        fprintf(stream, "call 1 %u 1 CREATE 1 file=%u entry=%u mode=0644 flags=0x41 name=f%u\n", us, 1000 + i, 10 + i,
                i);
        fprintf(stream, "call 1 %u 1 WRITE %u file=%u size=100000 offset=0 result=100000\n", us + 10, 10 + i, 1000 + i);
        fprintf(stream, "call 1 %u 1 RENAME2 1 parent=1 name=f%u new_name=g%u\n", us + 20, i, i);
        fprintf(stream, "call 2 %u 1 LOOKUP 1 entry=%u name=g%u\n", us + 30, 10 + i, i);
        fprintf(stream, "call 2 %u 1 OPEN %u file=%u flags=0\n", us + 40, 10 + i, 2000 + i);
        fprintf(stream, "call 3 %u 1 READ %u file=%u size=131072 offset=0 result=100000\n", us + 50, 10 + i, 2000 + i);
        fprintf(stream, "call 4 %u 1 UNLINK 1 name=g%u\n", us + 60, i);
        fprintf(stream, "call 2 %u 1 RELEASE %u file=%u\n", us + 70, 10 + i, 2000 + i);
        fprintf(stream, "call 1 %u 1 RELEASE %u file=%u\n", us + 80, 10 + i, 1000 + i);
        fprintf(stream, "call 5 %u 1 LOOKUP 1 errno=2 name=g%u\n", us + 90, i);
    }
    fclose(stream);
    run(script);
    free(script);
    assert_all_done();
    ck_assert_uint_eq(report->thread_count, 5);
    ck_assert_uint_eq(count_of("READ")->done, 200);
}
END_TEST

START_TEST(recorded_gaps_are_kept) {
    options.is_fast = false;
    run("call 1 0 1 LOOKUP 1 errno=2 name=a\n"
        "call 2 50000 1 LOOKUP 1 errno=2 name=b\n"
        "call 1 100000 1 LOOKUP 1 errno=2 name=c\n");
    assert_all_done();
    ck_assert_int_ge(report->replayed_ns, 100000000);
    ck_assert_int_ge(report->late_ns[0], 0);
    ck_assert_int_lt(report->late_ns[0], 40000000);
}
END_TEST

START_TEST(threads_that_were_never_there_at_once_share_one) {
    run("call 1 0 1 LOOKUP 1 errno=2 name=a\n"
        "call 2 10 1 LOOKUP 1 errno=2 name=a\n"
        "call 3 20 1 LOOKUP 1 errno=2 name=a\n"
        "call 2 30 1 LOOKUP 1 errno=2 name=a\n");
    ck_assert_uint_eq(report->recorded_thread_count, 3);
    ck_assert_uint_eq(report->thread_count, 2);
}
END_TEST

START_TEST(what_differs_is_told) {
    run("call 1 0 1 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=a\n"
        "call 1 10 1 WRITE 3 file=7 size=100 offset=0 result=50\n"
        "call 1 20 1 LOOKUP 1 errno=13 name=a\n");
    ck_assert_uint_eq(count_of("WRITE")->other_result, 1);
    ck_assert_uint_eq(count_of("LOOKUP")->other_error, 1);
    ck_assert_uint_eq(report->difference_count, 1);
    ck_assert_uint_eq(report->differences[0].recorded_error, EACCES);
    ck_assert_uint_eq(report->differences[0].error, 0);
}
END_TEST

START_TEST(profiles_have_the_calls_of_both) {
    struct aggstats_profile recorded = {0};
    struct aggstats_profile replayed = {0};
    run("call 1 0 30 LOOKUP 1 errno=2 name=a\n"
        "call 1 100 30 LOOKUP 1 errno=2 name=..\n"
        "call 1 200 30 GETATTR 1\n");
    ck_assert_int_eq(replay_recorded_profile(replay, &recorded), 0);
    ck_assert_int_eq(replay_replayed_profile(replay, &replayed), 0);
    ck_assert_uint_eq(aggstats_profile_op(&recorded, "LOOKUP")->calls, 2);
    ck_assert_uint_eq(aggstats_profile_op(&recorded, "LOOKUP")->total_cycles, 60000);
    ck_assert_uint_eq(aggstats_profile_op(&replayed, "LOOKUP")->calls, 1);
    ck_assert_uint_eq(aggstats_profile_op(&replayed, "GETATTR")->calls, 1);
    ck_assert_uint_gt(aggstats_profile_op(&replayed, "LOOKUP")->total_cycles, 0);
    aggstats_profile_finish(&recorded);
    aggstats_profile_finish(&replayed);
}
END_TEST

START_TEST(a_stopped_replay_ends) {
    is_stopped = 1;
    options.is_fast = false;
    run("call 1 0 1 LOOKUP 1 errno=2 name=a\n"
        "call 1 3600000000 1 LOOKUP 1 errno=2 name=b\n");
    ck_assert_uint_eq(refused("LOOKUP", REPLAY_STOPPED), 2);
}
END_TEST

/* ---- What never is ---- */

START_TEST(names_of_several_components_are_refused) {
    run("call 1 0 1 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=../a\n"
        "call 1 10 1 MKDIR 1 entry=4 mode=0755 name=..\n"
        "call 1 20 1 MKDIR 1 entry=5 mode=0755 name=.\n"
        "call 1 30 1 MKDIR 1 entry=6 mode=0755 name=a/b\n"
        "call 1 40 1 RENAME2 1 parent=1 name=x new_name=../../y\n"
        "call 1 50 1 LINK 3 entry=3 parent=1 new_name=/tmp/z\n"
        "call 1 60 1 SYMLINK 1 entry=8 name=%2e%2e target=x\n"
        "path 9 /../secret/q\n"
        "call 1 70 1 OPEN 9 file=8 flags=2\n"
        "call 1 80 1 SETATTR 9 which=8 size=0\n");
    ck_assert_uint_eq(refused("CREATE", REPLAY_BAD_NAME), 1);
    ck_assert_uint_eq(refused("MKDIR", REPLAY_BAD_NAME), 3);
    ck_assert_uint_eq(refused("RENAME2", REPLAY_BAD_NAME), 1);
    ck_assert_uint_eq(refused("LINK", REPLAY_BAD_NAME), 1);
    ck_assert_uint_eq(refused("SYMLINK", REPLAY_BAD_NAME), 1);
    ck_assert_uint_eq(refused("OPEN", REPLAY_NO_PLACE), 1);
    assert_nothing_outside();
}
END_TEST

START_TEST(links_that_could_lead_out_get_another_target) {
    run("call 1 0 1 SYMLINK 1 entry=3 name=a target=/etc/passwd\n"
        "call 1 10 1 SYMLINK 1 entry=4 name=b target=x/../../secret\n"
        "call 1 20 1 SYMLINK 1 entry=5 name=c target=..\n"
        "call 1 30 1 SYMLINK 1 entry=6 name=d target=x/..y\n");
    char target[64] = "";
    char path[128];
    static const char *const changed[] = {"a", "b", "c"};
    for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
        snprintf(path, sizeof(path), "%s/%s", place, changed[i]);
        memset(target, 0, sizeof(target));
        ssize_t length = readlink(path, target, sizeof(target));
        ck_assert_int_gt(length, 0);
        ck_assert_uint_eq(strspn(target, "-"), (size_t)length);
    }
    ck_assert_int_eq(stat_of("a").st_size, 11);
    ck_assert_int_eq(stat_of("d").st_size, 5);
    ck_assert_uint_eq(report->replaced_targets, 3);
}
END_TEST

START_TEST(links_in_the_directory_are_not_followed) {
    char path[128];
    char target[128];
    snprintf(path, sizeof(path), "%s/out", place);
    snprintf(target, sizeof(target), "%s/secret", outer);
    ck_assert_int_eq(symlink(target, path), 0);
    options.is_existing = true;
    run("call 1 0 1 LOOKUP 1 entry=3 name=out\n"
        "call 1 10 1 CREATE 3 file=7 entry=4 mode=0644 flags=0x42 name=a\n"
        "call 1 20 1 MKDIR 3 entry=5 mode=0755 name=b\n"
        "call 1 30 1 OPENDIR 3 file=8\n"
        "call 1 40 1 SETATTR 3 which=1 mode=0777\n");
    ck_assert_uint_eq(refused("CREATE", REPLAY_NO_PLACE), 1);
    ck_assert_uint_eq(refused("MKDIR", REPLAY_NO_PLACE), 1);
    ck_assert_uint_eq(count_of("OPENDIR")->done, 0);
    struct stat attr;
    ck_assert_int_eq(stat(target, &attr), 0);
    ck_assert_uint_eq(attr.st_mode & 07777, 0755);
    assert_nothing_outside();
}
END_TEST

static uint64_t blocks_bytes(void) {
    char command[128];
    unsigned long long kib = 0;
    snprintf(command, sizeof(command), "du -sk %s", place);
    FILE *stream = popen(command, "re");
    ck_assert_int_eq(fscanf(stream, "%llu", &kib), 1);
    pclose(stream);
    return kib * 1024;
}

START_TEST(the_disk_is_not_filled) {
    options.max_bytes = MIB;
    run("call 1 0 1 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=a\n"
        "call 1 10 1 WRITE 3 file=7 size=4096 offset=0x7fffffffffffffff result=4096\n"
        "call 1 20 1 WRITE 3 file=7 size=0xffffffffffffffff offset=0 result=1\n"
        "call 1 30 1 WRITE 3 file=7 size=4096 offset=0x100000000000 result=4096\n"
        "call 1 40 1 FALLOCATE 3 file=7 size=0x4000000000 offset=0 mode=0\n"
        "call 1 50 1 SETATTR 3 which=8 size=0x4000000000000000\n"
        "call 1 60 1 READ 3 file=7 size=0x4000000000 offset=0 result=0x4000000000\n"
        "call 1 70 1 WRITE 3 file=7 size=900000 offset=0 result=900000\n"
        "call 1 80 1 WRITE 3 file=7 size=900000 offset=900000 result=900000\n"
        "call 1 90 1 WRITE 3 file=7 size=900000 offset=0 result=900000\n");
    ck_assert_uint_eq(refused("WRITE", REPLAY_TOO_LARGE), 4);
    ck_assert_uint_eq(refused("FALLOCATE", REPLAY_TOO_LARGE), 1);
    ck_assert_uint_eq(refused("SETATTR", REPLAY_TOO_LARGE), 1);
    ck_assert_uint_eq(refused("READ", REPLAY_TOO_LARGE), 1);
    ck_assert_uint_le(blocks_bytes(), options.max_bytes);
    ck_assert_int_eq(stat_of("a").st_size, 900000);
}
END_TEST

START_TEST(a_file_that_was_there_before_may_be_too_large) {
    run("path 3 /a\n"
        "call 1 0 1 OPEN 3 file=7 flags=0\n"
        "call 1 10 1 READ 3 file=7 size=4096 offset=0x10000000 result=4096\n");
    ck_assert_uint_eq(report->not_made, 1);
    ck_assert_uint_eq(refused("OPEN", REPLAY_NO_PLACE), 1);
    ck_assert(!is_there("a"));
}
END_TEST

START_TEST(a_hole_takes_no_room) {
    options.is_sparse = true;
    run("path 3 /a\n"
        "call 1 0 1 OPEN 3 file=7 flags=0\n"
        "call 1 10 1 READ 3 file=7 size=4096 offset=0x10000000 result=4096\n");
    assert_all_done();
    ck_assert_uint_lt(blocks_bytes(), MIB);
}
END_TEST

START_TEST(names_take_room_too) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.max_bytes = 50 * REPLAY_NAME_BYTES;
    for (unsigned i = 0; i < 100; i++)
        fprintf(stream, "call 1 %u 1 MKDIR 1 entry=%u mode=0755 name=d%u\n", i * 10, i + 2, i);
    fclose(stream);
    run(script);
    free(script);
    ck_assert_uint_eq(count_of("MKDIR")->done, 50);
    ck_assert_uint_eq(refused("MKDIR", REPLAY_TOO_LARGE), 50);
}
END_TEST

START_TEST(removed_files_give_their_room_back) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.max_bytes = 2 * MIB;
    for (unsigned i = 0; i < 20; i++) {
        fprintf(stream, "call 1 %u 1 CREATE 1 file=7 entry=%u mode=0644 flags=0x42 name=f\n", i * 100, i + 2);
        fprintf(stream, "call 1 %u 1 WRITE %u file=7 size=1000000 offset=0 result=1000000\n", i * 100 + 10, i + 2);
        fprintf(stream, "call 1 %u 1 %s\n", i * 100 + 20, "UNLINK 1 name=f");
        fprintf(stream, "call 1 %u 1 RELEASE %u file=7\n", i * 100 + 30, i + 2);
    }
    fclose(stream);
    run(script);
    free(script);
    assert_all_done();
}
END_TEST

START_TEST(removed_names_give_their_room_back) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.max_bytes = 4 * REPLAY_NAME_BYTES;
    for (unsigned i = 0; i < 100; i++) {
        fprintf(stream, "call 1 %u 1 MKDIR 1 entry=%u mode=0755 name=d\n", i * 100, i + 2);
        fprintf(stream, "call 1 %u 1 MKDIR 1 mode=0755 errno=17 name=d\n", i * 100 + 10);
        fprintf(stream, "call 1 %u 1 MKDIR 1 entry=%u mode=0755 name=e\n", i * 100 + 20, i + 1002);
        fprintf(stream, "call 1 %u 1 RENAME2 1 parent=1 name=d new_name=e\n", i * 100 + 30);
        fprintf(stream, "call 1 %u 1 RMDIR 1 name=e\n", i * 100 + 40);
    }
    fclose(stream);
    run(script);
    free(script);
    assert_all_done();
}
END_TEST

/* Makes a file of a megabyte forty times, each time followed by these lines: "@" in them is its node, "#" the number of
 * the round. */
static void run_rounds(const char *const *lines) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.max_bytes = 4 * MIB;
    for (unsigned i = 0; i < 40; i++) {
        unsigned at = i * 100;
        fprintf(stream, "call 1 %u 1 CREATE 1 file=7 entry=%u mode=0644 flags=0x42 name=a\n", at, i + 1000);
        fprintf(stream, "call 1 %u 1 WRITE %u file=7 size=1048576 offset=0 result=1048576\n", at + 1, i + 1000);
        fprintf(stream, "call 1 %u 1 RELEASE %u file=7\n", at + 2, i + 1000);
        for (unsigned line = 0; lines[line]; line++) {
            fprintf(stream, "call 1 %u 1 ", at + 3 + line);
            for (const char *c = lines[line]; *c; c++)
                *c == '@' ? fprintf(stream, "%u", i + 1000) : *c == '#' ? fprintf(stream, "%u", i) : fputc(*c, stream);
            fputc('\n', stream);
        }
    }
    fclose(stream);
    run(script);
    free(script);
    ck_assert_uint_gt(refused("WRITE", REPLAY_TOO_LARGE), 0);
    ck_assert_uint_le(blocks_bytes(), options.max_bytes);
}

START_TEST(what_has_three_names_is_not_given_back_by_two) {
    run_rounds((const char *const[]){"LINK @ parent=1 entry=@ new_name=b", "LINK @ parent=1 entry=@ new_name=c#",
                                     "UNLINK 1 name=a", "UNLINK 1 name=b", NULL});
}
END_TEST

/* Each recording lies in another way about what a name is. */
START_TEST(a_name_that_is_another_files_gives_nothing_back) {
    static const char *const recorded_as_failed[] = {"RENAME2 1 parent=1 name=a new_name=k# errno=5",
                                                     "MKNOD 1 entry=@00 mode=0100644 name=x",
                                                     "RENAME2 1 parent=1 name=x new_name=a errno=5",
                                                     "UNLINK 1 name=a",
                                                     "UNLINK 1 name=x",
                                                     NULL};
    static const char *const under_another_number[] = {"LOOKUP 1 entry=@00 name=a", "LINK @00 parent=1 new_name=k#",
                                                       "LOOKUP 1 entry=@ name=a", "UNLINK 1 name=a", NULL};
    const char *const *const lies[] = {recorded_as_failed, under_another_number};
    run_rounds(lies[_i]);
}
END_TEST

START_TEST(what_is_inserted_takes_room) {
    char *script = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.max_bytes = 4 * MIB;
    fprintf(stream, "call 1 0 1 CREATE 1 file=7 entry=3 mode=0644 flags=0x42 name=a\n");
    for (unsigned i = 1; i < 40; i++) {
        fprintf(stream, "call 1 %u 1 WRITE 3 file=7 size=1048576 offset=0 result=1048576\n", i * 100);
        fprintf(stream, "call 1 %u 1 FALLOCATE 3 file=7 mode=0x20 size=1048576 offset=0\n", i * 100 + 10);
    }
    fclose(stream);
    run(script);
    free(script);
    ck_assert_uint_le(blocks_bytes(), options.max_bytes + REPLAY_NAME_BYTES);
    ck_assert_int_le(stat_of("a").st_size, (off_t)options.max_bytes);
}
END_TEST

START_TEST(large_reads_of_many_threads_share_memory) {
    char *script = NULL;
    size_t size_bytes;
    struct rusage usage;
    FILE *stream = open_memstream(&script, &size_bytes);
    options.is_sparse = true;
    fprintf(stream, "path 3 /a\ncall 1 0 1 OPEN 3 file=7 flags=0\n");
    for (unsigned i = 0; i < 64; i++)
        fprintf(stream, "call %u %u 1000 READ 3 file=7 size=16777216 offset=0 result=16777216\n", i + 10, i + 10);
    fclose(stream);
    run(script);
    free(script);
    assert_all_done();
    ck_assert_uint_ge(report->thread_count, 64);
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    ck_assert_int_lt(usage.ru_maxrss, 500000); /* KiB */
}
END_TEST

START_TEST(a_fifo_is_made_but_not_opened) {
    run("call 1 0 1 MKNOD 1 entry=3 mode=0010644 name=fifo\n"
        "call 1 10 1 OPEN 3 file=7 flags=0\n"
        "call 1 20 1 CREATE 1 file=8 entry=3 mode=0644 flags=0x41 name=fifo\n"
        "call 1 30 1 SETATTR 3 which=8 size=10\n");
    ck_assert_uint_eq(count_of("MKNOD")->done, 1);
    ck_assert_uint_eq(refused("OPEN", REPLAY_NOT_A_FILE), 1);
    ck_assert_uint_eq(refused("CREATE", REPLAY_NOT_A_FILE), 1);
    ck_assert_uint_eq(refused("SETATTR", REPLAY_NOT_A_FILE), 1);
}
END_TEST

START_TEST(devices_owners_and_set_id_bits_are_left_out) {
    run("call 1 0 1 MKNOD 1 entry=3 mode=0020666 device=0x103 name=null\n"
        "call 1 10 1 CREATE 1 file=7 entry=4 mode=04755 flags=0x42 name=a\n"
        "call 1 20 1 SETATTR 4 which=1 mode=06755\n"
        "call 1 30 1 SETATTR 4 which=6 owner=65534 group=65534\n"
        "call 1 40 1 SETXATTR 4 size=20 attribute=security.capability\n");
    ck_assert_uint_eq(refused("MKNOD", REPLAY_NOT_PRIVILEGED), 1);
    ck_assert_uint_eq(refused("SETATTR", REPLAY_NOT_PRIVILEGED), 1);
    ck_assert_uint_eq(refused("SETXATTR", REPLAY_NOT_RECORDED), 1);
    ck_assert_uint_eq(stat_of("a").st_mode & 07777, 0755);
    ck_assert_uint_eq(stat_of("a").st_uid, geteuid());
}
END_TEST

START_TEST(handles_that_nobody_opened_are_no_trouble) {
    run("call 1 0 1 READ 99 file=7 size=10 offset=0 result=10\n"
        "call 1 10 1 RELEASE 99 file=7\n"
        "call 1 20 1 RELEASE 99 file=7\n"
        "call 1 30 1 WRITE 98 file=0 size=10 offset=0 result=10\n"
        "call 1 40 1 MADE_UP 1 name=x\n"
        "path 5 /open\n"
        "call 1 50 1 READ 5 file=9 size=4096 offset=0 result=100\n");
    ck_assert_uint_eq(refused("READ", REPLAY_NO_FILE), 1);
    ck_assert_uint_eq(refused("RELEASE", REPLAY_NO_FILE), 2);
    ck_assert_uint_eq(refused("WRITE", REPLAY_NO_FILE), 1);
    ck_assert_uint_eq(refused("MADE_UP", REPLAY_UNKNOWN_OP), 1);
    ck_assert_uint_eq(count_of("READ")->done, 1); /* it was open when recording began */
    ck_assert_int_eq(stat_of("open").st_size, 100);
}
END_TEST

/* Its number is used again before the call that closes it has begun. */
START_TEST(a_handle_may_be_closed_while_the_next_is_opened) {
    run("path 5 /a\n"
        "path 6 /b\n"
        "call 1 0 1 OPEN 5 file=7 flags=0\n"
        "call 2 10 20 OPEN 6 file=7 flags=0\n"
        "call 1 15 5 RELEASE 5 file=7\n"
        "call 1 40 1 READ 6 file=7 size=4096 offset=0 result=300\n"
        "call 1 50 1 RELEASE 6 file=7\n");
    assert_all_done();
    ck_assert_int_eq(stat_of("a").st_size, 0);
    ck_assert_int_eq(stat_of("b").st_size, 300);
}
END_TEST

START_TEST(renames_in_circles_end) {
    run("call 1 0 1 MKDIR 1 entry=2 mode=0755 name=a\n"
        "call 1 10 1 MKDIR 2 entry=3 mode=0755 name=b\n"
        "call 1 20 1 RENAME2 1 parent=3 name=a new_name=a\n"
        "call 1 30 1 RENAME2 2 parent=2 name=b new_name=a\n"
        "call 1 40 1 GETATTR 2\n"
        "call 1 50 1 GETATTR 3\n"
        "call 1 60 1 LOOKUP 2 entry=1 name=root\n"
        "call 1 70 1 LOOKUP 2 entry=2 name=self\n"
        "call 1 80 1 RENAME2 2 parent=2 name=self new_name=self\n"
        "call 1 90 1 MKDIR 2 entry=2 mode=0755 name=again\n"
        "call 1 95 1 GETATTR 2\n");
    ck_assert_uint_eq(count_of("RENAME2")->recorded, 3);
    ck_assert_uint_eq(count_of("MKDIR")->done, 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("replay");
    TCase *tcase = suite_case(suite, "done", set_up, tear_down);
    tcase_add_test(tcase, what_was_there_before_is_made_first);
    tcase_add_test(tcase, what_is_made_later_was_not_there_before);
    tcase_add_test(tcase, nodes_are_found_after_their_directory_was_renamed);
    tcase_add_test(tcase, operations_wait_for_what_made_or_renamed_their_file);
    tcase_add_test(tcase, recorded_gaps_are_kept);
    tcase_add_test(tcase, threads_that_were_never_there_at_once_share_one);
    tcase_add_test(tcase, what_differs_is_told);
    tcase_add_test(tcase, profiles_have_the_calls_of_both);
    tcase_add_test(tcase, a_stopped_replay_ends);
    tcase_add_test(tcase, a_handle_may_be_closed_while_the_next_is_opened);
    tcase = suite_case(suite, "never", set_up, tear_down);
    tcase_add_test(tcase, names_of_several_components_are_refused);
    tcase_add_test(tcase, links_that_could_lead_out_get_another_target);
    tcase_add_test(tcase, links_in_the_directory_are_not_followed);
    tcase_add_test(tcase, the_disk_is_not_filled);
    tcase_add_test(tcase, a_file_that_was_there_before_may_be_too_large);
    tcase_add_test(tcase, a_hole_takes_no_room);
    tcase_add_test(tcase, names_take_room_too);
    tcase_add_test(tcase, removed_files_give_their_room_back);
    tcase_add_test(tcase, removed_names_give_their_room_back);
    tcase_add_test(tcase, what_has_three_names_is_not_given_back_by_two);
    tcase_add_loop_test(tcase, a_name_that_is_another_files_gives_nothing_back, 0, 2);
    tcase_add_test(tcase, what_is_inserted_takes_room);
    tcase_add_test(tcase, large_reads_of_many_threads_share_memory);
    tcase_add_test(tcase, a_fifo_is_made_but_not_opened);
    tcase_add_test(tcase, devices_owners_and_set_id_bits_are_left_out);
    tcase_add_test(tcase, handles_that_nobody_opened_are_no_trouble);
    tcase_add_test(tcase, renames_in_circles_end);
    return run_suite(suite);
}
