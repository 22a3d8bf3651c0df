/* Commands for mounts. The daemon takes a file's name as the rest of a line, relative to the directory where it was
 * started, and goes through no symbolic link on the way to it. */
#include "mount_command.h"

#include <string.h>

#include "base.h"
#include "command.h"
#include "input.h"

/* The name as a line can carry it. */
static const char *why_unsayable(const char *name) {
    if (strchr(name, '\n'))
        return "its name has a newline";
    if (strchr(" \t\v\f\r", name[strlen(name) - 1]))
        return "its name ends in a blank";
    return NULL;
}

/* The absolute path of a file that need not be there, without symbolic links on the way. NULL after a complaint. */
static char *absolute_path(const char *file) {
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    char *path = NULL;
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        complain("cannot save the profile in %s: %s", file, strerror(EISDIR));
        return NULL;
    }
    CLEANUP_FREE char *given = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    CLEANUP_FREE char *directory = given ? realpath(given, NULL) : NULL;
    if (!directory || asprintf(&path, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) < 0) {
        complain("cannot save the profile in %s: %s", file, strerror(errno));
        return NULL;
    }
    const char *why = why_unsayable(path);
    if (!why)
        return path;
    complain("cannot save the profile in %s: %s", file, why);
    free(path);
    return NULL;
}

int mount_command(const char *mount, const char *verb, const char *file) {
    CLEANUP_FREE char *path = file ? absolute_path(file) : NULL;
    CLEANUP_FREE char *line = NULL;
    if (file && !path)
        return 1;
    if (asprintf(&line, "%s %s\n", verb, path ? path : "") < 0) {
        complain("cannot write to %s: %s", mount, strerror(ENOMEM));
        return 1;
    }
    return input_command(mount, line);
}

const char *mount_command_why(int error) {
    return error == -ELOOP ? "it lies in the mount itself" : strerror(-error);
}
