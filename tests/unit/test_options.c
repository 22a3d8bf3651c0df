/* The command line: valid options fill struct options; an invalid option causes one clear message. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "options.h"
#include "said.h"
#include "testing.h"
#include "uring.h"

#define ARGUMENTS_MAX 8

static struct options options;

/* Parses "osproffs" and these blank-separated arguments. */
static int parse(const char *line) {
    char copy[512];
    char *arguments[ARGUMENTS_MAX + 1] = {(char[]){"osproffs"}};
    int count = 1;
    snprintf(copy, sizeof(copy), "%s", line);
    char *rest = copy;
    for (char *argument = strsep(&rest, " "); argument && count < ARGUMENTS_MAX; argument = strsep(&rest, " "))
        arguments[count++] = argument;
    return options_parse(count, arguments, &options);
}

static void parse_good(const char *line) {
    said_listen();
    int status = parse(line);
    ck_assert_msg(status == 0 && said_lines() == 0, "%s: %s", line, said());
}

static void tear_down(void) {
    options_finish(&options);
}

/* True if libfuse is given that argument. */
static bool is_for_libfuse(const char *argument) {
    for (int i = 0; i < options.fuse_args.argc; i++) {
        if (strstr(options.fuse_args.argv[i], argument))
            return true;
    }
    return false;
}

TEST_CASE(.tear_down = tear_down);

TEST(profiles_may_be_rotated) {
    parse_good("lower mount -o rotate=3600,keep=48,profile=d/");
    ck_assert_uint_eq(options.rotate_ns, UINT64_C(3600000000000));
    ck_assert_uint_eq(options.keep, 48);
    ck_assert_str_eq(options.profile, "d/");
    options_finish(&options);
    parse_good("lower mount");
    ck_assert(options.rotate_ns == 0 && options.keep == 0);
}

TEST(two_directories_are_enough) {
    parse_good("lower mount");
    ck_assert_int_eq(options.action, OPTIONS_MOUNT);
    ck_assert_str_eq(options.lower, "lower");
    ck_assert_str_eq(options.mountpoint, "mount");
    ck_assert_str_eq(options.control_name, ".osprof");
    ck_assert_ptr_null(options.profile);
    ck_assert_ptr_null(options.live_directory);
    ck_assert_uint_eq(options.session.resolution, 1);
    ck_assert_int_eq(options.cache, CACHE_AUTO);
    ck_assert_int_eq(options.timing, TIMING_FULL);
    ck_assert(!options.kernel_data && !options.plain_workers);
    ck_assert(!options.foreground && !options.single_threaded && !options.debug && !options.allow_other);
    ck_assert(!options.default_permissions && !options.forward_posix_locks && !options.forward_flocks);
    ck_assert(!is_for_libfuse("lower") && !is_for_libfuse("mount"));
}

TEST(every_option_is_understood) {
    parse_good("-f -s lower mount -o profile=a/b,control=.p,live=/run,resolution=8 -ocache=none,timing=off,posix_lock,"
               "flock,workers=plain");
    ck_assert(options.plain_workers);
    ck_assert(options.foreground && options.single_threaded);
    ck_assert_str_eq(options.profile, "a/b");
    ck_assert_str_eq(options.control_name, ".p");
    ck_assert_str_eq(options.live_directory, "/run");
    ck_assert_uint_eq(options.session.resolution, 8);
    ck_assert_int_eq(options.cache, CACHE_NONE);
    ck_assert_int_eq(options.timing, TIMING_OFF);
    ck_assert(options.forward_posix_locks && options.forward_flocks);
    ck_assert_uint_eq(options.session.interval_ns, 0);
}

