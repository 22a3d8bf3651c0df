/* The layer "syscall": system calls on files of one file system, by all programs.
 *
 * A call on a descriptor is known by the descriptor. A call by a name is known by what it returns: a descriptor, or the
 * attributes, which have the device; or if the name is one component in a directory that is known, and is not followed.
 * Else it is not told: a symbolic link within a name cannot be seen here, and nothing is guessed. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_CALL_OPS)
#include "call_cells.h"
#include "call_counts.h"

#define CURRENT_DIRECTORY (-100)
#define EMPTY_PATH 0x1000
#define NAME_BYTES 256
#define VECTORS_MAX 16
#define BYTES_MAX 0x7ffff000 /* that the kernel moves in a call */
#define IN_32_BITS 2         /* TS_COMPAT */
#define OF_32_BITS (1 << 22) /* TIF_32BIT */
#define EINTR 4

#if defined(__TARGET_ARCH_x86)
#define RT_SIGRETURN 15
#else
#define RT_SIGRETURN 139
#endif

/* Commands of fcntl(2): F_GETLK to F_SETLKW, and those of open file descriptions. */
#define FIRST_LOCK 5
#define LAST_LOCK 7
#define FIRST_OPEN_LOCK 36
#define LAST_OPEN_LOCK 38

/* The kernel's results of calls that it makes anew when a signal has been handled. */
#define RESTART_FIRST 512
#define RESTART_LAST 516

/* Set before it is loaded. */
const volatile struct collected_call calls[COLLECTED_SYSCALLS];
const volatile __u32 device;        /* of the file system, as the kernel has it */
const volatile __u32 own_process;   /* which is not counted */
const volatile bool has_one_device; /* the device in attributes is that of the file system, for all its files */

enum known {
    KNOWN_NO,
    KNOWN_YES,
    NOT_TOLD,
    NOT_READ, /* the name is not in memory; it is when the call has ended */
};

/* A call of a thread. */
struct under_way {
    __u64 begin_ns;
    __u64 asked_bytes;
    __u64 answer;
    __u64 object; /* that it is on; 0: unknown */
    __u32 number;
    __u32 op; /* 0: there is none; else one more */
    __u32 place;
    __u32 known;
};

/* What a call that a signal has interrupted waits for. Without a handler it is made anew at once. After a handler it is
 * either made anew or has failed, as the result of rt_sigreturn(2) tells. If the handler never returns it has failed. */
enum interrupted {
    AT_ONCE,
    IN_HANDLER,
    RETURNING, /* from a handler, maybe one within another */
    ANEW,
};

struct thread {
    struct under_way call;
    struct under_way interrupted; /* handlers make calls of their own meanwhile */
    __u64 end_ns;                 /* of the latter */
    __u64 stack;                  /* where the stack was: handlers are elsewhere */
    __u32 state;                  /* enum interrupted */
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

/* What is known of a call. */
struct found {
    enum known known;
    const struct dentry *dentry; /* of what it is on; NULL: unknown */
};

static __always_inline struct found found_on(const struct dentry *dentry) {
    return (struct found){.known = dentry ? KNOWN_YES : KNOWN_NO, .dentry = dentry};
}

/* The file, if it is of the file system; else NULL. */
static __always_inline const struct dentry *dentry_of(struct task_struct *task, __s64 fd) {
    const struct file *file = NULL;
    const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    if (fd < 0 || fd >= BPF_CORE_READ(table, max_fds))
        return NULL;
    bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
    return file && BPF_CORE_READ(file, f_inode, i_sb, s_dev) == device ? BPF_CORE_READ(file, f_path.dentry) : NULL;
}

/* The same for an argument. */
static __always_inline const struct dentry *dentry_of_argument(struct task_struct *task,
                                                               const struct pt_regs *registers, __u32 number) {
    return dentry_of(task, (int)argument_of(registers, number));
}

static __always_inline const struct dentry *directory_of(struct task_struct *task, int fd) {
    if (fd != CURRENT_DIRECTORY)
        return dentry_of(task, fd);
    const struct dentry *dentry = BPF_CORE_READ(task, fs, pwd.dentry);
    return BPF_CORE_READ(dentry, d_sb, s_dev) == device ? dentry : NULL;
}

/* What is known of a name before the call. */
static __always_inline struct found find_name(struct task_struct *task, const struct pt_regs *registers,
                                              const volatile struct collected_call *call) {
    char name[NAME_BYTES];
    const struct found not_told = {.known = NOT_TOLD};
    const char *address = (const char *)argument_of(registers, call->name);
    const int directory = call->directory > 0 ? (int)argument_of(registers, call->directory - 1U) : CURRENT_DIRECTORY;
    const __u64 flags = call->flags > 0 ? argument_of(registers, call->flags - 1U) : 0;
    const long length = address ? bpf_probe_read_user_str(name, sizeof(name), address) : 1;
    const bool is_itself = (length == 1 && flags & EMPTY_PATH) || (length == 2 && name[0] == '.');
    const bool is_followed = call->flag_op == 0 && flags & call->flag ? !call->follows : call->follows;
    if (length < 0)
        return (struct found){.known = NOT_READ};
    if (!is_itself) {
        if (length <= 1 || length >= NAME_BYTES || is_followed)
            return not_told;
        if (length == 3 && name[0] == '.' && name[1] == '.')
            return not_told;
        for (int i = 0; i < NAME_BYTES && i < length; i++)
            if (name[i] == '/')
                return not_told;
    }
    return found_on(directory_of(task, directory));
}

static __always_inline struct found find_before(struct task_struct *task, const struct pt_regs *registers,
                                                const volatile struct collected_call *call) {
    const struct dentry *dentry;
    switch (call->place) {
    case COLLECTED_FD:
        return found_on(dentry_of_argument(task, registers, 0));
    case COLLECTED_FDS:
        dentry = dentry_of_argument(task, registers, 0);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 2));
    case COLLECTED_SENT:
        dentry = dentry_of_argument(task, registers, 1);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 0));
    case COLLECTED_MAPPED:
        return found_on(dentry_of_argument(task, registers, 4));
    case COLLECTED_ADDRESS:
        return (struct found){.known = NOT_TOLD};
    default:
        return find_name(task, registers, call);
    }
}

