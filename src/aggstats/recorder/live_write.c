/* The recording side of the live file. Every page is allocated before it is mapped, so that a full file system shows as
 * an error here and never as SIGBUS in a thread that counts. */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base.h"
#include "shared_layout.h"
#include "text_format.h"

static_assert(sizeof(struct live_header) <= LIVE_HEADER_BYTES, "names follow behind it");

static size_t labels_size_bytes(const struct aggstats_recorder_options *options) {
    size_t size_bytes = 0;
    for (size_t i = 0; i < options->label_count; i++)
        size_bytes += strlen(options->labels[i].key) + strlen(options->labels[i].value) + 2;
    return size_bytes;
}

/* Allocated and zeroed memory: of the file, or anonymous for fd -1. */
static int map(int fd, off_t offset, size_t size_bytes, void **ret_memory) {
    int err = fd >= 0 ? allocate_blocks(fd, offset, size_bytes) : 0;
    if (err < 0)
        return err;
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
    if (memory == MAP_FAILED)
        return negative_errno();
    *ret_memory = memory;
    return 0;
}

static int open_file(struct live *live, const char *path) {
    live->path = strdup(path);
    if (!live->path)
        return -ENOMEM;
    int err = open_parent(AT_FDCWD, live->path, &live->directory_fd, &live->name);
    if (err < 0)
        return err;
    live->fd = openat(live->directory_fd, live->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (live->fd < 0)
        return negative_errno();
    while (flock(live->fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return negative_errno();
    return 0;
}

static size_t page_round_up(size_t bytes) {
    return round_up(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

static size_t block_stride_bytes(const struct layout *layout, bool is_shared) {
    return page_round_up(is_shared ? layout_shared_bytes(layout, layout->op_count) : layout_block_bytes(layout));
}

/* Sizes and offsets of a new file. */
struct plan {
    uint64_t shared_threads; /* 0: it is not shared */
    unsigned groupings;
    size_t shared_offset;
    size_t groups_offset;
    size_t header_bytes;
};

static void fill_header(struct live *live, const struct aggstats_recorder_options *options, const struct layout *layout,
                        const struct aggstats_clock *clock, const struct plan *plan) {
    struct live_header *header = live->header;
    *header = (struct live_header){
        .version = AGGSTATS_LIVE_VERSION,
        .byte_order = LIVE_BYTE_ORDER,
        .pid = getpid(),
        .clock_kind = clock->kind,
        .frequency_hz = clock->frequency_hz,
        .resolution = layout->resolution,
        .op_count = layout->op_count,
        .label_count = (uint32_t)options->label_count,
        .labels_bytes = labels_size_bytes(options),
        .header_bytes = plan->header_bytes,
        .block_stride_bytes = block_stride_bytes(layout, plan->shared_threads > 0),
        .shared_threads = plan->shared_threads,
        .shared_offset = plan->shared_threads > 0 ? plan->shared_offset : 0,
        .groups_offset = plan->groupings != 0 ? plan->groups_offset : 0,
    };
    struct live_offsets offsets = live_offsets_make(layout, header->labels_bytes);
    char *base = (char *)header;
    for (unsigned op = 0; op < layout->op_count; op++)
        text_name_copy(base + offsets.names + op * (size_t)AGGSTATS_NAME_SIZE, options->op_names[op]);
    char *to = base + offsets.labels;
    for (size_t i = 0; i < options->label_count; i++) {
        to = stpcpy(to, options->labels[i].key) + 1;
        to = stpcpy(to, options->labels[i].value) + 1;
    }
    for (int i = 0; i < 2; i++)
        live->windows[i] = (struct window *)(void *)(base + offsets.windows[i]);
    live->slow = (struct slow_store *)(void *)(base + offsets.slow);
    live->looks = (struct live_looks *)(void *)(base + offsets.looks);
}

/* ---- Sizes ---- */

static struct plan plan_make(const struct layout *layout, size_t labels_bytes, uint64_t shared_threads,
                             unsigned groupings) {
    const size_t own_bytes = page_round_up(live_offsets_make(layout, labels_bytes).end);
    struct plan plan = {.shared_threads = shared_threads,
                        .groupings = groupings,
                        .shared_offset = own_bytes,
                        .groups_offset = own_bytes,
                        .header_bytes = own_bytes};
    if (shared_threads > 0)
        plan.header_bytes = plan.groups_offset = own_bytes + page_round_up(shared_layout_bytes(shared_threads));
    if (groupings != 0)
        plan.header_bytes += page_round_up(sizeof(struct groups_file));
    return plan;
}

/* Of a shared file: lowers the number of threads until all blocks fit into the largest file that the process may make.
 * Groups are left out where they would take more than half of it.
 * Errors: -EFBIG no block fits */
static int plan_fit_into_limit(struct plan *plan, const struct layout *layout, size_t labels_bytes) {
    const size_t stride_bytes = block_stride_bytes(layout, true);
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    if (plan_make(layout, labels_bytes, 1, plan->groupings).header_bytes > limit.rlim_cur / 2)
        plan->groupings = 0;
    uint64_t threads = plan->shared_threads;
    do {
        *plan = plan_make(layout, labels_bytes, threads, plan->groupings);
        if (plan->header_bytes + threads * stride_bytes <= limit.rlim_cur)
            return 0;
        threads /= 2;
    } while (threads > 0);
    return -EFBIG;
}

/* ---- What other processes write ---- */

static int write_at(int fd, const void *from, size_t size_bytes, size_t offset) {
    const ssize_t written_bytes = pwrite(fd, from, size_bytes, (off_t)offset);
    return written_bytes == (ssize_t)size_bytes ? 0 : written_bytes < 0 ? negative_errno() : -EIO;
}

/* The file has its final size from the beginning, with a hole for the blocks. So a block is allocated within the file,
 * and the file size limits of other processes (RLIMIT_FSIZE) do not matter. */
static int make_shared(const struct live *live, const struct plan *plan) {
    const uint64_t bytes = plan->header_bytes + plan->shared_threads * live->header->block_stride_bytes;
    const uint64_t groupings = plan->groupings;
    const uint64_t first_named[] = {live_owner_namespace(), AGGSTATS_NAMED_OWN_MAX};
    _Static_assert(offsetof(struct aggstats_named, namespace) == 0 &&
                       offsetof(struct aggstats_named, count) == sizeof(uint64_t),
                   "they are the first");
    int err = ftruncate(live->fd, (off_t)bytes) < 0 ? negative_errno() : 0;
    if (err == 0)
        err = write_at(live->fd, first_named, sizeof(first_named),
                       plan->shared_offset + offsetof(struct live_shared, named));
    if (err == 0 && groupings != 0)
        err = write_at(live->fd, &groupings, sizeof(groupings),
                       plan->groups_offset + offsetof(struct groups_file, groupings));
    return err;
}

/* ---- The maker's part of a shared file ---- */

/* The memory has been allocated, so this can only fail because another process has cut the file short. */
static void write_back(const struct live *live, const void *from, size_t size_bytes) {
    (void)!write_at(live->fd, from, size_bytes, (size_t)((const char *)from - (const char *)live->header));
}

void live_write_facts(const struct live *live) {
    if (!live->is_shared || live->fd < 0)
        return;
    write_back(live, live->looks, sizeof(*live->looks));
    write_back(live, live->header, sizeof(*live->header));
}

/* ---- Creating ---- */

/* Maps the header and the parts behind it: of the file, or private memory. */
static int map_own(struct live *live, const struct plan *plan) {
    void *memory = NULL;
    live->is_shared = plan->shared_threads > 0;
    live->own_bytes = plan->shared_offset;
    live->groupings = plan->groupings;
    int err = live->is_shared ? allocate_blocks(live->fd, 0, plan->header_bytes) : 0;
    if (err == 0)
        err = map(live->is_shared ? -1 : live->fd, 0, live->own_bytes, &memory);
    live->header = memory;
    return err;
}

int live_create(struct live *live, const struct aggstats_recorder_options *options, uint64_t shared_threads,
                unsigned groupings, const struct layout *layout, const struct aggstats_clock *clock) {
    uint64_t magic;
    *live = (struct live){.fd = -1, .directory_fd = -1};
    const size_t labels_bytes = labels_size_bytes(options);
    struct plan plan = plan_make(layout, labels_bytes, shared_threads, groupings);
    int err = labels_bytes > LIVE_LABELS_BYTES_MAX ? -E2BIG : 0;
    if (err == 0 && shared_threads > 0)
        err = plan_fit_into_limit(&plan, layout, labels_bytes);
    if (err == 0 && options->live_path)
        err = open_file(live, options->live_path);
    if (err == 0)
        err = map_own(live, &plan);
    if (err == 0) {
        fill_header(live, options, layout, clock, &plan);
        window_start(live->windows[0], aggstats_clock_now(clock->kind));
        err = plan.shared_threads > 0 ? make_shared(live, &plan) : 0;
    }
    if (err < 0) {
        if (live->fd >= 0)
            live_unlink(live);
        live_finish(live);
        return err;
    }
    if (live->is_shared)
        write_back(live, live->header,
                   (size_t)((char *)live->windows[0] - (char *)live->header) + sizeof(struct window));
    memcpy(&magic, LIVE_MAGIC, sizeof(magic)); /* everything else is in place: from here on readers accept the file */
    __atomic_store_n((uint64_t *)(void *)live->header->magic, magic, __ATOMIC_RELEASE);
    if (live->is_shared)
        write_back(live, live->header, sizeof(magic));
    return 0;
}

void live_close(struct live *live) {
    uint64_t now_cycles = aggstats_clock_now(live->header->clock_kind);
    __atomic_store_n(&live->header->seen_cycles, now_cycles, __ATOMIC_RELAXED);
    live_write_facts(live);
    if (live->fd >= 0) /* closing alone would leave the lock to a child that has inherited the descriptor */
        flock(live->fd, LOCK_UN);
    close_fd(&live->fd);
    close_fd(&live->directory_fd);
}

void live_replace_memory(void *memory, size_t size_bytes) {
    (void)!mmap(memory, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void live_leave(struct live *live) {
    struct live_header header = *live->header;
    close_fd(&live->fd);
    close_fd(&live->directory_fd);
    live_replace_memory(live->header, live->own_bytes);
    live->is_shared = false;
    header.pid = getpid();
    header.block_count = 0;
    header.shared_threads = 0;
    header.window_sequence = 0;
    header.incomplete = 0;
    header.looks = header.busy_looks = header.most_busy = 0;
    header.facts_known = 0;
    memset(header.facts, 0, sizeof(header.facts));
    header.lost = 0;
    *live->header = header;
    window_start(live->windows[0], aggstats_clock_now(header.clock_kind));
}

void live_finish(struct live *live) {
    if (live->header)
        munmap(live->header, live->own_bytes);
    close_fd(&live->fd);
    close_fd(&live->directory_fd);
    free(live->path);
    *live = (struct live){.fd = -1, .directory_fd = -1};
}

int live_unlink(struct live *live) {
    if (live->directory_fd < 0)
        return 0;
    if (unlinkat(live->directory_fd, live->name, 0) < 0 && errno != ENOENT)
        return negative_errno();
    close_fd(&live->directory_fd);
    return 0;
}

int live_add_block(struct live *live, struct aggstats_block **ret_block) {
    struct live_header *header = live->header;
    if (live->fd < 0 || live->is_shared)
        return -ENOTSUP;
    if (header->block_count >= LIVE_BLOCKS_MAX)
        return -ENOSPC;
    uint64_t offset = header->header_bytes + header->block_count * header->block_stride_bytes;
    void *memory = NULL;
    int err = map(live->fd, (off_t)offset, header->block_stride_bytes, &memory);
    if (err < 0)
        return err;
    __atomic_store_n(&header->block_count, header->block_count + 1, __ATOMIC_RELEASE);
    *ret_block = memory;
    return 0;
}

const struct window *live_window(const struct live *live) {
    return live->windows[live->header->window_sequence % 2];
}

struct window *live_edit_window(struct live *live, const struct layout *layout) {
    struct window *copy = live->windows[(live->header->window_sequence + 1) % 2];
    memcpy(copy, live_window(live), window_bytes(layout));
    return copy;
}

void live_publish_window(struct live *live, const struct layout *layout) {
    if (live->is_shared && live->fd >= 0)
        write_back(live, live->windows[(live->header->window_sequence + 1) % 2], window_bytes(layout));
    __atomic_store_n(&live->header->window_sequence, live->header->window_sequence + 1, __ATOMIC_RELEASE);
    live_write_facts(live);
}
