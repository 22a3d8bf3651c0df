/* Creates, looks up or removes many empty files in one directory as fast as it can, and prints microseconds per file.
 * Threads share the files evenly; every file is touched once, so no cache of names or attributes can help.
 *
 * usage: storm create|stat|unlink DIRECTORY FILES [THREADS] */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256
#define NAME_SIZE 24

typedef int (*storm_fn)(int dir_fd, const char *name);

struct share {
    pthread_t thread;
    storm_fn touch;
    int dir_fd;
    long first;
    long end;
    int error; /* of the file that failed; ends the share */
};

static int create_file(int dir_fd, const char *name) {
    int fd = openat(dir_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    return fd < 0 ? -1 : close(fd);
}

static int stat_file(int dir_fd, const char *name) {
    struct stat attr;
    return fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW);
}

static int unlink_file(int dir_fd, const char *name) {
    return unlinkat(dir_fd, name, 0);
}

static storm_fn storm_named(const char *name) {
    static const struct {
        const char *name;
        storm_fn touch;
    } storms[] = {{"create", create_file}, {"stat", stat_file}, {"unlink", unlink_file}};
    for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
        if (strcmp(storms[i].name, name) == 0)
            return storms[i].touch;
    }
    return NULL;
}

static void *touch_share(void *argument) {
    struct share *share = argument;
    char name[NAME_SIZE];
    for (long i = share->first; i < share->end && share->error == 0; i++) {
        snprintf(name, sizeof(name), "f%09ld", i);
        if (share->touch(share->dir_fd, name) < 0)
            share->error = errno;
    }
    return NULL;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Returns 0 or the errno of the first share that failed. */
static int touch_all(storm_fn touch, int dir_fd, long file_count, long thread_count) {
    static struct share shares[THREADS_MAX];
    long started = 0;
    int error = 0;
    for (; started < thread_count && error == 0; started++) {
        struct share *share = &shares[started];
        *share = (struct share){.touch = touch,
                                .dir_fd = dir_fd,
                                .first = file_count * started / thread_count,
                                .end = file_count * (started + 1) / thread_count};
        error = pthread_create(&share->thread, NULL, touch_share, share);
        if (error != 0)
            break;
    }
    for (long i = 0; i < started; i++) {
        pthread_join(shares[i].thread, NULL);
        error = error != 0 ? error : shares[i].error;
    }
    return error;
}

int main(int argc, char **argv) {
    storm_fn touch = argc == 4 || argc == 5 ? storm_named(argv[1]) : NULL;
    long file_count = touch ? strtol(argv[3], NULL, 10) : 0;
    long thread_count = touch && argc == 5 ? strtol(argv[4], NULL, 10) : 1;
    if (file_count < 1 || file_count > 999999999 || thread_count < 1 || thread_count > THREADS_MAX) {
        fprintf(stderr, "usage: storm create|stat|unlink DIRECTORY FILES [THREADS]\n");
        return 2;
    }
    int dir_fd = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        fprintf(stderr, "storm: cannot open %s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    double start_s = seconds_now();
    int error = touch_all(touch, dir_fd, file_count, thread_count);
    double elapsed_s = seconds_now() - start_s;
    close(dir_fd);
    if (error != 0) {
        fprintf(stderr, "storm: cannot %s files in %s: %s\n", argv[1], argv[2], strerror(error));
        return 1;
    }
    printf("%.4f\n", elapsed_s * 1e6 / (double)file_count);
    return 0;
}