static __always_inline __u64 sum_vector(const char *vector, __u64 count) {
    __u64 bytes = 0;
    for (__u32 i = 0; i < VECTORS_MAX; i++) {
        __u64 length = 0;
        if (i < count)
            bpf_probe_read_user(&length, sizeof(length), vector + 16 * i + 8);
        bytes += length;
    }
    return bytes;
}

static __always_inline __u64 at_most(__u64 bytes) {
    return bytes < BYTES_MAX ? bytes : BYTES_MAX;
}

static __always_inline __u64 asked_bytes(const struct pt_regs *registers, const volatile struct collected_call *call) {
    switch (call->bytes) {
    case COLLECTED_THIRD:
        return at_most(argument_of(registers, 2));
    case COLLECTED_FOURTH:
        return at_most(argument_of(registers, 3));
    case COLLECTED_FIFTH:
        return at_most(argument_of(registers, 4));
    case COLLECTED_VECTOR:
        return at_most(sum_vector((const char *)argument_of(registers, 1), argument_of(registers, 2)));
    default:
        return 0;
    }
}

/* What is known of it afterwards. May find what it is on */
static __always_inline enum known known_after(struct task_struct *task, struct under_way *call, long result) {
    __u64 stat_device = 0;
    __u32 statx_device[2] = {0}; /* major, minor */
    __u32 found;
    if (call->place == COLLECTED_OPENED && result >= 0) {
        const struct dentry *dentry = dentry_of(task, result);
        call->object = note_object(dentry);
        return dentry ? KNOWN_YES : KNOWN_NO;
    }
    if (result != 0)
        return call->known;
    if (call->place == COLLECTED_STAT &&
        bpf_probe_read_user(&stat_device, sizeof(stat_device), (const void *)call->answer) == 0)
        found = (__u32)(stat_device >> 8 & 0xfff) << 20 | (__u32)(stat_device & 0xff) |
                (__u32)(stat_device >> 12 & 0xfff00);
    else if (call->place == COLLECTED_STATX &&
             bpf_probe_read_user(statx_device, sizeof(statx_device), (const char *)call->answer + 136) == 0)
        found = statx_device[0] << 20 | statx_device[1];
    else
        return call->known;
    if (found == device)
        return KNOWN_YES;
    return has_one_device ? KNOWN_NO : call->known;
}

/* Counts it, among those that are not told in the second half of the slots. */
static __noinline void end(struct task_struct *task, struct under_way *call, __u64 end_ns, long result) {
    const enum known known = known_after(task, call, result);
    const __u64 moved = call->asked_bytes > 0 && result > 0 ? (__u64)result : 0;
    const __u64 ns = end_ns - call->begin_ns;
    const struct outcome outcome = {.error = result < 0 && result >= -4095 ? (int)-result : 0,
                                    .asked_bytes = call->asked_bytes,
                                    .moved_bytes = moved};
    if (known == KNOWN_NO)
        return;
    count(call->op - 1 + (known == NOT_TOLD ? COLLECTED_CALL_OPS : 0), ns, &outcome);
    if (known == KNOWN_YES)
        group(task, call->object, call->op - 1, ns);
}

/* They have another table of numbers, which is not known here. */
static __always_inline bool is_in_32_bits(struct task_struct *task) {
#if defined(__TARGET_ARCH_x86)
    return task->thread_info.status & IN_32_BITS;
#else
    return task->thread_info.flags & OF_32_BITS;
#endif
}

static __always_inline bool is_of_locks(__u32 command) {
    return (command >= FIRST_LOCK && command <= LAST_LOCK) || (command >= FIRST_OPEN_LOCK && command <= LAST_OPEN_LOCK);
}

