/* The table of mounts, connections of FUSE mounts, and umount2(2) with the set-user-id helper of libfuse. */
#include "mounts.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base.h"
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
    strsep(&rest, " ");
    char *minor_text = strsep(&rest, " ");
    const char *major_text = strsep(&minor_text, ":");
    char *root = strsep(&rest, " ");
    char *path = strsep(&rest, " ");
    char *options = strsep(&rest, " ");
    const char *tag = options;
    while (tag && strcmp(tag, "-") != 0)
        tag = strsep(&rest, " ");
    const char *type = strsep(&rest, " ");
    char *source = strsep(&rest, " ");
    if (!minor_text || !source)
        return false;
    unescape(root);
    unescape(path);
    unescape(source);
    rest = rest ? rest : source + strlen(source);
    rest[strcspn(rest, "\n")] = '\0';
    *ret_entry = (struct mounts_entry){
        .id = strtoull(id, NULL, 10),
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

static bool holds(const char *mount, const char *path) {
    size_t length = strlen(mount);
    if (strcmp(mount, "/") == 0)
        return true;
    return strncmp(mount, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static char *name_device(const struct mounts_entry *entry) {
    char *name = NULL;
    if (strchr(entry->source, '/'))
        return strdup(entry->source);
    return asprintf(&name, "%s on %s", entry->source, entry->path) < 0 ? NULL : name;
}

/* A newline would end the line of the calibration file that holds the name. */
static void replace_controls(char *name) {
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            *name = '?';
}

int mounts_find_device(struct mounts_table *table, const char *path, bool through, struct mounts_device *ret_device) {
    struct mounts_device device = {0};
    size_t longest = 0;
    struct mounts_entry entry;
    while (mounts_next(table, &entry)) {
        bool is_profiled = mounts_is_profiled(&entry);
        size_t length = strlen(entry.path);
        if (!holds(entry.path, path) || length < longest || (through && is_profiled))
            continue;
        longest = length; /* a later mount at the same place hides the earlier one */
        free(device.name);
        device.name = name_device(&entry);
        if (!device.name)
            return -ENOMEM;
        replace_controls(device.name);
        device.is_local = strncmp(entry.source, "/dev/", 5) == 0;
        device.is_profiled = is_profiled;
    }
    if (!device.name)
        return -ENOENT;
    *ret_device = device;
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
