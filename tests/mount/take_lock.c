/* Takes a lock of a file, and waits for it if another has it. Then holds it until it is killed, or writes to another file
 * first.
 *
 * usage: take_lock flock|shared|fcntl|ofd FILE [NEXT FILE]...; a NEXT is one of these, "write" or "thread" (which does the
 * rest in a second thread); prints "held" behind each */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int take(const char *kind, int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (strcmp(kind, "flock") == 0)
        return flock(fd, LOCK_EX);
    if (strcmp(kind, "shared") == 0)
        return flock(fd, LOCK_SH);
    if (strcmp(kind, "fcntl") == 0)
        return fcntl(fd, F_SETLKW, &lock);
    if (strcmp(kind, "ofd") == 0)
        return fcntl(fd, F_OFD_SETLKW, &lock);
    return strcmp(kind, "write") == 0 && write(fd, "x", 1) == 1 ? 0 : -1;
}

/* arguments: pairs, and NULL behind the last one */
static void *do_all(void *context) {
    char **arguments = context;
    for (; arguments[0] && arguments[1]; arguments += 2) {
        pthread_t thread;
        if (strcmp(arguments[0], "thread") == 0) {
            if (pthread_create(&thread, NULL, do_all, arguments + 2) == 0)
                pthread_join(thread, NULL);
            return NULL;
        }
        int fd = open(arguments[1], O_RDWR | O_CLOEXEC);
        if (fd < 0 || take(arguments[0], fd) < 0) {
            perror(arguments[1]);
            exit(1);
        }
        puts("held");
        fflush(stdout);
    }
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: take_lock flock|shared|fcntl|ofd FILE [NEXT FILE]...\n");
        return 2;
    }
    do_all(argv + 1);
    return 0;
}
