/* The table of file locks, as text of the kernel or of anybody. */
#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "lock_table.h"
#include "testing.h"

#define FILE_A "fe:00:10960660"
#define FILE_B "fe:00:10960661"

static void read_table(const char *text, struct lock_table *ret_table) {
    CLEANUP_STREAM FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    ck_assert_int_eq(lock_table_read(stream, ret_table), 0);
}

/* Whom a process waits for: the pid of the lock; -2: that is not known. */
static int64_t blocker_of(const char *text, struct lock_request request, struct lock_blocker *ret_blocker) {
    struct lock_table table;
    struct lock_blocker blocker = {.lock = NULL};
    read_table(text, &table);
    int64_t pid = lock_table_find(&table, &request, &blocker) ? blocker.lock->pid : -2;
    if (ret_blocker)
        *ret_blocker = blocker; /* its lock is not valid any more */
    lock_table_finish(&table);
    return pid;
}

static struct lock_request request_of(enum lock_kind kind, uint64_t process) {
    return (struct lock_request){.kind = kind, .process = process};
}

static struct lock_request request_on(enum lock_kind kind, uint64_t process, uint64_t inode) {
    return (struct lock_request){
        .kind = kind, .process = process, .has_file = true, .device = makedev(0xfe, 0), .inode = inode};
}

/* ---- Lines ---- */

TEST(a_line_tells_kind_process_file_and_bytes) {
    struct lock lock;
    ck_assert(lock_parse("17: POSIX  ADVISORY  WRITE 4711 fe:10:10960660 100 199\n", &lock));
    ck_assert_uint_eq(lock.depth, 0);
    ck_assert_int_eq(lock.kind, LOCK_FCNTL);
    ck_assert(!lock.is_description && lock.is_write);
    ck_assert_int_eq(lock.pid, 4711);
    ck_assert_uint_eq(lock.device, makedev(0xfe, 0x10));
    ck_assert_uint_eq(lock.inode, 10960660);
    ck_assert_uint_eq(lock.begin, 100);
    ck_assert_uint_eq(lock.end, 199);
}

static const struct {
    const char *line;
    unsigned depth;
    enum lock_kind kind;
    bool is_description;
    int64_t pid;
} lines[] = {
    {"1: FLOCK  ADVISORY  WRITE 5352 fe:00:1 0 EOF", 0, LOCK_FLOCK, false, 5352},
    {"1: -> FLOCK  ADVISORY  READ 5352 fe:00:1 0 EOF", 1, LOCK_FLOCK, false, 5352},
    {"1:  -> OFDLCK ADVISORY  WRITE -1 fe:00:1 0 EOF", 2, LOCK_FCNTL, true, -1},
    {"9: LEASE  ACTIVE    WRITE 7 00:2b:1 0 EOF", 0, LOCK_LEASE, false, 7},
    {"9: -> LEASE  BREAKER   READ 7 <none>:0 0 EOF", 1, LOCK_LEASE, false, 7},
    {"9: DELEG  BREAKING  READ 0 00:2b:1 0 EOF", 0, LOCK_LEASE, false, 0},
    {"\t2: POSIX  ADVISORY  READ  7 00:2b:1 0 EOF", 0, LOCK_FCNTL, false, 7}, /* of fdinfo */
};

TEST(kinds_and_waits_are_told_apart, .to = ARRAY_SIZE(lines)) {
    struct lock lock;
    ck_assert(lock_parse(lines[_i].line, &lock));
    ck_assert_uint_eq(lock.depth, lines[_i].depth);
    ck_assert_int_eq(lock.kind, lines[_i].kind);
    ck_assert_int_eq(lock.is_description, lines[_i].is_description);
    ck_assert_int_eq(lock.pid, lines[_i].pid);
}

