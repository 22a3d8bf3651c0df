/* A live file in which several processes count: nothing is lost however they end, and blocks are used again. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/watched.h"
#include "testing.h"

enum { OP_READ, OP_WRITE, OP_COUNT };
static const char *const op_names[OP_COUNT] = {"READ", "WRITE"};

#define THREADS_MAX 16
#define PAGE_BYTES sysconf(_SC_PAGESIZE)
#define MANY_THREADS 101

static char directory[] = "/tmp/test-shared-XXXXXX";
static char path[sizeof(directory) + 16];
static struct aggstats_recorder *maker;
static pthread_barrier_t all_have_counted;
static pthread_barrier_t all_may_end;

static int make(unsigned shared_threads) {
    const struct aggstats_recorder_options options = {
        .op_names = op_names, .op_count = OP_COUNT, .resolution = 1, .live_path = path};
    return shared_threads == 0 ? aggstats_recorder_create(&options, &maker)
                               : aggstats_recorder_create_shared(&options, shared_threads, 0, &maker);
}

static void set_up(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/live", directory);
    ck_assert_int_eq(make(THREADS_MAX), 0);
}

static void tear_down(void) {
    aggstats_recorder_destroy(maker);
    unlink(path);
    rmdir(directory);
}

static struct aggstats_recorder *join(void) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), 0);
    return recorder;
}

static void record(struct aggstats_recorder *into, unsigned op, int calls) {
    for (int i = 0; i < calls; i++) {
        struct aggstats_span span = aggstats_shared_begin(into, op, 5, 6);
        aggstats_end(into, &span);
    }
}

static void read_file(struct aggstats_profile *ret_profile) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(aggstats_live_read(fd, ret_profile, NULL, NULL), 0);
    close(fd);
}

/* Calls of an op, all of which have ended. */
static uint64_t calls_of(const char *op_name) {
    struct aggstats_profile profile;
    read_file(&profile);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, op_name);
    uint64_t calls = op ? op->calls : 0;
    uint64_t ended = 0;
    for (unsigned bucket = 0; op && bucket < 64; bucket++)
        ended += op->buckets[bucket];
    aggstats_profile_finish(&profile);
    ck_assert_uint_eq(calls, ended);
    return calls;
}

static bool is_incomplete(void) {
    struct aggstats_profile profile;
    read_file(&profile);
    bool incomplete = profile.incomplete;
    aggstats_profile_finish(&profile);
    return incomplete;
}

/* Those that have memory. */
static off_t file_bytes(void) {
    struct stat attr;
    ck_assert_int_eq(stat(path, &attr), 0);
    return attr.st_blocks * 512;
}

static uint64_t crowded_threads(void) {
    struct aggstats_shared_facts facts;
    aggstats_recorder_shared_facts(maker, &facts);
    return facts.crowded_threads;
}

static void wait_for(pid_t child) {
    int status;
    ck_assert_int_ge(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
}

/* A process that counts, and ends in one of the ways that leave no time for anything. */
static void count_in_child(struct aggstats_recorder *recorder, int calls, bool is_killed) {
    pid_t child = fork();
    if (child == 0) {
        record(recorder, OP_READ, calls);
        if (is_killed)
            kill(getpid(), SIGKILL);
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    wait_for(child);
}

static pid_t raw_clone(unsigned long flags) {
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
}

static void count_in_raw_child(struct aggstats_recorder *recorder, int calls) {
    pid_t child = raw_clone(0);
    if (child == 0) {
        record(recorder, OP_READ, calls);
        _exit(0);
    }
    wait_for(child);
}

/* ---- Counting ---- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(processes_count_together) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 7);
    count_in_child(recorder, 11, false);
    count_in_child(recorder, 13, true);
    record(recorder, OP_WRITE, 3);
    ck_assert_uint_eq(calls_of("READ"), 7 + 11 + 13);
    ck_assert_uint_eq(calls_of("WRITE"), 3);
    ck_assert(!is_incomplete());
}

TEST(blocks_of_processes_that_have_ended_are_used_again) {
    struct aggstats_recorder *recorder = join();
    count_in_child(recorder, 1, true);
    off_t bytes = file_bytes();
    for (int i = 0; i < 101; i++)
        count_in_child(recorder, 1, i % 2 == 0);
    ck_assert_int_le(file_bytes(), bytes + 2 * PAGE_BYTES); /* calls that are slow count in other pages of a block */
    ck_assert_uint_eq(calls_of("READ"), 102);
}

static void *count_in_thread(void *recorder) {
    record(recorder, OP_READ, 17);
    return NULL;
}

TEST(blocks_of_threads_that_have_ended_are_used_again) {
    struct aggstats_recorder *recorder = join();
    for (int i = 0; i < 101; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, count_in_thread, recorder), 0);
        pthread_join(thread, NULL);
    }
    ck_assert_uint_eq(calls_of("READ"), 101 * 17);
    ck_assert(!is_incomplete()); /* far more threads than there may be at one time */
}

