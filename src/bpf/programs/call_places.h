/* Finds the file of a call. If the call has a descriptor, its file is known at once. If the call has a name, the file
 * is known when the call has ended: from the returned descriptor, from returned attributes, which have the device, or
 * by looking the name up (name_lookup.h). */
#ifndef CALL_PLACES_H
#define CALL_PLACES_H

#include "aio_contexts.h"
#include "call_cells.h"
#include "collected.h"
#include "name_lookup.h"
#include "watched_calls.h"

#define CURRENT_DIRECTORY (-100)
#define EMPTY_PATH 0x1000
#define CREATE 0100    /* O_CREAT */
#define EXCLUSIVE 0200 /* O_EXCL */
#define RESOLVE_IN_ROOT 0x10
#define EAGAIN 11
#define EXDEV 18
#define ELOOP 40

/* What is known of a call. */
struct found {
    enum known known;
    const struct dentry *dentry; /* of what it is on; NULL: unknown */
    const struct file *file;     /* if it is on a descriptor, the first argument */
};

static __always_inline struct found found_on(const struct dentry *dentry) {
    return (struct found){.known = dentry ? KNOWN_YES : KNOWN_NO, .dentry = dentry};
}

static __always_inline struct found found_by(const struct file *file) {
    if (!file || !is_watched_inode(BPF_CORE_READ(file, f_inode)))
        return (struct found){.known = KNOWN_NO};
    return (struct found){.known = KNOWN_YES, .dentry = BPF_CORE_READ(file, f_path.dentry), .file = file};
}

/* Of io_submit(2). */
static __always_inline struct found find_submitted(struct task_struct *task, const struct pt_regs *registers) {
    int fd = -1;
    if (!read_first_descriptor(registers, &fd))
        return (struct found){.known = NOT_READ};
    const struct dentry *dentry = dentry_of(task, fd);
    note_context(task, argument_of(registers, 0), dentry != NULL);
    return found_on(dentry);
}

/* A callback of bpf_find_vma(). */
static long note_mapped_file(struct task_struct *task, struct vm_area_struct *mapping, const struct file **ret_file) {
    *ret_file = BPF_CORE_READ(mapping, vm_file);
    return 0;
}

/* Not told if another thread changes mappings at that moment, if nothing is mapped there, and before Linux 5.17. */
static __always_inline struct found find_mapped(struct task_struct *task, __u64 address) {
    const struct file *file = NULL;
    if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) ||
        bpf_find_vma(task, address, note_mapped_file, &file, 0) < 0)
        return (struct found){.known = NOT_TOLD};
    return found_on(dentry_of_file(file));
}

static __always_inline struct found find_before(struct task_struct *task, const struct pt_regs *registers,
                                                const volatile struct collected_call *call) {
    const struct dentry *dentry;
    switch (call->place) {
    case COLLECTED_FD:
        return found_by(file_of(task, (int)argument_of(registers, 0)));
    case COLLECTED_FDS:
        dentry = dentry_of_argument(task, registers, 0);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 2));
    case COLLECTED_SENT:
        dentry = dentry_of_argument(task, registers, 1);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 0));
    case COLLECTED_MAPPED:
        return found_on(dentry_of_argument(task, registers, 4));
    case COLLECTED_ADDRESS:
        return find_mapped(task, argument_of(registers, 0));
    case COLLECTED_ANYWHERE:
        return (struct found){.known = KNOWN_YES};
    case COLLECTED_SUBMITTED:
        return find_submitted(task, registers);
    case COLLECTED_AWAITED:
        return (struct found){.known = is_watched_context(task, argument_of(registers, 0)) ? KNOWN_YES : KNOWN_NO};
    default:
        return (struct found){.known = NOT_READ};
    }
}

/* ---- Names -------------------------------------------------------------------------------------- */

/* The device in the attributes; 0: there is none. */
static __always_inline __u32 device_in(const char *attributes, __u32 place) {
    __u64 stat_device = 0;
    __u32 statx_device[2] = {0}; /* major, minor */
    if (place == COLLECTED_STAT && bpf_probe_read_user(&stat_device, sizeof(stat_device), attributes) == 0)
        return (__u32)(stat_device >> 8 & 0xfff) << 20 | (__u32)(stat_device & 0xff) |
               (__u32)(stat_device >> 12 & 0xfff00);
    if (place == COLLECTED_STATX && bpf_probe_read_user(statx_device, sizeof(statx_device), attributes + 136) == 0)
        return statx_device[0] << 20 | statx_device[1];
    return 0;
}

static __always_inline bool is_opening(const volatile struct collected_call *call) {
    return call->place == COLLECTED_OPENED || call->place == COLLECTED_RESOLVED || call->place == COLLECTED_HANDLE;
}

/* A directory by its descriptor, or the current one. */
static __always_inline struct path directory_of(struct task_struct *task, int fd) {
    const struct file *file = fd == CURRENT_DIRECTORY ? NULL : file_of(task, fd);
    if (fd == CURRENT_DIRECTORY)
        return BPF_CORE_READ(task, fs, pwd);
    return file ? BPF_CORE_READ(file, f_path) : (struct path){.dentry = NULL};
}

