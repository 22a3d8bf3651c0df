/* The live file is made here, before the command runs, and read when it has ended; nothing happens in between. So there
 * is no buffer that short processes could fill, and nothing that one that is killed could leave behind. */
#include "run_user.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

#include "aggstats/busy.h"
#include "aggstats/shared.h"
#include "base.h"
#include "bytes.h"
#include "command.h"
#include "figures.h"
#include "live_dirs.h"
#include "mounts.h"
#include "path.h"
#include "posix_ops.h"
#include "preload_library.h"
#include "str.h"

#define THREADS_AT_A_TIME 16384
#define BEGINNING_STEP_NS 10000000
#define BEGINNING_STEPS 10
#define UNSEEN_BYTES                                                                                                   \
    832             /* for each read that was not seen: the most that the kernel and ld.so read to execute a program */
#define IS_ALL 0.98 /* of the CPU time: the rest is what shells and loaders take before they become the command */

static const char *const op_names[] = {POSIX_OPS(POSIX_OP_NAME)};

/* ---- Mounts of this system, for groups ------------------------------------------------------- */

static void finish_groups(struct run_groups *groups) {
    for (size_t i = 0; i < groups->mount_count; i++) {
        free((char *)(uintptr_t)groups->mounts[i].path);
        free((char *)(uintptr_t)groups->mounts[i].name);
    }
    free(groups->mounts);
    *groups = (struct run_groups){0};
}

/* An aggstats_mounts_fn: looks again. */
static const struct aggstats_shared_mount *find_mounts(void *context, size_t *ret_count) {
    struct run_groups *groups = context;
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    finish_groups(groups);
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        char *name = NULL;
        char *path = strdup(entry.path);
        if (path && asprintf(&name, "%s %s", path, entry.type) < 0)
            name = NULL;
        if (!name || grow_array(&groups->mounts, groups->mount_count, sizeof(*groups->mounts)) != 0) {
            free(path);
            free(name);
            break;
        }
        groups->mounts[groups->mount_count++] =
            (struct aggstats_shared_mount){.id = entry.id, .device = entry.device, .path = path, .name = name};
    }
    *ret_count = groups->mount_count;
    return groups->mounts;
}

/* ---- The live file ------------------------------------------------------------------------------ */

static void complain_of_groups(const char *why) {
    complain("there will be no shares of files, directories and programs: %s", why);
}

/* Makes the file. Groups take most of it: without room for them the rest is profiled. paths: for the header */
static int open_session(struct run_user *user, const char *directory, const char *paths) {
    struct session_options *options = &user->options.session;
    const struct session_source source = {.op_names = op_names,
                                          .op_count = POSIX_OP_COUNT,
                                          .header = {.layer = "user", .lower = paths},
                                          .tag = "-user-",
                                          .directory = directory,
                                          .shared_threads = THREADS_AT_A_TIME};
    const int error = session_open(&user->session, options, &source);
    if ((error != -ENOSPC && error != -EDQUOT) || options->groupings == 0)
        return error;
    options->groupings = 0;
    const int second_error = session_open(&user->session, options, &source);
    if (second_error == 0)
        complain_of_groups(strerror(-error));
    return second_error;
}

/* Nobody else gets more rights to the directory, and nobody at all if it cannot be reached anyway.
 * ret_fd: locks the directory until it is closed */
static int let_search(const struct run_user *user, const char *directory, int *ret_fd) {
    CLEANUP_FREE char *parent = strndup(directory, (size_t)(strrchr(directory, '/') - directory));
    if (!parent || !run_identity_may(user->as, parent, X_OK))
        return parent ? -EACCES : -ENOMEM;
    CLEANUP_FD int fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0)
        return negative_errno();
    int error = run_identity_let(user->as, fd, ".", X_OK);
    if (error == 0)
        *ret_fd = steal_fd(&fd);
    return error;
}

