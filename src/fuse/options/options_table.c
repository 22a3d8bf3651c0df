/* The tables that the command line is parsed with. */
#include "options_table.h"

#include <stddef.h>
#include <string.h>

#include "base.h"

#define OPTION(text, member)                                                                                           \
    { text, offsetof(struct options, member), 1 }
#define OPPOSITE_OPTION(text, member)                                                                                  \
    { text, offsetof(struct options, member), 0 }

const struct fuse_opt options_table[] = {
    OPTION("-f", foreground),
    OPTION("-s", single_threaded),
    OPTION("-d", debug),
    OPTION("debug", debug),
    OPTION("profile=%s", profile),
    OPTION("control=%s", control_name),
    OPTION("live=%s", live_directory),
    OPTION("causes=%s", causes),
    OPTION("events=%s", events),
    OPTION("events_names", events_names),
    OPTION("slowlog=%s", slow_log),
    OPTION("io_uring", over_ring),
    OPTION("allow_other", allow_other),
    OPTION("default_permissions", default_permissions),
    OPTION("no_default_permissions", no_default_permissions),
    OPTION("pseudofs", shows_pseudo),
    OPTION("posix_lock", forward_posix_locks),
    OPTION("flock", forward_flocks),
    OPTION("noatime", no_atime),
    OPTION("nodiratime", no_directory_atime),
    OPTION("remount", remount),
    OPPOSITE_OPTION("atime", no_atime),
    OPPOSITE_OPTION("diratime", no_directory_atime),
    FUSE_OPT_KEY("-h", KEY_HELP),
    FUSE_OPT_KEY("--help", KEY_HELP),
    FUSE_OPT_KEY("-V", KEY_VERSION),
    FUSE_OPT_KEY("--version", KEY_VERSION),
    FUSE_OPT_KEY("--complete", KEY_COMPLETE), /* for completions/: see options_print_completion() */
    FUSE_OPT_KEY("max_read=", KEY_MAX_READ),
    FUSE_OPT_KEY("label=", KEY_LABEL),
    FUSE_OPT_KEY("allow_other", FUSE_OPT_KEY_KEEP), /* libfuse wants to know too */
    FUSE_OPT_KEY("default_permissions", FUSE_OPT_KEY_KEEP),
    FUSE_OPT_KEY("-d", FUSE_OPT_KEY_KEEP),
    FUSE_OPT_KEY("debug", FUSE_OPT_KEY_KEEP),
    FUSE_OPT_KEY("io_uring", FUSE_OPT_KEY_KEEP),
    FUSE_OPT_END,
};

#define RAW_OPTION(text, member)                                                                                       \
    { text, offsetof(struct raw_options, member), 1 }
const struct fuse_opt options_raw_table[] = {
    RAW_OPTION("resolution=%s", resolution),
    RAW_OPTION("cache=%s", cache),
    RAW_OPTION("timing=%s", timing),
    RAW_OPTION("data=%s", data),
    RAW_OPTION("interval=%s", interval),
    RAW_OPTION("intervals=%s", intervals),
    RAW_OPTION("joint=%s", joint),
    RAW_OPTION("by=%s", by),
    RAW_OPTION("groups=%s", groups),
    RAW_OPTION("workers=%s", workers),
    RAW_OPTION("rotate=%s", rotate),
    RAW_OPTION("keep=%s", keep),
    RAW_OPTION("slow=%s", slow),
    RAW_OPTION("events_size=%s", events_size),
    RAW_OPTION("events_ring=%s", events_ring),
    RAW_OPTION("slowlog_size=%s", slow_log_size),
    RAW_OPTION("slowlog_rate=%s", slow_log_rate),
    FUSE_OPT_END,
};

static const char *const resolution_words[] = {"1", "2", "4", "8", NULL};
static const char *const cache_words[] = {
    [CACHE_AUTO] = "auto", [CACHE_NONE] = "none", [CACHE_ALWAYS] = "always", [CACHE_ALWAYS + 1] = NULL};
static const char *const timing_words[] = {[PROF_TIMING_OFF] = "off",
                                           [PROF_TIMING_CALL] = "call",
                                           [PROF_TIMING_TSC] = "tsc",
                                           [PROF_TIMING_FULL] = "full",
                                           [PROF_TIMING_FULL + 1] = NULL};
static const char *const data_words[] = {"copy", "passthrough", NULL};
static const char *const workers_words[] = {"adaptive", "plain", NULL};

const char *const *options_words(const char *option) {
    static const struct {
        const char *option;
        const char *const *words;
    } choices[] = {
        {"resolution", resolution_words}, {"cache", cache_words}, {"timing", timing_words}, {"data", data_words},
        {"workers", workers_words},
    };
    for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
        if (strcmp(option, choices[i].option) == 0)
            return choices[i].words;
    }
    return NULL;
}

const char *cache_mode_name(enum cache_mode mode) {
    return cache_words[mode];
}
