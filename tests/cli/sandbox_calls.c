/* sandbox_calls HOW WHERE: uses a file in the current directory, after it has forbidden itself system calls.
 *
 *     HOW      open        openat(2) fails: EPERM
 *              mmap        mmap(2) fails: EPERM
 *              both
 *              kill        all fail but those that this program makes, and end it
 *              number      the same, set with prctl(2) by number
 *              inline      the same, set by a system call of its own, after prctl(2) has given up privileges
 *              privileges  forbids nothing, but gives them up
 *              nothing     forbids nothing
 *              probe       only asks whether it could
 *     WHERE    main
 *              later       after it has used the file before
 *              child       in a child of fork(2)
 *              executed    and then executes itself
 *
 * Prints the results of its calls. Uses no stdio, so that it makes few system calls. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RULES_MAX 64

static const int of_this_program[] = {
    SYS_openat,     SYS_pwrite64, SYS_pread64,         SYS_read,      SYS_write,     SYS_close,           SYS_mmap,
    SYS_munmap,     SYS_mprotect, SYS_exit_group,      SYS_brk,       SYS_execve,    SYS_newfstatat,      SYS_fstat,
    SYS_faccessat,  SYS_rseq,     SYS_set_robust_list, SYS_prlimit64, SYS_getrandom, SYS_set_tid_address,
#ifdef SYS_arch_prctl
    SYS_arch_prctl, SYS_access,
#endif
};

static void print(const char *what, long result) {
    char line[64];
    size_t at = sizeof(line);
    unsigned long number = result < 0 ? (unsigned long)errno : (unsigned long)result;
    line[--at] = '\n';
    do
        line[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    if (result < 0)
        line[--at] = '-';
    line[--at] = ' ';
    for (size_t length = strlen(what); length > 0; length--)
        line[--at] = what[length - 1];
    (void)!write(1, line + at, sizeof(line) - at);
}

static void use_file(void) {
    char bytes[8];
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    print("open", fd < 0 ? fd : 0);
    if (fd >= 0) {
        print("pwrite", pwrite(fd, "abc", 3, 0));
        print("pread", pread(fd, bytes, 3, 0));
        print("close", close(fd));
    }
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    print("mmap", memory == MAP_FAILED ? -1 : 0);
}

/* Makes a system call without libc, where this test knows how. */
static long call_inline(long number, long first, long second, long third) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = first, x1 __asm__("x1") = second,
                     x2 __asm__("x2") = third;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#else
    return syscall(number, first, second, third);
#endif
}

static long set_filter(const char *how, const struct sock_fprog *filter) {
    if (strcmp(how, "number") == 0)
        return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0);
    if (strcmp(how, "inline") == 0)
        return call_inline(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)filter);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, filter);
}

/* Of these calls, or of all but these. */
static void forbid(const char *how, const int *calls, size_t count, int are_allowed, uint32_t action) {
    struct sock_filter rules[RULES_MAX];
    size_t end = 0;
    rules[end++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++)
        rules[end++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(count - i), 0);
    rules[end++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, are_allowed ? action : SECCOMP_RET_ALLOW);
    rules[end++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, are_allowed ? SECCOMP_RET_ALLOW : action);
    const struct sock_fprog filter = {.len = (unsigned short)end, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || set_filter(how, &filter) != 0)
        _exit(9);
}

static void enter(const char *how) {
    static const int calls[] = {SYS_openat, SYS_mmap};
    const int is_open = strcmp(how, "open") == 0 || strcmp(how, "both") == 0;
    const int is_mmap = strcmp(how, "mmap") == 0 || strcmp(how, "both") == 0;
    if (is_open || is_mmap)
        forbid(how, calls + !is_open, (size_t)is_open + (size_t)is_mmap, 0, SECCOMP_RET_ERRNO | EPERM);
    if (strcmp(how, "privileges") == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        _exit(9);
    if (strcmp(how, "kill") == 0 || strcmp(how, "number") == 0 || strcmp(how, "inline") == 0)
        forbid(how, of_this_program, sizeof(of_this_program) / sizeof(of_this_program[0]), 1, SECCOMP_RET_KILL_PROCESS);
    if (strcmp(how, "probe") == 0) {
        (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
        (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
    }
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "later") == 0)
        use_file();
    pid_t child = strcmp(argv[2], "child") == 0 ? fork() : -1;
    if (child <= 0)
        enter(argv[1]);
    if (strcmp(argv[2], "executed") == 0) {
        execl("/proc/self/exe", "sandbox_calls", "nothing", "main", (char *)NULL);
        _exit(8);
    }
    if (child > 0 && waitpid(child, &status, 0) == child)
        print("status", status);
    use_file();
    _exit(0);
}