static const char *const wrong[] = {
    "",
    "\n",
    "1",
    "1:",
    "1: ->",
    ": FLOCK  ADVISORY  WRITE 1 fe:00:1 0 EOF",
    "x: FLOCK  ADVISORY  WRITE 1 fe:00:1 0 EOF",
    "1: UNKNOWN UNKNOWN  READ 1 fe:00:1 0 EOF",
    "1: POSIX  *NOINODE* READ 1 <none>:0 0 EOF",
    "1: FLOCK  ADVISORY  WRITE one fe:00:1 0 EOF",
    "1: FLOCK  ADVISORY  WRITE -7 fe:00:1 0 EOF",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00 0 EOF",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00:1",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00:1 ",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00:1 0",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00:1 0 ",
    "1: FLOCK  ADVISORY  WRITE 1 fe:00:1 0 x",
    "1: FLOCKFLOCKFLOCKFLOCKFLOCKFLOCKFLOCK  ADVISORY  WRITE 1 fe:00:1 0 EOF",
};

TEST(other_lines_are_no_locks, .to = ARRAY_SIZE(wrong)) {
    struct lock lock = {.inode = 47};
    ck_assert(!lock_parse(wrong[_i], &lock));
    ck_assert_uint_eq(lock.inode, 47);
}

TEST(a_lock_is_the_same_in_fdinfo) {
    struct lock a;
    struct lock b;
    ck_assert(lock_parse("17: FLOCK  ADVISORY  WRITE 4711 " FILE_A " 0 EOF\n", &a));
    ck_assert(lock_parse("\t1: FLOCK  ADVISORY  WRITE 4711 " FILE_A " 0 EOF\n", &b));
    ck_assert(lock_is_same(&a, &b));
    ck_assert(lock_parse("\t1: FLOCK  ADVISORY  READ 4711 " FILE_A " 0 EOF\n", &b));
    ck_assert(!lock_is_same(&a, &b));
    ck_assert(lock_parse("\t1: FLOCK  ADVISORY  WRITE 4711 " FILE_B " 0 EOF\n", &b));
    ck_assert(!lock_is_same(&a, &b));
    ck_assert(lock_parse("\t1: POSIX  ADVISORY  WRITE 4711 " FILE_A " 0 EOF\n", &b));
    ck_assert(!lock_is_same(&a, &b));
}

/* ---- Requests ---- */

static const char fight[] = "1: FLOCK  ADVISORY  WRITE 10 " FILE_A " 0 EOF\n"
                            "1: -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n"
                            "1: -> FLOCK  ADVISORY  WRITE 12 " FILE_A " 0 EOF\n"
                            "2: POSIX  ADVISORY  WRITE 20 " FILE_B " 0 EOF\n"
                            "2: -> POSIX  ADVISORY  WRITE 11 " FILE_B " 0 EOF\n"
                            "2:  -> POSIX  ADVISORY  READ 21 " FILE_B " 0 EOF\n"
                            "3: LEASE  BREAKING  WRITE 30 " FILE_B " 0 EOF\n"
                            "3: -> LEASE  BREAKER   READ 31 <none>:0 0 EOF\n";

TEST(a_request_waits_for_the_lock_above_it) {
    struct lock_blocker blocker;
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_FLOCK, 11), &blocker), 10);
    ck_assert(blocker.is_held);
    ck_assert_uint_eq(blocker.others, 0);
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_FCNTL, 11), NULL), 20);
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_LEASE, 31), NULL), 30);
    ck_assert_int_eq(blocker_of(fight, request_on(LOCK_LEASE, 31, 10960661), NULL), 30);
}

TEST(a_request_behind_others_waits_for_who_holds_the_lock) {
    struct lock_blocker blocker;
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_FCNTL, 21), &blocker), 20);
    ck_assert(blocker.is_held);
}

TEST(a_request_for_other_bytes_waits_for_another_request_only) {
    struct lock_blocker blocker;
    static const char text[] = "1: POSIX  ADVISORY  WRITE 10 " FILE_A " 0 9\n"
                               "1: -> POSIX  ADVISORY  WRITE 11 " FILE_A " 0 99\n"
                               "1:  -> POSIX  ADVISORY  WRITE 12 " FILE_A " 50 59\n";
    ck_assert_int_eq(blocker_of(text, request_of(LOCK_FCNTL, 12), &blocker), 11);
    ck_assert(!blocker.is_held);
    ck_assert_int_eq(blocker_of(text, request_of(LOCK_FCNTL, 11), &blocker), 10);
    ck_assert(blocker.is_held);
}

