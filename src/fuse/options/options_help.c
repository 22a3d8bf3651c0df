/* What the command line is said to be: to people, and to shells that complete it. */
#include "options_help.h"

#include <stdio.h>
#include <string.h>

#include <fuse_lowlevel.h>

#include "aggstats.h"
#include "base.h"
#include "config.h"
#include "options_table.h"
#include "uring.h"

void options_print_help(void) {
    printf("usage: osproffs [options] LOWER MOUNTPOINT\n"
           "\n"
           "Shows the directory LOWER at MOUNTPOINT and profiles every operation on it.\n"
           "Read the profile from MOUNTPOINT/.osprof, or look at it with osprof show MOUNTPOINT; other programs\n"
           "read it as MOUNTPOINT/.osprof.json and as MOUNTPOINT/.osprof.metrics (Prometheus).\n"
           "\n"
           "    -f                     stay in the foreground\n"
           "    -s                     one request at a time\n"
           "    -d, -o debug           print libfuse's debugging messages (implies -f)\n"
           "    -h, --help             print this help\n"
           "    -V, --version          print versions\n"
           "    -o profile=FILE        where the final profile goes (osprof.out; - with -f: standard output)\n"
           "    -o rotate=S            save a profile every S seconds, in the directory that profile= names\n"
           "    -o keep=N              of these only the latest N\n"
           "    -o resolution=R        buckets per power of two: 1, 2, 4 or 8 (1)\n"
           "    -o cache=MODE          what the kernel may answer by itself: auto, none, always (auto)\n"
           "    -o timing=HOW          how much of the profiler runs: full, tsc, call, off (full)\n"
           "    -o data=HOW            who reads and writes: copy, or passthrough: the kernel, unprofiled (copy)\n"
           "    -o workers=HOW         adaptive: bound to the CPUs of callers while requests are short; plain: never\n"
           "    -o io_uring            requests come over io_uring (libfuse 3.18.2, Linux 6.14)\n"
           "    -o interval=S          a sampled profile: cut into intervals of S seconds\n"
           "    -o intervals=N         at most so many; then they become twice as long (1024)\n"
           "    -o joint=OP:VALUE[+...]\n"
           "                           relate latencies to size, result, offset, error, past_eof, blocked or cpu\n"
           "    -o by=KIND[+KIND...]   a profile for each process, program, cgroup, uid, file or\n"
           "                           directory (directory:N: of N components), too\n"
           "    -o groups=N            of so many at most of each kind (256); others are added up\n"
           "    -o slow=TIME           tell what calls that take so long (10ms, 0.5s) have waited for: osprof why\n"
           "    -o events=FILE         record each call: when, whose, what came of it: osprof events\n"
           "    -o events_names        and its names and arguments, as osprof events replay needs them\n"
           "    -o events_size=BYTES   until the file is so large (64M, 2G)\n"
           "    -o events_ring=BYTES   keep the last so many in memory: for events FILE, the end, and slow calls\n"
           "    -o causes=FILE         more names of what they wait for; see osproffs(1)\n"
           "    -o slowlog=FILE|syslog a line of JSON for each slow call, in a file or in the system log\n"
           "    -o slowlog_size=SIZE   of the file, which then becomes FILE.1 (16M); 0: leave that to others\n"
           "    -o slowlog_rate=N      at most so many lines a minute in the system log (60)\n"
           "    -o label=KEY=VALUE     a line of the profile's header, such as label=rack=7; may be repeated\n"
           "    -o control=NAME        name of the control file (.osprof); NAME.json and NAME.metrics stand beside it\n"
           "    -o live=DIR|none       where the live file is kept (see osproffs(1))\n"
           "    -o posix_lock          pass record locks on to LOWER (default: local to this mount)\n"
           "    -o flock               pass flock(2) locks on to LOWER (default: local to this mount)\n"
           "    -o noatime, nodiratime reading leaves access times in LOWER as they are; of directories only\n"
           "    -o remount             change ro, rw, nosuid, suid and the like of a mount that is there\n"
           "    -o no_default_permissions\n"
           "                           with allow_other: LOWER checks permissions, not the kernel\n"
           "    -o pseudofs            with allow_other: others also get into /proc, /sys and the like (unsafe)\n"
           "\n"
           "Options of libfuse:\n");
    fuse_lowlevel_help();
}

void options_print_version(void) {
    printf("osproffs %s\n", OSPROFFS_VERSION);
    printf("libfuse %s (built against %d.%d)%s%s%s%s%s\n", fuse_pkgversion(), FUSE_MAJOR_VERSION, FUSE_MINOR_VERSION,
           OSPROFFS_HAS_TMPFILE ? " +tmpfile" : "", OSPROFFS_HAS_STATX ? " +statx" : "",
           OSPROFFS_HAS_SYNCFS ? " +syncfs" : "", OSPROFFS_HAS_PASSTHROUGH ? " +passthrough" : "",
           ring_is_built_in() ? " +io_uring" : "");
}

/* ---- Completion --------------------------------------------------------------------------------- */

/* How an option's argument is completed, where it is not one of options_words(). */
static const char *kind_of_argument(const char *option) {
    static const struct {
        const char *option;
        const char *kind;
    } kinds[] = {
        {"profile", "file"}, {"causes", "file"}, {"events", "file"}, {"slowlog", "file"}, {"live", "directory none"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (strcmp(option, kinds[i].option) == 0)
            return kinds[i].kind;
    }
    return "text";
}

static void print_words(const char *option) {
    printf("word");
    for (const char *const *word = options_words(option); *word; word++)
        printf(" %s", *word);
}

static void print_groupings(void) {
    printf("list none");
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        printf(" %s", aggstats_grouping_name((enum aggstats_grouping)grouping));
}

/* template: as libfuse's parser has it, such as "cache=%s" */
static void print_completion(const char *template) {
    CLEANUP_FREE char *option = strndup(template, strcspn(template, "="));
    if (!option)
        return;
    if (!strchr(template, '=')) {
        printf("%s flag\n", option);
        return;
    }
    printf("%s= ", option);
    if (options_words(option))
        print_words(option);
    else if (strcmp(option, "by") == 0)
        print_groupings();
    else
        printf("%s", kind_of_argument(option));
    putchar('\n');
}

/* Rows that are there for libfuse, for mount(8), which says what is the default anyway, or for a message offer nothing.
 */
static bool is_offered(const struct fuse_opt *row) {
    if (row->offset != -1U) /* no FUSE_OPT_KEY() */
        return row->value != 0;
    return row->value != FUSE_OPT_KEY_KEEP && row->value != KEY_MAX_READ && row->value != KEY_COMPLETE;
}

void options_print_completion(void) {
    static const char *const of_libfuse[] = {"-o options", "allow_root flag", "auto_unmount flag"};
    for (const struct fuse_opt *row = options_table; row->templ; row++)
        if (is_offered(row))
            print_completion(row->templ);
    for (const struct fuse_opt *row = options_raw_table; row->templ; row++)
        print_completion(row->templ);
    for (size_t i = 0; i < ARRAY_SIZE(of_libfuse); i++)
        puts(of_libfuse[i]);
    puts("* directory");
}
