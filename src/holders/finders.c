/* Finding holders in /proc: processes that have a file's lock, the other end of a pipe, or a FUSE connection.
 *
 * A lock belongs to a process (fcntl), or to an open file description (flock, OFD, lease). The table of locks has the
 * process that asked for it. That one may have ended since, or have passed the description on: who has it is seen in
 * fdinfo. */
#include "finders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "descriptors.h"
#include "mounts.h"
#include "path.h"
#include "proc.h"

/* ---- Processes ---- */

void party_set(struct aggstats_party *party, uint64_t process, uint64_t thread) {
    *party = (struct aggstats_party){.process = process, .thread = thread};
    if (process > 0)
        proc_name_read(process, party->name, sizeof(party->name));
}

/* True if it runs or waits: a process that has ended may still be listed. */
static bool party_is_alive(uint64_t process) {
    struct proc_stat stat;
    return proc_stat_read(process, &stat) && stat.state[0] != 'Z' && stat.state[0] != 'X';
}

/* ---- Processes that have a descriptor ---- */

struct descriptor_search {
    bool (*fits)(const struct descriptor_search *search, const struct descriptor *descriptor);
    uint64_t self; /* comes only if there is no other; 0: nobody */
    bool has_self;
    uint64_t first; /* 0: none */
    uint64_t last;
    size_t count;        /* of processes */
    char path[PATH_MAX]; /* of the first */
    const struct lock *lock;
    uint64_t connection; /* of FUSE */
    const char *link;    /* of a pipe */
    struct descriptor_info info;
    int access;
};

static bool look_for_descriptor(void *context, const struct descriptor *descriptor) {
    struct descriptor_search *search = context;
    if (descriptor->process == search->last || !search->fits(search, descriptor))
        return true;
    if (descriptor->process == search->self) {
        search->has_self = true;
        return true;
    }
    if (search->count++ == 0) {
        search->first = descriptor->process;
        snprintf(search->path, sizeof(search->path), "%s", descriptor->link);
    }
    search->last = descriptor->process;
    return true;
}

static bool has_lock(const struct descriptor_search *search, const struct descriptor *descriptor) {
    const char *path = descriptor->link;
    char text[DESCRIPTORS_INFO_SIZE];
    const bool is_file = path[0] == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
    return is_file && descriptor_read_text(descriptor->process, descriptor->fd, text) &&
           lock_is_among(text, search->lock);
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
    struct descriptor_search search = {.fits = has_lock, .lock = lock};
    enum descriptors_seen seen = descriptors_of(process, look_for_descriptor, &search);
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
    struct descriptor_search found = {.fits = has_lock, .lock = lock};
    if (search->options->may_scan)
        descriptors_of_all(look_for_descriptor, &found);
    if (found.count == 0) {
        link->relation = AGGSTATS_BY_DESCRIPTION;
        return;
    }
    set_path(link, found.path);
    set_holder(link, AGGSTATS_HELD, found.first, found.count - 1);
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
    return (struct lock_request){
        .kind = thing == AGGSTATS_CAUSE_FLOCK   ? LOCK_FLOCK
                : thing == AGGSTATS_CAUSE_FCNTL ? LOCK_FCNTL
                                                : LOCK_LEASE,
        .process = waiting->process,
        .has_file = place->file.has_inode && place->has_mount && !waiting->is_elsewhere,
        .device = place->device,
        .inode = place->file.inode,
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
    const struct lock *lock = blocker.lock;
    link->others = blocker.others;
    if (lock->pid == 0)
        link->relation = AGGSTATS_BY_UNSEEN;
    else if ((lock->pid < 0 || !is_holder(lock, blocker.is_held, link)) && blocker.is_held)
        find_description(search, lock, link);
    return true;
}

/* ---- The other end ---- */

static void find_end(const struct search *search, struct descriptor_search *end, struct aggstats_link *link) {
    if (search->options->may_scan)
        descriptors_of_all(look_for_descriptor, end);
    if (end->count == 0 && !end->has_self)
        return;
    link->relation = AGGSTATS_HELD;
    link->others = end->count > 0 ? end->count - 1 : 0;
    party_set(&link->holder, end->count > 0 ? end->first : end->self, 0);
}

/* ---- FUSE ---- */

static bool is_daemon(const struct descriptor_search *search, const struct descriptor *descriptor) {
    static const char device[] = "/fuse";
    struct descriptor_info info;
    size_t length = strlen(descriptor->link);
    return length >= strlen(device) && strcmp(descriptor->link + length - strlen(device), device) == 0 &&
           descriptor_read_info(descriptor->process, descriptor->fd, &info) && info.has_connection &&
           info.connection == search->connection;
}

static bool is_served_by(uint64_t process, dev_t device) {
    struct descriptor_search search = {.fits = is_daemon, .connection = mounts_kernel_device(device)};
    descriptors_of(process, look_for_descriptor, &search);
    return search.count > 0;
}

/* Of all FUSE mounts that the thread sees, the one for which requests wait; except those that its process serves, whose
 * requests wait for the thread. Without fusectl nothing is known. */
static void find_waiting_mount(uint64_t process, uint64_t thread, struct place *place) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    dev_t device = 0;
    uint64_t count = 0;
    mounts_open_of((pid_t)thread, &table);
    while (mounts_next(&table, &entry)) {
        if (!mounts_is_fuse(&entry) || entry.device == device)
            continue;
        if (mounts_waiting_requests(entry.device, &count) < 0)
            return;
        if (count == 0 || is_served_by(process, entry.device))
            continue;
        if (device != 0)
            return;
        device = entry.device;
    }
    if (device != 0)
        place_find_mount(thread, device, place);
}

