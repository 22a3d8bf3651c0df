/* raw_daemon MODE MOUNTPOINT [OTHER]: a FUSE file system with one file, "file", of 5 bytes, without any FUSE library,
 * which stays in the foreground. OTHER is another one, of the same process. It reads requests and writes answers as
 * MODE says: plain      by read(2) and write(2) vectors    by readv(2) and writev(2) splices    by splice(2), through
 * pipes clones     serves all but the first request through a second descriptor of the device (FUSE_DEV_IOC_CLONE)
 *     sleeps     thinks for 30 ms about each READ
 *     hands_on   the same, in another thread, which answers
 *     waits      waits for 30 ms at a pipe before it answers READ
 *     garbage    writes much else to the device, which the kernel refuses, and answers elsewhere
 *     faults     passes memory to the device that is not there, and expects an error
 *     forks      serves all but the first request in a child, which answers through another one
 *     withdraws  after the first request gives up its descriptors, its root directory and its user
 *     crashes    at the first READ, by SIGKILL
 *     segfaults  at the first READ, by SIGSEGV
 *     executes   executes itself before the first request, and again after it
 *     executes_bare  executes itself after the first request, with nothing in its environment
 *     executes_bare_early    before the first request, with nothing in its environment
 *     hands_over    gives the device to a program that it executes, through a socket
 *     closes     closes all descriptors from 3 on at the beginning, by close_range(2), closefrom(3) and close(2)
 *     small      reads into memory that is too small, before each request
 *     sandboxed  after the first request forbids itself all system calls but those that it makes
 * Needs root. Ends when the mount is gone. "fd=N" in place of MOUNTPOINT: it is mounted already, N is the device. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fuse.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_NODE 2
#define FILE_BYTES "12345"
#define REQUEST_MAX (1 << 18)
#define THINKING_NS 30000000L

static const char *mode;
static int device_fd;

static int is_mode(const char *name) {
    return strcmp(mode, name) == 0;
}

static _Noreturn void die(const char *what) {
    fprintf(stderr, "raw_daemon: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void think(void) {
    nanosleep(&(struct timespec){.tv_nsec = THINKING_NS}, NULL);
}

/* ---- Answers ---- */

/* What would be the answer to the request, in a file that is none of the kernel's. */
static void answer_elsewhere(uint64_t unique) {
    const struct fuse_out_header header = {.len = sizeof(header), .error = -EIO, .unique = unique};
    const struct iovec vector = {(void *)(uintptr_t)&header, sizeof(header)};
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (write(fd, &header, sizeof(header)) < 0 || writev(fd, &vector, 1) < 0)
        die("/dev/null");
    close(fd);
}

static void write_garbage(uint64_t unique) {
    static const char zeros[4096];
    struct fuse_out_header header = {.len = sizeof(header), .unique = 0x1234567890abcdef};
    struct fuse_out_header positive = {.len = sizeof(positive), .error = 5, .unique = 2};
    struct fuse_out_header large = {.len = sizeof(large), .error = -512, .unique = unique};
    const struct iovec vector[2] = {{NULL, 0}, {(void *)(uintptr_t)16, 64}};
    volatile int negative = -1;
    (void)!write(device_fd, &large, sizeof(large));
    (void)!write(device_fd, zeros, sizeof(zeros));
    (void)!write(device_fd, &header, sizeof(header));
    (void)!write(device_fd, &header, 7);
    (void)!write(device_fd, &positive, sizeof(positive));
    (void)!writev(device_fd, vector, 1);
    (void)!writev(device_fd, vector, negative);
    (void)!writev(device_fd, NULL, 0);
}

static void expect_error(int error, ssize_t result) {
    if (result >= 0 || errno != error)
        die("memory that is not there");
}

/* A header that is whole, behind which nothing is, is of no request: the kernel would end one. */
static void pass_nowhere(void) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct fuse_out_header *last = (struct fuse_out_header *)(void *)(page + 4096 - sizeof(*last));
    void *volatile nowhere = page + 4096;
    munmap(nowhere, 4096);
    *last = (struct fuse_out_header){.len = 64, .unique = 0x1234567890abcdef};
    struct iovec vector[2] = {{last, sizeof(*last)}, {nowhere, 48}};
    expect_error(ENOENT, write(device_fd, last, 64));
    expect_error(ENOENT, writev(device_fd, vector, 2));
    expect_error(EFAULT, write(device_fd, nowhere, 64));
    expect_error(EFAULT, write(device_fd, page + 4090, 64));
    expect_error(EFAULT, writev(device_fd, nowhere, 2));
    vector[0].iov_base = nowhere;
    expect_error(EFAULT, writev(device_fd, vector, 2));
    munmap(page, 4096);
}

static void write_spliced(int fd, const struct iovec *vector, int count, size_t size) {
    int ends[2];
    if (pipe(ends) < 0 || writev(ends[1], vector, count) != (ssize_t)size)
        die("pipe");
    if (splice(ends[0], NULL, fd, NULL, size, 0) != (ssize_t)size)
        die("splice to the device");
    close(ends[0]);
    close(ends[1]);
}

