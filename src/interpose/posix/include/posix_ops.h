/* The operations of the layer "user": calls of libc's file interface. Functions that do the same, such as fstatat() and
 * stat(), are one operation. */
#ifndef POSIX_OPS_H
#define POSIX_OPS_H

#include "aggstats/shared.h"
#include "executable.h"

/* clang-format off */
#define POSIX_OPS(ROW)                                                                                                 \
    ROW(OPEN) ROW(CLOSE)                                                                                               \
    ROW(READ) ROW(READV) ROW(PREAD) ROW(PREADV) ROW(WRITE) ROW(WRITEV) ROW(PWRITE) ROW(PWRITEV) ROW(LSEEK)             \
    ROW(COPY_FILE_RANGE) ROW(SENDFILE) ROW(SPLICE) ROW(MMAP)                                                           \
    ROW(STAT) ROW(FSTAT) ROW(STATX) ROW(ACCESS) ROW(CHDIR) ROW(STATFS)                                                 \
    ROW(FSYNC) ROW(FDATASYNC) ROW(MSYNC) ROW(SYNC_FILE_RANGE) ROW(SYNCFS)                                              \
    ROW(TRUNCATE) ROW(FTRUNCATE) ROW(FALLOCATE) ROW(FADVISE)                                                           \
    ROW(RENAME) ROW(UNLINK) ROW(MKDIR) ROW(RMDIR) ROW(LINK) ROW(SYMLINK) ROW(READLINK) ROW(MKNOD)                      \
    ROW(CHMOD) ROW(CHOWN) ROW(UTIMENS)                                                                                 \
    ROW(GETXATTR) ROW(SETXATTR) ROW(LISTXATTR) ROW(REMOVEXATTR)                                                        \
    ROW(FLOCK) ROW(LOCK) ROW(IOCTL)                                                                                    \
    ROW(OPENDIR) ROW(READDIR) ROW(CLOSEDIR) ROW(GETDENTS)                                                              \
    ROW(FOPEN) ROW(FCLOSE) ROW(FREAD) ROW(FWRITE) ROW(FGETS) ROW(FPUTS) ROW(FGETC) ROW(FPUTC) ROW(FSCANF)              \
    ROW(FPRINTF) ROW(FFLUSH) ROW(FSEEK)
/* clang-format on */

enum posix_op {
#define NUMBER(OP) POSIX_##OP,
    POSIX_OPS(NUMBER)
#undef NUMBER
        POSIX_OP_COUNT,
};

/* Their names in profiles: static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME)}; */
#define POSIX_OP_NAME(OP) [POSIX_##OP] = #OP,

/* A text that is in a library with these operations, and this kind of live file. */
#define POSIX_MARK POSIX_MARK_OF(AGGSTATS_LIVE_VERSION)
#define POSIX_MARK_OF(VERSION) POSIX_MARK_TEXT(VERSION)
#define POSIX_MARK_TEXT(VERSION) "osprof " #VERSION POSIX_OPS(POSIX_MARK_OP)
#define POSIX_MARK_OP(OP) " " #OP

/* What a run counts besides (aggstats_recorder_note()): programs, and calls, that cannot be observed. */
enum posix_note {
    POSIX_NOTE_STATIC,    /* statically linked, as most Go programs */
    POSIX_NOTE_SET_ID,    /* or with capabilities: the loader preloads nothing */
    POSIX_NOTE_FOREIGN,   /* of another C library or architecture */
    POSIX_NOTE_SANDBOXED, /* observed only until they forbade themselves system calls (seccomp) */
    POSIX_NOTE_GO,        /* Go programs, dynamically linked, that make most system calls without libc */
    POSIX_NOTE_BARE,      /* executed without the variables that preload us */
    POSIX_NOTE_STARVED,   /* their first calls found no descriptor or memory to be counted with */
    POSIX_NOTE_ASYNC,     /* calls: asynchronous reads and writes */
    POSIX_NOTE_URING,     /* that have set up io_uring(7) */
    POSIX_NOTE_AWAITED,   /* executed to be observed, less those that have begun to be */
    POSIX_NOTE_READS,     /* calls: that read on descriptors that do not count, or failed to */
    POSIX_NOTE_ROOT = AGGSTATS_NOTE_MISSING, /* in another root directory or mount namespace, where names and files
                                              * differ */
    POSIX_NOTE_USER = AGGSTATS_NOTE_DENIED,  /* of another user */
    POSIX_NOTE_COUNT = AGGSTATS_NOTES,
};

/* The note for executables of a kind; POSIX_NOTE_COUNT: no note, because such programs are observed, or load a program
 * that is observed. */
static inline enum posix_note posix_note_of(enum executable kind) {
    static const enum posix_note notes[] = {
        [EXECUTABLE_DYNAMIC] = POSIX_NOTE_COUNT, [EXECUTABLE_GO] = POSIX_NOTE_GO,
        [EXECUTABLE_STATIC] = POSIX_NOTE_STATIC, [EXECUTABLE_SET_ID] = POSIX_NOTE_SET_ID,
        [EXECUTABLE_LOADER] = POSIX_NOTE_COUNT,  [EXECUTABLE_FOREIGN] = POSIX_NOTE_FOREIGN,
    };
    return notes[kind];
}

/* And of larger numbers (aggstats_recorder_sum()). */
enum posix_sum {
    POSIX_SUM_OTHER_READ, /* bytes read on descriptors that do not count */
    POSIX_SUM_OTHER_WRITTEN,
};

#endif
