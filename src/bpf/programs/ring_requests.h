/* Requests of io_uring, from when the kernel has taken a request until it posts the completion. Most files are looked
 * up at the completion, because an earlier request may open the file.
 *
 * If a request asks for no completion, its end cannot be seen, so its latency is unknown: it is counted separately. A
 * completion for which the ring has no room cannot be seen either. Such a request counts as under way until the kernel
 * uses its memory for another request; then it is lost. */
#ifndef RING_REQUESTS_H
#define RING_REQUESTS_H

#include "call_arguments.h"
#include "call_cells.h"
#include "call_counts.h"
#include "calls_of_32_bits.h"
#include "ring_files.h"

#define UNDER_WAY_MAX 65536
#define ASKS_NO_COMPLETION (1U << 6) /* IOSQE_CQE_SKIP_SUCCESS */

/* Set before it is loaded. */
const volatile struct collected_request ring_requests[COLLECTED_OPCODES_OF_RINGS];
const volatile __u32 untimed_slot;

/* How the tracepoints of this kernel pass them. */
const volatile bool submission_has_ring;  /* the request is the second argument, not the first */
const volatile bool completion_has_entry; /* the third argument is what is posted; else the fourth is the result */

struct ring_request {
    __u64 begin_ns;
    __u64 asked_bytes;
    __u64 answer; /* address of attributes */
    __u64 user_data;
    __u32 opcode;
    __u32 flags;                /* of the request */
    int fd;                     /* or place in the ring */
    __u32 op;                   /* one more */
    __u32 known;                /* before it ends */
    struct collected_cell cell; /* of whom, and on what if that is known before */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, UNDER_WAY_MAX);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, const struct io_kiocb *);
    __type(value, struct ring_request);
} requests_under_way SEC(".maps");

