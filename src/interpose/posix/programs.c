/* Executed programs. The run counts programs that will not be observed, or only in part, since their calls are missing
 * in the profile. It also counts programs that will be observed, to notice programs whose observation does not begin.
 * If the loader of a program could not load this object, the object is left out of the program's environment, since the
 * loader would print a warning. */
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "counting.h"
#include "environment.h"
#include "executable.h"
#include "own_call.h"

#define OWN_LIBRARY "/libosprof_posix."
#define OWN_DESCRIPTORS "/proc/self/fd/"
#define SEPARATORS " :"
#define VARIABLES_MAX 8192 /* to copy */

/* With less address space, or data, a program that can run alone could not run with us. */
#define SPACE_BYTES_MIN (16U << 20)
#define DATA_BYTES_MIN (4U << 20)

/* A program to be executed. */
struct launch {
    int note; /* enum posix_note; -1: none. Taken back if it is not executed, like the next two */
    bool is_of_go;
    struct aggstats_named_program *named; /* NULL: it is not */
    char name[AGGSTATS_NAMED_SIZE];       /* the last part of its path. Not terminated if it fills the array */
    size_t room_bytes;                    /* for launch_variables(); 0: the variables stay as they are */
    size_t count;                         /* of variables */
    const char *library;                  /* in the list of what is preloaded, and the length there */
    size_t length;
};

/* ---- Whether it will be observed ---- */

static int note_of_error(int error) {
    if (error == EACCES || error == EPERM)
        return POSIX_NOTE_USER;
    return error == EMFILE || error == ENFILE || error == ENOMEM ? POSIX_NOTE_STARVED : POSIX_NOTE_ROOT;
}

/* Whether an executed program will be able to open the file: 0 or errno. The program will not have all capabilities of
 * this process; access(2) takes that into account. The functions called here and below are our wrappers. */
static int try_open(const char *path, int mode) {
    int fd = access(path, mode) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const int error = fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Whether the loader can load us, and why not: 0 or errno. path: room of PATH_MAX bytes, like the next two */
static int try_library(const struct launch *launch, char *path) {
    struct rlimit space;
    struct rlimit data;
    if ((getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < SPACE_BYTES_MIN) ||
        (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur < DATA_BYTES_MIN))
        return ENOMEM;
    if (launch->length >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(path, launch->library, launch->length);
    path[launch->length] = '\0';
    return try_open(path, R_OK);
}

static bool find_library(const char *list, struct launch *launch) {
    for (; list && *list; list += launch->length + (list[launch->length] != '\0')) {
        launch->library = list;
        launch->length = strcspn(list, SEPARATORS);
        if (memmem(list, launch->length, OWN_LIBRARY, sizeof(OWN_LIBRARY) - 1))
            return true;
    }
    return false;
}

static void leave_out(struct launch *launch, const struct environment *found) {
    launch->count = found->count;
    if (found->preloaded && found->count <= VARIABLES_MAX)
        launch->room_bytes = (found->count + 1) * sizeof(char *) + sizeof("LD_PRELOAD=") + strlen(found->preloaded);
}

/* A dynamically linked program. */
static int look_at_dynamic(struct launch *launch, const struct environment *found, bool has_library, char *room) {
    if (!found->has_run || !has_library)
        return POSIX_NOTE_BARE;
    if (getuid() != geteuid() || getgid() != getegid())
        return POSIX_NOTE_SET_ID;
    int error = try_library(launch, room);
    if (error)
        leave_out(launch, found);
    else
        error = try_open(preload_live_path(), R_OK | W_OK);
    return error ? note_of_error(error) : POSIX_NOTE_AWAITED;
}

static void copy_name(struct launch *launch, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    memcpy(launch->name, name, strnlen(name, sizeof(launch->name)));
}

/* path: may be in room */
static void keep_name(struct launch *launch, const char *path, char *room) {
    const long length = strncmp(path, OWN_DESCRIPTORS, sizeof(OWN_DESCRIPTORS) - 1) == 0
                            ? own_call(SYS_readlinkat, AT_FDCWD, path, room, PATH_MAX - 1)
                            : -1;
    if (length > 0) {
        room[length] = '\0';
        path = room;
    }
    copy_name(launch, path);
}

static void look_at(struct launch *launch, const char *path, char *const *variables, char *room) {
    const struct environment found = environment_read(variables, PRELOAD_VARIABLE, true);
    const bool has_library = find_library(found.preloaded, launch);
    if (access(path, X_OK) != 0)
        return;
    const enum executable kind = executable_look(path);
    if (has_library && (kind == EXECUTABLE_FOREIGN || found.is_traced))
        leave_out(launch, &found);
    if (found.is_traced || kind == EXECUTABLE_LOADER)
        return;
    launch->note =
        executable_preloads(kind) ? look_at_dynamic(launch, &found, has_library, room) : (int)posix_note_of(kind);
    launch->is_of_go = kind == EXECUTABLE_GO;
    if (launch->is_of_go || launch->note != POSIX_NOTE_AWAITED)
        keep_name(launch, path, room);
}

/* ---- Before a program is executed, and if that fails ---- */

/* Uses only system calls that the loader makes too: a filter that lets the program start allows them. */
static bool has_filter(void) {
    static const char wanted[] = "\nSeccomp:\t0";
    char text[2048];
    const int fd = (int)own_call(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    const long length = fd < 0 ? -1 : own_call(SYS_read, fd, text, sizeof(text));
    if (fd >= 0)
        own_call(SYS_close, fd);
    return length <= 0 || !memmem(text, (size_t)length, wanted, sizeof(wanted) - 1);
}

/* A process in PRELOAD_STILL may have a seccomp filter. The program inherits the filter, so it is executed without us.
 * Memory is not checked, since a check would make a system call. */
static bool is_filtered(struct launch *launch, char *const *variables) {
    const int state = __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE);
    if (state != PRELOAD_FILTERED && !(state == PRELOAD_STILL && has_filter()))
        return false;
    const struct environment found = environment_read(variables, PRELOAD_VARIABLE, false);
    if (find_library(found.preloaded, launch))
        leave_out(launch, &found);
    return true;
}

static bool may_look(void) {
    const int state = __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE);
    return preload_looks() || ((state == PRELOAD_STILL || state == PRELOAD_FILTERED) && wrapper_has_thread());
}

enum launch_way {
    LAUNCH_PATH,
    LAUNCH_SEARCH, /* a name is searched in PATH */
};

/* The room is mapped: a signal handler that executes something may have a small stack. */
static void launch_look(struct launch *launch, enum launch_way way, const char *name, char *const *variables) {
    char *room = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) { /* nor will the program have memory for us */
        const struct environment found = environment_read(variables, PRELOAD_VARIABLE, true);
        launch->note = POSIX_NOTE_STARVED;
        copy_name(launch, name);
        if (find_library(found.preloaded, launch))
            leave_out(launch, &found);
        return;
    }
    const char *path = way == LAUNCH_SEARCH ? executable_find(name, room, PATH_MAX) : name;
    if (path)
        look_at(launch, path, variables, room);
    munmap(room, PATH_MAX);
}

