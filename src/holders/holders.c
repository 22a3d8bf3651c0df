/* Links are added at the end: what the last holder waits for, until nothing is known of it. */
#include "holders.h"

#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/slow.h"
#include "aggstats/why.h"
#include "base.h"
#include "disk.h"
#include "finders.h"
#include "mounts.h"
#include "path.h"
#include "proc.h"

#define THREADS_MAX 128 /* of a holder, that are looked at */

#define SHARE 11                    /* a look's cost times that passes between looks, on average */
#define SAVED_NS INT64_C(100000000) /* the time that may be used up at once, by the looks at several calls */
#define SCAN_AGE_NS 1e8             /* from this age on descriptors of all processes are read */

/* ---- Threads ------------------------------------------------------------------------------------ */

struct threads {
    uint64_t numbers[THREADS_MAX];
    size_t count;
    bool is_cut;
};

static void read_threads(uint64_t process, struct threads *ret_threads) {
    char path[48];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task", process);
    *ret_threads = (struct threads){.count = 0};
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (ret_threads->count == THREADS_MAX)
            ret_threads->is_cut = true;
        else
            ret_threads->numbers[ret_threads->count++] = strtoull(entry->d_name, NULL, 10);
    }
    if (directory)
        closedir(directory);
}

/* ---- What a thread waits for -------------------------------------------------------------------- */

static bool stack_has(const struct kernel_stack *stack, const char *pattern) {
    for (size_t i = 0; i < stack->count; i++)
        if (fnmatch(pattern, stack->functions[i], 0) == 0)
            return true;
    return false;
}

/* Names may lead to another file system than that of their directory; but a process looks for holders of its own threads
 * if it is a mount's daemon, which follows names one by one. */
static void read_place(struct waiting *waiting) {
    struct place *place = &waiting->reading.place;
    thread_reading_read_place(&waiting->reading, waiting->thread);
    if (place->is_near && !(place->is_directory && waiting->process == (uint64_t)getpid()))
        *place = (struct place){.has_mount = false};
}

/* If the stack is hidden, or only its innermost function is known, the table of locks may still have a request of a
 * process without other threads. */
static enum aggstats_cause_class find_thing(struct search *search, const struct waiting *waiting) {
    struct threads threads;
    switch (waiting->reading.why.kind) {
    case AGGSTATS_CAUSE_DISK_READ:
    case AGGSTATS_CAUSE_DISK:
        return AGGSTATS_CAUSE_DISK;
    case AGGSTATS_CAUSE_FLOCK:
    case AGGSTATS_CAUSE_FCNTL:
    case AGGSTATS_CAUSE_LEASE:
    case AGGSTATS_CAUSE_FROZEN:
    case AGGSTATS_CAUSE_FUSE:
    case AGGSTATS_CAUSE_SERVER:
    case AGGSTATS_CAUSE_PIPE_ROOM:
    case AGGSTATS_CAUSE_PIPE_DATA:
        return waiting->reading.why.kind;
    case AGGSTATS_CAUSE_RUNNING:
    case AGGSTATS_CAUSE_CPU:
        return AGGSTATS_CAUSE_OTHER;
    default:
        if (waiting->reading.stack.count > 1)
            return AGGSTATS_CAUSE_OTHER;
        read_threads(waiting->process, &threads);
        return threads.count == 1 ? find_lock_request(search, waiting->process) : AGGSTATS_CAUSE_OTHER;
    }
}

/* Returns false if what the thread waits for is unknown. */
static bool read_waiting(struct search *search, uint64_t process, uint64_t thread, struct waiting *ret_waiting) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = thread, .memory = memory};
    *ret_waiting = (struct waiting){.process = process, .thread = thread};
    const bool is_known = thread_read(search->options->causes, &look, &ret_waiting->reading);
    if (!is_known) {
        ret_waiting->reading.why = (struct aggstats_why){.words = ""};
        return false;
    }
    read_place(ret_waiting);
    ret_waiting->thing = find_thing(search, ret_waiting);
    return true;
}

