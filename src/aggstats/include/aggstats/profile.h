/* libaggstats: profiles as data, and their arithmetic. */
#ifndef AGGSTATS_PROFILE_H
#define AGGSTATS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucket.h"
#include "clock.h"
#include "failure.h"
#include "value.h"

AGGSTATS_BEGIN_DECLARATIONS

#define AGGSTATS_NAME_SIZE 32 /* an operation's name with its NUL */

/* A line of a profile's header. */
struct aggstats_label {
    char *key;    /* lower-case words as in a profile's header: "lower", "mount", "cache" */
    char *value;  /* one line of text */
    bool is_list; /* of a sum, whose profiles had several values: the first of them, with ", " between them */
};

/* How calls are split into groups, each profiled separately besides the whole. */
enum aggstats_grouping {
    AGGSTATS_UNGROUPED,
    AGGSTATS_BY_PROCESS,
    AGGSTATS_BY_UID,
    AGGSTATS_BY_PROGRAM,    /* processes by name, all of one name together */
    AGGSTATS_BY_CGROUP,     /* by path, as the recording process sees it */
    AGGSTATS_BY_FILE,       /* by path; only the files that take most of the time */
    AGGSTATS_BY_DIRECTORY,  /* the same for directories, each with the files in it */
    AGGSTATS_BY_FILESYSTEM, /* by where it is mounted and its type, "/srv ext4" */
    AGGSTATS_GROUPINGS      /* their number, and "none" */
};

/* As in profiles: "process", "uid", "program", "cgroup", "file", "directory", "filesystem"; NULL
 * for none. */
const char *aggstats_grouping_name(enum aggstats_grouping grouping);

/* The grouping of that name; AGGSTATS_UNGROUPED: there is none. */
enum aggstats_grouping aggstats_grouping_of_name(const char *name);

/* True if its groups have numbers; else they have names only. */
bool aggstats_grouping_has_ids(enum aggstats_grouping grouping);

/* True if its groups are objects of calls, not callers: files, directories and file systems. Such a group may have
 * missed calls. */
bool aggstats_grouping_has_objects(enum aggstats_grouping grouping);

/* True if the names of its groups are paths, which may be private. */
bool aggstats_grouping_has_paths(enum aggstats_grouping grouping);

#define AGGSTATS_GROUP_NAME_SIZE 256 /* with its NUL */

/* A non-empty cell of a sparse table: the calls of one bucket in one interval, or with one value. */
struct aggstats_cell {
    uint32_t row;
    uint32_t bucket;
    uint64_t count; /* above 0 */
};

/* One operation's profile. */
struct aggstats_op_profile {
    char name[AGGSTATS_NAME_SIZE]; /* without OP_ */
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t *buckets;             /* [64 * resolution of the profile] */
    struct aggstats_cell *samples; /* of a sampled profile: by interval, then bucket; intervals add up to the buckets */
    size_t sample_count;
    /* of the calls that have ended; groups have none */
    uint64_t asked_bytes;                 /* requested by the calls, modulo 2^64 */
    uint64_t moved_bytes;                 /* moved by the calls, modulo 2^64 */
    uint64_t failures[AGGSTATS_FAILURES]; /* calls that failed, by kind (failure.h) */
    uint64_t longest_cycles; /* latency of the longest call, which is in the last bucket that has calls; 0: only the
                              * bucket is known */
    uint64_t longest_object; /* of that call; 0: unknown */
    char *longest_path;      /* of that object, if it has been found out; NULL: unknown. Owner: the profile */
    uint64_t left_calls; /* calls that never end: their thread left them by a jump, or their process ended in them. They
                          * are among the calls, and neither in a bucket nor in flight */
    uint64_t busy_looks; /* of the profile's looks, those with at least one call of this op in flight; meaningful if
                          * busy.by_op. Groups have none */
};

