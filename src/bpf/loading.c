/* Calls libbpf, and turns its errors into clauses for users. libbpf warns through one function of the whole process:
 * load from one thread at a time. */
#include "loading.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/* ---- What libbpf has to say --------------------------------------------------------------------- */

/* It warns by a function of the whole process: the last line tells most. */
static char last_warning[COLLECTOR_WHY_SIZE];

__attribute__((format(printf, 2, 0))) static int keep_warning(enum libbpf_print_level level, const char *format,
                                                              va_list arguments) {
    if (level == LIBBPF_WARN) {
        vsnprintf(last_warning, sizeof(last_warning), format, arguments);
        last_warning[strcspn(last_warning, "\n")] = '\0';
    }
    return 0;
}

static void tell_capabilities(char ret_why[COLLECTOR_WHY_SIZE]) {
    snprintf(ret_why, COLLECTOR_WHY_SIZE, "this takes root, or the capabilities CAP_BPF and CAP_PERFMON");
}

static bool has_capability(const struct __user_cap_data_struct *data, unsigned capability) {
    return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

/* In a user namespace of its own a process has them all, and learns later that they do not count. */
static bool has_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, data) < 0)
        return true;
    return has_capability(data, CAP_SYS_ADMIN) || (has_capability(data, CAP_BPF) && has_capability(data, CAP_PERFMON));
}

static void tell_why(const struct loading_needs *needs, int error, char ret_why[COLLECTOR_WHY_SIZE]) {
    if (error == -ESRCH)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "this kernel has no tracepoint %s; there is one %s", needs->tracepoint,
                 needs->since);
    else if (error == -EPERM || (error == -EACCES && !has_capabilities()))
        tell_capabilities(ret_why);
    else if (error == -EMFILE || error == -ENFILE || error == -ENOMEM)
        loading_fail(error, ret_why);
    else if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 0)
        snprintf(ret_why, COLLECTOR_WHY_SIZE,
                 "this kernel is too old: it lacks what Linux has since 5.11 (BPF task storage)");
    else if (last_warning[0])
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", last_warning);
    else
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "the kernel refuses a program: %s", strerror(-error));
}

/* ---- What is needed first ----------------------------------------------------------------------- */

struct btf *loading_types(void) {
    const libbpf_print_fn_t before = libbpf_set_print(keep_warning);
    struct btf *kernel = btf__load_vmlinux_btf();
    libbpf_set_print(before);
    return kernel;
}

int collector_check_types(char ret_why[COLLECTOR_WHY_SIZE]) {
    struct btf *kernel = loading_types();
    CLEANUP_FD int fd = open(KERNEL_TYPES, O_RDONLY | O_CLOEXEC);
    if (kernel) {
        btf__free(kernel);
        return 0;
    }
    if (fd >= 0)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s (BTF) is empty or damaged; is something else mounted there?",
                 KERNEL_TYPES);
    else if (errno == ENOENT)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s is missing; a kernel with CONFIG_DEBUG_INFO_BTF has it",
                 KERNEL_TYPES);
    else
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s (BTF) cannot be read: %s", KERNEL_TYPES, strerror(errno));
    return -ENOTSUP;
}

int collector_check(char ret_why[COLLECTOR_WHY_SIZE]) {
    if (!has_capabilities())
        tell_capabilities(ret_why);
    else if (collector_is_in_user_namespace())
        snprintf(ret_why, COLLECTOR_WHY_SIZE,
                 "capabilities have no effect in a user namespace; start osprof outside of it");
    else if (collector_is_locked_down())
        snprintf(ret_why, COLLECTOR_WHY_SIZE,
                 "the kernel is locked down (confidentiality); lockdown=integrity at boot lets it");
    else
        return collector_check_types(ret_why);
    return -EPERM;
}

int loading_fail(int error, char ret_why[COLLECTOR_WHY_SIZE]) {
    snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
    return error;
}

/* ---- Loading ------------------------------------------------------------------------------------ */

/* Calls one of the two functions of libbpf. */
static int try(int function(struct bpf_object_skeleton *), struct bpf_object_skeleton *skeleton,
               const struct loading_needs *needs, char ret_why[COLLECTOR_WHY_SIZE]) {
    last_warning[0] = '\0';
    const libbpf_print_fn_t before = libbpf_set_print(keep_warning);
    const int error = function(skeleton);
    libbpf_set_print(before);
    if (error)
        tell_why(needs, error, ret_why);
    return error;
}

int loading_load(struct bpf_object_skeleton *skeleton, const struct loading_needs *needs,
                 char ret_why[COLLECTOR_WHY_SIZE]) {
    return try(bpf_object__load_skeleton, skeleton, needs, ret_why);
}

int loading_attach(struct bpf_object_skeleton *skeleton, const struct loading_needs *needs,
                   char ret_why[COLLECTOR_WHY_SIZE]) {
    return try(bpf_object__attach_skeleton, skeleton, needs, ret_why);
}

/* ---- Losses ------------------------------------------------------------------------------------- */

uint64_t loading_count_skipped(const struct bpf_object_skeleton *skeleton) {
    struct bpf_program *program;
    uint64_t count = 0;
    bpf_object__for_each_program(program, *skeleton->obj) {
        struct bpf_prog_info info = {0};
        unsigned size_bytes = sizeof(info);
        if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size_bytes) == 0)
            count += info.recursion_misses;
    }
    return count;
}
