/* The environment is read once: a program may change its own. */
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aggstats/shared.h"
#include "memory_look.h"
#include "older_libc.h"
#include "own_call.h"
#include "scope.h"
#include "wiped_page.h"

#define TEXT_BYTES_MAX 16384

struct preload preload;
AGGSTATS_THREAD_LOCAL bool preload_is_inside;

static char text[TEXT_BYTES_MAX]; /* the variable, cut into strings */
static const char *live_path;

/* In memory that the kernel zeroes in children; the caller follows. NULL: there is none, and no process is known to own
 * its memory. */
static pid_t *own_pid;

/* ---- The environment ---- */

static bool parse(const char *value) {
    size_t length = strlen(value);
    if (length < 2 || length >= sizeof(text) || !aggstats_clock_name((uint32_t)(value[0] - '0')))
        return false;
    memcpy(text, value, length + 1);
    preload.clock_kind = (uint32_t)(text[0] - '0');
    live_path = scope_parse(text + 1);
    return live_path != NULL;
}

bool preload_start(void) {
    int state = PRELOAD_NOT_STARTED;
    if (!__atomic_compare_exchange_n(&preload.state, &state, PRELOAD_STARTING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return state == PRELOAD_ON;
    int saved_errno = errno;
    const char *value = getenv(PRELOAD_VARIABLE);
    bool is_on = value && older_libc_can_join() && parse(value);
    if (is_on) {
        memory_look_start();
        preload.pid = own_pid = wiped_page_make();
        if (!preload_ask_owner())
            preload.may_share_memory = true;
    }
    __atomic_store_n(&preload.state, is_on ? PRELOAD_ON : PRELOAD_OFF, __ATOMIC_RELEASE);
    errno = saved_errno;
    return is_on;
}

/* ---- Joining ---- */

void preload_leave(enum preload_state state) {
    int before = __atomic_load_n(&preload.state, __ATOMIC_ACQUIRE);
    while ((before == PRELOAD_ON || before == PRELOAD_STILL) &&
           !__atomic_compare_exchange_n(&preload.state, &before, (int)state, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
}

static bool is_starved; /* atomic: calls were missed */

static bool join(const struct preload_ops *ops) {
    struct aggstats_recorder *recorder = NULL;
    struct aggstats_recorder *other = NULL;
    int error = aggstats_recorder_join(live_path, ops->names, ops->count, !preload_owns_memory(), &recorder);
    if (error == -EMFILE || error == -ENFILE || error == -ENOMEM) /* these may pass */
        __atomic_store_n(&is_starved, true, __ATOMIC_RELAXED);
    else if (error && preload_owns_memory())
        preload_leave(PRELOAD_STILL);
    if (error)
        return false;
    if (__atomic_exchange_n(&is_starved, false, __ATOMIC_RELAXED))
        aggstats_recorder_note(recorder, ops->starved_note, 1);
    preload.groupings = aggstats_shared_groupings(recorder);
    /* if two threads join at once, the first recorder stays; the other one's few mappings are never used */
    if (__atomic_compare_exchange_n(&preload.recorder, &other, recorder, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        aggstats_recorder_note(recorder, ops->awaited_note, (uint32_t)-1);
    return true;
}

bool preload_join_now(const struct preload_ops *ops) {
    int saved_errno = errno;
    int cancel_state;
    bool was_inside = preload_is_inside;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    preload_is_inside = true;
    bool joined = join(ops);
    preload_is_inside = was_inside;
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return joined;
}

/* ---- The process ---- */

bool preload_ask_owner(void) {
    pid_t pid = (pid_t)own_call(SYS_getpid);
    if (own_pid && *own_pid == 0)
        *own_pid = pid;
    return own_pid && *own_pid == pid;
}

void preload_share_memory(void) {
    struct aggstats_recorder *recorder = __atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE);
    if (preload_is_on())
        preload_ask_owner();
    if (preload_is_on() && recorder)
        aggstats_shared_lend_memory(recorder);
    __atomic_store_n(&preload.may_share_memory, true, __ATOMIC_RELAXED);
}

unsigned preload_find_caller(void) {
    char name[AGGSTATS_CALLER_NAME_SIZE] = "";
    int saved_errno = errno;
    const pid_t pid = preload_pid();
    /* The thread that the process began with has its name. */
    const long fd =
        own_call(SYS_gettid) == pid ? -1 : own_call(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC);
    const long length = fd < 0 ? 0 : own_call(SYS_read, fd, name, sizeof(name) - 1);
    if (fd >= 0)
        own_call(SYS_close, fd);
    if (length > 0)
        name[length - (name[length - 1] == '\n')] = '\0';
    else
        own_call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
    const unsigned caller = aggstats_shared_caller(preload.recorder, (uint32_t)pid, name);
    own_pid[1] = (pid_t)caller + 1;
    errno = saved_errno;
    return caller;
}

const char *preload_live_path(void) {
    return live_path;
}