/* How much of the time calls were in flight, by samples. All 0: there were none. */
struct aggstats_busy {
    uint64_t looks;
    uint64_t busy; /* samples with at least one call in flight; no more than looks */
    uint64_t most; /* calls in flight in one sample */
    bool by_op;    /* the same is known of each op: its busy_looks, no more than busy */
};

#define AGGSTATS_CAUSE_SIZE 96       /* the words of a cause, with their NUL */
#define AGGSTATS_CAUSE_ID_SIZE 64    /* its identifier, with its NUL */
#define AGGSTATS_STACK_SIZE 768      /* where a thread waits in the kernel, with its NUL */
#define AGGSTATS_PROGRAM_SIZE 32     /* the name of a program, with its NUL; a longer one is cut */
#define AGGSTATS_UNSEEN_NAME_SIZE 33 /* the name of such a program, with its NUL */
#define AGGSTATS_FUNCTION_SIZE 96    /* the name of a function, with its NUL; a longer one is cut */

/* Bytes that read calls have returned, by whether they were in the page cache. */
struct aggstats_cache {
    uint64_t read_bytes;     /* of files that are read through the page cache */
    uint64_t missed_bytes;   /* part of read_bytes: from pages that read calls had to load, or had read ahead */
    uint64_t unjudged_bytes; /* of other files, and with O_DIRECT */
};

/* Programs and calls that the layer user does not see: how many of each kind. */
enum aggstats_unseen {
    AGGSTATS_UNSEEN_STATIC,    /* statically linked programs */
    AGGSTATS_UNSEEN_SET_ID,    /* programs with another owner's rights, into which nothing is preloaded */
    AGGSTATS_UNSEEN_FOREIGN,   /* programs of another C library or architecture */
    AGGSTATS_UNSEEN_SANDBOXED, /* programs that have forbidden themselves system calls */
    AGGSTATS_UNSEEN_GO,        /* dynamically linked programs of Go */
    AGGSTATS_UNSEEN_BARE,      /* programs without the environment */
    AGGSTATS_UNSEEN_STARVED,   /* programs that lacked descriptors or memory */
    AGGSTATS_UNSEEN_ASYNC,     /* asynchronous calls */
    AGGSTATS_UNSEEN_IO_URING,  /* programs with io_uring */
    AGGSTATS_UNSEEN_ROOT,      /* programs in another root directory or mount namespace */
    AGGSTATS_UNSEEN_USER,      /* programs of another user */
    AGGSTATS_UNSEEN_UNKNOWN,   /* programs that did not begin to be counted, for an unknown reason */
    AGGSTATS_UNSEEN_CROWDED,   /* threads beyond threads_max */
    AGGSTATS_UNSEEN_BROKEN,    /* threads with counters that a program has overwritten */
    AGGSTATS_UNSEEN_KINDS
};

/* Programs of one kind and name that were not seen. */
struct aggstats_unseen_program {
    enum aggstats_unseen kind;
    char name[AGGSTATS_UNSEEN_NAME_SIZE]; /* any bytes: programs name themselves */
    uint64_t runs;
    uint64_t least_ns; /* they ran so long at least, added up; 0: unknown */
    uint64_t most_ns;  /* and at most; 0: unknown */
};

/* What osprof attach does not tell, by kind. */
enum aggstats_untold {
    AGGSTATS_UNTOLD_OF_MACHINE,   /* calls by name, of all programs, that may be on other file systems */
    AGGSTATS_UNTOLD_OF_PROCESSES, /* the same of the processes that were watched */
    AGGSTATS_UNTOLD_OF_CGROUP,    /* the same of the control group */
    AGGSTATS_UNTOLD_FAILED,       /* those of these calls that failed */
    AGGSTATS_UNTOLD_UNTIMED,      /* requests of io_uring that asked for no completion */
    AGGSTATS_UNTOLD_BEGUN,        /* calls that had begun before it attached */
    AGGSTATS_UNTOLD_PROCESSES,    /* descendants for which there was no room */
    AGGSTATS_UNTOLD_CAUSES,       /* slow calls of which too many ended at once */
    AGGSTATS_UNTOLD_KINDS
};