TEST(what_is_recorded_besides) {
    parse_good("lower mount -o interval=0.25,intervals=16");
    ck_assert_uint_eq(options.session.interval_ns, 250000000);
    ck_assert_uint_eq(options.session.intervals_max, 16);
    options_finish(&options);
    parse_good("lower mount -o by=process,groups=100");
    ck_assert_uint_eq(options.groups.groupings, 1U << AGGSTATS_BY_PROCESS);
    ck_assert_uint_eq(options.session.groups_max, 100);
    options_finish(&options);
    parse_good("lower mount -o by=uid+process");
    ck_assert_uint_eq(options.groups.groupings, 1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_UID);
    options_finish(&options);
    parse_good("lower mount -o by=file+directory:2");
    ck_assert_uint_eq(options.groups.groupings, 1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY);
    ck_assert_uint_eq(options.groups.directory_depth, 2);
    options_finish(&options);
    parse_good("lower mount -o by=none");
    ck_assert_uint_eq(options.groups.groupings, 0);
    options_finish(&options);
    parse_good("lower mount -o joint=read:size+READ:offset+lookup:error");
    ck_assert_uint_eq(options.session.joint[FS_OP_READ], 1U << AGGSTATS_SIZE | 1U << AGGSTATS_OFFSET);
    ck_assert_uint_eq(options.session.joint[FS_OP_LOOKUP], 1U << AGGSTATS_ERROR);
    options_finish(&options);
    parse_good("lower mount -o interval=86400");
    ck_assert_uint_eq(options.session.interval_ns, 86400000000000);
    ck_assert_uint_eq(options.session.intervals_max, 0);
}

TEST(labels_are_kept_as_they_are_given) {
    parse_good("lower mount -o label=rack=7,label=note=a\\,b\\\\c -o label=town=K\xc3\xb6ln");
    ck_assert_uint_eq(options.session.labels.count, 3);
    ck_assert_str_eq(options.session.labels.texts[0], "rack=7");
    ck_assert_str_eq(options.session.labels.texts[1], "note=a,b\\c");
    ck_assert_str_eq(options.session.labels.texts[2], "town=K\xc3\xb6ln");
    ck_assert(!is_for_libfuse("rack"));
}

TEST(names_are_values_in_order, .to = 4) {
    static const char *const resolutions[] = {"lower mount -o resolution=1", "lower mount -o resolution=2",
                                              "lower mount -o resolution=4", "lower mount -o resolution=8"};
    static const char *const caches[] = {"auto", "none", "always"};
    parse_good(resolutions[_i]);
    ck_assert_uint_eq(options.session.resolution, 1U << _i);
    if (_i < 3)
        ck_assert_str_eq(cache_mode_name((enum cache_mode)_i), caches[_i]);
}

TEST(debugging_stays_in_the_foreground_and_libfuse_is_told) {
    parse_good("lower mount -d");
    ck_assert(options.debug && options.foreground);
    ck_assert(is_for_libfuse("-d"));
}

TEST(others_bring_the_kernels_checks) {
    parse_good("lower mount -o allow_other");
    ck_assert(options.allow_other && options.default_permissions);
    ck_assert(is_for_libfuse("allow_other") && is_for_libfuse("default_permissions"));
}

TEST(a_mount_that_is_there_keeps_what_is_not_given) {
    parse_good("-o remount,ro,allow_other lower mount");
    ck_assert_int_eq(options.action, OPTIONS_REMOUNT);
    ck_assert(options.allow_other && !options.default_permissions);
}

TEST(checks_of_the_kernel_can_be_declined) {
    parse_good("lower mount -o allow_other,no_default_permissions");
    ck_assert(options.allow_other && !options.default_permissions);
    ck_assert(is_for_libfuse("allow_other") && !is_for_libfuse("default_permissions"));
}

TEST(slow_calls_may_be_logged) {
    static const struct {
        const char *size;
        uint64_t bytes;
    } sizes[] = {{"0", 0}, {"4096", 4096}, {"5K", 5120}, {"2M", 2097152}, {"1024G", UINT64_C(1) << 40}};
    parse_good("lower mount -o slowlog=a");
    ck_assert_uint_eq(options.slow_log_size_bytes, 16777216);
    ck_assert_str_eq(options.slow_log, "a");
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        char line[64];
        options_finish(&options);
        snprintf(line, sizeof(line), "lower mount -o slowlog=a,slowlog_size=%s", sizes[i].size);
        parse_good(line);
        ck_assert_uint_eq(options.slow_log_size_bytes, sizes[i].bytes);
    }
    options_finish(&options);
    parse_good("lower mount -o slowlog=syslog,slowlog_rate=7");
    ck_assert_uint_eq(options.slow_log_rate, 7);
}

