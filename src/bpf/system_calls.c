/* Counting system calls, requests of io_uring and page faults: settings of programs/syscall.bpf.c, what it needs of the
 * kernel, and what it costs. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "call_prober.h"
#include "call_table.h"
#include "collector_private.h"
#include "loading.h"
#include "process_set.h"
#include "syscall.skel.h"
#include "task_walk.h"

struct call_programs {
    struct syscall_bpf *bpf;
    bool has_cost;
    struct call_cost cost;
    struct bpf_link **fault_ends; /* [fault_end_count]; NULL: not attached */
    unsigned fault_end_count;
    struct process_set processes;
    struct task_walk walk;
    struct ring_buffer *slow; /* slow calls on their way from the kernel; NULL: there is none */
    uint64_t slow_from_ns;    /* calls that have begun before are dropped */
    collector_slow_fn *tell_slow;
    void *tell_slow_context;
};

/* ---- Ends of page faults for which something was read -------------------------------------------- */

static void detach_fault_ends(void *context) {
    struct call_programs *programs = context;
    for (unsigned i = 0; i < programs->fault_end_count; i++)
        bpf_link__destroy(programs->fault_ends[i]);
    free(programs->fault_ends);
    programs->fault_ends = NULL;
    programs->fault_end_count = 0;
}

/* Attaches a program to a software event of each CPU. A CPU that is offline is left out; any other failure detaches all:
 * without these ends page faults are not counted. */
static void attach_fault_ends(void *context) {
    struct call_programs *programs = context;
    const struct bpf_program *program = programs->bpf->progs.page_fault_end;
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(event), .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ, .sample_period = 1};
    const int cpus = bpf_program__autoload(program) ? libbpf_num_possible_cpus() : 0;
    programs->fault_ends = cpus > 0 ? calloc((unsigned)cpus, sizeof(struct bpf_link *)) : NULL;
    for (int cpu = 0; programs->fault_ends && cpu < cpus; cpu++) {
        const int fd = (int)syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0 && errno == ENODEV)
            continue;
        struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event(program, fd); /* takes it over */
        if (link) {
            programs->fault_ends[programs->fault_end_count++] = link;
            continue;
        }
        if (fd >= 0)
            close(fd);
        detach_fault_ends(programs);
    }
}

/* ---- What this kernel has ------------------------------------------------------------------------ */

/* How many arguments programs get from a tracepoint; negative: there is none. The kernel's types (BTF) have
 * btf_trace_NAME, a pointer to a function whose first argument is the program's own. kernel: NULL: unknown */
static int tracepoint_arguments(const struct btf *kernel, const char *name) {
    char type_name[80];
    snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
    const int id = kernel ? btf__find_by_name_kind(kernel, type_name, BTF_KIND_TYPEDEF) : -1;
    const struct btf_type *type = id > 0 ? btf__type_by_id(kernel, (unsigned)id) : NULL;
    for (int i = 0; i < 2 && type; i++)
        type = btf__type_by_id(kernel, type->type);
    return type && btf_is_func_proto(type) ? (int)btf_vlen(type) - 1 : -1;
}

enum { NEWEST_COMPLETION = 3, OLDEST_COMPLETION = 5 }; /* arguments */

static bool is_told(const struct btf *kernel, enum collector_countable what) {
    int completion;
    switch (what) {
    case COLLECTOR_RINGS: /* of older kernels, whose completions do not tell the request, nothing is counted */
        completion = tracepoint_arguments(kernel, "io_uring_complete");
        return completion == NEWEST_COMPLETION || completion >= OLDEST_COMPLETION;
    case COLLECTOR_FAULTS:
        return tracepoint_arguments(kernel, "mm_filemap_fault") >= 0;
    default:
        return tracepoint_arguments(kernel, "sys_enter") >= 0;
    }
}

bool collector_counts(enum collector_countable what) {
    struct btf *kernel = loading_types();
    const bool is_counted = is_told(kernel, what);
    btf__free(kernel);
    return is_counted;
}

static bool may_get(unsigned capability) {
    return prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1;
}

/* For advice: asks what the process may get, not what it has, and loads nothing. */
bool collector_is_possible(void) {
    return (may_get(CAP_SYS_ADMIN) || (may_get(CAP_BPF) && may_get(CAP_PERFMON))) &&
           !collector_is_in_user_namespace() && !collector_is_locked_down() && collector_counts(COLLECTOR_CALLS);
}

