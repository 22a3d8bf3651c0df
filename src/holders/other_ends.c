/* Pipes and FUSE connections: processes that have a descriptor of the other end. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "descriptors.h"
#include "finders.h"
#include "mounts.h"
#include "path.h"

/* ---- Processes that have a descriptor ---- */

struct end_search {
    bool (*fits)(const struct end_search *search, const struct descriptor *descriptor);
    uint64_t self; /* comes only if there is no other */
    bool has_self;
    uint64_t first; /* 0: none */
    uint64_t last;
    size_t count;
    uint64_t connection; /* of FUSE */
    const char *link;    /* of a pipe */
    struct descriptor_info info;
    int access;
};

static bool look_for_end(void *context, const struct descriptor *descriptor) {
    struct end_search *search = context;
    if (descriptor->process == search->last || !search->fits(search, descriptor))
        return true;
    if (descriptor->process == search->self) {
        search->has_self = true;
        return true;
    }
    search->first = search->count++ == 0 ? descriptor->process : search->first;
    search->last = descriptor->process;
    return true;
}

static void find_end(const struct search *search, struct end_search *end, struct aggstats_link *link) {
    if (search->options->may_scan)
        descriptors_of_all(look_for_end, end);
    if (end->count == 0 && !end->has_self)
        return;
    link->relation = AGGSTATS_HELD;
    link->others = end->count > 0 ? end->count - 1 : 0;
    party_set(&link->holder, end->count > 0 ? end->first : end->self, 0);
}

/* ---- FUSE ---- */

static bool is_daemon(const struct end_search *search, const struct descriptor *descriptor) {
    static const char device[] = "/fuse";
    char text[DESCRIPTORS_INFO_SIZE];
    struct descriptor_info info;
    size_t length = strlen(descriptor->link);
    if (length < strlen(device) || strcmp(descriptor->link + length - strlen(device), device) != 0 ||
        !descriptor_read_info(descriptor->process, descriptor->fd, text))
        return false;
    descriptor_info_parse(text, &info);
    return info.has_connection && info.connection == search->connection;
}

static bool is_served_by(uint64_t process, dev_t device) {
    struct end_search search = {.fits = is_daemon, .connection = mounts_kernel_device(device)};
    descriptors_of(process, look_for_end, &search);
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
    struct end_search end = {
        .fits = is_daemon, .self = waiting->process, .connection = mounts_kernel_device(place.device)};
    link->thing = AGGSTATS_CAUSE_FUSE;
    path_copy_end(place.mount, link->object, sizeof(link->object));
    snprintf(link->source, sizeof(link->source), "%s", place.type);
    find_end(search, &end, link);
}

/* ---- Pipes ---- */

/* The names of FIFOs may lead to another one meanwhile. */
static bool is_other_end(const struct end_search *search, const struct descriptor *descriptor) {
    char text[DESCRIPTORS_INFO_SIZE];
    struct descriptor_info info;
    if (strcmp(descriptor->link, search->link) != 0 || !descriptor_read_info(descriptor->process, descriptor->fd, text))
        return false;
    descriptor_info_parse(text, &info);
    bool is_same = info.has_inode == search->info.has_inode && info.inode == search->info.inode;
    return is_same && info.has_access && (info.access == search->access || info.access == O_RDWR);
}

static bool is_pipe(const char *link) {
    return strncmp(link, "pipe:[", strlen("pipe:[")) == 0;
}

/* splice(2) and sendfile(2) have two descriptors, one of which is the pipe. Others have the pipe first. */
static bool find_pipe(const struct waiting *waiting, uint64_t *ret_fd, char ret_link[PATH_MAX]) {
    const struct thread_call *call = &waiting->reading.call;
    if (!call_descriptor(call, ret_fd) || !descriptor_read_link(waiting->thread, *ret_fd, ret_link))
        return false;
    if (call->number == SYS_splice && !is_pipe(ret_link)) {
        *ret_fd = call->arguments[2];
        return descriptor_read_link(waiting->thread, *ret_fd, ret_link) && is_pipe(ret_link);
    }
    return is_pipe(ret_link) || ret_link[0] == '/';
}

void find_pipe_end(const struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    char text[DESCRIPTORS_INFO_SIZE];
    char pipe_link[PATH_MAX];
    uint64_t fd;
    struct end_search end = {
        .fits = is_other_end,
        .self = waiting->process,
        .link = pipe_link,
        .access = link->thing == AGGSTATS_CAUSE_PIPE_ROOM ? O_RDONLY : O_WRONLY,
    };
    if (!find_pipe(waiting, &fd, pipe_link) || !descriptor_read_info(waiting->thread, fd, text))
        return;
    descriptor_info_parse(text, &end.info);
    if (pipe_link[0] == '/')
        path_copy_end(pipe_link, link->object, sizeof(link->object));
    find_end(search, &end, link);
}
