/* A look at other processes is made in a thread of its own; all else is in the main thread. */
#include "run_neighbours.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "block_devices.h"
#include "bytes.h"
#include "dir.h"
#include "figures.h"
#include "mounts.h"
#include "proc.h"
#include "quiet_thread.h"
#include "str.h"

#define OTHERS_MIN_BYTES 10000000U
#define OTHERS_MIN_RATIO 3 /* of all that a disk did to what the command may have caused */
#define NAMED_MIN 0.5      /* of the others' bytes, by a single process */
#define QUICK_NS 10000     /* a call that is quicker has not waited for a disk */
#define LOOK_MS 100        /* after the beginning */
#define PLACE_MIN 0.1      /* of the elapsed time, in calls on a file system */
#define SECTOR_BYTES 512   /* of the kernel's counters, whatever the disk has */
#define STATS_BYTES_MAX (1U << 20)
#define WAIT_NS NS_PER_S
#define PARENT_FIELD 4
#define CHILDREN_FAULTS_FIELD 11
#define START_FIELD 22

/* ---- Counters of disks -------------------------------------------------------------------------- */

struct counters {
    uint64_t bytes[RUN_WAYS];
    uint64_t busy_ms;
};

/* Owner: the caller frees it. Returns NULL if there are no disks, or too many */
static char *read_disks(void) {
    CLEANUP_FD int fd = open("/proc/diskstats", O_RDONLY | O_CLOEXEC);
    CLEANUP_STR struct str text = {0};
    char chunk[16384];
    ssize_t count = fd < 0 ? -1 : 1;
    while (count > 0 && text.length < STATS_BYTES_MAX) {
        count = read(fd, chunk, sizeof(chunk));
        str_add_bytes(&text, chunk, count > 0 ? (size_t)count : 0);
    }
    return count == 0 ? str_steal(&text) : NULL;
}

/* "7 4 loop4 1261 3 16452 186 946 16715 35246 1084 0 956 ...", see diskstats in the kernel's documentation. Returns false if
 * the line has another form */
static bool parse_line(const char *line, unsigned *ret_major, unsigned *ret_minor, struct counters *ret_counters) {
    unsigned long long read;
    unsigned long long written;
    unsigned long long busy_ms;
    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes no number that does not fit */
    if (sscanf(line, "%u %u %*s %*u %*u %llu %*u %*u %*u %llu %*u %*u %llu", ret_major, ret_minor, &read, &written,
               &busy_ms) != 5)
        return false;
    *ret_counters = (struct counters){
        .bytes = {[RUN_READ] = read * SECTOR_BYTES, [RUN_WRITTEN] = written * SECTOR_BYTES}, .busy_ms = busy_ms};
    return true;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static bool find_disk(const char *text, unsigned major, unsigned minor, struct counters *ret_counters) {
    unsigned line_major;
    unsigned line_minor;
    for (const char *line = text; *line; line = next_line(line))
        if (parse_line(line, &line_major, &line_minor, ret_counters) && line_major == major && line_minor == minor)
            return true;
    return false;
}

/* What a disk did meanwhile. Returns false if it was not there all the time */
static bool find_difference(const struct run_neighbours *neighbours, unsigned major, unsigned minor,
                            struct counters *ret_difference) {
    struct counters before;
    struct counters after;
    if (!find_disk(neighbours->before, major, minor, &before) || !find_disk(neighbours->after, major, minor, &after))
        return false;
    for (unsigned way = 0; way < RUN_WAYS; way++) {
        if (after.bytes[way] < before.bytes[way])
            return false;
        ret_difference->bytes[way] = after.bytes[way] - before.bytes[way];
    }
    ret_difference->busy_ms = after.busy_ms > before.busy_ms ? after.busy_ms - before.busy_ms : 0;
    return true;
}

/* ---- Other processes: a look ------------------------------------------------------------------------------------- */

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
    CLEANUP_DIR DIR *directory = opendir("/proc");
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        struct proc_io io;
        const uint64_t pid = strtoull(entry->d_name, NULL, 10);
        if (pid == 0 || pid == (uint64_t)getpid() || !proc_io_read(entry->d_name, &io) ||
            grow_array(&look->processes, look->count, sizeof(*look->processes)) != 0)
            continue;
        look->processes[look->count++] =
            (struct sums){pid, {[RUN_READ] = io.storage_read_bytes, [RUN_WRITTEN] = io.storage_written_bytes}};
    }
    return NULL;
}