static void choose_programs(struct syscall_bpf *bpf) {
    struct btf *kernel = loading_types();
    const int submission = tracepoint_arguments(kernel, "io_uring_submit_req");
    const int older_submission = tracepoint_arguments(kernel, "io_uring_submit_sqe");
    const bool has_rings = is_told(kernel, COLLECTOR_RINGS);
    const bool has_faults = is_told(kernel, COLLECTOR_FAULTS);
    const bool has_folios = kernel && btf__find_by_name_kind(kernel, "folio", BTF_KIND_STRUCT) >= 0;
    bpf->rodata->submission_has_ring = older_submission > 2;
    bpf->rodata->completion_has_entry = tracepoint_arguments(kernel, "io_uring_complete") == NEWEST_COMPLETION;
    bpf_program__set_autoload(bpf->progs.submit_req, has_rings && submission >= 0);
    bpf_program__set_autoload(bpf->progs.submit_sqe, has_rings && submission < 0 && older_submission >= 0);
    bpf_program__set_autoload(bpf->progs.complete, has_rings);
    bpf_program__set_autoload(bpf->progs.folio_comes, has_folios);
    bpf_program__set_autoload(bpf->progs.page_comes, !has_folios);
    bpf_program__set_autoload(bpf->progs.page_fault_begin, has_faults);
    bpf_program__set_autoload(bpf->progs.page_fault_end, has_faults);
    btf__free(kernel);
}

/* ---- Where the kernel has its hash table of dentries, for name_lookup.h --------------------------- */

/* These are made when they are opened, and nobody else has them open. */
static const char *const sampled_files[COLLECTED_SAMPLES] = {
    "attr",    "auxv",      "cgroup", "cmdline", "comm",      "environ", "fd",     "fdinfo",
    "limits",  "map_files", "maps",   "mem",     "mountinfo", "mounts",  "net",    "ns",
    "oom_adj", "pagemap",   "sched",  "smaps",   "stat",      "statm",   "status", "task",
};

static uint64_t begin_by(const struct syscall_bpf__bss *samples, unsigned i, unsigned shift) {
    return samples->sample_places[i] - 8 * (uint64_t)(samples->sample_hashes[i] >> shift);
}

/* The kernel's table is an array of pointers; its size is a power of two. The upper bits of a dentry's hash are the
 * index. Most dentries are alone in their place, and then point back to the place, at 8 * (hash >> shift) bytes after
 * the beginning of the table. The right shift and beginning are the values on which most dentries agree. Without them
 * more calls by names are not told. */
static void find_name_table(struct syscall_bpf *programs) {
    struct bpf_test_run_opts run = {.sz = sizeof(run)};
    struct syscall_bpf__bss *samples = programs->bss;
    struct {
        uint64_t begin;
        unsigned shift;
        unsigned votes;
    } best = {.votes = COLLECTED_SAMPLES / 3 - 1};
    CLEANUP_FD int directory = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < COLLECTED_SAMPLES; i++)
        samples->sample_fds[i] = (unsigned)openat(directory, sampled_files[i], O_PATH | O_CLOEXEC);
    const int error = bpf_prog_test_run_opts(bpf_program__fd(programs->progs.sample_names), &run);
    for (unsigned i = 0; i < COLLECTED_SAMPLES; i++)
        if ((int)samples->sample_fds[i] >= 0)
            close((int)samples->sample_fds[i]);
    for (unsigned shift = 0; shift < 32 && error == 0; shift++)
        for (unsigned i = 0; i < COLLECTED_SAMPLES; i++) {
            const uint64_t begin = begin_by(samples, i, shift);
            unsigned votes = 0;
            for (unsigned j = 0; j < COLLECTED_SAMPLES && samples->sample_places[i] != 0; j++)
                votes += samples->sample_places[j] != 0 && begin_by(samples, j, shift) == begin;
            if (votes > best.votes) {
                best.begin = begin;
                best.shift = shift;
                best.votes = votes;
            }
        }
    if (best.begin > 0) {
        samples->name_table_shift = best.shift;
        samples->name_table = best.begin;
    }
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static void destroy(void *context) {
    struct call_programs *programs = context;
    detach_fault_ends(programs);
    task_walk_finish(&programs->walk);
    ring_buffer__free(programs->slow);
    syscall_bpf__destroy(programs->bpf);
    free(programs);
}