/* One more than the operation. */
static __always_inline __u32 op_of(const struct pt_regs *registers, const volatile struct collected_call *call) {
    char first = 1;
    if (call->flag_op > 0 && argument_of(registers, call->flags - 1U) & call->flag)
        return call->flag_op;
    const char *name = call->empty_op > 0 ? (const char *)argument_of(registers, call->name) : &first;
    const bool is_empty = call->empty_op > 0 && (!name || (bpf_probe_read_user(&first, 1, name) == 0 && first == 0));
    return is_empty ? call->empty_op : call->op;
}

/* ---- Calls that signals interrupt --------------------------------------------------------------- */

static __always_inline void fail_interrupted(struct task_struct *task, struct thread *thread) {
    if (thread->interrupted.op > 0)
        end(task, &thread->interrupted, thread->end_ns, -EINTR);
    thread->interrupted.op = 0;
}

static __always_inline void interrupt(struct task_struct *task, struct thread *thread, const struct pt_regs *registers,
                                      __u64 now_ns) {
    fail_interrupted(task, thread); /* of a handler that has been interrupted too, or never returned */
    thread->interrupted = thread->call;
    thread->end_ns = now_ns;
    thread->stack = BPF_CORE_READ(registers, sp);
    thread->state = AT_ONCE;
}

/* Whether the call that begins is the interrupted one. */
static __always_inline bool resume(struct task_struct *task, struct thread *thread, const struct pt_regs *registers,
                                   __u32 number) {
    const bool is_same = thread->interrupted.number == number && BPF_CORE_READ(registers, sp) == thread->stack;
    if (is_same && (thread->state == AT_ONCE || thread->state == ANEW)) {
        thread->call = thread->interrupted;
        thread->interrupted.op = 0;
        return true;
    }
    if (is_same)
        fail_interrupted(task, thread);
    thread->state = number == RT_SIGRETURN ? RETURNING : IN_HANDLER;
    return false;
}

static __always_inline void return_from_handler(struct task_struct *task, struct thread *thread,
                                                const struct pt_regs *registers, long result) {
    thread->state = IN_HANDLER;
    if (BPF_CORE_READ(registers, sp) != thread->stack)
        return;
    if (result == -EINTR)
        fail_interrupted(task, thread);
    else
        thread->state = ANEW;
}

/* ---- Where programs begin ----------------------------------------------------------------------- */

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *registers, long number) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    const __u64 begin_ns = bpf_ktime_get_ns();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (thread) {
        thread->call.op = 0;
        if (thread->interrupted.op > 0 && resume(task, thread, registers, (__u32)number))
            return 0;
    }
    if ((unsigned long)number >= COLLECTED_SYSCALLS || calls[number].op == 0)
        return 0;
    if ((__u32)task->tgid == own_process || is_in_32_bits(task))
        return 0;
    const volatile struct collected_call *row = &calls[number];
    if (row->is_lock && !is_of_locks((__u32)argument_of(registers, 1)))
        return 0;
    const struct found found = find_before(task, registers, row);
    const bool has_answer =
        row->place == COLLECTED_OPENED || row->place == COLLECTED_STAT || row->place == COLLECTED_STATX;
    if (found.known == KNOWN_NO && !has_answer)
        return 0;
    if (!thread)
        thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
        lose();
        return 0;
    }
    thread->call = (struct under_way){.begin_ns = begin_ns,
                                      .asked_bytes = asked_bytes(registers, row),
                                      .answer = argument_of(registers, row->answer),
                                      .number = (__u32)number,
                                      .op = op_of(registers, row),
                                      .place = row->place,
                                      .object = note_object(found.dentry),
                                      .known = found.known};
    return 0;
}

static __always_inline void read_name(struct task_struct *task, const struct pt_regs *registers,
                                      struct under_way *call) {
    const volatile struct collected_call *row = &calls[call->number % COLLECTED_SYSCALLS];
    const struct found found = find_name(task, registers, row);
    call->known = found.known == NOT_READ ? NOT_TOLD : found.known;
    call->object = note_object(found.dentry);
    call->op = op_of(registers, row);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *registers, long result) {
    const __u64 now_ns = bpf_ktime_get_ns();
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (!thread)
        return 0;
    if (thread->interrupted.op > 0 && thread->state == RETURNING)
        return_from_handler(task, thread, registers, result);
    if (thread->call.op == 0)
        return 0;
    if (thread->call.known == NOT_READ)
        read_name(task, registers, &thread->call);
    if (result <= -RESTART_FIRST && result >= -RESTART_LAST)
        interrupt(task, thread, registers, now_ns);
    else
        end(task, &thread->call, now_ns, result);
    thread->call.op = 0;
    return 0;
}

/* A thread that a signal kills never makes its call anew. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(thread_exit) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (thread)
        fail_interrupted(task, thread);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
