#include "run_attach.h"

#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "answer_page.h"
#include "base.h"
#include "collector.h"
#include "pseudo_filesystems.h"

#define DIRECTORY_BYTES_MAX 50 /* so that the command is on one line */

static bool holds_files(const char *directory) {
#define TYPE_ELEMENT(MAGIC, NAME) MAGIC,
    static const unsigned long types[] = {PSEUDO_FILESYSTEMS(TYPE_ELEMENT)};
    struct statfs fs;
    if (statfs(directory, &fs) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if ((unsigned long)fs.f_type == types[i])
            return false;
    return true;
}

const char *run_attach_directory(const struct option_list *directories) {
    const char *directory = directories->count == 0 ? "." : directories->texts[0];
    return directories->count < 2 && holds_files(directory) ? directory : NULL;
}

#ifdef __x86_64__
#define SEES_FOREIGN true
#else
#define SEES_FOREIGN false /* not those of 32 bits */
#endif

static bool sees(const char *not_seen) {
    return (SEES_FOREIGN || !strstr(not_seen, "foreign")) &&
           (!strstr(not_seen, "io_uring") || collector_counts(COLLECTOR_RINGS));
}

char *run_attach_command(const char *directory, const struct aggstats_profile *layer) {
    const char *not_seen = aggstats_profile_label(layer, "not_seen");
    if (!directory || !not_seen || !sees(not_seen) || !collector_is_possible())
        return NULL;
    CLEANUP_FREE char *quoted = answer_next_quote(directory);
    char *command = NULL;
    if (!quoted || strlen(quoted) > DIRECTORY_BYTES_MAX ||
        asprintf(&command, "%sosprof attach %s", geteuid() == 0 ? "" : "sudo ", quoted) < 0)
        return NULL;
    return command;
}