/* A child is no thread of its parent's: both count at once. */
TEST(child_and_parent_count_at_once) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 1);
    pid_t child = fork();
    if (child == 0) {
        record(recorder, OP_READ, 100003);
        _exit(0);
    }
    record(recorder, OP_READ, 100019);
    wait_for(child);
    ck_assert_uint_eq(calls_of("READ"), 1 + 100003 + 100019);
}

TEST(child_of_vfork_counts_as_its_parent) {
    struct aggstats_recorder *recorder = join();
    /* NOLINTBEGIN(clang-analyzer-*): the test is about vfork(2) */
    pid_t child = vfork();
    if (child == 0) {
        record(recorder, OP_READ, 5); /* the first call of all */
        _exit(0);
    }
    /* NOLINTEND(clang-analyzer-*) */
    wait_for(child);
    record(recorder, OP_READ, 2);
    ck_assert_uint_eq(calls_of("READ"), 7);
}

/* The child joins, and its parent's thread goes on counting in the block that it has got. */
TEST(child_of_vfork_joins_for_its_parent) {
    struct aggstats_recorder *recorder = NULL;
    volatile bool shares_memory = false; /* not under valgrind and ThreadSanitizer, which make it a fork */
    /* NOLINTBEGIN(clang-analyzer-*): the test is about vfork(2) */
    pid_t child = vfork();
    if (child == 0) {
        shares_memory = true;
        aggstats_recorder_join(path, op_names, OP_COUNT, true, &recorder);
        record(recorder, OP_READ, 5);
        _exit(0);
    }
    /* NOLINTEND(clang-analyzer-*) */
    wait_for(child);
    if (!shares_memory)
        return;
    for (int i = 0; i < THREADS_MAX; i++)
        count_in_raw_child(recorder, 1);
    record(recorder, OP_READ, 2);
    ck_assert_uint_eq(calls_of("READ"), 5 + THREADS_MAX + 2);
}

/* ---- Children that the C library does not know ---- */

TEST(blocks_of_children_of_raw_clone_are_used_again) {
    struct aggstats_recorder *recorder = join();
    for (int i = 0; i < 10 * THREADS_MAX; i++)
        count_in_raw_child(recorder, 3);
    ck_assert_uint_eq(calls_of("READ"), 10 * THREADS_MAX * 3);
    ck_assert_uint_eq(crowded_threads(), 0);
}

static void count_until_told(struct aggstats_recorder *recorder, int counted_fd, int ending_fd) {
    char byte;
    record(recorder, OP_WRITE, 1);
    close(counted_fd);
    (void)!read(ending_fd, &byte, 1);
    record(recorder, OP_WRITE, 1);
    _exit(0);
}

/* Its child counts, and waits until it may end. Returns 0 if such a child cannot be made. */
static pid_t start_waiting_child(struct aggstats_recorder *recorder, unsigned long flags, int *ret_fd) {
    int counted[2];
    int ending[2];
    char byte;
    ck_assert_int_eq(pipe(counted), 0);
    ck_assert_int_eq(pipe(ending), 0);
    pid_t child = raw_clone(flags);
    if (child == 0) {
        close(ending[1]);
        if (flags & CLONE_NEWNS) {
            /* a grandchild, which the kernel does not tell its namespace; the child counts nothing */
            const bool is_hidden = mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                                   mount("none", "/proc", "tmpfs", 0, NULL) == 0;
            if (is_hidden && fork() == 0)
                count_until_told(recorder, counted[1], ending[0]);
            close(counted[1]);
            wait(NULL);
            _exit(0);
        }
        count_until_told(recorder, counted[1], ending[0]);
    }
    close(counted[1]);
    close(ending[0]);
    (void)!read(counted[0], &byte, 1);
    close(counted[0]);
    *ret_fd = ending[1];
    return child < 0 ? 0 : child;
}