/* What its program calls it. */
static __always_inline __u64 user_data_of(const struct io_kiocb *request) {
    return bpf_core_field_exists(request->cqe.user_data) ? BPF_CORE_READ(request, cqe.user_data) : 0;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static __always_inline __u64 bytes_wanted(const struct io_kiocb *request,
                                          const volatile struct collected_request *row) {
    const __u32 length = row->has_bytes || row->has_parts ? PART(io_rw, request, len) : 0;
    if (row->has_parts)
        return at_most(sum_vector((const char *)PART(io_rw, request, addr), length, sizeof(__u64)));
    return at_most(length);
}

static __always_inline struct found find_early(struct task_struct *task, const struct io_kiocb *request,
                                               const struct ring_request *taken, __u32 target) {
    if (target >= COLLECTED_TARGET_UNLINK)
        return find_in_directory(task, request, target);
    if (target == COLLECTED_TARGET_CLOSED)
        return found_on(dentry_closed(task, request));
    if (target == COLLECTED_TARGET_FILE && taken->flags & ASKS_NO_COMPLETION)
        return found_on(dentry_named(task, request, taken->flags, taken->fd));
    return (struct found){.known = NOT_TOLD};
}

static __always_inline void count_untimed(const struct ring_request *taken) {
    const struct outcome outcome = {.error = 0};
    if (taken->known != KNOWN_NO)
        count(COLLECTED_CALL_OPS + (taken->known == KNOWN_YES ? untimed_slot : taken->op - 1), 0, &outcome);
}

static __always_inline void add_under_way(const struct io_kiocb *request, const struct ring_request *taken) {
    if (bpf_map_update_elem(&requests_under_way, &request, taken, BPF_NOEXIST) == 0)
        return;
    lose(); /* there is no room, or the one before has ended */
    bpf_map_update_elem(&requests_under_way, &request, taken, BPF_EXIST);
}

static __noinline void begin_request(const struct io_kiocb *request) {
    const __u32 opcode = BPF_CORE_READ(request, opcode);
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    if (opcode >= COLLECTED_OPCODES_OF_RINGS || ring_requests[opcode].op == 0)
        return;
    if (!is_watched_process(task) || is_in_32_bits(task))
        return;
    const volatile struct collected_request *row = &ring_requests[opcode];
    struct ring_request taken = {
        .begin_ns = bpf_ktime_get_ns(),
        .asked_bytes = bytes_wanted(request, row),
        .answer = row->target == COLLECTED_TARGET_STATX ? (__u64)PART(io_statx, request, buffer) : 0,
        .user_data = user_data_of(request),
        .opcode = opcode,
        .flags = BPF_CORE_READ(request, flags),
        .fd = bpf_core_field_exists(request->cqe.fd) ? BPF_CORE_READ(request, cqe.fd) : -1,
        .op = row->op,
    };
    const struct found found = find_early(task, request, &taken, row->target);
    taken.known = found.known;
    if (taken.flags & ASKS_NO_COMPLETION) {
        count_untimed(&taken);
        return;
    }
    taken.cell.object = note_object(found.dentry);
    if (has_groups)
        note_caller(&taken.cell, task);
    add_under_way(request, &taken);
}

/* Linux 6.4. */
SEC("raw_tp/io_uring_submit_req")
int submit_req(struct bpf_raw_tracepoint_args *context) {
    begin_request((const void *)context->args[0]);
    return 0;
}

/* Before. */
SEC("raw_tp/io_uring_submit_sqe")
int submit_sqe(struct bpf_raw_tracepoint_args *context) {
    begin_request((const void *)(submission_has_ring ? context->args[1] : context->args[0]));
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

/* A request that was canceled before it began has no file yet. */
static __always_inline struct found find_file(struct task_struct *task, const struct io_kiocb *request,
                                              const struct ring_request *taken) {
    const struct file *file = BPF_CORE_READ(request, file);
    return found_on(file ? dentry_of_file(file) : dentry_named(task, request, taken->flags, taken->fd));
}

static __always_inline struct found find_described(const struct ring_request *taken, int result) {
    const __u32 described = result == 0 ? device_in((const char *)taken->answer, COLLECTED_STATX) : 0;
    return (struct found){.known = described > 0 ? known_by_device(described, NOT_TOLD) : NOT_TOLD};
}

static __always_inline struct found find_late(struct task_struct *task, const struct io_kiocb *request,
                                              const struct ring_request *taken, int result) {
    switch (ring_requests[taken->opcode % COLLECTED_OPCODES_OF_RINGS].target) {
    case COLLECTED_TARGET_FILE:
        return find_file(task, request, taken);
    case COLLECTED_TARGET_OPENED:
        return find_opened(task, request, result);
    case COLLECTED_TARGET_STATX:
        return find_described(taken, result);
    default:
        return (struct found){.known = taken->known};
    }
}

static __always_inline void count_request(struct ring_request *taken, const struct found *found, __u64 ns, int result) {
    const __u32 slot = taken->op - 1;
    const struct outcome outcome = {.error = result < 0 ? -result : 0,
                                    .asked_bytes = taken->asked_bytes,
                                    .moved_bytes = taken->asked_bytes > 0 && result > 0 ? (__u64)result : 0};
    count(slot + (found->known == NOT_TOLD ? COLLECTED_CALL_OPS : 0), ns, &outcome);
    if (found->known == NOT_TOLD || !has_groups)
        return;
    if (found->dentry)
        taken->cell.object = note_object(found->dentry);
    taken->cell.slot = slot;
    taken->cell.bucket = collected_bucket(ns);
    add_to_cell(&taken->cell, ns, &outcome.reads);
}

static __noinline void end_request(const struct io_kiocb *request, int result) {
    const __u64 now_ns = bpf_ktime_get_ns();
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct ring_request *taken = bpf_map_lookup_elem(&requests_under_way, &request);
    if (!taken)
        return;
    if (taken->opcode == BPF_CORE_READ(request, opcode) && taken->user_data == user_data_of(request)) {
        const struct found found = find_late(task, request, taken, result);
        if (found.known != KNOWN_NO)
            count_request(taken, &found, now_ns - taken->begin_ns, result);
    } else {
        lose(); /* the one before has ended */
    }
    bpf_map_delete_elem(&requests_under_way, &request);
}

/* Of the completions of a request that has several, the last one has the request. */
SEC("raw_tp/io_uring_complete")
int complete(struct bpf_raw_tracepoint_args *context) {
    const struct io_kiocb *request = (const void *)context->args[1];
    const struct io_uring_cqe *posted = (const void *)context->args[2];
    if (request)
        end_request(request, completion_has_entry ? BPF_CORE_READ(posted, res) : (int)context->args[3]);
    return 0;
}

#endif
