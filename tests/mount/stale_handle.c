/* stale_handle LOWER MNT: asks the mount again and again for the attributes of a file that is gone, while its inode
 * number is given to new files below. Every answer must be ESTALE; another one ends it with status 1. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ANSWERS = 20000, PATIENCE_S = 20 };

struct maker {
    int lower_fd;
    bool stop; /* atomic */
};

static void *make_and_remove(void *data) {
    struct maker *maker = data;
    while (!__atomic_load_n(&maker->stop, __ATOMIC_RELAXED)) {
        int fd = openat(maker->lower_fd, "file", O_CREAT | O_WRONLY, 0600);
        if (fd < 0 || close(fd) < 0 || unlinkat(maker->lower_fd, "file", 0) < 0)
            break;
    }
    return NULL;
}

/* The first answers may be of the file itself, which the one that asked last may hold for a while. */
static int ask(int fd) {
    time_t end = time(NULL) + PATIENCE_S;
    int stale = 0;
    while (stale < ANSWERS && time(NULL) < end) {
        struct stat attr;
        int error = fstatat(fd, "", &attr, AT_EMPTY_PATH) == 0 ? 0 : errno;
        if (error != ESTALE && (error != 0 || stale > 0)) {
            fprintf(stderr, "stale_handle: %s after %d times ESTALE\n", strerror(error), stale);
            return 1;
        }
        stale += error == ESTALE;
    }
    if (stale == 0)
        fprintf(stderr, "stale_handle: the file was not gone within %d s\n", PATIENCE_S);
    return stale == 0;
}

int main(int argc, char **argv) {
    struct maker maker = {.lower_fd = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1};
    int mnt_fd = argc == 3 ? open(argv[2], O_RDONLY | O_DIRECTORY) : -1;
    int created_fd = openat(mnt_fd, "file", O_CREAT | O_WRONLY, 0600);
    int fd = openat(mnt_fd, "file", O_PATH);
    pthread_t thread;
    if (maker.lower_fd < 0 || fd < 0 || close(created_fd) < 0 || unlinkat(maker.lower_fd, "file", 0) < 0 ||
        pthread_create(&thread, NULL, make_and_remove, &maker) != 0) {
        perror("stale_handle");
        return 2;
    }
    int status = ask(fd);
    __atomic_store_n(&maker.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return status;
}