/* Looks, in a thread of its own: the kernel may make a reader wait. Returns NULL if that is not possible */
static struct run_look *start_look(void) {
    struct run_look *look = calloc(1, sizeof(*look));
    if (look && quiet_thread_start(&look->thread, look_at_all, look) != 0)
        free(steal_pointer(&look));
    return look;
}

/* Waits until it is done, at most a second.
 * Owner:   the caller finishes it; if it is not done, it is lost, and the result is NULL */
static struct run_look *wait_for_look(struct run_look *look) {
    const int64_t until_ns = read_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
    const struct timespec until = timespec_of(until_ns);
    return look && pthread_clockjoin_np(look->thread, NULL, CLOCK_MONOTONIC, &until) == 0 ? look : NULL;
}

static void finish_look(struct run_look *look) {
    if (look)
        free(look->processes);
    free(look);
}

/* ---- Other processes: those with the most ------------------------------------------------------------------------ */

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

/* pid: 0 if it does not count, or nothing is known of it: the kernel's threads, init, and our own children. begun_ns: by
 * CLOCK_BOOTTIME: a process that has started since then counts from its start. */
static struct run_other look_at(const struct sums *now, const struct run_look *first, const struct run_look *second,
                                int64_t begun_ns, enum run_way way) {
    const uint64_t ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    struct proc_stat stat;
    struct run_other other = {.pid = now->pid, .bytes = now->bytes[way]};
    const struct sums *before = find(first, now->pid);
    if (now->pid == 1 || !proc_stat_read(now->pid, &stat) || proc_stat_is_of_kernel(&stat) ||
        number_of(&stat, PARENT_FIELD) == (uint64_t)getpid())
        return (struct run_other){.pid = 0};
    other.has_children = number_of(&stat, CHILDREN_FAULTS_FIELD) > 0;
    snprintf(other.program, sizeof(other.program), "%s", stat.name);
    if (number_of(&stat, START_FIELD) >= (uint64_t)begun_ns / (NS_PER_S / ticks_per_second))
        return other;
    uint64_t since = before ? before->bytes[way] : other.bytes;
    /* Processes get the sums of their children when these have ended, and so what these had before the first look: that is
     * the most that it may be. */
    for (size_t i = 0; other.has_children && i < first->count; i++)
        since += find(second, first->processes[i].pid) ? 0 : first->processes[i].bytes[way];
    other.bytes -= since < other.bytes ? since : other.bytes;
    return other;
}

/* Finds those with the most bytes. */
static void find_others(const struct run_look *first, const struct run_look *second, int64_t begun_ns, enum run_way way,
                        struct run_others *ret_others) {
    struct run_other *list = ret_others->others;
    size_t *count = &ret_others->count;
    *count = 0;
    for (size_t i = 0; i < second->count; i++) {
        const uint64_t least_bytes = *count == RUN_OTHERS_MAX ? list[RUN_OTHERS_MAX - 1].bytes : 0;
        if (second->processes[i].bytes[way] <= least_bytes)
            continue;
        const struct run_other other = look_at(&second->processes[i], first, second, begun_ns, way);
        if (other.pid == 0 || other.bytes <= least_bytes)
            continue;
        size_t place = *count < RUN_OTHERS_MAX ? (*count)++ : RUN_OTHERS_MAX - 1;
        for (; place > 0 && list[place - 1].bytes < other.bytes; place--)
            list[place] = list[place - 1];
        list[place] = other;
    }
}

/* ---- Other processes: files ---------------------------------------------------------------------------------- */

static bool is_at(const char *path, dev_t wanted) {
    dev_t device;
    return mounts_device_at(path, &device) == 0 && device == wanted;
}

