/* Which system calls are counted, a row each. */
#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "call_prober.h"
#include "collector_private.h"
#include "fault_ends.h"
#include "loading.h"
#include "name_table.h"
#include "numbers_of_32_bits.h"
#include "posix_ops.h"
#include "process_set.h"
#include "slow_ring.h"
#include "syscall.skel.h"
#include "task_walk.h"
#include "tracepoints.h"

/* ---- The table ---------------------------------------------------------------------------------- */

/* Operations that the layer "user" does not have, after its own. */
/* clang-format off */
#define OWN_OPS(ROW)                                                                                                   \
    ROW(IO_SUBMIT) ROW(IO_GETEVENTS) ROW(PAGE_FAULT)                                                                   \
    ROW(URING_READ) ROW(URING_WRITE) ROW(URING_FSYNC) ROW(URING_FALLOCATE) ROW(URING_OPEN) ROW(URING_CLOSE)            \
    ROW(URING_STATX) ROW(URING_RENAME) ROW(URING_UNLINK) ROW(URING_MKDIR) ROW(URING_OTHER)
/* clang-format on */

#define OWN_NUMBER(OP) POSIX_##OP,
enum { LAST_POSIX = POSIX_OP_COUNT - 1, OWN_OPS(OWN_NUMBER) UNTIMED, ALL_OPS };

