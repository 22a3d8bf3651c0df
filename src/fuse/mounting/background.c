/* Going into the background. */
#include "background.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#include "base.h"
#include "log.h"

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
