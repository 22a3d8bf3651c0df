/* Rights are given up in two steps: the user, capabilities and limits at the start, the system calls before the
 * first question. A system call that is not allowed fails with EPERM. */
#include "reader_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "proc.h"

#define OWNS_NOTHING                                                                                                   \
    4294901760U /* a user and group that no system gives away: outside of the ranges of containers, too */
#define MEMORY_BYTES (UINT64_C(1) << 30) /* of a process, without the files that it has mapped */

/* Sanitizers make calls of their own, and map much memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

/* ---- The user and capabilities ------------------------------------------------------------------ */

#define BIT(capability) (UINT64_C(1) << (capability))
#define KEPT (BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_DAC_READ_SEARCH))

bool reader_rights_are_there(void) {
    const uint64_t taken = KEPT | BIT(CAP_SETUID) | BIT(CAP_SETGID);
    uint64_t has = 0;
    return proc_status_number((uint64_t)getpid(), "CapEff", 16, &has) && (has & taken) == taken;
}

int reader_rights_give_up(void) {
    __attribute__((unused)) const struct rlimit memory = {.rlim_cur = MEMORY_BYTES, .rlim_max = MEMORY_BYTES};
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {
        {.effective = (uint32_t)KEPT, .permitted = (uint32_t)KEPT},
        {.effective = (uint32_t)(KEPT >> 32), .permitted = (uint32_t)(KEPT >> 32)},
    };
#if !defined(IS_SANITIZED)
    setrlimit(RLIMIT_DATA, &memory);
#endif
    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    if (setgroups(0, NULL) < 0 || setresgid(OWNS_NOTHING, OWNS_NOTHING, OWNS_NOTHING) < 0 ||
        prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 || setresuid(OWNS_NOTHING, OWNS_NOTHING, OWNS_NOTHING) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &header, sets) < 0)
        return negative_errno();
    return 0;
}

/* ---- System calls ------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RESULT(value) BPF_STMT(BPF_RET | BPF_K, value)
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RESULT(SECCOMP_RET_ALLOW)

#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC) /* or makes a file */

/* Of arguments the lower half is looked at, which comes first on these machines. It holds all flags and commands. */
int reader_rights_filter(void) {
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        RESULT(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        /* questions and answers */
        ALLOW(SYS_recvfrom),
        ALLOW(SYS_sendto),
        /* files */
        ALLOW(SYS_read),
        ALLOW(SYS_pread64),
        ALLOW(SYS_lseek),
        ALLOW(SYS_fstat),
        ALLOW(SYS_newfstatat),
        ALLOW(SYS_readlinkat),
        ALLOW(SYS_close),
        /* memory */
        ALLOW(SYS_brk),
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_madvise),
        /* what the C library asks for */
        ALLOW(SYS_futex),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_sysinfo),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_setitimer),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_restart_syscall),
        ALLOW(SYS_exit_group),
#if defined(IS_SANITIZED)
        ALLOW(SYS_write),
        ALLOW(SYS_getpid),
        ALLOW(SYS_gettid),
        ALLOW(SYS_sigaltstack),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1),
        RESULT(SECCOMP_RET_ERRNO | EPERM),
        RESULT(SECCOMP_RET_ALLOW),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3), /* libelf looks whether a file is open */
        LOAD(args[1]),
        ALLOW(F_GETFL),
        RESULT(SECCOMP_RET_ERRNO | EPERM),
    };
    const struct sock_fprog program = {.len = ARRAY_SIZE(filter), .filter = filter};
    setrlimit(RLIMIT_NPROC, &none);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? negative_errno() : 0;
}