TEST(who_waits_for_nothing_has_no_blocker) {
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_FLOCK, 10), NULL), -2);
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_FLOCK, 20), NULL), -2);
    ck_assert_int_eq(blocker_of(fight, request_of(LOCK_LEASE, 11), NULL), -2);
    ck_assert_int_eq(blocker_of("", request_of(LOCK_FLOCK, 11), NULL), -2);
    ck_assert_int_eq(blocker_of(fight, request_on(LOCK_FLOCK, 11, 10960661), NULL), -2);
}

/* A process of several threads. */
static const char two_files[] = "1: FLOCK  ADVISORY  WRITE 10 " FILE_A " 0 EOF\n"
                                "1: -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n"
                                "2: FLOCK  ADVISORY  WRITE 20 " FILE_B " 0 EOF\n"
                                "2: -> FLOCK  ADVISORY  WRITE 11 " FILE_B " 0 EOF\n";

TEST(of_two_requests_of_a_process_the_file_decides) {
    ck_assert_int_eq(blocker_of(two_files, request_of(LOCK_FLOCK, 11), NULL), -2);
    ck_assert_int_eq(blocker_of(two_files, request_on(LOCK_FLOCK, 11, 10960660), NULL), 10);
    ck_assert_int_eq(blocker_of(two_files, request_on(LOCK_FLOCK, 11, 10960661), NULL), 20);
}

static const char descriptions[] = "1: OFDLCK ADVISORY  WRITE -1 " FILE_A " 0 EOF\n"
                                   "1: -> POSIX  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n"
                                   "2: POSIX  ADVISORY  WRITE 20 " FILE_B " 0 EOF\n"
                                   "2: -> OFDLCK ADVISORY  WRITE -1 " FILE_B " 0 EOF\n";

TEST(requests_of_descriptions_are_found_by_their_file) {
    ck_assert_int_eq(blocker_of(descriptions, request_of(LOCK_FCNTL, 11), NULL), -1);
    ck_assert_int_eq(blocker_of(descriptions, request_of(LOCK_FCNTL, 12), NULL), -2);
    ck_assert_int_eq(blocker_of(descriptions, request_on(LOCK_FCNTL, 12, 10960661), NULL), 20);
}

TEST(a_request_of_a_process_is_none_of_a_description) {
    struct lock_request request = request_on(LOCK_FCNTL, 12, 10960661);
    request.knows_owner = true;
    ck_assert_int_eq(blocker_of(descriptions, request, NULL), -2);
    request.is_description = true;
    ck_assert_int_eq(blocker_of(descriptions, request, NULL), 20);
}

TEST(others_that_share_the_lock_are_counted) {
    struct lock_blocker blocker;
    static const char text[] = "1: FLOCK  ADVISORY  READ  10 " FILE_A " 0 EOF\n"
                               "1: -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n"
                               "2: FLOCK  ADVISORY  READ  12 " FILE_A " 0 EOF\n"
                               "3: FLOCK  ADVISORY  READ  13 " FILE_A " 0 EOF\n"
                               "4: FLOCK  ADVISORY  READ  11 " FILE_A " 0 EOF\n" /* its own */
                               "5: POSIX  ADVISORY  WRITE 14 " FILE_A " 0 EOF\n" /* not in its way */
                               "6: FLOCK  ADVISORY  WRITE 15 " FILE_B " 0 EOF\n";
    ck_assert_int_eq(blocker_of(text, request_of(LOCK_FLOCK, 11), &blocker), 10);
    ck_assert_uint_eq(blocker.others, 2);
}

static const char *const cut[] = {
    "1: -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n",
    "1:    -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n",
    "garbage\n1: -> FLOCK  ADVISORY  WRITE 11 " FILE_A " 0 EOF\n",
};

TEST(a_request_without_a_lock_above_it_has_no_blocker, .to = ARRAY_SIZE(cut)) {
    ck_assert_int_eq(blocker_of(cut[_i], request_of(LOCK_FLOCK, 11), NULL), -2);
}
