/* The kernel's table is an array of pointers; its size is a power of two. The upper bits of a dentry's hash are the
 * index. Most dentries are alone in their place, and then point back to the place, at 8 * (hash >> shift) bytes after
 * the beginning of the table. The right shift and beginning are the values on which most dentries agree. */
#include "name_table.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdint.h>

#include "base.h"
#include "collected.h"
#include "syscall.skel.h"

/* These are made when they are opened, and nobody else has them open. */
static const char *const files[COLLECTED_SAMPLES] = {
    "attr",    "auxv",      "cgroup", "cmdline", "comm",      "environ", "fd",     "fdinfo",
    "limits",  "map_files", "maps",   "mem",     "mountinfo", "mounts",  "net",    "ns",
    "oom_adj", "pagemap",   "sched",  "smaps",   "stat",      "statm",   "status", "task",
};

struct table {
    uint64_t begin;
    unsigned shift;
    unsigned votes;
};

static uint64_t begin_by(const struct syscall_bpf__bss *samples, unsigned i, unsigned shift) {
    return samples->sample_places[i] - 8 * (uint64_t)(samples->sample_hashes[i] >> shift);
}

static unsigned count_votes(const struct syscall_bpf__bss *samples, uint64_t begin, unsigned shift) {
    unsigned votes = 0;
    for (unsigned i = 0; i < COLLECTED_SAMPLES; i++)
        votes += samples->sample_places[i] != 0 && begin_by(samples, i, shift) == begin;
    return votes;
}

static struct table conclude(const struct syscall_bpf__bss *samples) {
    struct table best = {.votes = 0};
    for (unsigned shift = 0; shift < 32; shift++)
        for (unsigned i = 0; i < COLLECTED_SAMPLES; i++) {
            const uint64_t begin = begin_by(samples, i, shift);
            const unsigned votes = count_votes(samples, begin, shift);
            if (samples->sample_places[i] != 0 && votes > best.votes)
                best = (struct table){.begin = begin, .shift = shift, .votes = votes};
        }
    return best;
}

void name_table_find(struct syscall_bpf *programs) {
    struct bpf_test_run_opts run = {.sz = sizeof(run)};
    struct syscall_bpf__bss *samples = programs->bss;
    CLEANUP_FD int directory = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < COLLECTED_SAMPLES; i++)
        samples->sample_fds[i] = (unsigned)openat(directory, files[i], O_PATH | O_CLOEXEC);
    const int error = bpf_prog_test_run_opts(bpf_program__fd(programs->progs.sample_names), &run);
    for (unsigned i = 0; i < COLLECTED_SAMPLES; i++)
        if ((int)samples->sample_fds[i] >= 0)
            close((int)samples->sample_fds[i]);
    const struct table table = conclude(samples);
    if (error == 0 && table.votes >= COLLECTED_SAMPLES / 3) {
        samples->name_table_shift = table.shift;
        samples->name_table = table.begin;
    }
}
