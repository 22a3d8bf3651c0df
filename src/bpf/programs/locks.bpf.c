/* Contention of the kernel's locks. Each wait ("fight") is counted by the kernel functions that the thread is in, with
 * time asleep and time spinning separately. A thread may spin and sleep alternately before it gets a mutex: this is one
 * fight. Kernel threads are not counted, nor fights that had begun before. The stack is read when a fight begins,
 * because at its end the thread holds the lock, and other threads wait. */
#include "locked.h"
#include "waited_cells.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mutex {
    struct {
        long counter;
    } owner; /* a task, with flags */
};

struct rw_semaphore {
    struct {
        long counter;
    } owner; /* the same */
};

#pragma clang attribute pop

#define OWNER_FLAGS 7UL
#define OWNER_READS 1UL /* of an rw_semaphore: it is held by readers, of which this is the last one */

/* ---- Fights that have begun ---------------------------------------------------------------------- */

struct fight {
    struct waited_cell cell; /* its kind is what the thread does now */
    __u64 lock;              /* its address; 0: none */
    __u64 since_ns;          /* that it does so */
    __u64 asleep_ns;
    __u64 spinning_ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, LOCKED_THREADS_MAX);
    __type(key, __u32);
    __type(value, struct fight);
} of_threads SEC(".maps");

/* A thread that spins is interrupted by a handler that spins, and so on. */
#define SPINNING_MAX 4

struct spinning {
    struct fight fights[SPINNING_MAX];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct spinning);
} of_cpus SEC(".maps");

/* A thread that spins for a mutex may fall asleep. */
static __always_inline bool is_of_thread(unsigned kind) {
    return !(kind & LOCKED_SPINNING) || (kind & LOCKED_MUTEX);
}

static __always_inline void end_phase(struct fight *fight, __u64 now_ns) {
    if (fight->cell.kind & LOCKED_SPINNING)
        fight->spinning_ns += now_ns - fight->since_ns;
    else
        fight->asleep_ns += now_ns - fight->since_ns;
    fight->since_ns = now_ns;
}

/* The time that this program takes is not counted as contention. */
static __always_inline void fill_fight(struct fight *fight, struct task_struct *task, __u64 lock, unsigned kind) {
    fill_cell(&fight->cell, task, kind);
    fight->cell.stack = note_stack(task, OF_TRACEPOINTS);
    fight->asleep_ns = fight->spinning_ns = 0;
    fight->since_ns = bpf_ktime_get_ns();
    fight->lock = lock;
}

static __always_inline void begin_in_thread(struct task_struct *task, __u64 lock, unsigned kind) {
    const __u32 number = (__u32)task->pid;
    struct fight *fight = bpf_map_lookup_elem(&of_threads, &number);
    if (fight && fight->lock == lock) {
        end_phase(fight, bpf_ktime_get_ns());
        fight->cell.kind = kind;
        return;
    }
    struct fight first = {.lock = 0};
    fill_fight(&first, task, lock, kind);
    if (bpf_map_update_elem(&of_threads, &number, &first, BPF_ANY) < 0)
        __sync_fetch_and_add(&lost, 1);
}

/* A thread that spins keeps its CPU: what is of another has ended unseen.
 * lock: 0: room for another. Returns NULL if there is none */
static __always_inline struct fight *find_spinning(const struct task_struct *task, __u64 lock) {
    const __u32 first = 0;
    struct spinning *spinning = bpf_map_lookup_elem(&of_cpus, &first);
    for (__u32 i = 0; spinning && i < SPINNING_MAX; i++) {
        struct fight *fight = &spinning->fights[i];
        if ((fight->cell.thread == (__u32)task->pid ? fight->lock : 0) == lock)
            return fight;
    }
    return NULL;
}

static __always_inline void begin_on_cpu(struct task_struct *task, __u64 lock, unsigned kind) {
    struct fight *fight = find_spinning(task, lock);
    if (!fight)
        fight = find_spinning(task, 0);
    if (fight)
        fill_fight(fight, task, lock, kind);
    else
        __sync_fetch_and_add(&lost, 1);
}

static __always_inline void count(const struct task_struct *task, struct fight *fight, __u64 now_ns) {
    const __u32 kind = fight->cell.kind;
    if (!is_chosen_process(task))
        return;
    end_phase(fight, now_ns);
    fight->cell.kind = kind | LOCKED_SPINNING;
    if (fight->spinning_ns > 0)
        add_wait(&fight->cell, fight->spinning_ns);
    fight->cell.kind = kind & ~LOCKED_SPINNING;
    if (fight->asleep_ns > 0)
        add_wait(&fight->cell, fight->asleep_ns);
}