/* A directory where the command's user can be let, which may not be that of osprof's own user. */
static int make_directory(const struct run_user *user, struct live_dirs *dirs, int *ret_lock_fd) {
    for (;; dirs->chosen = LIVE_DIRS_COMMON) {
        int error = live_dirs_make(dirs);
        if (error == 0 && user->as->name)
            error = let_search(user, dirs->paths[dirs->chosen], ret_lock_fd);
        if (error == 0 || !user->as->name || dirs->chosen >= LIVE_DIRS_COMMON)
            return error;
    }
}

/* Without it the command runs without a profile, and without groups the rest is profiled. paths: for the header */
static int make_live(struct run_user *user, const char *paths) {
    const struct aggstats_shared_groups_options groups = {.groups_max = user->options.session.groups_max,
                                                          .directory_depth = user->options.directory_depth,
                                                          .mounts = find_mounts,
                                                          .context = &user->groups};
    struct live_dirs dirs;
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    live_dirs_find(&dirs);
    CLEANUP_FD int lock_fd = -1; /* until the user has the right to use the file */
    int error = make_directory(user, &dirs, &lock_fd);
    if (error == 0)
        error = open_session(user, dirs.paths[dirs.chosen], paths);
    if (error == 0 && user->as->name)
        error = open_parent(AT_FDCWD, user->session.live_path, &dir_fd, &name);
    if (error == 0 && user->as->name)
        error = run_identity_let(user->as, dir_fd, name, R_OK | W_OK);
    if (error) {
        session_finish(&user->session); /* nobody could count in it */
        complain("the layer user is not profiled: no live file can be made in %s: %s", dirs.paths[dirs.chosen],
                 strerror(-error));
        return error;
    }
    const int groups_error =
        user->options.session.groupings != 0 ? aggstats_recorder_group_shared(user->session.recorder, &groups) : 0;
    if (groups_error)
        complain_of_groups(groups_error == -EINVAL ? "this process may only make small files (ulimit -f)"
                                                   : strerror(-groups_error));
    return 0;
}

/* ---- Directories -------------------------------------------------------------------------------- */

/* Under this or another name. */
static bool is_among(const char *const *directories, size_t count, const char *name) {
    CLEANUP_FREE char *wanted = realpath(name, NULL);
    for (size_t i = 0; wanted && i < count; i++) {
        CLEANUP_FREE char *path = realpath(directories[i], NULL);
        if (path && strcmp(path, wanted) == 0)
            return true;
    }
    return false;
}

/* texts: gets their paths for the header; variable: for the library's variable, "" for all files. Errors: reported */
static int add_directories(const char *const *directories, size_t count, struct str *texts, struct str *variable) {
    if (count == 0 || is_among(directories, count, "/")) { /* the only path that ends in a slash */
        str_add(texts, "/");
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct stat attr;
        CLEANUP_FREE char *path = realpath(directories[i], NULL);
        if (is_among(directories, i, directories[i]))
            continue;
        const int error = !path || stat(path, &attr) < 0 ? negative_errno() : S_ISDIR(attr.st_mode) ? 0 : -ENOTDIR;
        if (error) {
            complain("cannot profile %s: %s", directories[i], strerror(-error));
            return error;
        }
        str_separate(texts, ", ");
        str_add(texts, path);
        str_addf(variable, "/%s", path);
    }
    return 0;
}

/* ---- Devices --------------------------------------------------------------------------------- */

#define DEVICES_MAX 32 /* of each kind */

/* statfs(2) of these asks a daemon or a server. */
static bool is_remote(const struct mounts_entry *entry) {
    static const char *const types[] = {"nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs", "lustre", "virtiofs"};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (strcmp(entry->type, types[i]) == 0)
            return true;
    return mounts_is_fuse(entry);
}

/* statfs(2) takes devtmpfs for tmpfs. */
static bool is_pseudo(const struct mounts_entry *entry) {
    return path_below(entry->path, "/proc") || path_below(entry->path, "/sys") ||
           (path_below(entry->path, "/dev") && !path_below(entry->path, "/dev/shm")) ||
           strcmp(entry->type, "devtmpfs") == 0;
}

/* Minor numbers of devices with major number 0. */
struct devices {
    unsigned minors[DEVICES_MAX];
    size_t count;
};

