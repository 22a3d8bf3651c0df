/* Which bytes of read calls were in the page cache: all but those of pages that a read call has put there, and that no
 * read call has read since. So a page that is read ahead is missed by the call that reads it first.
 *
 * These unread pages are remembered, in chunks. Pages that come otherwise, such as by a write, are not among them. */
#ifndef READ_CACHE_H
#define READ_CACHE_H

#include "call_cells.h"
#include "collected.h"
#include "kernel.h"
#include "watched_calls.h"

#define PAGES_TOGETHER 64U
#define PAGES_BITS 6
#define CHUNKS_MAX 32U      /* at the beginning of what a call reads: farther pages are not read ahead before it */
#define FOLIO_CHUNKS_MAX 32 /* in a folio */
#define UNREAD_MAX 16384    /* chunks; the one that was used least recently makes room */

#define ON_DAX (1 << 13)
#if defined(__TARGET_ARCH_x86)
#define WITHOUT_CACHE 040000 /* O_DIRECT */
#else
#define WITHOUT_CACHE 0200000
#endif

/* Set before it is loaded. */
const volatile __u32 page_bits;

struct unread_key {
    __u64 file; /* its object */
    __u64 chunk;
};

struct unread {
    __u64 pages;     /* bit i: page i of the chunk is unread */
    __u32 rest_from; /* where the unread rest of a page begins, and ends: bytes of the chunk */
    __u32 rest_to;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, UNREAD_MAX);
    __type(key, struct unread_key);
    __type(value, struct unread);
} unread SEC(".maps");

enum reading {
    READS_NOTHING,
    READS_CACHED,
    READS_UNJUDGED,
};

/* A file that is read. */
struct read_file {
    const struct inode *inode;
    __u64 object;
    __u32 reading; /* enum reading, without O_DIRECT */
};

/* A read call under way. */
struct reading_call {
    const struct inode *inode; /* that it reads by way of the cache; NULL: none */
    __u64 file;
    __u64 position;
    __u64 asked_bytes;
    __u64 missed_bytes; /* of pages beyond CHUNKS_MAX, which it puts there itself */
    __u32 reading;      /* enum reading */
};

/* ---- Beginning ---------------------------------------------------------------------------------- */

/* Of FUSE the daemon decides file by file. Other file systems without a disk may have caches of their own, or none. */
static __always_inline __u32 reading_of(const struct inode *inode) {
    const struct super_block *super = BPF_CORE_READ(inode, i_sb);
    const unsigned long type = BPF_CORE_READ(super, s_magic);
    if ((BPF_CORE_READ(inode, i_mode) & TYPE_BITS) != TYPE_REGULAR)
        return READS_NOTHING;
    if (BPF_CORE_READ(inode, i_flags) & ON_DAX || type == FUSE_MAGIC)
        return READS_UNJUDGED;
    return type == BTRFS_MAGIC || BPF_CORE_READ(super, s_bdev) ? READS_CACHED : READS_UNJUDGED;
}

static __always_inline void know_file(struct read_file *known, const struct inode *inode, __u64 object) {
    known->inode = inode;
    known->object = object;
    known->reading = reading_of(inode);
}

static __always_inline __u64 position_of(const struct pt_regs *registers, const struct file *file, __u32 position) {
    const __s64 given = position == COLLECTED_AT_FOURTH ? (__s64)argument_of(registers, 3) : -1;
    return given >= 0 ? (__u64)given : (__u64)BPF_CORE_READ(file, f_pos); /* preadv2(2) has -1 for the latter */
}

/* known: the file that the thread read last, which has another object when its inode is used anew.
 * position: enum collected_position */
static __always_inline void begin_reading(struct reading_call *call, struct read_file *known, const struct file *file,
                                          __u64 object, const struct pt_regs *registers, __u32 position) {
    const struct inode *inode = BPF_CORE_READ(file, f_inode);
    if (known->inode != inode || known->object != object)
        know_file(known, inode, object);
    call->reading = known->reading;
    if (call->reading != READS_CACHED)
        return;
    if (BPF_CORE_READ(file, f_flags) & WITHOUT_CACHE) {
        call->reading = READS_UNJUDGED;
        return;
    }
    call->inode = inode;
    call->file = cached_file(inode, object);
    call->position = position_of(registers, file, position);
}

/* ---- Pages that come into the cache ------------------------------------------------------------- */

static __always_inline void add_unread(__u64 file, __u64 chunk, __u64 pages) {
    const struct unread_key key = {.file = file, .chunk = chunk};
    const struct unread added = {.pages = pages};
    struct unread *there = bpf_map_lookup_elem(&unread, &key);
    if (!there && bpf_map_update_elem(&unread, &key, &added, BPF_NOEXIST) == 0)
        return;
    if (!there)
        there = bpf_map_lookup_elem(&unread, &key); /* another CPU was first */
    if (there)
        __sync_fetch_and_or(&there->pages, pages);
}