/* As many blocks as there are living threads. */
static struct aggstats_recorder *join_file_of_two(void) {
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(make(2), 0);
    return join();
}

static void keep_block_of_living_child(unsigned long flags) {
    struct aggstats_recorder *recorder = join_file_of_two();
    int ending_fd;
    pid_t child = start_waiting_child(recorder, flags, &ending_fd);
    if (child == 0) /* not allowed here */
        return;
    count_in_raw_child(recorder, 3);
    count_in_child(recorder, 5, false);
    close(ending_fd);
    wait_for(child);
    ck_assert_uint_eq(crowded_threads(), 2);
    ck_assert_uint_eq(calls_of("READ"), 0);
    ck_assert_uint_eq(calls_of("WRITE"), 2);
    if (flags == 0)
        count_in_child(recorder, 7, false); /* it has ended: its block is free */
    ck_assert_uint_eq(calls_of("READ"), flags == 0 ? 7 : 0);
}

TEST(block_of_living_child_of_raw_clone_is_kept) {
    keep_block_of_living_child(0);
}

/* Its numbers mean nothing here. */
TEST(block_of_living_child_in_another_pid_namespace_is_kept) {
    keep_block_of_living_child(CLONE_NEWUSER | CLONE_NEWPID);
}

/* Nor do ours there, which it must not take for those of its own namespace. */
TEST(blocks_are_kept_from_a_pid_namespace_without_proc) {
    keep_block_of_living_child((geteuid() == 0 ? 0 : CLONE_NEWUSER) | CLONE_NEWPID | CLONE_NEWNS);
}

/* The first call in a child is made by a process that has borrowed its memory: the block is the child's. */
TEST(block_got_by_a_child_of_vfork_is_its_parents) {
    struct aggstats_recorder *recorder = join_file_of_two();
    pid_t child = fork();
    if (child == 0) {
        aggstats_shared_lend_memory(recorder);
        /* NOLINTBEGIN(clang-analyzer-*): the test is about vfork(2) */
        pid_t borrower = vfork();
        if (borrower == 0) {
            record(recorder, OP_WRITE, 1);
            _exit(0);
        }
        /* NOLINTEND(clang-analyzer-*) */
        waitpid(borrower, NULL, 0);
        record(recorder, OP_WRITE, 1);
        count_in_raw_child(recorder, 3);
        record(recorder, OP_WRITE, 1);
        _exit(0);
    }
    wait_for(child);
    ck_assert_uint_eq(calls_of("WRITE"), 3);
    ck_assert_uint_eq(calls_of("READ"), 0);
    ck_assert_uint_eq(crowded_threads(), 1);
}

/* ---- Other ways to count ---- */

TEST(call_that_was_watched_counts_like_others) {
    struct aggstats_recorder *recorder = join();
    const struct aggstats_outcome outcome = {.error = ENOENT, .has_bytes = true, .asked_bytes = 10, .moved_bytes = 4};
    errno = EXDEV;
    struct aggstats_span span = aggstats_watch(recorder, OP_WRITE, 0);
    span.start_cycles = 1000;
    aggstats_watched_count(recorder, OP_WRITE, &span, 0, 5000, &outcome);
    ck_assert_int_eq(errno, EXDEV);
    struct aggstats_profile profile;
    read_file(&profile);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "WRITE");
    ck_assert_uint_eq(op->calls, 1);
    ck_assert_uint_eq(op->total_cycles, 4000);
    ck_assert_uint_eq(op->asked_bytes, 10);
    ck_assert_uint_eq(op->moved_bytes, 4);
    ck_assert_uint_eq(op->failures[aggstats_failure_of_error(ENOENT)], 1);
    ck_assert_uint_eq(profile.in_flight_count, 0);
    aggstats_profile_finish(&profile);
}

static size_t calls_in_flight(void) {
    struct aggstats_profile profile;
    read_file(&profile);
    size_t count = profile.in_flight_count;
    aggstats_profile_finish(&profile);
    return count;
}

