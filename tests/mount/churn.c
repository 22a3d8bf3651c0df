/* churn DIR SEED STEPS: creates, links, renames and removes names at random in the few directories that other processes
 * churn at the same time. Each new file gets one write(2) of one byte. Prints how many writes succeeded. Names that
 * are suddenly there, or gone, are expected; every other error ends it with status 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORIES = 5, NAMES = 61 };

struct churn {
    unsigned seed;
    long writes;
};

static unsigned pick(struct churn *churn, unsigned count) {
    return (unsigned)rand_r(&churn->seed) % count;
}

struct name {
    char text[64];
};

static struct name pick_name(struct churn *churn) {
    struct name name;
    snprintf(name.text, sizeof(name.text), "shared-%u/%u", pick(churn, DIRECTORIES), pick(churn, NAMES));
    return name;
}

static int create_file(struct churn *churn) {
    struct name name = pick_name(churn);
    int fd = open(name.text, O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (fd < 0)
        return -1;
    bool written = write(fd, "x", 1) == 1;
    churn->writes += written;
    return close(fd) == 0 && written ? 0 : -1;
}

static int step(struct churn *churn) {
    struct name a = pick_name(churn);
    struct name b = pick_name(churn);
    struct stat st;
    switch (pick(churn, 8)) {
    case 0:
        return mkdir(a.text, 0755);
    case 1:
        return rmdir(a.text);
    case 2:
        return unlink(a.text);
    case 3:
        return link(a.text, b.text);
    case 4:
        return rename(a.text, b.text);
    case 5:
        return renameat2(AT_FDCWD, a.text, AT_FDCWD, b.text, RENAME_EXCHANGE);
    case 6:
        return lstat(a.text, &st);
    default:
        return create_file(churn);
    }
}

static bool is_expected(int error) {
    return error == EEXIST || error == ENOENT || error == ENOTEMPTY || error == EISDIR || error == ENOTDIR ||
           error == EPERM /* link of a directory */;
}

static int prepare(const char *directory) {
    if (chdir(directory) < 0)
        return -1;
    for (int i = 0; i < DIRECTORIES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "shared-%d", i);
        if (mkdir(name, 0755) < 0 && errno != EEXIST)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: churn DIR SEED STEPS\n", stderr);
        return 2;
    }
    struct churn churn = {.seed = (unsigned)strtoul(argv[2], NULL, 10)};
    long steps = strtol(argv[3], NULL, 10);
    if (prepare(argv[1]) < 0) {
        perror("churn");
        return 2;
    }
    for (long i = 0; i < steps; i++)
        if (step(&churn) < 0 && !is_expected(errno)) {
            perror("churn: unexpected error");
            return 1;
        }
    printf("%ld\n", churn.writes);
    return 0;
}