static __always_inline struct found found_in(const struct dentry *dentry) {
    return found_on(is_watched_inode(BPF_CORE_READ(dentry, d_inode)) ? dentry : NULL);
}

/* What is known by what the call has returned; else NOT_READ. */
static __always_inline struct found find_answered(struct task_struct *task, const struct pt_regs *registers,
                                                  const volatile struct collected_call *call, long result) {
    if (is_opening(call) && result >= 0)
        return found_on(dentry_of(task, result));
    if (call->place == COLLECTED_HANDLE)
        return found_in(directory_of(task, (int)argument_of(registers, 0)).dentry);
    if (call->place == COLLECTED_CHANGED && result == 0)
        return found_in(directory_of(task, CURRENT_DIRECTORY).dentry);
    const __u32 found = result == 0 ? device_in((const char *)argument_of(registers, call->answer), call->place) : 0;
    return (struct found){.known = found > 0 ? known_by_device(found, NOT_READ) : NOT_READ};
}

/* Of openat2(2), the third argument. */
struct open_how {
    __u64 flags;
    __u64 mode;
    __u64 resolve;
};

/* With one of these errors its flags may have ended the search for the name. */
static __always_inline bool is_ended_by_flags(long result) {
    return result == -ELOOP || result == -EXDEV || result == -EAGAIN;
}

/* The flags by which a name was looked up. Returns false if it was not looked up as others are */
static __always_inline bool read_flags(const struct pt_regs *registers, const volatile struct collected_call *call,
                                       long result, __u64 *ret_flags) {
    struct open_how how;
    *ret_flags = call->flags > 0 ? argument_of(registers, call->flags - 1U) : 0;
    if (call->place != COLLECTED_RESOLVED)
        return true;
    if (bpf_probe_read_user(&how, sizeof(how), (const void *)argument_of(registers, 2)) < 0)
        return false;
    *ret_flags = how.flags;
    return how.resolve == 0 || !(how.resolve & RESOLVE_IN_ROOT || is_ended_by_flags(result));
}

static __always_inline bool is_followed(const volatile struct collected_call *call, __u64 flags) {
    if (is_opening(call) && (flags & (CREATE | EXCLUSIVE)) == (CREATE | EXCLUSIVE))
        return false;
    return call->flag_op == 0 && flags & call->flag ? !call->follows : call->follows;
}

/* Where the name begins, if it does not begin with a slash. Returns false if there is no such directory */
static __always_inline bool begin_in_directory(struct task_struct *task, struct lookup *lookup, int fd) {
    const struct path directory = directory_of(task, fd);
    lookup->at = directory.dentry;
    lookup->mount = mount_of(directory.mnt);
    return directory.dentry != NULL;
}

/* Whether the call has returned bytes where its name was. */
static __always_inline bool is_overwritten(const struct pt_regs *registers, const volatile struct collected_call *call,
                                           long result) {
    return result > 0 && argument_of(registers, call->name) - argument_of(registers, call->name + 1U) < (__u64)result;
}

/* Where the name of a call leads that has ended. */
static __always_inline struct found find_name(struct task_struct *task, const struct pt_regs *registers,
                                              const volatile struct collected_call *call, long result) {
    const __u32 place = LOOKUP_OF_CALL;
    const struct found not_told = {.known = NOT_TOLD};
    const char *address = (const char *)argument_of(registers, call->name);
    __u64 flags;
    struct lookup *lookup = bpf_map_lookup_elem(&lookups, &place);
    if (!lookup || is_overwritten(registers, call, result) || !read_flags(registers, call, result, &flags))
        return not_told;
    lookup->text[0] = '\0';
    const long length = address ? bpf_probe_read_user_str(lookup->text, NAME_BYTES, address) : 1;
    const bool is_itself =
        length == 1 && ((flags & EMPTY_PATH && !is_opening(call)) || (!address && result == 0)); /* not O_DSYNC */
    const int directory = call->directory > 0 ? (int)argument_of(registers, call->directory - 1U) : CURRENT_DIRECTORY;
    if (length < 1 || length >= NAME_BYTES || (length == 1 && !is_itself))
        return not_told;
    if (lookup->text[0] != '/' && !begin_in_directory(task, lookup, directory))
        return not_told;
    lookup->is_entry = call->place == COLLECTED_ENTRY;
    lookup->follows = is_followed(call, flags);
    const struct dentry *dentry = is_itself ? lookup->at : look_up(task, lookup);
    if (!dentry)
        return not_told;
    return found_in(dentry);
}

/* What is known of a call by a name that has ended. Groups need the file, which attributes do not have. */
static __always_inline struct found find_ended(struct task_struct *task, const struct pt_regs *registers,
                                               const volatile struct collected_call *call, long result) {
    struct found found = find_answered(task, registers, call, result);
    if (found.known == KNOWN_NO || found.dentry || (found.known == KNOWN_YES && !has_groups))
        return found;
    const struct found named = find_name(task, registers, call, result);
    if (found.known == NOT_READ)
        return named;
    found.dentry = named.dentry;
    return found;
}

#endif
