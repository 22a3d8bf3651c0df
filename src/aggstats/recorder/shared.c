/* Counting in the live file of another process.
 *
 * Only memory is kept: descriptors belong to the program, and a lock of the process could be held by a thread that a
 * child does not have. A block belongs to the thread that its owner's word names (live_owner.h). In a child the kernel
 * has zeroed the hot part, so that its first call comes here. Its mappings are its parent's, so it takes a block of its
 * own. Afterwards no call comes here until the next thread, or until a thread calls an operation that it has not called
 * before. */
#include "aggstats/shared.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "joined.h"

/* Greater than the numbers of a process's own recorders. */
#define FIRST_ID (UINT64_C(1) << 63)

AGGSTATS_THREAD_LOCAL bool aggstats_shared_is_inside;

/* ---- Blocks ---- */

/* Installs a mapping. If another thread has installed a block first, keeps that block and unmaps the new one. */
static struct aggstats_block *keep(struct aggstats_block **place, struct aggstats_block *block, size_t size_bytes) {
    struct aggstats_block *other = NULL;
    if (block && !__atomic_compare_exchange_n(place, &other, block, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        munmap(block, size_bytes);
        return other;
    }
    return block;
}

/* The first blocks get all their memory at once. So in ordinary runs no thread must ask for more memory later, and the
 * file has no holes: removing a file with holes is slow if the file system discards freed blocks. */
#define WHOLE_BLOCKS 64

static size_t first_bytes(const struct joined *joined, uint64_t number) {
    return number < WHOLE_BLOCKS ? joined->block_bytes : joined->page_bytes;
}

/* Allocates before mapping, so that a full file system causes an error here and no SIGBUS later. If the file cannot be
 * opened, sets errno accordingly.
 * live_fd: here and below: the file while it is being joined; otherwise -1 */
static struct aggstats_block *map_block(struct joined *joined, uint64_t number, int live_fd) {
    const off_t offset = (off_t)(joined->header_bytes + number * joined->block_bytes);
    CLEANUP_FD int own_fd = live_fd < 0 ? open_to_map(joined->path) : -1;
    const int fd = live_fd < 0 ? own_fd : live_fd;
    errno = fd < 0 ? -fd : ENOSPC;
    if (fd < 0)
        return NULL;
    if (allocate_blocks(fd, offset, first_bytes(joined, number)) != 0)
        return NULL;
    void *memory = mmap(NULL, joined->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    return memory == MAP_FAILED ? NULL : keep(&joined->blocks[number], memory, joined->block_bytes);
}

/* Allocates more of a block that the calling thread has. Linux before 5.14 does not know MADV_POPULATE_WRITE.
 * wanted_bytes: counted from its beginning */
static bool allocate_more(const struct joined *joined, struct aggstats_block *block, uint64_t number,
                          uint32_t *allocated_bytes, size_t wanted_bytes) {
    const size_t end = round_up(wanted_bytes, joined->page_bytes);
    const size_t more_bytes = end - *allocated_bytes;
    if (end <= *allocated_bytes)
        return true;
    if (madvise((unsigned char *)block + *allocated_bytes, more_bytes, MADV_POPULATE_WRITE) < 0) {
        CLEANUP_FD int fd = errno == EINVAL ? open_to_map(joined->path) : -1;
        const uint64_t offset = joined->header_bytes + number * joined->block_bytes + *allocated_bytes;
        if (fd < 0 || allocate_blocks(fd, (off_t)offset, more_bytes) != 0)
            return false;
    }
    *allocated_bytes = (uint32_t)end;
    return true;
}

/* ---- Which block ---- */

#define CHECKS_MAX 64 /* of blocks that may be free, before one is made */

enum claim { CLAIM_TAKEN, CLAIM_FAILED, CLAIM_DONE };

/* A block that the calling thread has, for its cache. */
struct claimed {
    struct aggstats_block *block;
    uint64_t number;
    uint32_t allocated_bytes;
    unsigned char places[AGGSTATS_OPS_MAX];
};
_Static_assert(sizeof(((struct claimed *)0)->places) == sizeof(aggstats_thread_cache.places), "one for each op");

/* Where the previous owner counted each op, which others may have changed: within the block, wherever it is. */
static bool take_over_places(const struct joined *joined, struct claimed *claimed) {
    unsigned last = 0;
    for (unsigned op = 0; op < joined->layout.op_count; op++) {
        const unsigned place = __atomic_load_n(&claimed->block->counters[op], __ATOMIC_RELAXED);
        claimed->places[op] = place <= joined->layout.op_count ? (unsigned char)place : 0;
        last = claimed->places[op] > last ? claimed->places[op] : last;
    }
    return allocate_more(joined, claimed->block, claimed->number, &claimed->allocated_bytes,
                         layout_shared_bytes(&joined->layout, last));
}

static void raise_block_count(const struct joined *joined, uint64_t number) {
    uint64_t count = __atomic_load_n(&joined->shared->numbers.block_count, __ATOMIC_ACQUIRE);
    while (count <= number && !__atomic_compare_exchange_n(&joined->shared->numbers.block_count, &count, number + 1,
                                                           false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

/* checks: see live_owner_take() */
static enum claim try_block(struct joined *joined, uint64_t number, live_owner self, unsigned *checks, int live_fd,
                            struct claimed *ret_claimed) {
    live_owner *owner = &joined->shared->owners[number];
    if (!live_owner_take(owner, self, checks))
        return CLAIM_TAKEN;
    struct aggstats_block *block = __atomic_load_n(&joined->blocks[number], __ATOMIC_ACQUIRE);
    if (!block)
        block = map_block(joined, number, live_fd);
    *ret_claimed =
        (struct claimed){.block = block, .number = number, .allocated_bytes = (uint32_t)first_bytes(joined, number)};
    if (!block || !take_over_places(joined, ret_claimed)) {
        __atomic_store_n(owner, 0, __ATOMIC_RELEASE);
        return CLAIM_FAILED;
    }
    __atomic_store_n(&block->current_op, 0, __ATOMIC_RELAXED); /* of a thread that was killed meanwhile */
    __atomic_store_n(&block->thread, (uint64_t)gettid(), __ATOMIC_RELAXED);
    raise_block_count(joined, number);
    __atomic_store_n(&joined->shared->numbers.last_taken, number, __ATOMIC_RELAXED);
    return CLAIM_DONE;
}

/* Looks at some existing blocks, beginning with the latest taken block: after a short-lived process this block is free.
 * If none of these is free, makes a block. Looks at all blocks only if the maximum number exists. */
static enum claim claim_block(struct joined *joined, live_owner self, int live_fd, struct claimed *ret_claimed) {
    const uint64_t max = joined->block_count_max;
    const uint64_t made = __atomic_load_n(&joined->shared->numbers.block_count, __ATOMIC_ACQUIRE);
    const uint64_t count = made < max ? made : max;
    const uint64_t first =
        count > 0 ? __atomic_load_n(&joined->shared->numbers.last_taken, __ATOMIC_RELAXED) % count : 0;
    unsigned checks = CHECKS_MAX;
    enum claim claim = CLAIM_TAKEN;
    for (uint64_t i = 0; i < count && checks > 0 && claim == CLAIM_TAKEN; i++)
        claim = try_block(joined, (first + i) % count, self, &checks, live_fd, ret_claimed);
    checks = UINT_MAX;
    for (uint64_t i = 0; i < max && claim == CLAIM_TAKEN; i++)
        claim = try_block(joined, (count + i) % max, self, &checks, live_fd, ret_claimed);
    return claim;
}

/* Threads without a block count here. Nobody reads it. */
static unsigned char lost[sizeof(struct aggstats_block) + AGGSTATS_OPS_MAX +
                          AGGSTATS_OPS_MAX * (sizeof(struct aggstats_counters) + CACHE_LINE_BYTES +
                                              (AGGSTATS_BUCKETS_MAX + AGGSTATS_BESIDE) * sizeof(uint64_t))]
    __attribute__((aligned(CACHE_LINE_BYTES)));

/* error: why the thread has no block, if it is not that all are taken. A process is noted once. */
static void note_loss(struct joined *joined, enum claim claim, int error) {
    const bool is_denied = error == EACCES || error == EPERM;
    const bool is_short = error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE;
    if (claim == CLAIM_TAKEN)
        __atomic_fetch_add(&joined->shared->numbers.crowded, 1, __ATOMIC_RELAXED);
    else if (is_short)
        __atomic_store_n(&joined->shared->numbers.incomplete, 1, __ATOMIC_RELEASE);
    else if (__atomic_exchange_n(&joined->front.is_noted, 1, __ATOMIC_RELAXED) == 0)
        __atomic_fetch_add(&joined->shared->numbers.notes[is_denied ? AGGSTATS_NOTE_DENIED : AGGSTATS_NOTE_MISSING], 1,
                           __ATOMIC_RELAXED);
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

/* The word of the calling thread. A process asks once in which namespace its numbers are. A child that has borrowed its
 * memory does not ask, since it may have another one: there the thread is the parent's. */
static live_owner own_word(struct joined *joined) {
    const bool owns_memory = __atomic_load_n(&joined->front.pid, __ATOMIC_RELAXED) == getpid();
    uint64_t namespace = __atomic_load_n(&joined->front.namespace, __ATOMIC_RELAXED);
    if (namespace == 0 && owns_memory) {
        namespace = live_owner_namespace();
        __atomic_store_n(&joined->front.namespace, namespace, __ATOMIC_RELAXED);
    }
    return live_owner_self(owns_memory, (uint32_t) namespace);
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

/* A thread without a block gets the one for calls that are lost, in which all ops have places. */
static struct aggstats_block *find_own_block(struct joined *joined, int live_fd) {
    const struct inside inside = go_inside();
    const uint64_t id = renew_hot(joined);
    struct claimed claimed;
    if (aggstats_thread_cache.recorder_id != id) {
        const enum claim claim = claim_block(joined, own_word(joined), live_fd, &claimed);
        if (claim != CLAIM_DONE) {
            note_loss(joined, claim, errno);
            claimed = (struct claimed){.block = (struct aggstats_block *)(void *)lost, .allocated_bytes = UINT32_MAX};
            for (unsigned op = 0; op < joined->layout.op_count; op++)
                claimed.places[op] = (unsigned char)(op + 1);
        }
        aggstats_thread_cache.number = (uint32_t)claimed.number;
        aggstats_thread_cache.allocated_bytes = claimed.allocated_bytes;
        memcpy(aggstats_thread_cache.places, claimed.places, sizeof(claimed.places));
        thread_block_fill_cache(id, claimed.block);
    }
    come_back(&inside);
    return aggstats_thread_cache.block;
}

static struct aggstats_block *own_block(struct aggstats_recorder *recorder) {
    return find_own_block((struct joined *)(void *)recorder, -1);
}

void aggstats_shared_lend_memory(struct aggstats_recorder *recorder) {
    renew_hot((struct joined *)(void *)recorder);
}

/* ---- Counters of an op ---- */

/* For an op of the calling thread's block. Returns 0 if there is no memory for them. */
static unsigned give_counters(const struct joined *joined, struct aggstats_block *block, unsigned op) {
    struct aggstats_thread_cache *cache = &aggstats_thread_cache;
    unsigned given = 0;
    if (cache->places[op] != 0) /* by a signal handler */
        return cache->places[op];
    for (unsigned other = 0; other < joined->layout.op_count; other++)
        if (cache->places[other] > given)
            given = cache->places[other];
    if (given >= joined->layout.op_count || !allocate_more(joined, block, cache->number, &cache->allocated_bytes,
                                                           layout_shared_bytes(&joined->layout, given + 1U)))
        return 0;
    __atomic_store_n(&block->counters[op], (unsigned char)(given + 1), __ATOMIC_RELEASE);
    cache->places[op] = (unsigned char)(given + 1);
    return given + 1;
}

struct aggstats_place aggstats_shared_place_slow(struct aggstats_recorder *recorder, unsigned op) {
    struct joined *joined = (struct joined *)(void *)recorder;
    struct aggstats_block *block = aggstats_own_block(recorder);
    const struct inside inside = go_inside();
    unsigned place = give_counters(joined, block, op);
    if (place == 0) {
        note_loss(joined, CLAIM_FAILED, ENOSPC);
        block = (struct aggstats_block *)(void *)lost;
        place = op + 1;
    }
    come_back(&inside);
    return (struct aggstats_place){block,
                                   layout_counters(&joined->layout, block->counters + AGGSTATS_OPS_MAX, place - 1)};
}

/* ---- Joining ---- */

static bool header_suits(const struct live_header *header, unsigned op_count, uint64_t file_bytes) {
    if (memcmp(header->magic, LIVE_MAGIC, sizeof(header->magic)) != 0 || header->byte_order != LIVE_BYTE_ORDER ||
        header->version != AGGSTATS_LIVE_VERSION || header->op_count != op_count || header->shared_threads == 0 ||
        !aggstats_clock_name(header->clock_kind) || !aggstats_resolution_valid(header->resolution) ||
        header->labels_bytes > LIVE_LABELS_BYTES_MAX)
        return false;
    const struct layout layout = layout_make(op_count, header->resolution);
    return shared_layout_is_possible(header, &layout, file_bytes);
}

/* Maps what it reads: in a preloaded object, pread(2) would count as the program's.
 * ret_header: a copy, checked
 * Errors:     -EBADMSG */
static int read_header(int fd, unsigned op_count, const char *const *op_names, struct live_header *ret_header) {
    const size_t bytes = LIVE_HEADER_BYTES + op_count * (size_t)AGGSTATS_NAME_SIZE;
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if ((uint64_t)attr.st_size < bytes)
        return -EBADMSG;
    char *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return negative_errno();
    memcpy(ret_header, memory, sizeof(*ret_header));
    bool suits = header_suits(ret_header, op_count, (uint64_t)attr.st_size);
    const char *names = memory + LIVE_HEADER_BYTES;
    for (unsigned op = 0; op < op_count && suits; op++)
        suits = strncmp(names + op * (size_t)AGGSTATS_NAME_SIZE, op_names[op], AGGSTATS_NAME_SIZE) == 0;
    munmap(memory, bytes);
    return suits ? 0 : -EBADMSG;
}

/* One mapping: the recorder, whose first page is zeroed in children, the table of mapped blocks, and the path.
 * shared: from the header's shared_offset on */
static struct joined *make_joined(const struct live_header *header, void *shared, const char *path,
                                  bool has_borrowed_memory) {
    const size_t front_bytes = round_up(sizeof(struct joined), CACHE_LINE_BYTES);
    const size_t blocks_bytes = header->shared_threads * sizeof(struct aggstats_block *);
    const struct layout layout = layout_make(header->op_count, header->resolution);
    const size_t path_bytes = strlen(path) + 1;
    char *memory =
        mmap(NULL, front_bytes + blocks_bytes + path_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, RECORDER_PAGE_BYTES, MADV_WIPEONFORK);
    struct joined *joined = (struct joined *)(void *)memory;
    joined->front.own_block = own_block;
    joined->shared = shared;
    joined->blocks = (struct aggstats_block **)(void *)(memory + front_bytes);
    if (header->groups_offset != 0)
        joined->groups =
            (struct groups_file *)(void *)((char *)shared + (header->groups_offset - header->shared_offset));
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
    struct live_header header = {0};
    CLEANUP_FD int fd = open_to_map(live_path);
    if (fd < 0)
        return fd;
    int err = read_header(fd, op_count, op_names, &header);
    if (err < 0)
        return err;
    const size_t shared_bytes = header.header_bytes - header.shared_offset;
    void *shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)header.shared_offset);
    if (shared == MAP_FAILED)
        return negative_errno();
    struct joined *joined = make_joined(&header, shared, live_path, has_borrowed_memory);
    if (!joined) {
        munmap(shared, shared_bytes);
        return -ENOMEM;
    }
    aggstats_named_end(&joined->shared->named, (uint32_t)getpid());
    find_own_block(joined, fd); /* while the file is open, because the thread is about to count */
    *ret_recorder = (struct aggstats_recorder *)(void *)joined;
    return 0;
}

void aggstats_recorder_note(struct aggstats_recorder *recorder, unsigned note, uint32_t more) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    __atomic_fetch_add(&joined->shared->numbers.notes[note], more, __ATOMIC_RELAXED);
}

void aggstats_recorder_sum(struct aggstats_recorder *recorder, unsigned sum, uint64_t more) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    __atomic_fetch_add(&joined->shared->numbers.sums[sum], more, __ATOMIC_RELAXED);
}

struct aggstats_named *aggstats_recorder_named(struct aggstats_recorder *recorder) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    return &joined->shared->named;
}

/* ---- Named programs ----
 *
 * Written without locks: a program's state becomes WHOLE after all its other members are written, and readers read the
 * state first. */

static bool has_our_numbers(const struct aggstats_named *named) {
    return named->namespace != 0 && named->namespace == live_owner_namespace();
}

void aggstats_named_set_pid(const struct aggstats_named *named, struct aggstats_named_program *program, uint32_t pid) {
    if (has_our_numbers(named))
        __atomic_store_n(&program->pid, pid, __ATOMIC_RELEASE);
}

struct aggstats_named_program *aggstats_named_add(struct aggstats_named *named, uint32_t note, const char *name,
                                                  uint32_t pid) {
    if (__atomic_load_n(&named->count, __ATOMIC_RELAXED) >= AGGSTATS_NAMED_MAX)
        return NULL;
    const uint64_t number = __atomic_fetch_add(&named->count, 1, __ATOMIC_RELAXED);
    if (number >= AGGSTATS_NAMED_MAX)
        return NULL;
    struct aggstats_named_program *program = &named->programs[number];
    program->note = note;
    program->start_ns = read_clock_ns(CLOCK_MONOTONIC);
    memcpy(program->name, name, strnlen(name, sizeof(program->name)));
    if (pid != 0)
        aggstats_named_set_pid(named, program, pid);
    __atomic_store_n(&program->state, AGGSTATS_NAMED_WHOLE, __ATOMIC_RELEASE);
    return program;
}

void aggstats_named_take_back(struct aggstats_named_program *program) {
    __atomic_store_n(&program->state, AGGSTATS_NAMED_TAKEN_BACK, __ATOMIC_RELEASE);
}

/* The kernel is asked for the namespace only if a number is the same: a filter may allow few system calls. */
void aggstats_named_end(struct aggstats_named *named, uint32_t pid) {
    const uint64_t made = __atomic_load_n(&named->count, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < made && i < AGGSTATS_NAMED_MAX; i++) {
        struct aggstats_named_program *program = &named->programs[i];
        int64_t unknown = 0;
        if (__atomic_load_n(&program->state, __ATOMIC_ACQUIRE) == AGGSTATS_NAMED_WHOLE &&
            __atomic_load_n(&program->pid, __ATOMIC_ACQUIRE) == pid && has_our_numbers(named))
            __atomic_compare_exchange_n(&program->end_ns, &unknown, read_clock_ns(CLOCK_MONOTONIC), false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}