/* True of pages that the call reads, and does not look for when it ends. */
static __always_inline bool is_far(const struct reading_call *call, __u64 chunk) {
    const __u64 first = call->position >> page_bits >> PAGES_BITS;
    return chunk >= first + CHUNKS_MAX && chunk << PAGES_BITS << page_bits < call->position + call->asked_bytes;
}

static __always_inline void add_pages(struct reading_call *call, __u64 index, __u64 count) {
    __u64 chunk = index >> PAGES_BITS;
    const __u32 first = index % PAGES_TOGETHER;
    for (__u32 i = 0; i < FOLIO_CHUNKS_MAX; i++) {
        const __u64 here = count < PAGES_TOGETHER ? count : PAGES_TOGETHER;
        if (is_far(call, chunk))
            call->missed_bytes += here << page_bits;
        else
            add_unread(call->file, chunk, ~0ULL >> (PAGES_TOGETHER - here) << first);
        count -= here;
        if (count == 0)
            break;
        chunk++;
    }
}

/* log2 of its pages. */
static __always_inline __u32 order_of(const struct folio *folio) {
    const struct folio___with_flags *flagged = (const void *)folio;
    const unsigned long flags =
        bpf_core_field_exists(folio->flags.f) ? BPF_CORE_READ(folio, flags.f) : BPF_CORE_READ(flagged, flags);
    const struct folio___with_order *ordered = (const void *)folio;
    const struct page *second = (const void *)((const char *)folio + bpf_core_type_size(struct page));
    if (!(flags & 1UL << bpf_core_enum_value(enum pageflags, PG_head)))
        return 0;
    if (bpf_core_field_exists(ordered->_folio_order))
        return BPF_CORE_READ(ordered, _folio_order);
    if (bpf_core_field_exists(folio->_flags_1))
        return BPF_CORE_READ(folio, _flags_1) & 0xff;
    return BPF_CORE_READ(second, compound_order);
}

/* ---- The end ------------------------------------------------------------------------------------ */

/* Takes a part of a chunk, up to 4 MiB. Returns how many of its bytes had not been read. */
static __noinline __u64 take_unread(struct unread *chunk, __u32 from, __u32 to) {
    const __u32 page_bytes = 1U << page_bits;
    const __u32 first = from >> page_bits & (PAGES_TOGETHER - 1);
    const __u32 last = (to - 1) >> page_bits & (PAGES_TOGETHER - 1);
    const __u64 wanted = ~0ULL << first & ~0ULL >> (PAGES_TOGETHER - 1 - last);
    const __u32 rest_from = chunk->rest_from;
    const __u32 rest_to = chunk->rest_to < to ? chunk->rest_to : to;
    __u64 bytes = 0;
    if (from <= rest_from && rest_from < rest_to) {
        bytes = rest_to - rest_from;
        chunk->rest_from = rest_to;
    }
    if (!(chunk->pages & wanted))
        return bytes;
    const __u64 taken = __sync_fetch_and_and(&chunk->pages, ~wanted) & wanted;
    bytes += (__u64)__builtin_popcountll(taken) << page_bits;
    if (taken >> first & 1)
        bytes -= from % page_bytes;
    if (taken >> last & 1 && to % page_bytes > 0) {
        chunk->rest_from = to;
        chunk->rest_to = (last + 1) << page_bits;
        bytes -= page_bytes - to % page_bytes;
    }
    return bytes;
}

/* How many of the bytes that it returned had not been read. Not static: it is verified once. */
__noinline __u64 missed_by(const struct reading_call *call, __u64 returned_bytes) {
    if (!call)
        return 0;
    const __u32 chunk_bits = page_bits + PAGES_BITS;
    const __u64 end = call->position + returned_bytes;
    struct unread_key key = {.file = call->file, .chunk = call->position >> chunk_bits};
    __u64 from = call->position;
    __u64 missed_bytes = call->missed_bytes;
    for (__u32 i = 0; i < CHUNKS_MAX && from < end; i++) {
        const __u64 begin = key.chunk << chunk_bits;
        const __u64 next = begin + (1ULL << chunk_bits);
        struct unread *chunk = bpf_map_lookup_elem(&unread, &key);
        if (chunk)
            missed_bytes += take_unread(chunk, (__u32)(from - begin), (__u32)((end < next ? end : next) - begin));
        from = next;
        key.chunk++;
    }
    return missed_bytes < returned_bytes ? missed_bytes : returned_bytes;
}

/* Splits the bytes that a call returned by the state of the page cache. */
static __always_inline struct collected_reads end_reading(const struct reading_call *call, __u64 returned_bytes) {
    if (call->reading == READS_UNJUDGED)
        return (struct collected_reads){.unjudged_bytes = returned_bytes};
    if (call->reading == READS_NOTHING || returned_bytes == 0)
        return (struct collected_reads){.cached_bytes = 0};
    return (struct collected_reads){.cached_bytes = returned_bytes, .missed_bytes = missed_by(call, returned_bytes)};
}

#endif