static void set(struct syscall_bpf *bpf, const struct system_calls *of) {
    const struct call_table *table = call_table();
    memcpy((void *)(uintptr_t)bpf->rodata->calls, table->calls, sizeof(table->calls));
    memcpy((void *)(uintptr_t)bpf->rodata->same_numbers, numbers_of_32_bits, sizeof(numbers_of_32_bits));
    memcpy((void *)(uintptr_t)bpf->rodata->ring_requests, table->requests, sizeof(table->requests));
    bpf->rodata->untimed_slot = table->untimed_slot;
    bpf->rodata->page_fault_slot = table->page_fault_slot;
    bpf->rodata->has_one_device = of->has_one_device;
    bpf->rodata->has_lasting_numbers = of->has_lasting_numbers;
    bpf->rodata->has_processes = of->processes.count > 0;
    bpf->rodata->cgroup_level = of->cgroup_level;
    bpf->rodata->has_groups = of->has_groups;
    bpf->rodata->has_cgroups = of->has_groups && of->has_cgroups;
    bpf->rodata->own_process = (unsigned)getpid();
    bpf->rodata->own_parent = of->own_parent;
    bpf->rodata->page_bits = (unsigned)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
    bpf->rodata->slow_ns = of->slow_ns;
    bpf->rodata->has_user_stacks = of->has_user_stacks;
    if (of->has_user_stacks)
        bpf_map__set_max_entries(bpf->maps.slow_calls, COLLECTED_SLOW_USER_BYTES);
    if (of->slow_ns == 0)
        bpf_map__set_autocreate(bpf->maps.slow_calls, false);
    process_set_choose(bpf->obj, &of->processes);
    choose_programs(bpf);
}

static struct call_programs *own_programs_of(const struct collector *collector) {
    return collector_programs_of(collector);
}

static const struct syscall_bpf *programs_of(const struct collector *collector) {
    return own_programs_of(collector)->bpf;
}

/* ---- What is watched ---------------------------------------------------------------------------- */

bool collector_has_processes(const struct collector *collector) {
    return process_set_has_some(&own_programs_of(collector)->processes);
}

uint64_t collector_processes_lost(const struct collector *collector) {
    return process_set_lost(&own_programs_of(collector)->processes);
}

int collector_note_device(struct collector *collector, uint32_t device, bool holds_files) {
    const uint8_t value = holds_files;
    const int devices = bpf_map__fd(programs_of(collector)->maps.mounted_devices);
    return bpf_map_update_elem(devices, &device, &value, BPF_ANY) < 0 ? negative_errno() : 0;
}

/* System calls of the machine, since it was attached. */
static uint64_t all_calls(const struct collector *collector) {
    const unsigned first = 0;
    const int cpus = libbpf_num_possible_cpus();
    CLEANUP_FREE uint64_t *counts = cpus > 0 ? calloc((size_t)cpus, sizeof(*counts)) : NULL;
    uint64_t sum = 0;
    if (!counts || bpf_map_lookup_elem(bpf_map__fd(programs_of(collector)->maps.all_calls), &first, counts) < 0)
        return 0;
    for (int cpu = 0; cpu < cpus; cpu++)
        sum += counts[cpu];
    return sum;
}

/* ---- Calls that are under way ------------------------------------------------------------------- */

void collector_note_begun(struct collector *collector) {
    struct call_programs *programs = own_programs_of(collector);
    task_walk_load(&programs->walk, programs->bpf);
    task_walk_note_begun(&programs->walk);
}

uint64_t collector_begun_before(const struct collector *collector) {
    const unsigned first = 0;
    uint64_t count = 0;
    if (bpf_map_lookup_elem(bpf_map__fd(programs_of(collector)->maps.begun_before), &first, &count) < 0)
        count = 0;
    return count;
}

int collector_find_under_way(struct collector *collector, uint64_t min_age_ns, collector_under_way_fn *tell,
                             void *context, uint64_t *ret_count) {
    return task_walk_tell(&own_programs_of(collector)->walk, min_age_ns, tell, context, ret_count);
}

/* For ring_buffer__new(). The size of a record says what it has: a wake-up alone, a call, or a call with its user
 * stack. */
static int take_slow(void *context, void *record, size_t size_bytes) {
    const struct call_programs *programs = context;
    const struct collected_slow *call = record;
    const struct collected_slow_user *user = record;
    if (size_bytes >= sizeof(*call) && call->begin_ns >= programs->slow_from_ns)
        programs->tell_slow(programs->tell_slow_context, call, size_bytes >= sizeof(*user) ? &user->from : NULL);
    return 0;
}

void collector_take_slow(struct collector *collector, collector_slow_fn *tell, void *context) {
    struct call_programs *programs = own_programs_of(collector);
    programs->tell_slow = tell;
    programs->tell_slow_context = context;
    if (programs->slow)
        ring_buffer__consume(programs->slow);
}

