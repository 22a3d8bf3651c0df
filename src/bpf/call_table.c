/* Which system calls and requests of io_uring are counted, a row each; and which calls of 32-bit programs they are. The
 * table that programs get is made of these rows once. */
#include "call_table.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "posix_ops.h"

/* Of later headers than this may be built with. From 424 on calls have the same numbers on all machines. */
enum {
    SYS_LATER_cachestat = 451,
    SYS_LATER_fchmodat2 = 452,
    SYS_LATER_setxattrat = 463,
    SYS_LATER_getxattrat = 464,
    SYS_LATER_listxattrat = 465,
    SYS_LATER_removexattrat = 466,
    SYS_LATER_file_getattr = 468,
    SYS_LATER_file_setattr = 469,
};

/* ---- The rows ----------------------------------------------------------------------------------- */

/* Operations that the layer "user" does not have, after its own. */
/* clang-format off */
#define OWN_OPS(ROW)                                                                                                   \
    ROW(IO_SUBMIT) ROW(IO_GETEVENTS) ROW(PAGE_FAULT)                                                                   \
    ROW(URING_READ) ROW(URING_WRITE) ROW(URING_FSYNC) ROW(URING_FALLOCATE) ROW(URING_OPEN) ROW(URING_CLOSE)            \
    ROW(URING_STATX) ROW(URING_RENAME) ROW(URING_UNLINK) ROW(URING_MKDIR) ROW(URING_OTHER)
/* clang-format on */

#define OWN_NUMBER(OP) POSIX_##OP,
enum { LAST_POSIX = POSIX_OP_COUNT - 1, OWN_OPS(OWN_NUMBER) UNTIMED, ALL_OPS };

