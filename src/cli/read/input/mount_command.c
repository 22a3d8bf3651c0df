/* Commands for mounts. The file that a command names is made here, and its descriptor is passed to the process that
 * serves the mount (control_server.h), which opens nothing by name. If that has no socket, the name is written to its
 * control file as the rest of a line, and that process opens it, following no symbolic link. */
#include "mount_command.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "aggstats.h"
#include "base.h"
#include "command.h"
#include "input.h"
#include "mounts.h"
#include "option_table.h"
#include "path.h"

/* ---- The place of the file ---------------------------------------------------------------------- */

struct place {
    int dir_fd;
    char *path;       /* absolute, without symbolic links on the way */
    const char *name; /* the last component of the path */
};

#define PLACE_NONE                                                                                                     \
    { .dir_fd = -1 }

static void place_finish(struct place *place) {
    close_fd(&place->dir_fd);
    free(place->path);
}

#define CLEANUP_PLACE __attribute__((cleanup(place_finish)))

/* The file need not exist. place: empty; the caller finishes it. Returns 0, or 1 after reporting an error. */
static int find_place(const char *file, struct place *place) {
    char directory[PATH_MAX];
    int error = open_parent(AT_FDCWD, file, &place->dir_fd, &place->name);
    if (error == 0)
        error = path_of_open(place->dir_fd, directory);
    if (error == 0 && !(place->path = path_join(directory, place->name)))
        error = -ENOMEM;
    if (error) {
        complain("cannot save the profile in %s: %s", file, strerror(-error));
        return 1;
    }
    place->name = strrchr(place->path, '/') + 1;
    return 0;
}

/* ---- The file ----------------------------------------------------------------------------------- */

struct made_file {
    const struct place *place;
    enum mount_file_use use;
    struct nameless_file file;
    bool has_name;
};

/* A profile with names of files is for its owner only; so is one that cannot be read. */
static bool is_private(int fd) {
    struct aggstats_profile profile = {0};
    struct aggstats_parse_error why;
    CLEANUP_FD int copy_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    CLEANUP_STREAM FILE *stream = copy_fd >= 0 && lseek(copy_fd, 0, SEEK_SET) == 0 ? fdopen(copy_fd, "r") : NULL;
    if (!stream)
        return true;
    steal_fd(&copy_fd);
    if (aggstats_profile_parse(stream, &profile, &why) < 0)
        return true;
    bool has_paths = aggstats_profile_has_paths(&profile);
    aggstats_profile_finish(&profile);
    return has_paths;
}

/* For struct control_passed, when the file is complete. */
static int give_name(void *context) {
    struct made_file *made = context;
    if (made->has_name)
        return 0;
    if (made->use != MOUNT_FILE_FILLED && !is_private(made->file.fd))
        (void)fchmod(made->file.fd, new_file_mode());
    int error = nameless_file_give_name(&made->file, made->place->name, made->use == MOUNT_FILE_REPLACED);
    made->has_name = error == 0;
    return error;
}

/* ---- Commands ----------------------------------------------------------------------------------- */

static char *format_command(const char *verb, const char *path) {
    char *line = NULL;
    return asprintf(&line, "%s %s\n", verb, path ? path : "") < 0 ? NULL : line;
}

/* Whether the daemon of the mount would answer requests for the file. Found out by the table of mounts: a system call on
 * the mount is counted where osprof attach watches it. A path that is no mount point may be the socket itself. */
static bool is_in(const char *mount, const struct place *place) {
    CLEANUP_FREE char *path = input_find_mount(mount);
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    struct statx attr;
    if (!path || statx(place->dir_fd, "", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | AT_EMPTY_PATH, 0, &attr) < 0)
        return false;
    mounts_open(&table);
    return mounts_at(&table, path, &entry) && mounts_is_fuse(&entry) &&
           entry.device == makedev(attr.stx_dev_major, attr.stx_dev_minor);
}

