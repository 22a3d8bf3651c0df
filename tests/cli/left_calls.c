/* Leaves calls on files in the current directory before they return, or only seems to, in a signal handler.
 *
 *     left_calls ACTION      ACTION: a row of the table below
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "checked_calls.h"

#define STACK_BYTES 65536

static sigjmp_buf before_call;
static int data_fd = -1;
static int fifo_fd = -1;

static void handle(int signal, void (*handler)(int), int flags) {
    const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    CHECK(sigaction(signal, &action, NULL) == 0);
}

static void use_other_stack(void) {
    static char stack[STACK_BYTES];
    const stack_t place = {.ss_sp = stack, .ss_size = sizeof(stack)};
    CHECK(sigaltstack(&place, NULL) == 0);
}

static void open_fifo(void) {
    CHECK(mkfifo("fifo", 0600) == 0);
    fifo_fd = open("fifo", O_RDWR);
    CHECK(fifo_fd >= 0);
}

/* A read that waits until a signal comes, which it does when the read has begun. */
static ssize_t read_until_signal(void) {
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    char byte;
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    return read(fifo_fd, &byte, 1);
}

/* ---- Left by a jump ---- */

static void jump(int signal) {
    (void)signal;
    siglongjmp(before_call, 1);
}

static void read_and_jump(int signal) {
    read_often(data_fd, 2);
    jump(signal);
}

/* The second page of what it reads into may not be written. Each time another stream: a buffer that is filled already
 * would answer without the kernel. */
static void read_stream_into_nothing(int times) {
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
    for (volatile int i = 0; i < times; i++) {
        FILE *stream = fopen("data", "r");
        CHECK(stream && setvbuf(stream, NULL, _IOFBF, STACK_BYTES) == 0);
        if (sigsetjmp(before_call, 1) == 0)
            CHECK(fread(pages + 4000, 1, 1000, stream) == 0);
    }
}

static void fault_in_fread(void) {
    data_fd = open_data();
    handle(SIGSEGV, jump, 0);
    read_stream_into_nothing(5);
    use_other_stack();
    handle(SIGSEGV, jump, SA_ONSTACK);
    read_stream_into_nothing(3);
}

static void jump_after_calls(void) {
    data_fd = open_data();
    open_fifo();
    handle(SIGALRM, read_and_jump, 0);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(before_call, 1) == 0)
            CHECK(read_until_signal() < 0);
}

/* ---- Left with the process, or the program ---- */

static void end_process(int signal) {
    (void)signal;
    _exit(0);
}

static void kill_process(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void execute(int signal) {
    (void)signal;
    execl("/bin/true", "true", (char *)NULL);
}

static void end_in_child(void (*handler)(int)) {
    pid_t child = fork();
    if (child == 0) {
        handle(SIGALRM, handler, 0);
        read_until_signal();
    }
    CHECK(waitpid(child, NULL, 0) == child);
}

static void end_in_children(void) {
    open_fifo();
    end_in_child(end_process);
    end_in_child(kill_process);
    end_in_child(execute);
}

/* ---- Not left ---- */

static void end_thread(int signal) {
    (void)signal;
    pthread_exit(NULL);
}

static void *read_in_thread(void *unused) {
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    read_until_signal();
    return unused;
}

/* The thread is unwound, so that its call ends. */
static void end_threads(void) {
    pthread_t thread;
    sigset_t alarms;
    open_fifo();
    handle(SIGALRM, end_thread, 0);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    CHECK(pthread_create(&thread, NULL, read_in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Makes the interrupted call return. */
static void read_and_write(int signal) {
    (void)signal;
    read_often(data_fd, 2);
    CHECK(write(fifo_fd, "x", 1) == 1);
}

static void interrupt_calls(void) {
    data_fd = open_data();
    open_fifo();
    handle(SIGALRM, read_and_write, SA_RESTART);
    CHECK(read_until_signal() == 1);
    use_other_stack();
    handle(SIGALRM, read_and_write, SA_RESTART | SA_ONSTACK);
    CHECK(read_until_signal() == 1);
}

static ucontext_t outside;
static ucontext_t in_call;

static void switch_away(int signal) {
    (void)signal;
    CHECK(swapcontext(&in_call, &outside) == 0);
}

static void read_in_coroutine(void) {
    CHECK(read_until_signal() == 1);
}

/* Two coroutines: the stack of the first lies above all other stacks, the stack of the second below. */
static void switch_in_calls(void) {
    static char stacks[2][STACK_BYTES];
    static ucontext_t coroutine;
    data_fd = open_data();
    open_fifo();
    handle(SIGALRM, switch_away, SA_RESTART);
    char *const places[] = {
        stacks[1], mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0)};
    for (volatile int i = 0; i < 2; i++) {
        CHECK(places[i] != MAP_FAILED && getcontext(&coroutine) == 0);
        coroutine.uc_stack = (stack_t){.ss_sp = places[i], .ss_size = STACK_BYTES};
        coroutine.uc_link = &outside;
        makecontext(&coroutine, read_in_coroutine, 0);
        CHECK(swapcontext(&outside, &coroutine) == 0);
        read_often(data_fd, 7); /* while that one is in its call */
        CHECK(write(fifo_fd, "x", 1) == 1);
        CHECK(swapcontext(&outside, &in_call) == 0);
    }
}

int main(int argc, char **argv) {
    static const struct calls_row rows[] = {
        {"fault_in_fread", fault_in_fread}, {"jump_after_calls", jump_after_calls}, {"ended", end_in_children},
        {"thread_exit", end_threads},       {"interrupted", interrupt_calls},       {"coroutines", switch_in_calls},
    };
    ROW_NAMED(rows, argc == 2 ? argv[1] : NULL)->make();
    return 0;
}
