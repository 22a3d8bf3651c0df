#include "attach_watched.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats/profile.h"
#include "base.h"
#include "command.h"
#include "mounts.h"

int attach_watched_find(const char *directory, const struct attach_processes *processes, const char *cgroup,
                        struct attach_watched *ret_watched) {
    struct attach_watched *watched = ret_watched;
    *watched = (struct attach_watched){.processes = *processes};
    int error = attach_processes_check(processes);
    if (error == 0 && cgroup)
        error = attach_cgroup_find(cgroup, &watched->cgroup);
    if (error == 0 && directory)
        error = attach_target_find(directory, &watched->target);
    if (error == 0 && !directory)
        error = attach_processes_read_mounts(processes, &watched->mounts);
    if (error)
        attach_watched_finish(watched);
    return error;
}

char *attach_watched_path(const struct attach_watched *watched) {
    char *path = NULL;
    if (watched->target.mountpoint)
        return strdup(watched->target.mount.path);
    if (watched->cgroup.directory)
        return strdup(watched->cgroup.directory);
    return asprintf(&path, "/proc/%u", watched->processes.numbers[0]) < 0 ? NULL : path;
}

/* ---- Words -------------------------------------------------------------------------------------- */

/* "all programs", "process 4711 (postgres) and its descendants" */
static char *describe_whose(const struct attach_watched *watched) {
    char words[ATTACH_NAME_SIZE];
    char *text = NULL;
    const char *group = watched->cgroup.path;
    if (watched->processes.count == 0)
        return asprintf(&text, "%s%s", group ? "control group " : "all programs", group ? group : "") < 0 ? NULL : text;
    attach_processes_describe(&watched->processes, words);
    const char *descendants = watched->processes.count > 1 ? "their descendants" : "its descendants";
    return asprintf(&text, "%s and %s%s%s", words, descendants, group ? ", as far as they are in control group " : "",
                    group ? group : "") < 0
               ? NULL
               : text;
}

char *attach_watched_describe(const struct attach_watched *watched) {
    CLEANUP_FREE char *whose = describe_whose(watched);
    const struct attach_target *target = &watched->target;
    char *text = NULL;
    if (!whose)
        return NULL;
    if (!target->mountpoint)
        return asprintf(&text, "calls of %s on all file systems", whose) < 0 ? NULL : text;
    const char *path = target->mount.path;
    const bool is_whole = strcmp(target->mountpoint, attach_target_inner_path(target)) == 0;
    return asprintf(&text, "%s%scalls of %s on %s%s (%s)", is_whole ? "" : path,
                    is_whole ? "" : " is no mount point: ", whose, is_whole ? "" : "all of ", target->mountpoint,
                    target->mount.type) < 0
               ? NULL
               : text;
}

struct aggstats_label attach_watched_label(const struct attach_watched *watched) {
    static char of_cgroup[] = "calls of cgroup";
    static char of_process[] = "calls of process";
    static char of_processes[] = "calls of processes";
    const unsigned count = watched->processes.count;
    if (count == 0 && !watched->cgroup.path)
        return (struct aggstats_label){.key = NULL};
    return count == 0 ? (struct aggstats_label){of_cgroup, strdup(watched->cgroup.path)}
                      : (struct aggstats_label){count == 1 ? of_process : of_processes,
                                                attach_processes_join(&watched->processes, ", ", ATTACH_PROCESSES_MAX)};
}

char *attach_watched_arguments(const struct attach_watched *watched) {
    CLEANUP_FREE char *numbers = attach_processes_join(&watched->processes, ",", ATTACH_PROCESSES_MAX);
    const char *directory = watched->target.mountpoint ? watched->target.mount.path : "";
    const char *group = watched->cgroup.path;
    char *text = NULL;
    if (!numbers || asprintf(&text, "%s%s%s%s%s%s", numbers[0] ? " --pid " : "", numbers, group ? " --cgroup " : "",
                             group ? group : "", directory[0] ? " " : "", directory) < 0)
        return NULL;
    memmove(text, text + 1, strlen(text));
    return text;
}

enum aggstats_untold attach_watched_untold(const struct attach_watched *watched) {
    return watched->processes.count > 0 ? AGGSTATS_UNTOLD_OF_PROCESSES
           : watched->cgroup.path       ? AGGSTATS_UNTOLD_OF_CGROUP
                                        : AGGSTATS_UNTOLD_OF_MACHINE;
}

/* Tells which of the mounted file systems hold files. */
static int note_devices(const struct attach_mounts *mounts, struct collector *collector) {
    int error = 0;
    for (size_t i = 0; i < mounts->count && error == 0; i++)
        error = collector_note_device(collector, mounts->mounts[i].device, !mounts_is_pseudo(mounts->mounts[i].type));
    return error == -E2BIG ? 0 : error;
}

/* Not where a daemon of FUSE chooses them, nor where layers or subvolumes share them. */
static bool has_lasting_numbers(const struct attach_target *target) {
    const struct mounts_entry entry = {.type = target->mount.type};
    return target->has_one_device && target->mountpoint && !mounts_is_fuse(&entry) &&
           strcmp(entry.type, "virtiofs") != 0;
}

/* ---- The beginning and the end ------------------------------------------------------------------ */

int attach_watched_start(const struct attach_watched *watched, const struct attach_options *options,
                         struct collector **ret_collector, char ret_why[COLLECTOR_WHY_SIZE]) {
    const struct attach_target *target = &watched->target;
    const uint64_t slow_ns = options->session.slow_ns;
    const dev_t device = target->mountpoint ? target->mount.device : 0;
    const struct system_calls calls = {.device = mounts_kernel_device(device),
                                       .has_one_device = target->has_one_device,
                                       .has_lasting_numbers = has_lasting_numbers(target),
                                       .processes = attach_processes_numbers(&watched->processes),
                                       .cgroup = watched->cgroup.number,
                                       .cgroup_level = watched->cgroup.level,
                                       .has_groups = options->session.groupings != 0 || slow_ns > 0,
                                       .slow_ns = slow_ns,
                                       .has_user_stacks = options->stacks,
                                       .own_parent = options->stacks ? user_stacks_parent(options->stacks) : 0,
                                       .has_cgroups = options->session.groupings & 1U << AGGSTATS_BY_CGROUP};
    struct collector *collector = NULL;
    int error = collector_start_calls(&calls, &collector, ret_why);
    if (error)
        return error;
    error = note_devices(&watched->mounts, collector);
    if (error) {
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        collector_finish(collector);
        return error;
    }
    collector_note_begun(collector);
    *ret_collector = collector;
    return 0;
}

bool attach_watched_is_there(const struct attach_watched *watched, const struct collector *collector) {
    const unsigned count = watched->processes.count;
    if (watched->target.mountpoint && !attach_target_is_there(&watched->target)) {
        complain("%s is not mounted any more", watched->target.mountpoint);
        return false;
    }
    if (watched->cgroup.path && !attach_cgroup_is_there(&watched->cgroup)) {
        complain("control group %s is gone", watched->cgroup.path);
        return false;
    }
    if (count == 0 || collector_has_processes(collector))
        return true;
    if (count == 1)
        complain("process %u has ended, and so have its descendants", watched->processes.numbers[0]);
    else
        complain("all of the processes have ended, and so have their descendants");
    return false;
}

void attach_watched_finish(struct attach_watched *watched) {
    attach_target_finish(&watched->target);
    attach_cgroup_finish(&watched->cgroup);
    attach_mounts_finish(&watched->mounts);
}
