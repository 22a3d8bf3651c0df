/* What a call is on. A call on a descriptor is known by the descriptor. A call by a name is known by what it returns: a
 * descriptor, or the attributes, which have the device; or if the name is one component in a directory that is known,
 * and is not followed. Else it is not told: a symbolic link within a name cannot be seen here, and nothing is guessed. */
#ifndef PLACES_H
#define PLACES_H

#include "call_cells.h"
#include "collected.h"
#include "watched.h"

#define EMPTY_PATH 0x1000
#define NAME_BYTES 256

/* What is known of a call. */
struct found {
    enum known known;
    const struct dentry *dentry; /* of what it is on; NULL: unknown */
};

static __always_inline struct found found_on(const struct dentry *dentry) {
    return (struct found){.known = dentry ? KNOWN_YES : KNOWN_NO, .dentry = dentry};
}

/* What is known of a name before the call. */
static __always_inline struct found find_name(struct task_struct *task, const struct pt_regs *registers,
                                              const volatile struct collected_call *call) {
    char name[NAME_BYTES];
    name[0] = '\0'; /* Linux 5.15 refuses to read it before it is written */
    const struct found not_told = {.known = NOT_TOLD};
    const char *address = (const char *)argument_of(registers, call->name);
    const int directory = call->directory > 0 ? (int)argument_of(registers, call->directory - 1U) : CURRENT_DIRECTORY;
    const __u64 flags = call->flags > 0 ? argument_of(registers, call->flags - 1U) : 0;
    const long length = address ? bpf_probe_read_user_str(name, sizeof(name), address) : 1;
    const bool is_itself = !address || (length == 1 && flags & EMPTY_PATH) || (length == 2 && name[0] == '.');
    const bool is_followed = call->flag_op == 0 && flags & call->flag ? !call->follows : call->follows;
    if (length < 0)
        return (struct found){.known = NOT_READ};
    if (!is_itself) {
        if (length <= 1 || length >= NAME_BYTES || is_followed)
            return not_told;
        if (length == 3 && name[0] == '.' && name[1] == '.')
            return not_told;
        for (int i = 0; i < NAME_BYTES && i < length; i++)
            if (name[i] == '/')
                return not_told;
    }
    return found_on(directory_of(task, directory));
}

static __always_inline struct found find_before(struct task_struct *task, const struct pt_regs *registers,
                                                const volatile struct collected_call *call) {
    const struct dentry *dentry;
    switch (call->place) {
    case COLLECTED_FD:
        return found_on(dentry_of_argument(task, registers, 0));
    case COLLECTED_FDS:
        dentry = dentry_of_argument(task, registers, 0);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 2));
    case COLLECTED_SENT:
        dentry = dentry_of_argument(task, registers, 1);
        return found_on(dentry ? dentry : dentry_of_argument(task, registers, 0));
    case COLLECTED_MAPPED:
        return found_on(dentry_of_argument(task, registers, 4));
    case COLLECTED_ADDRESS:
        return (struct found){.known = NOT_TOLD};
    default:
        return find_name(task, registers, call);
    }
}

/* What a call has returned. */
struct answer {
    long result;
    __u64 address; /* of attributes */
};

/* The device in the attributes; 0: there is none. */
static __always_inline __u32 device_in(const struct answer *answer, __u32 place) {
    __u64 stat_device = 0;
    __u32 statx_device[2] = {0}; /* major, minor */
    if (place == COLLECTED_STAT &&
        bpf_probe_read_user(&stat_device, sizeof(stat_device), (const void *)answer->address) == 0)
        return (__u32)(stat_device >> 8 & 0xfff) << 20 | (__u32)(stat_device & 0xff) |
               (__u32)(stat_device >> 12 & 0xfff00);
    if (place == COLLECTED_STATX &&
        bpf_probe_read_user(statx_device, sizeof(statx_device), (const char *)answer->address + 136) == 0)
        return statx_device[0] << 20 | statx_device[1];
    return 0;
}

/* What is known when the call has ended; before: what was known before it. */
static __always_inline struct found find_after(struct task_struct *task, __u32 place, const struct answer *answer,
                                               enum known before) {
    if (place == COLLECTED_OPENED && answer->result >= 0)
        return found_on(dentry_of(task, answer->result));
    const __u32 found = answer->result == 0 ? device_in(answer, place) : 0;
    if (found == 0)
        return (struct found){.known = before};
    return (struct found){.known = known_by_device(found, before)};
}

#endif
