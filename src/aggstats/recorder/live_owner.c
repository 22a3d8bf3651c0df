#include "live_owner.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t live_owner_namespace(void) {
    struct stat attr;
    return stat("/proc/self/ns/pid", &attr) == 0 ? attr.st_ino : 0;
}

static uint64_t own_namespace(struct live_owner_asker *asker) {
    if (asker->namespace == 0)
        asker->namespace = live_owner_namespace();
    return asker->namespace;
}

/* For an owner that does not hold the lock. If its number belongs to a new thread, it is taken to live. */
static bool may_live(const struct live_owner *owner, struct live_owner_asker *asker) {
    if (asker->checks_max == 0)
        return true;
    asker->checks_max--;
    if (owner->namespace == 0 || owner->namespace != own_namespace(asker))
        return true;
    return syscall(SYS_tgkill, owner->pid, owner->thread, 0) == 0 || errno != ESRCH;
}

bool live_owner_take(struct live_owner *owner, struct live_owner_asker *asker) {
    const int error = pthread_mutex_trylock(&owner->lock);
    if (error == EOWNERDEAD)
        pthread_mutex_consistent(&owner->lock);
    else if (error)
        return false;
    if (owner->pid != 0 && may_live(owner, asker)) {
        pthread_mutex_unlock(&owner->lock);
        return false;
    }
    owner->pid = 0;
    return true;
}

/* The C library has noted whom it takes for the owner. */
static bool is_unknown_thread(const struct live_owner *owner, pid_t memory_pid) {
    return owner->lock.__data.__owner != gettid() && memory_pid == getpid();
}

void live_owner_keep(struct live_owner *owner, pid_t memory_pid, struct live_owner_asker *asker) {
    if (!is_unknown_thread(owner, memory_pid))
        return;
    owner->namespace = own_namespace(asker);
    owner->thread = (uint32_t)gettid();
    owner->pid = (uint32_t)getpid();
    pthread_mutex_unlock(&owner->lock);
}
