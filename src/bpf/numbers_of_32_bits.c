/* Which calls of 32-bit programs on x86 are which calls of 64 bits: those with the same arguments, except the size of
 * pointers. Left out are forms from before large files, such as the old stat(2), whose answers have no such device. */
#include "numbers_of_32_bits.h"

#include <sys/syscall.h>

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
