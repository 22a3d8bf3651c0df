/* From the command line to a mount whose requests are answered, and back; before, into the background. */
#include "mounting.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backing_ioctl.h"
#include "base.h"
#include "log.h"
#include "mountpoint.h"
#include "mounts.h"
#include "path.h"
#include "quiet_thread.h"
#include "str.h"
#include "uring.h"
#include "waiting.h"

#define WAIT_MAX_S 2
#define LOOK_EVERY_NS 2000000
#define QUIET_LOOKS 3 /* checks in a row without a request in the queue */

/* ---- The background ----------------------------------------------------------------------------- */

/* Status 0 once the child is ready; its own exit status if it ends before (it has said why). */
static void wait_for_child(int ready_fd, pid_t child) {
    char byte;
    ssize_t size;
    do {
        size = read(ready_fd, &byte, 1);
    } while (size < 0 && errno == EINTR);
    if (size == 1)
        _exit(0);
    int status = 0;
    bool is_known = waitpid(child, &status, 0) == child;
    if (is_known && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        _exit(WEXITSTATUS(status));
    if (is_known && WIFSIGNALED(status))
        log_message("cannot mount: the process in the background was ended by signal %d", WTERMSIG(status));
    else
        log_message("cannot mount: the process in the background ended by itself");
    _exit(1);
}

int background_start(struct background *ret_background) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return negative_errno();
    pid_t child = fork();
    if (child < 0) {
        int err = negative_errno();
        close(ends[0]);
        close(ends[1]);
        return err;
    }
    if (child > 0) {
        close(ends[1]);
        wait_for_child(ends[0], child);
    }
    close(ends[0]);
    setsid();
    ret_background->ready_fd = ends[1];
    return 0;
}

void background_ready(struct background *background) {
    if (background->ready_fd < 0)
        return;
    log_to_syslog();
    CLEANUP_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd <= 2 && null_fd >= 0; fd++)
        dup2(null_fd, fd);
    if (chdir("/") < 0)
        log_message("cannot leave the start directory: %s", strerror(errno));
    write_all(background->ready_fd, "", 1);
    close_fd(&background->ready_fd);
}

/* ---- The mount ---------------------------------------------------------------------------------- */

static int add_option(struct fuse_args *args, const char *option) {
    return fuse_opt_insert_arg(args, 1, "-o") < 0 || fuse_opt_insert_arg(args, 2, option) < 0 ? -ENOMEM : 0;
}

/* Commas and backslashes would end the option. */
static int add_source(struct fuse_args *args, const char *lower) {
    CLEANUP_STR struct str option = {0};
    str_add(&option, "fsname=");
    for (; *lower; lower++)
        str_addf(&option, "%s%c", *lower == ',' || *lower == '\\' ? "\\" : "", *lower);
    return option.failed ? -ENOMEM : add_option(args, str_text(&option));
}

/* A mount is read-only as a whole or not at all: so only if nothing below it can be written to. */
static bool is_read_only(const char *lower) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    struct statvfs fs;
    bool has_writable = false;
    if (statvfs(lower, &fs) < 0 || !(fs.f_flag & ST_RDONLY))
        return false;
    mounts_open(&table);
    while (!has_writable && mounts_next(&table, &entry)) {
        const char *below = path_below(entry.path, lower);
        has_writable =
            below && below[0] && !mounts_has_option(entry.options, "ro") && !mounts_has_option(entry.fs_options, "ro");
    }
    return !has_writable;
}

/* The mount allows what the lower one does; libfuse would refuse set-id programs and devices. Only root may ask for
 * that. The user's options come later and win. If the kernel does not check permissions, it opens devices for everybody
 * who finds them: so either nobody opens any, or check_special() must hide them. */
static int add_lower_flags(struct fuse_args *args, const struct mounting *mounting) {
    const bool shows_devices_only = mounting->options->allow_other && !mounting->options->default_permissions;
    struct statvfs fs;
    if (geteuid() != 0 || statvfs(mounting->lower, &fs) < 0)
        return 0;
    int err = fs.f_flag & ST_NOSUID ? 0 : add_option(args, "suid");
    if (err == 0)
        err = fs.f_flag & ST_NODEV || shows_devices_only ? 0 : add_option(args, "dev");
    if (err == 0)
        err = fs.f_flag & ST_NOEXEC ? add_option(args, "noexec") : 0;
    return err;
}