/* ---- Holders by thing --------------------------------------------------------------------------- */

static void find_server(const struct waiting *waiting, struct aggstats_link *link) {
    if (!waiting->reading.place.has_mount || !place_server(&waiting->reading.place, link->source, sizeof(link->source)))
        return;
    link->thing = AGGSTATS_CAUSE_SERVER;
    path_copy_end(waiting->reading.place.mount, link->object, sizeof(link->object));
}

/* Without its name nothing is known of it. */
static void find_disk(const struct waiting *waiting, struct aggstats_link *link) {
    struct disk disk;
    if (!disk_find(&waiting->reading.place, &disk))
        return;
    link->thing = AGGSTATS_CAUSE_DISK;
    snprintf(link->object, sizeof(link->object), "%s", disk.name);
    path_copy_end(disk.backing, link->source, sizeof(link->source));
    link->has_in_flight = disk.has_in_flight;
    link->in_flight = disk.in_flight;
    if (disk.number[0] && waiting->thread > 0)
        disk_limit_find(waiting->thread, disk.number, link->group, sizeof(link->group));
}

static void find_holder(struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    const struct place *place = &waiting->reading.place;
    const struct kernel_stack *stack = &waiting->reading.stack;
    switch (waiting->thing) {
    case AGGSTATS_CAUSE_FLOCK:
    case AGGSTATS_CAUSE_FCNTL:
    case AGGSTATS_CAUSE_LEASE:
        link->thing = waiting->thing;
        path_copy_end(waiting->path ? waiting->path : place->path, link->object, sizeof(link->object));
        /* Some file systems keep locks themselves. Whether this one does is seen in the stack. */
        if (find_lock_holder(search, waiting, link))
            break;
        if (stack_has(stack, "fuse_*"))
            find_daemon(search, waiting, link);
        else if (stack_has(stack, "nfs*") || stack_has(stack, "cifs_*"))
            find_server(waiting, link);
        break;
    case AGGSTATS_CAUSE_PIPE_ROOM:
    case AGGSTATS_CAUSE_PIPE_DATA:
        link->thing = waiting->thing;
        find_pipe_end(search, waiting, link);
        break;
    case AGGSTATS_CAUSE_FROZEN:
        if (!place->has_mount)
            break;
        link->thing = waiting->thing;
        path_copy_end(place->mount, link->object, sizeof(link->object));
        break;
    case AGGSTATS_CAUSE_FUSE:
        find_daemon(search, waiting, link);
        break;
    case AGGSTATS_CAUSE_SERVER:
        find_server(waiting, link);
        break;
    case AGGSTATS_CAUSE_DISK:
        find_disk(waiting, link);
        break;
    default:
        break;
    }
}

/* Returns false if it waits for none. */
static bool find_kernel_lock(const struct search *search, const struct waiting *waiting, struct aggstats_link *link) {
    const struct holders_options *options = search->options;
    struct holders_kernel_lock lock = {.owner = 0};
    uint64_t process;
    if (!options->find_kernel_lock || !options->find_kernel_lock(options->kernel_lock_context, waiting->thread, &lock))
        return false;
    link->thing = AGGSTATS_CAUSE_LOCK;
    snprintf(link->object, sizeof(link->object), "%s", lock.function);
    if (lock.owner > 0 && proc_status_number(lock.owner, "Tgid", 10, &process)) {
        link->relation = AGGSTATS_HELD;
        party_set(&link->holder, process, lock.owner);
    }
    return true;
}

/* ---- Links -------------------------------------------------------------------------------------- */

static struct aggstats_link *add_link(struct aggstats_chain *chain, uint64_t process, uint64_t thread,
                                      const struct aggstats_why *cause) {
    struct aggstats_link *link = &chain->links[chain->count++];
    party_set(&link->waiter, process, thread);
    link->cause = *cause;
    return link;
}

