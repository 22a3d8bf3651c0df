/* Starts processes one after the other that open a file, and kills each a moment later, at different moments.
 *
 * usage: kill_openers FILE COUNT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LATEST_KILL_NS 300000L
#define STEP_NS 1009L

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: kill_openers FILE COUNT\n");
        return 2;
    }
    long count = strtol(argv[2], NULL, 10);
    for (long i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(open(argv[1], O_RDONLY | O_CLOEXEC) < 0);
        if (child < 0) {
            perror("fork");
            return 1;
        }
        nanosleep(&(struct timespec){.tv_nsec = i * STEP_NS % LATEST_KILL_NS}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return 0;
}
