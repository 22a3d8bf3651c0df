/* The topics of behaviour, and their common functions. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behaviour.h"

const struct probe_topic probe_topics[] = {
    {"remove_while_reading", behaviour_remove_while_reading},
    {"change_while_reading", behaviour_change_while_reading},
    {"rewind", behaviour_rewind},
    {"places", behaviour_places},
    {"streams", behaviour_streams},
    {"link_many", behaviour_link_many},
    {"link_found", behaviour_link_found},
    {"link_shared", behaviour_link_shared},
    {"link_full", behaviour_link_full},
    {"old_times", behaviour_old_times},
    {"show_times", behaviour_show_times},
    {"nameless", behaviour_nameless},
    {"nameless_many", behaviour_nameless_many},
    {"nameless_named", behaviour_nameless_named},
    {"moved_below", behaviour_moved_below},
    {"moved_parent", behaviour_moved_parent},
    {"handles", behaviour_handles},
    {"handles_kept", behaviour_handles_kept},
    {"handles_old", behaviour_handles_old},
    {0},
};

void behaviour_must(int ok, const char *what) {
    if (ok)
        return;
    fprintf(stderr, "behaviour: cannot %s: %s\n", what, strerror(errno));
    exit(2);
}

int behaviour_below(const char *topic) {
    const char *below = getenv("BELOW");
    int dir_fd = below ? open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int fd = openat(dir_fd, topic, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    behaviour_must(fd >= 0, "open the directory below");
    close(dir_fd);
    return fd;
}

void behaviour_settle(void) {
    const char *cached_ms = getenv("CACHED_MS");
    long milliseconds = cached_ms ? strtol(cached_ms, NULL, 10) : 0;
    usleep((useconds_t)milliseconds * 1000);
}

void behaviour_use_file(const char *what, int fd) {
    char text[32] = "";
    probe_note("%s:", what);
    probe_fstat(fd);
    TRY(pread(fd, text, sizeof(text) - 1, 0));
    probe_note("contents: %s", text);
    TRY(pwrite(fd, "more", 4, 3));
    TRY(ftruncate(fd, 11));
    TRY(fchmod(fd, 0604));
    probe_fstat(fd);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void behaviour_list(const char *what, int dir_fd) {
    enum { MOST = 64 };
    char *names[MOST];
    size_t count = 0;
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        probe_note("%s: cannot be listed: %s", what, strerrorname_np(errno));
        return;
    }
    for (const struct dirent *entry; count < MOST && (entry = readdir(stream));)
        names[count++] = strdup(entry->d_name);
    closedir(stream);
    qsort(names, count, sizeof(names[0]), compare_names);
    printf("%s:", what);
    for (size_t i = 0; i < count; i++) {
        printf(" %s", names[i]);
        free(names[i]);
    }
    putchar('\n');
    fflush(stdout);
}