/* thread: the one that is shown; 0: none, because the process has no other */
static void add_waiting(struct search *search, struct aggstats_chain *chain, const struct waiting *waiting,
                        uint64_t thread) {
    struct aggstats_link *link = add_link(chain, waiting->process, thread, &waiting->reading.why);
    if (!find_kernel_lock(search, waiting, link))
        find_holder(search, waiting, link);
}

static bool has_waiter(const struct aggstats_chain *chain, uint64_t process, uint64_t thread) {
    for (size_t i = 0; i < chain->count; i++) {
        const struct aggstats_party *waiter = &chain->links[i].waiter;
        if (waiter->process == process && (thread == 0 || waiter->thread == thread))
            return true;
    }
    return false;
}

/* ---- Following a process ------------------------------------------------------------------------ */

/* Of many threads only one that waits for somebody is reported: the others may have other work. If all have the same
 * cause, that is reported. */
static bool follow_threads(struct search *search, struct aggstats_chain *chain, uint64_t process,
                           const struct threads *threads) {
    struct aggstats_why all = {.words = ""};
    bool is_same = !threads->is_cut;
    for (size_t i = 0; i < threads->count; i++) {
        struct waiting waiting;
        if (has_waiter(chain, process, threads->numbers[i])) {
            is_same = false;
            continue;
        }
        bool is_known = read_waiting(search, process, threads->numbers[i], &waiting);
        if (is_known && waiting.thing != AGGSTATS_CAUSE_OTHER && waiting.thing != AGGSTATS_CAUSE_PIPE_DATA) {
            add_waiting(search, chain, &waiting, waiting.thread);
            return true;
        }
        is_same = is_same && is_known && (i == 0 || aggstats_why_is_same(&all, &waiting.reading.why));
        all = waiting.reading.why;
    }
    if (is_same)
        add_link(chain, process, 0, &all)->is_all = true;
    return false;
}

static bool follow_process(struct search *search, struct aggstats_chain *chain, const struct aggstats_party *holder) {
    static const struct aggstats_why by_signal = {
        .kind = AGGSTATS_CAUSE_STOPPED, .id = "stopped_signal", .words = "stopped"};
    static const struct aggstats_why by_debugger = {
        .kind = AGGSTATS_CAUSE_STOPPED, .id = "stopped_debugger", .words = "stopped by a debugger"};
    const uint64_t process = holder->process;
    struct threads threads;
    struct proc_stat stat;
    struct waiting waiting;
    read_threads(process, &threads);
    const bool is_one = threads.count == 1;
    const uint64_t thread = is_one ? threads.numbers[0] : holder->thread;
    if (has_waiter(chain, process, is_one ? 0 : thread) && (is_one || thread != 0)) {
        chain->is_circle = true;
        return false;
    }
    if (chain->count == AGGSTATS_LINKS_MAX || threads.count == 0)
        return false;
    if (proc_stat_read(process, &stat) && (stat.state[0] == 'T' || stat.state[0] == 't')) {
        add_link(chain, process, 0, stat.state[0] == 'T' ? &by_signal : &by_debugger);
        return false;
    }
    if (thread == 0)
        return follow_threads(search, chain, process, &threads);
    const bool is_known = read_waiting(search, process, thread, &waiting);
    if (!is_known)
        waiting.thing = find_thing(search, &waiting);
    if (!is_known && waiting.thing == AGGSTATS_CAUSE_OTHER)
        return false;
    add_waiting(search, chain, &waiting, is_one ? 0 : thread);
    return true;
}

/* ---- Following a loop device -------------------------------------------------------------------- */

