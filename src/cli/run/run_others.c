#include "run_others.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>

#include "base.h"
#include "mounts.h"
#include "proc.h"
#include "quiet_thread.h"

#define WAIT_NS NS_PER_S
#define PARENT_FIELD 4
#define CHILDREN_FAULTS_FIELD 11
#define START_FIELD 22

/* ---- A look ------------------------------------------------------------------------------------- */

struct sums {
    uint64_t pid;
    uint64_t bytes[RUN_WAYS];
};

struct run_look {
    pthread_t thread;
    struct sums *processes; /* by ascending number, as /proc lists them */
    size_t count;
};

static void *look_at_all(void *argument) {
    struct run_look *look = argument;
    DIR *directory = opendir("/proc");
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        struct proc_io io;
        const uint64_t pid = strtoull(entry->d_name, NULL, 10);
        if (pid == 0 || pid == (uint64_t)getpid() || !proc_io_read(entry->d_name, &io) ||
            grow_array(&look->processes, look->count, sizeof(*look->processes)) != 0)
            continue;
        look->processes[look->count++] =
            (struct sums){pid, {[RUN_READ] = io.storage_read_bytes, [RUN_WRITTEN] = io.storage_written_bytes}};
    }
    if (directory)
        closedir(directory);
    return NULL;
}

struct run_look *run_look_start(void) {
    struct run_look *look = calloc(1, sizeof(*look));
    if (look && quiet_thread_start(&look->thread, look_at_all, look) != 0)
        free(steal_pointer(&look));
    return look;
}

struct run_look *run_look_wait(struct run_look *look) {
    const int64_t until_ns = read_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    const struct timespec until = timespec_of(until_ns);
    return look && pthread_clockjoin_np(look->thread, NULL, CLOCK_MONOTONIC, &until) == 0 ? look : NULL;
}

void run_look_finish(struct run_look *look) {
    if (look)
        free(look->processes);
    free(look);
}

/* ---- Those with the most ------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    const struct sums *first = a;
    const struct sums *second = b;
    return first->pid < second->pid ? -1 : first->pid > second->pid;
}

static const struct sums *find(const struct run_look *look, uint64_t pid) {
    const struct sums wanted = {.pid = pid};
    return look->count > 0 ? bsearch(&wanted, look->processes, look->count, sizeof(wanted), compare) : NULL;
}

static uint64_t number_of(const struct proc_stat *stat, unsigned field) {
    const char *text = proc_stat_field(stat, field);
    return text ? strtoull(text, NULL, 10) : 0;
}

/* Processes get the sums of their children when these have ended, and so what these had before the first look. Returns
 * the most that it may be. */
static uint64_t bytes_of_ended(const struct run_look *first, const struct run_look *second, enum run_way way) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < first->count; i++)
        bytes += find(second, first->processes[i].pid) ? 0 : first->processes[i].bytes[way];
    return bytes;
}

static bool has_started_since(const struct proc_stat *stat, int64_t begun_ns) {
    const uint64_t ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    return number_of(stat, START_FIELD) >= (uint64_t)begun_ns / (NS_PER_S / ticks_per_second);
}

/* pid: 0 if it does not count, or nothing is known of it. */
static struct run_other look_at(const struct sums *now, const struct run_look *first, const struct run_look *second,
                                int64_t begun_ns, enum run_way way) {
    struct proc_stat stat;
    struct run_other other = {.pid = now->pid, .bytes = now->bytes[way]};
    const struct sums *before = find(first, now->pid);
    if (now->pid == 1 || !proc_stat_read(now->pid, &stat) || proc_stat_is_of_kernel(&stat) ||
        number_of(&stat, PARENT_FIELD) == (uint64_t)getpid())
        return (struct run_other){.pid = 0};
    other.has_children = number_of(&stat, CHILDREN_FAULTS_FIELD) > 0;
    snprintf(other.program, sizeof(other.program), "%s", stat.name);
    if (has_started_since(&stat, begun_ns))
        return other;
    uint64_t since = before ? before->bytes[way] : other.bytes;
    since += other.has_children ? bytes_of_ended(first, second, way) : 0;
    other.bytes -= since < other.bytes ? since : other.bytes;
    return other;
}

static void insert(struct run_others *others, const struct run_other *other) {
    size_t place = others->count < RUN_OTHERS_MAX ? others->count++ : RUN_OTHERS_MAX - 1;
    for (; place > 0 && others->others[place - 1].bytes < other->bytes; place--)
        others->others[place] = others->others[place - 1];
    others->others[place] = *other;
}

void run_others_find(const struct run_look *first, const struct run_look *second, int64_t begun_ns, enum run_way way,
                     struct run_others *ret_others) {
    *ret_others = (struct run_others){.count = 0};
    for (size_t i = 0; i < second->count; i++) {
        const bool is_full = ret_others->count == RUN_OTHERS_MAX;
        const uint64_t least_bytes = is_full ? ret_others->others[RUN_OTHERS_MAX - 1].bytes : 0;
        if (second->processes[i].bytes[way] <= least_bytes)
            continue;
        const struct run_other other = look_at(&second->processes[i], first, second, begun_ns, way);
        if (other.pid > 0 && other.bytes > least_bytes)
            insert(ret_others, &other);
    }
}

/* ---- Its files ---------------------------------------------------------------------------------- */

static bool is_at(const char *path, dev_t wanted) {
    dev_t device;
    return mounts_device_at(path, &device) == 0 && device == wanted;
}

bool run_other_is_on(const struct run_other *other, dev_t device) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%llu/cwd", (unsigned long long)other->pid);
    bool is_on = is_at(path, device);
    snprintf(path, sizeof(path), "/proc/%llu/fd", (unsigned long long)other->pid);
    DIR *directory = is_on ? NULL : opendir(path);
    for (const struct dirent *entry; directory && !is_on && (entry = readdir(directory));) {
        snprintf(path, sizeof(path), "/proc/%llu/fd/%.20s", (unsigned long long)other->pid, entry->d_name);
        is_on = entry->d_name[0] != '.' && is_at(path, device);
    }
    if (directory)
        closedir(directory);
    return is_on;
}