struct aggstats_bytes {
    uint64_t read;
    uint64_t written;
};

/* How a command ended. */
struct aggstats_exit {
    uint64_t status; /* its exit status, as wait(2) has it */
    uint64_t signal; /* that ended it; 0: none. Then the status is 0 */
};

/* The kind of thing that is waited for; share/osproffs/causes explains those that its rows may have. */
enum aggstats_cause_class {
    AGGSTATS_CAUSE_OTHER,
    AGGSTATS_CAUSE_UNKNOWN,  /* what is waited for was not seen */
    AGGSTATS_CAUSE_REST,     /* all causes that found no room */
    AGGSTATS_CAUSE_RUNNING,  /* nothing: the thread runs */
    AGGSTATS_CAUSE_FUNCTION, /* no row fits; the identifier is the function of the kernel in which it waits */
    AGGSTATS_CAUSE_DISK_READ,
    AGGSTATS_CAUSE_DISK,
    AGGSTATS_CAUSE_STORAGE,
    AGGSTATS_CAUSE_FLOCK,
    AGGSTATS_CAUSE_FCNTL,
    AGGSTATS_CAUSE_LEASE,
    AGGSTATS_CAUSE_FROZEN,
    AGGSTATS_CAUSE_FUSE,
    AGGSTATS_CAUSE_SERVER,
    AGGSTATS_CAUSE_PIPE_ROOM,
    AGGSTATS_CAUSE_PIPE_DATA,
    AGGSTATS_CAUSE_LOCK,
    AGGSTATS_CAUSE_MEMORY,
    AGGSTATS_CAUSE_CPU,
    AGGSTATS_CAUSE_NETWORK,
    AGGSTATS_CAUSE_SOCKET,
    AGGSTATS_CAUSE_THREAD,
    AGGSTATS_CAUSE_REQUESTS,
    AGGSTATS_CAUSE_STOPPED,
    AGGSTATS_CAUSE_WORK,
};

#define AGGSTATS_CAUSE_CLASSES (AGGSTATS_CAUSE_WORK + 1)

enum aggstats_why_flag {
    AGGSTATS_WHY_OTHER_THREAD = 1, /* another thread of the process waits, which does this one's work */
    AGGSTATS_WHY_SINCE_BEFORE = 2, /* the call had begun before anybody looked */
};

#define AGGSTATS_WHY_FLAGS 3 /* all of these */

/* What a thread waits for. Two are the same if kind, flags and identifier are; those without identifiers if flags and words are. */
struct aggstats_why {
    enum aggstats_cause_class kind;
    unsigned flags;
    char id[AGGSTATS_CAUSE_ID_SIZE]; /* "ext4_commit"; "": none, as of users' own rows */
    char words[AGGSTATS_CAUSE_SIZE]; /* "waiting for the ext4 journal to commit"; "": unknown, or not looked for */
};

#define AGGSTATS_LINKS_MAX 4
#define AGGSTATS_PARTY_NAME_SIZE 64
#define AGGSTATS_OBJECT_SIZE 512 /* the names of what is waited for, with their NUL; of longer ones the end is kept */

/* How the holder has what another waits for. */
enum aggstats_relation {
    AGGSTATS_NOBODY_KNOWN,
    AGGSTATS_HELD,           /* it holds the lock; serves the file system; reads or writes the pipe */
    AGGSTATS_TAKEN,          /* it took the lock; whether it has passed it on by fork(2) cannot be seen */
    AGGSTATS_ASKED_BEFORE,   /* it waits for a lock that overlaps, and is served first */
    AGGSTATS_BY_DESCRIPTION, /* an open file description holds the lock; whose is unknown */
    AGGSTATS_BY_UNSEEN,      /* a process of another pid namespace */
};