/* The process that will execute the program. */
enum launch_process {
    LAUNCH_ITSELF, /* this process */
    LAUNCH_CHILD,  /* a new child */
};

static void launch_note(struct launch *launch, enum launch_process process) {
    const unsigned why = launch->is_of_go ? POSIX_NOTE_GO : (unsigned)launch->note;
    if (launch->note < 0)
        return;
    posix_note((enum posix_note)launch->note, 1);
    if (launch->is_of_go)
        posix_note(POSIX_NOTE_GO, 1);
    if (launch->name[0])
        launch->named = posix_name((enum posix_note)why, launch->name, process == LAUNCH_ITSELF ? getpid() : 0);
}

static struct launch launch_begin(enum launch_process process, enum launch_way way, const char *name,
                                  char *const *variables) {
    struct launch launch = {.note = -1};
    if (!name || !variables || !may_look())
        return launch;
    int saved_errno = errno;
    preload_is_inside = true;
    if (!is_filtered(&launch, variables))
        launch_look(&launch, way, name, variables);
    preload_is_inside = false;
    launch_note(&launch, process);
    others_end();
    errno = saved_errno;
    return launch;
}

static void launch_failed(const struct launch *launch) {
    if (launch->note < 0)
        return;
    int saved_errno = errno;
    posix_note((enum posix_note)launch->note, (uint32_t)-1);
    if (launch->is_of_go)
        posix_note(POSIX_NOTE_GO, (uint32_t)-1);
    if (launch->named)
        aggstats_named_take_back(launch->named);
    errno = saved_errno;
}

/* It runs in that process. */
static void launch_started(const struct launch *launch, pid_t pid) {
    int saved_errno = errno;
    if (launch->named)
        posix_name_pid(launch->named, pid);
    errno = saved_errno;
}

/* The variables without us. room: of room_bytes */
static char **launch_variables(const struct launch *launch, void *room, char *const *variables) {
    char **copy = room;
    size_t count = 0;
    if (launch->room_bytes == 0)
        return (char **)(uintptr_t)variables;
    for (size_t i = 0; i < launch->count; i++) {
        const size_t before = (uintptr_t)launch->library - (uintptr_t)variables[i];
        copy[count++] = variables[i];
        if (before > strlen(variables[i])) /* another variable */
            continue;
        char *text = (char *)(copy + launch->count + 1);
        const char *rest = launch->library + launch->length;
        rest += *rest != '\0'; /* a separator */
        memcpy(text, variables[i], before);
        memcpy(text + before, rest, strlen(rest) + 1);
        copy[count - 1] = text;
        if (strcmp(text, "LD_PRELOAD=") == 0)
            count--;
    }
    copy[count] = NULL;
    return copy;
}

#define LAUNCH_ROOM(LAUNCH) ((LAUNCH)->room_bytes > 0 ? __builtin_alloca((LAUNCH)->room_bytes) : NULL)