/* Adds the file system that the file of a loop device is on. The device need not be waiting for that file system. */
static bool follow_file(struct search *search, struct aggstats_chain *chain, const char *path) {
    struct waiting waiting = {.process = 0};
    if (chain->count == AGGSTATS_LINKS_MAX || !place_find_path(path, &waiting.reading.place))
        return false;
    struct aggstats_link *link = add_link(chain, 0, 0, &waiting.reading.why);
    const struct mounts_entry entry = {.type = waiting.reading.place.type};
    if (mounts_is_fuse(&entry))
        find_daemon(search, &waiting, link);
    else if (mounts_may_hang(&entry))
        find_server(&waiting, link);
    else
        find_disk(&waiting, link);
    return link->thing != AGGSTATS_CAUSE_OTHER;
}

static bool follow(struct search *search, struct aggstats_chain *chain) {
    const struct aggstats_link *last = &chain->links[chain->count - 1];
    if (last->thing == AGGSTATS_CAUSE_DISK)
        return last->source[0] == '/' && follow_file(search, chain, last->source);
    return last->holder.process > 0 && follow_process(search, chain, &last->holder);
}

/* ---- The chain ---------------------------------------------------------------------------------- */

/* Reads the place of the first waiter's call, except what the caller knows of it. */
static void begin(struct search *search, const struct holders_waiter *waiter, struct aggstats_chain *chain) {
    struct waiting waiting = {.process = waiter->process, .thread = waiter->thread};
    struct place *place = &waiting.reading.place;
    if (waiter->reading) {
        waiting.reading = *waiter->reading;
        read_place(&waiting);
        waiting.thing = find_thing(search, &waiting);
    } else if (!read_waiting(search, waiter->process, waiter->thread, &waiting)) {
        waiting.thing = find_thing(search, &waiting);
    }
    if (waiter->device != 0 && (!place->has_mount || place->device != waiter->device)) {
        waiting.is_elsewhere = true;
        place->has_mount = false;
        place_find_mount(waiter->thread, waiter->device, place);
    }
    waiting.path = waiter->path;
    add_waiting(search, chain, &waiting, waiter->thread);
}

bool holders_find(const struct holders_options *options, const struct holders_waiter *waiter,
                  struct aggstats_chain *ret_chain) {
    struct search search = {.options = options};
    const struct aggstats_link *first = &ret_chain->links[0];
    *ret_chain = (struct aggstats_chain){.count = 0};
    begin(&search, waiter, ret_chain);
    while (follow(&search, ret_chain))
        ;
    lock_table_finish(&search.locks);
    return first->thing != AGGSTATS_CAUSE_OTHER && (first->object[0] || first->relation != AGGSTATS_NOBODY_KNOWN);
}

/* ---- For the recorder's watcher -----------------------------------------------------------------
 *
 * Looking for holders costs from some 10 us to some 100 ms, and the thread that looks has calls to watch meanwhile. The
 * cost is CPU time: on a busy machine a look takes many times as long, and a rest by the time that passed would leave
 * calls without holders for minutes. */

void slow_holders_find(struct slow_holders *holders, const struct aggstats_look *look,
                       const struct thread_reading *reading, dev_t device, struct aggstats_wait *wait) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t begin_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct holders_options options = {.causes = holders->causes, .may_scan = look->age_ns >= SCAN_AGE_NS};
    struct holders_waiter waiter = {.thread = look->thread, .reading = reading, .device = device};
    wait->is_put_off = now_ns < holders->next_ns;
    if (!look->wants_holder || wait->is_put_off)
        return;
    if (!proc_status_number(look->thread, "Tgid", 10, &waiter.process) ||
        !holders_find(&options, &waiter, &wait->chain) || !thread_reading_holds(reading, look->thread))
        wait->chain = (struct aggstats_chain){.count = 0};
    const int64_t saved_ns = now_ns - holders->next_ns < SAVED_NS ? now_ns - holders->next_ns : SAVED_NS;
    holders->next_ns = now_ns - saved_ns + SHARE * (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
}

bool slow_holders_look(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct slow_holders *holders = context;
    struct thread_reading reading;
    const bool is_known = thread_read(holders->causes, look, &reading);
    thread_reading_wait(&reading, ret_wait);
    slow_holders_find(holders, look, &reading, 0, ret_wait);
    return is_known;
}
