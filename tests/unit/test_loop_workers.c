/* Workers over a socket instead of the device: requests are served whatever else hangs, one user's leave workers to
 * others, each is answered once, and workers that are not needed end. STATFS of the inode HANGS waits until it is let
 * go, or interrupted; of HANGS_ON until it is interrupted. So does GETATTR, which may hold a
 * directory. */
#include "loop.h"

#include <dirent.h>
#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "testing.h"

#define HANGS 7U
#define HANGS_ON 8U
#define OWNER 1009U
#define USER 65534U
#define PATIENCE_MS 60000
#define SHORTLY_MS 300

static struct loop *loop;
static int kernel_fd = -1; /* the test's end: what the kernel would write and read */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_let_go;
static unsigned hanging_count;

/* ---- The file system ---- */

static int hang(bool may_be_let_go) {
    struct timespec step;
    int err = 0;
    pthread_mutex_lock(&lock);
    hanging_count++;
    pthread_cond_broadcast(&changed);
    while (!(is_let_go && may_be_let_go) && err == 0) {
        pthread_mutex_unlock(&lock);
        step = (struct timespec){.tv_nsec = 20000000};
        err = nanosleep(&step, NULL) < 0 ? errno : 0; /* a system call, which the signal interrupts */
        pthread_mutex_lock(&lock);
    }
    hanging_count--;
    pthread_mutex_unlock(&lock);
    return err;
}

static int serve(fuse_req_t req, fuse_ino_t ino) {
    loop_enter(loop, req, true);
    int err = ino == HANGS || ino == HANGS_ON ? hang(ino == HANGS) : 0;
    loop_leave(true);
    if (err != 0)
        fuse_reply_err(req, err);
    return err;
}

static void answer_statfs(fuse_req_t req, fuse_ino_t ino) {
    const struct statvfs attr = {.f_bsize = 4096};
    if (serve(req, ino) == 0)
        fuse_reply_statfs(req, &attr);
}

static void answer_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi) {
    const struct stat attr = {.st_ino = ino, .st_mode = S_IFREG | 0644};
    (void)fi;
    if (serve(req, ino) == 0)
        fuse_reply_attr(req, &attr, 0);
}

static const struct fuse_lowlevel_ops operations = {.getattr = answer_getattr, .statfs = answer_statfs};

/* ---- The kernel ---- */

static ssize_t read_request(int fd, void *data, size_t size_bytes, void *userdata) {
    (void)userdata;
    return read(fd, data, size_bytes);
}

static ssize_t write_answer(int fd, struct iovec *parts, int count, void *userdata) {
    (void)userdata;
    return writev(fd, parts, count);
}

static void send_request(uint64_t unique, uint32_t opcode, uint64_t ino, uint32_t uid, const void *body,
                         size_t body_bytes) {
    struct fuse_in_header header = {.len = (uint32_t)(sizeof(header) + body_bytes),
                                    .opcode = opcode,
                                    .unique = unique,
                                    .nodeid = ino,
                                    .uid = uid,
                                    .pid = (uint32_t)getpid()};
    struct iovec parts[] = {{&header, sizeof(header)}, {(void *)(uintptr_t)body, body_bytes}};
    ck_assert_int_eq(writev(kernel_fd, parts, 2), header.len);
}

static void send_statfs(uint64_t unique, uint64_t ino, uint32_t uid) {
    send_request(unique, FUSE_STATFS, ino, uid, "", 0);
}

static void send_getattr(uint64_t unique, uint64_t ino, uint32_t uid) {
    const struct fuse_getattr_in body = {.dummy = 0};
    send_request(unique, FUSE_GETATTR, ino, uid, &body, sizeof(body));
}

static void send_interrupt(uint64_t interrupted) {
    const struct fuse_interrupt_in body = {.unique = interrupted};
    send_request(0, FUSE_INTERRUPT, 0, 0, &body, sizeof(body));
}

/* Takes one answer. Returns false if none comes in time. */
static bool take_answer(int patience_ms, uint64_t *ret_unique, int *ret_error) {
    struct pollfd end = {.fd = kernel_fd, .events = POLLIN};
    struct {
        struct fuse_out_header header;
        char body[256];
    } answer;
    if (poll(&end, 1, patience_ms) != 1)
        return false;
    ck_assert_int_ge(read(kernel_fd, &answer, sizeof(answer)), (ssize_t)sizeof(answer.header));
    *ret_unique = answer.header.unique;
    *ret_error = -answer.header.error;
    return true;
}

static void expect_answer(uint64_t unique, int error) {
    uint64_t answered = 0;
    int given = 0;
    ck_assert_msg(take_answer(PATIENCE_MS, &answered, &given), "no answer to %llu", (unsigned long long)unique);
    ck_assert_uint_eq(answered, unique);
    ck_assert_int_eq(given, error);
}

