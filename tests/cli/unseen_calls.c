/* Makes calls that no layer user sees, or whose end it does not see, in the current directory, which may be on a mount.
 *     unseen_calls uring          writes a file through io_uring(7). Exit status 77: the kernel has none
 *     unseen_calls mapped PAGES   reads a file of so many pages through a mapping, from storage
 *     unseen_calls run MS [PROGRAM ARGUMENT...]
 *                                 writes 7 times to a file, takes so long, then executes the program
 *     unseen_calls spawn PROGRAM ARGUMENT...   and waits for it */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE_BYTES 4096

static int check(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

/* By one ring, as the man page's example. Libraries of the ring's own are not needed. */
static int uring(void) {
    struct io_uring_params params = {0};
    char bytes[PAGE_BYTES] = "";
    int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
    if (ring < 0)
        return errno == ENOSYS || errno == EPERM ? 77 : check(-1, "io_uring_setup");
    const int file = check(open("ringed", O_WRONLY | O_CREAT, 0600), "ringed");
    char *rings = mmap(NULL, params.sq_off.array + sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                       IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (rings == MAP_FAILED || entry == MAP_FAILED)
        return check(-1, "mmap");
    *entry = (struct io_uring_sqe){
        .opcode = IORING_OP_WRITE, .fd = file, .addr = (unsigned long)bytes, .len = sizeof(bytes)};
    *(unsigned *)(void *)(rings + params.sq_off.array) = 0;
    __atomic_store_n((unsigned *)(void *)(rings + params.sq_off.tail), 1, __ATOMIC_RELEASE);
    check((int)syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), "io_uring_enter");
    return lseek(file, 0, SEEK_END) == sizeof(bytes) ? 0 : 1;
}

static int mapped(long pages) {
    char bytes[PAGE_BYTES];
    unsigned sum = 0;
    memset(bytes, 1, sizeof(bytes));
    const int file = check(open("mapped", O_RDWR | O_CREAT, 0600), "mapped");
    for (long i = 0; i < pages; i++)
        check((int)write(file, bytes, sizeof(bytes)), "write");
    check(fsync(file), "fsync");
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    const char *memory = mmap(NULL, (size_t)pages * PAGE_BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return check(-1, "mmap");
    madvise((void *)(size_t)memory, (size_t)pages * PAGE_BYTES, MADV_RANDOM);
    for (long i = 0; i < pages; i++)
        sum += (unsigned)memory[i * PAGE_BYTES];
    return sum == (unsigned)pages ? 0 : 1;
}

static int run(char **arguments) {
    const int file = check(open("ran", O_WRONLY | O_CREAT, 0666), "ran");
    for (int i = 0; i < 7; i++)
        check((int)write(file, "x", 1), "write");
    close(file);
    usleep((useconds_t)atoi(arguments[0]) * 1000);
    if (arguments[1])
        execv(arguments[1], arguments + 1);
    return arguments[1] ? check(-1, "execv") : 0;
}

static int spawn(char **arguments) {
    pid_t pid;
    int status;
    if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) != 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    return status;
}

int main(int argument_count, char **arguments) {
    const char *what = argument_count > 1 ? arguments[1] : "";
    if (strcmp(what, "uring") == 0)
        return uring();
    if (strcmp(what, "mapped") == 0 && argument_count > 2)
        return mapped(atol(arguments[2]));
    if (strcmp(what, "run") == 0 && argument_count > 2)
        return run(arguments + 2);
    if (strcmp(what, "spawn") == 0 && argument_count > 2)
        return spawn(arguments + 2);
    return 2;
}
