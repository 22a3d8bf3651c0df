/* The layers "fuse" and "queue": requests of the kernel to FUSE daemons, from when it sends one until it has the
 * answer. "queue" is the part of this time in which a request waited while its worker was busy with another request. */
#include "collected.h"
#define COUNTING_SLOTS (2 * COLLECTED_OPCODES)
#include "call_counts.h"
#include "devices.h"

#define OPCODE_LOOKUP 1
#define OPCODE_READ 15
#define OPCODE_WRITE 16
#define OPCODE_INIT 26
#define OPCODE_COPY_FILE_RANGE 47
#define OPCODE_COPY_FILE_RANGE_64 53
#define NOT_COUNTED COLLECTED_OPCODES /* in place of the opcode */

/* Set before it is loaded. */
const volatile __u32 connections[COLLECTED_CONNECTIONS_MAX]; /* device numbers of the mounts, as the kernel has them */
const volatile __u32 connection_count;
const volatile __u64 counted_opcodes; /* a bit for each */

/* When a mount has ended, the next may be given its number: its INIT says so, if it is not the mount's own. */
bool is_begun[COLLECTED_CONNECTIONS_MAX]; /* set before, where a mount is there already */
bool has_ended[COLLECTED_CONNECTIONS_MAX];

/* Offsets of linux/fuse.h: sizes that are asked for. */
#define SIZE_IN_READ_IN 16
#define LEN_IN_COPY_FILE_RANGE_IN 40
#define OUT_HEADER_BYTES 16
#define ENOENT 2

struct under_way {
    __u64 begin_ns;
    __u64 asked_bytes;
    __u32 opcode;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, __u64); /* address of the request */
    __type(value, struct under_way);
} requests SEC(".maps");

/* When a thread was last done with a request. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, __u64);
} free_since SEC(".maps");

static __always_inline __u32 device_of(const struct fuse_req *request) {
    const struct fuse_req___with_chan *later = (const struct fuse_req___with_chan *)request;
    return bpf_core_field_exists(later->chan) ? BPF_CORE_READ(later, chan, conn, dev)
                                              : BPF_CORE_READ(request, fm, fc, dev);
}

/* The index of the request's mount in connections; negative: not a watched mount. */
static __always_inline int connection_of(const struct fuse_req *request) {
    return find_device(connections, connection_count, COLLECTED_CONNECTIONS_MAX, device_of(request));
}

/* osprof itself asks the daemon under this name, which the profile of osproffs does not have either. */
static __always_inline bool is_own(void) {
    char name[16] = "";
    const char own[] = "osprof-ask";
    bpf_get_current_comm(name, sizeof(name));
    for (__u32 i = 0; i < sizeof(own); i++)
        if (name[i] != own[i])
            return false;
    return true;
}

static __always_inline __u64 read_number(const void *address, __u32 size_bytes) {
    __u64 number = 0;
    return bpf_probe_read_kernel(&number, size_bytes, address) == 0 ? number : 0;
}

/* What a caller asked for, as in the profile of a daemon. */
static __always_inline __u64 asked_bytes(const struct fuse_req *request, __u32 opcode) {
    const char *in = BPF_CORE_READ(request, args, in_args[0].value);
    switch (opcode) {
    case OPCODE_READ:
        return read_number(in + SIZE_IN_READ_IN, 4);
    case OPCODE_WRITE:
        return BPF_CORE_READ(request, args, in_args[1].size);
    case OPCODE_COPY_FILE_RANGE:
    case OPCODE_COPY_FILE_RANGE_64:
        return read_number(in + LEN_IN_COPY_FILE_RANGE_IN, 8);
    default:
        return 0;
    }
}

static __always_inline __u64 moved_bytes(const struct fuse_req *request, __u32 opcode) {
    const __u32 length = request->out.h.len;
    switch (opcode) {
    case OPCODE_READ:
        return length > OUT_HEADER_BYTES ? length - OUT_HEADER_BYTES : 0;
    case OPCODE_WRITE:
    case OPCODE_COPY_FILE_RANGE:
        return read_number(BPF_CORE_READ(request, args, out_args[0].value), 4);
    case OPCODE_COPY_FILE_RANGE_64:
        return read_number(BPF_CORE_READ(request, args, out_args[0].value), 8);
    default:
        return 0;
    }
}

/* An errno value. What is not there has node 0: an answer that the kernel may keep. */
static __always_inline int error_of(const struct fuse_req *request, __u32 opcode) {
    const int error = -request->out.h.error;
    if (error == 0 && opcode == OPCODE_LOOKUP && read_number(BPF_CORE_READ(request, args, out_args[0].value), 8) == 0)
        return ENOENT;
    return error;
}

static __always_inline bool is_operation(__u32 opcode) {
    return opcode < COLLECTED_OPCODES && counted_opcodes >> opcode & 1;
}

SEC("tp_btf/fuse_request_send")
int BPF_PROG(fuse_request_send, const struct fuse_req *request) {
    const int connection = connection_of(request);
    if (connection < 0 || connection >= COLLECTED_CONNECTIONS_MAX)
        return 0;
    const __u32 opcode = request->in.h.opcode;
    if (opcode == OPCODE_INIT && is_begun[connection])
        has_ended[connection] = true;
    is_begun[connection] = true;
    if (has_ended[connection] || !is_operation(opcode))
        return 0;
    const __u64 key = (__u64)request;
    const struct under_way under_way = {.begin_ns = bpf_ktime_get_ns(),
                                        .asked_bytes = asked_bytes(request, opcode),
                                        .opcode = is_own() ? NOT_COUNTED : opcode};
    if (bpf_map_update_elem(&requests, &key, &under_way, BPF_ANY) != 0)
        lose();
    return 0;
}

SEC("tp_btf/fuse_request_end")
int BPF_PROG(fuse_request_end, const struct fuse_req *request) {
    const __u64 now_ns = bpf_ktime_get_ns();
    const __u64 key = (__u64)request;
    const struct under_way *found = bpf_map_lookup_elem(&requests, &key);
    if (!found)
        return 0;
    const struct under_way under_way = *found;
    bpf_map_delete_elem(&requests, &key);
    if (under_way.opcode >= COLLECTED_OPCODES)
        return 0;
    const int error = error_of(request, under_way.opcode);
    const struct outcome outcome = {.error = error,
                                    .asked_bytes = under_way.asked_bytes,
                                    .moved_bytes = error == 0 ? moved_bytes(request, under_way.opcode) : 0};
    const struct outcome none = {.error = 0};
    count(under_way.opcode, now_ns - under_way.begin_ns, &outcome);
    __u64 *since_ns =
        bpf_task_storage_get(&free_since, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!since_ns)
        return 0;
    if (*since_ns > under_way.begin_ns)
        count(COLLECTED_OPCODES + under_way.opcode, *since_ns - under_way.begin_ns, &none);
    *since_ns = now_ns;
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