static bool is_disconnected(const struct mounting *mounting) {
    struct pollfd device = {.fd = fuse_session_fd(mounting->fuse)};
    return poll(&device, 1, 0) == 1 && device.revents & POLLERR;
}

/* Checks that the kernel reads and writes by itself if it was asked to. */
static int check_kernel_data(const struct mounting *mounting) {
#ifdef HAVE_FUSE_PASSTHROUGH
    if (!mounting->options->kernel_data)
        return 0;
    if (mounting->glue->cannot_hand_over) {
        log_message("data=passthrough: this kernel cannot; Linux 6.9 and later can, with CONFIG_FUSE_PASSTHROUGH");
        return -EOPNOTSUPP;
    }
    struct fuse_backing_map map = {.fd = -1};
    if (ioctl(fuse_session_fd(mounting->fuse), FUSE_DEV_IOC_BACKING_OPEN, &map) < 0 && errno == EPERM) {
        log_message("data=passthrough: the kernel allows it only to root (CAP_SYS_ADMIN)");
        return -EPERM;
    }
#else
    (void)mounting;
#endif
    return 0;
}

/* Checks that requests come over rings if they should: libfuse goes on without if they cannot. */
static int check_ring(const struct mounting *mounting, unsigned threads_before) {
    if (!mounting->options->over_ring)
        return 0;
    switch (ring_find_obstacle(mounting->glue->ring_offered, threads_before)) {
    case RING_NONE:
        return 0;
    case RING_KERNEL_CANNOT:
        log_message("io_uring: this kernel cannot; Linux 6.14 and later can, with CONFIG_FUSE_IO_URING");
        break;
    case RING_KERNEL_MAY_NOT:
        log_message("io_uring: it is switched off in this kernel; as root, echo Y > %s", RING_SWITCH);
        break;
    case RING_TOO_FEW:
        log_message(
            "io_uring: this machine may get more CPUs than it has, for which libfuse makes no rings; boot Linux "
            "with nr_cpus=%d",
            get_nprocs_conf());
        break;
    case RING_THREADS_MISSING:
        log_message("io_uring: libfuse cannot make its rings (see the line above); io_uring may be forbidden in "
                    "/proc/sys/kernel/io_uring_disabled, or to this container");
        break;
    }
    return -EOPNOTSUPP;
}

/* A line of libfuse's, with what to do. */
static void tell_line(char *text) {
    static const char unknown[] = "unknown option(s): `";
    char *option = strstr(text, unknown);
    const bool is_of_device = strstr(text, "/dev/fuse") && strstr(text, strerror(EACCES));
    if (option) {
        option += strlen(unknown);
        option += strncmp(option, "-o ", 3) == 0 ? 3 : 0;
        option[strcspn(option, "'")] = '\0';
        log_message("unknown option %s; 'osproffs -h' lists the options", option);
    } else {
        log_message("%s%s", text, is_of_device ? "; mount as root, or as root chmod 666 /dev/fuse" : "");
    }
}

/* libfuse prints a line in parts. Threads: the one that mounts, alone */
static void tell(enum fuse_log_level level, const char *format, va_list arguments) {
    static char line[512];
    static size_t length;
    (void)level;
    const int added = vsnprintf(line + length, sizeof(line) - length, format, arguments);
    length += added > 0 ? (size_t)added : 0;
    if (length < sizeof(line) - 1 && !memchr(line, '\n', length))
        return;
    line[strcspn(line, "\n")] = '\0';
    tell_line(line);
    length = 0;
}

int mounting_mount(struct mounting *mounting) {
    struct fuse_args *args = (struct fuse_args *)(uintptr_t)&mounting->options->fuse_args;
    if (add_lower_flags(args, mounting) < 0 || (is_read_only(mounting->lower) && add_option(args, "ro") < 0) ||
        add_option(args, "subtype=osproffs") < 0 || add_source(args, mounting->lower) < 0) {
        log_message("cannot mount: %s", strerror(ENOMEM));
        return -ENOMEM;
    }
    fuse_set_log_func(tell);
    mounting->fuse = fuse_session_new(args, &glue_operations, sizeof(glue_operations), mounting->glue);
    const bool is_mounted = mounting->fuse && fuse_session_mount(mounting->fuse, mounting->mountpoint) == 0;
    fuse_set_log_func(NULL);
    if (!mounting->fuse)
        return -EINVAL; /* it has been said which option is unknown */
    mounting->glue->fuse = mounting->fuse;
    if (!is_mounted) {
        log_message("cannot mount on %s (see the line above)", mounting->mountpoint);
        return -EIO;
    }
    int err = mounts_device_at(mounting->mountpoint, &mounting->device);
    if (err < 0) {
        log_message("cannot see the mount on %s: %s", mounting->mountpoint, strerror(-err));
        fuse_session_unmount(mounting->fuse);
    }
    return err;
}

