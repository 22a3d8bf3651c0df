/* Careful helpers: whole files or none, descriptors that are closed once. */
#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "stolen.h"
#include "testing.h"

static char directory[64];
static int dir_fd;

static void set_up(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-base-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir_fd, 0);
}

static void tear_down(void) {
    close_fd(&dir_fd);
    ck_assert_int_eq(rmdir(directory), 0); /* every test has removed what it made */
}

static int replace(const char *text, const char *backup_name) {
    return replace_file(dir_fd, "file", backup_name, 0640, text, strlen(text));
}

static const char *text_of(const char *name) {
    static char text[4096];
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ssize_t size_bytes = read(fd, text, sizeof(text) - 1);
    ck_assert_int_ge(size_bytes, 0);
    text[size_bytes] = '\0';
    return text;
}

static size_t count_names(void) {
    size_t count = 0;
    DIR *stream = opendir(directory);
    ck_assert_ptr_nonnull(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static void clean(const char *name) {
    ck_assert_int_eq(unlinkat(dir_fd, name, 0), 0);
}

/* ---- Descriptors ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(close_fd_keeps_errno_and_closes_once) {
    int fd = open("/", O_PATH);
    int copy = fd;
    errno = EXDEV;
    close_fd(&fd);
    ck_assert_int_eq(errno, EXDEV);
    ck_assert_int_eq(fd, -1);
    ck_assert_int_eq(fcntl(copy, F_GETFD), -1);
    errno = EXDEV;
    close_fd(&fd);
    ck_assert_int_eq(errno, EXDEV);
}

TEST(stealing_leaves_nothing_behind) {
    int fd = 4711;
    char *pointer = directory;
    ck_assert_int_eq(steal_fd(&fd), 4711);
    ck_assert_int_eq(fd, -1);
    ck_assert_ptr_eq(steal_pointer(&pointer), directory);
    ck_assert_ptr_null(pointer);
}

TEST(negative_errno_is_never_success) {
    errno = ENOENT;
    ck_assert_int_eq(negative_errno(), -ENOENT);
    errno = 0;
    ck_assert_int_lt(negative_errno(), 0);
}

struct slow_reader {
    int fd;
    size_t size_bytes;
};

static void *read_slowly(void *argument) {
    struct slow_reader *reader = argument;
    char some[977];
    ssize_t read_bytes;
    while ((read_bytes = read(reader->fd, some, sizeof(some))) > 0)
        reader->size_bytes += (size_t)read_bytes;
    return NULL;
}

TEST(write_all_writes_all_over_short_writes) {
    enum { SIZE = 1000003 };
    static char data[SIZE];
    struct slow_reader reader = {0};
    pthread_t thread;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    reader.fd = ends[0];
    ck_assert_int_eq(pthread_create(&thread, NULL, read_slowly, &reader), 0);
    ck_assert_int_eq(write_all(ends[1], data, SIZE), 0);
    close(ends[1]);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(reader.size_bytes, SIZE);
    close(ends[0]);
    ck_assert_int_eq(write_all(-1, data, 1), -EBADF);
    ck_assert_int_eq(write_all(-1, data, 0), 0);
}

/* SIGXFSZ would end this process. One that the program waits for stays. */
TEST(blocks_beyond_the_limit_of_files_are_an_error_without_a_signal) {
    struct rlimit before;
    sigset_t signals;
    int fd = openat(dir_fd, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(allocate_blocks(fd, 4096, 4096), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {8192, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert_int_eq(allocate_blocks(fd, 8192, 4096), -EFBIG);
    ck_assert_int_eq(allocate_blocks(fd, 4096, 4096), 0);
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &signals, NULL), 0);
    raise(SIGXFSZ);
    ck_assert_int_eq(allocate_blocks(fd, 8192, 4096), -EFBIG);
    ck_assert_int_eq(sigtimedwait(&signals, NULL, &(struct timespec){0}), SIGXFSZ);
    ck_assert_int_eq(sigprocmask(SIG_UNBLOCK, &signals, NULL), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    close(fd);
    ck_assert_int_eq(unlinkat(dir_fd, "file", 0), 0);
    ck_assert_int_eq(allocate_blocks(-1, 0, 4096), -EBADF);
}

TEST(beginning_of_a_file_is_text_or_empty) {
    char text[5] = "????";
    ck_assert(!read_beginning(dir_fd, "file", text, sizeof(text)));
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(replace("", NULL), 0);
    memcpy(text, "????", sizeof(text));
    ck_assert(!read_beginning(dir_fd, "file", text, sizeof(text)));
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(replace("abc\n", NULL), 0);
    ck_assert(read_beginning(dir_fd, "file", text, sizeof(text)));
    ck_assert_str_eq(text, "abc\n");
    ck_assert_int_eq(replace("longer", NULL), 0);
    ck_assert(read_beginning(dir_fd, "file", text, sizeof(text)));
    ck_assert_str_eq(text, "long");
    memcpy(text, "????", sizeof(text));
    ck_assert(!read_beginning(AT_FDCWD, directory, text, sizeof(text)));
    ck_assert_str_eq(text, "");
    clean("file");
}

/* ---- Replacing ---- */

TEST(file_is_made_or_replaced_with_exactly_that_mode) {
    struct stat attr;
    umask(0777);
    ck_assert_int_eq(replace("first", NULL), 0);
    ck_assert_str_eq(text_of("file"), "first");
    ck_assert_int_eq(replace("second", NULL), 0);
    ck_assert_str_eq(text_of("file"), "second");
    ck_assert_int_eq(fstatat(dir_fd, "file", &attr, 0), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0640);
    ck_assert_uint_eq(count_names(), 1);
    clean("file");
}

TEST(old_file_is_kept_under_its_backup_name) {
    ck_assert_int_eq(replace("first", "file.old"), 0);
    ck_assert_uint_eq(count_names(), 1);
    ck_assert_int_eq(replace("second", "file.old"), 0);
    ck_assert_int_eq(replace("third", "file.old"), 0);
    ck_assert_str_eq(text_of("file"), "third");
    ck_assert_str_eq(text_of("file.old"), "second");
    ck_assert_uint_eq(count_names(), 2);
    clean("file");
    clean("file.old");
}

TEST(what_is_no_regular_file_is_left_alone) {
    struct stat attr;
    ck_assert_int_eq(replace_file(dir_fd, "other", NULL, 0600, "other", 5), 0);
    ck_assert_int_eq(symlinkat("other", dir_fd, "file"), 0);
    ck_assert_int_eq(replace("new", NULL), -ENOTSUP);
    ck_assert_str_eq(text_of("other"), "other");
    ck_assert_int_eq(fstatat(dir_fd, "file", &attr, AT_SYMLINK_NOFOLLOW), 0);
    ck_assert(S_ISLNK(attr.st_mode));
    clean("file");
    ck_assert_int_eq(mkfifoat(dir_fd, "file", 0600), 0);
    ck_assert_int_eq(replace("new", NULL), -ENOTSUP);
    ck_assert_int_eq(fstatat(dir_fd, "file", &attr, AT_SYMLINK_NOFOLLOW), 0);
    ck_assert(S_ISFIFO(attr.st_mode));
    clean("file");
    clean("other");
}

TEST(failure_leaves_the_old_file_and_nothing_else) {
    static char much[65536];
    struct rlimit limit;
    memset(much, 'x', sizeof(much));
    ck_assert_int_eq(replace("old", NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int status = replace_file(dir_fd, "file", "file.old", 0640, much, sizeof(much));
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(status, -EFBIG);
    ck_assert_str_eq(text_of("file"), "old");
    ck_assert_uint_eq(count_names(), 1);
    ck_assert_int_eq(mkdirat(dir_fd, "directory", 0755), 0);
    ck_assert_int_eq(replace_file(dir_fd, "directory", NULL, 0640, "x", 1), -EISDIR);
    ck_assert_uint_eq(count_names(), 2);
    ck_assert_int_eq(unlinkat(dir_fd, "directory", AT_REMOVEDIR), 0);
    clean("file");
}

/* Those of old were made of the process number and a count. */
TEST(names_that_others_could_guess_are_no_obstacle) {
    char name[64];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), ".osprof.%ld-%u.tmp", (long)getpid(), i);
        ck_assert_int_eq(symlinkat("elsewhere", dir_fd, name), 0);
    }
    ck_assert_int_eq(replace("text", NULL), 0);
    ck_assert_str_eq(text_of("file"), "text");
    ck_assert_uint_eq(count_names(), 1001);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), ".osprof.%ld-%u.tmp", (long)getpid(), i);
        clean(name);
    }
    clean("file");
}