static void expect_no_answer(void) {
    uint64_t unique;
    int error;
    ck_assert(!take_answer(SHORTLY_MS, &unique, &error));
}

/* ---- The loop ---- */

struct test {
    pthread_t thread;
    void (*body)(void);
};

static void wait_for_hanging(unsigned least) {
    pthread_mutex_lock(&lock);
    while (hanging_count < least)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static unsigned hanging(void) {
    pthread_mutex_lock(&lock);
    unsigned count = hanging_count;
    pthread_mutex_unlock(&lock);
    return count;
}

static void let_none_go(void) {
    pthread_mutex_lock(&lock);
    is_let_go = false;
    pthread_mutex_unlock(&lock);
}

static void let_go(void) {
    pthread_mutex_lock(&lock);
    is_let_go = true;
    pthread_mutex_unlock(&lock);
}

static void *play_kernel(void *argument) {
    const struct test *test = argument;
    test->body();
    kill(getpid(), SIGTERM); /* ends the loop */
    return NULL;
}

static void send_init(void) {
    const struct fuse_init_in body = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 65536};
    uint64_t unique;
    int error;
    send_request(1, FUSE_INIT, 0, 0, &body, sizeof(body));
    loop_negotiate(loop);
    ck_assert(take_answer(PATIENCE_MS, &unique, &error));
    ck_assert_int_eq(error, 0);
}

/* In this thread the loop runs, as it must, and in another the test. */
static void run(bool single, void (*body)(void)) {
    const struct fuse_custom_io io = {.read = read_request, .writev = write_answer};
    const struct loop_options options = {
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000}, .single = single, .owner_uid = OWNER};
    char *arguments[] = {(char[]){"test"}, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(1, arguments);
    struct test test = {.body = body};
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    struct fuse_session *fuse = fuse_session_new(&args, &operations, sizeof(operations), NULL);
    ck_assert_ptr_nonnull(fuse);
    if (fuse_session_custom_io(fuse, &io, ends[0]) != 0) {
        printf("loop_workers: this libfuse reads from devices only: not tested\n");
        return;
    }
    kernel_fd = ends[1];
    is_let_go = false;
    loop_prepare_signals();
    ck_assert_int_eq(loop_create(fuse, &options, &loop), 0);
    send_init();
    ck_assert_int_eq(loop_start(loop), 0);
    ck_assert_int_eq(pthread_create(&test.thread, NULL, play_kernel, &test), 0);
    struct loop_outcome outcome = loop_run(loop);
    ck_assert_int_eq(outcome.end, LOOP_SIGNALLED);
    for (int tries = 0; loop_stop(loop) > 0; tries++) /* five hundred threads may take their time to end */
        ck_assert_int_lt(tries, 30);
    pthread_join(test.thread, NULL);
    loop_destroy(loop);
    fuse_session_destroy(fuse);
    fuse_opt_free_args(&args);
    close(kernel_fd);
}

/* ---- Tests ---- */

static void call_beside_calls_that_hang(void) {
    for (uint64_t unique = 2; unique < 102; unique++)
        send_statfs(unique, HANGS, 0);
    send_statfs(1000, 3, 0);
    expect_answer(1000, 0);
    wait_for_hanging(100);
    expect_no_answer();
    let_go();
    for (int count = 0; count < 100; count++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert(unique >= 2 && unique < 102 && error == 0);
    }
}

TEST_CASE(.seconds = 120);

TEST(calls_that_hang_delay_no_other) {
    run(false, call_beside_calls_that_hang);
}

static void leave_workers(void) {
    static bool answered[1000];
    const uint64_t count = 701;
    for (uint64_t unique = 2; unique < 2 + count; unique++)
        send_statfs(unique, HANGS, USER);
    wait_for_hanging(512 / 3);
    for (uint64_t turn = 0; turn < 7; turn++) {
        send_statfs(1000 + 3 * turn, 3, 0);
        expect_answer(1000 + 3 * turn, 0);
        send_statfs(1001 + 3 * turn, 3, OWNER);
        expect_answer(1001 + 3 * turn, 0);
        send_statfs(1002 + 3 * turn, 3, USER - 1);
        expect_answer(1002 + 3 * turn, 0);
    }
    ck_assert_uint_le(hanging(), 512 / 2);
    let_go();
    for (uint64_t number = 0; number < count; number++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert(unique >= 2 && unique < 2 + count && error == 0);
        ck_assert(!answered[unique]);
        answered[unique] = true;
    }
    expect_no_answer();
}

TEST(calls_of_one_user_leave_workers_to_others) {
    run(false, leave_workers);
}

