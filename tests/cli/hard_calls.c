/* Makes calls of files in the current directory at places where a preloaded library is easily in the way: between the
 * making of a process and its exec, in signal handlers, with next to no descriptors, memory or file sizes.
 *
 *     hard_calls ACTION      ACTION: a row of the table below
 *
 * What it prints, and its exit status, are the same whether somebody counts or not. */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlfcn.h>

#include "checked_calls.h"

static void wait_for(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        printf("status %x\n", (unsigned)status);
}

/* ---- Processes ---- */

static void write_in_child_of_vfork(void) {
    int fd = open_data();
    /* NOLINTBEGIN(clang-analyzer-*): the test is about vfork(2) */
    pid_t child = vfork();
    if (child == 0) {
        if (write(fd, "x", 1) != 1 || dup2(fd, 1) != 1 || close(fd) < 0)
            _exit(1);
        execl("/bin/sh", "sh", "-c", "exec echo written", (char *)NULL);
        _exit(1);
    }
    /* NOLINTEND(clang-analyzer-*) */
    wait_for(child);
    read_often(fd, 3);
}

static void spawn(void) {
    int fd = open_data();
    pid_t child;
    char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t) "echo spawned", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    CHECK(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ) == 0);
    wait_for(child);
    CHECK(posix_spawnp(&child, "no-such-program", NULL, NULL, arguments, environ) == ENOENT);
    posix_spawn_file_actions_destroy(&actions);
    read_often(fd, 3);
}

static int use_as_clone(void *data_fd) {
    int fd = *(int *)data_fd;
    read_often(fd, 1);
    int other = open("other", O_CREAT | O_WRONLY, 0600);
    if (write(fd, "x", 1) != 1 || other < 0 || write(other, "y", 1) != 1 || dup2(other, fd) != fd ||
        write(fd, "z", 1) != 1 || close(other) < 0)
        _exit(1);
    other = open("/dev/null", O_WRONLY); /* is none of the files that count */
    if (other < 0 || dup2(other, fd) != fd || write(fd, "0", 1) != 1)
        _exit(2);
    _exit(0);
}

/* With the memory of its parent, and descriptors of its own. */
static void in_clone(void) {
    static char stack[65536] __attribute__((aligned(16)));
    int fd = open_data();
    pid_t child = clone(use_as_clone, stack + sizeof(stack), CLONE_VM | SIGCHLD, &fd);
    CHECK(child > 0);
    wait_for(child);
    read_often(fd, 5);
    CHECK(write(fd, "q", 1) == 1);
}

static int stop_loading;

static void *load_often(void *unused) {
    while (!__atomic_load_n(&stop_loading, __ATOMIC_RELAXED))
        (void)!dlopen("./no-such-library.so", RTLD_NOW);
    return unused;
}