/* Passes the file to the process that serves the mount. The name in the command is used only for messages. */
static int pass_file(const char *mount, const char *verb, const struct place *place, enum mount_file_use use) {
    struct made_file made = {.place = place, .use = use, .file.fd = -1};
    CLEANUP_FREE char *shown = strdup(place->path);
    CLEANUP_FREE char *line = shown ? format_command(verb, make_line(shown)) : NULL;
    if (is_in(mount, place))
        return -ELOOP;
    int error = line ? nameless_file_create(place->dir_fd, &made.file) : -ENOMEM;
    if (error == 0 && use == MOUNT_FILE_FILLED)
        error = give_name(&made);
    if (error)
        return error;
    const struct control_passed passed = {.fd = made.file.fd, .give_name = give_name, .context = &made};
    error = input_command(mount, line, &passed);
    if (error == 0 && use == MOUNT_FILE_REPLACED)
        error = give_name(&made);
    if (error && error != -ECONNRESET && made.has_name) /* the mount has reported a failure */
        unlinkat(place->dir_fd, place->name, 0);
    nameless_file_finish(&made.file);
    return error;
}

/* Tells a mount without a socket the name, as the rest of a line. */
static int tell_name(const char *mount, const char *verb, const struct place *place, const char *file) {
    const char *path = place->path;
    CLEANUP_FREE char *line = format_command(verb, path);
    const char *why = strchr(path, '\n')                            ? "its name has a newline"
                      : strchr(" \t\v\f\r", path[strlen(path) - 1]) ? "its name ends in a blank"
                                                                    : NULL;
    if (why) {
        complain("cannot save the profile in %s: %s", file, why);
        return 1;
    }
    return line ? input_command(mount, line, NULL) : -ENOMEM;
}

/* Sends the process that serves a mount the command "VERB FILE". The file is made here, with the rights and in the
 * directories of this process. file: NULL for none. Reports all errors but those of the command itself.
 * Returns 0, -errno of the command, or 1 after reporting an error */
static int give_command(const char *mount, const char *verb, const char *file, enum mount_file_use use) {
    if (use != MOUNT_NO_FILE && file) {
        CLEANUP_PLACE struct place place = PLACE_NONE;
        if (find_place(file, &place) != 0)
            return 1;
        int error = pass_file(mount, verb, &place, use);
        return error == -ENOTCONN ? tell_name(mount, verb, &place, file) : error;
    }
    if (file && strchr(file, '\n')) /* a word */
        return -EINVAL;
    CLEANUP_FREE char *line = format_command(verb, file);
    return line ? input_command(mount, line, NULL) : -ENOMEM;
}

/* ---- Subcommands -------------------------------------------------------------------------------- */

static void complain_failed(const struct mount_verb *verb, const char *mount, const char *file, int error) {
    const char *why = verb->why ? verb->why(error, file) : NULL;
    const char *to = verb->to ? verb->to : "";
    const char *shown = !verb->to ? "" : file ? file : verb->no_file;
    if (!why)
        why = error == -ELOOP        ? "it lies in the mount itself"
              : error == -ECONNRESET ? "osproffs has ended meanwhile"
              : error == -ECANCELED  ? "the mount is ending; its final profile has these calls"
                                     : strerror(-error);
    complain("%s %s%s%s%s%s: %s%s", verb->failed, mount, to[0] ? " " : "", to, to[0] ? " " : "", shown, why,
             verb->unchanged ? verb->unchanged : "");
}

enum status mount_verb_run(const struct command *command, int argc, char **argv) {
    const struct mount_verb *verb = command->mount_verb;
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    const int file_count = (int)arguments.rest_count - 1;
    if (file_count < verb->files_min || file_count > verb->files_max)
        return usage_error(command, "%s", verb->wrong_usage);
    const char *mount = arguments.rest[0];
    const char *file = file_count > 0 ? arguments.rest[1] : NULL;
    if (verb->act)
        return verb->act(mount);
    int error = give_command(mount, verb->verb, file, verb->use);
    if (error < 0)
        complain_failed(verb, mount, file, error);
    return error ? STATUS_TROUBLE : STATUS_OK;
}
