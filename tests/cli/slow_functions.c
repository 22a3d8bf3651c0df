/* Slow calls from known functions: slow_functions FILE OFTEN RARELY, numbers of calls. Each waits for a lock of the file
 * that another process holds for a while. Then the program waits for the end of its standard input. With a fourth argument
 * the other process holds the lock for the last call until a line comes from there, and the program ends as soon as that
 * call has returned. With TABLE_INSTRUCTIONS the calls are made by a function that calls itself, and who follows it goes
 * through so many instructions of its unwind table for each of its frames. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELD_NS 60000000

static int fd;
static int ask[2];
static int answer[2];

/* Not inlined, and its calls are not its last ones, which might be jumps. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline, used)) static
#else
#define FUNCTION __attribute__((noinline, noclone, used)) static
#endif

/* The other process has the lock. */
static void let_lock(char what) {
    char held;
    if (write(ask[1], &what, 1) != 1 || read(answer[0], &held, 1) != 1)
        _exit(3);
}

FUNCTION int commit_row(char what) {
    let_lock(what);
    const int failed = flock(fd, LOCK_EX);
    if (what == 'w') /* as soon as the call has returned */
        _exit(failed ? 1 : 0);
    return failed + flock(fd, LOCK_UN);
}

FUNCTION int check_point(char what) {
    let_lock(what);
    const int failed = flock(fd, LOCK_EX);
    return failed + flock(fd, LOCK_UN);
}

#ifdef TABLE_INSTRUCTIONS
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
FUNCTION int commit_deep(char what, int depth) {
    __asm__ volatile(".rept " TEXT(TABLE_INSTRUCTIONS) "\n.cfi_same_value 15\n.endr");
    const int failed = depth > 0 ? commit_deep(what, depth - 1) : check_point(what);
    return failed + (depth < 0);
}
#define commit_row(what) commit_deep(what, 32)
#endif

FUNCTION int run(int often, int rarely, int waits) {
    int failed = 0;
    for (int i = 0; i < rarely; i++)
        failed |= check_point('h');
    for (int i = 0; i < often; i++)
        failed |= commit_row(waits && i == often - 1 ? 'w' : 'h');
    return failed;
}

/* Holds the lock for each call that is announced. */
static void hold_locks(const char *path) {
    const int other = open(path, O_RDWR);
    char what;
    close(ask[1]);
    while (other >= 0 && read(ask[0], &what, 1) == 1) {
        flock(other, LOCK_EX);
        if (write(answer[1], &what, 1) != 1)
            break;
        if (what == 'w')
            (void)!read(STDIN_FILENO, &what, 1);
        else
            nanosleep(&(const struct timespec){.tv_nsec = HELD_NS}, NULL);
        flock(other, LOCK_UN);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc < 4 || pipe(ask) < 0 || pipe(answer) < 0)
        return 2;
    fd = open(argv[1], O_RDWR | O_CREAT, 0644);
    if (fd < 0)
        return 1;
    if (fork() == 0)
        hold_locks(argv[1]);
    close(ask[0]);
    const int failed = run(atoi(argv[2]), atoi(argv[3]), argc > 4);
    close(ask[1]);
    wait(NULL);
    for (char more; read(STDIN_FILENO, &more, 1) > 0;)
        ;
    return failed ? 1 : 0;
}
