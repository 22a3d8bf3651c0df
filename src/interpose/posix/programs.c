/* Executed programs that will not be observed, or only in part: the run counts them, since their calls are missing in
 * the profile. The functions that take a list of arguments (execl) are not wrapped. */
#include <limits.h>
#include <spawn.h>
#include <unistd.h>

#include "counting.h"
#include "environment.h"
#include "executable.h"

#define OWN_LIBRARY "/libosprof_posix."

/* Why a program is not observed in full; -1: it is. */
static int note_of(const char *path, char *const *variables) {
    static const int notes[] = {[EXECUTABLE_DYNAMIC] = -1,
                                [EXECUTABLE_GO] = POSIX_NOTE_GO,
                                [EXECUTABLE_STATIC] = POSIX_NOTE_STATIC,
                                [EXECUTABLE_SET_ID] = POSIX_NOTE_SET_ID,
                                [EXECUTABLE_FOREIGN] = POSIX_NOTE_FOREIGN};
    const int note = notes[executable_look(path)];
    const bool is_bare = note < 0 && !environment_is_kept(variables, PRELOAD_VARIABLE, OWN_LIBRARY);
    return is_bare && access(path, X_OK) == 0 ? POSIX_NOTE_BARE : note;
}

/* The functions called here are those that we wrap. */
static void look_at(const char *path, char *const *variables) {
    if (!preload_looks() || !path)
        return;
    int saved_errno = errno;
    preload_is_inside = true;
    const int note = note_of(path, variables);
    preload_is_inside = false;
    if (note >= 0)
        posix_note((enum posix_note)note, 1);
    errno = saved_errno;
}

static void look_for(const char *name, char *const *variables) {
    char path[PATH_MAX];
    if (!preload_looks() || !name)
        return;
    int saved_errno = errno;
    preload_is_inside = true;
    const char *found = executable_find(name, path, sizeof(path));
    preload_is_inside = false;
    look_at(found, variables);
    errno = saved_errno;
}

/* A program that is not executed is not counted. */
#define WRAP_EXEC(SYMBOL, PARAMETERS, ARGUMENTS, LOOK)                                                                 \
    WRAPPER(int, SYMBOL, PARAMETERS) {                                                                                 \
        LOOK;                                                                                                          \
        return real_##SYMBOL() ARGUMENTS;                                                                              \
    }

/* clang-format off */
WRAP_EXEC(execve, (const char *path, char *const *arguments, char *const *variables), (path, arguments, variables), look_at(path, variables))
WRAP_EXEC(execv, (const char *path, char *const *arguments), (path, arguments), look_at(path, environ))
WRAP_EXEC(execvp, (const char *name, char *const *arguments), (name, arguments), look_for(name, environ))
WRAP_EXEC(execvpe, (const char *name, char *const *arguments, char *const *variables), (name, arguments, variables), look_for(name, variables))
WRAP_EXEC(posix_spawn, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables), (pid, path, actions, attributes, arguments, variables), look_at(path, variables))
WRAP_EXEC(posix_spawnp, (pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables), (pid, name, actions, attributes, arguments, variables), look_for(name, variables))
/* clang-format on */
