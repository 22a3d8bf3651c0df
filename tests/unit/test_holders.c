/* What is read of descriptors, calls, mounts and disks; causes that have a holder; sentences. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "descriptors.h"
#include "disk.h"
#include "holders.h"
#include "holders_text.h"
#include "lock_table.h"
#include "place.h"
#include "proc.h"
#include "process.h"
#include "testing.h"

/* ---- fdinfo ---- */

TEST(fdinfo_tells_access_mount_and_inode) {
    struct descriptor_info info;
    descriptor_info_parse("pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t10960660\n", &info);
    ck_assert(info.has_access && info.has_mount && info.has_inode && !info.has_connection);
    ck_assert_int_eq(info.access, O_RDWR);
    ck_assert_uint_eq(info.mount, 26);
    ck_assert_uint_eq(info.inode, 10960660);
}

TEST(fdinfo_of_an_older_kernel_has_no_inode) {
    struct descriptor_info info;
    descriptor_info_parse("pos:\t0\nflags:\t0100001\nmnt_id:\t26\nfuse_connection:\t61", &info);
    ck_assert(info.has_access && info.has_mount && !info.has_inode && info.has_connection);
    ck_assert_int_eq(info.access, O_WRONLY);
    ck_assert_uint_eq(info.connection, 61);
}

static const char *const no_fdinfo[] = {"",        "\n\n\n",      "ino",         "ino:",     "ino:\n",
                                        "ino:\tx", "ino:\t12x\n", "xino:\t12\n", " ino:\t12"};

TEST(other_texts_are_no_fdinfo, .to = ARRAY_SIZE(no_fdinfo)) {
    struct descriptor_info info;
    descriptor_info_parse(no_fdinfo[_i], &info);
    ck_assert(!info.has_access && !info.has_mount && !info.has_inode && !info.has_connection);
}

TEST(a_lock_is_found_among_those_of_a_descriptor) {
    static const char text[] = "pos:\t0\nino:\t1\n"
                               "lock:\tgarbage\n"
                               "lock:\t1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n"
                               "lock:\t2: OFDLCK ADVISORY  WRITE -1 fe:00:1 0 9\n"
                               "lock:";
    struct lock lock;
    ck_assert(lock_parse("81: OFDLCK ADVISORY  WRITE -1 fe:00:1 0 9", &lock));
    ck_assert(lock_is_among(text, &lock));
    lock.end = 10;
    ck_assert(!lock_is_among(text, &lock));
    ck_assert(!lock_is_among("", &lock));
}

/* ---- Calls ---- */

TEST(the_file_of_a_call_is_its_first_argument) {
    struct thread_call call;
    char text[96];
    uint64_t fd = 0;
    snprintf(text, sizeof(text), "%ld 0x5 0x26 0x7ffcef4dd540 0x0 0x0 0x0 0x7ffcef4dd4b0 0x7f8667f16810\n",
             (long)SYS_fcntl);
    ck_assert(call_parse(text, &call));
    ck_assert_uint_eq(call.arguments[1], 0x26);
    ck_assert(call_descriptor(&call, &fd));
    ck_assert_uint_eq(fd, 5);
}

TEST(calls_of_paths_have_no_descriptor) {
    struct thread_call call;
    char text[96];
    uint64_t fd = 47;
    snprintf(text, sizeof(text), "%ld 0x3 0x7ffcef4dd540 0x0 0x0 0x0 0x0 0x0 0x0\n", (long)SYS_openat);
    ck_assert(call_parse(text, &call));
    ck_assert(!call_descriptor(&call, &fd));
    ck_assert(call_directory(&call, &fd));
    ck_assert_uint_eq(fd, 3);
    fd = 47;
    snprintf(text, sizeof(text), "%ld 0xffffffffffffff9c 0x7ffcef4dd540 0x0 0x0 0x0 0x0 0x0 0x0\n", (long)SYS_read);
    ck_assert(call_parse(text, &call));
    ck_assert(!call_descriptor(&call, &fd));
    ck_assert(!call_directory(&call, &fd));
    ck_assert_uint_eq(fd, 47);
}

