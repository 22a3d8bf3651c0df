/* The layer "block": requests to disks, from when the driver gets one until the disk has done it, and how long it had
 * waited in the kernel's queue before. What asks for a flush is a write of nothing, which is no request to the disk. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_DISK_OPS)
#include "call_counts.h"
#include "devices.h"

/* Of linux/blk_types.h. */
#define OP_MASK 0xffU
#define OP_READ 0
#define OP_WRITE 1
#define OP_FLUSH 2
#define OP_DISCARD 3
#define OP_SECURE_ERASE 5
#define OP_OF_DRIVERS 32 /* and above, to 35: they carry commands, and no sectors */

/* Set before it is loaded. */
const volatile __u32 disks[COLLECTED_DISKS_MAX]; /* device numbers, as the kernel has them */
const volatile __u32 disk_count;

struct under_way {
    __u64 queued_ns; /* 0: never */
    __u64 issued_ns; /* 0: not yet */
    __u64 bytes;
};

/* The kernel uses a request again when it is done: so old ones do not pile up. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __type(key, __u64); /* address of the request */
    __type(value, struct under_way);
} requests SEC(".maps");

static __always_inline bool is_of_disks(struct request *request) {
    struct gendisk *disk;
    if (bpf_core_field_exists(((struct request___with_disk *)0)->rq_disk))
        disk = BPF_CORE_READ((struct request___with_disk *)request, rq_disk);
    else
        disk = BPF_CORE_READ(request, q, disk);
    const __u32 device = (__u32)BPF_CORE_READ(disk, major) << 20 | (__u32)BPF_CORE_READ(disk, first_minor);
    return find_device(disks, disk_count, COLLECTED_DISKS_MAX, device) >= 0;
}

static __always_inline bool is_counted(struct request *request) {
    const __u32 op = request->cmd_flags & OP_MASK;
    const bool is_of_driver = op >= OP_OF_DRIVERS && op < OP_OF_DRIVERS + 4;
    return (op == OP_FLUSH || (request->__data_len > 0 && !is_of_driver)) && is_of_disks(request);
}

static __always_inline __u32 slot_of(struct request *request) {
    switch (request->cmd_flags & OP_MASK) {
    case OP_READ:
        return COLLECTED_READ;
    case OP_WRITE:
        return COLLECTED_WRITE;
    case OP_FLUSH:
        return COLLECTED_FLUSH;
    case OP_DISCARD:
    case OP_SECURE_ERASE:
        return COLLECTED_DISCARD;
    default:
        return COLLECTED_OTHER;
    }
}

static __always_inline void keep(struct request *request, const struct under_way *under_way) {
    const __u64 key = (__u64)request;
    if (bpf_map_update_elem(&requests, &key, under_way, BPF_ANY) != 0)
        lose();
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *request) {
    const struct under_way under_way = {.queued_ns = bpf_ktime_get_ns()};
    if (is_counted(request))
        keep(request, &under_way);
    return 0;
}

/* It has become a part of another request, and is none any more. */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_rq_merge, struct request *request) {
    const __u64 key = (__u64)request;
    bpf_map_delete_elem(&requests, &key);
    return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *request) {
    if (!is_counted(request))
        return 0;
    const __u64 key = (__u64)request;
    const __u64 now_ns = bpf_ktime_get_ns();
    struct under_way *queued = bpf_map_lookup_elem(&requests, &key);
    if (queued) {
        queued->issued_ns = now_ns;
        if (queued->bytes < request->__data_len) /* a part of it may be done already */
            queued->bytes = request->__data_len;
        return 0;
    }
    const struct under_way under_way = {.issued_ns = now_ns, .bytes = request->__data_len};
    keep(request, &under_way);
    return 0;
}

/* The driver could not take the request. It counts as queued all the time, since it was first queued or issued. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_rq_requeue, struct request *request) {
    const __u64 key = (__u64)request;
    struct under_way *under_way = bpf_map_lookup_elem(&requests, &key);
    if (!under_way)
        return 0;
    if (under_way->queued_ns == 0)
        under_way->queued_ns = under_way->issued_ns;
    under_way->issued_ns = 0;
    return 0;
}

/* Of blk_status_t, or of an errno value in older kernels; of linux/blk_types.h. */
static __always_inline int error_of(int status) {
    switch (status) {
    case 0:
        return 0;
    case 1:
        return 95; /* EOPNOTSUPP */
    case 2:
        return 110; /* ETIMEDOUT */
    case 3:
        return 28; /* ENOSPC */
    case 7:
        return 61; /* ENODATA */
    case 9:
        return 12; /* ENOMEM */
    default:
        return status < 0 ? -status : 5; /* EIO */
    }
}

/* A request may be completed in parts. The last part ends the request. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *request, int status, unsigned int bytes) {
    const __u64 now_ns = bpf_ktime_get_ns();
    const __u64 key = (__u64)request;
    const struct under_way *found = bpf_map_lookup_elem(&requests, &key);
    if (!found || bytes < request->__data_len)
        return 0;
    const struct under_way under_way = *found;
    bpf_map_delete_elem(&requests, &key);
    if (under_way.issued_ns == 0)
        return 0;
    const __u32 slot = slot_of(request);
    const bool has_bytes = slot == COLLECTED_READ || slot == COLLECTED_WRITE;
    const int error = error_of(status);
    const struct outcome outcome = {.error = error,
                                    .asked_bytes = has_bytes ? under_way.bytes : 0,
                                    .moved_bytes = has_bytes && error == 0 ? under_way.bytes : 0};
    const struct outcome none = {.error = 0};
    count(slot, now_ns - under_way.issued_ns, &outcome);
    if (under_way.queued_ns != 0)
        count(COLLECTED_DISK_OPS + slot, under_way.issued_ns - under_way.queued_ns, &none);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
