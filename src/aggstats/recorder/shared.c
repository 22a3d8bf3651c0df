/* Counting in the live file of another process.
 *
 * Only memory is kept: descriptors belong to the program, and a lock of the process could be held by a thread that a
 * child does not have. A block belongs to the thread that holds its owner's lock (live_file.h), which is only ever
 * tried. In a child the kernel has zeroed the hot part, so that its first call comes here. Its mappings and locks are
 * its parent's, so it takes a block of its own. Afterwards no call comes here until the next thread, or until a thread
 * calls an operation that it has not called before. */
#include "aggstats/shared.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base.h"
#include "groups_file.h"
#include "joined.h"
#include "live_owner.h"

/* Above the numbers that recorders of one process give themselves. */
#define FIRST_ID (UINT64_C(1) << 63)

AGGSTATS_THREAD_LOCAL bool aggstats_shared_is_inside;

/* ---- Blocks ---- */

static void *map_memory(size_t size_bytes) {
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Installs a mapping. If another thread installed one first, that one is kept. */
static struct aggstats_block *keep(struct aggstats_block **place, struct aggstats_block *block, size_t size_bytes) {
    struct aggstats_block *other = NULL;
    if (block && !__atomic_compare_exchange_n(place, &other, block, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        munmap(block, size_bytes);
        return other;
    }
    return block;
}

static int open_live(const char *path) {
    return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
}

/* The first blocks get memory as a whole: in ordinary runs no thread must ask for more later, and the file has no holes,
 * whose removal is slow where the file system discards what is freed. */
#define WHOLE_BLOCKS 64

static size_t first_bytes(const struct joined *joined, uint64_t number) {
    return number < WHOLE_BLOCKS ? joined->block_bytes : joined->page_bytes;
}

/* Allocates before it maps, unless another process has, so that a full file system is an error here and no SIGBUS later.
 * errno is that of opening the file, if that fails.
 * live_fd: of the file while it is being joined; else -1; also for those that follow */
static struct aggstats_block *map_block(struct joined *joined, uint64_t number, int live_fd) {
    const off_t offset = (off_t)(joined->header_bytes + number * joined->block_bytes);
    CLEANUP_FD int own_fd = live_fd < 0 ? open_live(joined->path) : -1;
    const int fd = live_fd < 0 ? own_fd : live_fd;
    if (fd < 0)
        return NULL;
    const bool is_made = __atomic_load_n(&joined->shared->owners[number].is_made, __ATOMIC_ACQUIRE);
    errno = ENOSPC;
    if (!is_made && allocate_blocks(fd, offset, first_bytes(joined, number)) != 0)
        return NULL;
    void *memory = mmap(NULL, joined->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (memory == MAP_FAILED)
        return NULL;
    uint64_t count = __atomic_load_n(&joined->header->block_count, __ATOMIC_ACQUIRE);
    while (count <= number && !__atomic_compare_exchange_n(&joined->header->block_count, &count, number + 1, false,
                                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
    return keep(&joined->blocks[number], memory, joined->block_bytes);
}

/* Allocates more of a block of this thread. Linux before 5.14 does not know MADV_POPULATE_WRITE.
 * wanted_bytes: counted from its beginning */
static bool allocate_more(const struct joined *joined, struct aggstats_block *block, size_t wanted_bytes) {
    const size_t end = round_up(wanted_bytes, joined->page_bytes);
    const size_t more_bytes = end - block->allocated_bytes;
    if (end <= block->allocated_bytes)
        return true;
    if (madvise((unsigned char *)block + block->allocated_bytes, more_bytes, MADV_POPULATE_WRITE) < 0) {
        CLEANUP_FD int fd = errno == EINVAL ? open_live(joined->path) : -1;
        const uint64_t offset = joined->header_bytes + block->number * joined->block_bytes + block->allocated_bytes;
        if (fd < 0 || allocate_blocks(fd, (off_t)offset, more_bytes) != 0)
            return false;
    }
    block->allocated_bytes = (uint32_t)end;
    return true;
}

/* ---- Which block ---- */

#define LOOKS_MAX 64 /* at blocks that may be free, before one is made */

enum claim { CLAIM_TAKEN, CLAIM_FAILED, CLAIM_DONE };

static enum claim try_block(struct joined *joined, uint64_t number, struct live_owner_asker *asker, int live_fd,
                            struct aggstats_block **ret_block) {
    struct live_owner *owner = &joined->shared->owners[number];
    if (!live_owner_take(owner, asker))
        return CLAIM_TAKEN;
    struct aggstats_block *block = __atomic_load_n(&joined->blocks[number], __ATOMIC_ACQUIRE);
    if (!block)
        block = map_block(joined, number, live_fd);
    if (!block) {
        pthread_mutex_unlock(&owner->lock);
        return CLAIM_FAILED;
    }
    __atomic_store_n(&block->current_op, 0, __ATOMIC_RELAXED); /* of a thread that was killed meanwhile */
    __atomic_store_n(&block->thread, (uint64_t)gettid(), __ATOMIC_RELAXED);
    block->number = (uint32_t)number;
    if (block->allocated_bytes == 0)
        block->allocated_bytes = (uint32_t)first_bytes(joined, number);
    __atomic_store_n(&owner->is_made, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&joined->shared->last_taken, number, __ATOMIC_RELAXED);
    live_owner_keep(owner, (pid_t)joined->front.pid, asker);
    *ret_block = block;
    return CLAIM_DONE;
}

/* Looks at some blocks that were made before, from the one that was taken last: in a row of short processes that is the
 * free one. Then makes one. Only if there can be no more it looks at all. */
static enum claim claim_block(struct joined *joined, int live_fd, struct aggstats_block **ret_block) {
    struct live_owner_asker asker = {.checks_max = LOOKS_MAX};
    const uint64_t made = __atomic_load_n(&joined->header->block_count, __ATOMIC_ACQUIRE);
    const uint64_t count = made < joined->block_count_max ? made : joined->block_count_max;
    const uint64_t first = __atomic_load_n(&joined->shared->last_taken, __ATOMIC_RELAXED);
    enum claim claim = CLAIM_TAKEN;
    for (uint64_t i = 0; i < count && i < LOOKS_MAX && claim == CLAIM_TAKEN; i++)
        claim = try_block(joined, (first + i) % count, &asker, live_fd, ret_block);
    for (uint64_t number = count; number < joined->block_count_max && claim == CLAIM_TAKEN; number++)
        claim = try_block(joined, number, &asker, live_fd, ret_block);
    asker.checks_max = UINT_MAX;
    for (uint64_t number = 0; number < count && claim == CLAIM_TAKEN; number++)
        claim = try_block(joined, number, &asker, live_fd, ret_block);
    return claim;
}

/* Threads without a block count here. Nobody reads it. */
static unsigned char lost[sizeof(struct aggstats_block) + AGGSTATS_OPS_MAX +
                          AGGSTATS_OPS_MAX * (sizeof(struct aggstats_counters) + CACHE_LINE_BYTES +
                                              (AGGSTATS_BUCKETS_MAX + AGGSTATS_BESIDE) * sizeof(uint64_t))]
    __attribute__((aligned(CACHE_LINE_BYTES)));

/* error: why the thread has no block, if it is not that all are taken. A process is noted once. */
static struct aggstats_block *lost_block(struct joined *joined, enum claim claim, int error) {
    const bool is_denied = error == EACCES || error == EPERM;
    const bool is_short = error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE;
    if (claim == CLAIM_TAKEN)
        __atomic_fetch_add(&joined->shared->crowded, 1, __ATOMIC_RELAXED);
    else if (is_short)
        __atomic_store_n(&joined->header->incomplete, 1, __ATOMIC_RELEASE);
    else if (__atomic_exchange_n(&joined->front.is_noted, 1, __ATOMIC_RELAXED) == 0)
        __atomic_fetch_add(&joined->header->notes[is_denied ? AGGSTATS_NOTE_DENIED : AGGSTATS_NOTE_MISSING], 1,
                           __ATOMIC_RELAXED);
    return (struct aggstats_block *)(void *)lost;
}

/* In a child: fills in what the kernel has zeroed, with a new number, so that no thread's cache is valid. Any thread
 * may come first. */
static uint64_t renew_hot(struct joined *joined) {
    struct aggstats_recorder_hot *hot = &joined->front.hot;
    uint64_t id = __atomic_load_n(&hot->id, __ATOMIC_ACQUIRE);
    if (id != 0)
        return id;
    hot->clock_kind = joined->hot.clock_kind;
    hot->resolution = joined->hot.resolution;
    hot->counters_stride_bytes = joined->hot.counters_stride_bytes;
    __atomic_store_n(&joined->front.pid, getpid(), __ATOMIC_RELAXED);
    uint64_t new_id = FIRST_ID + __atomic_add_fetch(&joined->last_id, 1, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&hot->id, &id, new_id, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? new_id : id;
}

/* While a thread gets a block or counters: a signal handler may record, and no thread is cancelled while it opens the
 * file. */
struct inside {
    int error;
    int cancel_state;
    sigset_t signals;
};

static struct inside go_inside(void) {
    struct inside inside = {.error = errno};
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &inside.signals);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &inside.cancel_state);
    aggstats_shared_is_inside = true;
    return inside;
}

static void come_back(const struct inside *inside) {
    aggstats_shared_is_inside = false;
    pthread_setcancelstate(inside->cancel_state, NULL);
    pthread_sigmask(SIG_SETMASK, &inside->signals, NULL);
    errno = inside->error;
}

static struct aggstats_block *find_own_block(struct joined *joined, int live_fd) {
    const struct inside inside = go_inside();
    const uint64_t id = renew_hot(joined);
    struct aggstats_block *block = NULL;
    if (aggstats_thread_cache.recorder_id == id) {
        block = aggstats_thread_cache.block;
    } else {
        const enum claim claim = claim_block(joined, live_fd, &block);
        if (claim != CLAIM_DONE)
            block = lost_block(joined, claim, errno);
        thread_block_fill_cache(id, block);
    }
    come_back(&inside);
    return block;
}

static struct aggstats_block *own_block(struct aggstats_recorder *recorder) {
    return find_own_block((struct joined *)(void *)recorder, -1);
}

/* ---- Counters of an op ---- */

/* Returns 0 if there is no memory for them. */
static unsigned char give_counters(const struct joined *joined, struct aggstats_block *block, unsigned op) {
    unsigned char given = 0;
    if (block->counters[op] != 0) /* by a signal handler */
        return block->counters[op];
    for (unsigned other = 0; other < AGGSTATS_OPS_MAX; other++)
        if (block->counters[other] > given)
            given = block->counters[other];
    if (block != (struct aggstats_block *)(void *)lost &&
        !allocate_more(joined, block, layout_shared_bytes(&joined->layout, given + 1U)))
        return 0;
    __atomic_store_n(&block->counters[op], given + 1, __ATOMIC_RELEASE);
    return given + 1;
}

/* In the block for threads without one, all ops have their places. */
struct aggstats_place aggstats_shared_place_slow(struct aggstats_recorder *recorder, unsigned op) {
    struct joined *joined = (struct joined *)(void *)recorder;
    struct aggstats_block *block = aggstats_own_block(recorder);
    const struct inside inside = go_inside();
    unsigned place = give_counters(joined, block, op);
    if (place == 0) {
        block = lost_block(joined, CLAIM_FAILED, ENOSPC);
        place = op + 1;
    }
    come_back(&inside);
    return (struct aggstats_place){block,
                                   layout_counters(&joined->layout, block->counters + AGGSTATS_OPS_MAX, place - 1)};
}

/* ---- Joining ---- */

static bool names_are(const struct live_header *header, const char *const *op_names) {
    const char *names = (const char *)header + LIVE_HEADER_BYTES;
    for (unsigned op = 0; op < header->op_count; op++)
        if (strncmp(names + op * (size_t)AGGSTATS_NAME_SIZE, op_names[op], AGGSTATS_NAME_SIZE) != 0)
            return false;
    return true;
}

static bool header_is_whole(const struct live_header *header, unsigned op_count, uint64_t file_bytes) {
    if (memcmp(header->magic, LIVE_MAGIC, sizeof(header->magic)) != 0 || header->byte_order != LIVE_BYTE_ORDER ||
        header->version != AGGSTATS_LIVE_VERSION || header->op_count != op_count || header->shared_threads == 0 ||
        header->shared_threads > AGGSTATS_SHARED_THREADS_MAX || !aggstats_resolution_valid(header->resolution) ||
        header->labels_bytes > LIVE_LABELS_BYTES_MAX || header->header_bytes > file_bytes)
        return false;
    const struct layout layout = layout_make(op_count, header->resolution);
    const struct live_offsets offsets = live_offsets_make(AGGSTATS_LIVE_VERSION, &layout, header->labels_bytes);
    const size_t end =
        live_shared_offset(&offsets) + sizeof(struct live_shared) + header->shared_threads * sizeof(struct live_owner);
    return header->header_bytes >= end && header->block_stride_bytes >= layout_shared_bytes(&layout, layout.op_count);
}

static bool groups_are_whole(struct live_header *header) {
    const struct layout layout = layout_make(header->op_count, header->resolution);
    const uint64_t offset = live_shared(header, &layout)->groups_offset;
    return offset == 0 || (offset % CACHE_LINE_BYTES == 0 && offset < header->header_bytes &&
                           header->header_bytes - offset >= sizeof(struct groups_file));
}

static int map_header(int fd, unsigned op_count, const char *const *op_names, struct live_header **ret_header) {
    struct live_header header;
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        !header_is_whole(&header, op_count, (uint64_t)attr.st_size))
        return -EBADMSG;
    void *memory = mmap(NULL, header.header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return negative_errno();
    if (!names_are(memory, op_names) || !groups_are_whole(memory)) {
        munmap(memory, header.header_bytes);
        return -EBADMSG;
    }
    *ret_header = memory;
    return 0;
}

/* One mapping: the recorder, whose first page is zeroed in children, the table of mapped blocks, and the path. */
static struct joined *make_joined(struct live_header *header, const char *path, bool has_borrowed_memory) {
    const size_t front_bytes = round_up(sizeof(struct joined), CACHE_LINE_BYTES);
    const size_t blocks_bytes = header->shared_threads * sizeof(struct aggstats_block *);
    const struct layout layout = layout_make(header->op_count, header->resolution);
    const size_t path_bytes = strlen(path) + 1;
    char *memory = map_memory(front_bytes + blocks_bytes + path_bytes);
    if (!memory)
        return NULL;
    madvise(memory, RECORDER_PAGE_BYTES, MADV_WIPEONFORK);
    struct joined *joined = (struct joined *)(void *)memory;
    joined->front.own_block = own_block;
    joined->header = header;
    joined->shared = live_shared(header, &layout);
    joined->blocks = (struct aggstats_block **)(void *)(memory + front_bytes);
    joined->groups = groups_file(header, joined->shared);
    joined->hot.clock_kind = header->clock_kind;
    joined->hot.resolution = header->resolution;
    joined->hot.counters_stride_bytes = (uint32_t)layout.counters_stride_bytes;
    joined->layout = layout;
    joined->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    joined->block_count_max = header->shared_threads;
    joined->header_bytes = header->header_bytes;
    joined->block_bytes = header->block_stride_bytes;
    joined->path = memcpy(memory + front_bytes + blocks_bytes, path, path_bytes);
    renew_hot(joined);
    if (has_borrowed_memory)
        joined->front.pid = 0;
    return joined;
}

int aggstats_recorder_join(const char *live_path, const char *const *op_names, unsigned op_count,
                           bool has_borrowed_memory, struct aggstats_recorder **ret_recorder) {
    struct live_header *header = NULL;
    CLEANUP_FD int fd = open_live(live_path);
    if (fd < 0)
        return negative_errno();
    int err = map_header(fd, op_count, op_names, &header);
    if (!header)
        return err;
    struct joined *joined = make_joined(header, live_path, has_borrowed_memory);
    if (!joined) {
        munmap(header, header->header_bytes);
        return -ENOMEM;
    }
    aggstats_named_end(&joined->shared->named, (uint32_t)getpid());
    find_own_block(joined, fd); /* while the file is open, because the thread is about to count */
    *ret_recorder = (struct aggstats_recorder *)(void *)joined;
    return 0;
}

void aggstats_recorder_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    __atomic_fetch_add(&joined->header->notes[note], more, __ATOMIC_RELAXED);
}

void aggstats_recorder_sum(struct aggstats_recorder *recorder, unsigned sum, uint64_t more) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    __atomic_fetch_add(&joined->header->sums[sum], more, __ATOMIC_RELAXED);
}

struct aggstats_named *aggstats_recorder_named(struct aggstats_recorder *recorder) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    return &joined->shared->named;
}