static const char *const no_call[] = {"", "\n", "running\n", "-1 0x7ffe 0x7f00\n", "73", "73 0x5", "73 0x5 0x2 x"};

TEST(outside_of_calls_there_is_none, .to = ARRAY_SIZE(no_call)) {
    struct thread_call call = {.number = 47};
    ck_assert(!call_parse(no_call[_i], &call));
    ck_assert_int_eq(call.number, 47);
}

/* ---- Mounts and disks ---- */

static const struct {
    const char *source;
    const char *server; /* NULL: none */
} sources[] = {
    {"nas1:/export", "nas1"},
    {"[fe80::1]:/export", "[fe80::1]"},
    {"10.0.0.1:6789,10.0.0.2:6789:/", "10.0.0.1:6789,10.0.0.2:6789"},
    {"//files/share", "files"},
    {"//files", "files"},
    {"\\\\files\\share", "files"},
    {"//", NULL},
    {":/", NULL},
    {"/dev/sda1", NULL},
    {"tmpfs", NULL},
    {"", NULL},
};

TEST(the_source_of_a_mount_names_the_server, .to = ARRAY_SIZE(sources)) {
    struct place place = {.has_mount = true};
    char name[64] = "before";
    snprintf(place.source, sizeof(place.source), "%s", sources[_i].source);
    ck_assert_int_eq(place_server(&place, name, sizeof(name)), sources[_i].server != NULL);
    ck_assert_str_eq(name, sources[_i].server ? sources[_i].server : "before");
}

TEST(requests_in_flight_are_reads_and_writes) {
    uint64_t count = 47;
    ck_assert(disk_parse_in_flight("       3        4\n", &count));
    ck_assert_uint_eq(count, 7);
    ck_assert(!disk_parse_in_flight("", &count));
    ck_assert(!disk_parse_in_flight("3", &count));
    ck_assert(!disk_parse_in_flight("x y", &count));
    ck_assert_uint_eq(count, 7);
}

static const struct {
    const char *text;
    bool is_set;
} limits[] = {
    {"7:0 524288\n", true}, /* of version 1 */
    {"8:0 100\n7:0 524288\n", true},
    {"17:0 524288\n", false},
    {"7:01 524288\n", false},
    {"7:0 0\n", false},
    {"7:0 rbps=max wbps=524288 riops=max wiops=max\n", true}, /* of version 2 */
    {"7:0 rbps=max wbps=max riops=max wiops=max\n7:16 wbps=1\n", false},
    {"7:0 \n", false},
    {"7:0", false},
    {"", false},
};

TEST(a_limit_is_of_that_disk_and_no_lack_of_one, .to = ARRAY_SIZE(limits)) {
    ck_assert_int_eq(disk_limit_is_set(limits[_i].text, "7:0"), limits[_i].is_set);
}

static const char groups_of_both[] = "4:cpu,cpuacct:/of cpu\n3:blkio:/slow/web:1\n1:name=systemd:/init\n0::/unified\n";
static const char groups_of_none[] = "3:blkio2,x:/a\nblkio\n:\n";
static const struct {
    const char *text;
    const char *controller;
    const char *group; /* NULL: none */
} groups[] = {
    {groups_of_both, "blkio", "/slow/web:1"},
    {groups_of_both, "cpuacct", "/of cpu"},
    {groups_of_both, "", "/unified"},
    {groups_of_both, "memory", NULL},
    {groups_of_none, "blkio", NULL},
    {groups_of_none, "", NULL},
    {"", "", NULL},
};

TEST(a_group_is_that_of_the_controller, .to = ARRAY_SIZE(groups)) {
    CLEANUP_FREE char *text = strdup(groups[_i].text);
    const char *group = process_cgroup_in(text, groups[_i].controller);
    if (groups[_i].group)
        ck_assert_str_eq(group, groups[_i].group);
    else
        ck_assert_ptr_null(group);
}

