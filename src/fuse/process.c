/* /proc/N/status tells a thread's process, /proc/N/stat of that process its name and start (proc(5)). */
#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

static bool read_proc(uint64_t number, const char *file, char *ret_text, size_t size_bytes) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/%s", number, file);
    return read_beginning(AT_FDCWD, path, ret_text, size_bytes);
}

/* "Tgid:" stands a few lines down; the lines before it have no newline in their values. */
static bool find_process(uint32_t thread, uint64_t *ret_process) {
    char status[512];
    static const char key[] = "\nTgid:";
    const char *line = read_proc(thread, "status", status, sizeof(status)) ? strstr(status, key) : NULL;
    if (!line)
        return false;
    *ret_process = strtoull(line + strlen(key), NULL, 10);
    return *ret_process > 0;
}

/* "4711 (name) S 1 ...": the name may hold anything; the start is the 20th word behind it. */
static bool parse_stat(char *stat, struct aggstats_identity *identity) {
    char *name = strchr(stat, '(');
    char *word = strrchr(stat, ')');
    if (!name || !word)
        return false;
    *word++ = '\0';
    for (int i = 0; i < 19 && word; i++)
        word = strchr(word + 1, ' ');
    if (!word)
        return false;
    identity->instance = strtoull(word, NULL, 10);
    snprintf(identity->name, sizeof(identity->name), "%s", name + 1);
    return true;
}

bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct aggstats_identity identity = {0};
    char stat[1024];
    (void)context;
    if (!find_process(thread, &identity.id) || !read_proc(identity.id, "stat", stat, sizeof(stat)) ||
        !parse_stat(stat, &identity))
        return false;
    *ret_identity = identity;
    return true;
}
