/* churn DIR SEED STEPS: creates, links, renames and removes names at random in the few directories that other processes
 * churn at the same time. Writes one byte to each new file, with one write(2). Prints how many writes succeeded. Names
 * that suddenly exist, or are gone, are expected; every other error ends the program with status 1. */
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

static int create_file(struct churn *churn, const char *name) {
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (fd < 0)
        return -1;
    bool written = write(fd, "x", 1) == 1;
    churn->writes += written;
    return close(fd) == 0 && written ? 0 : -1;
}

enum call { MKDIR, RMDIR, UNLINK, LINK, RENAME, EXCHANGE, LSTAT, CREATE, CALLS };

static const char *const call_names[CALLS] = {"mkdir",  "rmdir",    "unlink", "link",
                                              "rename", "exchange", "lstat",  "create"};

static int do_call(struct churn *churn, enum call call, const char *a, const char *b) {
    struct stat st;
    switch (call) {
    case MKDIR:
        return mkdir(a, 0755);
    case RMDIR:
        return rmdir(a);
    case UNLINK:
        return unlink(a);
    case LINK:
        return link(a, b);
    case RENAME:
        return rename(a, b);
    case EXCHANGE:
        return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
    case LSTAT:
        return lstat(a, &st);
    default:
        return create_file(churn, a);
    }
}

static bool is_expected(int error) {
    return error == EEXIST || error == ENOENT || error == ENOTEMPTY || error == EISDIR || error == ENOTDIR ||
           error == EPERM /* link of a directory */;
}

static bool step(struct churn *churn) {
    struct name a = pick_name(churn);
    struct name b = pick_name(churn);
    enum call call = (enum call)pick(churn, CALLS);
    if (do_call(churn, call, a.text, b.text) == 0 || is_expected(errno))
        return true;
    fprintf(stderr, "churn: unexpected error: %s %s (other name: %s): %s\n", call_names[call], a.text, b.text,
            strerror(errno));
    return false;
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
        if (!step(&churn))
            return 1;
    printf("%ld\n", churn.writes);
    return 0;
}