#define ROW_OF(CALL, OP, ...) [SYS_##CALL] = {.op = POSIX_##OP + 1, __VA_ARGS__},
#define FD_ROW(CALL, OP) ROW_OF(CALL, OP, .place = COLLECTED_FD)
#define MOVES_ROW(CALL, OP, ASKED) ROW_OF(CALL, OP, .place = COLLECTED_FD, .bytes = COLLECTED_##ASKED)
#define READS_ROW(CALL, OP, ASKED, POSITION)                                                                           \
    ROW_OF(CALL, OP, .place = COLLECTED_FD, .bytes = COLLECTED_##ASKED, .position = COLLECTED_##POSITION)
/* Of names: which arguments are the directory, or NONE, and the name; FOLLOWS: whether it is followed; the flags, or
 * NONE, of which FLAG changes that. */
#define NONE 0
#define ARGUMENT(NUMBER) ((NUMBER) + 1)
#define NAME_ROW(CALL, OP, PLACE, DIRECTORY, NAME, FOLLOWS, FLAGS, FLAG)                                               \
    ROW_OF(CALL, OP, .place = COLLECTED_##PLACE, .directory = (DIRECTORY), .name = (NAME), .follows = (FOLLOWS),       \
           .flags = (FLAGS), .flag = (FLAG))
#define ANSWER_ROW(CALL, OP, PLACE, DIRECTORY, NAME, ANSWER, FOLLOWS, FLAGS, FLAG)                                     \
    ROW_OF(CALL, OP, .place = COLLECTED_##PLACE, .directory = (DIRECTORY), .name = (NAME), .answer = (ANSWER),         \
           .follows = (FOLLOWS), .flags = (FLAGS), .flag = (FLAG))

#define ENTRY_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, ENTRY, DIRECTORY, WHICH, false, NONE, 0)
#define LINK_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, NAME, DIRECTORY, WHICH, false, NONE, 0)
#define FOLLOWED_ROW(CALL, OP, DIRECTORY, WHICH) NAME_ROW(CALL, OP, NAME, DIRECTORY, WHICH, true, NONE, 0)

/* clang-format off */
static const struct collected_call calls[COLLECTED_SYSCALLS] = {
    FD_ROW(close, CLOSE)
    READS_ROW(read, READ, THIRD, AT_FILE)
    MOVES_ROW(write, WRITE, THIRD)
    READS_ROW(pread64, PREAD, THIRD, AT_FOURTH)
    MOVES_ROW(pwrite64, PWRITE, THIRD)
    READS_ROW(readv, READV, VECTOR, AT_FILE)
    MOVES_ROW(writev, WRITEV, VECTOR)
    READS_ROW(preadv, PREADV, VECTOR, AT_FOURTH)
    MOVES_ROW(pwritev, PWRITEV, VECTOR)
    READS_ROW(preadv2, PREADV, VECTOR, AT_FOURTH)
    MOVES_ROW(pwritev2, PWRITEV, VECTOR)
    FD_ROW(lseek, LSEEK)
    ROW_OF(copy_file_range, COPY_FILE_RANGE, .place = COLLECTED_FDS, .bytes = COLLECTED_FIFTH)
    ROW_OF(splice, SPLICE, .place = COLLECTED_FDS, .bytes = COLLECTED_FIFTH)
    ROW_OF(sendfile, SENDFILE, .place = COLLECTED_SENT, .bytes = COLLECTED_FOURTH)
    ROW_OF(mmap, MMAP, .place = COLLECTED_MAPPED)
    ROW_OF(msync, MSYNC, .place = COLLECTED_ADDRESS)
    FD_ROW(fstat, FSTAT)
    FD_ROW(fstatfs, STATFS)
    FD_ROW(fsync, FSYNC)
    FD_ROW(fdatasync, FDATASYNC)
    FD_ROW(sync_file_range, SYNC_FILE_RANGE)
    FD_ROW(syncfs, SYNCFS)
    ROW_OF(sync, SYNCFS, .place = COLLECTED_ANYWHERE)
    FD_ROW(ftruncate, FTRUNCATE)
    FD_ROW(fallocate, FALLOCATE)
    FD_ROW(fadvise64, FADVISE)
    FD_ROW(readahead, FADVISE)
    FD_ROW(LATER_cachestat, FADVISE)
    ROW_OF(madvise, FADVISE, .place = COLLECTED_ADDRESS, .only = COLLECTED_ADVICE)
    FD_ROW(fchmod, CHMOD)
    FD_ROW(fchown, CHOWN)
    FD_ROW(fgetxattr, GETXATTR)
    FD_ROW(fsetxattr, SETXATTR)
    FD_ROW(flistxattr, LISTXATTR)
    FD_ROW(fremovexattr, REMOVEXATTR)
    FD_ROW(flock, FLOCK)
    ROW_OF(fcntl, LOCK, .place = COLLECTED_FD, .only = COLLECTED_LOCKS)
    FD_ROW(ioctl, IOCTL)
    FD_ROW(fchdir, CHDIR)
    FD_ROW(getdents64, GETDENTS)
    ROW_OF(io_submit, IO_SUBMIT, .place = COLLECTED_SUBMITTED)
    ROW_OF(io_getevents, IO_GETEVENTS, .place = COLLECTED_AWAITED)
    ROW_OF(io_pgetevents, IO_GETEVENTS, .place = COLLECTED_AWAITED)
    NAME_ROW(openat, OPEN, OPENED, ARGUMENT(0), 1, true, ARGUMENT(2), O_NOFOLLOW)
    NAME_ROW(openat2, OPEN, RESOLVED, ARGUMENT(0), 1, true, NONE, O_NOFOLLOW)
    ROW_OF(open_by_handle_at, OPEN, .place = COLLECTED_HANDLE)
    ROW_OF(newfstatat, STAT, .place = COLLECTED_STAT, .directory = ARGUMENT(0), .name = 1, .answer = 2, .follows = true,
           .flags = ARGUMENT(3), .flag = AT_SYMLINK_NOFOLLOW, .empty_op = POSIX_FSTAT + 1)
    ANSWER_ROW(statx, STATX, STATX, ARGUMENT(0), 1, 4, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(name_to_handle_at, STAT, NAME, ARGUMENT(0), 1, false, ARGUMENT(4), AT_SYMLINK_FOLLOW)
    NAME_ROW(LATER_file_getattr, STAT, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    FOLLOWED_ROW(faccessat, ACCESS, ARGUMENT(0), 1)
    NAME_ROW(faccessat2, ACCESS, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(inotify_add_watch, ACCESS, NAME, NONE, 1, true, ARGUMENT(2), IN_DONT_FOLLOW)
    NAME_ROW(chdir, CHDIR, CHANGED, NONE, 0, true, NONE, 0)
    FOLLOWED_ROW(statfs, STATFS, NONE, 0)
    FOLLOWED_ROW(truncate, TRUNCATE, NONE, 0)
    ENTRY_ROW(renameat, RENAME, ARGUMENT(0), 1)
    ENTRY_ROW(renameat2, RENAME, ARGUMENT(0), 1)
    ROW_OF(unlinkat, UNLINK, .place = COLLECTED_ENTRY, .directory = ARGUMENT(0), .name = 1,
           .flags = ARGUMENT(2), .flag = AT_REMOVEDIR, .flag_op = POSIX_RMDIR + 1)
    ENTRY_ROW(mkdirat, MKDIR, ARGUMENT(0), 1)
    ENTRY_ROW(linkat, LINK, ARGUMENT(2), 3)
    ENTRY_ROW(symlinkat, SYMLINK, ARGUMENT(1), 2)
    LINK_ROW(readlinkat, READLINK, ARGUMENT(0), 1)
    ENTRY_ROW(mknodat, MKNOD, ARGUMENT(0), 1)
    FOLLOWED_ROW(fchmodat, CHMOD, ARGUMENT(0), 1)
    NAME_ROW(fchownat, CHOWN, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(utimensat, UTIMENS, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    FOLLOWED_ROW(getxattr, GETXATTR, NONE, 0)
    FOLLOWED_ROW(setxattr, SETXATTR, NONE, 0)
    FOLLOWED_ROW(listxattr, LISTXATTR, NONE, 0)
    FOLLOWED_ROW(removexattr, REMOVEXATTR, NONE, 0)
    LINK_ROW(lgetxattr, GETXATTR, NONE, 0)
    LINK_ROW(lsetxattr, SETXATTR, NONE, 0)
    LINK_ROW(llistxattr, LISTXATTR, NONE, 0)
    LINK_ROW(lremovexattr, REMOVEXATTR, NONE, 0)
    NAME_ROW(LATER_fchmodat2, CHMOD, NAME, ARGUMENT(0), 1, true, ARGUMENT(3), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_file_setattr, CHMOD, NAME, ARGUMENT(0), 1, true, ARGUMENT(4), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_setxattrat, SETXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_getxattrat, GETXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_listxattrat, LISTXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
    NAME_ROW(LATER_removexattrat, REMOVEXATTR, NAME, ARGUMENT(0), 1, true, ARGUMENT(2), AT_SYMLINK_NOFOLLOW)
#ifdef SYS_open /* older forms, which some architectures do not have */
    NAME_ROW(open, OPEN, OPENED, NONE, 0, true, ARGUMENT(1), O_NOFOLLOW)
    NAME_ROW(creat, OPEN, OPENED, NONE, 0, true, NONE, 0)
    ANSWER_ROW(stat, STAT, STAT, NONE, 0, 1, true, NONE, 0)
    ANSWER_ROW(lstat, STAT, STAT, NONE, 0, 1, false, NONE, 0)
    FOLLOWED_ROW(access, ACCESS, NONE, 0)
    ENTRY_ROW(rename, RENAME, NONE, 0)
    ENTRY_ROW(unlink, UNLINK, NONE, 0)
    ENTRY_ROW(mkdir, MKDIR, NONE, 0)
    ENTRY_ROW(rmdir, RMDIR, NONE, 0)
    ENTRY_ROW(link, LINK, NONE, 1)
    ENTRY_ROW(symlink, SYMLINK, NONE, 1)
    LINK_ROW(readlink, READLINK, NONE, 0)
    ENTRY_ROW(mknod, MKNOD, NONE, 0)
    FOLLOWED_ROW(chmod, CHMOD, NONE, 0)
    FOLLOWED_ROW(chown, CHOWN, NONE, 0)
    LINK_ROW(lchown, CHOWN, NONE, 0)
    FOLLOWED_ROW(utime, UTIMENS, NONE, 0)
    FOLLOWED_ROW(utimes, UTIMENS, NONE, 0)
    FOLLOWED_ROW(futimesat, UTIMENS, ARGUMENT(0), 1)
    FD_ROW(getdents, GETDENTS)
#endif
};
/* clang-format on */

/* Of later headers than this may be built with. */
enum { IORING_OP_FTRUNCATE_NUMBER = 55, IORING_OP_READV_FIXED_NUMBER = 60, IORING_OP_WRITEV_FIXED_NUMBER = 61 };

#define REQUEST_ROW(OPCODE, OP, TARGET)                                                                                \
    [IORING_OP_##OPCODE] = {.op = POSIX_URING_##OP + 1, .target = COLLECTED_TARGET_##TARGET},
/* Of those that read or write a file; MEMBER: how their bytes are known. */
#define MOVING_ROW(OPCODE, OP, MEMBER)                                                                                 \
    [IORING_OP_##OPCODE] = {.op = POSIX_URING_##OP + 1, .target = COLLECTED_TARGET_FILE, .MEMBER = true},

/* clang-format off */
static const struct collected_request requests[COLLECTED_OPCODES_OF_RINGS] = {
    MOVING_ROW(READ, READ, has_bytes)
    MOVING_ROW(READV, READ, has_parts)
    MOVING_ROW(READ_FIXED, READ, has_bytes)
    MOVING_ROW(WRITE, WRITE, has_bytes)
    MOVING_ROW(WRITEV, WRITE, has_parts)
    MOVING_ROW(WRITE_FIXED, WRITE, has_bytes)
    REQUEST_ROW(FSYNC, FSYNC, FILE)
    REQUEST_ROW(FALLOCATE, FALLOCATE, FILE)
    REQUEST_ROW(OPENAT, OPEN, OPENED)
    REQUEST_ROW(OPENAT2, OPEN, OPENED)
    REQUEST_ROW(CLOSE, CLOSE, CLOSED)
    REQUEST_ROW(STATX, STATX, STATX)
    REQUEST_ROW(RENAMEAT, RENAME, RENAME)
    REQUEST_ROW(UNLINKAT, UNLINK, UNLINK)
    REQUEST_ROW(MKDIRAT, MKDIR, MKDIR)
    REQUEST_ROW(LINKAT, OTHER, LINK)
    REQUEST_ROW(SYMLINKAT, OTHER, LINK)
    REQUEST_ROW(SYNC_FILE_RANGE, OTHER, FILE)
    REQUEST_ROW(FADVISE, OTHER, FILE)
    REQUEST_ROW(SPLICE, OTHER, FILE)
    REQUEST_ROW(FSETXATTR, OTHER, FILE)
    REQUEST_ROW(FGETXATTR, OTHER, FILE)
    REQUEST_ROW(SETXATTR, OTHER, UNKNOWN)
    REQUEST_ROW(GETXATTR, OTHER, UNKNOWN)
    REQUEST_ROW(FTRUNCATE_NUMBER, OTHER, FILE)
    MOVING_ROW(READV_FIXED_NUMBER, READ, has_parts)
    MOVING_ROW(WRITEV_FIXED_NUMBER, WRITE, has_parts)
};
/* clang-format on */

/* ---- Calls of 32-bit programs ---------------------------------------------------------------------
 *
 * On x86 they have numbers of their own. The rows are those with the same arguments, except for the size of pointers.
 * Left out are forms from before large files, such as the old stat(2), whose answers have no such device. */

#define ROW(NUMBER, CALL) [NUMBER] = SYS_##CALL + 1,
#define LATER_ROW(CALL) ROW(SYS_LATER_##CALL, LATER_##CALL)

const unsigned short numbers_of_32_bits[COLLECTED_SYSCALLS] = {
#if defined(__x86_64__)
    /* clang-format off */
    ROW(3, read) ROW(4, write) ROW(5, open) ROW(6, close) ROW(8, creat) ROW(9, link) ROW(10, unlink) ROW(12, chdir) ROW(14, mknod)
    ROW(15, chmod) ROW(16, lchown) ROW(19, lseek) ROW(30, utime) ROW(33, access) ROW(36, sync) ROW(38, rename) ROW(39, mkdir) ROW(40, rmdir)
    ROW(54, ioctl) ROW(55, fcntl) ROW(83, symlink) ROW(85, readlink) ROW(92, truncate) ROW(93, ftruncate) ROW(94, fchmod)
    ROW(95, fchown) ROW(99, statfs) ROW(100, fstatfs) ROW(108, fstat) ROW(118, fsync) ROW(119, rt_sigreturn)
    ROW(133, fchdir) ROW(140, lseek) ROW(141, getdents) ROW(143, flock) ROW(144, msync) ROW(145, readv) ROW(146, writev)
    ROW(148, fdatasync) ROW(173, rt_sigreturn) ROW(180, pread64) ROW(181, pwrite64) ROW(182, chown) ROW(187, sendfile)
    ROW(192, mmap) ROW(193, truncate) ROW(194, ftruncate) ROW(195, stat) ROW(196, lstat) ROW(197, fstat)
    ROW(198, lchown) ROW(207, fchown) ROW(212, chown) ROW(219, madvise) ROW(220, getdents64) ROW(221, fcntl) ROW(225, readahead) ROW(226, setxattr)
    ROW(227, lsetxattr) ROW(228, fsetxattr) ROW(229, getxattr) ROW(230, lgetxattr) ROW(231, fgetxattr)
    ROW(232, listxattr) ROW(233, llistxattr) ROW(234, flistxattr) ROW(235, removexattr) ROW(236, lremovexattr)
    ROW(237, fremovexattr) ROW(239, sendfile) ROW(250, fadvise64) ROW(268, statfs) ROW(269, fstatfs) ROW(271, utimes)
    ROW(272, fadvise64) ROW(292, inotify_add_watch) ROW(295, openat) ROW(296, mkdirat) ROW(297, mknodat) ROW(298, fchownat) ROW(299, futimesat)
    ROW(300, newfstatat) ROW(301, unlinkat) ROW(302, renameat) ROW(303, linkat) ROW(304, symlinkat)
    ROW(305, readlinkat) ROW(306, fchmodat) ROW(307, faccessat) ROW(313, splice) ROW(314, sync_file_range)
    ROW(320, utimensat) ROW(324, fallocate) ROW(333, preadv) ROW(334, pwritev) ROW(341, name_to_handle_at)
    ROW(342, open_by_handle_at) ROW(344, syncfs) ROW(353, renameat2)
    ROW(377, copy_file_range) ROW(378, preadv2) ROW(379, pwritev2) ROW(383, statx) ROW(412, utimensat)
    ROW(437, openat2) ROW(439, faccessat2) LATER_ROW(cachestat) LATER_ROW(fchmodat2) LATER_ROW(setxattrat)
    LATER_ROW(getxattrat) LATER_ROW(listxattrat) LATER_ROW(removexattrat) LATER_ROW(file_getattr) LATER_ROW(file_setattr)
/* clang-format on */
#else
    [0] = 0,
#endif
};

/* ---- Operations --------------------------------------------------------------------------------- */

enum { LANE_TOLD, LANE_NOT_TOLD };

static struct call_table table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* op: one more than an operation of the table, or 0. Returns one more than its number, or 0 */
static unsigned char number_op(unsigned char op, unsigned char numbers[ALL_OPS]) {
    static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME) OWN_OPS(POSIX_OP_NAME)[UNTIMED] = COLLECTOR_UNTIMED};
    if (op == 0)
        return 0;
    assert(table.op_count < COLLECTED_CALL_OPS || numbers[op - 1] > 0);
    if (numbers[op - 1] == 0) {
        table.slots[table.op_count] = (struct collector_slot){.lane = LANE_TOLD, .op = (unsigned char)table.op_count};
        table.slots[COLLECTED_CALL_OPS + table.op_count] =
            (struct collector_slot){.lane = LANE_NOT_TOLD, .op = (unsigned char)table.op_count};
        table.ops[table.op_count++] = names[op - 1];
        numbers[op - 1] = (unsigned char)table.op_count;
    }
    return numbers[op - 1];
}

static void number_ops(void) {
    unsigned char numbers[ALL_OPS] = {0};
    for (unsigned number = 0; number < COLLECTED_SYSCALLS; number++) {
        table.calls[number] = calls[number];
        table.calls[number].op = number_op(calls[number].op, numbers);
        if (calls[number].bytes != COLLECTED_NO_BYTES)
            table.ops_move[table.calls[number].op - 1] = true;
        table.calls[number].empty_op = number_op(calls[number].empty_op, numbers);
        table.calls[number].flag_op = number_op(calls[number].flag_op, numbers);
    }
    for (unsigned opcode = 0; opcode < COLLECTED_OPCODES_OF_RINGS; opcode++) {
        table.requests[opcode] = requests[opcode];
        table.requests[opcode].op = number_op(requests[opcode].op, numbers);
        if (requests[opcode].has_bytes || requests[opcode].has_parts)
            table.ops_move[table.requests[opcode].op - 1] = true;
    }
    table.untimed_slot = number_op(UNTIMED + 1, numbers) - 1U;
    table.page_fault_slot = number_op(POSIX_PAGE_FAULT + 1, numbers) - 1U;
}

const struct call_table *call_table(void) {
    pthread_once(&once, number_ops);
    return &table;
}