/* Children that libc knows nothing of, so that a lock of the loader's may be held for ever in them. */
static void in_raw_children(void) {
    pthread_t thread;
    int fd = open_data();
    CHECK(pthread_create(&thread, NULL, load_often, NULL) == 0);
    for (int i = 0; i < 211; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            alarm(5);
            if (write(fd, "a", 1) != 1 || lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, 50) != 50 || close(50) < 0)
                _exit(1);
            _exit(0);
        }
        wait_for(child);
    }
    __atomic_store_n(&stop_loading, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

/* By each function of the exec family. */
static void execute_by(int function) {
    char *arguments[] = {(char *)(uintptr_t) "echo", (char *)(uintptr_t) "executed", NULL};
    switch (function) {
    case 0:
        execve("/bin/echo", arguments, environ);
        break;
    case 1:
        execv("/bin/echo", arguments);
        break;
    case 2:
        execvp("echo", arguments);
        break;
    case 3:
        execvpe("echo", arguments, environ);
        break;
    case 4:
        execl("/bin/echo", "echo", "executed", (char *)NULL);
        break;
    case 5:
        execlp("echo", "echo", "executed", (char *)NULL);
        break;
    case 6:
        execle("/bin/echo", "echo", "executed", (char *)NULL, environ);
        break;
    default:
        fexecve(open("/bin/echo", O_RDONLY | O_CLOEXEC), arguments, environ);
        break;
    }
    _exit(1);
}

#define EXEC_FUNCTIONS 8

static void execute(void) {
    char line[16] = "";
    char *arguments[] = {(char *)(uintptr_t) "echo", (char *)(uintptr_t) "spawned", NULL};
    pid_t child;
    for (int function = 0; function < EXEC_FUNCTIONS; function++) {
        child = fork();
        if (child == 0)
            execute_by(function);
        wait_for(child);
    }
    CHECK(posix_spawn(&child, "/bin/echo", NULL, NULL, arguments, environ) == 0);
    wait_for(child);
    CHECK(posix_spawnp(&child, "echo", NULL, NULL, arguments, environ) == 0);
    wait_for(child);
    CHECK(system("echo by the shell") == 0);
    FILE *pipe = popen("echo piped", "r");
    CHECK(pipe && fgets(line, sizeof(line), pipe) && pclose(pipe) == 0);
    printf("%s", line);
}

#define SMALL_STACK_BYTES 6144
#define PAGE_BYTES_MAX 65536

static int execute_on_small_stack(void *unused) {
    (void)unused;
    execlp("echo", "echo", "small", (char *)NULL);
    _exit(1);
}

/* As where a program executes another one in a signal handler. Below the stack there is no memory. */
static void on_small_stack_execute(void) {
    char *pages = mmap(NULL, 2 * PAGE_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages, PAGE_BYTES_MAX, PROT_NONE) == 0);
    pid_t child = clone(execute_on_small_stack, pages + PAGE_BYTES_MAX + SMALL_STACK_BYTES,
                        CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    CHECK(child > 0);
    wait_for(child);
}

/* All functions where the library, if there is one, cannot be loaded any more. */
static void execute_without_library(void) {
    const char *library = getenv("LIBRARY");
    CHECK(library && (!getenv("LD_PRELOAD") || unlink(library) == 0));
    execute();
}

/* A child with the memory and the current directory of its parent, and without variables of a thread, such as errno. So
 * Chromium's sandbox makes one. */
static void in_child_without_thread(int (*run)(void *), void *data_fd) {
    static char stack[65536] __attribute__((aligned(16)));
    static char area[65536] __attribute__((aligned(64)));
    memset(area, 0, sizeof(area));
#if defined(__x86_64__)
    /* Calls that may be cancelled look for the thread here since glibc 2.41. The area's first word stays 0. */
    *(void **)(void *)(area + sizeof(area) / 2 + 2 * sizeof(void *)) = area + sizeof(area) / 2;
#endif
    pid_t child = clone(run, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_VFORK | CLONE_SETTLS | SIGCHLD, data_fd,
                        NULL, area + sizeof(area) / 2, NULL);
    CHECK(child > 0);
    wait_for(child);
}

static int use_without_thread(void *data_fd) {
    struct stat attr;
    char text[8];
    int fd = *(int *)data_fd;
    int other = open("other", O_CREAT | O_RDWR, 0600);
    read_often(fd, 1);
    if (other < 0 || write(other, "abc", 3) != 3 || lseek(other, 0, SEEK_SET) != 0 || read(other, text, 3) != 3 ||
        fsync(other) < 0 || ftruncate(other, 1) < 0 || fstat(other, &attr) < 0 || flock(other, LOCK_EX) < 0)
        _exit(1);
    if (dup(other) < 0 || dup2(other, 50) != 50 || fcntl(other, F_DUPFD, 60) != 60 || close(50) < 0 || close(other) < 0)
        _exit(2);
    if (stat("other", &attr) < 0 || access("other", F_OK) < 0 || chmod("other", 0600) < 0 ||
        symlink("other", "link") < 0 || readlink("link", text, sizeof(text)) != 5 || rename("other", "renamed") < 0 ||
        unlink("link") < 0)
        _exit(3);
    if (open("missing", O_RDONLY) != -1 || unlink("missing") != -1 || close(99) != -1 ||
        syscall(SYS_openat, AT_FDCWD, "missing", O_RDONLY) != -1)
        _exit(4);
    void *memory = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED || munmap(memory, 1) < 0 || mkdir("sub", 0700) < 0 || chdir("sub") < 0)
        _exit(5);
    _exit(0);
}

