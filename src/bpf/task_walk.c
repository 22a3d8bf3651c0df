#include "task_walk.h"

#include <bpf/bpf.h>
#include <string.h>

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
    bpf->rodata->has_processes = counting->rodata->has_processes;
    bpf->rodata->has_groups = counting->rodata->has_groups;
    bpf->rodata->own_process = counting->rodata->own_process;
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
    ret_walk->bpf = bpf;
}

/* Calls the program for each thread, and drops what it writes. */
static void run(const struct bpf_program *program) {
    char text[READ_BYTES];
    struct bpf_link *link = bpf_program__attach_iter(program, NULL);
    CLEANUP_FD int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
    ssize_t length = fd >= 0 ? 1 : 0;
    while (length > 0 || (length < 0 && errno == EAGAIN))
        length = read(fd, text, sizeof(text));
    bpf_link__destroy(link);
}

void task_walk_note_begun(const struct task_walk *walk) {
    if (walk->bpf)
        run(walk->bpf->progs.note_begun);
}

void task_walk_finish(struct task_walk *walk) {
    tasks_bpf__destroy(walk->bpf);
    walk->bpf = NULL;
}
