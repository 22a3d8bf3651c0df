/* The table of mounts, connections of FUSE mounts, and umount2(2) with the set-user-id helper of libfuse. */
#include "mounts.h"

#include <assert.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base.h"
#include "path.h"
#include "pseudo_filesystems.h"

#define KERNEL_MINOR_BITS 20

/* ---- Lines -------------------------------------------------------------------------------------- */

static int open_table(const char *path, struct mounts_table *ret_table) {
    *ret_table = (struct mounts_table){.stream = fopen(path, "re")};
    return ret_table->stream ? 0 : negative_errno();
}

int mounts_open(struct mounts_table *ret_table) {
    return open_table("/proc/self/mountinfo", ret_table);
}

int mounts_open_of(pid_t process, struct mounts_table *ret_table) {
    char path[64];
    if (process == 0)
        return mounts_open(ret_table);
    snprintf(path, sizeof(path), "/proc/%ld/mountinfo", (long)process);
    return open_table(path, ret_table);
}

int mounts_open_at(int fd, struct mounts_table *ret_table) {
    *ret_table = (struct mounts_table){.stream = NULL};
    CLEANUP_FD int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0 || lseek(copy, 0, SEEK_SET) < 0)
        return negative_errno();
    ret_table->stream = fdopen(copy, "r");
    if (!ret_table->stream)
        return negative_errno();
    steal_fd(&copy);
    return 0;
}

void mounts_close(struct mounts_table *table) {
    close_stream(&table->stream);
    free(table->line);
    table->line = NULL;
}

static bool is_octal(char digit) {
    return digit >= '0' && digit <= '7';
}

/* The kernel writes blanks and backslashes as \ooo in this file. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        bool escaped = from[0] == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3]);
        *to = escaped ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0')) : *from;
        from += escaped ? 4 : 1;
    }
    *to = '\0';
}

/* "ID PARENT MAJOR:MINOR ROOT PATH OPTIONS [TAG]... - TYPE SOURCE SUPER_OPTIONS" */
static bool parse_line(char *line, struct mounts_entry *ret_entry) {
    char *rest = line;
    const char *id = strsep(&rest, " ");
    const char *parent = strsep(&rest, " ");
    char *minor_text = strsep(&rest, " ");
    const char *major_text = strsep(&minor_text, ":");
    char *root = strsep(&rest, " ");
    char *path = strsep(&rest, " ");
    char *options = strsep(&rest, " ");
    const char *tag = options;
    while (tag && strcmp(tag, "-") != 0)
        tag = strsep(&rest, " ");
    char *type = strsep(&rest, " ");
    char *source = strsep(&rest, " ");
    if (!minor_text || !source)
        return false;
    unescape(root);
    unescape(path);
    unescape(type);
    unescape(source);
    rest = rest ? rest : source + strlen(source);
    rest[strcspn(rest, "\n")] = '\0';
    *ret_entry = (struct mounts_entry){
        .id = strtoull(id, NULL, 10),
        .parent = strtoull(parent, NULL, 10),
        .device = makedev(strtoul(major_text, NULL, 10), strtoul(minor_text, NULL, 10)),
        .root = root,
        .path = path,
        .options = options,
        .type = type,
        .source = source,
        .fs_options = rest,
    };
    return true;
}

bool mounts_next(struct mounts_table *table, struct mounts_entry *ret_entry) {
    while (table->stream && getline(&table->line, &table->line_bytes, table->stream) > 0) {
        if (parse_line(table->line, ret_entry))
            return true;
    }
    return false;
}

/* ---- Searching ---------------------------------------------------------------------------------- */

/* The first that is equal in all members of `like` that are not 0: id, device and type. */
static bool find_first(struct mounts_table *table, const struct mounts_entry *like, struct mounts_entry *ret_entry) {
    struct mounts_entry entry;
    if (table->stream)
        rewind(table->stream);
    while (mounts_next(table, &entry)) {
        if ((like->id != 0 && entry.id != like->id) || (like->device != 0 && entry.device != like->device) ||
            (like->type && strcmp(entry.type, like->type) != 0))
            continue;
        *ret_entry = entry;
        return true;
    }
    return false;
}