static _Noreturn void be_killed_while_writing(void) {
    static char much[65536];
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = 4096};
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &small);
    _exit(replace_file(dir_fd, "file", NULL, 0640, much, sizeof(much)) == 0);
}

TEST(who_is_killed_while_writing_leaves_nothing) {
    CLEANUP_FD int unnamed = openat(dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (unnamed < 0)
        return; /* this file system has no files without names */
    int status;
    pid_t pid = fork();
    if (pid == 0)
        be_killed_while_writing();
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
    ck_assert_uint_eq(count_names(), 0);
}

/* ---- What others have made ---- */

static bool is_planted(const char *name) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return may_be_planted(path);
}

TEST(only_strangers_in_shared_directories_plant) {
    if (geteuid() != 0)
        return; /* only root can make files of other users */
    ck_assert_int_eq(mkfifoat(dir_fd, "own", 0600), 0);
    ck_assert_int_eq(mkfifoat(dir_fd, "fifo", 0600), 0);
    ck_assert_int_eq(symlinkat("own", dir_fd, "link"), 0);
    ck_assert_int_eq(replace("text", NULL), 0);
    ck_assert_int_eq(fchownat(dir_fd, "fifo", 65534, 65534, 0), 0);
    ck_assert_int_eq(fchownat(dir_fd, "link", 65534, 65534, AT_SYMLINK_NOFOLLOW), 0);
    ck_assert_int_eq(fchownat(dir_fd, "file", 65534, 65534, 0), 0);
    ck_assert(!is_planted("fifo") && !is_planted("link"));
    ck_assert_int_eq(chmod(directory, 01777), 0);
    ck_assert(is_planted("fifo") && is_planted("link"));
    ck_assert(!is_planted("own") && !is_planted("missing") && !is_planted("file"));
    ck_assert_int_eq(seteuid(65533), 0);
    bool is_file_planted = is_planted("file");
    bool is_of_owner_planted = is_planted("own"); /* he could replace everything */
    ck_assert_int_eq(seteuid(0), 0);
    ck_assert(is_file_planted && !is_of_owner_planted);
    clean("own");
    clean("fifo");
    clean("link");
    clean("file");
}

