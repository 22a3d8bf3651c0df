#include "run_neighbours.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "block_devices.h"
#include "bytes.h"
#include "figures.h"

#define OTHERS_MIN_BYTES 10000000U
#define OTHERS_MIN_RATIO 3 /* of all that a disk did to what the command may have caused */
#define NAMED_MIN 0.5      /* of what others did, by one of them */
#define WAIT_NS 10000      /* a call that is quicker has not waited for a disk */
#define LOOK_MS 100        /* after the beginning */
#define PLACE_MIN 0.1      /* of the elapsed time, in calls on a file system */
#define SECTOR_BYTES 512   /* of the kernel's counters, whatever the disk has */
#define STATS_BYTES_MAX (1U << 20)

/* ---- Counters of disks -------------------------------------------------------------------------- */

struct counters {
    uint64_t bytes[RUN_WAYS];
    uint64_t busy_ms;
};

/* Owner: the caller frees it. Returns NULL if there are no disks, or too many */
static char *read_disks(void) {
    CLEANUP_FD int fd = open("/proc/diskstats", O_RDONLY | O_CLOEXEC);
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    ssize_t more = fd < 0 ? -1 : 1;
    for (size_t room = 0; more > 0; size_bytes += more > 0 ? (size_t)more : 0) {
        if (size_bytes + 1 >= room) {
            room = room == 0 ? 16384 : 2 * room;
            char *grown = room <= STATS_BYTES_MAX ? realloc(text, room) : NULL;
            if (!grown)
                return NULL;
            text = grown;
        }
        more = read(fd, text + size_bytes, room - 1 - size_bytes);
    }
    if (more < 0)
        return NULL;
    text[size_bytes] = '\0';
    return steal_pointer(&text);
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

static uint64_t calls_that_may_wait(const struct aggstats_op_profile *op, const struct aggstats_profile *user) {
    const double least_cycles = WAIT_NS * (double)user->clock.frequency_hz / 1e9;
    uint64_t calls = op->left_calls;
    for (unsigned bucket = 0; bucket < 64 * user->resolution; bucket++)
        calls += aggstats_bucket_upper(bucket, user->resolution) >= least_cycles ? op->buckets[bucket] : 0;
    return calls;
}

static uint64_t metadata_bytes(const struct aggstats_profile *user) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < ARRAY_SIZE(metadata); i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(user, metadata[i].op);
        if (op)
            bytes += metadata[i].bytes * (metadata[i].is_slow_only ? calls_that_may_wait(op, user) : op->calls);
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

/* Groups have the name of a mount. */
static void add_group(struct run_neighbours *neighbours, const struct aggstats_group *group,
                      const struct run_groups *groups) {
    for (size_t i = 0; i < groups->mount_count; i++) {
        if (strcmp(groups->mounts[i].name, group->name) != 0)
            continue;
        add_place(neighbours, groups->mounts[i].device, groups->mounts[i].path);
        return;
    }
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
    for (size_t i = 0; has_groups && i < user->group_count; i++)
        if (user->groups[i].grouping == AGGSTATS_BY_FILESYSTEM && takes_time(&user->groups[i].profile, user))
            add_group(neighbours, &user->groups[i], groups);
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
    run_look_finish(run_look_wait(neighbours->first));
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
    neighbours->first = run_look_start();
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
    struct run_look *second = run_look_wait(run_look_start());
    neighbours->first = run_look_wait(neighbours->first);
    for (unsigned way = 0; neighbours->first && second && way < RUN_WAYS; way++)
        run_others_find(neighbours->first, second, neighbours->begun_boot_ns, way, &neighbours->others[way]);
    run_look_finish(second);
    run_look_finish(steal_pointer(&neighbours->first));
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

static void look_at_place(const struct run_neighbours *neighbours, const struct run_neighbours_place *place,
                          struct finding *finding) {
    struct block_device disk;
    struct counters disk_did;
    if (!block_devices_find_disk(place->device, &disk) ||
        !find_difference(neighbours, disk.major, disk.minor, &disk_did))
        return;
    for (unsigned way = 0; way < RUN_WAYS; way++) {
        const uint64_t own_most = own_bytes_most(neighbours, way);
        if (is_of_others(disk_did.bytes[way], own_most) && disk_did.bytes[way] - own_most > finding->others_bytes)
            *finding = (struct finding){disk_did.bytes[way] - own_most, place, disk, disk_did, way};
    }
}

static int add_name(struct aggstats_profile *profile, const char *key, const char *name) {
    CLEANUP_FREE char *line = strdup(name);
    if (!line)
        return -ENOMEM;
    make_line(line);
    return aggstats_profile_add_label(profile, key, line);
}

/* The kernel looks at the disk at each tick, so it may have been busy for a little more than the time. */
static int add_disk(const struct run_neighbours *neighbours, const struct finding *finding,
                    struct aggstats_profile *profile) {
    const uint64_t bytes = finding->disk_did.bytes[finding->way];
    const uint64_t busy_ns = finding->disk_did.busy_ms * 1000000;
    profile->has_disk = true;
    profile->disk_bytes.read = finding->way == RUN_READ ? bytes : 0;
    profile->disk_bytes.written = finding->way == RUN_READ ? 0 : bytes;
    profile->disk_bytes.own = own_bytes(&neighbours->begun, finding->way);
    profile->disk_ns.watched = (uint64_t)(neighbours->ended_ns - neighbours->begun_ns);
    profile->disk_ns.busy = busy_ns < profile->disk_ns.watched ? busy_ns : profile->disk_ns.watched;
    const int error = add_name(profile, "disk", finding->disk.name);
    return error ? error : add_name(profile, "disk_place", finding->place->name);
}

/* What a process did on other disks is in its sum, too. So of several that may have been the one only those count that
 * have files on this disk, the one with the most before others.
 * Returns NULL if none may be named */
static const struct run_other *find_other(const struct run_neighbours *neighbours, const struct finding *finding) {
    const struct run_others *others = &neighbours->others[finding->way];
    size_t count = 0;
    while (count < others->count && (double)others->others[count].bytes >= NAMED_MIN * (double)finding->others_bytes)
        count++;
    for (size_t i = 0; i < count; i++)
        if (count == 1 || run_other_is_on(&others->others[i], finding->place->device))
            return &others->others[i];
    return NULL;
}

static int add_other(const struct run_neighbours *neighbours, const struct finding *finding,
                     struct aggstats_profile *profile) {
    const struct run_other *other = find_other(neighbours, finding);
    char pid[24];
    if (!other)
        return 0;
    profile->disk_other_bytes = other->bytes;
    snprintf(pid, sizeof(pid), "%llu", (unsigned long long)other->pid);
    const int error =
        aggstats_profile_add_label(profile, other->has_children ? "disk_other_parent" : "disk_other_process", pid);
    return error ? error : add_name(profile, "disk_other", other->program);
}

int run_neighbours_add(const struct run_neighbours *neighbours, struct aggstats_profile *profile) {
    struct finding finding = {.others_bytes = 0};
    for (size_t i = 0;
         neighbours->before && neighbours->after && neighbours->are_calls_known && i < neighbours->place_count; i++)
        look_at_place(neighbours, &neighbours->places[i], &finding);
    if (finding.others_bytes == 0)
        return 0;
    int error = add_disk(neighbours, &finding, profile);
    return error ? error : add_other(neighbours, &finding, profile);
}
