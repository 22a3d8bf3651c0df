/* Changing the flags of an existing mount. mount(8) leaves the change to its helper (mount.fuse3), which starts us with
 * the options of the mount, the options in fstab(5), and the requested options, in this order. */
#include "remount.h"

#include <string.h>
#include <sys/mount.h>

#include <fuse_opt.h>

#include "base.h"
#include "log.h"
#include "mounts.h"
#include "options.h"

#ifndef MS_NOSYMFOLLOW
#define MS_NOSYMFOLLOW 256
#endif

static const struct {
    const char *option;
    unsigned long flag;
    bool is_set;
} flag_options[] = {
    {"rw", MS_RDONLY, false},
    {"ro", MS_RDONLY, true},
    {"suid", MS_NOSUID, false},
    {"nosuid", MS_NOSUID, true},
    {"dev", MS_NODEV, false},
    {"nodev", MS_NODEV, true},
    {"exec", MS_NOEXEC, false},
    {"noexec", MS_NOEXEC, true},
    {"async", MS_SYNCHRONOUS, false},
    {"sync", MS_SYNCHRONOUS, true},
    {"dirsync", MS_DIRSYNC, true},
    {"symfollow", MS_NOSYMFOLLOW, false},
    {"nosymfollow", MS_NOSYMFOLLOW, true},
};

/* Options that every mount has, and those about times that hold in the lower file system anyway. */
static const struct fuse_opt empty_options[] = {
    FUSE_OPT_KEY("remount", 0),
    FUSE_OPT_KEY("relatime", 0),
    FUSE_OPT_KEY("norelatime", 0),
    FUSE_OPT_KEY("strictatime", 0),
    FUSE_OPT_KEY("atime", 0),
    FUSE_OPT_KEY("nostrictatime", 0),
    FUSE_OPT_KEY("lazytime", 0),
    FUSE_OPT_KEY("diratime", 0),
    FUSE_OPT_KEY("nolazytime", 0),
    FUSE_OPT_KEY("user_id=", 0),
    FUSE_OPT_KEY("user=", 0),
    FUSE_OPT_KEY("group_id=", 0),
    FUSE_OPT_KEY("allow_other", 0),
    FUSE_OPT_KEY("noatime", 0),
    FUSE_OPT_KEY("default_permissions", 0),
    FUSE_OPT_KEY("no_default_permissions", 0),
    FUSE_OPT_END,
};

/* Options that libfuse takes when it mounts. */
static const struct fuse_opt libfuse_options[] = {
    FUSE_OPT_KEY("auto_unmount", 0), FUSE_OPT_KEY("allow_root", 0),
    FUSE_OPT_KEY("fsname=", 0),      FUSE_OPT_KEY("subtype=", 0),
    FUSE_OPT_KEY("blksize=", 0),     FUSE_OPT_KEY("context=", 0),
    FUSE_OPT_KEY("fscontext=", 0),   FUSE_OPT_KEY("defcontext=", 0),
    FUSE_OPT_KEY("rootcontext=", 0), FUSE_OPT_END,
};

/* The changes to a mount. */
struct change {
    unsigned long flags;
    char kept[256]; /* given options that a remount cannot change: "profile, by" */
};

static bool take_flag(const char *option, unsigned long *flags) {
    for (size_t i = 0; i < ARRAY_SIZE(flag_options); i++) {
        if (strcmp(option, flag_options[i].option) != 0)
            continue;
        *flags = flag_options[i].is_set ? *flags | flag_options[i].flag : *flags & ~flag_options[i].flag;
        return true;
    }
    return false;
}

