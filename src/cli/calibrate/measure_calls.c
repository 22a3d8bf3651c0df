/* Calls of the kernel that neither wait nor touch a device; and context switches between processes. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base.h"
#include "measure.h"

#define BLOCK_BYTES 4096U
#define BLOCKS 16U /* few enough to stay in the CPU's caches, like data that was just read */
#define CALLS 64

/* ---- System call -------------------------------------------------------------------------------- */

static int call_often(void *context) {
    (void)context;
    for (int i = 0; i < CALLS; i++)
        syscall(SYS_getppid);
    return 0;
}

int measure_system_call(const struct effort *effort, struct samples *ret_samples) {
    return samples_take(effort, CALLS, call_often, NULL, ret_samples);
}

/* ---- Page cache --------------------------------------------------------------------------------- */

static int read_blocks(void *context) {
    const int *fd = context;
    char block[BLOCK_BYTES];
    for (unsigned i = 0; i < BLOCKS; i++)
        if (pread(*fd, block, sizeof(block), (off_t)i * BLOCK_BYTES) != (ssize_t)sizeof(block))
            return negative_errno();
    return 0;
}

int measure_cache_read(const struct effort *effort, struct samples *ret_samples) {
    char block[BLOCK_BYTES];
    memset(block, 'x', sizeof(block));
    CLEANUP_FD int fd = memfd_create("osprof", MFD_CLOEXEC);
    int error = fd < 0 ? negative_errno() : 0;
    for (unsigned i = 0; i < BLOCKS && !error; i++)
        error = write_all(fd, block, sizeof(block));
    return error ? error : samples_take(effort, BLOCKS, read_blocks, &fd, ret_samples);
}

/* ---- Context switch ----------------------------------------------------------------------------- */

struct ends {
    int read_fd;
    int write_fd;
};

static int hand_over(void *context) {
    const struct ends *ends = context;
    char byte = 0;
    if (write(ends->write_fd, &byte, 1) != 1 || read(ends->read_fd, &byte, 1) != 1)
        return negative_errno();
    return 0;
}

/* Ends when the other side closes its end. */
static _Noreturn void hand_back(int read_fd, int write_fd) {
    char byte;
    while (read(read_fd, &byte, 1) == 1 && write(write_fd, &byte, 1) == 1)
        continue;
    _exit(0);
}

static int measure_with_child(const struct effort *effort, int to_child[2], int from_child[2],
                              struct samples *ret_samples) {
    pid_t child = fork();
    if (child < 0)
        return negative_errno();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close_fd(&to_child[1]);
        close_fd(&from_child[0]);
        hand_back(to_child[0], from_child[1]);
    }
    close_fd(&from_child[1]); /* so that a dead child is the end of the pipe, and no SIGPIPE */
    struct ends ends = {.read_fd = from_child[0], .write_fd = to_child[1]};
    int error = samples_take(effort, 2, hand_over, &ends, ret_samples);
    close_fd(&to_child[1]);
    kill(child, SIGKILL); /* it would end by itself, but later */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return error;
}

static int measure_through_pipes(const struct effort *effort, struct samples *ret_samples) {
    int to_child[2] = {-1, -1};
    int from_child[2] = {-1, -1};
    int error = 0;
    if (pipe2(to_child, O_CLOEXEC) < 0 || pipe2(from_child, O_CLOEXEC) < 0)
        error = negative_errno();
    else
        error = measure_with_child(effort, to_child, from_child, ret_samples);
    for (int i = 0; i < 2; i++) {
        close_fd(&to_child[i]);
        close_fd(&from_child[i]);
    }
    return error;
}

int measure_context_switch(const struct effort *effort, struct samples *ret_samples) {
    struct pin pin;
    int error = pin_take(&pin);
    if (error)
        return error;
    error = measure_through_pipes(effort, ret_samples);
    pin_release(&pin);
    return error;
}
