/* The layer "syscall": system calls on files of one file system, by all programs; requests of io_uring, and page faults. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_CALL_OPS)
#include "call_arguments.h"
#include "call_ends.h"
#include "call_places.h"
#include "calls_of_32_bits.h"
#include "interrupted.h"
#include "name_samples.h"
#include "page_faults.h"
#include "process_set_changes.h"
#include "read_cache.h"
#include "ring_requests.h"
#include "under_way.h"
#include "watched_calls.h"

/* Set before it is loaded. */
const volatile struct collected_call calls[COLLECTED_SYSCALLS];

/* System calls of the machine. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} all_calls SEC(".maps");

static __always_inline void count_all(void) {
    const __u32 first = 0;
    __u64 *count = bpf_map_lookup_elem(&all_calls, &first);
    if (count)
        ++*count;
}

static __always_inline void note_reading(struct thread *thread, const struct found *found,
                                         const struct pt_regs *registers, __u32 position) {
    const __u64 object = thread->call.object ? thread->call.object : object_of(found->dentry);
    thread->reads.asked_bytes = thread->call.asked_bytes;
    begin_reading(&thread->reads, &thread->read_last, found->file, object, registers, position);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *all_registers, long any_number) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    const struct pt_regs *registers = all_registers;
    const bool is_32 = is_in_32_bits(task);
    const long number = is_32 ? same_number(any_number) : any_number;
    count_all();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (thread) {
        thread->call.op = 0;
        if (thread->interrupted.op > 0 && resume(task, thread, all_registers, (__u32)number))
            return 0;
    }
    if ((unsigned long)number >= COLLECTED_SYSCALLS || calls[number].op == 0)
        return 0;
    if (!is_watched_process(task))
        return 0;
    const volatile struct collected_call *row = &calls[number];
    if (is_32)
        registers = move_registers(AT_ENTRY, all_registers, row->position == COLLECTED_AT_FOURTH);
    if (!is_counted(registers, row, is_32))
        return 0;
    const struct found found = find_before(task, registers, row);
    if (found.known == KNOWN_NO)
        return 0;
    if (!thread)
        thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!thread) {
        lose();
        return 0;
    }
    thread->call = (struct under_way){.asked_bytes = asked_bytes(registers, row, is_32 ? sizeof(__u32) : sizeof(__u64)),
                                      .number = (__u32)number,
                                      .op = op_of(registers, row),
                                      .object = note_object(found.dentry),
                                      .known = found.known};
    tell_begin();
    thread->reads = (struct reading_call){.reading = READS_NOTHING};
    if (row->position != COLLECTED_NOWHERE && found.file)
        note_reading(thread, &found, registers, row->position);
    thread->call.begin_ns = bpf_ktime_get_ns(); /* last: excludes the time that this program takes */
    return 0;
}

static __noinline void read_name(struct task_struct *task, const struct pt_regs *all_registers, struct under_way *call,
                                 long result) {
    const struct pt_regs *registers =
        is_in_32_bits(task) ? move_registers(AT_EXIT, all_registers, false) : all_registers;
    const volatile struct collected_call *row = &calls[call->number % COLLECTED_SYSCALLS];
    const struct found found =
        row->place == COLLECTED_SUBMITTED ? find_submitted(task, registers) : find_ended(task, registers, row, result);
    call->known = found.known == NOT_READ ? KNOWN_NO : found.known;
    call->object = note_object(found.dentry);
    call->op = op_of(registers, row); /* it may not have been in memory before */
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *registers, long result) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    if (!thread)
        return 0;
    if (thread->interrupted.op > 0 && thread->state == RETURNING)
        return_from_handler(task, thread, registers, result);
    if (thread->call.op == 0)
        return 0;
    const __u64 now_ns = bpf_ktime_get_ns();
    if (thread->call.known == NOT_READ)
        read_name(task, registers, &thread->call, result);
    if (is_interrupted(result))
        interrupt(task, thread, registers, now_ns);
    else
        end(task, &thread->call, &thread->reads, now_ns, result);
    thread->call.op = 0;
    return 0;
}

/* The read call in which a page is put into the cache; NULL: in none. */
static __always_inline struct reading_call *reading_now(void) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct thread *thread = bpf_task_storage_get(&threads, task, NULL, 0);
    return thread && thread->call.op > 0 && thread->reads.inode ? &thread->reads : NULL;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(folio_comes, const struct folio *folio) {
    struct reading_call *call = reading_now();
    if (call && call->inode == BPF_CORE_READ(folio, mapping, host))
        add_pages(call, BPF_CORE_READ(folio, index), 1ULL << order_of(folio));
    return 0;
}

/* Instead of it where the kernel has no folios, until Linux 5.15. */
SEC("tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(page_comes, const struct page *page) {
    struct reading_call *call = reading_now();
    if (call && call->inode == BPF_CORE_READ(page, mapping, host))
        add_pages(call, BPF_CORE_READ(page, index), 1);
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
