/* Takes blocks of a shared live file with one compare-and-swap, and asks the kernel whether the former owner lives.
 * Nothing here allocates or waits: a preloaded object calls it inside any program's call. */
#include "live_owner.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

#define NAMESPACE_SHIFT 32
#define GET_PID_NAMESPACE _IO(0xff, 5) /* of a pidfd: PIDFD_GET_PID_NAMESPACE of <linux/pidfd.h>, from Linux 6.11 on */

/* Without /proc the kernel is asked. Nothing is concluded from the parent, which may have another namespace. */
uint32_t live_owner_namespace(void) {
    struct stat attr;
    if (stat("/proc/self/ns/pid", &attr) == 0)
        return (uint32_t)attr.st_ino;
    CLEANUP_FD int process_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    CLEANUP_FD int fd = process_fd < 0 ? -1 : ioctl(process_fd, GET_PID_NAMESPACE, 0);
    return fd >= 0 && fstat(fd, &attr) == 0 ? (uint32_t)attr.st_ino : 0;
}

/* In borrowed memory: the number that the C library has for the calling thread, which it notes in a recursive mutex. The
 * child of a clone(2) that the C library does not know has its parent's number there, in memory of its own. */
live_owner live_owner_self(bool owns_memory, uint32_t namespace) {
    pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pid_t thread;
    if (owns_memory) {
        thread = gettid();
    } else {
        pthread_mutex_lock(&mutex);
        thread = mutex.__data.__owner;
        pthread_mutex_unlock(&mutex);
    }
    return (live_owner) namespace << NAMESPACE_SHIFT | (uint32_t)thread;
}

static uint32_t namespace_of(live_owner owner) {
    return (uint32_t)(owner >> NAMESPACE_SHIFT);
}

/* tgkill(2) would need another word for the process. A number that belongs to a new thread by now is taken to live. */
bool live_owner_lives(live_owner owner, uint32_t namespace) {
    if (owner == 0)
        return false;
    if (namespace == 0 || namespace_of(owner) != namespace)
        return true;
    return syscall(SYS_tkill, (pid_t)(uint32_t)owner, 0) == 0 || errno != ESRCH;
}

bool live_owner_take(live_owner *owner, live_owner self, unsigned *checks) {
    live_owner found = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
    const bool is_own = found == self && namespace_of(self) != 0;
    if (found != 0 && !is_own) {
        if (*checks == 0)
            return false;
        (*checks)--;
        if (live_owner_lives(found, namespace_of(self)))
            return false;
    }
    return __atomic_compare_exchange_n(owner, &found, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
