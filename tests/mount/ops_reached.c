/* ops_reached DIR CONTROL [OP...]: reaches each operation (default: all) a prime number of times through system calls
 * in DIR, a directory of the mount whose control file is CONTROL, and compares with what the profile counted. Prints
 * the operations whose count differs; exit status 0 if there is none. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What the steps work on; held open, so that the steps need no lookups. */
struct stage {
    int dir;
    int file;
    int other;
    int link; /* O_PATH of a symbolic link */
    int count;
    int fds[512];
};

static void must(long result, const char *what) {
    if (result >= 0)
        return;
    fprintf(stderr, "ops_reached: %s: %s\n", what, strerror(errno));
    exit(2);
}

#define MUST(call) must((long)(call), #call)

/* The i-th name of a step, in the stage's directory. */
static const char *name_of(const char *step, int i) {
    static char names[2][64];
    static int turn;
    char *name = names[turn ^= 1];
    snprintf(name, sizeof(names[0]), "%s-%d", step, i);
    return name;
}

#define EACH(i) for (int i = 0; i < stage->count; i++)
#define STEP(name) static void name(struct stage *stage)

STEP(do_lookup) {
    struct stat st;
    EACH(i)
    if (fstatat(stage->dir, name_of("missing", i), &st, 0) == 0)
        must(-1, "found what does not exist");
}

STEP(do_getattr) {
    struct statx attributes;
    EACH(i)
    MUST(statx(stage->file, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &attributes));
}

STEP(do_setattr) {
    EACH(i)
    MUST(fchmod(stage->file, i % 2 ? 0600 : 0644));
}

STEP(do_readlink) {
    char target[64];
    EACH(i)
    MUST(readlinkat(stage->link, "", target, sizeof(target)));
}

STEP(do_symlink) {
    EACH(i)
    MUST(symlinkat("target", stage->dir, name_of("symlink", i)));
}

STEP(do_mknod) {
    EACH(i)
    MUST(mknodat(stage->dir, name_of("fifo", i), S_IFIFO | 0600, 0));
}

STEP(do_mkdir) {
    EACH(i)
    MUST(mkdirat(stage->dir, name_of("directory", i), 0700));
}

STEP(do_rmdir) {
    EACH(i)
    MUST(unlinkat(stage->dir, name_of("directory", i), AT_REMOVEDIR));
}

STEP(do_create) {
    EACH(i) {
        int fd = openat(stage->dir, name_of("file", i), O_CREAT | O_EXCL | O_WRONLY, 0600);
        MUST(fd);
        close(fd);
    }
}

STEP(do_rename) {
    EACH(i)
    MUST(renameat(stage->dir, name_of("file", i), stage->dir, name_of("renamed", i)));
}

STEP(do_rename2) {
    EACH(i)
    MUST(renameat2(stage->dir, name_of("renamed", i), stage->dir, name_of("twice", i), RENAME_NOREPLACE));
}

STEP(do_link) {
    EACH(i)
    MUST(linkat(stage->dir, "file", stage->dir, name_of("link", i), 0));
}

STEP(do_unlink) {
    EACH(i)
    MUST(unlinkat(stage->dir, name_of("link", i), 0));
}

STEP(do_open) {
    EACH(i)
    MUST(stage->fds[i] = openat(stage->dir, "file", O_RDONLY));
}

STEP(do_close) {
    EACH(i)
    MUST(close(stage->fds[i]));
}

STEP(do_read) {
    char byte;
    EACH(i)
    MUST(pread(stage->file, &byte, 1, i));
}

STEP(do_write) {
    EACH(i)
    MUST(pwrite(stage->file, "x", 1, i));
}

STEP(do_statfs) {
    struct statfs st;
    EACH(i)
    MUST(fstatfs(stage->file, &st));
}

STEP(do_fsync) {
    EACH(i)
    MUST(fsync(stage->file));
}

STEP(do_setxattr) {
    EACH(i)
    MUST(fsetxattr(stage->file, "user.step", &i, sizeof(i), 0));
}