static int execute_without_thread(void *unused) {
    char *arguments[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t) "echo executed", NULL};
    execve("/bin/sh", arguments, environ);
    (void)unused;
    _exit(6);
}

static int enter_root_without_thread(void *unused) {
    (void)unused;
    _exit(chroot("/proc/self/fdinfo/") < 0 || chdir("/") < 0);
}

static void without_thread(void) {
    int fd = open_data();
    CHECK(access("data", F_OK) == 0); /* the current directory is known */
    in_child_without_thread(use_without_thread, &fd);
    CHECK(access("../data", F_OK) == 0); /* and has changed */
    in_child_without_thread(execute_without_thread, NULL);
    if (geteuid() == 0)
        in_child_without_thread(enter_root_without_thread, NULL);
    read_often(fd, 3);
}

/* ---- Signals and threads ---- */

static volatile sig_atomic_t handled_count;

static void write_in_handler(int signal) {
    int saved_errno = errno;
    int fd = open("handled", O_CREAT | O_RDWR, 0600);
    (void)signal;
    if (fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0)
        handled_count++;
    errno = saved_errno;
}

static void on_small_stack(void) {
    static char stack[8192];
    const stack_t place = {.ss_sp = stack, .ss_size = sizeof(stack)};
    const struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&place, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("%d\n", (int)handled_count);
}

static sigjmp_buf before_read;

static void leave_read(int signal) {
    (void)signal;
    siglongjmp(before_read, 1);
}

static void jump_out(void) {
    char byte;
    CHECK(mkfifo("fifo", 0600) == 0);
    int fd = open("fifo", O_RDWR);
    signal(SIGALRM, leave_read);
    for (volatile int i = 0; i < 19; i++) {
        const struct itimerval soon = {.it_value = {.tv_usec = 20000}}; /* the read has begun by then */
        if (sigsetjmp(before_read, 1) == 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0)
            CHECK(read(fd, &byte, 1) < 0);
    }
    read_often(open_data(), 7);
}

static void *read_for_ever(void *data_fd) {
    char byte;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    while (pread(*(int *)data_fd, &byte, 1, 0) == 1)
        ;
    return NULL;
}

static void cancel_anywhere(void) {
    int fd = open_data();
    for (int i = 0; i < 53; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, read_for_ever, &fd) == 0);
        usleep(1000);
        CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
}

static pthread_key_t exit_key;

static void read_at_exit(void *rounds) {
    int fd = open_data();
    read_often(fd, 2);
    close(fd);
    if (--*(int *)rounds > 0)
        pthread_setspecific(exit_key, rounds);
}

static void *set_key(void *rounds) {
    pthread_setspecific(exit_key, rounds);
    return NULL;
}

/* In destructors of threads, as often as they are called again. */
static void exit_threads(void) {
    CHECK(pthread_key_create(&exit_key, read_at_exit) == 0);
    for (int i = 0; i < 11; i++) {
        pthread_t thread;
        int rounds = 3;
        CHECK(pthread_create(&thread, NULL, set_key, &rounds) == 0);
        pthread_join(thread, NULL);
    }
}

static int last_fd = -1;

static void read_last(void) {
    read_often(last_fd, 11);
}

static __attribute__((destructor)) void after_exit(void) {
    if (last_fd >= 0)
        read_often(last_fd, 13);
}

static void at_exit(void) {
    last_fd = open_data();
    atexit(read_last);
}

/* ---- Limits ---- */

static void limit(__rlimit_resource_t resource, rlim_t most) {
    const struct rlimit limits = {most, most};
    CHECK(setrlimit(resource, &limits) == 0);
}

static void small_files(void) {
    limit(RLIMIT_FSIZE, 8192);
    int fd = open_data();
    read_often(fd, 5);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(pwrite(fd, "x", 1, 8192) == -1 && errno == EFBIG);
}

