/* The file that a command names is made here, and its descriptor is passed to the process that
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
#include "output.h"
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

/* The file need not exist. place: empty; the caller finishes it. Errors: reported to the user */
static int find_place(const char *file, struct place *place) {
    char directory[PATH_MAX];
    int error = open_parent(AT_FDCWD, file, &place->dir_fd, &place->name);
    if (error == 0)
        error = path_of_open(place->dir_fd, directory);
    if (error == 0 && !(place->path = path_join(directory, place->name)))
        error = -ENOMEM;
    if (error == 0)
        place->name = strrchr(place->path, '/') + 1;
    if (error == 0)
        error = output_check_at(place->dir_fd, place->name);
    if (error)
        complain("cannot write %s: %s", file, output_error_text(error));
    return error;
}

/* ---- The file ----------------------------------------------------------------------------------- */

struct made_file {
    const struct place *place;
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
    if (!is_private(made->file.fd))
        (void)fchmod(made->file.fd, new_file_mode());
    int error = output_make_free(made->place->dir_fd, made->place->name);
    if (error == 0)
        error = nameless_file_give_name(&made->file, made->place->name, false);
    made->has_name = error == 0;
    return error;
}

/* ---- Commands ----------------------------------------------------------------------------------- */

/* reason: by the process itself, behind the number of the line; NULL: only the error is known. */
static int complain_refused(const char *place, const char *line, const char *reason, int error) {
    static const char first_line[] = "line 1: ";
    if (error == -ECONNRESET)
        complain("%s: %s: its process has ended meanwhile", place, line);
    else if (error == -ELOOP)
        complain("%s: %s: the file lies in the mount itself", place, line);
    else if (reason && reason[0])
        complain("%s: %s", place,
                 strncmp(reason, first_line, strlen(first_line)) == 0 ? reason + strlen(first_line) : reason);
    else if (error == -ENODATA)
        complain("%s: %s: nothing is recorded", place, line);
    else if (error == -EINVAL)
        complain("%s does not take '%s': osprof-ctl(1) lists what it takes; the log of osproffs says what is wrong",
                 place, line);
    else
        complain("%s: %s: %s", place, line, strerror(-error));
    return error;
}

int mount_command(const char *place, const char *line) {
    CLEANUP_FREE char *reason = NULL;
    CLEANUP_FREE char *text = NULL;
    if (strchr(line, '\n')) {
        complain("%s: one command at a time: '%s' has a new line", place, line);
        return -EINVAL;
    }
    if (asprintf(&text, "%s\n", line) < 0) {
        text = NULL;
        return complain_refused(place, line, NULL, -ENOMEM);
    }
    const int error = input_command(place, text, NULL, &reason);
    return error < 0 ? complain_refused(place, line, reason, error) : error;
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

/* Passes the file to the process that serves the mount. The name in the command is used only for messages.
 * ret_reason: as that of input_command() */
static int pass_file(const char *mount, const char *line, const struct place *place, char **ret_reason) {
    struct made_file made = {.place = place, .file.fd = -1};
    if (is_in(mount, place))
        return -ELOOP;
    int error = nameless_file_create(place->dir_fd, &made.file);
    if (error == 0) {
        const struct control_passed passed = {.fd = made.file.fd, .give_name = give_name, .context = &made};
        error = input_command(mount, line, &passed, ret_reason);
        if (error == 0) /* of events, which are written from now on; a profile has it already */
            error = give_name(&made);
        if (error && error != -ECONNRESET && made.has_name) /* the mount has reported a failure */
            unlinkat(place->dir_fd, place->name, 0);
    }
    nameless_file_finish(&made.file);
    return error;
}

/* Tells a mount without a socket the name, as the rest of a line. */
static int tell_name(const char *mount, const char *verb, const struct place *place) {
    const char *path = place->path;
    const char *why = strchr(path, '\n')                            ? "its name has a newline"
                      : strchr(" \t\v\f\r", path[strlen(path) - 1]) ? "its name ends in a blank"
                                                                    : NULL;
    CLEANUP_FREE char *line = NULL;
    const int error = why ? -EINVAL : output_make_free(place->dir_fd, place->name);
    if (error)
        complain("cannot write %s: %s", path, why ? why : output_error_text(error));
    if (error || asprintf(&line, "%s %s", verb, path) < 0) {
        line = NULL;
        return error ? error : -ENOMEM;
    }
    return mount_command(mount, line);
}

int mount_command_file(const char *mount, const char *verb, const char *file) {
    CLEANUP_PLACE struct place place = PLACE_NONE;
    CLEANUP_FREE char *reason = NULL;
    CLEANUP_FREE char *line = NULL;
    int error = find_place(file, &place);
    if (error)
        return error;
    CLEANUP_FREE char *shown = strdup(place.path);
    if (!shown || asprintf(&line, "%s %s\n", verb, make_line(shown)) < 0) {
        line = NULL;
        return complain_refused(mount, verb, NULL, -ENOMEM);
    }
    error = pass_file(mount, line, &place, &reason);
    if (error == -ENOTCONN)
        return tell_name(mount, verb, &place);
    line[strlen(line) - 1] = '\0';
    return error < 0 ? complain_refused(mount, line, reason, error) : error;
}