/* ---- Sentences ---- */

static struct aggstats_chain chain;
static char text[HOLDERS_TEXT_SIZE];

static void set_up(void) {
    chain = (struct aggstats_chain){
        .links = {{.waiter = {4711, 4711, "postgres"}, .thing = AGGSTATS_CAUSE_FLOCK, .object = "/srv/x"}}, .count = 1};
}

static void add(struct aggstats_link link) {
    chain.links[chain.count++] = link;
}

static void hold_by(const char *name, uint64_t process) {
    struct aggstats_link *last = &chain.links[chain.count - 1];
    last->relation = AGGSTATS_HELD;
    last->holder = (struct aggstats_party){.process = process};
    snprintf(last->holder.name, sizeof(last->holder.name), "%s", name);
}

#define ASSERT_SAYS(expected) ck_assert_str_eq(holders_format(&chain, text, sizeof(text)), expected)

TEST_CASE(.set_up = set_up);

TEST(what_is_not_known_is_left_out) {
    ASSERT_SAYS("postgres 4711 waits for the flock of /srv/x");
    chain.links[0].object[0] = '\0';
    ASSERT_SAYS("postgres 4711 waits for the flock of a file");
    chain.links[0].waiter.thread = 4712;
    chain.links[0].waiter.name[0] = '\0';
    ASSERT_SAYS("process 4711 (thread 4712) waits for the flock of a file");
    chain.links[0].thing = AGGSTATS_CAUSE_OTHER;
    ASSERT_SAYS("process 4711 (thread 4712): what it waits for cannot be seen");
    ck_assert_str_eq(holders_format_thing(&chain, text, sizeof(text)), "");
}

static const struct {
    enum aggstats_relation relation;
    size_t others;
    const char *words;
} relations[] = {
    {AGGSTATS_HELD, 0, "held by backup 992"},
    {AGGSTATS_HELD, 1, "held by backup 992 (and 1 other)"},
    {AGGSTATS_HELD, 2, "held by backup 992 (and 2 others)"},
    {AGGSTATS_TAKEN, 0, "taken by backup 992"},
    {AGGSTATS_ASKED_BEFORE, 0, "for which backup 992 asked before"},
    {AGGSTATS_BY_DESCRIPTION, 0, "held by an open file description"},
    {AGGSTATS_BY_UNSEEN, 0, "held by a process that cannot be seen"},
};

TEST(the_holder_is_told_as_far_as_it_is_known, .to = ARRAY_SIZE(relations)) {
    char expected[128];
    hold_by("backup", 992);
    chain.links[0].relation = relations[_i].relation;
    chain.links[0].others = relations[_i].others;
    snprintf(expected, sizeof(expected), "postgres 4711 waits for the flock of /srv/x, %s", relations[_i].words);
    ASSERT_SAYS(expected);
}

TEST(a_chain_is_one_sentence) {
    hold_by("backup", 992);
    add((struct aggstats_link){.waiter = {992, 0, "backup"},
                               .thing = AGGSTATS_CAUSE_DISK,
                               .object = "vda",
                               .has_in_flight = true,
                               .in_flight = 3});
    ASSERT_SAYS("postgres 4711 waits for the flock of /srv/x, held by backup 992, which waits for the disk vda (3 "
                "requests in flight)");
    ck_assert_str_eq(holders_format_thing(&chain, text, sizeof(text)),
                     "the flock of /srv/x, held by backup 992, which waits for the disk vda (3 requests in flight)");
    strcpy(chain.links[1].group, "/slow");
    ck_assert_str_eq(holders_format_thing(&chain, text, sizeof(text)),
                     "the flock of /srv/x, held by backup 992, which waits for the disk vda (3 requests in flight), "
                     "limited by the waiter's control group /slow");
    chain.links[1].group[0] = '\0';
    chain.links[1].in_flight = 1;
    chain.links[1].waiter.thread = 993;
    ASSERT_SAYS(
        "postgres 4711 waits for the flock of /srv/x, held by backup 992, whose thread 993 waits for the disk vda "
        "(1 request in flight)");
    chain.links[1] = (struct aggstats_link){.waiter = {992, 992, "backup"}, .cause.words = "sleeping"};
    ASSERT_SAYS("postgres 4711 waits for the flock of /srv/x, held by backup 992, whose main thread is sleeping");
    chain.links[1].is_all = true;
    ASSERT_SAYS("postgres 4711 waits for the flock of /srv/x, held by backup 992, all threads of which are sleeping");
}

