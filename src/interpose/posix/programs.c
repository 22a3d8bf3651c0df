/* Programs that are executed and will not be seen: the run is told how many, since their calls are missing in the
 * profile. The functions that take a list of arguments (execl) are not looked at. */
#include <limits.h>
#include <spawn.h>
#include <unistd.h>

#include "counting.h"
#include "executable.h"

static void note(enum posix_note note) {
    if (preload_join(&posix_ops))
        aggstats_recorder_note(__atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE), note, 1);
}

/* The functions that we call here are those that we stand before. */
static void look_at(const char *path) {
    if (!preload_looks() || !path)
        return;
    int saved_errno = errno;
    preload_is_inside = true;
    enum executable kind = executable_look(path);
    preload_is_inside = false;
    if (kind == EXECUTABLE_STATIC)
        note(POSIX_NOTE_STATIC);
    else if (kind == EXECUTABLE_SET_ID)
        note(POSIX_NOTE_SET_ID);
    else if (kind == EXECUTABLE_FOREIGN)
        note(POSIX_NOTE_FOREIGN);
    errno = saved_errno;
}

static void look_for(const char *name) {
    char path[PATH_MAX];
    if (!preload_looks() || !name)
        return;
    int saved_errno = errno;
    preload_is_inside = true;
    const char *found = executable_find(name, path, sizeof(path));
    preload_is_inside = false;
    look_at(found);
    errno = saved_errno;
}

/* One that is not executed is not missed. */
#define WRAP_EXEC(SYMBOL, PARAMETERS, ARGUMENTS, LOOK)                                                                 \
    WRAPPER(int, SYMBOL, PARAMETERS) {                                                                                 \
        LOOK;                                                                                                          \
        return real_##SYMBOL() ARGUMENTS;                                                                              \
    }

/* clang-format off */
WRAP_EXEC(execve, (const char *path, char *const *arguments, char *const *variables), (path, arguments, variables), look_at(path))
WRAP_EXEC(execv, (const char *path, char *const *arguments), (path, arguments), look_at(path))
WRAP_EXEC(execvp, (const char *name, char *const *arguments), (name, arguments), look_for(name))
WRAP_EXEC(execvpe, (const char *name, char *const *arguments, char *const *variables), (name, arguments, variables), look_for(name))
WRAP_EXEC(posix_spawn, (pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables), (pid, path, actions, attributes, arguments, variables), look_at(path))
WRAP_EXEC(posix_spawnp, (pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables), (pid, name, actions, attributes, arguments, variables), look_for(name))
/* clang-format on */

void programs_find(void) {
    real_execve();
    real_execv();
    real_execvp();
    real_execvpe();
}
