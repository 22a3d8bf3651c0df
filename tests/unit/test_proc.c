/* The kernel's facts about a thread, here about the calling thread. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc.h"
#include "testing.h"

/* ---- stat ---- */

TEST(a_name_may_hold_blanks_and_parentheses) {
    struct proc_stat stat;
    ck_assert_int_eq(prctl(PR_SET_NAME, "a) S (b 1"), 0);
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_str_eq(stat.name, "a) S (b 1");
    ck_assert_int_eq(stat.state[0], 'R');
}

TEST(fields_have_the_numbers_of_the_manual) {
    struct proc_stat stat;
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_ptr_eq(proc_stat_field(&stat, 3), stat.state);
    ck_assert_int_eq(strtol(proc_stat_field(&stat, 4), NULL, 10), getppid());
    ck_assert_int_eq(strtol(proc_stat_field(&stat, 6), NULL, 10), getsid(0));
}

TEST(there_are_not_a_hundred_fields) {
    struct proc_stat stat;
    ck_assert(proc_stat_read((uint64_t)gettid(), &stat));
    ck_assert_ptr_null(proc_stat_field(&stat, 100));
}

TEST(of_a_thread_that_is_not_there_nothing_is_read) {
    struct proc_stat stat;
    ck_assert(!proc_stat_read(UINT64_MAX, &stat));
}

/* ---- status ---- */

TEST(numbers_are_those_of_their_lines) {
    uint64_t number = 0;
    ck_assert_int_eq(prctl(PR_SET_NAME, "\nTgid:\t1"), 0); /* no name makes a line */
    ck_assert(proc_status_number((uint64_t)gettid(), "Tgid", 10, &number));
    ck_assert_uint_eq(number, (uint64_t)getpid());
    ck_assert(proc_status_number((uint64_t)gettid(), "PPid", 10, &number));
    ck_assert_uint_eq(number, (uint64_t)getppid());
}

TEST(signals_that_wait_are_bits) {
    sigset_t set;
    uint64_t pending = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    ck_assert(proc_status_number((uint64_t)gettid(), "SigPnd", 16, &pending));
    ck_assert_uint_eq(pending, UINT64_C(1) << (SIGUSR2 - 1));
}

TEST(what_is_not_there_is_not_read) {
    uint64_t number = 47;
    ck_assert(!proc_status_number((uint64_t)gettid(), "Tg", 10, &number));
    ck_assert(!proc_status_number(UINT64_MAX, "Tgid", 10, &number));
    ck_assert_uint_eq(number, 47);
}

/* ---- io ---- */

TEST(calls_and_bytes_are_summed_each_for_itself, .not_memcheck = true) {
    struct proc_io before;
    struct proc_io after;
    char bytes[11] = "";
    ssize_t written = 0;
    ssize_t got = 0;
    int zero_fd = open("/dev/zero", O_RDWR);
    bool is_known = proc_io_read("thread-self", &before); /* until the next one check is not called: it writes */
    for (int i = 0; i < 7; i++)
        written += write(zero_fd, bytes, 3);
    for (int i = 0; i < 13; i++)
        got += read(zero_fd, bytes, 11);
    is_known = proc_io_read("thread-self", &after) && is_known;
    close(zero_fd);
    ck_assert(is_known && written == 21 && got == 143);
    ck_assert_uint_eq(after.writes - before.writes, 7);
    ck_assert_uint_eq(after.written_bytes - before.written_bytes, 21);
    ck_assert_uint_eq(after.reads - before.reads, 13 + 1); /* and the first look itself */
    ck_assert_uint_ge(after.read_bytes - before.read_bytes, 143);
    ck_assert_uint_le(after.read_bytes - before.read_bytes, 143 + 256);
}

TEST(what_is_dirtied_is_to_be_written_to_storage) {
    struct proc_io before;
    struct proc_io after;
    char bytes[8192] = "";
    char path[] = "dirtied-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    bool is_known = proc_io_read("thread-self", &before);
    ssize_t written = write(fd, bytes, sizeof(bytes));
    is_known = proc_io_read("thread-self", &after) && is_known;
    close(fd);
    ck_assert(is_known && written == (ssize_t)sizeof(bytes));
    const uint64_t dirtied = after.storage_written_bytes - before.storage_written_bytes;
    ck_assert(dirtied == sizeof(bytes) || dirtied == 0); /* in memory, or on a file system that counts otherwise */
}

TEST(of_nobody_there_are_no_sums) {
    struct proc_io io = {.reads = 47};
    ck_assert(!proc_io_read("nobody", &io));
    ck_assert_uint_eq(io.reads, 47);
}

/* ---- The name ---- */

TEST(a_name_ends_where_the_program_ended_it) {
    char name[32];
    ck_assert_int_eq(prctl(PR_SET_NAME, "a name\n"), 0);
    proc_name_read((uint64_t)gettid(), name, sizeof(name));
    ck_assert_str_eq(name, "a name\n");
}

TEST(nobody_has_no_name) {
    char name[32] = "before";
    proc_name_read(UINT64_MAX, name, sizeof(name));
    ck_assert_str_eq(name, "");
}