/* Beside the user's other calls they are served, and beside those that hang like them refused after a while. */
static void call_for_directories(void) {
    unsigned refused = 0;
    for (uint64_t unique = 2; unique < 402; unique++)
        send_statfs(unique, HANGS, USER);
    wait_for_hanging(512 / 3);
    send_getattr(500, 3, USER);
    expect_answer(500, 0);
    for (uint64_t unique = 1000; unique < 1300; unique++)
        send_getattr(unique, HANGS, USER);
    for (; refused < 100; refused++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert(unique >= 1000 && unique < 1300 && error == ENOMEM);
    }
    let_go();
    for (unsigned left = 400 + 300 - refused; left > 0; left--) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert(error == 0 || (error == ENOMEM && unique >= 1000));
    }
    expect_no_answer();
}

TEST(calls_that_may_hold_directories_are_not_put_off_for_long) {
    run(false, call_for_directories);
}

static void call_root_beside_two_hundred_users(void) {
    for (uint64_t unique = 2; unique < 2 + 1200; unique++)
        send_statfs(unique, HANGS, USER - (uint32_t)(unique % 200));
    wait_for_hanging(400);
    for (uint64_t unique = 5000; unique < 5017; unique++) {
        send_statfs(unique, 3, unique % 2 ? 0 : OWNER);
        expect_answer(unique, 0);
    }
    let_go();
    for (int number = 0; number < 1200; number++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
    }
}

TEST(calls_of_many_users_leave_workers_to_the_trusted) {
    run(false, call_root_beside_two_hundred_users);
}

/* This process has not been killed, so one that was put off is served, and interrupted then. */
static void interrupt_all(void) {
    const uint64_t count = 401;
    for (uint64_t unique = 2; unique < 2 + count; unique++)
        send_statfs(unique, HANGS, USER);
    wait_for_hanging(100);
    for (uint64_t unique = 2; unique < 2 + count; unique++)
        send_interrupt(unique);
    for (uint64_t number = 0; number < count; number++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert_int_eq(error, EINTR);
    }
}

TEST(calls_that_were_put_off_can_be_interrupted) {
    run(false, interrupt_all);
}

/* As if the worker that took the call had been without a CPU. */
static void interrupt_before_the_call(void) {
    const struct timespec shortly = {.tv_nsec = 100000000};
    send_interrupt(2);
    nanosleep(&shortly, NULL);
    send_statfs(2, HANGS, USER);
    expect_answer(2, EINTR);
}

TEST(an_interrupt_may_come_before_its_call_has_begun) {
    run(false, interrupt_before_the_call);
}

static void call_one_after_the_other(void) {
    for (uint64_t unique = 2; unique < 2003; unique++) {
        send_statfs(unique, 3, USER);
        expect_answer(unique, 0);
    }
}

TEST(one_worker_serves_all_in_turn) {
    run(true, call_one_after_the_other);
}

TEST(calls_one_after_the_other_are_answered_once) {
    run(false, call_one_after_the_other);
}

static unsigned count_threads(void) {
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static unsigned count_cpus(void) {
    cpu_set_t cpus;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
    return (unsigned)CPU_COUNT(&cpus);
}

static void wait_for_threads(unsigned most) {
    const struct timespec step = {.tv_nsec = 50000000};
    for (int waited_ms = 0; count_threads() > most && waited_ms < PATIENCE_MS; waited_ms += 50)
        nanosleep(&step, NULL);
    ck_assert_uint_le(count_threads(), most);
}

/* All at once, so that each has a worker. */
static void call_in_a_burst(uint64_t first, unsigned count, unsigned hanging_besides) {
    let_none_go();
    for (uint64_t unique = first; unique < first + count; unique++)
        send_statfs(unique, HANGS, 0);
    wait_for_hanging(count + hanging_besides);
    ck_assert_uint_gt(count_threads(), count + hanging_besides);
    let_go();
    for (unsigned number = 0; number < count; number++) {
        uint64_t unique;
        int error;
        ck_assert(take_answer(PATIENCE_MS, &unique, &error));
        ck_assert(unique >= first && unique < first + count && error == 0);
    }
}

/* Nobody but those that hang, and three for each CPU, is left; and again after the next burst. */
static void call_in_two_bursts(void) {
    const unsigned most = count_threads() + 3 * count_cpus() + 3;
    for (uint64_t unique = 2; unique < 5; unique++)
        send_statfs(unique, HANGS_ON, 0);
    wait_for_hanging(3);
    for (unsigned burst = 1; burst <= 2; burst++) {
        call_in_a_burst(UINT64_C(1000) * burst, 101, 3);
        wait_for_threads(most);
        ck_assert_uint_eq(hanging(), 3);
        send_statfs(UINT64_C(1000) * burst + 500, 3, 0);
        expect_answer(UINT64_C(1000) * burst + 500, 0);
    }
    for (uint64_t unique = 2; unique < 5; unique++) {
        send_interrupt(unique);
        expect_answer(unique, EINTR);
    }
}

TEST(workers_that_are_not_needed_end) {
    run(false, call_in_two_bursts);
}