static int take_option(void *data, const char *option, int key, struct fuse_args *args) {
    struct change *change = data;
    (void)args;
    if (key == FUSE_OPT_KEY_NONOPT || fuse_opt_match(empty_options, option) || take_flag(option, &change->flags))
        return 0;
    if (!options_have(option) && !fuse_opt_match(libfuse_options, option)) {
        log_message("cannot remount: unknown option '%s'", option);
        return -1;
    }
    size_t used = strlen(change->kept);
    if (option[0] != '-')
        snprintf(change->kept + used, sizeof(change->kept) - used, "%s%.*s", used ? ", " : "",
                 (int)strcspn(option, "="), option);
    return 0;
}

/* Reads the mount's flags, and then those given. */
static int read_change(const struct mounts_entry *mount, int argc, char **argv, struct change *ret_change) {
    static const struct fuse_opt none[] = {FUSE_OPT_END};
    char *lists[] = {mount->fs_options, mount->options};
    *ret_change = (struct change){.flags = 0};
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        CLEANUP_FREE char *list = strdup(lists[i]);
        char *rest = list;
        for (const char *option = strsep(&rest, ","); option; option = strsep(&rest, ","))
            if (strcmp(option, "rw") != 0) /* ro in either list counts */
                take_flag(option, &ret_change->flags);
    }
    struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
    int err = fuse_opt_parse(&args, ret_change, none, take_option) < 0 ? -EINVAL : 0;
    fuse_opt_free_args(&args);
    return err;
}

/* The mount to change. mount(8) names it as the kernel does, so that its daemon need not be asked.
 * Owner:   of *ret_mount: the table */
static bool find_own(const struct options *options, struct mounts_table *table, struct mounts_entry *ret_mount) {
    bool found = mounts_at(table, options->mountpoint, ret_mount);
    CLEANUP_FREE char *path = found ? NULL : realpath(options->mountpoint, NULL);
    if (path)
        found = mounts_at(table, path, ret_mount);
    if (!found || !mounts_is_profiled(ret_mount)) {
        log_message("cannot remount %s: no mount of osproffs is there; 'findmnt -t fuse.osproffs' lists them",
                    options->mountpoint);
        return false;
    }
    CLEANUP_FREE char *lower = strcmp(ret_mount->source, options->lower) ? realpath(options->lower, NULL) : NULL;
    if (strcmp(ret_mount->source, lower ? lower : options->lower) == 0)
        return true;
    log_message("cannot remount %s: it shows %s, not %s", options->mountpoint, ret_mount->source, options->lower);
    return false;
}

/* An option whose value the mount shows to be another; NULL: there is none. */
static const char *find_settled(const struct options *options, const struct mounts_entry *mount) {
    bool is_checked = mounts_has_option(mount->fs_options, "default_permissions");
    if (options->allow_other && !mounts_has_option(mount->fs_options, "allow_other"))
        return "allow_other";
    if (options->default_permissions && !is_checked)
        return "default_permissions";
    if (options->no_default_permissions && is_checked)
        return "no_default_permissions";
    return options->no_atime && !mounts_has_option(mount->options, "noatime") ? "noatime" : NULL;
}

int remount(const struct options *options, int argc, char **argv) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry own;
    struct change change;
    mounts_open(&table);
    if (!find_own(options, &table, &own))
        return 2;
    const char *settled = find_settled(options, &own);
    if (settled) {
        log_message("cannot remount %s with %s: that is settled when it is mounted; unmount it, and mount it anew",
                    own.path, settled);
        return 2;
    }
    if (read_change(&own, argc, argv, &change) < 0)
        return 2;
    if (mount(NULL, own.path, NULL, MS_REMOUNT | change.flags, NULL) < 0) {
        const char *why = errno == EPERM                               ? "only root may: "
                          : errno == EBUSY && change.flags & MS_RDONLY ? "files are open for writing there: "
                                                                       : "";
        log_message("cannot remount %s: %s%s", own.path, why, strerror(errno));
        return 2;
    }
    if (change.kept[0])
        log_message("note: %s: as when %s was mounted; remounting changes only what osproffs(1) says", change.kept,
                    own.path);
    return 0;
}