bool mounts_of_device(struct mounts_table *table, dev_t device, struct mounts_entry *ret_entry) {
    return find_first(table, &(struct mounts_entry){.device = device}, ret_entry);
}

bool mounts_of_id(struct mounts_table *table, uint64_t id, struct mounts_entry *ret_entry) {
    return find_first(table, &(struct mounts_entry){.id = id}, ret_entry);
}

bool mounts_of_type(struct mounts_table *table, const char *type, struct mounts_entry *ret_entry) {
    return find_first(table, &(struct mounts_entry){.type = type}, ret_entry);
}

/* A mount at a path or above it, visible or not. */
struct above {
    struct mounts_entry entry;
    char *line; /* which the entry points into */
};

/* Owner: the caller frees the lines of *ret_aboves, and that. Fewer than there are without memory */
static size_t read_above(struct mounts_table *table, const char *path, struct above **ret_aboves) {
    struct mounts_entry entry;
    size_t count = 0;
    if (table->stream)
        rewind(table->stream);
    while (mounts_next(table, &entry)) {
        if (!path_below(path, entry.path))
            continue;
        if (grow_array(ret_aboves, count, sizeof(**ret_aboves)) < 0)
            break;
        (*ret_aboves)[count++] = (struct above){.entry = entry, .line = steal_pointer(&table->line)};
    }
    return count;
}

/* Walks along the path, from mount to mount: each time to the one with the shortest path of those that are mounted on the
 * last. Others are hidden.
 * passes_profiled: a mount of osproffs is taken for what it is mounted on */
static bool find_on_path(struct mounts_table *table, const char *path, bool passes_profiled,
                         struct mounts_entry *ret_entry) {
    CLEANUP_FREE struct above *aboves = NULL;
    const size_t count = read_above(table, path, &aboves);
    struct above *found = NULL;
    struct above *place = NULL;
    assert(aboves || count == 0);
    for (size_t step = 0; step < count; step++) { /* ends also where mounts are said to be on each other */
        struct above *next = NULL;
        for (struct above *above = aboves; above < aboves + count; above++)
            if (above != place && (!place || above->entry.parent == place->entry.id) &&
                (!next || strlen(above->entry.path) < strlen(next->entry.path)))
                next = above;
        if (!next)
            break;
        place = next;
        if (!passes_profiled || !mounts_is_profiled(&place->entry))
            found = place;
    }
    if (found) {
        free(table->line);
        table->line = steal_pointer(&found->line);
        table->line_bytes = 1; /* at least */
        *ret_entry = found->entry;
    }
    for (size_t i = 0; i < count; i++)
        free(aboves[i].line);
    return found;
}

bool mounts_of_path(struct mounts_table *table, const char *path, struct mounts_entry *ret_entry) {
    return find_on_path(table, path, false, ret_entry);
}

bool mounts_at(struct mounts_table *table, const char *path, struct mounts_entry *ret_entry) {
    struct mounts_entry entry;
    if (!mounts_of_path(table, path, &entry) || strcmp(entry.path, path) != 0)
        return false;
    *ret_entry = entry;
    return true;
}

bool mounts_has_option(const char *options, const char *option) {
    const size_t length = strlen(option);
    for (const char *at = options; *at; at += strspn(at, ",")) {
        size_t size = strcspn(at, ",");
        if (size == length && strncmp(at, option, length) == 0)
            return true;
        at += size;
    }
    return false;
}