/* One free descriptor, which the first file gets. */
static void few_descriptors(void) {
    limit(RLIMIT_NOFILE, 4);
    int fd = open_data();
    CHECK(fd == 3);
    read_often(fd, 5);
    CHECK(open("data", O_RDONLY) == -1 && errno == EMFILE);
    CHECK(opendir(".") == NULL && errno == EMFILE);
    CHECK(close(fd) == 0 && unlink("data") == 0);
    fd = open_data();
    read_often(fd, 7);
}

static void no_memory(void) {
    long pages;
    FILE *sizes = fopen("/proc/self/statm", "r");
    CHECK(sizes && fscanf(sizes, "%ld", &pages) == 1);
    fclose(sizes);
    limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE));
    int fd = open_data();
    read_often(fd, 5);
    pid_t child = fork();
    if (child == 0) {
        read_often(fd, 3);
        _exit(0);
    }
    wait_for(child);
}

/* ---- Descriptors, and what names mean ---- */

static void close_all(void) {
    char byte;
    int fd = open_data();
    read_often(fd, 2);
    close_range(3, ~0U, 0);
    CHECK(open_data() == fd);
    read_often(fd, 3);
    for (int i = 3; i < 1024; i++)
        close(i);
    CHECK(open_data() == 3);
    read_often(3, 5);
    closefrom(3);
    CHECK(open_data() == 3);
    read_often(3, 7);
    int null_fd = open("/dev/null", O_RDONLY);
    CHECK(dup2(null_fd, 3) == 3 && read(3, &byte, 1) == 0);
}

static void in_another_root(void) {
    struct stat attr;
    int fd = open_data();
    read_often(fd, 2);
    CHECK(mkdir("jail", 0700) == 0 && chroot("jail") == 0 && chdir("/") == 0);
    int inside = open("/file", O_CREAT | O_RDWR, 0600);
    CHECK(inside >= 0 && write(inside, "a", 1) == 1 && close(inside) == 0 && stat("/file", &attr) == 0);
    read_often(fd, 3);
}