TEST(call_that_a_process_ended_in_is_forgotten) {
    struct aggstats_recorder *recorder = join();
    struct aggstats_span own = aggstats_shared_begin(recorder, OP_WRITE, 5, 6);
    pid_t child = fork();
    if (child == 0) {
        aggstats_shared_begin(recorder, OP_READ, 5, 6);
        kill(getpid(), SIGKILL);
    }
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    ck_assert_uint_eq(calls_in_flight(), 1); /* also before its parent has waited for it */
    wait_for(child);
    ck_assert_uint_eq(calls_in_flight(), 1);
    aggstats_end(recorder, &own);
    ck_assert_uint_eq(calls_in_flight(), 0);
}

/* Nobody counts there any more: what has neither ended nor a name was left. */
TEST(calls_left_are_counted_when_nobody_counts) {
    struct aggstats_profile profile;
    struct aggstats_recorder *recorder = join();
    for (int i = 0; i < 3; i++)
        aggstats_shared_begin(recorder, OP_READ, 5, 6); /* the last one has a name */
    record(recorder, OP_WRITE, 1);
    aggstats_shared_begin(recorder, OP_READ, 5, 6);
    read_file(&profile);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->left_calls, 0); /* they may be interrupted */
    aggstats_profile_finish(&profile);
    aggstats_recorder_destroy(maker);
    maker = NULL;
    read_file(&profile);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->left_calls, 3);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "WRITE")->left_calls, 0);
    ck_assert_uint_eq(profile.in_flight_count, 1);
    aggstats_profile_finish(&profile);
}

TEST(notes_and_sums_of_all_are_added_up) {
    struct aggstats_shared_facts facts;
    aggstats_recorder_note(join(), 1, 20);
    aggstats_recorder_note(join(), 1, 3);
    aggstats_recorder_sum(join(), 1, UINT64_C(1) << 40);
    aggstats_recorder_sum(join(), 1, 7);
    aggstats_recorder_shared_facts(maker, &facts);
    ck_assert_uint_eq(facts.notes[0], 0);
    ck_assert_uint_eq(facts.notes[1], 23);
    ck_assert_uint_eq(facts.sums[0], 0);
    ck_assert_uint_eq(facts.sums[1], (UINT64_C(1) << 40) + 7);
}

/* ---- Calls in flight, seen by the process that made the file ---- */

TEST(file_is_busy_while_a_call_is_in_flight) {
    struct aggstats_recorder *recorder = join();
    ck_assert(!aggstats_recorder_shared_in_flight(maker, NULL));
    uint64_t ops = 0;
    struct aggstats_span span = aggstats_shared_begin(recorder, OP_WRITE, 5, 6);
    ck_assert(aggstats_recorder_shared_in_flight(maker, &ops));
    ck_assert_uint_eq(ops, UINT64_C(1) << OP_WRITE);
    aggstats_end(recorder, &span);
    ck_assert(!aggstats_recorder_shared_in_flight(maker, &ops));
    ck_assert_uint_eq(ops, 0);
    span = aggstats_watch(recorder, OP_READ, 6);
    ck_assert(aggstats_recorder_shared_in_flight(maker, &ops));
    ck_assert_uint_eq(ops, UINT64_C(1) << OP_READ);
    aggstats_watched_drop(&span);
    ck_assert(!aggstats_recorder_shared_in_flight(maker, NULL));
}

static void *wait_in_a_call(void *recorder) {
    struct aggstats_span span = aggstats_shared_begin(recorder, OP_READ, 5, 6);
    pthread_barrier_wait(&all_have_counted);
    pthread_barrier_wait(&all_have_counted);
    aggstats_end(recorder, &span);
    pthread_barrier_wait(&all_have_counted);
    pthread_barrier_wait(&all_may_end);
    return NULL;
}

