/* A lock belongs to a process (fcntl), or to an open file description (flock, OFD, lease). The table of locks has the
 * process that asked for it. That one may have ended since, or have passed the description on: who has it is seen in
 * fdinfo. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base.h"
#include "descriptors.h"
#include "finders.h"
#include "path.h"
#include "proc.h"

/* ---- Processes ---- */

void party_set(struct aggstats_party *party, uint64_t process, uint64_t thread) {
    *party = (struct aggstats_party){.process = process, .thread = thread};
    if (process > 0)
        proc_name_read(process, party->name, sizeof(party->name));
}

bool party_is_alive(uint64_t process) {
    struct proc_stat stat;
    return proc_stat_read(process, &stat) && stat.state[0] != 'Z' && stat.state[0] != 'X';
}

/* ---- Who has the descriptor ---- */

struct lock_search {
    const struct lock *lock;
    uint64_t first; /* the first process that has it; 0: none */
    uint64_t last;
    size_t count; /* of processes */
    char path[PATH_MAX];
};

static bool may_have_locks(const char *link) {
    return link[0] == '/' && strncmp(link, "/dev/", 5) != 0 && strncmp(link, "/proc/", 6) != 0;
}

static bool look_for_lock(void *context, const struct descriptor *descriptor) {
    struct lock_search *search = context;
    char text[DESCRIPTORS_INFO_SIZE];
    if (descriptor->process == search->last || !may_have_locks(descriptor->link) ||
        !descriptor_read_info(descriptor->process, descriptor->fd, text) || !lock_is_among(text, search->lock))
        return true;
    if (search->count++ == 0) {
        search->first = descriptor->process;
        snprintf(search->path, sizeof(search->path), "%s", descriptor->link);
    }
    search->last = descriptor->process;
    return true;
}

/* ---- The holder ---- */

static void set_path(struct aggstats_link *link, const char *path) {
    if (!link->object[0])
        path_copy_end(path, link->object, sizeof(link->object));
}

static void set_holder(struct aggstats_link *link, enum aggstats_relation relation, uint64_t process, size_t others) {
    link->relation = relation;
    link->others += others;
    party_set(&link->holder, process, 0);
}

/* Returns false if it does not have the lock, or is no more. */
static bool is_holder(const struct lock *lock, bool is_held, struct aggstats_link *link) {
    const uint64_t process = (uint64_t)lock->pid;
    struct lock_search search = {.lock = lock};
    enum descriptors_seen seen = descriptors_of(process, look_for_lock, &search);
    if (!party_is_alive(process))
        return false;
    if (!is_held) {
        set_holder(link, AGGSTATS_ASKED_BEFORE, process, 0);
        return true;
    }
    if (search.count > 0)
        set_path(link, search.path);
    else if (seen == DESCRIPTORS_ALL)
        return false;
    bool is_sure = search.count > 0 || lock->kind == LOCK_FCNTL;
    set_holder(link, is_sure ? AGGSTATS_HELD : AGGSTATS_TAKEN, process, 0);
    return true;
}

static void find_description(const struct search *search, const struct lock *lock, struct aggstats_link *link) {
    struct lock_search found = {.lock = lock};
    if (search->options->may_scan)
        descriptors_of_all(look_for_lock, &found);
    if (found.count == 0) {
        link->relation = AGGSTATS_BY_DESCRIPTION;
        return;
    }
    set_path(link, found.path);
    set_holder(link, AGGSTATS_HELD, found.first, found.count - 1);
}

static void set_blocker(const struct search *search, const struct lock_blocker *blocker, struct aggstats_link *link) {
    const struct lock *lock = blocker->lock;
    link->others = blocker->others;
    if (lock->pid == 0)
        link->relation = AGGSTATS_BY_UNSEEN;
    else if ((lock->pid < 0 || !is_holder(lock, blocker->is_held, link)) && blocker->is_held)
        find_description(search, lock, link);
}

/* ---- The request ---- */

static bool read_locks(struct search *search) {
    CLEANUP_STREAM FILE *stream = search->has_locks ? NULL : fopen("/proc/locks", "re");
    if (stream)
        search->has_locks = lock_table_read(stream, &search->locks) == 0;
    return search->has_locks;
}

static struct lock_request make_request(const struct waiting *waiting, enum aggstats_cause_class thing) {
    const struct place *place = &waiting->reading.place;
    const struct thread_call *call = &waiting->reading.call;
    const enum lock_kind kind = thing == AGGSTATS_CAUSE_FLOCK   ? LOCK_FLOCK
                                : thing == AGGSTATS_CAUSE_FCNTL ? LOCK_FCNTL
                                                                : LOCK_LEASE;
    return (struct lock_request){
        .kind = kind,
        .process = waiting->process,
        .has_file = place->has_inode && place->has_mount,
        .device = place->device,
        .inode = place->inode,
        .knows_owner = call->is_known && call->number == SYS_fcntl,
        .is_description = call->arguments[1] == F_OFD_SETLKW,
    };
}

enum aggstats_cause_class find_lock_request(struct search *search, uint64_t process) {
    static const enum aggstats_cause_class things[] = {AGGSTATS_CAUSE_FLOCK, AGGSTATS_CAUSE_FCNTL,
                                                       AGGSTATS_CAUSE_LEASE};
    const struct waiting waiting = {.process = process};
    struct lock_blocker blocker;
    for (size_t i = 0; read_locks(search) && i < ARRAY_SIZE(things); i++) {
        const struct lock_request request = make_request(&waiting, things[i]);
        if (lock_table_find(&search->locks, &request, &blocker))
            return things[i];
    }
    return AGGSTATS_CAUSE_OTHER;
}

bool find_lock_holder(struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    struct lock_blocker blocker;
    const struct lock_request request = make_request(waiting, link->thing);
    if (!read_locks(search) || !lock_table_find(&search->locks, &request, &blocker))
        return false;
    set_blocker(search, &blocker, link);
    return true;
}
