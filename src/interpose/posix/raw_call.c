/* System calls that a program makes by number, with syscall(2). Calls that close a descriptor, or give the descriptor
 * another file, must be followed to know which files count: close(2), close_range(2), dup2(2) and dup3(2). A descriptor
 * that a call creates, as pidfd_getfd(2) or recvmsg(2) do, was free before. So nothing is remembered about the
 * descriptor, and its file is looked up at the first use.
 *
 * When a program prepares to forbid itself system calls, by number or with prctl(2), the process is not observed from
 * then on. Once system calls are forbidden, programs that the process executes are not observed either. */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451 /* on all machines */
#endif

#include "counting.h"
#include "directory.h"
#include "environment.h"
#include "sandbox.h"

#define FD(INDEX) ((int)values[INDEX])
#define POINTER(INDEX) ((const void *)values[INDEX])
#define COUNTS_FD fd_counts(FD(0))
#define COUNTS_FDS either_fd_counts(FD(0), FD(2))
#define COUNTS_AT name_counts(FD(0), POINTER(1))
#define COUNTS_ATS either_name_counts(FD(0), POINTER(1), FD(2), POINTER(3))
#define ENDS call_outcome(result < 0)
#define MOVES(INDEX) call_moved((uint64_t)values[INDEX], result)
#define MOVES_ALL call_moved(result < 0 ? 0 : (uint64_t)result, result)
#define MOVES_VECTOR call_moved(result < 0 ? 0 : vector_bytes(POINTER(1), FD(2)), result)

/* ROW(system call, operation, whether it counts, outcome) */
#define RAW_ROWS(ROW)                                                                                                  \
    ROW(read, READ, COUNTS_FD, MOVES(2))                                                                               \
    ROW(write, WRITE, COUNTS_FD, MOVES(2))                                                                             \
    ROW(pread64, PREAD, COUNTS_FD, MOVES(2))                                                                           \
    ROW(pwrite64, PWRITE, COUNTS_FD, MOVES(2))                                                                         \
    ROW(readv, READV, COUNTS_FD, MOVES_VECTOR)                                                                         \
    ROW(writev, WRITEV, COUNTS_FD, MOVES_VECTOR)                                                                       \
    ROW(preadv, PREADV, COUNTS_FD, MOVES_VECTOR)                                                                       \
    ROW(pwritev, PWRITEV, COUNTS_FD, MOVES_VECTOR)                                                                     \
    ROW(preadv2, PREADV, COUNTS_FD, MOVES_VECTOR)                                                                      \
    ROW(pwritev2, PWRITEV, COUNTS_FD, MOVES_VECTOR)                                                                    \
    ROW(copy_file_range, COPY_FILE_RANGE, COUNTS_FDS, MOVES_ALL)                                                       \
    ROW(getdents64, GETDENTS, COUNTS_FD, ENDS)                                                                         \
    ROW(statx, STATX, COUNTS_AT, ENDS)                                                                                 \
    ROW(fcntl, LOCK, fcntl_is_lock(values[1]) ? COUNTS_FD : 0, ENDS)                                                   \
    ROW(ioctl, IOCTL, COUNTS_FD, ENDS)                                                                                 \
    ROW(cachestat, FADVISE, COUNTS_FD, ENDS)                                                                           \
    ROW(renameat2, RENAME, COUNTS_ATS, ENDS)

#define COUNT_ROW(CALL, OP, COUNTS, OUTCOME)                                                                           \
    case SYS_##CALL: {                                                                                                 \
        const call_of of = COUNTS;                                                                                     \
        if (!of)                                                                                                       \
            break;                                                                                                     \
        CLEANUP_CALL struct call call = call_begin(POSIX_##OP, of);                                                    \
        const long result = sandbox_pass_on(real, number, values);                                                     \
        call_end(&call, OUTCOME);                                                                                      \
        return result;                                                                                                 \
    }

static long open_and_count(sandbox_call_fn *real, long number, const long values[6]) {
    if (!preload_looks())
        return sandbox_pass_on(real, number, values);
    CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_OPEN);
    const long fd = sandbox_pass_on(real, number, values);
    call_watch_end(&watch);
    descriptors_count_open(&watch, (int)fd, FD(0), POINTER(1));
    return fd;
}

static long close_and_count(sandbox_call_fn *real, long number, const long values[6]) {
    const call_of of = COUNTS_FD;
    fd_table_forget(FD(0));
    if (!of)
        return sandbox_pass_on(real, number, values);
    CLEANUP_CALL struct call call = call_begin(POSIX_CLOSE, of);
    const long result = sandbox_pass_on(real, number, values);
    call_end(&call, ENDS);
    return result;
}

/* With dup(2) the kernel chooses the number. */
static long copy_and_follow(sandbox_call_fn *real, long number, const long values[6]) {
    const bool is_wanted = number != SYS_dup && FD(0) != FD(1);
    if (is_wanted)
        fd_table_forget(FD(1));
    const long copy = sandbox_pass_on(real, number, values);
    if (copy >= 0 && copy != FD(0))
        fd_table_copied(FD(0), (int)copy);
    return copy;
}

/* A call that does not count. */
static long other_call(long number, const long values[6], long result) {
    switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
        return other_moved(POSIX_READ, result);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
        return other_moved(POSIX_WRITE, result);
    case SYS_copy_file_range:
        return other_copied(POSIX_COPY_FILE_RANGE, result);
    case SYS_fcntl:
        if (fcntl_is_copy(values[1]) && result >= 0)
            fd_table_copied(FD(0), (int)result);
        return result;
    case SYS_chdir:
    case SYS_fchdir:
    case SYS_chroot:
        if (result == 0 && preload_is_on())
            directory_changed();
        return result;
    case SYS_io_uring_setup:
        if (result >= 0)
            uring_made();
        return result;
    default:
        return result;
    }
}

/* Counts the call if it belongs to a counted function, and programs are known to make it by number: libuv closes files
 * and reads attributes so; so do many programs if the C library is older than the kernel. real: syscall(2) */
static long raw_call(sandbox_call_fn *real, long number, const long values[6]) {
    switch (number) {
        RAW_ROWS(COUNT_ROW)
    case SYS_openat:
    case SYS_openat2:
        return open_and_count(real, number, values);
    case SYS_close:
        return close_and_count(real, number, values);
    case SYS_dup:
    case SYS_dup3:
#ifdef SYS_dup2 /* some architectures do not have it */
    case SYS_dup2:
#endif
        return copy_and_follow(real, number, values);
    case SYS_close_range:
        fd_table_forget_range((unsigned)values[0], (unsigned)values[1]);
        break;
    case SYS_clone: /* the flags may say that memory is shared */
    case SYS_clone3:
        preload_share_memory();
        break;
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
        names_memory_changed();
        break;
    default:
        break;
    }
    return other_call(number, values, sandbox_pass_on(real, number, values));
}

static void leave_alone(enum sandbox_step step) {
    if (preload_looks()) {
        posix_note(POSIX_NOTE_SANDBOXED, 1);
        posix_name_self(POSIX_NOTE_SANDBOXED, getpid());
        preload_leave(PRELOAD_STILL);
        fd_table_forget_range(0, FD_TABLE_SIZE - 1);
    }
    if (step == SANDBOX_ENTERED) {
        preload_leave(PRELOAD_FILTERED);
        environment_leave(PRELOAD_VARIABLE);
    }
}

WRAP_SANDBOX(leave_alone, raw_call)