static void remove_device(struct devices *devices, dev_t device) {
    for (size_t i = 0; i < devices->count; i++)
        if (major(device) == 0 && devices->minors[i] == minor(device)) {
            devices->minors[i] = devices->minors[--devices->count];
            return;
        }
}

static void add_device(struct devices *devices, dev_t device) {
    remove_device(devices, device);
    if (major(device) == 0 && devices->count < DEVICES_MAX)
        devices->minors[devices->count++] = minor(device);
}

static void write_devices(struct str *variable, char letter, const struct devices *devices) {
    for (size_t i = 0; i < devices->count; i++)
        str_addf(variable, "%c%u", letter, devices->minors[i]);
}

/* Writes which devices without a disk have files that count, among all files, as the library's variable has them: those of
 * which it must not ask the kernel (interpose/common/include/scope.h). pMINOR for pseudo file systems, dMINOR for file
 * systems of a daemon or a server, which would be asked too. Pseudo file systems are known by where they are mounted: the
 * kernel does not tell all of them from others. */
static void write_all_devices(struct str *variable) {
    CLEANUP_MOUNTS struct mounts_table places = {.stream = NULL};
    CLEANUP_MOUNTS struct mounts_table elsewhere = {.stream = NULL};
    struct mounts_entry entry;
    struct devices pseudo = {.count = 0};
    struct devices remote = {.count = 0};
    dev_t shared_memory = 0;
    struct stat attr;
    /* Files in memory (memfd_create(2), shared memory of System V) are on a file system that is mounted nowhere. */
    CLEANUP_FD int fd = memfd_create("osprof", MFD_CLOEXEC);
    if (fd >= 0 && fstat(fd, &attr) == 0)
        add_device(&pseudo, attr.st_dev);
    /* What is mounted at places of pseudo file systems; files of others may be bound there too, but what is mounted
     * elsewhere is none of them. */
    mounts_open(&places);
    while (mounts_next(&places, &entry))
        if (is_pseudo(&entry))
            add_device(&pseudo, entry.device);
    mounts_open(&elsewhere);
    while (mounts_next(&elsewhere, &entry)) {
        if (is_pseudo(&entry))
            continue;
        remove_device(&pseudo, entry.device);
        if (is_remote(&entry))
            add_device(&remote, entry.device);
    }
    if (mounts_device_at("/dev/shm", &shared_memory) == 0)
        remove_device(&pseudo, shared_memory);
    write_devices(variable, 'p', &pseudo);
    write_devices(variable, 'd', &remote);
}

/* ---- Opening ------------------------------------------------------------------------------------ */

int run_user_open(struct run_user *ret_user, const char *const *directories, size_t directory_count,
                  bool has_everything) {
    struct run_user *user = ret_user;
    CLEANUP_STR struct str texts = {0};
    CLEANUP_STR struct str directories_variable = {0};
    CLEANUP_STR struct str variable = {0};
    *user = (struct run_user){.options = user->options, .as = user->as};
    int error = preload_library_find("libosprof_posix.so", &user->library);
    if (error == 0)
        error = preload_library_check(user->library, POSIX_MARK);
    if (error == 0 && user->as->name && !run_identity_may(user->as, user->library, R_OK)) {
        complain(
            "the layer user cannot be profiled: %s may not read %s; OSPROF_LIBRARIES names the directory of a copy",
            user->as->name, user->library);
        error = -EACCES;
    }
    if (error == 0)
        error = add_directories(directories, directory_count, &texts, &directories_variable);
    if (error)
        return error;
    user->is_narrowed = directories_variable.length > 0;
    if (make_live(user, texts.text ? make_line(texts.text) : "/") != 0)
        return 0;
    /* The variable for the library (preload.h). */
    str_addf(&variable, "%u%s", aggstats_recorder_clock(user->session.recorder).kind, has_everything ? "e" : "");
    if (!user->is_narrowed) {
        str_add(&variable, "a");
        write_all_devices(&variable);
    }
    str_addf(&variable, "%s%s", user->session.live_path, str_text(&directories_variable));
    user->variable = directories_variable.failed ? NULL : str_steal(&variable);
    if (!user->variable) {
        complain("no memory");
        return -ENOMEM;
    }
    return 0;
}

