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
#include "groups_file.h"
#include "live_owner.h"
#include "text_format.h"

static_assert(sizeof(struct live_header) <= LIVE_HEADER_BYTES, "names follow behind it");

static size_t labels_size_bytes(const struct aggstats_recorder_options *options) {
    size_t size_bytes = 0;
    for (size_t i = 0; i < options->label_count; i++)
        size_bytes += strlen(options->labels[i].key) + strlen(options->labels[i].value) + 2;
    return size_bytes;
}

static void write_labels(char *to, const struct aggstats_recorder_options *options) {
    for (size_t i = 0; i < options->label_count; i++) {
        to = stpcpy(to, options->labels[i].key) + 1;
        to = stpcpy(to, options->labels[i].value) + 1;
    }
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

static size_t block_stride_bytes(const struct layout *layout, bool is_shared) {
    const size_t bytes = is_shared ? layout_shared_bytes(layout, layout->op_count) : layout_block_bytes(layout);
    return round_up(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

static void fill_header(struct live *live, const struct aggstats_recorder_options *options, const struct layout *layout,
                        const struct aggstats_clock *clock, uint64_t shared_threads, size_t header_bytes) {
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
        .header_bytes = header_bytes,
        .block_stride_bytes = block_stride_bytes(layout, shared_threads > 0),
        .shared_threads = shared_threads,
    };
    struct live_offsets offsets = live_offsets_make(AGGSTATS_LIVE_VERSION, layout, header->labels_bytes);
    char *base = (char *)header;
    for (unsigned op = 0; op < layout->op_count; op++)
        text_name_copy(base + offsets.names + op * (size_t)AGGSTATS_NAME_SIZE, options->op_names[op]);
    write_labels(base + offsets.labels, options);
    for (int i = 0; i < 2; i++)
        live->windows[i] = (struct window *)(void *)(base + offsets.windows[i]);
    live->slow = (struct slow_store *)(void *)(base + offsets.slow);
    live->looks = (struct live_looks *)(void *)(base + offsets.looks);
}

static void make_shared(struct live_header *header, const struct layout *layout) {
    struct live_shared *shared = live_shared(header, layout);
    struct live_owner *owners = shared->owners;
    pthread_mutexattr_t attributes;
    if (header->shared_threads == 0)
        return;
    shared->named.namespace = live_owner_namespace();
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    for (uint64_t i = 0; i < header->shared_threads; i++)
        pthread_mutex_init(&owners[i].lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Everything else is in place: from here on readers accept the file. */
static void publish_header(struct live_header *header) {
    uint64_t magic;
    memcpy(&magic, LIVE_MAGIC, sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)header->magic, magic, __ATOMIC_RELEASE);
}

/* Without groups. */
static size_t header_bytes_of(const struct layout *layout, size_t labels_bytes, uint64_t shared_threads) {
    const struct live_offsets offsets = live_offsets_make(AGGSTATS_LIVE_VERSION, layout, labels_bytes);
    const size_t shared_bytes =
        shared_threads > 0 ? sizeof(struct live_shared) + shared_threads * sizeof(struct live_owner) : 0;
    return round_up(live_shared_offset(&offsets) + shared_bytes, (size_t)sysconf(_SC_PAGESIZE));
}

static size_t groups_bytes_of(unsigned groupings) {
    return groupings != 0 ? round_up(sizeof(struct groups_file), (size_t)sysconf(_SC_PAGESIZE)) : 0;
}

/* Groups are left out where they would take more than half of the largest file that the process may make. */
static bool groups_fit_into_limit(unsigned groupings, const struct layout *layout, size_t labels_bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
           header_bytes_of(layout, labels_bytes, 1) + groups_bytes_of(groupings) <= limit.rlim_cur / 2;
}

/* Lowers the number of threads until all blocks fit into the largest file that the process may make. 0: none fits */
static uint64_t fit_into_limit(uint64_t shared_threads, unsigned groupings, const struct layout *layout,
                               size_t labels_bytes) {
    const size_t stride_bytes = block_stride_bytes(layout, true);
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return shared_threads;
    while (shared_threads > 0 && header_bytes_of(layout, labels_bytes, shared_threads) + groups_bytes_of(groupings) +
                                         shared_threads * stride_bytes >
                                     limit.rlim_cur)
        shared_threads /= 2;
    return shared_threads;
}

/* Room for the blocks, without memory. So a block is allocated within the file, and the limits of other processes to
 * the size of files do not matter. */
static int make_room(struct live *live) {
    const struct live_header *header = live->header;
    const uint64_t bytes = header->header_bytes + header->shared_threads * header->block_stride_bytes;
    return header->shared_threads > 0 && ftruncate(live->fd, (off_t)bytes) < 0 ? negative_errno() : 0;
}

static void make_groups(struct live_header *header, const struct layout *layout, uint64_t offset, unsigned groupings) {
    struct live_shared *shared = live_shared(header, layout);
    if (groupings == 0)
        return;
    shared->groups_offset = offset;
    groups_file(header, shared)->groupings = groupings;
}

int live_create(struct live *live, const struct aggstats_recorder_options *options, uint64_t shared_threads,
                unsigned groupings, const struct layout *layout, const struct aggstats_clock *clock) {
    *live = (struct live){.fd = -1, .directory_fd = -1};
    size_t labels_bytes = labels_size_bytes(options);
    if (labels_bytes > LIVE_LABELS_BYTES_MAX)
        return -E2BIG;
    if (!groups_fit_into_limit(groupings, layout, labels_bytes))
        groupings = 0;
    if (shared_threads > 0) {
        shared_threads = fit_into_limit(shared_threads, groupings, layout, labels_bytes);
        if (shared_threads == 0)
            return -EFBIG;
    }
    const size_t groups_offset = header_bytes_of(layout, labels_bytes, shared_threads);
    const size_t header_bytes = groups_offset + groups_bytes_of(groupings);

    int err = options->live_path ? open_file(live, options->live_path) : 0;
    void *memory = NULL;
    if (err == 0)
        err = map(live->fd, 0, header_bytes, &memory);
    if (err == 0) {
        live->header = memory;
        fill_header(live, options, layout, clock, shared_threads, header_bytes);
        err = make_room(live);
    }
    if (err < 0) {
        if (live->fd >= 0)
            live_unlink(live);
        live_finish(live);
        return err;
    }
    window_start(live->windows[0], aggstats_clock_now(clock->kind));
    make_shared(live->header, layout);
    make_groups(live->header, layout, groups_offset, groupings);
    publish_header(live->header);
    return 0;
}

void live_close(struct live *live) {
    uint64_t now_cycles = aggstats_clock_now(live->header->clock_kind);
    __atomic_store_n(&live->header->seen_cycles, now_cycles, __ATOMIC_RELAXED);
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
    live_replace_memory(live->header, header.header_bytes);
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
        munmap(live->header, live->header->header_bytes);
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
    if (live->fd < 0 || header->shared_threads > 0)
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

void live_publish_window(struct live *live) {
    __atomic_store_n(&live->header->window_sequence, live->header->window_sequence + 1, __ATOMIC_RELEASE);
}