static void answer_at(int fd, uint64_t unique, int error, const void *body, size_t body_bytes) {
    char whole[8192];
    struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + body_bytes), .error = -error, .unique = unique};
    const struct iovec vector[2] = {{&header, sizeof(header)}, {(void *)(uintptr_t)body, body_bytes}};
    if (is_mode("garbage")) {
        write_garbage(unique);
        answer_elsewhere(unique);
    }
    if (is_mode("faults"))
        pass_nowhere();
    if (is_mode("vectors")) {
        if (writev(fd, vector, 2) < 0)
            die("writev");
    } else if (is_mode("splices")) {
        write_spliced(fd, vector, body_bytes > 0 ? 2 : 1, header.len);
    } else {
        memcpy(whole, &header, sizeof(header));
        memcpy(whole + sizeof(header), body_bytes > 0 ? body : "", body_bytes);
        if (write(fd, whole, header.len) < 0 && errno != ENOENT)
            die("write");
    }
}

static void answer(uint64_t unique, int error, const void *body, size_t body_bytes) {
    answer_at(device_fd, unique, error, body, body_bytes);
}

/* ---- Operations ---- */

static struct fuse_attr attr_of(uint64_t node) {
    struct fuse_attr attr = {.ino = node, .nlink = 1, .mode = S_IFREG | 0644, .size = strlen(FILE_BYTES)};
    if (node == FUSE_ROOT_ID)
        attr.mode = S_IFDIR | 0755;
    return attr;
}

static void look_up(uint64_t unique, const char *name) {
    const struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attr_of(FILE_NODE)};
    if (strcmp(name, "file") == 0)
        answer(unique, 0, &entry, sizeof(entry));
    else
        answer(unique, ENOENT, NULL, 0);
}

static void answer_read(uint64_t unique) {
    pid_t child = is_mode("forks") ? fork() : 0;
    if (child > 0) {
        waitpid(child, NULL, 0);
        return;
    }
    answer(unique, 0, FILE_BYTES, strlen(FILE_BYTES));
    if (is_mode("forks"))
        _exit(0);
}

static void *answer_later(void *unique) {
    think();
    answer_read((uint64_t)(uintptr_t)unique);
    return NULL;
}

static void *wake(void *fd) {
    think();
    (void)!write((int)(intptr_t)fd, "", 1);
    return NULL;
}

