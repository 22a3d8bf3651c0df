/* The rights of a process that reads programs. */
#include "reader_rights.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing.h"

static bool is_refused(long result) {
    return result < 0 && errno == EPERM;
}

static int read_as_it_may(void) {
    char byte;
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    return file >= 0 && mapped != MAP_FAILED && read(file, &byte, 1) == 1 && fcntl(file, F_GETFL) >= 0 ? 0 : 1;
}

static int write_files(void) {
    return is_refused(open("/dev/null", O_WRONLY)) && is_refused(open("/dev/null", O_RDWR)) &&
                   is_refused(open("/proc/self/mem", O_RDWR)) && is_refused(open("made", O_CREAT, 0600)) &&
                   is_refused(open("/tmp", O_TMPFILE | O_RDWR, 0600)) && is_refused(open("/dev/null", O_TRUNC)) &&
                   is_refused(unlink("made")) && is_refused(truncate("made", 0))
               ? 0
               : 1;
}

static int act_on_others(void) {
    char name[] = "true";
    char *const arguments[] = {name, NULL};
    return is_refused(socket(AF_UNIX, SOCK_STREAM, 0)) && is_refused(execv("/bin/true", arguments)) &&
                   is_refused(fork()) && is_refused(kill(getppid(), 0)) &&
                   is_refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) && is_refused(setuid(0)) &&
                   is_refused(fcntl(0, F_SETFL, 0))
               ? 0
               : 1;
}

/* In a child, under the filter. Returns its exit status */
static int status_of(int (*act)(void)) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && reader_rights_filter() == 0 ? act() : 2);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(it_may_read_files) {
    ck_assert_int_eq(status_of(read_as_it_may), 0);
}

TEST(it_may_write_none) {
    ck_assert_int_eq(status_of(write_files), 0);
}

TEST(it_may_start_signal_or_connect_to_nothing) {
    ck_assert_int_eq(status_of(act_on_others), 0);
}