/* ---- exec ---- */

typedef int exec_fn(const char *name, char *const *arguments, char *const *variables);

static int execute(exec_fn *real, enum launch_way way, const char *name, char *const *arguments,
                   char *const *variables) {
    const struct launch launch = launch_begin(LAUNCH_ITSELF, way, name, variables);
    int result = real(name, arguments, launch_variables(&launch, LAUNCH_ROOM(&launch), variables));
    launch_failed(&launch);
    return result;
}

WRAPPER(int, execve, (const char *path, char *const *arguments, char *const *variables)) {
    return execute(real_execve(), LAUNCH_PATH, path, arguments, variables);
}

WRAPPER(int, execvpe, (const char *name, char *const *arguments, char *const *variables)) {
    return execute(real_execvpe(), LAUNCH_SEARCH, name, arguments, variables);
}

WRAPPER(int, execv, (const char *path, char *const *arguments)) {
    return execute(real_execve(), LAUNCH_PATH, path, arguments, environ);
}

WRAPPER(int, execvp, (const char *name, char *const *arguments)) {
    return execute(real_execvpe(), LAUNCH_SEARCH, name, arguments, environ);
}

/* With the arguments as a list, which ends with NULL; VARIABLES may be behind it. */
#define WRAP_EXEC_LIST(SYMBOL, REAL, WAY, VARIABLES)                                                                   \
    WRAPPER(int, SYMBOL, (const char *name, const char *first, ...)) {                                                 \
        va_list list;                                                                                                  \
        size_t count = 1;                                                                                              \
        va_start(list, first);                                                                                         \
        for (const char *next = first; next; next = va_arg(list, const char *))                                        \
            count++;                                                                                                   \
        va_end(list);                                                                                                  \
        const char **arguments = __builtin_alloca(count * sizeof(*arguments));                                         \
        va_start(list, first);                                                                                         \
        arguments[0] = first;                                                                                          \
        for (size_t i = 1; i < count; i++)                                                                             \
            arguments[i] = va_arg(list, const char *);                                                                 \
        char *const *variables = VARIABLES;                                                                            \
        va_end(list);                                                                                                  \
        return execute(REAL(), WAY, name, (char *const *)(uintptr_t)arguments, variables);                             \
    }

WRAP_EXEC_LIST(execl, real_execve, LAUNCH_PATH, environ)
WRAP_EXEC_LIST(execlp, real_execvpe, LAUNCH_SEARCH, environ)
WRAP_EXEC_LIST(execle, real_execve, LAUNCH_PATH, va_arg(list, char *const *))

WRAPPER(int, fexecve, (int fd, char *const *arguments, char *const *variables)) {
    char path[32] = "";
    if (wrapper_has_thread())
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const struct launch launch = launch_begin(LAUNCH_ITSELF, LAUNCH_PATH, path, variables);
    int result = real_fexecve()(fd, arguments, launch_variables(&launch, LAUNCH_ROOM(&launch), variables));
    launch_failed(&launch);
    return result;
}

/* ---- spawn ---- */

#define WRAP_SPAWN(SYMBOL, WAY)                                                                                        \
    WRAPPER(int, SYMBOL,                                                                                               \
            (pid_t * pid, const char *name, const posix_spawn_file_actions_t *actions,                                 \
             const posix_spawnattr_t *attributes, char *const *arguments, char *const *variables)) {                   \
        pid_t child = 0;                                                                                               \
        const struct launch launch = launch_begin(LAUNCH_CHILD, WAY, name, variables);                                 \
        char **kept = launch_variables(&launch, LAUNCH_ROOM(&launch), variables);                                      \
        int result = real_##SYMBOL()(pid ? pid : &child, name, actions, attributes, arguments, kept);                  \
        if (result != 0)                                                                                               \
            launch_failed(&launch);                                                                                    \
        else                                                                                                           \
            launch_started(&launch, pid ? *pid : child);                                                               \
        return result;                                                                                                 \
    }

WRAP_SPAWN(posix_spawn, LAUNCH_PATH)
WRAP_SPAWN(posix_spawnp, LAUNCH_SEARCH)

/* ---- The shell, which libc executes by itself, with the variables of the program ---- */

static void restore_variables(char ***before) {
    if (*before)
        environ = *before;
}

#define WRAP_SHELL(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS)                                                             \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        const struct launch launch = launch_begin(LAUNCH_CHILD, LAUNCH_PATH, "/bin/sh", environ);                      \
        __attribute__((cleanup(restore_variables))) char **before = launch.room_bytes > 0 ? environ : NULL;            \
        if (before)                                                                                                    \
            environ = launch_variables(&launch, LAUNCH_ROOM(&launch), environ);                                        \
        return real_##SYMBOL() ARGUMENTS;                                                                              \
    }

WRAP_SHELL(int, system, (const char *command), (command))
WRAP_SHELL(FILE *, popen, (const char *command, const char *mode), (command, mode))