struct aggstats_party {
    uint64_t process;                    /* 0: unknown */
    uint64_t thread;                     /* 0: any of the process */
    char name[AGGSTATS_PARTY_NAME_SIZE]; /* of the process, any bytes; "": unknown */
};

/* Somebody who waits, for what, and who or what has that. */
struct aggstats_link {
    struct aggstats_party waiter; /* process 0: the file of the loop device that is the link before */
    bool is_all;                  /* all threads of the waiter have this cause */
    struct aggstats_why cause;
    enum aggstats_cause_class thing;   /* what is waited for; AGGSTATS_CAUSE_OTHER: only the cause is known */
    char object[AGGSTATS_OBJECT_SIZE]; /* any bytes; "": unknown, like the next two. The path of the locked file, or of
                                        * the mount of a frozen, FUSE or network file system; the name of the disk; of a
                                        * lock of the kernel the function that asked for it */
    char
        source[AGGSTATS_OBJECT_SIZE]; /* the type of a FUSE file system; the name of the server; the file of a disk that
                                        * is a loop device */
    char group[AGGSTATS_OBJECT_SIZE]; /* of a disk: the control group that limits the waiter there */
    bool has_in_flight;
    uint64_t in_flight; /* of a disk: requests that it has not completed */
    enum aggstats_relation relation;
    struct aggstats_party holder;
    uint64_t others; /* other holders of the same thing */
};

/* links[i + 1].waiter is links[i].holder, or one of its threads. The last holder is not followed if nothing is known of
 * it, or if the chain is full. */
struct aggstats_chain {
    struct aggstats_link links[AGGSTATS_LINKS_MAX];
    size_t count;
    bool is_circle; /* the last holder is the waiter of a link */
};

/* A call that had not returned when the snapshot was taken, or a slow one that has ended. Part of the live file. */
struct aggstats_call {
    char op[AGGSTATS_NAME_SIZE];
    bool is_in_flight;
    uint64_t latency_cycles; /* of a call in flight so far */
    uint64_t object;
    uint64_t pid;                        /* of the thread that called */
    uint64_t process;                    /* of that thread; 0: unknown */
    char program[AGGSTATS_PROGRAM_SIZE]; /* of the process; "": unknown */
    struct aggstats_why cause;           /* the one that took most of its time; of a call in flight what it waits for */
    char *path;                          /* of the object; NULL: unknown, like the next three. Owner: the profile */
    char *stack;      /* kernel stack of its thread when the cause was last seen: functions, the innermost first, with
                       * " < " between them */
    char *user_stack; /* functions of the program and its libraries when the call ended, in the same form */
    struct aggstats_chain *chain; /* what exactly it waits for, and who or what has that, when the cause was last seen
                                   * with one; at least one link */
    /* of a call that has ended; else 0 */
    int64_t end_ns; /* Unix time */
    uint64_t uid;
    uint64_t error; /* errno value; 0: success */
    uint64_t asked_bytes;
    uint64_t moved_bytes;
    uint64_t offset;
};

/* A cause of waiting, of an op's slow calls. A slow call is counted at the cause that took most of its time. Its
 * latency is split among its causes. So the causes of an op add up exactly to the count and latency of its slow
 * calls. */
struct aggstats_cause {
    char op[AGGSTATS_NAME_SIZE];
    struct aggstats_why why;
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t longest_cycles; /* latency of the longest of these calls */
    uint64_t *buckets; /* [64 * resolution of the profile]: these calls by latency, without those that did not fit;
                        * NULL: unknown. Owner: the profile */
};

/* Slow calls of an op that one function has made: the innermost one of the program itself, not of a library. */
struct aggstats_caller {
    char op[AGGSTATS_NAME_SIZE];
    char program[AGGSTATS_PROGRAM_SIZE]; /* "": all that exceed the recorder's limit, like an empty function */
    char function
        [AGGSTATS_FUNCTION_SIZE]; /* "commit_row"; "db+0x1234" without symbols; "(...)": unknown, with the reason */
    uint64_t calls;
};