STEP(do_getxattr) {
    int value;
    EACH(i)
    MUST(fgetxattr(stage->file, "user.step", &value, sizeof(value)));
}

STEP(do_listxattr) {
    char names[256];
    EACH(i)
    MUST(flistxattr(stage->file, names, sizeof(names)));
}

STEP(do_removexattr) {
    EACH(i) {
        MUST(fsetxattr(stage->file, "user.step", &i, sizeof(i), 0));
        MUST(fremovexattr(stage->file, "user.step"));
    }
}

STEP(do_flush) {
    EACH(i)
    MUST(close(dup(stage->file)));
}

STEP(do_opendir) {
    EACH(i)
    MUST(stage->fds[i] = openat(stage->dir, ".", O_RDONLY | O_DIRECTORY));
}

STEP(do_readdir) {
    static char entries[32768];
    EACH(i) {
        MUST(lseek(stage->dir, 0, SEEK_SET));
        MUST(syscall(SYS_getdents64, stage->dir, entries, sizeof(entries)));
    }
}

STEP(do_fsyncdir) {
    EACH(i)
    MUST(fsync(stage->dir));
}

static void lock_range(struct stage *stage, int command) {
    EACH(i) {
        struct flock lock = {.l_type = i % 2 ? F_UNLCK : F_WRLCK, .l_whence = SEEK_SET, .l_start = 3, .l_len = 5};
        MUST(fcntl(stage->file, command, &lock));
    }
}

STEP(do_getlk) {
    EACH(i) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        MUST(fcntl(stage->file, F_GETLK, &lock));
    }
}

STEP(do_setlk) {
    lock_range(stage, F_SETLK);
}

STEP(do_setlkw) {
    lock_range(stage, F_SETLKW);
}

STEP(do_flock) {
    EACH(i)
    MUST(flock(stage->file, (i % 2 ? LOCK_UN : LOCK_EX) | LOCK_NB));
}

STEP(do_flock_waiting) {
    EACH(i)
    MUST(flock(stage->file, i % 2 ? LOCK_SH : LOCK_EX));
}

STEP(do_access) {
    EACH(i)
    MUST(faccessat(stage->dir, "file", R_OK, 0));
}

STEP(do_ioctl) {
    unsigned flags;
    EACH(i)
    MUST(ioctl(stage->file, FS_IOC_GETFLAGS, &flags));
}

STEP(do_poll) {
    EACH(i) {
        struct pollfd want = {.fd = stage->file, .events = POLLIN};
        MUST(poll(&want, 1, 0));
    }
}

STEP(do_fallocate) {
    EACH(i)
    MUST(fallocate(stage->file, 0, 0, 4096 + i));
}

STEP(do_lseek) {
    EACH(i)
    MUST(lseek(stage->file, i, SEEK_HOLE));
}

STEP(do_copy_file_range) {
    EACH(i) {
        loff_t from = 0;
        loff_t to = 0;
        MUST(copy_file_range(stage->file, &from, stage->other, &to, 17, 0));
    }
}

STEP(do_tmpfile) {
    EACH(i) {
        int fd = openat(stage->dir, ".", O_TMPFILE | O_WRONLY, 0600);
        MUST(fd);
        close(fd);
    }
}

STEP(do_statx) {
    struct statx attributes;
    EACH(i)
    MUST(statx(stage->file, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BTIME, &attributes));
}