bool collector_op_moves_bytes(unsigned op) {
    return op < COLLECTED_CALL_OPS && call_table()->ops_move[op];
}

uint64_t collector_slow_lost(const struct collector *collector) {
    return __atomic_load_n(&programs_of(collector)->bss->slow_lost, __ATOMIC_RELAXED);
}

int collector_slow_fd(const struct collector *collector) {
    const struct call_programs *programs = own_programs_of(collector);
    return programs->slow ? ring_buffer__epoll_fd(programs->slow) : -1;
}

void collector_wake_at_begin(struct collector *collector) {
    __atomic_store_n(&programs_of(collector)->bss->watcher_sleeps, 1, __ATOMIC_SEQ_CST);
}

/* ---- What it costs ------------------------------------------------------------------------------ */

static void measure(const struct call_prober *prober, const struct call_times *before, struct call_programs *programs) {
    const uint32_t process = (uint32_t)prober->process;
    struct call_times after;
    if (process_set_add(&programs->processes, process) < 0)
        return;
    programs->has_cost = call_prober_measure(prober, &after);
    if (programs->has_cost && after.on_file > before->on_file)
        programs->cost.counted_ns = after.on_file - before->on_file;
    if (programs->has_cost && after.on_other > before->on_other)
        programs->cost.other_ns = after.on_other - before->on_other;
    process_set_remove(&programs->processes, process);
}

bool collector_call_cost(const struct collector *collector, struct call_cost *ret_cost) {
    const struct call_programs *programs = collector_programs_of(collector);
    *ret_cost = programs->cost;
    ret_cost->all_calls = all_calls(collector) - programs->cost.all_calls;
    return programs->has_cost;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

/* A collector_group_fn. */
static void drop(void *context, unsigned op, const struct collected_cell *cell, const struct collected_cell_sum *sum) {
    (void)context, (void)op, (void)cell, (void)sum;
}

/* After the measurement: starts watching the requested file systems, control group and processes. */
static int begin_watching(const struct system_calls *of, struct call_programs *programs, struct collector *collector) {
    const struct counting_lane nowhere[COLLECTOR_LANES_MAX] = {{.recorder = NULL}};
    struct syscall_bpf *bpf = programs->bpf;
    programs->slow_from_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    bpf->bss->count_from_ns = programs->slow_from_ns;
    bpf->bss->cgroup = of->cgroup;
    bpf->bss->device = of->device;
    collector_group(collector, drop, NULL);
    collector_count(collector, nowhere);
    collector_group(collector, NULL, NULL);
    programs->cost.all_calls = all_calls(collector);
    find_name_table(bpf);
    int error = process_set_watch(&programs->processes, &of->processes);
    if (error == 0 && of->slow_ns > 0) {
        programs->slow = ring_buffer__new(bpf_map__fd(bpf->maps.slow_calls), take_slow, programs, NULL);
        error = programs->slow ? 0 : negative_errno();
    }
    return error;
}

int collector_start_calls(const struct system_calls *of, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    struct call_programs *programs = calloc(1, sizeof(*programs));
    struct syscall_bpf *bpf = programs ? syscall_bpf__open() : NULL;
    if (!bpf) {
        int error = negative_errno();
        free(programs);
        return loading_fail(error, ret_why);
    }
    const struct call_table *table = call_table();
    struct call_prober prober;
    struct call_times before;
    programs->bpf = bpf;
    set(bpf, of);
    const bool is_measured = call_prober_start(&prober) == 0 && call_prober_measure(&prober, &before);
    bpf->bss->device = prober.device; /* what is attached is to watch the prober first */
    const struct collector_programs what = {.programs = programs,
                                            .skeleton = bpf->skeleton,
                                            .destroy = destroy,
                                            .attach_more = attach_fault_ends,
                                            .detach_more = detach_fault_ends,
                                            .needs = {"raw_syscalls/sys_enter", "with CONFIG_HAVE_SYSCALL_TRACEPOINTS"},
                                            .ops = table->ops,
                                            .op_count = table->op_count,
                                            .slots = table->slots};
    struct collector *collector = NULL;
    int error = collector_start(&what, &collector, ret_why);
    if (error == 0) {
        programs->processes = (struct process_set)PROCESS_SET_OF(bpf);
        if (is_measured)
            measure(&prober, &before, programs);
    }
    call_prober_finish(&prober);
    if (error)
        return error;
    error = begin_watching(of, programs, collector);
    if (error) {
        collector_finish(collector);
        return loading_fail(error, ret_why);
    }
    *ret_collector = collector;
    return 0;
}