#define ROW_OF(CALL, OP, ...) [SYS_##CALL] = {.op = POSIX_##OP + 1, __VA_ARGS__},
#define FD_ROW(CALL, OP) ROW_OF(CALL, OP, .place = COLLECTED_FD)
#define MOVES_ROW(CALL, OP, ASKED) ROW_OF(CALL, OP, .place = COLLECTED_FD, .bytes = COLLECTED_##ASKED)
#define READS_ROW(CALL, OP, ASKED, POSITION)                                                                           \
    ROW_OF(CALL, OP, .place = COLLECTED_FD, .bytes = COLLECTED_##ASKED, .position = COLLECTED_##POSITION)
/* Of names: which arguments are the directory, or NONE, and the name; FOLLOWS: whether it is followed; the flags, or
 * NONE, of which FLAG changes that. */
#define NONE 0
#define ARGUMENT(NUMBER) ((NUMBER) + 1)
#define NAME_ROW(CALL, OP, PLACE, DIRECTORY, NAME, FOLLOWS, FLAGS, FLAG)                                               \
    ROW_OF(CALL, OP, .place = COLLECTED_##PLACE, .directory = (DIRECTORY), .name = (NAME), .follows = (FOLLOWS),       \
           .flags = (FLAGS), .flag = (FLAG))
#define ANSWER_ROW(CALL, OP, PLACE, DIRECTORY, NAME, ANSWER, FOLLOWS, FLAGS, FLAG)                                     \
    ROW_OF(CALL, OP, .place = COLLECTED_##PLACE, .directory = (DIRECTORY), .name = (NAME), .answer = (ANSWER),         \
           .follows = (FOLLOWS), .flags = (FLAGS), .flag = (FLAG))

#define ENTRY_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, ENTRY, DIRECTORY, WHICH, false, NONE, 0)
#define LINK_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, NAME, DIRECTORY, WHICH, false, NONE, 0)
#define FOLLOWED_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, NAME, DIRECTORY, WHICH, true, NONE, 0)

/* clang-format off */
static const struct collected_call calls[COLLECTED_SYSCALLS] = {
    FD_ROW(close, CLOSE)
    READS_ROW(read, READ, THIRD, AT_FILE)
    MOVES_ROW(write, WRITE, THIRD)
    READS_ROW(pread64, PREAD, THIRD, AT_FOURTH)
    MOVES_ROW(pwrite64, PWRITE, THIRD)
    READS_ROW(readv, READV, VECTOR, AT_FILE)
    MOVES_ROW(writev, WRITEV, VECTOR)
    READS_ROW(preadv, PREADV, VECTOR, AT_FOURTH)
    MOVES_ROW(pwritev, PWRITEV, VECTOR)
    READS_ROW(preadv2, PREADV, VECTOR, AT_FOURTH)
    MOVES_ROW(pwritev2, PWRITEV, VECTOR)
    FD_ROW(lseek, LSEEK)
    ROW_OF(copy_file_range, COPY_FILE_RANGE, .place = COLLECTED_FDS, .bytes = COLLECTED_FIFTH)
    ROW_OF(splice, SPLICE, .place = COLLECTED_FDS, .bytes = COLLECTED_FIFTH)
    ROW_OF(sendfile, SENDFILE, .place = COLLECTED_SENT, .bytes = COLLECTED_FOURTH)
    ROW_OF(mmap, MMAP, .place = COLLECTED_MAPPED)
    ROW_OF(msync, MSYNC, .place = COLLECTED_ADDRESS)
    FD_ROW(fstat, FSTAT)
    FD_ROW(fstatfs, STATFS)
    FD_ROW(fsync, FSYNC)
    FD_ROW(fdatasync, FDATASYNC)
    FD_ROW(sync_file_range, SYNC_FILE_RANGE)
    FD_ROW(syncfs, SYNCFS)
    ROW_OF(sync, SYNCFS, .place = COLLECTED_ANYWHERE)
    FD_ROW(ftruncate, FTRUNCATE)
    FD_ROW(fallocate, FALLOCATE)
    FD_ROW(fadvise64, FADVISE)
    FD_ROW(readahead, FADVISE)
    FD_ROW(LATER_cachestat, FADVISE)
    ROW_OF(madvise, FADVISE, .place = COLLECTED_ADDRESS, .only = COLLECTED_ADVICE)
    FD_ROW(fchmod, CHMOD)
    FD_ROW(fchown, CHOWN)
    FD_ROW(fgetxattr, GETXATTR)
    FD_ROW(fsetxattr, SETXATTR)
    FD_ROW(flistxattr, LISTXATTR)
    FD_ROW(fremovexattr, REMOVEXATTR)
    FD_ROW(flock, FLOCK)
    ROW_OF(fcntl, LOCK, .place = COLLECTED_FD, .only = COLLECTED_LOCKS)
    FD_ROW(ioctl, IOCTL)
    FD_ROW(fchdir, CHDIR)
    FD_ROW(getdents64, GETDENTS)
    ROW_OF(io_submit, IO_SUBMIT, .place = COLLECTED_SUBMITTED)
    ROW_OF(io_getevents, IO_GETEVENTS, .place = COLLECTED_AWAITED)
    ROW_OF(io_pgetevents, IO_GETEVENTS, .place = COLLECTED_AWAITED)
    NAME_ROW(openat, OPEN, OPENED, ARGUMENT(0), 1, true, ARGUMENT(2), O_NOFOLLOW)
    NAME_ROW(openat2, OPEN, RESOLVED, ARGUMENT(0), 1, true, NONE, O_NOFOLLOW)
    ROW_OF(open_by_handle_at, OPEN, .place = COLLECTED_HANDLE)
    ROW_OF(newfstatat, STAT, .place = COLLECTED_STAT, .directory = ARGUMENT(0), .name = 1, .answer = 2, .follows = true,
           .flags = ARGUMENT(3), .flag = AT_SYMLINK_NOFOLLOW, .empty_op = POSIX_FSTAT + 1)
    ANSWER_ROW(statx, STATX, STATX, ARGUMENT(0), 1, 4, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(name_to_handle_at, STAT, NAME, ARGUMENT(0), 1, false, ARGUMENT(4), AT_SYMLINK_FOLLOW)
    NAME_ROW(LATER_file_getattr, STAT, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    FOLLOWED_ROW(faccessat, ACCESS, ARGUMENT(0), 1)
    NAME_ROW(faccessat2, ACCESS, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(inotify_add_watch, ACCESS, NAME, NONE, 1, true, ARGUMENT(2), IN_DONT_FOLLOW)
    NAME_ROW(chdir, CHDIR, CHANGED, NONE, 0, true, NONE, 0)
    FOLLOWED_ROW(statfs, STATFS, NONE, 0)
    FOLLOWED_ROW(truncate, TRUNCATE, NONE, 0)
    ENTRY_ROW(renameat, RENAME, ARGUMENT(0), 1)
    ENTRY_ROW(renameat2, RENAME, ARGUMENT(0), 1)
    ROW_OF(unlinkat, UNLINK, .place = COLLECTED_ENTRY, .directory = ARGUMENT(0), .name = 1,
           .flags = ARGUMENT(2), .flag = AT_REMOVEDIR, .flag_op = POSIX_RMDIR + 1)
    ENTRY_ROW(mkdirat, MKDIR, ARGUMENT(0), 1)
    ENTRY_ROW(linkat, LINK, ARGUMENT(2), 3)
    ENTRY_ROW(symlinkat, SYMLINK, ARGUMENT(1), 2)
    LINK_ROW(readlinkat, READLINK, ARGUMENT(0), 1)
    ENTRY_ROW(mknodat, MKNOD, ARGUMENT(0), 1)
    FOLLOWED_ROW(fchmodat, CHMOD, ARGUMENT(0), 1)
    NAME_ROW(fchownat, CHOWN, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(utimensat, UTIMENS, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    FOLLOWED_ROW(getxattr, GETXATTR, NONE, 0)
    FOLLOWED_ROW(setxattr, SETXATTR, NONE, 0)
    FOLLOWED_ROW(listxattr, LISTXATTR, NONE, 0)
    FOLLOWED_ROW(removexattr, REMOVEXATTR, NONE, 0)
    LINK_ROW(lgetxattr, GETXATTR, NONE, 0)
    LINK_ROW(lsetxattr, SETXATTR, NONE, 0)
    LINK_ROW(llistxattr, LISTXATTR, NONE, 0)
    LINK_ROW(lremovexattr, REMOVEXATTR, NONE, 0)
    NAME_ROW(LATER_fchmodat2, CHMOD, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_file_setattr, CHMOD, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_setxattrat, SETXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_getxattrat, GETXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_listxattrat, LISTXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_removexattrat, REMOVEXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
#ifdef SYS_open /* older forms, which some architectures do not have */
    NAME_ROW(open, OPEN, OPENED, NONE, 0, true, ARGUMENT(1), O_NOFOLLOW)
    NAME_ROW(creat, OPEN, OPENED, NONE, 0, true, NONE, 0)
    ANSWER_ROW(stat, STAT, STAT, NONE, 0, 1, true, NONE, 0)
    ANSWER_ROW(lstat, STAT, STAT, NONE, 0, 1, false, NONE, 0)
    FOLLOWED_ROW(access, ACCESS, NONE, 0)
    ENTRY_ROW(rename, RENAME, NONE, 0)
    ENTRY_ROW(unlink, UNLINK, NONE, 0)
    ENTRY_ROW(mkdir, MKDIR, NONE, 0)
    ENTRY_ROW(rmdir, RMDIR, NONE, 0)
    ENTRY_ROW(link, LINK, NONE, 1)
    ENTRY_ROW(symlink, SYMLINK, NONE, 1)
    LINK_ROW(readlink, READLINK, NONE, 0)
    ENTRY_ROW(mknod, MKNOD, NONE, 0)
    FOLLOWED_ROW(chmod, CHMOD, NONE, 0)
    FOLLOWED_ROW(chown, CHOWN, NONE, 0)
    LINK_ROW(lchown, CHOWN, NONE, 0)
    FOLLOWED_ROW(utime, UTIMENS, NONE, 0)
    FOLLOWED_ROW(utimes, UTIMENS, NONE, 0)
    FOLLOWED_ROW(futimesat, UTIMENS, ARGUMENT(0), 1)
    FD_ROW(getdents, GETDENTS)
#endif
};
/* clang-format on */

/* Of later headers than this may be built with. */
enum { IORING_OP_FTRUNCATE_NUMBER = 55, IORING_OP_READV_FIXED_NUMBER = 60, IORING_OP_WRITEV_FIXED_NUMBER = 61 };

#define REQUEST_ROW(OPCODE, OP, TARGET)                                                                                \
    [IORING_OP_##OPCODE] = {.op = POSIX_URING_##OP + 1, .target = COLLECTED_TARGET_##TARGET},
/* Of those that read or write a file; MEMBER: how their bytes are known. */
#define MOVING_ROW(OPCODE, OP, MEMBER)                                                                                 \
    [IORING_OP_##OPCODE] = {.op = POSIX_URING_##OP + 1, .target = COLLECTED_TARGET_FILE, .MEMBER = true},

/* clang-format off */
static const struct collected_request requests[COLLECTED_OPCODES_OF_RINGS] = {
    MOVING_ROW(READ, READ, has_bytes)
    MOVING_ROW(READV, READ, has_parts)
    MOVING_ROW(READ_FIXED, READ, has_bytes)
    MOVING_ROW(WRITE, WRITE, has_bytes)
    MOVING_ROW(WRITEV, WRITE, has_parts)
    MOVING_ROW(WRITE_FIXED, WRITE, has_bytes)
    REQUEST_ROW(FSYNC, FSYNC, FILE)
    REQUEST_ROW(FALLOCATE, FALLOCATE, FILE)
    REQUEST_ROW(OPENAT, OPEN, OPENED)
    REQUEST_ROW(OPENAT2, OPEN, OPENED)
    REQUEST_ROW(CLOSE, CLOSE, CLOSED)
    REQUEST_ROW(STATX, STATX, STATX)
    REQUEST_ROW(RENAMEAT, RENAME, RENAME)
    REQUEST_ROW(UNLINKAT, UNLINK, UNLINK)
    REQUEST_ROW(MKDIRAT, MKDIR, MKDIR)
    REQUEST_ROW(LINKAT, OTHER, LINK)
    REQUEST_ROW(SYMLINKAT, OTHER, LINK)
    REQUEST_ROW(SYNC_FILE_RANGE, OTHER, FILE)
    REQUEST_ROW(FADVISE, OTHER, FILE)
    REQUEST_ROW(SPLICE, OTHER, FILE)
    REQUEST_ROW(FSETXATTR, OTHER, FILE)
    REQUEST_ROW(FGETXATTR, OTHER, FILE)
    REQUEST_ROW(SETXATTR, OTHER, UNKNOWN)
    REQUEST_ROW(GETXATTR, OTHER, UNKNOWN)
    REQUEST_ROW(FTRUNCATE_NUMBER, OTHER, FILE)
    MOVING_ROW(READV_FIXED_NUMBER, READ, has_parts)
    MOVING_ROW(WRITEV_FIXED_NUMBER, WRITE, has_parts)
};
/* clang-format on */

/* ---- Operations --------------------------------------------------------------------------------- */

enum { LANE_TOLD, LANE_NOT_TOLD };

/* Those of the table, with the names that the layer "user" has for its own. Made once. */
static const char *ops[COLLECTED_CALL_OPS];
static unsigned op_count;
static bool ops_move[COLLECTED_CALL_OPS]; /* bytes */
static struct collector_slot slots[2 * COLLECTED_CALL_OPS];
static struct collected_call numbered[COLLECTED_SYSCALLS]; /* with numbers of ops */
static unsigned page_fault_slot;
static unsigned untimed_slot;
static struct collected_request numbered_requests[COLLECTED_OPCODES_OF_RINGS];
static pthread_once_t ops_once = PTHREAD_ONCE_INIT;

/* op: one more than an operation of the table, or 0. Returns one more than its number, or 0 */
static unsigned char number_op(unsigned char op, unsigned char numbers[ALL_OPS]) {
    static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME) OWN_OPS(POSIX_OP_NAME)[UNTIMED] = COLLECTOR_UNTIMED};
    if (op == 0)
        return 0;
    assert(op_count < COLLECTED_CALL_OPS || numbers[op - 1] > 0);
    if (numbers[op - 1] == 0) {
        slots[op_count] = (struct collector_slot){.lane = LANE_TOLD, .op = (unsigned char)op_count};
        slots[COLLECTED_CALL_OPS + op_count] =
            (struct collector_slot){.lane = LANE_NOT_TOLD, .op = (unsigned char)op_count};
        ops[op_count++] = names[op - 1];
        numbers[op - 1] = (unsigned char)op_count;
    }
    return numbers[op - 1];
}

static void number_ops(void) {
    unsigned char numbers[ALL_OPS] = {0};
    for (unsigned number = 0; number < COLLECTED_SYSCALLS; number++) {
        numbered[number] = calls[number];
        numbered[number].op = number_op(calls[number].op, numbers);
        if (calls[number].bytes != COLLECTED_NO_BYTES)
            ops_move[numbered[number].op - 1] = true;
        numbered[number].empty_op = number_op(calls[number].empty_op, numbers);
        numbered[number].flag_op = number_op(calls[number].flag_op, numbers);
    }
    for (unsigned opcode = 0; opcode < COLLECTED_OPCODES_OF_RINGS; opcode++) {
        numbered_requests[opcode] = requests[opcode];
        numbered_requests[opcode].op = number_op(requests[opcode].op, numbers);
        if (requests[opcode].has_bytes || requests[opcode].has_parts)
            ops_move[numbered_requests[opcode].op - 1] = true;
    }
    untimed_slot = number_op(UNTIMED + 1, numbers) - 1U;
    page_fault_slot = number_op(POSIX_PAGE_FAULT + 1, numbers) - 1U;
}

/* ---- Programs ----------------------------------------------------------------------------------- */

struct call_programs {
    struct syscall_bpf *bpf;
    bool has_cost;
    struct call_cost cost;
    struct fault_ends fault_ends;
    struct process_set processes;
    struct task_walk walk;
    struct slow_ring slow;
};

static void destroy(void *context) {
    struct call_programs *programs = context;
    fault_ends_detach(&programs->fault_ends);
    task_walk_finish(&programs->walk);
    slow_ring_finish(&programs->slow);
    syscall_bpf__destroy(programs->bpf);
    free(programs);
}

/* Without these ends page faults are not counted. */
static void attach_more(void *context) {
    struct call_programs *programs = context;
    if (bpf_program__autoload(programs->bpf->progs.page_fault_end))
        fault_ends_attach(&programs->fault_ends, programs->bpf->progs.page_fault_end);
}

static void detach_more(void *context) {
    struct call_programs *programs = context;
    fault_ends_detach(&programs->fault_ends);
}

enum { NEWEST_COMPLETION = 3, OLDEST_COMPLETION = 5 }; /* arguments */

/* Of older kernels, whose completions do not tell the request, nothing is counted. */
static bool are_rings_told(const struct btf *kernel) {
    const int completion = tracepoint_arguments(kernel, "io_uring_complete");
    return completion == NEWEST_COMPLETION || completion >= OLDEST_COMPLETION;
}

static bool are_faults_told(const struct btf *kernel) {
    return tracepoint_arguments(kernel, "mm_filemap_fault") >= 0;
}

static void choose_of_rings(struct syscall_bpf *bpf, const struct btf *kernel) {
    const int submission = tracepoint_arguments(kernel, "io_uring_submit_req");
    const int older_submission = tracepoint_arguments(kernel, "io_uring_submit_sqe");
    const bool is_told = are_rings_told(kernel);
    bpf->rodata->submission_has_ring = older_submission > 2;
    bpf->rodata->completion_has_entry = tracepoint_arguments(kernel, "io_uring_complete") == NEWEST_COMPLETION;
    bpf_program__set_autoload(bpf->progs.submit_req, is_told && submission >= 0);
    bpf_program__set_autoload(bpf->progs.submit_sqe, is_told && submission < 0 && older_submission >= 0);
    bpf_program__set_autoload(bpf->progs.complete, is_told);
}

/* One of two is for this kernel. */
static void choose_of_pages(struct syscall_bpf *bpf, const struct btf *kernel) {
    const bool has_folios = kernel && btf__find_by_name_kind(kernel, "folio", BTF_KIND_STRUCT) >= 0;
    bpf_program__set_autoload(bpf->progs.folio_comes, has_folios);
    bpf_program__set_autoload(bpf->progs.page_comes, !has_folios);
}

static void choose_programs(struct syscall_bpf *bpf) {
    struct btf *kernel = loading_types();
    choose_of_pages(bpf, kernel);
    choose_of_rings(bpf, kernel);
    const bool has_faults = are_faults_told(kernel);
    bpf_program__set_autoload(bpf->progs.page_fault_begin, has_faults);
    bpf_program__set_autoload(bpf->progs.page_fault_end, has_faults);
    btf__free(kernel);
}

static bool are_calls_told(const struct btf *kernel) {
    return tracepoint_arguments(kernel, "sys_enter") >= 0;
}

bool collector_counts(enum collector_countable what) {
    static bool (*const are_told[])(const struct btf *) = {
        [COLLECTOR_CALLS] = are_calls_told, [COLLECTOR_RINGS] = are_rings_told, [COLLECTOR_FAULTS] = are_faults_told};
    struct btf *kernel = loading_types();
    const bool is_told = are_told[what](kernel);
    btf__free(kernel);
    return is_told;
}

static void set(struct syscall_bpf *bpf, const struct system_calls *of) {
    pthread_once(&ops_once, number_ops);
    memcpy((void *)(uintptr_t)bpf->rodata->calls, numbered, sizeof(numbered));
    memcpy((void *)(uintptr_t)bpf->rodata->same_numbers, numbers_of_32_bits, sizeof(numbers_of_32_bits));
    memcpy((void *)(uintptr_t)bpf->rodata->ring_requests, numbered_requests, sizeof(numbered_requests));
    bpf->rodata->untimed_slot = untimed_slot;
    bpf->rodata->page_fault_slot = page_fault_slot;
    bpf->rodata->has_one_device = of->has_one_device;
    bpf->rodata->has_lasting_numbers = of->has_lasting_numbers;
    bpf->rodata->has_processes = of->processes.count > 0;
    bpf->rodata->cgroup_level = of->cgroup_level;
    bpf->rodata->has_groups = of->has_groups;
    bpf->rodata->has_cgroups = of->has_groups && of->has_cgroups;
    bpf->rodata->own_process = (unsigned)getpid();
    bpf->rodata->own_parent = of->own_parent;
    bpf->rodata->page_bits = (unsigned)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
    bpf->rodata->slow_ns = of->slow_ns;
    bpf->rodata->has_user_stacks = of->has_user_stacks;
    if (of->has_user_stacks)
        bpf_map__set_max_entries(bpf->maps.slow_calls, COLLECTED_SLOW_USER_BYTES);
    if (of->slow_ns == 0)
        bpf_map__set_autocreate(bpf->maps.slow_calls, false);
    process_set_choose(bpf->obj, &of->processes);
    choose_programs(bpf);
}

static struct call_programs *own_programs_of(const struct collector *collector) {
    return collector_programs_of(collector);
}

static const struct syscall_bpf *programs_of(const struct collector *collector) {
    return own_programs_of(collector)->bpf;
}

/* ---- What is watched ---------------------------------------------------------------------------- */

bool collector_has_processes(const struct collector *collector) {
    return process_set_has_some(&own_programs_of(collector)->processes);
}

uint64_t collector_processes_lost(const struct collector *collector) {
    return process_set_lost(&own_programs_of(collector)->processes);
}

int collector_note_device(struct collector *collector, uint32_t device, bool holds_files) {
    const uint8_t value = holds_files;
    const int devices = bpf_map__fd(programs_of(collector)->maps.mounted_devices);
    return bpf_map_update_elem(devices, &device, &value, BPF_ANY) < 0 ? negative_errno() : 0;
}

/* System calls of the machine, since it was attached. */
static uint64_t all_calls(const struct collector *collector) {
    const unsigned first = 0;
    const int cpus = libbpf_num_possible_cpus();
    CLEANUP_FREE uint64_t *counts = cpus > 0 ? calloc((size_t)cpus, sizeof(*counts)) : NULL;
    uint64_t sum = 0;
    if (!counts || bpf_map_lookup_elem(bpf_map__fd(programs_of(collector)->maps.all_calls), &first, counts) < 0)
        return 0;
    for (int cpu = 0; cpu < cpus; cpu++)
        sum += counts[cpu];
    return sum;
}

/* ---- Calls that are under way ------------------------------------------------------------------- */

void collector_note_begun(struct collector *collector) {
    struct call_programs *programs = own_programs_of(collector);
    task_walk_load(&programs->walk, programs->bpf);
    task_walk_note_begun(&programs->walk);
}

uint64_t collector_begun_before(const struct collector *collector) {
    const unsigned first = 0;
    uint64_t count = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(programs_of(collector)->maps.begun_before), &first, &count) < 0)
        count = 0;
    return count;
}

int collector_find_under_way(struct collector *collector, uint64_t min_age_ns, collector_under_way_fn *tell,
                             void *context, uint64_t *ret_count) {
    return task_walk_tell(&own_programs_of(collector)->walk, min_age_ns, tell, context, ret_count);
}

void collector_take_slow(struct collector *collector, collector_slow_fn *tell, void *context) {
    slow_ring_take(&own_programs_of(collector)->slow, tell, context);
}

bool collector_op_moves_bytes(unsigned op) {
    return op < COLLECTED_CALL_OPS && ops_move[op];
}

uint64_t collector_slow_lost(const struct collector *collector) {
    return __atomic_load_n(&programs_of(collector)->bss->slow_lost, __ATOMIC_RELAXED);
}

int collector_slow_fd(const struct collector *collector) {
    return slow_ring_fd(&own_programs_of(collector)->slow);
}

void collector_wake_at_begin(struct collector *collector) {
    __atomic_store_n(&programs_of(collector)->bss->watcher_sleeps, 1, __ATOMIC_SEQ_CST);
}

/* ---- What it costs ------------------------------------------------------------------------------ */

struct measuring {
    struct call_prober prober;
    struct call_times before;
    bool is_possible;
};

/* What is attached is to watch the prober first. */
static void begin_measuring(struct measuring *ret_measuring, struct syscall_bpf *bpf) {
    *ret_measuring = (struct measuring){.is_possible = false};
    ret_measuring->is_possible = call_prober_start(&ret_measuring->prober) == 0 &&
                                 call_prober_measure(&ret_measuring->prober, &ret_measuring->before);
    bpf->bss->device = ret_measuring->prober.device;
}

static double longer(double after, double before) {
    return after > before ? after - before : 0;
}

static void measure(const struct measuring *measuring, struct call_programs *programs) {
    const uint32_t process = (uint32_t)measuring->prober.process;
    struct call_times after;
    if (!measuring->is_possible || process_set_add(&programs->processes, process) < 0)
        return;
    programs->has_cost = call_prober_measure(&measuring->prober, &after);
    if (programs->has_cost) {
        programs->cost.counted_ns = longer(after.on_file, measuring->before.on_file);
        programs->cost.other_ns = longer(after.on_other, measuring->before.on_other);
    }
    process_set_remove(&programs->processes, process);
}

/* A collector_group_fn. */
static void drop(void *context, unsigned op, const struct collected_cell *cell, const struct collected_cell_sum *sum) {
    (void)context, (void)op, (void)cell, (void)sum;
}

/* Ends the measurement, and starts watching the requested file systems and control group. */
static void end_measuring(const struct measuring *measuring, const struct system_calls *of,
                          struct call_programs *programs, struct collector *collector) {
    const struct counting_lane nowhere[COLLECTOR_LANES_MAX] = {{.recorder = NULL}};
    struct syscall_bpf *bpf = programs->bpf;
    measure(measuring, programs);
    bpf->bss->count_from_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    bpf->bss->cgroup = of->cgroup;
    bpf->bss->device = of->device;
    collector_group(collector, drop, NULL);
    collector_count(collector, nowhere);
    collector_group(collector, NULL, NULL);
    programs->cost.all_calls = all_calls(collector);
}

bool collector_call_cost(const struct collector *collector, struct call_cost *ret_cost) {
    const struct call_programs *programs = collector_programs_of(collector);
    *ret_cost = programs->cost;
    ret_cost->all_calls = all_calls(collector) - programs->cost.all_calls;
    return programs->has_cost;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

/* Owner: finishes the collector if it fails */
static int begin_watching(const struct system_calls *of, struct call_programs *programs, struct collector *collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    struct syscall_bpf *bpf = programs->bpf;
    int error = process_set_watch(&programs->processes, &of->processes);
    if (error == 0 && of->slow_ns > 0)
        error = slow_ring_open(&programs->slow, bpf_map__fd(bpf->maps.slow_calls), bpf->bss->count_from_ns);
    if (error) {
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        collector_finish(collector);
    }
    return error;
}

int collector_start_calls(const struct system_calls *of, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    struct call_programs *programs = calloc(1, sizeof(*programs));
    struct syscall_bpf *bpf = programs ? syscall_bpf__open() : NULL;
    if (!bpf) {
        int error = negative_errno();
        free(programs);
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        return error;
    }
    programs->bpf = bpf;
    struct measuring measuring;
    set(bpf, of);
    begin_measuring(&measuring, bpf);
    const struct collector_programs what = {.programs = programs,
                                            .skeleton = bpf->skeleton,
                                            .destroy = destroy,
                                            .attach_more = attach_more,
                                            .detach_more = detach_more,
                                            .needs = {"raw_syscalls/sys_enter", "with CONFIG_HAVE_SYSCALL_TRACEPOINTS"},
                                            .ops = ops,
                                            .op_count = op_count,
                                            .slots = slots};
    struct collector *collector = NULL;
    int error = collector_start(&what, &collector, ret_why);
    if (error == 0) {
        programs->processes = (struct process_set)PROCESS_SET_OF(bpf);
        end_measuring(&measuring, of, programs, collector);
        name_table_find(bpf);
    }
    call_prober_finish(&measuring.prober);
    if (error == 0)
        error = begin_watching(of, programs, collector, ret_why);
    if (error == 0)
        *ret_collector = collector;
    return error;
}