/* True if it has a file open on that file system, or is in a directory there. */
static bool is_on(const struct run_other *other, dev_t device) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%llu/cwd", (unsigned long long)other->pid);
    bool found = is_at(path, device);
    snprintf(path, sizeof(path), "/proc/%llu/fd", (unsigned long long)other->pid);
    CLEANUP_DIR DIR *directory = found ? NULL : opendir(path);
    for (const struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        snprintf(path, sizeof(path), "/proc/%llu/fd/%.20s", (unsigned long long)other->pid, entry->d_name);
        found = entry->d_name[0] != '.' && is_at(path, device);
    }
    return found;
}

/* ---- The command -------------------------------------------------------------------------------- */

/* What the command has read from disks, or dirtied of files, since then; for a mount of osproffs that has, too. */
static uint64_t own_bytes(const struct rusage *since, enum run_way way) {
    struct rusage now;
    getrusage(RUSAGE_CHILDREN, &now);
    const long blocks = way == RUN_READ ? now.ru_inblock - since->ru_inblock : now.ru_oublock - since->ru_oublock;
    return blocks > 0 ? (uint64_t)blocks * SECTOR_BYTES : 0;
}

/* The most that the disk may have done for the command. Data may be in a journal too. What was read is counted exactly. */
static uint64_t own_bytes_most(const struct run_neighbours *neighbours, enum run_way way) {
    const uint64_t bytes = own_bytes(&neighbours->opened, way); /* what a warm-up has dirtied may be written later */
    if (way == RUN_READ)
        return bytes;
    return 2 * (bytes > neighbours->written_bytes ? bytes : neighbours->written_bytes) + neighbours->metadata_bytes;
}

static bool is_of_others(uint64_t all, uint64_t own_most) {
    return all > own_most && all - own_most >= OTHERS_MIN_BYTES && all / OTHERS_MIN_RATIO >= own_most;
}

/* What a file system may write beside the data: for each call that waits until it is on the disk some blocks of a
 * journal; for a change of a name or an attribute the block that has it, twice; for a file that may be new its inode,
 * among others in a block. A write that waits for the disk (O_SYNC) is no quick one. OTHERS_MIN_RATIO allows for three
 * times as much. */
static const struct {
    const char *op;
    unsigned bytes;
    bool is_slow_only;
} metadata[] = {
    {"FSYNC", 16384},         {"FDATASYNC", 16384},    {"MSYNC", 16384},        {"SYNC_FILE_RANGE", 16384},
    {"SYNCFS", 16384},        {"WRITE", 16384, true},  {"WRITEV", 16384, true}, {"PWRITE", 16384, true},
    {"PWRITEV", 16384, true}, {"FWRITE", 16384, true}, {"FPUTS", 16384, true},  {"FPUTC", 16384, true},
    {"FPRINTF", 16384, true}, {"FFLUSH", 16384, true}, {"FCLOSE", 16384, true}, {"COPY_FILE_RANGE", 16384, true},
    {"TRUNCATE", 4096},       {"FTRUNCATE", 4096},     {"FALLOCATE", 4096},     {"RENAME", 4096},
    {"UNLINK", 4096},         {"MKDIR", 4096},         {"RMDIR", 4096},         {"LINK", 4096},
    {"SYMLINK", 4096},        {"MKNOD", 4096},         {"CHMOD", 4096},         {"CHOWN", 4096},
    {"UTIMENS", 4096},        {"SETXATTR", 4096},      {"REMOVEXATTR", 4096},   {"OPEN", 1024},
    {"FOPEN", 1024},
};

static uint64_t metadata_bytes(const struct aggstats_profile *user) {
    const double least_cycles = QUICK_NS * (double)user->clock.frequency_hz / 1e9;
    uint64_t bytes = 0;
    for (size_t i = 0; i < ARRAY_SIZE(metadata); i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(user, metadata[i].op);
        if (!op)
            continue;
        uint64_t calls = metadata[i].is_slow_only ? op->left_calls : op->calls;
        for (unsigned bucket = 0; metadata[i].is_slow_only && bucket < 64 * user->resolution; bucket++)
            calls += aggstats_bucket_upper(bucket, user->resolution) >= least_cycles ? op->buckets[bucket] : 0;
        bytes += metadata[i].bytes * calls;
    }
    return bytes;
}

/* ---- File systems ------------------------------------------------------------------------------- */