void run_user_finish(struct run_user *user) {
    run_unseen_finish(&user->unseen);
    const bool is_let = user->session.recorder && user->as->name;
    session_finish(&user->session);
    if (is_let) { /* the live file has gone */
        CLEANUP_FD int fd = open(user->session.directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX) == 0)
            run_identity_forbid(user->as, fd);
    }
    finish_groups(&user->groups);
    free(user->library);
    free(user->variable);
}

/* ---- The command -------------------------------------------------------------------------------- */

void run_user_look_at(struct run_user *user, const char *command) {
    const struct run_identity *as = user->as;
    char path[PATH_MAX];
    struct stat attr;
    const char *found = executable_find(command, path, sizeof(path));
    user->kind = !found     ? EXECUTABLE_DYNAMIC
                 : as->name ? executable_look_as(found, as->uid, as->gid)
                            : executable_look(found);
    user->is_executable = found && access(found, X_OK) == 0 && stat(found, &attr) == 0 && S_ISREG(attr.st_mode);
    user->name = basename(command);
    if (executable_reason(user->kind))
        complain("the layer user does not see %s: %s", command, executable_reason(user->kind));
}

/* Another loader would not accept the library. */
void run_user_enter(const struct run_user *user) {
    if (user && user->session.recorder && user->kind != EXECUTABLE_FOREIGN &&
        setenv("OSPROF_POSIX", user->variable, 1) == 0)
        preload_library_set(user->library);
}

/* What processes of the run note before they execute a program. */
int run_user_begins(const struct run_user *user) {
    const unsigned note = posix_note_of(user->kind);
    if (!user->session.recorder || !user->is_executable)
        return -1;
    if (executable_preloads(user->kind))
        aggstats_maker_note(user->session.recorder, POSIX_NOTE_AWAITED, 1);
    if (note == POSIX_NOTE_COUNT)
        return -1;
    aggstats_maker_note(user->session.recorder, note, 1);
    return aggstats_maker_name(user->session.recorder, note, user->name);
}

void run_user_has_begun(const struct run_user *user, int program, pid_t pid) {
    if (program >= 0 && pid > 0)
        aggstats_maker_name_pid(user->session.recorder, program, (uint32_t)pid);
    else if (program >= 0)
        aggstats_maker_name_take_back(user->session.recorder, program);
}

/* ---- What the kernel adds up -------------------------------------------------------------------- */

/* Our own reading between the two is the same each time, and falls out of differences. */
static struct run_witness read_witness(void) {
    struct proc_io all;
    struct proc_io own;
    if (!proc_io_read("self", &all) || !proc_io_read("thread-self", &own))
        return (struct run_witness){.is_known = false};
    return (struct run_witness){true, all.read_bytes - own.read_bytes, all.written_bytes - own.written_bytes,
                                all.reads - own.reads};
}

void run_user_note_times(struct run_user *user, pid_t command) {
    char path[64];
    char text[64];
    char *end;
    snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)command);
    if (!read_beginning(AT_FDCWD, path, text, sizeof(text)))
        return;
    user->times.ran_ns += strtoull(text, &end, 10);
    user->times.queued_ns += strtoull(end, NULL, 10);
}

static uint64_t nanoseconds_between(struct timeval from, struct timeval to) {
    struct timeval difference;
    timersub(&to, &from, &difference);
    return difference.tv_sec < 0 ? 0 : (uint64_t)difference.tv_sec * 1000000000 + (uint64_t)difference.tv_usec * 1000;
}

/* Sets the facts about all processes that have ended since the profile began. The kernel adds up the CPU time of processes
 * that have been waited for, but not how long they waited for a CPU. That is known of the command's first thread alone: if
 * it was the only one, its CPU time is that of all.
 * is_mounted: osproffs was between, and has read from storage for the programs: then that is not known of them */