/* Nothing says what a descriptor is. */
static void without_proc(void) {
    struct stat attr;
    CHECK(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHECK(mount("none", "/proc", "tmpfs", 0, NULL) == 0);
    int fd = open_data();
    read_often(fd, 5);
    CHECK(close(fd) == 0 && stat("data", &attr) == 0);
    fd = open("/dev/null", O_RDWR);
    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
}

#define REFUSED(call) CHECK((call) == -1 && errno == EFAULT)

/* The kernel refuses them, and nobody else may look at them. The last one ends where there is no memory. */
static void bad_names(void) {
    struct stat attr;
    char *arguments[] = {(char *)(uintptr_t) "true", NULL};
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    memcpy(pages + 4092, "data", 4);
    const uintptr_t names[] = {0, 1, 8, UINTPTR_MAX, UINTPTR_MAX / 2, (uintptr_t)pages + 4096, (uintptr_t)pages + 4092};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *volatile name = (const char *)names[i];
        /* NOLINTBEGIN(clang-analyzer-core.NonNullParamChecker): it is what is tested */
        REFUSED(open(name, O_RDONLY));
        REFUSED(openat(AT_FDCWD, name, O_RDONLY));
        REFUSED(stat(name, &attr));
        REFUSED(fstatat(AT_FDCWD, name, &attr, AT_SYMLINK_NOFOLLOW));
        REFUSED(rename("data", name));
        REFUSED(unlink(name));
        /* NOLINTEND(clang-analyzer-core.NonNullParamChecker) */
        if (i > 0)
            REFUSED(execve("/bin/true", arguments, (char **)names[i]));
    }
    CHECK(mprotect(pages + 4096, 4096, PROT_READ) == 0); /* and now there is */
    CHECK(stat(pages + 4092, &attr) == -1 && errno == ENOENT);
    CHECK(mprotect(pages, 4096, PROT_NONE) == 0); /* and now not */
    REFUSED(stat(pages + 4092, &attr));
    CHECK(mprotect(pages, 4096, PROT_READ) == 0 && stat(pages + 4092, &attr) == -1 && errno == ENOENT);
    CHECK(mmap(pages, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
    REFUSED(stat(pages + 4092, &attr));
    CHECK(munmap(pages, 8192) == 0);
    REFUSED(unlink(pages + 4096));
}

static void finish(struct aiocb *control) {
    const struct aiocb *const list[] = {control};
    CHECK(aio_suspend(list, 1, NULL) == 0 && aio_error(control) == 0 && aio_return(control) == 1);
}

/* Not counted, but told of. */
static void asynchronous(void) {
    char bytes[3];
    int fd = open_data();
    struct aiocb one = {.aio_fildes = fd, .aio_buf = bytes, .aio_nbytes = 1};
    struct aiocb two = {.aio_fildes = fd, .aio_buf = bytes + 1, .aio_nbytes = 1, .aio_lio_opcode = LIO_READ};
    struct aiocb three = {.aio_fildes = fd, .aio_buf = bytes + 2, .aio_nbytes = 1, .aio_lio_opcode = LIO_READ};
    struct aiocb *const list[] = {&two, NULL, &three};
    struct aiocb *const *volatile nowhere = NULL; /* what the compiler must not know */
    CHECK(aio_read(&one) == 0);
    finish(&one);
    CHECK(lio_listio(LIO_WAIT, list, 3, NULL) == 0 && aio_return(&two) == 1 && aio_return(&three) == 1);
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): it is what is tested */
    CHECK(lio_listio(77, nowhere, 3, NULL) == -1 && errno == EINVAL);
    one.aio_fildes = open("/dev/null", O_WRONLY); /* no file here */
    CHECK(aio_write(&one) == 0);
    finish(&one);
}

/* Calls that succeed leave it alone. */
static void keep_errno(void) {
    struct stat attr;
    errno = 77;
    CHECK(stat("/", &attr) == 0);
    int fd = open_data();
    read_often(fd, 1);
    CHECK(close(fd) == 0);
    FILE *stream = fopen("data", "r");
    CHECK(stream && fclose(stream) == 0);
    DIR *directory = opendir(".");
    CHECK(directory && readdir(directory) && closedir(directory) == 0);
    CHECK(errno == 77);
}

/* The loader keeps one message for each thread, until it is asked for it or does something else. */
static void keep_loader_error(void) {
    struct stat attr;
    CHECK(!dlerror());
    CHECK(!dlopen("./no-such-library", RTLD_NOW));
    FILE *stream = fopen("data", "w+");
    CHECK(stream && fputs("line\n", stream) >= 0 && fflush(stream) == 0 && fclose(stream) == 0);
    CHECK(lstat("data", &attr) == 0 && chmod("data", 0600) == 0 && truncate("data", 1) == 0 && unlink("data") == 0);
    puts(dlerror());
    CHECK(!dlerror());
}

int main(int argc, char **argv) {
    static const struct calls_row rows[] = {
        {"child_of_vfork", write_in_child_of_vfork},
        {"spawned", spawn},
        {"clone", in_clone},
        {"raw_children", in_raw_children},
        {"execute", execute},
        {"execute_on_small_stack", on_small_stack_execute},
        {"execute_without_library", execute_without_library},
        {"without_thread", without_thread},
        {"small_stack", on_small_stack},
        {"jumps", jump_out},
        {"cancelled", cancel_anywhere},
        {"exiting_threads", exit_threads},
        {"at_exit", at_exit},
        {"small_files", small_files},
        {"few_descriptors", few_descriptors},
        {"no_memory", no_memory},
        {"close_all", close_all},
        {"another_root", in_another_root},
        {"without_proc", without_proc},
        {"bad_names", bad_names},
        {"asynchronous", asynchronous},
        {"errno", keep_errno},
        {"loader_error", keep_loader_error},
    };
    ROW_NAMED(rows, argc == 2 ? argv[1] : NULL)->make();
    return 0;
}