static void add_place(struct run_neighbours *neighbours, dev_t device, const char *name) {
    char *copy = neighbours->place_count < RUN_NEIGHBOURS_PLACES ? strdup(name) : NULL;
    if (copy)
        neighbours->places[neighbours->place_count++] = (struct run_neighbours_place){device, copy};
}

static bool takes_time(const struct aggstats_profile *profile, const struct aggstats_profile *whole) {
    return whole->has_elapsed && figures_sum(profile).total_cycles >= PLACE_MIN * (double)whole->elapsed_cycles;
}

void run_neighbours_note_calls(struct run_neighbours *neighbours, const struct aggstats_profile *user,
                               const struct run_groups *groups, bool is_mounted) {
    const bool has_groups = !is_mounted && user->groupings & 1U << AGGSTATS_BY_FILESYSTEM;
    if (aggstats_profile_has_unseen(user))
        return;
    neighbours->are_calls_known = true;
    neighbours->metadata_bytes = metadata_bytes(user);
    neighbours->written_bytes = bytes_seen(user).written;
    if (!has_groups && neighbours->directory && takes_time(user, user))
        add_place(neighbours, neighbours->directory_device, neighbours->directory);
    for (size_t i = 0; has_groups && i < user->group_count; i++) {
        const struct aggstats_group *group = &user->groups[i];
        size_t mount = 0; /* whose name the group has */
        if (group->grouping != AGGSTATS_BY_FILESYSTEM || !takes_time(&group->profile, user))
            continue;
        while (mount < groups->mount_count && strcmp(groups->mounts[mount].name, group->name) != 0)
            mount++;
        if (mount < groups->mount_count)
            add_place(neighbours, groups->mounts[mount].device, groups->mounts[mount].path);
    }
}

/* ---- Looking ------------------------------------------------------------------------------------ */

void run_neighbours_open(struct run_neighbours *ret_neighbours, const char *const *directories, size_t count) {
    struct stat attr;
    *ret_neighbours = (struct run_neighbours){.before = NULL};
    getrusage(RUSAGE_CHILDREN, &ret_neighbours->opened);
    if (count != 1 || stat(directories[0], &attr) < 0)
        return;
    ret_neighbours->directory = realpath(directories[0], NULL);
    ret_neighbours->directory_device = attr.st_dev;
}

void run_neighbours_finish(struct run_neighbours *neighbours) {
    for (size_t i = 0; i < neighbours->place_count; i++)
        free(neighbours->places[i].name);
    free(neighbours->directory);
    free(neighbours->before);
    free(neighbours->after);
    finish_look(wait_for_look(neighbours->first));
    *neighbours = (struct run_neighbours){.before = NULL};
}

void run_neighbours_begin(struct run_neighbours *neighbours) {
    neighbours->before = read_disks();
    neighbours->begun_ns = read_clock_ns(CLOCK_MONOTONIC);
    neighbours->begun_boot_ns = read_clock_ns(CLOCK_BOOTTIME);
    getrusage(RUSAGE_CHILDREN, &neighbours->begun);
}

int run_neighbours_wait_ms(const struct run_neighbours *neighbours) {
    if (!neighbours || !neighbours->before || neighbours->has_looked)
        return -1;
    const int64_t passed_ms = (read_clock_ns(CLOCK_MONOTONIC) - neighbours->begun_ns) / 1000000;
    return passed_ms < LOOK_MS ? (int)(LOOK_MS - passed_ms) : 0;
}

void run_neighbours_look(struct run_neighbours *neighbours) {
    if (run_neighbours_wait_ms(neighbours) != 0)
        return;
    neighbours->has_looked = true;
    neighbours->first = start_look();
}

static bool did_any_more(const struct run_neighbours *neighbours) {
    unsigned major;
    unsigned minor;
    struct counters counters;
    for (const char *line = neighbours->after; *line; line = next_line(line))
        if (parse_line(line, &major, &minor, &counters) && find_difference(neighbours, major, minor, &counters))
            for (unsigned way = 0; way < RUN_WAYS; way++)
                if (is_of_others(counters.bytes[way], own_bytes_most(neighbours, way)))
                    return true;
    return false;
}

