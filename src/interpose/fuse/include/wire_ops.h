/* The operations of the layer "daemon": the kernel's requests to a FUSE daemon, as they are on the wire. Requests that
 * ask nothing of the file system (FUSE_INIT, FUSE_INTERRUPT, FUSE_FORGET...) have no row. Names are those of osproffs.
 *
 *     ROW(opcode of linux/fuse.h, NAME, bytes of the body before its names; NO_NAMES, what the answer holds) */
#ifndef WIRE_OPS_H
#define WIRE_OPS_H

#define WIRE_NO_NAMES UINT16_MAX

enum wire_answer {
    WIRE_ERROR, /* only whether it failed */
    WIRE_DATA,  /* its body is the requested data */
    WIRE_SIZE,  /* the number of bytes written */
    WIRE_ENTRY, /* the node that the name leads to */
};

/* clang-format off */
#define WIRE_OPS(ROW)                                                                                                  \
    ROW(1, LOOKUP, 0, WIRE_ENTRY)                                                                                      \
    ROW(3, GETATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(4, SETATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(5, READLINK, WIRE_NO_NAMES, WIRE_ERROR)                                                                        \
    ROW(6, SYMLINK, 0, WIRE_ENTRY)                                                                                     \
    ROW(8, MKNOD, 16, WIRE_ENTRY)                                                                                      \
    ROW(9, MKDIR, 8, WIRE_ENTRY)                                                                                       \
    ROW(10, UNLINK, 0, WIRE_ERROR)                                                                                     \
    ROW(11, RMDIR, 0, WIRE_ERROR)                                                                                      \
    ROW(12, RENAME, 8, WIRE_ERROR)                                                                                     \
    ROW(13, LINK, 8, WIRE_ENTRY)                                                                                       \
    ROW(14, OPEN, WIRE_NO_NAMES, WIRE_ERROR)                                                                           \
    ROW(15, READ, WIRE_NO_NAMES, WIRE_DATA)                                                                            \
    ROW(16, WRITE, WIRE_NO_NAMES, WIRE_SIZE)                                                                           \
    ROW(17, STATFS, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(18, RELEASE, WIRE_NO_NAMES, WIRE_ERROR)                                                                        \
    ROW(20, FSYNC, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(21, SETXATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                       \
    ROW(22, GETXATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                       \
    ROW(23, LISTXATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                      \
    ROW(24, REMOVEXATTR, WIRE_NO_NAMES, WIRE_ERROR)                                                                    \
    ROW(25, FLUSH, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(27, OPENDIR, WIRE_NO_NAMES, WIRE_ERROR)                                                                        \
    ROW(28, READDIR, WIRE_NO_NAMES, WIRE_ERROR)                                                                        \
    ROW(29, RELEASEDIR, WIRE_NO_NAMES, WIRE_ERROR)                                                                     \
    ROW(30, FSYNCDIR, WIRE_NO_NAMES, WIRE_ERROR)                                                                       \
    ROW(31, GETLK, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(32, SETLK, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(33, SETLKW, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(34, ACCESS, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(35, CREATE, 16, WIRE_ENTRY)                                                                                    \
    ROW(37, BMAP, WIRE_NO_NAMES, WIRE_ERROR)                                                                           \
    ROW(39, IOCTL, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(40, POLL, WIRE_NO_NAMES, WIRE_ERROR)                                                                           \
    ROW(43, FALLOCATE, WIRE_NO_NAMES, WIRE_ERROR)                                                                      \
    ROW(44, READDIRPLUS, WIRE_NO_NAMES, WIRE_ERROR)                                                                    \
    ROW(45, RENAME2, 16, WIRE_ERROR)                                                                                   \
    ROW(46, LSEEK, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(47, COPY_FILE_RANGE, WIRE_NO_NAMES, WIRE_SIZE)                                                                 \
    ROW(50, SYNCFS, WIRE_NO_NAMES, WIRE_ERROR)                                                                         \
    ROW(51, TMPFILE, 16, WIRE_ENTRY)                                                                                   \
    ROW(52, STATX, WIRE_NO_NAMES, WIRE_ERROR)                                                                          \
    ROW(53, COPY_FILE_RANGE_64, WIRE_NO_NAMES, WIRE_ERROR)
/* clang-format on */

enum wire_op {
#define NUMBER(OPCODE, NAME, NAMES, ANSWER) WIRE_##NAME,
    WIRE_OPS(NUMBER)
#undef NUMBER
        WIRE_OP_COUNT,
};

/* Their names in profiles: static const char *const names[] = {WIRE_OPS(WIRE_OP_NAME)}; */
#define WIRE_OP_NAME(OPCODE, NAME, NAMES, ANSWER) [WIRE_##NAME] = #NAME,

#endif