unsigned long mounts_forbidden(struct mounts_table *table, dev_t device) {
    struct mounts_entry entry;
    unsigned long forbidden = ST_NOSUID | ST_NODEV;
    bool found = false;
    while (mounts_next(table, &entry)) {
        if (entry.device != device)
            continue;
        found = true;
        if (!mounts_has_option(entry.options, "nosuid"))
            forbidden &= ~(unsigned long)ST_NOSUID;
        if (!mounts_has_option(entry.options, "nodev"))
            forbidden &= ~(unsigned long)ST_NODEV;
    }
    return found ? forbidden : 0;
}

int mounts_device_at(const char *path, dev_t *ret_device) {
    struct statx attr = {0};
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &attr) < 0)
        return negative_errno();
    *ret_device = makedev(attr.stx_dev_major, attr.stx_dev_minor);
    return 0;
}

bool mounts_is_fuse(const struct mounts_entry *entry) {
    return strcmp(entry->type, "fuse") == 0 || strncmp(entry->type, "fuse.", strlen("fuse.")) == 0 ||
           strcmp(entry->type, "fuseblk") == 0;
}

bool mounts_may_hang(const struct mounts_entry *entry) {
    static const char *const types[] = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "lustre", "gfs2", "ocfs2"};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (strcmp(entry->type, types[i]) == 0)
            return true;
    return mounts_is_fuse(entry);
}

bool mounts_is_pseudo(const char *type) {
#define NAME_ELEMENT(MAGIC, NAME) NAME,
    static const char *const types[] = {PSEUDO_FILESYSTEMS(NAME_ELEMENT)};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (types[i][0] && strcmp(types[i], type) == 0)
            return true;
    return false;
}

bool mounts_is_profiled(const struct mounts_entry *entry) {
    return strcmp(entry->type, "fuse.osproffs") == 0;
}

/* ---- Devices ------------------------------------------------------------------------------------ */

int mounts_find_device(struct mounts_table *table, const char *path, bool through, struct mounts_device *ret_device) {
    struct mounts_entry entry;
    if (!find_on_path(table, path, through, &entry))
        return -ENOENT;
    char *name = NULL;
    if (strchr(entry.source, '/'))
        name = strdup(entry.source);
    else if (asprintf(&name, "%s on %s", entry.source, entry.path) < 0)
        name = NULL;
    if (!name)
        return -ENOMEM;
    *ret_device = (struct mounts_device){.name = make_line(name), /* is one in a calibration */
                                         .is_local = strncmp(entry.source, "/dev/", 5) == 0,
                                         .is_profiled = mounts_is_profiled(&entry)};
    return 0;
}

/* ---- Connections of FUSE mounts ----------------------------------------------------------------- */

uint32_t mounts_kernel_device(dev_t device) {
    return major(device) << KERNEL_MINOR_BITS | minor(device);
}

dev_t mounts_device_of_kernel(uint32_t device) {
    return makedev(device >> KERNEL_MINOR_BITS, device & ((1U << KERNEL_MINOR_BITS) - 1));
}

/* The connection has that number. */
int mounts_waiting_requests(dev_t device, uint64_t *ret_count) {
    char path[64];
    char text[32] = "";
    snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/waiting", mounts_kernel_device(device));
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
        return negative_errno();
    char *end;
    *ret_count = strtoull(text, &end, 10);
    return end != text ? 0 : -EBADMSG;
}

/* ---- Unmounting --------------------------------------------------------------------------------- */

static int run_fusermount(const char *path, int flags) {
    const char *arguments[] = {"fusermount3", flags & MNT_DETACH ? "-uqz" : "-uq", "--", path, NULL};
    pid_t helper;
    int status;
    int err = posix_spawnp(&helper, arguments[0], NULL, NULL, (char **)(uintptr_t)arguments, environ);
    if (err != 0)
        return -err;
    if (waitpid(helper, &status, 0) != helper)
        return negative_errno();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

int mounts_unmount(const char *path, int flags) {
    if (umount2(path, UMOUNT_NOFOLLOW | flags) == 0)
        return 0;
    return errno == EPERM ? run_fusermount(path, flags) : negative_errno();
}