/* The joint distribution of an op's latency and a value. */
struct aggstats_joint_profile {
    char op[AGGSTATS_NAME_SIZE];
    enum aggstats_value value;
    struct aggstats_cell *cells; /* by row, then bucket */
    size_t cell_count;
};

struct aggstats_group;

/* A complete profile: plain data, free to change. Ops are sorted by total latency, largest first.
 * A zeroed profile is empty and may be finished. */
struct aggstats_profile {
    unsigned resolution;
    struct aggstats_clock clock; /* frequency_hz 0: unknown */
    int64_t start_ns;            /* Unix time; meaningful if has_start */
    uint64_t elapsed_cycles;     /* meaningful if has_elapsed */
    uint64_t clamped;            /* negative latencies, counted in bucket 0 */
    bool has_start;
    bool has_elapsed;
    bool has_stolen;
    bool has_cpu;
    bool has_queue;
    bool has_program;
    bool has_cache;
    uint64_t stolen_ns;  /* time in which the hypervisor ran other machines although CPUs had work, as a mean over the
                          * CPUs; valid if has_stolen */
    uint64_t stopped_ns; /* time in which the recording process is known not to have run: it was stopped, frozen, or got
                          * no CPU for a second or longer. Calls of that time are not known */
    uint64_t user_ns;    /* CPU time of the programs whose calls these are, outside of the kernel; valid, like the
                          * next, if has_cpu */
    uint64_t system_ns;  /* the same in the kernel, that within the calls included */
    uint64_t queue_ns;   /* how long they waited for a CPU; valid if has_queue */
    uint64_t program_ns; /* of a mount that was between: how long programs waited in their calls on its files, summed;
                          * valid, like the next, if has_program */
    uint64_t locking_ns; /* the part of it in which they waited for locks of files */
    struct aggstats_cache cache; /* valid if has_cache */
    bool incomplete; /* memory ran out and updates may be lost; or, for a live file, some counters are not in it */
    struct aggstats_busy busy;
    struct aggstats_label *labels;
    size_t label_count;
    struct aggstats_op_profile *ops;
    size_t op_count;
    struct aggstats_call *in_flight;
    size_t in_flight_count;

    /* Of a sampled profile (thesis §3.1.5) */
    uint64_t interval_cycles; /* length of an interval, as requested; 0: not sampled */
    uint64_t *borders;        /* the end of each interval, as measured: ascending, in cycles since the start */
    size_t interval_count;

    struct aggstats_joint_profile *joints; /* by op, then value, in the order requested */
    size_t joint_count;

    uint64_t slow_cycles;          /* from this latency on calls are slow; 0: they are not watched */
    struct aggstats_cause *causes; /* by total, largest first */
    size_t cause_count;
    struct aggstats_call *slow_calls; /* the latest ones, by their end */
    size_t slow_call_count;
    struct aggstats_caller *callers; /* by calls, most first; they add up to the slow calls whose stacks were wanted */
    size_t caller_count;

    unsigned groupings;            /* the groupings it has, as bits (1 << AGGSTATS_BY_PROCESS) */
    struct aggstats_group *groups; /* by grouping, then by total latency, largest first */
    size_t group_count;

    uint64_t storage_read_bytes; /* what the process that made the calls had read from storage: read_bytes of
                                  * /proc/PID/io, with read-ahead and metadata; valid if has_storage_read */
    bool has_storage_read;
    unsigned live_groupings;  /* of a profile from a live file: groupings that the recorder has and the file lacks */
    uint64_t ungrouped_calls; /* calls that ended before groups were switched on, or were in flight then: they are among
                               * the `other` of each grouping */