static const struct step {
    const char *op;
    int count;
    void (*run)(struct stage *stage);
    bool answered_once; /* the first answer tells the kernel not to ask again */
} steps[] = {
    {"LOOKUP", 101, do_lookup},
    {"GETATTR", 103, do_getattr},
    {"SETATTR", 107, do_setattr},
    {"READLINK", 109, do_readlink},
    {"SYMLINK", 113, do_symlink},
    {"MKNOD", 127, do_mknod},
    {"MKDIR", 131, do_mkdir},
    {"RMDIR", 131, do_rmdir},
    {"CREATE", 137, do_create},
    {"RENAME", 137, do_rename},
    {"RENAME2", 137, do_rename2},
    {"LINK", 139, do_link},
    {"UNLINK", 139, do_unlink},
    {"OPEN", 149, do_open},
    {"RELEASE", 149, do_close},
    {"WRITE", 151, do_write},
    {"READ", 157, do_read},
    {"STATFS", 163, do_statfs},
    {"FSYNC", 167, do_fsync},
    {"SETXATTR", 173, do_setxattr},
    {"GETXATTR", 179, do_getxattr},
    {"LISTXATTR", 181, do_listxattr},
    {"REMOVEXATTR", 191, do_removexattr},
    {"FLUSH", 193, do_flush},
    {"OPENDIR", 197, do_opendir},
    {"RELEASEDIR", 197, do_close},
    {"READDIR", 199, do_readdir},
    {"FSYNCDIR", 211, do_fsyncdir},
    {"GETLK", 223, do_getlk},
    {"SETLK", 227, do_setlk},
    {"SETLKW", 229, do_setlkw},
    {"SETLK", 233, do_flock},
    {"SETLKW", 239, do_flock_waiting},
    {"ACCESS", 241, do_access},
    {"IOCTL", 251, do_ioctl},
    {"POLL", 257, do_poll, true},
    {"FALLOCATE", 263, do_fallocate},
    {"LSEEK", 269, do_lseek},
    {"COPY_FILE_RANGE", 271, do_copy_file_range},
    {"TMPFILE", 281, do_tmpfile},
    /* not among the default ones: other caching or a newer kernel reaches them */
    {"READDIRPLUS", 277, do_readdir},
    {"STATX", 283, do_statx},
};

enum { STEP_COUNT = sizeof(steps) / sizeof(steps[0]), DEFAULT_COUNT = STEP_COUNT - 2 };

/* Calls of op that the profile counts by now. */
static long profiled_calls(const char *control, const char *op) {
    FILE *stream = fopen(control, "re");
    must(stream ? 0 : -1, control);
    char line[8192];
    char name[64];
    long calls = 0;
    long found = 0;
    while (fgets(line, sizeof(line), stream))
        if (sscanf(line, "OP_%63s %ld", name, &calls) == 2 && strcmp(name, op) == 0)
            found = calls;
    fclose(stream);
    return found;
}

/* Releases come after close(2) has returned, so late ones are given some time. */
static bool step_counts(struct stage *stage, const struct step *step, const char *control) {
    stage->count = step->count;
    int expected = step->answered_once ? 1 : step->count;
    long before = profiled_calls(control, step->op);
    step->run(stage);
    long calls = profiled_calls(control, step->op) - before;
    for (int attempt = 0; calls < expected && attempt < 20; attempt++) {
        usleep(50000);
        calls = profiled_calls(control, step->op) - before;
    }
    if (calls == expected)
        return true;
    printf("%s: %d expected, %ld in the profile\n", step->op, expected, calls);
    return false;
}

static bool wanted(const char *op, int count, char **ops) {
    for (int i = 0; i < count; i++)
        if (strcmp(ops[i], op) == 0)
            return true;
    return false;
}

static void open_stage(struct stage *stage, const char *directory) {
    MUST(stage->dir = open(directory, O_RDONLY | O_DIRECTORY));
    MUST(stage->file = openat(stage->dir, "file", O_RDWR | O_CREAT, 0644));
    MUST(stage->other = openat(stage->dir, "other", O_RDWR | O_CREAT, 0644));
    if (symlinkat("file", stage->dir, "symbolic") < 0 && errno != EEXIST)
        must(-1, "symbolic");
    MUST(stage->link = openat(stage->dir, "symbolic", O_PATH | O_NOFOLLOW));
    MUST(ftruncate(stage->file, 65536));
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: ops_reached DIR CONTROL [OP...]\n", stderr);
        return 2;
    }
    static struct stage stage;
    open_stage(&stage, argv[1]);
    int differing = 0;
    for (int i = 0; i < STEP_COUNT; i++)
        if (argc == 3 ? i < DEFAULT_COUNT : wanted(steps[i].op, argc - 3, argv + 3))
            differing += !step_counts(&stage, &steps[i], argv[2]);
    return differing > 0;
}