/* libfuse gives up if it cannot agree with the kernel, and says why. The kernel would keep a mount that refuses
 * everything. If the connection is gone already, loop_run() will find that. */
static int negotiate(struct mounting *mounting) {
    int err = 0;
    mounting->glue->loop = mounting->loop;
    unsigned threads_before = ring_threads();
    loop_negotiate(mounting->loop);
    if (fuse_session_exited(mounting->fuse) && !is_disconnected(mounting)) {
        log_message("cannot serve %s: libfuse and the kernel do not agree (see the line above)", mounting->mountpoint);
        err = -EPROTO;
    }
    if (err == 0)
        err = check_kernel_data(mounting);
    if (err == 0)
        err = check_ring(mounting, threads_before);
    if (err == 0 && !fuse_session_exited(mounting->fuse)) {
        err = loop_start(mounting->loop);
        if (err < 0)
            log_message("cannot serve %s: cannot start a thread: %s; limits are ulimit -u and pids.max of the cgroup",
                        mounting->mountpoint, strerror(-err));
    }
    if (err < 0)
        loop_stop(mounting->loop);
    return err;
}

int mounting_serve(struct mounting *mounting, struct aggstats_clock clock) {
    const struct loop_options options = {
        .clock = clock,
        .owner_uid = getuid(),
        .single = mounting->options->single_threaded,
        .plain = mounting->options->plain_workers,
        .over_ring = mounting->options->over_ring,
    };
    int err = device_attach(mounting->fuse);
    if (err == 0)
        err = loop_create(mounting->fuse, &options, &mounting->loop);
    if (err < 0)
        log_message("cannot serve %s: %s", mounting->mountpoint, strerror(-err));
    else
        err = negotiate(mounting);
    if (err < 0)
        fuse_session_unmount(mounting->fuse);
    return err;
}

/* Our own function does it: libfuse would leave the mount of an aborted connection behind, and unmount anything else
 * that is mounted there by now. Once the connection is gone libfuse's function only frees. */
void mounting_unmount(const struct mounting *mounting, bool abort_calls) {
    int err = mountpoint_unmount(mounting->device, !is_disconnected(mounting), abort_calls);
    if (err < 0)
        log_message("cannot unmount %s: %s; use umount or fusermount3 -u -z", mounting->mountpoint, strerror(-err));
    if (is_disconnected(mounting))
        fuse_session_unmount(mounting->fuse);
}

void mounting_finish(struct mounting *mounting) {
    loop_destroy(mounting->loop);
    if (mounting->fuse)
        fuse_session_destroy(mounting->fuse);
}

/* ---- Writing back: a thread calls syncfs(2) on the mount, and then waits until the kernel's queue stays empty. It
 * owns its arguments, as it may hang and outlive its caller. ---- */

struct write_back {
    char *file;
    dev_t device;
    int fuse_fd;
};

static void *run_write_back(void *context) {
    const struct timespec step = {.tv_nsec = LOOK_EVERY_NS};
    struct write_back *work = context;
    struct statx attr;
    CLEANUP_FD int fd = open(work->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool is_ours = fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &attr) == 0 &&
                   makedev(attr.stx_dev_major, attr.stx_dev_minor) == work->device; /* nothing is mounted over it */
    bool is_synced = is_ours && syncfs(fd) == 0;
    /* The kernel does not wait for all answers itself. */
    for (int quiet = 0; is_synced && quiet < QUIET_LOOKS; nanosleep(&step, NULL)) {
        struct pollfd queue = {.fd = work->fuse_fd, .events = POLLIN};
        quiet = poll(&queue, 1, 0) == 1 ? 0 : quiet + 1;
    }
    free(work->file);
    free(work);
    return NULL;
}

bool write_back_pages(const char *file, dev_t device, int fuse_fd) {
    pthread_t thread;
    struct write_back *work = malloc(sizeof(*work));
    if (!work)
        return true;
    *work = (struct write_back){.file = strdup(file), .device = device, .fuse_fd = fuse_fd};
    if (!work->file || quiet_thread_start(&thread, run_write_back, work) < 0) {
        free(work->file);
        free(work);
        return true;
    }
    return join_within(thread, WAIT_MAX_S);
}