    uint64_t runs;   /* of the command, added up; valid if has_runs */
    uint64_t merged; /* how many profiles were added up by osprof save; 0: it is no such sum */
    bool has_runs;
    bool has_page_faults;
    bool has_witness;
    bool has_elsewhere;
    bool has_cost;
    bool has_disk;
    bool has_waiting_requests;
    bool has_exit;
    struct {
        uint64_t minor;
        uint64_t major;
    } page_faults;                         /* of the programs; valid if has_page_faults */
    struct aggstats_bytes bytes_seen;      /* in the calls of the layer user; valid, like the next, if has_witness */
    struct aggstats_bytes bytes_kernel;    /* by the kernel's own sums for these programs */
    struct aggstats_bytes bytes_elsewhere; /* on descriptors that do not count; valid if has_elsewhere */
    uint64_t not_seen[AGGSTATS_UNSEEN_KINDS];
    uint64_t threads_max;                            /* so many threads could be counted at a time; 0: unknown */
    struct aggstats_unseen_program *unseen_programs; /* by kind, those that ran longest first. Bounded */
    size_t unseen_program_count;
    uint64_t not_told[AGGSTATS_UNTOLD_KINDS];
    struct {
        uint64_t each;
        uint64_t counted;
    } cost_ns; /* counting made each system call of the machine so much longer, and those that count; valid, like the
                * next, if has_cost */
    uint64_t cost_calls; /* system calls of the machine */
    struct {
        uint64_t read;
        uint64_t written;
        uint64_t own; /* of these, by the command */
    } disk_bytes;     /* what the command's disk did in one direction, of which others did most; valid if has_disk */
    struct {
        uint64_t busy;
        uint64_t watched;
    } disk_ns;                  /* how long it had something to do; all 0: unknown */
    uint64_t disk_other_bytes;  /* of the process that the label disk_other names; 0: none */
    uint64_t waiting_requests;  /* requests that wait for a FUSE daemon in trouble; valid if has_waiting_requests */
    struct aggstats_exit exit;  /* of the command; of several runs, the first that failed; valid if has_exit */
    uint64_t chosen_groups;     /* a profile of groups that were chosen: how many; 0: it is none */
    uint64_t missed_cycles_max; /* at most this much latency of their calls is missing */

    void *reserved[1]; /* NULL */
};

enum aggstats_who {
    AGGSTATS_WHO_ID,     /* a process, a user, a program, a cgroup, a file, a directory */
    AGGSTATS_WHO_KERNEL, /* the kernel itself */
    AGGSTATS_WHO_OTHER,  /* all that exceed groups_max; where groups have names only, also unknown callers */
};

/* As in profiles: "kernel", "other"; NULL for AGGSTATS_WHO_ID. */
const char *aggstats_who_name(enum aggstats_who who);

/* The calls of one group. */
struct aggstats_group {
    enum aggstats_grouping grouping; /* a call is in at most one group of a grouping */
    enum aggstats_who who;
    uint64_t id;                         /* meaningful for AGGSTATS_WHO_ID; 0 where groups have names only */
    char name[AGGSTATS_GROUP_NAME_SIZE]; /* "": unknown */
    uint64_t missed_cycles_max;          /* for an object: at most this much latency of its calls is in `other` */
    struct aggstats_profile profile;     /* clock, resolution, cache and ops, of calls that have ended; nothing else */
};

/* Frees the memory that a profile owns, and zeroes the profile. */
void aggstats_profile_finish(struct aggstats_profile *profile);

/* Deep copy. Errors: -ENOMEM, *ret_copy untouched */
int aggstats_profile_copy(const struct aggstats_profile *profile, struct aggstats_profile *ret_copy);

/* True if the profile has paths, which may be private: of calls in flight, slow calls, longest calls, cgroups or files;
 * or if it has stacks of calls or names of calling functions. */
bool aggstats_profile_has_paths(const struct aggstats_profile *profile);

/* Removes all of these: drops slow calls, their callers, and groups named by paths; other calls lose path and stack. */
void aggstats_profile_drop_paths(struct aggstats_profile *profile);

