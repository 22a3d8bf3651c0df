/* Holds a write lease on a file until it is killed: who opens the file waits for it to be given up, which it is not.
 *
 * usage: hold_lease FILE; prints "held" */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: hold_lease FILE\n");
        return 2;
    }
    signal(SIGIO, SIG_IGN); /* "somebody waits" */
    int fd = open(argv[1], O_RDWR | O_CLOEXEC);
    if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
        perror(argv[1]);
        return 1;
    }
    puts("held");
    fflush(stdout);
    for (;;)
        pause();
}
