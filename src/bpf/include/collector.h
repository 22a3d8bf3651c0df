/* BPF programs that count calls in the kernel, and the reading of their counts. The kernel detaches the programs when
 * this process ends, even if it is killed.
 *
 * Needs the capabilities CAP_BPF and CAP_PERFMON, Linux 5.11, for system calls 5.15, and that the kernel tells its types (BTF). */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "counting_lane.h"

/* What to do about -EPERM of collector_check(), unless the caller is root. */
#define COLLECTOR_PERMISSION_HINT "; try sudo ('osprof doctor' lists what works here)"

#define COLLECTOR_WHY_SIZE 200
#define COLLECTOR_LANES_MAX 2

struct collector; /* opaque */

/* Processes, by their numbers in the first of all PID namespaces; count 0: all. */
struct process_numbers {
    const uint32_t *numbers; /* [count] */
    unsigned count;
};

/* Whether programs can be loaded at all.
 * Errors:  -ENOTSUP, -EPERM, with *ret_why filled: a clause, for the user */
int collector_check(char ret_why[COLLECTOR_WHY_SIZE]);

/* Whether the kernel's types (BTF) can be read. Errors: -ENOTSUP, as above. Needs no privilege */
int collector_check_types(char ret_why[COLLECTOR_WHY_SIZE]);

enum collector_countable {
    COLLECTOR_CALLS,
    COLLECTOR_RINGS,  /* requests of io_uring */
    COLLECTOR_FAULTS, /* page faults of mapped files */
};

/* Whether this kernel has the tracepoints for counting `what`. Needs no privilege, like the next four functions. */
bool collector_counts(enum collector_countable what);

/* Whether this process is in a user namespace, in which capabilities do not allow loading BPF programs. */
bool collector_is_in_user_namespace(void);

/* Whether process numbers here are the kernel's numbers: false in a PID namespace. */
bool collector_has_process_numbers(void);

/* Whether kernel lockdown forbids BPF programs to read the kernel's memory. */
#define COLLECTOR_LOCKDOWN "/sys/kernel/security/lockdown"
bool collector_is_locked_down(void);

/* Whether osprof attach works here if root starts it, as far as an ordinary user can find out. */
bool collector_is_possible(void);

/* Requests of the kernel to FUSE daemons, from when it sends one until it has the answer; Linux 6.11. There are two
 * lanes, the layers "fuse" and "queue". The lane "queue" has the time that a request waited for a worker while the
 * worker was busy with another request. This time is right for daemons in which the thread that takes a request also
 * answers it. */
struct fuse_requests {
    uint32_t connections[COLLECTED_CONNECTIONS_MAX]; /* of the mounts: their device numbers, as the kernel has them */
    unsigned connection_count;
    bool are_begun; /* the mounts are there already: what comes after an INIT is of a later mount, and not counted */
};

/* Owner:   the caller finishes *ret_collector
 * Errors:  -errno, with *ret_why filled: a clause, for the user; nothing is attached then */
int collector_start_fuse(const struct fuse_requests *requests, struct collector **ret_collector,
                         char ret_why[COLLECTOR_WHY_SIZE]);

/* True if the first mount has ended, and its number has been given to another one. */
bool collector_fuse_has_ended(const struct collector *collector);

/* Requests to disks, from the time when the driver gets a request until the disk has done it. Separate operations have
 * the time that requests waited in the kernel's queue before, if they were queued. There is one lane, the layer
 * "block". */
struct disk_requests {
    uint32_t disks[COLLECTED_DISKS_MAX]; /* their device numbers, as the kernel has them */
    unsigned disk_count;
};

/* Like collector_start_fuse(). */
int collector_start_disks(const struct disk_requests *requests, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]);

/* System calls on files, by all other programs, or by some; the layer "syscall", with operations of the layer "user".
 * The second lane has calls by name for which it is unknown whether they are on such files. It also has a separate
 * operation for requests of io_uring on such files that ask for no completion: their latency is unknown. */
#define COLLECTOR_UNTIMED "URING_UNTIMED"
struct system_calls {
    uint32_t device;                  /* of the file system, as the kernel has it; 0: all that hold files */
    bool has_one_device;              /* stat(2) shows that device for all its files, unlike btrfs and overlayfs */
    bool has_lasting_numbers;         /* inode number and generation identify one file for ever, as on ext4 */
    struct process_numbers processes; /* only these, and their descendants */
    uint64_t cgroup;       /* only processes in this control group (version 2) and below: its inode's number; 0: all */
    unsigned cgroup_level; /* below the root of all of them */
    bool has_groups;       /* count calls by file and by caller too: collector_group() */
    bool has_cgroups;      /* count calls by control group too */
    uint64_t slow_ns; /* collector_take_slow() also reports calls that take this long or longer; 0: it reports none */
    bool has_user_stacks; /* report the calling places in the programs too */
    uint32_t own_parent; /* a process: the calls of its children are not counted, like those of this process; 0: none */
};