static void wait_at_pipe(void) {
    pthread_t thread;
    int ends[2];
    char byte;
    if (pipe(ends) < 0 || pthread_create(&thread, NULL, wake, (void *)(intptr_t)ends[1]) != 0)
        die("pipe");
    (void)!read(ends[0], &byte, 1);
    pthread_join(thread, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* The first one stays open: the mount is its. */
static void clone_device(void) {
    uint32_t original = (uint32_t)device_fd;
    device_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device_fd < 0 || ioctl(device_fd, FUSE_DEV_IOC_CLONE, &original) < 0)
        die("FUSE_DEV_IOC_CLONE");
}

/* Goes on in a child. */
static void become_child(void) {
    pid_t child = fork();
    if (child > 0) {
        waitpid(child, NULL, 0);
        exit(0);
    }
}

static void withdraw(void) {
    if (dup2(device_fd, 0) < 0 || chroot("/proc/self/fdinfo") < 0 || chdir("/") < 0 || setgid(65534) < 0 ||
        setuid(65534) < 0)
        die("cannot withdraw");
    device_fd = 0;
    for (int fd = 1; fd < 1024; fd++)
        close(fd);
}

/* Serves the device as another program. */
static _Noreturn void execute(const char *next_mode, int keeps_environment) {
    static char *nothing[] = {NULL};
    char device[16];
    snprintf(device, sizeof(device), "fd=%d", device_fd);
    fcntl(device_fd, F_SETFD, 0);
    char *arguments[] = {(char *)(uintptr_t) "raw_daemon", (char *)(uintptr_t)next_mode, device, NULL};
    execve("/proc/self/exe", arguments, keeps_environment ? environ : nothing);
    die("/proc/self/exe");
}

union handed_over {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static _Noreturn void take_over(int socket_fd) {
    char byte;
    union handed_over control;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    if (recvmsg(socket_fd, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        die("recvmsg");
    memcpy(&device_fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(device_fd));
    execute("plain", 1);
}

/* To a child, which executes itself with it. */
static _Noreturn void hand_over(void) {
    int ends[2];
    union handed_over control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct iovec data = {(void *)(uintptr_t) "x", 1};
    const struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        die("socketpair");
    const pid_t child = fork();
    if (child == 0) {
        close(device_fd);
        close(ends[0]);
        take_over(ends[1]);
    }
    memcpy(CMSG_DATA(&control.header), &device_fd, sizeof(device_fd));
    if (sendmsg(ends[0], &message, 0) != 1)
        die("sendmsg");
    close(device_fd);
    waitpid(child, NULL, 0);
    exit(0);
}

/* What it calls from here on. All others end it. */
static void enter_sandbox(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(rules) / sizeof(rules[0]), .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        die("seccomp");
}

/* Does the action of the mode, after the file system has begun. */
static void go_on(void) {
    if (is_mode("clones"))
        clone_device();
    if (is_mode("forks"))
        become_child();
    if (is_mode("withdraws"))
        withdraw();
    if (is_mode("executes"))
        execute("plain", 1);
    if (is_mode("executes_bare"))
        execute("plain", 0);
    if (is_mode("sandboxed"))
        enter_sandbox();
}

static void crash(void) {
    if (is_mode("crashes"))
        kill(getpid(), SIGKILL);
    if (is_mode("segfaults"))
        raise(SIGSEGV);
}

static void read_file(uint64_t unique) {
    pthread_t thread;
    crash();
    if (is_mode("sleeps"))
        think();
    if (is_mode("waits"))
        wait_at_pipe();
    if (is_mode("hands_on")) {
        if (pthread_create(&thread, NULL, answer_later, (void *)(uintptr_t)unique) != 0)
            die("pthread_create");
        pthread_detach(thread);
        return;
    }
    answer_read(unique);
}

static void serve(const struct fuse_in_header *header, const void *body) {
    const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536};
    const struct fuse_attr_out attributes = {.attr = attr_of(header->nodeid)};
    const struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
    switch (header->opcode) {
    case FUSE_INIT:
        answer(header->unique, 0, &init, sizeof(init));
        go_on();
        break;
    case FUSE_LOOKUP:
        look_up(header->unique, body);
        break;
    case FUSE_GETATTR:
        answer(header->unique, 0, &attributes, sizeof(attributes));
        break;
    case FUSE_OPEN:
        answer(header->unique, 0, &opened, sizeof(opened));
        break;
    case FUSE_READ:
        read_file(header->unique);
        break;
    case FUSE_RELEASE:
        answer(header->unique, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break;
    default:
        answer(header->unique, ENOSYS, NULL, 0);
    }
}

/* ---- Requests ---- */

static ssize_t take_spliced(char *buffer) {
    static int ends[2] = {-1, -1};
    if (ends[0] < 0 && (pipe(ends) < 0 || fcntl(ends[0], F_SETPIPE_SZ, REQUEST_MAX) < 0))
        die("pipe");
    ssize_t size = splice(device_fd, NULL, ends[1], NULL, REQUEST_MAX, 0);
    if (size <= 0)
        return size;
    /* the header by itself, as libfuse does it */
    if (read(ends[0], buffer, 80) < 40 || (size > 80 && read(ends[0], buffer + 80, (size_t)size - 80) != size - 80))
        die("read from the pipe");
    return size;
}

static ssize_t take_request(char *buffer) {
    const struct iovec vector[2] = {{buffer, 30}, {buffer + 30, REQUEST_MAX - 30}};
    if (is_mode("small"))
        expect_error(EINVAL, read(device_fd, buffer, 80));
    if (is_mode("vectors"))
        return readv(device_fd, vector, 2);
    return is_mode("splices") ? take_spliced(buffer) : read(device_fd, buffer, REQUEST_MAX);
}

static int mount_at(const char *path) {
    char options[128];
    int fd;
    if (sscanf(path, "fd=%d", &fd) == 1)
        return fd;
    fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (fd < 0 || mount("raw_daemon", path, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
        die(path);
    return fd;
}

/* False: the mount is gone. */
static int serve_next(void) {
    static char buffer[REQUEST_MAX] __attribute__((aligned(8)));
    ssize_t size = take_request(buffer);
    if (size < 0 && errno == ENODEV)
        return 0;
    if (size < 0 && errno != EINTR && errno != ENOENT)
        die("cannot read a request");
    if (size > 0)
        serve((const struct fuse_in_header *)(const void *)buffer, buffer + sizeof(struct fuse_in_header));
    return 1;
}

static void serve_two(int first_fd, int second_fd) {
    struct pollfd devices[2] = {{.fd = first_fd, .events = POLLIN}, {.fd = second_fd, .events = POLLIN}};
    while (devices[0].fd >= 0 || devices[1].fd >= 0) {
        if (poll(devices, 2, -1) < 0)
            die("poll");
        for (int i = 0; i < 2; i++) {
            device_fd = devices[i].fd;
            if (device_fd >= 0 && devices[i].revents && !serve_next())
                devices[i].fd = -1;
        }
    }
}

static void close_all(void) {
    close_range(3, ~0U, 0);
    closefrom(3);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
}

/* Before it serves. */
static void begin(const char *path) {
    if (is_mode("closes"))
        close_all();
    device_fd = mount_at(path);
    if (is_mode("executes") && strncmp(path, "fd=", 3) != 0)
        execute(mode, 1);
    if (is_mode("executes_bare_early"))
        execute("plain", 0);
    if (is_mode("hands_over"))
        hand_over();
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4)
        return 2;
    mode = argv[1];
    begin(argv[2]);
    if (argc == 4)
        serve_two(device_fd, mount_at(argv[3]));
    else
        while (serve_next())
            ;
    return 0;
}