TEST(a_circle_is_told) {
    hold_by("backup", 992);
    add((struct aggstats_link){.waiter = {992, 0, "backup"}, .thing = AGGSTATS_CAUSE_FCNTL, .object = "/srv/y"});
    hold_by("postgres", 4711);
    chain.is_circle = true;
    ASSERT_SAYS(
        "postgres 4711 waits for the flock of /srv/x, held by backup 992, which waits for the fcntl lock of /srv/y, "
        "held by postgres 4711: a circle");
}

TEST(a_loop_device_is_a_file_of_somebody) {
    chain.links[0] = (struct aggstats_link){
        .waiter = {7, 7, "dd"}, .thing = AGGSTATS_CAUSE_DISK, .object = "loop0", .source = "/mnt/image"};
    add((struct aggstats_link){.thing = AGGSTATS_CAUSE_FUSE, .object = "/mnt"});
    hold_by("osproffs", 9);
    add((struct aggstats_link){.waiter = {9, 0, "osproffs"}, .cause.words = "stopped"});
    ASSERT_SAYS(
        "dd 7 waits for the disk loop0, which is the file /mnt/image in the FUSE file system /mnt, served by osproffs "
        "9, which is stopped");
}

TEST(names_cannot_do_anything_to_a_terminal) {
    hold_by("\033[2Jevil\n", 992);
    snprintf(chain.links[0].object, sizeof(chain.links[0].object), "/srv/\xff\033]0;x\a");
    ASSERT_SAYS("postgres 4711 waits for the flock of /srv/\xef\xbf\xbd?]0;x?, held by ?[2Jevil? 992");
}

TEST(long_names_are_cut_and_never_run_over) {
    for (size_t i = 0; i < AGGSTATS_LINKS_MAX; i++) {
        struct aggstats_link *link = &chain.links[i];
        *link = (struct aggstats_link){.waiter = {1, 1, ""}, .thing = AGGSTATS_CAUSE_DISK, .relation = AGGSTATS_HELD};
        memset(link->object, 0xff, sizeof(link->object) - 1);
        memset(link->source, 0xff, sizeof(link->source) - 1);
        memset(link->waiter.name, 0xff, sizeof(link->waiter.name) - 1);
    }
    chain.count = AGGSTATS_LINKS_MAX;
    holders_format(&chain, text, sizeof(text));
    ck_assert_uint_lt(strlen(text), HOLDERS_TEXT_SIZE);
    ck_assert_uint_gt(strlen(text), HOLDERS_TEXT_SIZE / 2);
    for (size_t size = 8; size < 64; size++) { /* cut between characters */
        holders_format_thing(&chain, text, size);
        ck_assert_uint_lt(strlen(text), size);
        ck_assert_str_eq(text + strlen(text) - 3, "...");
        ck_assert_int_eq(strchr(text, '\xef') != NULL, strstr(text, "\xef\xbf\xbd...") != NULL);
    }
}

/* ---- Locks of the kernel, which others know ---- */

static void wait_for_name(uint64_t process, const char *expected) {
    char name[AGGSTATS_PARTY_NAME_SIZE] = "";
    while (strcmp(name, expected) != 0) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        proc_name_read(process, name, sizeof(name));
    }
}

static bool give_kernel_lock(void *context, uint64_t thread, struct holders_kernel_lock *ret_lock) {
    if (thread != (uint64_t)getpid())
        return false;
    *ret_lock = *(const struct holders_kernel_lock *)context;
    return true;
}