/* ---- Programs ----------------------------------------------------------------------------------- */

SEC("tp_btf/contention_begin")
int BPF_PROG(begin, void *lock, unsigned int kind) {
    struct task_struct *task = bpf_get_current_task_btf();
    if (!is_looked_at(task) || bpf_ktime_get_ns() < begin_ns)
        return 0;
    if (is_of_thread(kind))
        begin_in_thread(task, (__u64)lock, kind);
    else
        begin_on_cpu(task, (__u64)lock, kind);
    return 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(end, void *lock, int error) {
    struct task_struct *task = bpf_get_current_task_btf();
    const __u64 now_ns = bpf_ktime_get_ns();
    if (!is_looked_at(task))
        return 0;
    const __u32 number = (__u32)task->pid;
    struct fight *fight = bpf_map_lookup_elem(&of_threads, &number);
    if (fight && fight->lock == (__u64)lock) {
        count(task, fight, now_ns);
        fight->lock = 0; /* should it stay */
        bpf_map_delete_elem(&of_threads, &number);
        return 0;
    }
    fight = find_spinning(task, (__u64)lock);
    if (fight) {
        count(task, fight, now_ns);
        fight->lock = 0;
    }
    return 0;
}

/* ---- Who is asleep for a lock now ----------------------------------------------------------------- */

#define BEGUN_FRAMES 12 /* of the tracepoint and of programs, on a stack that was read in it, and the first others */
#define ASLEEP_FRAMES 3 /* of what waits on behalf of the lock, and the next */

static __always_inline bool has_frame(const struct waited_stack *begun, __u64 frame) {
    for (__u32 i = 0; i < BEGUN_FRAMES; i++)
        if (begun->frames[i] == frame)
            return true;
    return false;
}

/* Whether it stands where its fight began: the end of that may have been missed. */
static __always_inline bool is_in(struct task_struct *task, const struct fight *fight) {
    const struct waited_stack *begun = bpf_map_lookup_elem(&stacks, &fight->cell.stack);
    const struct waited_stack *stack = begun ? read_stack(task, OF_ITERATOR) : NULL;
    for (__u32 i = 0; stack && i < ASLEEP_FRAMES; i++)
        if (has_frame(begun, stack->frames[i]))
            return true;
    return false;
}

/* The address of a task; 0: it is not known. */
static __always_inline __u64 owner_of(const struct fight *fight) {
    const struct mutex *mutex = (const void *)fight->lock;
    const struct rw_semaphore *semaphore = (const void *)fight->lock;
    __u64 owner = 0;
    if (fight->cell.kind == LOCKED_MUTEX && bpf_core_field_exists(mutex->owner))
        owner = (__u64)BPF_CORE_READ(mutex, owner.counter);
    else if ((fight->cell.kind == LOCKED_READING || fight->cell.kind == LOCKED_WRITING) &&
             bpf_core_field_exists(semaphore->owner))
        owner = (__u64)BPF_CORE_READ(semaphore, owner.counter);
    const bool is_read = fight->cell.kind != LOCKED_MUTEX && (owner & OWNER_READS);
    return is_read ? 0 : owner & ~OWNER_FLAGS;
}

SEC("iter/task")
int waiting(struct bpf_iter__task *context) {
    struct task_struct *task = context->task;
    struct locked_now now = {.owner_thread = 0};
    if (!task || !is_looked_at(task) || state_of(task) == 0)
        return 0;
    const __u32 number = (__u32)task->pid;
    const struct fight *fight = bpf_map_lookup_elem(&of_threads, &number);
    if (!fight || (fight->cell.kind & LOCKED_SPINNING) || !is_in(task, fight))
        return 0;
    now.waiting.cell = fight->cell;
    now.waiting.age_ns = bpf_ktime_get_ns() - fight->since_ns + fight->asleep_ns;
    now.is_chosen = is_chosen_process(task);
    const struct task_struct *owner = (const void *)owner_of(fight);
    if (owner)
        now.owner_thread = (__u32)BPF_CORE_READ(owner, pid);
    bpf_seq_write(context->meta->seq, &now, sizeof(now));
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
