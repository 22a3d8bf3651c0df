/* Reads /proc/N/syscall, /proc/N/fd and fdinfo, and mount tables. */
#include "place.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base.h"
#include "descriptors.h"
#include "mounts.h"

/* ---- The call ---- */

/* "NUMBER 0xARGUMENT ...", "running", or "-1 ..." outside of system calls. */
bool call_parse(const char *text, struct thread_call *ret_call) {
    struct thread_call call = {.is_known = true};
    char *next = NULL;
    call.number = strtol(text, &next, 10);
    if (next == text || call.number < 0)
        return false;
    for (size_t i = 0; i < CALL_ARGUMENTS; i++) {
        const char *argument = next;
        call.arguments[i] = strtoull(argument, &next, 16);
        if (next == argument)
            return false;
    }
    *ret_call = call;
    return true;
}

void call_read(uint64_t thread, struct thread_call *ret_call) {
    char path[48];
    char text[192];
    *ret_call = (struct thread_call){.is_known = false};
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/syscall", thread);
    if (read_beginning(AT_FDCWD, path, text, sizeof(text)))
        call_parse(text, ret_call);
}

/* Returns false if the call is none of these. */
static bool first_argument(const struct thread_call *call, const long *numbers, size_t count, uint64_t *ret_fd) {
    bool is_one = false;
    for (size_t i = 0; call->is_known && i < count; i++)
        is_one = is_one || numbers[i] == call->number;
    is_one = is_one && call->arguments[0] <= INT_MAX;
    if (is_one)
        *ret_fd = call->arguments[0];
    return is_one;
}

bool call_descriptor(const struct thread_call *call, uint64_t *ret_fd) {
    /* Calls whose first argument is the file. */
    static const long numbers[] = {
        SYS_read,         SYS_write,     SYS_pread64,  SYS_pwrite64,   SYS_readv,     SYS_writev,     SYS_preadv,
        SYS_pwritev,      SYS_preadv2,   SYS_pwritev2, SYS_fsync,      SYS_fdatasync, SYS_syncfs,     SYS_ftruncate,
        SYS_fallocate,    SYS_flock,     SYS_fcntl,    SYS_getdents64, SYS_fchmod,    SYS_fchown,     SYS_fsetxattr,
        SYS_fremovexattr, SYS_fgetxattr, SYS_lseek,    SYS_readahead,  SYS_fadvise64, SYS_flistxattr, SYS_fstatfs,
        SYS_splice,       SYS_vmsplice,  SYS_tee,      SYS_sendfile,   SYS_ioctl,
    };
    return first_argument(call, numbers, ARRAY_SIZE(numbers), ret_fd);
}

bool call_directory(const struct thread_call *call, uint64_t *ret_fd) {
    static const long numbers[] = {
        SYS_openat,     SYS_openat2,   SYS_newfstatat,        SYS_statx,
        SYS_mkdirat,    SYS_mknodat,   SYS_unlinkat,          SYS_renameat2,
        SYS_linkat,     SYS_fchmodat,  SYS_fchownat,          SYS_readlinkat,
        SYS_faccessat2, SYS_utimensat, SYS_name_to_handle_at, SYS_open_by_handle_at,
    };
    return first_argument(call, numbers, ARRAY_SIZE(numbers), ret_fd);
}

/* ---- Mounts ---- */

static void copy_mount(const struct mounts_entry *entry, struct place *place) {
    place->has_mount = true;
    place->device = entry->device;
    snprintf(place->mount, sizeof(place->mount), "%s", entry->path);
    snprintf(place->type, sizeof(place->type), "%s", entry->type);
    snprintf(place->source, sizeof(place->source), "%s", entry->source);
}

bool place_find_mount(uint64_t thread, dev_t device, struct place *place) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    if (mounts_open_of((pid_t)thread, &table) < 0)
        mounts_open(&table);
    if (mounts_of_device(&table, device, &entry))
        copy_mount(&entry, place);
    return place->has_mount;
}

bool place_find_path(const char *path, struct place *ret_place) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    *ret_place = (struct place){.has_mount = false};
    mounts_open(&table);
    if (mounts_of_path(&table, path, &entry))
        copy_mount(&entry, ret_place);
    return ret_place->has_mount;
}

/* Most system calls have the descriptor of the file, or of the directory of a path, first. splice(2) to a file has that
 * of a pipe first, which is mounted nowhere. */
void place_read(uint64_t thread, const struct thread_call *call, struct place *ret_place) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    struct descriptor_info info = {.has_mount = false};
    uint64_t fd = call->arguments[0];
    *ret_place = (struct place){.has_mount = false};
    if (!call->is_known)
        return;
    ret_place->is_near = !call_descriptor(call, &fd);
    ret_place->is_directory = ret_place->is_near && call_directory(call, &fd);
    if (!descriptor_read_info(thread, fd, &info))
        return;
    if (mounts_open_of((pid_t)thread, &table) < 0)
        mounts_open(&table);
    if (!ret_place->is_near) {
        ret_place->file = info;
        descriptor_read_link(thread, fd, ret_place->path);
    }
    bool has_mount = info.has_mount && mounts_of_id(&table, info.mount, &entry);
    if (!has_mount && !ret_place->is_near && call->number == SYS_splice)
        has_mount = descriptor_read_info(thread, call->arguments[2], &info) && info.has_mount &&
                    mounts_of_id(&table, info.mount, &entry);
    if (has_mount) /* numbers of mounts are those of the whole system */
        copy_mount(&entry, ret_place);
}

/* ---- Servers ---- */

bool place_server(const struct place *place, char *ret_name, size_t size_bytes) {
    const char *name = place->source;
    size_t length = 0;
    if (strncmp(name, "//", 2) == 0 || strncmp(name, "\\\\", 2) == 0) {
        name += 2;
        length = strcspn(name, "/\\");
    } else {
        const char *end = strstr(name, ":/"); /* an address of IPv6 has colons too */
        length = end ? (size_t)(end - name) : 0;
    }
    if (length == 0 || length >= size_bytes)
        return false;
    snprintf(ret_name, size_bytes, "%.*s", (int)length, name);
    return true;
}