static void add_times(const struct run_times *times, bool is_mounted, struct aggstats_profile *profile) {
    struct rusage now;
    struct proc_io io;
    getrusage(RUSAGE_CHILDREN, &now);
    profile->has_cpu = true;
    profile->user_ns = nanoseconds_between(times->before.ru_utime, now.ru_utime);
    profile->system_ns = nanoseconds_between(times->before.ru_stime, now.ru_stime);
    const double all_ns = (double)profile->user_ns + (double)profile->system_ns;
    profile->has_queue = times->ran_ns > 0 && (double)times->ran_ns >= IS_ALL * all_ns;
    profile->queue_ns = profile->has_queue ? times->queued_ns : 0;
    if (!is_mounted) {
        profile->has_storage_read = times->knows_io && proc_io_read("self", &io);
        profile->storage_read_bytes =
            profile->has_storage_read ? io.storage_read_bytes - times->before_io.storage_read_bytes : 0;
    }
    profile->has_page_faults = true;
    profile->page_faults.minor = (uint64_t)(now.ru_minflt - times->before.ru_minflt);
    profile->page_faults.major = (uint64_t)(now.ru_majflt - times->before.ru_majflt);
}

static uint64_t less(uint64_t number, uint64_t more) {
    return number > more ? number - more : 0;
}

/* Sets bytes_seen and bytes_kernel, if the kernel says, and bytes_elsewhere if not all files count; see osprof(5). */
static void add_witness(const struct run_user *user, const struct aggstats_shared_facts *facts,
                        struct aggstats_profile *profile) {
    const struct run_witness *before = &user->times.witness;
    const struct run_witness after = read_witness();
    if (!before->is_known || !after.is_known)
        return;
    /* On descriptors that do not count. */
    const uint64_t *sums_before = user->before.sums;
    const uint64_t other_read = facts->sums[POSIX_SUM_OTHER_READ] - sums_before[POSIX_SUM_OTHER_READ];
    const uint64_t other_written = facts->sums[POSIX_SUM_OTHER_WRITTEN] - sums_before[POSIX_SUM_OTHER_WRITTEN];
    const uint64_t other_reads = facts->notes[POSIX_NOTE_READS] - user->before.notes[POSIX_NOTE_READS];
    const struct bytes_seen seen = bytes_seen(profile);
    const uint64_t unseen_reads = less(after.reads - before->reads, seen.reads + other_reads);
    profile->has_witness = true;
    profile->bytes_seen = (struct aggstats_bytes){seen.read, seen.written};
    profile->bytes_kernel =
        (struct aggstats_bytes){less(after.read - before->read, other_read + unseen_reads * UNSEEN_BYTES),
                                less(after.written - before->written, other_written)};
    profile->has_elsewhere = user->is_narrowed;
    if (user->is_narrowed)
        profile->bytes_elsewhere = (struct aggstats_bytes){other_read, other_written};
}

/* ---- The profile -------------------------------------------------------------------------------- */

int run_user_reset(struct run_user *user) {
    const struct session_options *options = &user->options.session;
    struct aggstats_recorder *recorder = user->session.recorder;
    if (!recorder)
        return 0;
    /* Threads are not started before: a user namespace can only be entered without others. */
    int error = aggstats_recorder_watch(recorder, false);
    if (error && error != -EBUSY)
        complain("how much of the time calls are in flight is not known: %s", strerror(-error));
    error = options->interval_ns > 0
                ? aggstats_recorder_set_interval(recorder, options->interval_ns, options->intervals_max)
                : 0;
    user->times = (struct run_times){.knows_io = false};
    getrusage(RUSAGE_CHILDREN, &user->times.before);
    user->times.knows_io = proc_io_read("self", &user->times.before_io);
    user->times.witness = read_witness();
    run_unseen_begin(&user->unseen, recorder);
    aggstats_recorder_shared_facts(recorder, &user->before);
    if (error == 0)
        error = aggstats_recorder_reset(recorder);
    if (error)
        complain("the layer user cannot be profiled: %s", strerror(-error));
    return error;
}