/* Each thread in turn is the only one in a call, also those for whom more blocks must be mapped. */
TEST(every_thread_makes_the_file_busy) {
    struct aggstats_recorder *recorder;
    pthread_t threads[MANY_THREADS];
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(make(MANY_THREADS + 1), 0);
    recorder = join();
    pthread_barrier_init(&all_have_counted, NULL, 2);
    pthread_barrier_init(&all_may_end, NULL, MANY_THREADS + 1);
    for (size_t i = 0; i < MANY_THREADS; i++) {
        ck_assert(!aggstats_recorder_shared_in_flight(maker, NULL));
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_in_a_call, recorder), 0);
        pthread_barrier_wait(&all_have_counted);
        ck_assert(aggstats_recorder_shared_in_flight(maker, NULL));
        pthread_barrier_wait(&all_have_counted);
        pthread_barrier_wait(&all_have_counted);
    }
    pthread_barrier_wait(&all_may_end);
    for (size_t i = 0; i < MANY_THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(process_that_ended_in_a_call_is_not_busy) {
    struct aggstats_recorder *recorder = join();
    pid_t child = fork();
    if (child == 0) {
        aggstats_shared_begin(recorder, OP_READ, 5, 6);
        kill(getpid(), SIGSTOP);
        kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    ck_assert(aggstats_recorder_shared_in_flight(maker, NULL));
    kill(child, SIGCONT);
    wait_for(child);
    ck_assert(!aggstats_recorder_shared_in_flight(maker, NULL));
}

/* ---- Memory of the file ---- */

#define MANY_OPS 40
#define WHOLE_BLOCKS 64

static char many_names[MANY_OPS][8];

/* A file and a recorder with many ops. */
static struct aggstats_recorder *join_many(unsigned resolution) {
    static const char *names[MANY_OPS];
    struct aggstats_recorder *recorder = NULL;
    for (unsigned op = 0; op < MANY_OPS; op++) {
        snprintf(many_names[op], sizeof(many_names[op]), "OP%u", op);
        names[op] = many_names[op];
    }
    const struct aggstats_recorder_options options = {
        .op_names = names, .op_count = MANY_OPS, .resolution = resolution, .live_path = path};
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(aggstats_recorder_create_shared(&options, MANY_THREADS, 0, &maker), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, names, MANY_OPS, false, &recorder), 0);
    return recorder;
}

static void *take_block_and_wait(void *recorder) {
    record(recorder, 0, 1);
    pthread_barrier_wait(&all_have_counted);
    pause();
    return NULL;
}

/* Threads that have the first blocks, which are whole, until the process ends. */
static void take_whole_blocks(struct aggstats_recorder *recorder) {
    pthread_t thread;
    pthread_barrier_init(&all_have_counted, NULL, WHOLE_BLOCKS + 1);
    for (unsigned i = 0; i < WHOLE_BLOCKS; i++)
        ck_assert_int_eq(pthread_create(&thread, NULL, take_block_and_wait, recorder), 0);
    pthread_barrier_wait(&all_have_counted);
}

/* Calls each op once more often than the one before, the last ones first. */
static void record_many(struct aggstats_recorder *recorder) {
    for (unsigned op = MANY_OPS; op-- > 0;)
        record(recorder, op, (int)op + 1);
}

static void check_many(uint64_t first_calls) {
    struct aggstats_profile profile;
    struct aggstats_profile own;
    read_file(&profile);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &own), 0);
    ck_assert_uint_eq(profile.op_count, MANY_OPS);
    ck_assert_uint_eq(own.op_count, MANY_OPS);
    for (unsigned op = 0; op < MANY_OPS; op++) {
        ck_assert_uint_eq(aggstats_profile_op(&profile, many_names[op])->calls, op + (op == 0 ? first_calls : 1));
        ck_assert_uint_eq(aggstats_profile_op(&own, many_names[op])->calls, op + (op == 0 ? first_calls : 1));
    }
    aggstats_profile_finish(&profile);
    aggstats_profile_finish(&own);
}

