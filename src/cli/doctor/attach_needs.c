#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "mounts.h"
#include "proc.h"
#include "ways.h"

static bool try_types(const struct way *way, char ret_why[WHY_SIZE]) {
    (void)way;
    return collector_check_types(ret_why) == 0;
}

static bool try_capability(const struct way *way, char ret_why[WHY_SIZE]) {
    uint64_t has = 0;
    proc_status_number((uint64_t)getpid(), "CapEff", 16, &has);
    const bool is_there = has & (UINT64_C(1) << way->capability | UINT64_C(1) << CAP_SYS_ADMIN);
    if (is_there && !collector_is_in_user_namespace())
        return true;
    snprintf(ret_why, WHY_SIZE, "%s",
             is_there ? "it has no effect in a user namespace, such as a container's; start osprof outside"
                      : "this user lacks it; sudo, or setcap cap_bpf,cap_perfmon+ep for a copy of osprof");
    return false;
}

static bool try_lockdown(const struct way *way, char ret_why[WHY_SIZE]) {
    (void)way;
    if (!collector_is_locked_down())
        return true;
    snprintf(ret_why, WHY_SIZE, "%s is confidentiality; lockdown=integrity at boot lets it", COLLECTOR_LOCKDOWN);
    return false;
}

static bool try_cgroup(const struct way *way, char ret_why[WHY_SIZE]) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    (void)way;
    mounts_open(&table);
    if (mounts_of_type(&table, "cgroup2", &entry))
        return true;
    const bool has_older = mounts_of_type(&table, "cgroup", &entry);
    snprintf(ret_why, WHY_SIZE, "%s",
             has_older ? "they are of version 1 here; systemd.unified_cgroup_hierarchy=1 at boot makes that 2"
                       : "none are mounted; as root, mount -t cgroup2 none /sys/fs/cgroup");
    return false;
}

static bool try_counting(const struct way *way, char ret_why[WHY_SIZE]) {
    if (!try_types(way, ret_why) || collector_check(ret_why) == -ENOTSUP)
        return false;
    if (collector_counts(way->countable))
        return true;
    snprintf(ret_why, WHY_SIZE, "this kernel lacks a tracepoint that is there %s", way->since);
    return false;
}

/* clang-format off */
const struct way attach_needs[] = {
    {"btf", "the kernel tells its types", try_types},
    {"bpf", "the capability CAP_BPF: to load programs into the kernel", try_capability, .capability = CAP_BPF},
    {"perfmon", "the capability CAP_PERFMON: to let them read its memory", try_capability, .capability = CAP_PERFMON},
    {"lockdown", "the kernel lets programs read its memory", try_lockdown},
    {"cgroup", "control groups of version 2: osprof attach --cgroup", try_cgroup},
    {"io_uring", "the kernel reports requests of io_uring", try_counting, .countable = COLLECTOR_RINGS,
     .since = "since Linux 5.18, with CONFIG_IO_URING"},
    {"faults", "the kernel reports page faults of mapped files", try_counting, .countable = COLLECTOR_FAULTS,
     .since = "since Linux 6.12"},
};
/* clang-format on */
const size_t attach_need_count = ARRAY_SIZE(attach_needs);