/* Who holds a lock for which this process waits. Returns what holders_find() does */
static bool find_kernel_lock(uint64_t owner) {
    char why[THREAD_CAUSES_WHY_SIZE];
    struct thread_causes causes = {.own = NULL};
    const struct thread_reading reading = {.stack = {.functions = {"ext4_file_write_iter"}, .count = 1}};
    struct holders_kernel_lock lock = {.owner = owner, .function = "ext4_file_write_iter"};
    const struct holders_options options = {
        .causes = &causes, .find_kernel_lock = give_kernel_lock, .kernel_lock_context = &lock};
    const struct holders_waiter waiter = {
        .process = (uint64_t)getpid(), .thread = (uint64_t)getpid(), .reading = &reading};
    ck_assert_int_eq(thread_causes_init(&causes, NULL, why), 0);
    bool is_found = holders_find(&options, &waiter, &chain);
    thread_causes_finish(&causes);
    holders_format_thing(&chain, text, sizeof(text));
    return is_found;
}

TEST_CASE();

TEST(the_owner_of_a_lock_of_the_kernel_is_given) {
    char expected[160];
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "tar");
        for (;;)
            pause();
    }
    wait_for_name((uint64_t)child, "tar");
    ck_assert(find_kernel_lock((uint64_t)child));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    snprintf(expected, sizeof(expected), "the kernel's lock in ext4_file_write_iter, held by tar %d", (int)child);
    ck_assert_int_eq(strncmp(text, expected, strlen(expected)), 0); /* behind it: what that one waits for */
    ck_assert(!chain.is_circle);
}

static const uint64_t no_owners[] = {0, UINT64_MAX};

TEST(an_owner_that_is_not_there_is_left_out, .to = ARRAY_SIZE(no_owners)) {
    ck_assert(find_kernel_lock(no_owners[_i]));
    ck_assert_str_eq(text, "the kernel's lock in ext4_file_write_iter");
}

/* ---- Of slow calls ---- */

static struct thread_causes causes;
static uint64_t waiter;
static const char *const locked[] = {"/tmp/test_holders.first.XXXXXX", "/tmp/test_holders.second.XXXXXX"};
static char paths[ARRAY_SIZE(locked)][64];
static int locked_fds[ARRAY_SIZE(locked)];

static void find_for_waiter(struct slow_holders *holders, const struct thread_reading *reading,
                            struct aggstats_wait *ret_wait) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = waiter, .age_ns = 1000000000, .memory = memory, .wants_holder = true};
    *ret_wait = (struct aggstats_wait){.is_put_off = false};
    slow_holders_find(holders, &look, reading, 0, ret_wait);
}

static void read_waiter(struct thread_reading *ret_reading) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = waiter, .memory = memory};
    ck_assert(thread_read(&causes, &look, ret_reading));
}

/* Returns false if it does not, or that cannot be seen. */
static bool waits_for_lock(size_t number, struct thread_reading *ret_reading) {
    char link[PATH_MAX] = "";
    read_waiter(ret_reading);
    thread_reading_read_place(ret_reading, waiter);
    uint64_t fd;
    if (ret_reading->why.kind != AGGSTATS_CAUSE_FLOCK || !call_descriptor(&ret_reading->call, &fd))
        return false;
    return descriptor_read_link(waiter, fd, link) && strcmp(link, paths[number]) == 0;
}

static bool wait_for_lock(size_t number, struct thread_reading *ret_reading) {
    for (int i = 0; i < 1000; i++) {
        if (waits_for_lock(number, ret_reading))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

/* Holds two locks, for which a process waits one after the other. */
static void start_waiter(void) {
    char why[THREAD_CAUSES_WHY_SIZE];
    ck_assert_int_eq(thread_causes_init(&causes, NULL, why), 0);
    for (size_t i = 0; i < ARRAY_SIZE(locked); i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s", locked[i]);
        locked_fds[i] = mkstemp(paths[i]);
        ck_assert_int_ge(locked_fds[i], 0);
        ck_assert_int_eq(flock(locked_fds[i], LOCK_EX), 0);
    }
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0; i < ARRAY_SIZE(locked); i++)
            flock(open(paths[i], O_RDWR), LOCK_EX);
        _exit(0);
    }
    waiter = (uint64_t)child;
}

