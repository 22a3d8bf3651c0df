/* Who makes the calls. */
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "permissions.h"

#define CAP(name) (1ULL << CAP_##name)
#define ALL_CAPABILITIES (~0ULL)

enum groups { NO_GROUPS, IN_GROUP, IN_MANY };

static const struct identity {
    const char *name;
    uid_t uid;
    gid_t gid;
    enum groups groups;
    unsigned long long lacks; /* of root's capabilities */
    unsigned long long has;   /* though not root */
    const char *map;          /* of ids in a user namespace of its own */
    uid_t fsuid;              /* with fsgid the same, if not root */
    bool brief;
} identities[] = {
    {.name = "root", .brief = true},
    {.name = "root-dac", .lacks = CAP(DAC_OVERRIDE) | CAP(DAC_READ_SEARCH)},
    {.name = "root-fsetid", .lacks = CAP(FSETID)},
    {.name = "root-immutable", .lacks = CAP(LINUX_IMMUTABLE)},
    {.name = "root-nothing", .lacks = ALL_CAPABILITIES},
    {.name = "stranger", .uid = ID_STRANGER, .gid = ID_STRANGER, .brief = true},
    {.name = "owner", .uid = ID_ME, .gid = ID_ME},
    {.name = "owner+group", .uid = ID_ME, .gid = ID_ME, .groups = IN_GROUP, .brief = true},
    {.name = "member", .uid = ID_STRANGER, .gid = ID_GROUP},
    {.name = "member-of-many", .uid = ID_STRANGER, .gid = ID_STRANGER, .groups = IN_MANY},
    {.name = "+dac_override", .uid = ID_STRANGER, .gid = ID_STRANGER, .has = CAP(DAC_OVERRIDE)},
    {.name = "+dac_read_search", .uid = ID_STRANGER, .gid = ID_STRANGER, .has = CAP(DAC_READ_SEARCH)},
    {.name = "+chown", .uid = ID_STRANGER, .gid = ID_STRANGER, .has = CAP(CHOWN)},
    {.name = "+fowner", .uid = ID_STRANGER, .gid = ID_STRANGER, .has = CAP(FOWNER)},
    {.name = "+fsetid", .uid = ID_STRANGER, .gid = ID_STRANGER, .has = CAP(FSETID)},
    {.name = "owner+fsetid", .uid = ID_ME, .gid = ID_ME, .groups = IN_GROUP, .has = CAP(FSETID)},
    {.name = "owner-in-namespace", .uid = ID_ME, .gid = ID_ME, .map = "0 65534 1\n"},
    {.name = "root-in-namespace", .map = "0 0 1\n"},
    {.name = "root-in-namespace-of-all", .map = "0 0 65535\n"},
    {.name = "fsuid", .fsuid = ID_ME},
};

void identity_list(bool brief) {
    for (size_t i = 0; i < ARRAY_SIZE(identities); i++)
        if (identities[i].brief || !brief)
            puts(identities[i].name);
}

static const struct identity *find_identity(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(identities); i++)
        if (strcmp(identities[i].name, name) == 0)
            return &identities[i];
    return NULL;
}

unsigned identity_index(const char *name) {
    const struct identity *who = find_identity(name);
    return who ? (unsigned)(who - identities) : 0;
}

/* ---- Capabilities ---- */

struct capability_sets {
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static struct capability_sets get_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct capability_sets sets;
    must(syscall(SYS_capget, &header, sets.data) == 0, "get", "capabilities");
    return sets;
}

static void set_capabilities(const struct capability_sets *sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    must(syscall(SYS_capset, &header, sets->data) == 0, "set", "capabilities");
}

static void lose_capabilities(unsigned long long lost) {
    struct capability_sets sets = get_capabilities();
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets.data[i].effective &= ~(__u32)(lost >> 32 * i);
        sets.data[i].permitted &= ~(__u32)(lost >> 32 * i);
    }
    set_capabilities(&sets);
}

static void keep_capabilities(unsigned long long kept) {
    struct capability_sets sets;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        __u32 word = (__u32)(kept >> 32 * i);
        sets.data[i] = (struct __user_cap_data_struct){.effective = word, .permitted = word, .inheritable = word};
    }
    set_capabilities(&sets);
    for (int cap = 0; cap < 64; cap++)
        if (kept >> cap & 1)
            must(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) == 0, "make ambient", "a capability");
}

void identity_print_own(void) {
    struct capability_sets sets = get_capabilities();
    printf("uid %u/%u gid %u/%u capabilities %x%08x\n", getuid(), geteuid(), getgid(), getegid(),
           sets.data[1].effective, sets.data[0].effective);
}

/* ---- Ids ---- */

static void take_groups(enum groups which) {
    gid_t groups[300];
    size_t count = which == IN_MANY ? ARRAY_SIZE(groups) : which == IN_GROUP ? 1 : 0;
    for (size_t i = 0; i + 1 < count; i++)
        groups[i] = (gid_t)(5000 + i);
    if (count > 0)
        groups[count - 1] = ID_GROUP;
    must(setgroups(count, groups) == 0, "set", "groups");
}

static void take_ids(const struct identity *who) {
    take_groups(who->groups);
    must(prctl(PR_SET_KEEPCAPS, who->has != 0, 0, 0, 0) == 0, "keep", "capabilities");
    must(setresgid(who->gid, who->gid, who->gid) == 0, "take", "the group");
    must(setresuid(who->uid, who->uid, who->uid) == 0, "take", "the user");
    if (who->has)
        keep_capabilities(who->has);
    if (who->lacks)
        lose_capabilities(who->lacks);
    if (who->fsuid) {
        setfsgid(who->fsuid);
        setfsuid(who->fsuid);
    }
}

/* ---- User namespaces ---- */

static void write_map(pid_t pid, const char *name, const char *map) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    must(fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map), "write", path);
    close(fd);
}

static void wait_byte(int fd, const char *what) {
    char byte;
    must(read(fd, &byte, 1) == 1, "wait for", what);
}

/* The parent stays outside, gives the child's namespace its map once the child is in it, and ends as the child does. */
static void look_after(pid_t child, int from_child, int to_child, const char *map) {
    wait_byte(from_child, "the namespace");
    write_map(child, "uid_map", map);
    write_map(child, "gid_map", map);
    must(write(to_child, "", 1) == 1, "tell", "the child");
    int status = 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void enter_namespace(const struct identity *who) {
    int up[2] = {-1, -1};
    int down[2] = {-1, -1};
    must(pipe2(up, O_CLOEXEC) == 0 && pipe2(down, O_CLOEXEC) == 0, "make", "pipes");
    pid_t child = fork();
    must(child >= 0, "make", "a process");
    if (child > 0)
        look_after(child, up[0], down[1], who->map);
    take_ids(who);
    must(unshare(CLONE_NEWUSER) == 0, "make", "a user namespace");
    must(write(up[1], "", 1) == 1, "tell", "the parent");
    wait_byte(down[0], "the map");
    for (int i = 0; i < 2; i++) {
        close(up[i]);
        close(down[i]);
    }
}

int identity_become(const char *name) {
    const struct identity *who = find_identity(name);
    if (!who)
        return -1;
    if (who->map)
        enter_namespace(who);
    else
        take_ids(who);
    return 0;
}
