/* PROBE DIR TOPIC...: runs each topic in DIR/TOPIC, in a process of its own, and prints what happened.
 * PROBE --list: the topics. Which there are is another file: posix_probe_topics.c, behaviour_topics.c. */
#include "posix_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOPIC_SECONDS = 60 };

long probe_result(const char *call, long result) {
    if (result == -1)
        printf("%s = -1 %s\n", call, strerrorname_np(errno));
    else
        printf("%s = %ld\n", call, result);
    fflush(stdout);
    return result;
}

int probe_opened(const char *call, int fd) {
    if (fd == -1)
        probe_result(call, -1);
    else
        probe_note("%s = a descriptor", call);
    return fd;
}

void probe_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun one line above */
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void print_stat(const char *name, const struct stat *st) {
    /* what a directory's size means is the file system's own affair, and depends on its past */
    long long size_bytes = S_ISDIR(st->st_mode) ? 0 : (long long)st->st_size;
    probe_note("%s: mode %06o links %lu owner %u:%u size %lld device %u:%u", name, st->st_mode,
               (unsigned long)st->st_nlink, st->st_uid, st->st_gid, size_bytes, major(st->st_rdev), minor(st->st_rdev));
}

void probe_stat(const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0)
        probe_note("%s: %s", path, strerrorname_np(errno));
    else
        print_stat(path, &st);
}

void probe_fstat(int fd) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        probe_note("descriptor: %s", strerrorname_np(errno));
    else
        print_stat("descriptor", &st);
}

static void print_beginning(const char *data, size_t size) {
    fputs(", begins \"", stdout);
    for (size_t i = 0; i < size && i < 48; i++) {
        if (data[i] >= ' ' && data[i] <= '~')
            putchar(data[i]);
        else
            printf("\\%03o", (unsigned char)data[i]);
    }
    puts("\"");
}

void probe_content(const char *path) {
    FILE *stream = fopen(path, "re");
    if (!stream) {
        probe_note("%s: contents: %s", path, strerrorname_np(errno));
        return;
    }
    unsigned long hash = 1469598103934665603UL; /* FNV-1a */
    char beginning[48];
    size_t size = 0;
    for (int byte; (byte = getc(stream)) != EOF; size++) {
        hash = (hash ^ (unsigned long)byte) * 1099511628211UL;
        if (size < sizeof(beginning))
            beginning[size] = (char)byte;
    }
    printf("%s: contents: %zu bytes%s, checksum %016lx", path, size, ferror(stream) ? " and an error" : "", hash);
    print_beginning(beginning, size);
    fclose(stream);
}

static void must(int ok, const char *what, const char *path) {
    if (ok)
        return;
    fprintf(stderr, "probe: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(2);
}

void probe_make(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    must(fd >= 0, "make", path);
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "write", path);
    must(close(fd) == 0, "close", path);
}

ssize_t probe_fill(int fd, off_t offset, size_t size) {
    char *pattern = malloc(size);
    if (!pattern)
        return -1;
    for (size_t i = 0; i < size; i++)
        pattern[i] = (char)('!' + (offset + (off_t)i) % 89);
    ssize_t written = pwrite(fd, pattern, size, offset);
    free(pattern);
    return written;
}

void probe_shell(const char *command) {
    fflush(stdout);
    int status = system(command); /* NOLINT(cert-env33-c): fixed commands of the probes */
    probe_note("%s: exit status %d", command, WEXITSTATUS(status));
}

static int list_topics(void) {
    for (const struct probe_topic *topic = probe_topics; topic->name; topic++)
        puts(topic->name);
    return 0;
}

static const struct probe_topic *find_topic(const char *name) {
    for (const struct probe_topic *topic = probe_topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0)
            return topic;
    return NULL;
}

/* The process of a topic. What hangs is ended by the alarm. */
static void run_topic(const char *directory, const struct probe_topic *topic) {
    must(chdir(directory) == 0 && chdir(topic->name) == 0, "enter the directory for", topic->name);
    alarm(TOPIC_SECONDS);
    topic->run();
    exit(0);
}

static void await_topic(pid_t child) {
    int status = 0;
    must(waitpid(child, &status, 0) == child, "wait for", "a topic");
    if (WIFSIGNALED(status))
        probe_note("ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        probe_note("exit status %d", WEXITSTATUS(status));
}

static int run_topics(const char *directory, char **names) {
    umask(022);
    for (; *names; names++) {
        const struct probe_topic *topic = find_topic(*names);
        if (!topic) {
            fprintf(stderr, "probe: no topic %s\n", *names);
            return 2;
        }
        probe_note("topic %s", topic->name);
        pid_t child = fork();
        must(child >= 0, "make a process for", topic->name);
        if (child == 0)
            run_topic(directory, topic);
        await_topic(child);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list_topics();
    if (argc > 2)
        return run_topics(argv[1], argv + 2);
    fputs("usage: PROBE DIR TOPIC... | PROBE --list\n", stderr);
    return 2;
}