/* The value of a header line, or NULL. Owner: the profile. */
const char *aggstats_profile_label(const struct aggstats_profile *profile, const char *key);

/* Appends a header line; both are copied. Errors: -ENOMEM; *profile untouched */
int aggstats_profile_add_label(struct aggstats_profile *profile, const char *key, const char *value);

/* The op of that name, or NULL. Owner: the profile. */
const struct aggstats_op_profile *aggstats_profile_op(const struct aggstats_profile *profile, const char *name);

/* A percentile: the smallest latency that a given share of the ended calls do not exceed. p50 of two calls is the
 * shorter call. A percentile certainly lies between lower_cycles and upper_cycles. These are the bounds of its bucket,
 * narrowed by the longest call, if that is known, and by the total latency; so the percentile is often exact if calls
 * are few. cycles is the position of the percentile if the calls of the bucket are spread evenly over the logarithm of
 * latency (in bucket 0 over latency itself), limited to these bounds. */
struct aggstats_percentile {
    unsigned bucket;
    double cycles;
    double lower_cycles;
    double upper_cycles;
};

/* per_mille: 1..1000
 * Errors:  false when no call has ended; *ret_percentile untouched */
bool aggstats_percentile(const struct aggstats_op_profile *op, unsigned resolution, unsigned per_mille,
                         struct aggstats_percentile *ret_percentile);

/* The latency of the call with that rank, from 1: the shortest. It is known as a percentile is.
 * Errors:  false when rank is 0, or above the number of calls that have ended; *ret_percentile untouched */
bool aggstats_latency_of_rank(const struct aggstats_op_profile *op, unsigned resolution, uint64_t rank,
                              struct aggstats_percentile *ret_percentile);

/* Calls of an op that failed, of all kinds. */
uint64_t aggstats_failed_calls(const struct aggstats_op_profile *op);

/* ---- Arithmetic ---- */

/* Adds b to a, op by op, exactly: counts, totals, bytes, failures, calls left, clamped; the finer one is first brought
 * to the coarser resolution. The longest call of an op is the longer one, if that is known. Elapsed times add up; a
 * keeps its labels, start and calls in flight. The sum has no intervals, no groups, and only those joint profiles that
 * both have. A zeroed a becomes a copy of b. Rates that differ by less than 1/1000 are one rate, measured twice.
 * Errors:  -EDOM clock rates differ (rescale one first), -EOVERFLOW, -ENOMEM; *a untouched */
int aggstats_profile_add(struct aggstats_profile *a, const struct aggstats_profile *b);

/* Subtracts b (an earlier snapshot of the same recorder) from a. Calls in flight in b are in the difference, since they
 * ended there. Ops that reach 0 calls are dropped. The longest call is known if it is longer than b's. The difference
 * starts where b ended, and has no intervals, joint profiles or groups.
 * Errors:  -EDOM as above or resolutions differ, -ERANGE b is not contained in a, -ENOMEM; *a untouched */
int aggstats_profile_subtract(struct aggstats_profile *a, const struct aggstats_profile *b);

/* Coarser resolution, exactly (r buckets per octave become r'). Errors: -EINVAL no resolution, or a finer one */
int aggstats_profile_coarsen(struct aggstats_profile *profile, unsigned resolution);

/* Expresses the profile in cycles of another clock rate. The number of calls per op stays exact; totals are rounded; a
 * bucket's calls are spread over the buckets that its shifted bounds overlap, in proportion to the overlap, rounded by
 * largest remainder so that sums are kept. Latencies below 1 cycle fall in bucket 0.
 * Errors:  -EDOM own rate unknown, -EINVAL frequency_hz 0, -EOVERFLOW, -ENOMEM; *profile untouched */
int aggstats_profile_rescale(struct aggstats_profile *profile, uint64_t frequency_hz);

/* Sorts ops by total latency, largest first (then by name). */
void aggstats_profile_sort(struct aggstats_profile *profile);

AGGSTATS_END_DECLARATIONS

#endif