static void *replace_over_and_over(void *argument) {
    static char text[2][2048];
    char *own = text[argument != NULL];
    intptr_t wrong = 0;
    memset(own, argument ? 'a' : 'b', sizeof(text[0]));
    for (int round = 0; round < 101; round++)
        wrong += replace_file(dir_fd, "file", NULL, 0640, own, sizeof(text[0])) != 0;
    return (void *)wrong; /* NOLINT(performance-no-int-to-ptr): a count */
}

TEST(threads_replacing_one_file_never_show_a_part_of_it) {
    pthread_t threads[2];
    void *wrong;
    ck_assert_int_eq(replace_file(dir_fd, "file", NULL, 0640, "", 0), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, replace_over_and_over, i ? directory : NULL), 0);
    for (int looks = 0; looks < 1009; looks++) {
        const char *text = text_of("file");
        ck_assert(text[0] == '\0' || (strlen(text) == 2048 && strspn(text, text[0] == 'a' ? "a" : "b") == 2048));
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_uint_eq(count_names(), 1);
    clean("file");
}

/* ---- Parents ---- */

TEST(path_is_split_into_directory_and_name) {
    static const struct {
        const char *path;
        int status;
        const char *name;
    } paths[] = {
        {"file", 0, "file"},
        {"./file", 0, "file"},
        {"/file", 0, "file"},
        {"/etc/file", 0, "file"},
        {"/etc//file", 0, "file"},
        {"..x", 0, "..x"},
        {"", -EINVAL, NULL},
        {"/", -EISDIR, NULL},
        {"directory/", -EISDIR, NULL},
        {".", -EISDIR, NULL},
        {"..", -EISDIR, NULL},
        {"/etc/..", -EISDIR, NULL},
        {"missing/file", -ENOENT, NULL},
        {"/etc/passwd/file", -ENOTDIR, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
        CLEANUP_FD int parent_fd = -1;
        const char *name = NULL;
        ck_assert_int_eq(open_parent(dir_fd, paths[i].path, &parent_fd, &name), paths[i].status);
        ck_assert_int_eq(parent_fd >= 0, paths[i].status == 0);
        if (paths[i].status == 0)
            ck_assert_str_eq(name, paths[i].name);
    }
}

TEST(moments_are_told_in_utc_to_the_nanosecond) {
    static const struct {
        int64_t unix_ns;
        const char *text;
    } moments[] = {
        {0, "1970-01-01T00:00:00.000000000Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {1795228200123456789, "2026-11-21T02:30:00.123456789Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
        char text[UTC_TEXT_SIZE];
        format_utc(moments[i].unix_ns, text);
        ck_assert_str_eq(text, moments[i].text);
    }
}

TEST(lengths_of_time_have_units) {
    static const struct {
        const char *text;
        uint64_t ns;
    } times[] = {
        {"1us", 1000},
        {"250us", 250000},
        {"10ms", 10000000},
        {"1.5ms", 1500000},
        {"2s", 2000000000},
        {".5s", 500000000},
        {"0.5", 500000000},
        {"3", 3000000000},
        {"2m", 120000000000},
        {"1.5m", 90000000000},
        {"1h", 3600000000000},
        {"24h", 86400000000000},
        {"1440m", 86400000000000},
        {"86400", 86400000000000},
    };
    for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
        uint64_t ns = 0;
        ck_assert_msg(time_parse(times[i].text, 1000, 86400000000000, &ns), "%s", times[i].text);
        ck_assert_msg(ns == times[i].ns, "%s", times[i].text);
    }
}

TEST(what_is_no_length_of_time_within_the_bounds_is_refused) {
    static const char *const texts[] = {"",       "s",   "ms",  ".",     "1x",   "1ns",    "10ns", "1 s",
                                        " 1s",    "1s ", "-1s", "+1s",   "0x1s", "1e3s",   "1S",   "1min",
                                        "1.5.5",  "inf", "nan", "1d",    "1hh",  "1ms1",   "0",    "0us",
                                        "0.01us", "1h",  "61s", "1.02m", "60.1", "60001ms"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        uint64_t ns = 7;
        ck_assert_msg(!time_parse(texts[i], 1000, 60000000000, &ns), "%s is taken", texts[i]);
        ck_assert_uint_eq(ns, 7);
    }
}

TEST(stolen_time_is_the_eighth_number) {
    uint64_t ticks = 0;
    ck_assert(stolen_parse("cpu  1 2 3 4 5 6 7 12345 9 10\ncpu0 1 2\n", &ticks));
    ck_assert_uint_eq(ticks, 12345);
    ck_assert(!stolen_parse("cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7 8\n", &ticks)); /* an old kernel's */
    ck_assert(!stolen_parse("cpu0 1 2 3 4 5 6 7 8\n", &ticks));
    ck_assert(!stolen_parse("", &ticks));
    ck_assert_uint_eq(ticks, 12345);
}
