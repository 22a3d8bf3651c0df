/* From the options for osproffs to what is needed to start it: the program, and where its files are. */
#include "run_daemon.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "path.h"

/* The value of an option in a list for -o, the last one if there are several.
 * Owner:   the caller frees it
 * Returns NULL if it is not given */
static char *find_option(const char *list, const char *name) {
    CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
    char *value = NULL;
    char *rest = copy;
    for (const char *option = strsep(&rest, ","); option; option = strsep(&rest, ",")) {
        size_t length = strlen(name);
        if (strncmp(option, name, length) != 0 || option[length] != '=')
            continue;
        free(value);
        value = strdup(option + length + 1);
    }
    return value;
}

/* Beside this program, where both are installed; else in PATH. */
static char *find_osproffs(void) {
    const char *given = getenv("OSPROFFS");
    if (given && given[0])
        return strdup(given);
    CLEANUP_FREE char *beside = path_beside_program("osproffs");
    return beside && access(beside, X_OK) == 0 ? steal_pointer(&beside) : strdup("osproffs");
}

/* Opens it, and makes the default one if needed, before anything is mounted over it. */
static int open_live_dir(const char *given) {
    struct live_dirs dirs;
    CLEANUP_FREE char *asked = find_option(given, "live");
    if (asked && strcmp(asked, "none") == 0)
        return -1;
    if (asked)
        return open(asked, O_PATH | O_DIRECTORY | O_CLOEXEC);
    live_dirs_find(&dirs);
    if (live_dirs_make(&dirs) < 0)
        return -1;
    return open(dirs.paths[dirs.chosen], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* True if groups that nobody has asked for are compatible with the given options. */
static bool may_group(const char *given) {
    CLEANUP_FREE char *by = find_option(given, "by");
    CLEANUP_FREE char *timing = find_option(given, "timing");
    return !by && (!timing || strcmp(timing, "full") == 0);
}

int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels, bool wants_groups) {
    CLEANUP_FREE char *profile = find_option(given, "profile");
    struct run_osproffs options = {.given = given, .labels = labels, .live_dir_fd = -1};
    if (profile) {
        complain("cannot take -o profile=%s: osprof run says where the profile goes: -p FILE", profile);
        return -EINVAL;
    }
    options.program = find_osproffs();
    options.control_name = find_option(given, "control");
    if (!options.control_name)
        options.control_name = strdup(".osprof");
    options.has_groups_unasked = wants_groups && may_group(given);
    options.live_dir_fd = open_live_dir(given);
    *ret_options = options;
    if (options.program && options.control_name)
        return 0;
    complain("no memory");
    return -ENOMEM;
}

void run_osproffs_finish(struct run_osproffs *options) {
    free(options->program);
    free(options->control_name);
    close_fd(&options->live_dir_fd);
}