/* Like collector_start_fuse(). */
int collector_start_calls(const struct system_calls *of, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]);

/* By how much system calls take longer while they are counted. */
struct call_cost {
    double counted_ns;  /* each that is counted */
    double other_ns;    /* each other of the machine */
    uint64_t all_calls; /* of the machine, since it was begun */
};

/* As measured when it was begun. Returns false if that was not possible */
bool collector_call_cost(const struct collector *collector, struct call_cost *ret_cost);

/* Whether one of the processes that are watched is there still. */
bool collector_has_processes(const struct collector *collector);

/* Descendants whose calls are not counted: there was no room for more processes. Threads: any */
uint64_t collector_processes_lost(const struct collector *collector);

/* If all file systems are watched: notes whether a mounted file system holds files. device: as the kernel has it. A
 * call of which only an unknown device is known counts as a call on an unknown file.
 * Errors:  those of bpf(2) */
int collector_note_device(struct collector *collector, uint32_t device, bool holds_files);

/* Finds calls that had begun before system calls were counted, by looking at all sleeping threads. When such a call
 * ends, collector_begun_before() counts it. If the kernel does not allow BPF programs to look at threads, such calls
 * are ignored. Call once, when the watched files and processes are known. */
void collector_note_begun(struct collector *collector);

/* The number of ended calls on watched files that had begun before counting began. Their latency is unknown. */
uint64_t collector_begun_before(const struct collector *collector);

/* Receives a call under way on a watched file, or a call by name, which may be on any file.
 * stack:   the kernel functions that the thread is in, a line each, the innermost first, as in /proc/PID/stack; "": the
 *          thread runs, or is ready to run
 * Owner:   the arguments are valid until the function returns */
typedef void collector_under_way_fn(void *context, const struct collected_under_way *call, const char *stack);

/* Reports all calls that have been under way for at least min_age_ns, by looking at all threads of the PID namespace.
 * ret_count: the number of calls of any age
 * Errors:  -ENOTSUP the kernel does not allow BPF programs to look at threads, -ENOMEM, those of bpf(2)
 * Threads: one at a time, after collector_note_begun() */
int collector_find_under_way(struct collector *collector, uint64_t min_age_ns, collector_under_way_fn *tell,
                             void *context, uint64_t *ret_count);

/* Receives a slow call that has ended. The next collector_count() includes the call. from: NULL: not wanted */
typedef void collector_slow_fn(void *context, const struct collected_slow *call,
                               const struct collected_user_stack *from);

/* Reports slow calls that have ended since the previous call, in their order. Threads: one at a time */
void collector_take_slow(struct collector *collector, collector_slow_fn *tell, void *context);

/* The number of slow calls that were not reported, because too many had ended. Threads: any */
uint64_t collector_slow_lost(const struct collector *collector);

/* A descriptor that becomes readable when a slow call has ended, or when a call begins after collector_wake_at_begin().
 * It stays readable until collector_take_slow().
 * Owner:   collector
 * Returns -1 if no call is slow */
int collector_slow_fd(const struct collector *collector);

/* The next call that begins on a watched file, or by a name, makes collector_slow_fd() readable. Threads: any */
void collector_wake_at_begin(struct collector *collector);

/* The operations of its layers, for recorders. Owner: static */
const char *const *collector_ops(const struct collector *collector, unsigned *ret_count);

/* Whether an operation of system calls moves bytes. */
bool collector_op_moves_bytes(unsigned op);

/* Whether the collector counts which bytes of read calls came from the page cache (aggstats/caches.h). */
bool collector_has_caches(const struct collector *collector);

/* Adds all calls that have ended by now, and were not added before. Each call is added once.
 * lanes:   as many as the collector has; calls of a lane that is not open are dropped
 * Errors:  those of bpf(2); calls that could not be read are added the next time, or lost
 * Threads: one at a time */
int collector_count(struct collector *collector, const struct counting_lane *lanes);

/* Receives the ended calls of one program on one file, in the first lane, since the previous time. */
typedef void collector_group_fn(void *context, unsigned op, const struct collected_cell *cell,
                                const struct collected_cell_sum *sum);

/* From now on collector_count() also calls add() for all calls that it adds. If there are more than COLLECTED_CELLS_MAX
 * kinds of calls since the previous time, calls that found no room are left out. */
void collector_group(struct collector *collector, collector_group_fn *add, void *context);

/* True if the last window was so full that the next one should be taken soon. */
bool collector_is_crowded(const struct collector *collector);

/* The name of an object when it was first seen. Returns false if the name is no longer known. Threads: any */
bool collector_name(const struct collector *collector, uint64_t object, struct collected_name *ret_name);

/* Calls that were not counted: a program was not run, for the CPU was in it already, or too many were under way.
 * Threads: any */
uint64_t collector_lost(const struct collector *collector);

/* Detaches: nothing is counted any more; what was can still be added. */
void collector_stop(struct collector *collector);

/* NULL is fine. */
void collector_finish(struct collector *collector);

#endif