static off_t bytes_of_five_ops(void) {
    struct aggstats_recorder *recorder = join_many(1);
    take_whole_blocks(recorder);
    off_t before = file_bytes();
    pid_t child = fork();
    if (child == 0) {
        for (unsigned op = 3; op < MANY_OPS; op += 8)
            record(recorder, op, 1);
        _exit(0);
    }
    wait_for(child);
    return file_bytes() - before;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

/* A call that is held up is slow, and its counter may be in another page: so more than one process tries. */
TEST(thread_with_five_ops_takes_two_pages) {
    bool are_two_enough = false;
    for (int i = 0; i < 7 && !are_two_enough; i++) {
        pid_t child = fork();
        if (child == 0) {
            const off_t bytes = bytes_of_five_ops();
            _exit(bytes > 0 && bytes <= 2 * PAGE_BYTES ? 0 : 1);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        are_two_enough = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    ck_assert(are_two_enough);
}

TEST(ops_are_found_wherever_their_counters_are) {
    for (unsigned resolution = 1; resolution <= 8; resolution *= 2) {
        struct aggstats_recorder *recorder = join_many(resolution);
        pid_t child = fork();
        if (child == 0) {
            record_many(recorder);
            _exit(0);
        }
        wait_for(child);
        check_many(1);
    }
}

/* Makes system calls fail for this process from now on. other_number: another one; -1: none */
static void forbid(int number, int error, int other_number) {
    const struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)other_number, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    };
    const struct sock_fprog program = {.len = 5, .filter = (struct sock_filter *)(uintptr_t)filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(77);
}

static int count_forbidden(int number, int other_number) {
    struct aggstats_recorder *recorder = join_many(1);
    int status;
    take_whole_blocks(recorder);
    pid_t child = fork();
    if (child == 0) {
        record(recorder, MANY_OPS - 1, 1);
        forbid(number, EINVAL, other_number);
        record(recorder, MANY_OPS - 1, MANY_OPS - 1);
        for (unsigned op = MANY_OPS - 1; op-- > 0;)
            record(recorder, op, (int)op + 1);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

/* As with Linux before 5.14. */
TEST(kernel_that_does_not_populate_allocates_otherwise) {
    if (count_forbidden(SYS_madvise, -1) == 0)
        check_many(WHOLE_BLOCKS + 1);
}

TEST(ops_without_memory_are_missing_and_said_to_be) {
    if (count_forbidden(SYS_madvise, SYS_openat) != 0)
        return;
    char next[8];
    struct aggstats_profile profile;
    read_file(&profile);
    ck_assert(profile.incomplete);
    ck_assert_uint_eq(aggstats_profile_op(&profile, many_names[MANY_OPS - 1])->calls, MANY_OPS);
    ck_assert_uint_lt(profile.op_count, 6); /* what fits into its first page, and the other threads' */
    snprintf(next, sizeof(next), "OP%u", MANY_OPS + 1 - (unsigned)profile.op_count);
    ck_assert_ptr_nonnull(aggstats_profile_op(&profile, next));
    aggstats_profile_finish(&profile);
}

TEST(file_has_fewer_blocks_where_files_must_be_small) {
    struct rlimit limit;
    struct aggstats_shared_facts facts;
    aggstats_recorder_destroy(maker);
    maker = NULL;
    unlink(path);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 1U << 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(make(AGGSTATS_SHARED_THREADS_MAX), 0);
    aggstats_recorder_shared_facts(maker, &facts);
    ck_assert_uint_gt(facts.threads_max, 32);
    ck_assert_uint_lt(facts.threads_max, (1U << 20) / 4096);
    record(join(), OP_READ, 3);
    ck_assert_uint_eq(calls_of("READ"), 3);
    aggstats_recorder_destroy(maker);
    maker = NULL;
    unlink(path);
    limit.rlim_cur = 8192;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(make(AGGSTATS_SHARED_THREADS_MAX), -EFBIG);
    ck_assert_int_eq(access(path, F_OK), -1);
}

/* ---- What its maker sees ---- */

TEST(maker_shows_the_calls_of_all_in_intervals) {
    struct aggstats_recorder *recorder = join();
    struct aggstats_profile profile;
    uint64_t samples = 0;
    ck_assert_int_eq(aggstats_recorder_set_interval(maker, AGGSTATS_INTERVAL_MIN_NS, 0), 0);
    record(recorder, OP_READ, 7);
    size_t interval_count;
    do {
        usleep(AGGSTATS_INTERVAL_MIN_NS / 1000);
        ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
        interval_count = profile.interval_count;
        aggstats_profile_finish(&profile);
    } while (interval_count < 2);
    count_in_child(recorder, 11, true);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    const struct aggstats_op_profile *op = aggstats_profile_op(&profile, "READ");
    ck_assert_uint_eq(op->calls, 18);
    ck_assert_uint_gt(profile.interval_count, 1);
    for (size_t i = 0; i < op->sample_count; i++)
        samples += op->samples[i].count;
    ck_assert_uint_eq(samples, 18);
    aggstats_profile_finish(&profile);
}

TEST(maker_resets_the_calls_of_all) {
    struct aggstats_recorder *recorder = join();
    struct aggstats_profile profile;
    record(recorder, OP_READ, 7);
    struct aggstats_span span = aggstats_shared_begin(recorder, OP_WRITE, 5, 6);
    ck_assert_int_eq(aggstats_recorder_reset(maker), 0);
    count_in_child(recorder, 11, false);
    aggstats_end(recorder, &span);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 11);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "WRITE")->calls, 1);
    aggstats_profile_finish(&profile);
    ck_assert_uint_eq(calls_of("READ"), 11); /* and in the file */
}

TEST(maker_resets_calls_that_a_process_ended_in) {
    struct aggstats_recorder *recorder = join();
    struct aggstats_profile profile;
    for (int round = 0; round < 2; round++) {
        pid_t child = fork();
        if (child == 0) {
            record(recorder, OP_READ, 3);
            aggstats_shared_begin(recorder, OP_READ, 5, 6);
            aggstats_shared_begin(recorder, OP_WRITE, 5, 6);
            kill(getpid(), SIGKILL);
        }
        wait_for(child);
        if (round == 0)
            ck_assert_int_eq(aggstats_recorder_reset(maker), 0);
    }
    record(recorder, OP_READ, 2);
    ck_assert_int_eq(aggstats_recorder_snapshot(maker, &profile), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 3 + 1 + 2);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "WRITE")->calls, 1);
    aggstats_profile_finish(&profile);
}

