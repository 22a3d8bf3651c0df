/* Loads programs/tasks.bpf.c with the maps and settings of programs/syscall.bpf.c, and reads what it prints:
 * records, each followed by a stack as text. */
#include "task_walk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "collected.h"
#include "loading.h"
#include "syscall.skel.h"
#include "tasks.skel.h"

#define READ_BYTES 65536

/* Maps that none of its programs uses are not made. */
static void choose_maps(struct tasks_bpf *bpf, const struct syscall_bpf *counting) {
    const struct {
        struct bpf_map *map;
        const struct bpf_map *shared; /* NULL: it is its own */
    } used[] = {
        {bpf->maps.moved_registers, NULL},
        {bpf->maps.rooms, NULL},
        {bpf->maps.threads, counting->maps.threads},
        {bpf->maps.names, counting->maps.names},
        {bpf->maps.watched_contexts, counting->maps.watched_contexts},
        {bpf->maps.watched_processes, counting->maps.watched_processes},
    };
    struct bpf_map *map;
    bpf_object__for_each_map(map, bpf->obj) bpf_map__set_autocreate(map, bpf_map__is_internal(map));
    for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
        bpf_map__set_autocreate(used[i].map, true);
        if (used[i].shared)
            bpf_map__reuse_fd(used[i].map, bpf_map__fd(used[i].shared));
    }
}

static void copy_settings(struct tasks_bpf *bpf, const struct syscall_bpf *counting) {
    memcpy((void *)(uintptr_t)bpf->rodata->calls, counting->rodata->calls, sizeof(bpf->rodata->calls));
    memcpy((void *)(uintptr_t)bpf->rodata->same_numbers, counting->rodata->same_numbers,
           sizeof(bpf->rodata->same_numbers));
    bpf->rodata->has_one_device = counting->rodata->has_one_device;
    bpf->rodata->has_lasting_numbers = counting->rodata->has_lasting_numbers;
    bpf->rodata->has_processes = counting->rodata->has_processes;
    bpf->rodata->has_groups = counting->rodata->has_groups;
    bpf->rodata->own_process = counting->rodata->own_process;
    bpf->rodata->own_parent = counting->rodata->own_parent;
    bpf->bss->device = counting->bss->device;
    bpf->bss->cgroup = counting->bss->cgroup;
    bpf->bss->count_from_ns = counting->bss->count_from_ns;
}

void task_walk_load(struct task_walk *ret_walk, const struct syscall_bpf *counting) {
    char why[COLLECTOR_WHY_SIZE];
    const struct loading_needs needs = {.tracepoint = "iter/task", .since = "since 5.8"};
    struct tasks_bpf *bpf = tasks_bpf__open();
    if (bpf) {
        choose_maps(bpf, counting);
        copy_settings(bpf, counting);
    }
    if (bpf && loading_load(bpf->skeleton, &needs, why) < 0) {
        tasks_bpf__destroy(bpf);
        bpf = NULL;
    }
    *ret_walk = (struct task_walk){.bpf = bpf};
}

/* ---- Looking ------------------------------------------------------------------------------------ */

/* Calls the program for each thread. Its output is read from the result.
 * Errors:  negative, errno is set */
static int open_walk(const struct bpf_link *link) {
    return link ? bpf_iter_create(bpf_link__fd(link)) : -1;
}

void task_walk_note_begun(const struct task_walk *walk) {
    char nothing[1];
    if (!walk->bpf)
        return;
    struct bpf_link *link = bpf_program__attach_iter(walk->bpf->progs.note_begun, NULL);
    CLEANUP_FD int fd = open_walk(link);
    ssize_t length = fd >= 0 ? 1 : 0;
    nanosleep(&(const struct timespec){.tv_nsec = 1}, NULL); /* this thread gets a CPU anew, by which ages are known */
    while (length > 0 || (length < 0 && errno == EAGAIN))
        length = read(fd, nothing, sizeof(nothing));
    bpf_link__destroy(link);
}

/* Reads the output of the iterator, to its end. */
static int read_all(struct task_walk *walk, size_t *ret_bytes) {
    size_t bytes = 0;
    ssize_t length = 1;
    CLEANUP_FD int fd = open_walk(walk->calls);
    if (fd < 0)
        return negative_errno();
    while (length != 0) {
        if (walk->room_bytes < bytes + READ_BYTES) {
            char *grown = realloc(walk->text, 2 * (bytes + READ_BYTES));
            if (!grown)
                return -ENOMEM;
            walk->text = grown;
            walk->room_bytes = 2 * (bytes + READ_BYTES);
        }
        length = read(fd, walk->text + bytes, READ_BYTES);
        if (length < 0 && errno != EAGAIN && errno != EINTR)
            return negative_errno();
        bytes += length > 0 ? (size_t)length : 0;
    }
    *ret_bytes = bytes;
    return 0;
}

int task_walk_tell(struct task_walk *walk, uint64_t min_age_ns, collector_under_way_fn *tell, void *context,
                   uint64_t *ret_count) {
    struct collected_under_way call;
    size_t bytes = 0;
    if (!walk->bpf)
        return -ENOTSUP;
    if (!walk->calls)
        walk->calls = bpf_program__attach_iter(walk->bpf->progs.tell_calls, NULL);
    walk->bpf->bss->min_age_ns = min_age_ns;
    walk->bpf->bss->under_way_count = 0;
    int error = read_all(walk, &bytes);
    if (error)
        return error;
    *ret_count = walk->bpf->bss->under_way_count;
    for (size_t at = 0; bytes - at > sizeof(call);) {
        memcpy(&call, walk->text + at, sizeof(call));
        const char *stack = walk->text + at + sizeof(call);
        const size_t length = strnlen(stack, bytes - at - sizeof(call));
        if (length == bytes - at - sizeof(call)) /* it is not whole */
            break;
        tell(context, &call, stack);
        at += sizeof(call) + length + 1;
    }
    return 0;
}

void task_walk_finish(struct task_walk *walk) {
    bpf_link__destroy(walk->calls);
    tasks_bpf__destroy(walk->bpf);
    free(walk->text);
    *walk = (struct task_walk){.bpf = NULL};
}