static void end_waiter(void) {
    kill((pid_t)waiter, SIGKILL);
    waitpid((pid_t)waiter, NULL, 0);
    for (size_t i = 0; i < ARRAY_SIZE(locked); i++)
        unlink(paths[i]);
    thread_causes_finish(&causes);
}

TEST_CASE(.set_up = start_waiter, .tear_down = end_waiter);

/* The thread's present wait is not of the cause that was read. */
TEST(a_thread_that_waits_for_another_thing_meanwhile_has_no_holder) {
    struct thread_reading reading;
    struct thread_reading later;
    struct aggstats_wait wait;
    struct slow_holders holders = {.causes = &causes};
    if (!wait_for_lock(0, &reading))
        return; /* this libc does not measure what threads wait for */
    find_for_waiter(&holders, &reading, &wait);
    ck_assert_uint_ge(wait.chain.count, 1);
    ck_assert_uint_eq(wait.chain.links[0].holder.process, (uint64_t)getpid());
    ck_assert_str_eq(wait.chain.links[0].object, paths[0]);
    ck_assert_int_eq(flock(locked_fds[0], LOCK_UN), 0);
    ck_assert(wait_for_lock(1, &later));
    holders.next_ns = 0;
    find_for_waiter(&holders, &reading, &wait);
    ck_assert(!wait.is_put_off);
    ck_assert_uint_eq(wait.chain.count, 0);
    holders.next_ns = 0;
    find_for_waiter(&holders, &later, &wait);
    ck_assert_str_eq(wait.chain.links[0].object, paths[1]);
}

static void share_a_cpu(int niceness) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    setpriority(PRIO_PROCESS, 0, niceness);
}

static pid_t start_busy(void) {
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        share_a_cpu(0);
        for (;;)
            ;
    }
    return child;
}

/* A look that had to wait for a CPU most of the time has not cost that. */
TEST(looks_are_put_off_by_their_cost_on_a_busy_machine_too) {
    const struct thread_reading reading = {.why.kind = AGGSTATS_CAUSE_FLOCK};
    struct slow_holders holders;
    struct aggstats_wait wait;
    int64_t took_ns;
    int64_t cost_ns;
    const pid_t busy = start_busy();
    share_a_cpu(10);
    do {
        holders = (struct slow_holders){.causes = &causes};
        const int64_t before_ns = read_clock_ns(CLOCK_MONOTONIC);
        const int64_t cost_before_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        find_for_waiter(&holders, &reading, &wait);
        cost_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost_before_ns;
        took_ns = read_clock_ns(CLOCK_MONOTONIC) - before_ns;
        holders.next_ns -= before_ns + took_ns;
    } while (took_ns < 4 * cost_ns);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
    ck_assert_int_le(holders.next_ns, 11 * cost_ns);
    ck_assert(!wait.is_put_off);
}

/* So that none of several calls at once has to wait for the next time, if that costs little. */
TEST(holders_of_several_calls_are_looked_for_at_once) {
    const struct thread_reading reading = {.why.kind = AGGSTATS_CAUSE_FLOCK};
    struct slow_holders holders = {.causes = &causes};
    struct aggstats_wait wait;
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t cost_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t looks_ns = 0;       /* what all looks have cost */
    int64_t before_last_ns = 0; /* all but the last, which may be dear */
    do {
        before_last_ns = looks_ns;
        looks_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost_ns;
        find_for_waiter(&holders, &reading, &wait);
    } while (!wait.is_put_off);
    const int64_t passed_ns = read_clock_ns(CLOCK_MONOTONIC) - begin_ns;
    ck_assert_int_gt(11 * looks_ns, 100000000);
    ck_assert_int_lt(11 * before_last_ns, 2 * (passed_ns + 100000000));
}
