#include "run_attach.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/numbers.h"
#include "answer_page.h"
#include "base.h"
#include "collector.h"
#include "mounts.h"

#define DIRECTORY_BYTES_MAX 50 /* so that the command is on one line */

/* Asks no daemon or server. */
static bool holds_files(const char *directory) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    dev_t device;
    if (mounts_device_at(directory, &device) < 0)
        return false;
    mounts_open(&table);
    return !mounts_of_device(&table, device, &entry) || !mounts_is_pseudo(entry.type); /* not found: of a subvolume */
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

static bool sees(const struct aggstats_profile *layer) {
    return (SEES_FOREIGN || layer->not_seen[AGGSTATS_UNSEEN_FOREIGN] == 0) &&
           (layer->not_seen[AGGSTATS_UNSEEN_IO_URING] == 0 || collector_counts(COLLECTOR_RINGS));
}

char *run_attach_command(const char *directory, const struct aggstats_profile *layer) {
    if (!directory || !aggstats_profile_has_unseen(layer) || !sees(layer) || !collector_is_possible())
        return NULL;
    CLEANUP_FREE char *quoted = answer_next_quote(directory);
    char *command = NULL;
    if (!quoted || strlen(quoted) > DIRECTORY_BYTES_MAX ||
        asprintf(&command, "%sosprof attach %s", geteuid() == 0 ? "" : "sudo ", quoted) < 0)
        return NULL;
    return command;
}