TEST(what_is_libfuses_is_left_to_it) {
    parse_good("lower mount -o auto_unmount,ro");
    ck_assert(is_for_libfuse("auto_unmount") && is_for_libfuse("ro"));
}

TEST(later_values_win) {
    parse_good("lower mount -o profile=a,resolution=2 -o profile=b,resolution=4");
    ck_assert_str_eq(options.profile, "b");
    ck_assert_uint_eq(options.session.resolution, 4);
}

TEST(control_name_leaves_room_for_the_suffixes) {
    char line[512];
    snprintf(line, sizeof(line), "lower mount -o control=%.*d", NAME_MAX - (int)strlen(".metrics"), 0);
    parse_good(line);
    ck_assert_uint_eq(strlen(options.control_name), 247);
    tear_down();
    snprintf(line, sizeof(line), "lower mount -o control=%.*d", NAME_MAX + 1 - (int)strlen(".metrics"), 0);
    ck_assert_int_eq(parse(line), -EINVAL);
    ck_assert_ptr_nonnull(strstr(said(), "must be a plain file name of at most 247 bytes"));
}

TEST(help_and_version_need_nothing_else, .to = 4) {
    static const char *const lines[] = {"-h", "--help", "-V", "--version"};
    parse_good(lines[_i]);
    ck_assert_int_eq(options.action, _i < 2 ? OPTIONS_HELP : OPTIONS_VERSION);
}

TEST(help_complains_of_no_value) {
    parse_good("-o resolution=3,max_read=1,pseudofs -h");
    ck_assert_int_eq(options.action, OPTIONS_HELP);
}

TEST(flags_that_take_each_other_back_count_in_order) {
    parse_good("lower mount -o noatime,nodiratime,atime,diratime");
    ck_assert(!options.no_atime && !options.no_directory_atime && !is_for_libfuse("atime"));
    options_finish(&options);
    parse_good("lower mount -o atime,noatime,diratime,nodiratime");
    ck_assert(options.no_atime && options.no_directory_atime && is_for_libfuse("noatime"));
}

/* Lists as in fstab, and as scripts put them together. */
TEST(lists_are_read_as_by_mount, .to = 4) {
    static const char *const lines[] = {"lower mount -o allow_other,", "lower mount -o defaults,allow_other",
                                        "-o ,allow_other,,defaults lower mount",
                                        "-o defaults -o allow_other lower mount"};
    parse_good(lines[_i]);
    ck_assert(options.allow_other && is_for_libfuse("allow_other"));
    ck_assert(!is_for_libfuse("defaults"));
    ck_assert_int_eq(options.action, OPTIONS_MOUNT);
    options_finish(&options);
    parse_good("-o remount,defaults lower mount");
    ck_assert_int_eq(options.action, OPTIONS_REMOUNT);
}

TEST(time_of_slow_calls_has_a_unit) {
    parse_good("lower mount -o slow=10s");
    ck_assert_uint_eq(options.session.slow_ns, UINT64_C(10000000000));
}

TEST(option_is_known_as_it_is_given) {
    static const char *const ours[] = {"-d",         "debug", "-f",         "--version",
                                       "cache=none", "by=",   "nodiratime", "label=a=1"};
    static const char *const others[] = {"-x", "d", "f", "version", "cache", "nodiratime=1", "caches=1", "ro", ""};
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
        ck_assert_msg(options_have(ours[i]), "%s", ours[i]);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        ck_assert_msg(!options_have(others[i]), "%s", others[i]);
}

TEST(completion_needs_nothing_else) {
    parse_good("--complete");
    ck_assert_int_eq(options.action, OPTIONS_COMPLETE);
}