void run_neighbours_end(struct run_neighbours *neighbours) {
    if (!neighbours->before)
        return;
    neighbours->after = read_disks();
    neighbours->ended_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (!neighbours->first || !neighbours->after || !did_any_more(neighbours))
        return;
    struct run_look *second = wait_for_look(start_look());
    neighbours->first = wait_for_look(neighbours->first);
    for (unsigned way = 0; neighbours->first && second && way < RUN_WAYS; way++)
        find_others(neighbours->first, second, neighbours->begun_boot_ns, way, &neighbours->others[way]);
    finish_look(second);
    finish_look(steal_pointer(&neighbours->first));
}

/* ---- Telling ------------------------------------------------------------------------------------ */

/* Of one disk, in one direction. */
struct finding {
    uint64_t others_bytes; /* at least; 0: none */
    const struct run_neighbours_place *place;
    struct block_device disk;
    struct counters disk_did;
    enum run_way way;
};

static int add_name(struct aggstats_profile *profile, const char *key, const char *name) {
    CLEANUP_FREE char *line = strdup(name);
    if (!line)
        return -ENOMEM;
    make_line(line);
    return aggstats_profile_add_label(profile, key, line);
}

/* What a process did on other disks is in its sum, too. So of several candidates only processes with files on this disk
 * count, in the order of their bytes. */
static int add_other(const struct run_neighbours *neighbours, const struct finding *finding,
                     struct aggstats_profile *profile) {
    const struct run_others *others = &neighbours->others[finding->way];
    size_t count = 0;
    size_t named = 0;
    char pid[24];
    while (count < others->count && (double)others->others[count].bytes >= NAMED_MIN * (double)finding->others_bytes)
        count++;
    while (count > 1 && named < count && !is_on(&others->others[named], finding->place->device))
        named++;
    if (named == count)
        return 0;
    const struct run_other *other = &others->others[named];
    profile->disk_other_bytes = other->bytes;
    snprintf(pid, sizeof(pid), "%llu", (unsigned long long)other->pid);
    const int error =
        aggstats_profile_add_label(profile, other->has_children ? "disk_other_parent" : "disk_other_process", pid);
    return error ? error : add_name(profile, "disk_other", other->program);
}

int run_neighbours_add(const struct run_neighbours *neighbours, struct aggstats_profile *profile) {
    const bool are_known = neighbours->before && neighbours->after && neighbours->are_calls_known;
    struct finding finding = {.others_bytes = 0};
    for (size_t i = 0; are_known && i < neighbours->place_count; i++) {
        const struct run_neighbours_place *place = &neighbours->places[i];
        struct block_device disk;
        struct counters disk_did;
        if (!block_devices_find_disk(place->device, &disk) ||
            !find_difference(neighbours, disk.major, disk.minor, &disk_did))
            continue;
        for (unsigned way = 0; way < RUN_WAYS; way++) {
            const uint64_t own_most = own_bytes_most(neighbours, way);
            if (is_of_others(disk_did.bytes[way], own_most) && disk_did.bytes[way] - own_most > finding.others_bytes)
                finding = (struct finding){disk_did.bytes[way] - own_most, place, disk, disk_did, way};
        }
    }
    if (finding.others_bytes == 0)
        return 0;
    const uint64_t bytes = finding.disk_did.bytes[finding.way];
    const uint64_t busy_ns = finding.disk_did.busy_ms * NS_PER_MS;
    profile->has_disk = true;
    profile->disk_bytes.read = finding.way == RUN_READ ? bytes : 0;
    profile->disk_bytes.written = finding.way == RUN_READ ? 0 : bytes;
    profile->disk_bytes.own = own_bytes(&neighbours->begun, finding.way);
    profile->disk_ns.watched = (uint64_t)(neighbours->ended_ns - neighbours->begun_ns);
    /* The kernel looks at the disk at each tick, so it may have been busy for a little more than the time. */
    profile->disk_ns.busy = busy_ns < profile->disk_ns.watched ? busy_ns : profile->disk_ns.watched;
    int error = add_name(profile, "disk", finding.disk.name);
    if (error == 0)
        error = add_name(profile, "disk_place", finding.place->name);
    return error ? error : add_other(neighbours, &finding, profile);
}
