/* Which file a request of io_uring is on. */
#ifndef RING_FILES_H
#define RING_FILES_H

#include "call_places.h"
#include "collected.h"
#include "watched_calls.h"

#define IS_FIXED 1U           /* IOSQE_FIXED_FILE: the file has a place in the ring */
#define ANY_PLACE 0xffffffffU /* IORING_FILE_INDEX_ALLOC: the kernel chooses one */
#define FILE_FLAGS 7UL        /* beside the pointer to it */

/* A part of a request, as of its operation. */
#define PART(TYPE, REQUEST, MEMBER) BPF_CORE_READ((const struct TYPE *)(REQUEST), MEMBER)

/* The file that has this place in the ring; NULL: none, or not a watched one. */
static __always_inline const struct dentry *dentry_in_ring(const struct io_ring_ctx *ring, __u32 place) {
    const struct io_ring_ctx___with_files *older = (const void *)ring;
    unsigned long file = 0;
    if (bpf_core_field_exists(ring->file_table.data.nodes)) {
        const struct io_rsrc_node *node = NULL;
        if (place < BPF_CORE_READ(ring, file_table.data.nr))
            bpf_probe_read_kernel(&node, sizeof(node), BPF_CORE_READ(ring, file_table.data.nodes) + place);
        file = node ? BPF_CORE_READ(node, file_ptr) : 0;
    } else if (bpf_core_field_exists(older->file_table.files) && bpf_core_field_exists(older->nr_user_files)) {
        if (place < BPF_CORE_READ(older, nr_user_files))
            bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(older, file_table.files) + place);
    }
    return dentry_of_file((const void *)(file & ~FILE_FLAGS));
}

/* What the request names as its file: a descriptor of the thread's process, or a place in the ring. */
static __always_inline const struct dentry *dentry_named(struct task_struct *task, const struct io_kiocb *request,
                                                         __u32 flags, int fd) {
    return flags & IS_FIXED ? dentry_in_ring(BPF_CORE_READ(request, ctx), (__u32)fd) : dentry_of(task, fd);
}

static __always_inline const struct dentry *dentry_closed(struct task_struct *task, const struct io_kiocb *request) {
    const __u32 place = PART(io_close, request, file_slot); /* one more */
    return place > 0 ? dentry_in_ring(BPF_CORE_READ(request, ctx), place - 1)
                     : dentry_of(task, PART(io_close, request, fd));
}

static __always_inline struct found find_opened(struct task_struct *task, const struct io_kiocb *request, int result) {
    const __u32 place = PART(io_open, request, file_slot); /* one more */
    if (result < 0)
        return (struct found){.known = NOT_TOLD};
    if (place == 0)
        return found_on(dentry_of(task, result));
    return found_on(dentry_in_ring(BPF_CORE_READ(request, ctx), place == ANY_PLACE ? (__u32)result : place - 1));
}

/* A name in a directory. */
struct entry {
    const struct filename *name;
    int directory;
};

/* NULL: this kernel has it elsewhere. */
#define NAME_PART(TYPE, REQUEST, NAME)                                                                                 \
    (bpf_core_field_exists(struct TYPE, NAME) ? PART(TYPE, REQUEST, NAME)                                              \
     : bpf_core_field_exists(struct TYPE##___delayed, NAME.__incomplete_filename)                                      \
         ? PART(TYPE##___delayed, REQUEST, NAME.__incomplete_filename)                                                 \
         : NULL)

#define ENTRY(TYPE, REQUEST, DIRECTORY, NAME)                                                                          \
    (struct entry) {                                                                                                   \
        .name = NAME_PART(TYPE, REQUEST, NAME), .directory = PART(TYPE, REQUEST, DIRECTORY)                            \
    }

static __always_inline struct entry entry_of(const struct io_kiocb *request, __u32 target) {
    switch (target) {
    case COLLECTED_TARGET_UNLINK:
        return ENTRY(io_unlink, request, dfd, filename);
    case COLLECTED_TARGET_RENAME:
        return ENTRY(io_rename, request, old_dfd, oldpath);
    case COLLECTED_TARGET_MKDIR:
        return ENTRY(io_mkdir, request, dfd, filename);
    default:
        return ENTRY(io_link, request, new_dfd, newpath);
    }
}

static __always_inline struct found find_in_directory(struct task_struct *task, const struct io_kiocb *request,
                                                      __u32 target) {
    const __u32 place = LOOKUP_OF_REQUEST;
    const struct found not_told = {.known = NOT_TOLD};
    const struct entry entry = entry_of(request, target);
    const struct filename *name = entry.name;
    struct lookup *lookup = bpf_map_lookup_elem(&lookups, &place);
    if (!lookup || !name)
        return not_told;
    const long length = bpf_probe_read_kernel_str(lookup->text, NAME_BYTES, BPF_CORE_READ(name, name));
    if (length <= 1 || length >= NAME_BYTES)
        return not_told;
    if (lookup->text[0] != '/' && !begin_in_directory(task, lookup, entry.directory))
        return not_told;
    lookup->is_entry = true;
    lookup->follows = false;
    const struct dentry *directory = look_up(task, lookup);
    return directory ? found_in(directory) : not_told;
}

#endif