void find_daemon(const struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    struct place place = waiting->reading.place;
    if (!place.has_mount)
        find_waiting_mount(waiting->process, waiting->thread, &place);
    const struct mounts_entry entry = {.type = place.type};
    if (!place.has_mount || !mounts_is_fuse(&entry))
        return;
    struct descriptor_search end = {
        .fits = is_daemon, .self = waiting->process, .connection = mounts_kernel_device(place.device)};
    link->thing = AGGSTATS_CAUSE_FUSE;
    path_copy_end(place.mount, link->object, sizeof(link->object));
    snprintf(link->source, sizeof(link->source), "%s", place.type);
    find_end(search, &end, link);
}

/* ---- Pipes ---- */

/* The names of FIFOs may lead to another one meanwhile. */
static bool is_other_end(const struct descriptor_search *search, const struct descriptor *descriptor) {
    struct descriptor_info info;
    if (strcmp(descriptor->link, search->link) != 0 ||
        !descriptor_read_info(descriptor->process, descriptor->fd, &info))
        return false;
    bool is_same = info.has_inode == search->info.has_inode && info.inode == search->info.inode;
    return is_same && info.has_access && (info.access == search->access || info.access == O_RDWR);
}

void find_pipe_end(const struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    static const char pipe_link[] = "pipe:[";
    const struct thread_call *call = &waiting->reading.call;
    const struct place *place = &waiting->reading.place;
    char other[PATH_MAX];
    uint64_t fd;
    struct descriptor_search end = {
        .fits = is_other_end,
        .self = waiting->process,
        .link = place->path,
        .info = place->file,
        .access = link->thing == AGGSTATS_CAUSE_PIPE_ROOM ? O_RDONLY : O_WRONLY,
    };
    if (!call_descriptor(call, &fd) || !place->path[0])
        return;
    bool is_pipe = strncmp(end.link, pipe_link, strlen(pipe_link)) == 0;
    if (!is_pipe && call->number == SYS_splice) { /* one of its two descriptors is the pipe */
        if (!descriptor_read_link(waiting->thread, call->arguments[2], other) ||
            !descriptor_read_info(waiting->thread, call->arguments[2], &end.info))
            return;
        end.link = other;
        is_pipe = strncmp(other, pipe_link, strlen(pipe_link)) == 0;
        if (!is_pipe)
            return;
    }
    if (!is_pipe && end.link[0] != '/')
        return;
    if (!is_pipe)
        path_copy_end(end.link, link->object, sizeof(link->object));
    find_end(search, &end, link);
}