/* What was not counted. */
static const struct {
    enum posix_note note;
    enum aggstats_unseen kind;
} unseen_kinds[] = {
    {POSIX_NOTE_STATIC, AGGSTATS_UNSEEN_STATIC},   {POSIX_NOTE_SET_ID, AGGSTATS_UNSEEN_SET_ID},
    {POSIX_NOTE_FOREIGN, AGGSTATS_UNSEEN_FOREIGN}, {POSIX_NOTE_SANDBOXED, AGGSTATS_UNSEEN_SANDBOXED},
    {POSIX_NOTE_GO, AGGSTATS_UNSEEN_GO},           {POSIX_NOTE_BARE, AGGSTATS_UNSEEN_BARE},
    {POSIX_NOTE_STARVED, AGGSTATS_UNSEEN_STARVED}, {POSIX_NOTE_ASYNC, AGGSTATS_UNSEEN_ASYNC},
    {POSIX_NOTE_URING, AGGSTATS_UNSEEN_IO_URING},  {POSIX_NOTE_ROOT, AGGSTATS_UNSEEN_ROOT},
    {POSIX_NOTE_USER, AGGSTATS_UNSEEN_USER},
};

/* Programs that have been executed to be observed, and were not. Those that static programs have executed nobody awaits,
 * so there may be more. */
static uint64_t never_begun(const struct run_user *user, const struct aggstats_shared_facts *facts) {
    const uint32_t awaited = facts->notes[POSIX_NOTE_AWAITED] - user->before.notes[POSIX_NOTE_AWAITED];
    const int32_t missing = (int32_t)awaited;
    return missing > 0 ? (uint64_t)missing : 0;
}

/* Threads are those of warm-ups too. */
static int add_not_seen(struct run_user *user, struct aggstats_profile *profile,
                        const struct aggstats_shared_facts *facts) {
    int error = 0;
    for (size_t i = 0; i < ARRAY_SIZE(unseen_kinds) && error == 0; i++) {
        const enum posix_note note = unseen_kinds[i].note;
        const uint32_t count = facts->notes[note] - user->before.notes[note];
        profile->not_seen[unseen_kinds[i].kind] = count;
        if (count > 0)
            error = run_unseen_add(&user->unseen, note, unseen_kinds[i].kind, profile);
    }
    profile->not_seen[AGGSTATS_UNSEEN_UNKNOWN] = never_begun(user, facts);
    profile->not_seen[AGGSTATS_UNSEEN_CROWDED] = facts->crowded_threads;
    profile->not_seen[AGGSTATS_UNSEEN_BROKEN] = facts->broken_threads;
    profile->threads_max = facts->crowded_threads > 0 ? facts->threads_max : 0;
    return error;
}

int run_user_stop(struct run_user *user, bool is_mounted, struct recording *layers) {
    const struct timespec step = {.tv_nsec = BEGINNING_STEP_NS};
    struct aggstats_recorder *recorder = user->session.recorder;
    struct aggstats_shared_facts facts;
    struct aggstats_profile profile = {0};
    if (!recorder)
        return 0;
    int error = aggstats_recorder_snapshot(recorder, &profile);
    /* When the command has ended, calls that have not ended, and are not in flight, never will. */
    for (size_t i = 0; i < profile.op_count; i++) {
        struct aggstats_op_profile *op = &profile.ops[i];
        const uint64_t open_calls = op->calls - figures_finished(op, profile.resolution);
        const uint64_t listed = figures_in_flight(&profile, op->name);
        op->left_calls = open_calls > listed ? open_calls - listed : 0;
    }
    add_times(&user->times, is_mounted, &profile);
    /* A program that has just been executed, and goes on after the command, may be about to begin. */
    aggstats_recorder_shared_facts(recorder, &facts);
    for (unsigned i = 0; i < BEGINNING_STEPS && never_begun(user, &facts) > 0; i++) {
        nanosleep(&step, NULL);
        aggstats_recorder_shared_facts(recorder, &facts);
    }
    if (error == 0)
        error = add_not_seen(user, &profile, &facts);
    add_witness(user, &facts, &profile);
    if (error == 0)
        error = recording_add(layers, &profile);
    if (error)
        complain("the profile of the layer user is lost: %s", strerror(-error));
    aggstats_profile_finish(&profile);
    return error;
}