static const struct {
    const char *line;
    const char *named; /* in the message */
} bad_lines[] = {
    {"-f", "no lower directory"},
    {"lower", "no mount point"},
    {"lower mount more", "'more'"},
    {"lower mount -o interval=0.009", "interval=0.009: must be a time from 10ms to 24h, such as 100ms or 0.5s"},
    {"lower mount -o interval=86401", "interval=86401: must be"},
    {"lower mount -o interval=", "interval=: must be"},
    {"lower mount -o interval=1e3", "interval=1e3: must be"},
    {"lower mount -o interval=1.2.3", "interval=1.2.3: must be"},
    {"lower mount -o interval=-1", "interval=-1: must be"},
    {"lower mount -o interval=1,intervals=3", "intervals=3: must be an even number from 2 to 1048576"},
    {"lower mount -o interval=1,intervals=0", "intervals=0: must be"},
    {"lower mount -o interval=1,intervals=+4", "intervals=+4: must be"},
    {"lower mount -o interval=1,intervals=1048578", "intervals=1048578: must be"},
    {"lower mount -o joint=read", "joint=read: must be OP:VALUE, such as read:size"},
    {"lower mount -o joint=", "joint=: must be OP:VALUE"},
    {"lower mount -o joint=read:taste", "joint=read:taste: the value must be size, result"},
    {"lower mount -o joint=smell:size", "joint=smell:size: no such operation"},
    {"lower mount -o joint=read:size+lookup:size", "joint=lookup:size: the operation has no such value"},
    {"lower mount -o timing=off,joint=read:size", "timing=off: nothing is recorded, so leave out joint"},
    {"lower mount -o by=name", "by=name: must be none, process, program, cgroup, uid, file, directory, or several"},
    {"lower mount -o by=", "by=: must be"},
    {"lower mount -o by=file:2", "by=file:2: only directory takes a depth"},
    {"lower mount -o by=directory:", "by=directory:: the depth must be a number from 1 to 64"},
    {"lower mount -o by=directory:0", "by=directory:0: the depth must be"},
    {"lower mount -o by=file+directory:65", "by=file+directory:65: the depth must be"},
    {"lower mount -o by=directory:2+directory", "by=directory:2+directory: give each at most once"},
    {"lower mount -o rotate=60", "rotate=60: say where profiles go, with profile=DIR"},
    {"lower mount -o rotate=60,profile=-", "rotate=60: say where profiles go"},
    {"lower mount -o rotate=0,profile=d", "rotate=0: must be whole seconds, up to a year, such as 3600, 30m or 1h"},
    {"lower mount -o rotate=31536001,profile=d", "rotate=31536001: must be"},
    {"lower mount -o rotate=1.5,profile=d", "rotate=1.5: must be"},
    {"lower mount -o rotate=60,keep=0,profile=d", "keep=0: must be a number from 1 to 1000000"},
    {"lower mount -o keep=7", "keep=7: of what? Add rotate=TIME"},
    {"lower mount -o rotate=60,profile=d,timing=off", "timing=off: nothing is recorded, so leave out rotate"},
    {"lower mount -o by=process+", "by=process+: must be"},
    {"lower mount -o by=uid+none", "by=uid+none: must be"},
    {"lower mount -o by=process+uid+process", "by=process+uid+process: give each at most once"},
    {"lower mount -o groups=5", "groups=5: of what? Add by=process, for example"},
    {"lower mount -o by=uid,groups=1", "groups=1: must be a number from 2 to 4096"},
    {"lower mount -o by=uid,groups=4097", "groups=4097: must be"},
    {"lower mount -o by=uid,groups=-5", "groups=-5: must be"},
    {"lower mount -o timing=off,by=uid", "timing=off: nothing is recorded, so leave out by"},
    {"lower mount -o timing=off,interval=1", "timing=off: nothing is recorded, so leave out interval"},
    {"lower mount -o label=rack", "label=rack: must be KEY=VALUE, such as rack=7"},
    {"lower mount -o label=", "label=: must be KEY=VALUE"},
    {"lower mount -o label=host=a", "label=host=a: profiles have a header line of this name already"},
    {"lower mount -o label=a=1,label=a=2", "label=a=2: this key is given twice"},
    {"lower mount -o label=rack=\x1b[31m", "label=rack=?[31m: the value must be one line"},
    {"lower mount -o label=a=1,label=b=1,label=c=1,label=d=1,label=e=1,label=f=1,label=g=1,label=h=1,label=i=1,"
     "label=j=1,label=k=1,label=l=1,label=m=1,label=n=1,label=o=1,label=p=1,label=q=1,label=r=1",
     "label=q=1: a profile takes at most 16 labels"},
    {"lower mount -o slow=10", "slow=10: the unit is missing: such as 10ms, or 10s"},
    {"lower mount -o slow=0.5", "slow=0.5: the unit is missing"},
    {"lower mount -o slow=", "slow=: must be a time from 1ms"},
    {"lower mount -o slow=10x", "slow=10x: must be a time from 1ms"},
    {"lower mount -o slowlog=", "slowlog=: the name is missing"},
    {"lower mount -o slowlog_size=1M", "slowlog_size=1M: of what? Add slowlog=FILE"},
    {"lower mount -o slowlog=syslog,slowlog_size=1M", "slowlog_size=1M: of what?"},
    {"lower mount -o slowlog=a,slowlog_size=1P", "slowlog_size=1P: must be a number of bytes, such as 16M"},
    {"lower mount -o slowlog=a,slowlog_size=", "slowlog_size=: must be"},
    {"lower mount -o slowlog=a,slowlog_size=1MB", "slowlog_size=1MB: must be"},
    {"lower mount -o slowlog=a,slowlog_rate=5", "slowlog_rate=5: is for the system log; add slowlog=syslog"},
    {"lower mount -o slowlog=syslog,slowlog_rate=0",
     "slowlog_rate=0: must be a number of lines a minute from 1 to 1000000"},
    {"lower mount -o timing=off,slowlog=a", "timing=off: nothing is recorded, so leave out slowlog"},
    {"lower mount -o events=", "events=: the name is missing"},
    {"lower mount -o events=e,events_size=1048575", "events_size=1048575: must be a number of bytes, 1M or more"},
    {"lower mount -o events=e,events_ring=1m", "events_ring=1m: must be a number of bytes, 1M or more, such as 64M"},
    {"lower mount -o events=e,events_size=18014398509481984K", "events_size=18014398509481984K: must be"},
    {"lower mount -o events=e,events_size=1M,events_ring=1M",
     "events_size and events_ring exclude each other: a ring goes on, and keeps the last calls"},
    {"lower mount -o by=none,groups=5", "groups=5: of what? Add by=process, for example"},
    {"lower mount -o timing=tsc", "timing=tsc: must be off or full"},
    {"lower mount -o resolution=3", "resolution=3: must be 1, 2, 4 or 8"},
    {"lower mount -o resolution=", "resolution="},
    {"lower mount -o resolution=08", "resolution=08"},
    {"lower mount -o cache=never", "cache=never: must be auto, none or always"},
    {"lower mount -o timing=some", "timing=some: must be off or full"},
    {"lower mount -o workers=many", "workers=many: must be adaptive or plain"},
    {"lower mount -o data=direct", "data=direct: must be copy or passthrough"},
    {"lower mount -o control=a/b", "control=a/b"},
    {"lower mount -o control=..", "control=.."},
    {"lower mount -o control=.", "control=."},
    {"lower mount -o control=", "control="},
    {"lower mount -o profile=", "profile="},
    {"lower mount -o live=", "live="},
    {"lower mount -o max_read=4096", "max_read=4096: osproffs takes reads as large as"},
    {"lower mount -s -o io_uring", "-s exclude each other"},
    {"lower mount -o default_permissions,no_default_permissions", "exclude each other"},
};

/* libfuse itself would go on without. */
TEST(rings_are_refused_where_libfuse_has_none) {
    said_listen();
    if (parse("lower mount -o io_uring") == 0) {
        ck_assert(ring_is_built_in() && options.over_ring && is_for_libfuse("io_uring"));
        return;
    }
    ck_assert_msg(!ring_is_built_in() && said_lines() == 1, "%s", said());
    ck_assert_msg(strstr(said(), "osproffs: io_uring: ") == said() && strstr(said(), "built with"), "%s", said());
}

TEST(mistake_gets_one_line_that_names_it, .to = (int)ARRAY_SIZE(bad_lines)) {
    said_listen();
    ck_assert_int_eq(parse(bad_lines[_i].line), -EINVAL);
    ck_assert_msg(said_lines() == 1, "%s: %s", bad_lines[_i].line, said());
    ck_assert_msg(strstr(said(), bad_lines[_i].named), "%s: %s", bad_lines[_i].line, said());
    ck_assert_ptr_eq(strstr(said(), "osproffs: "), said());
}