/* ---- Faults ---- */

#if !defined(__SANITIZE_THREAD__)
#define THREADS_TOO_MANY 3

static void *count_and_wait(void *recorder) {
    record(recorder, OP_READ, 1);
    pthread_barrier_wait(&all_have_counted);
    return NULL;
}

TEST(threads_that_find_no_room_are_told_of) {
    struct aggstats_recorder *recorder = join();
    pthread_t threads[THREADS_MAX + THREADS_TOO_MANY];
    pthread_barrier_init(&all_have_counted, NULL, THREADS_MAX + THREADS_TOO_MANY);
    for (size_t i = 0; i < THREADS_MAX + THREADS_TOO_MANY; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, count_and_wait, recorder), 0);
    for (size_t i = 0; i < THREADS_MAX + THREADS_TOO_MANY; i++)
        pthread_join(threads[i], NULL);
    ck_assert(!is_incomplete());
    ck_assert_uint_eq(crowded_threads(), THREADS_TOO_MANY + 1);
    ck_assert_uint_eq(calls_of("READ"), THREADS_MAX - 1); /* and this thread, which has joined, has room of its own */
}
#endif

TEST(file_that_is_gone_loses_new_threads_only) {
    struct aggstats_recorder *recorder = join();
    record(recorder, OP_READ, 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    unlink(path);
    count_in_child(recorder, 3, false);
    record(recorder, OP_READ, 5);
    struct aggstats_profile profile;
    struct aggstats_shared_facts facts;
    ck_assert_int_eq(aggstats_live_read(fd, &profile, NULL, NULL), 0);
    close(fd);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 7);
    aggstats_recorder_shared_facts(maker, &facts);
    ck_assert_uint_eq(facts.notes[AGGSTATS_NOTE_MISSING], 1); /* the process, however many calls */
    ck_assert_uint_eq(facts.notes[AGGSTATS_NOTE_DENIED], 0);
    ck_assert(!profile.incomplete);
    aggstats_profile_finish(&profile);
}

TEST(file_of_one_process_is_refused) {
    struct aggstats_recorder *recorder = NULL;
    aggstats_recorder_destroy(maker);
    unlink(path);
    ck_assert_int_eq(make(0), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), -EBADMSG);
    ck_assert_ptr_null(recorder);
}

TEST(file_with_other_operations_is_refused) {
    static const char *const others[OP_COUNT] = {"READ", "REED"};
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(aggstats_recorder_join(path, others, OP_COUNT, false, &recorder), -EBADMSG);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, 1, false, &recorder), -EBADMSG);
    ck_assert_int_eq(aggstats_recorder_join(directory, op_names, OP_COUNT, false, &recorder), -EISDIR);
}

TEST(file_that_is_cut_short_is_refused) {
    struct aggstats_recorder *recorder = NULL;
    ck_assert_int_eq(truncate(path, 4096), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), -EBADMSG);
    ck_assert_int_eq(truncate(path, 100), 0);
    ck_assert_int_eq(aggstats_recorder_join(path, op_names, OP_COUNT, false, &recorder), -EBADMSG);
    ck_assert_int_eq(truncate(path, file_bytes() + (1 << 22)), 0); /* for the recorder to end well */
}
