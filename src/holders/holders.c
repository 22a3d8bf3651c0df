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
#include "base.h"
#include "disk.h"
#include "disk_limit.h"
#include "finders.h"
#include "mounts.h"
#include "path.h"
#include "proc.h"
#include "things.h"

#define THREADS_MAX 128 /* of a holder, that are looked at */

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

/* The innermost functions, as struct aggstats_wait has them: "a < b < c". */
static void parse_stack(const char *text, struct kernel_stack *ret_stack) {
    char lines[AGGSTATS_STACK_SIZE];
    snprintf(lines, sizeof(lines), "%s", text);
    for (char *at = lines; *at; at++)
        if (*at == '<')
            *at = '\n';
    kernel_stack_parse(lines, ret_stack);
}

/* A process looks for holders of its own threads if it is a mount's daemon, which follows names one by one. */
static void read_place(struct waiting *waiting) {
    call_read(waiting->thread, &waiting->call);
    place_read(waiting->thread, &waiting->call, waiting->process == (uint64_t)getpid(), &waiting->place);
}

static bool read_waiting(const struct search *search, uint64_t process, uint64_t thread, struct waiting *ret_waiting,
                         char ret_cause[AGGSTATS_CAUSE_SIZE]) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = thread, .memory = memory};
    struct aggstats_wait wait = {.cause = ""};
    *ret_waiting = (struct waiting){.process = process, .thread = thread};
    if (!thread_cause(search->options->causes, &look, &wait))
        return false;
    parse_stack(wait.stack, &ret_waiting->stack);
    snprintf(ret_cause, AGGSTATS_CAUSE_SIZE, "%s", wait.cause);
    read_place(ret_waiting);
    return true;
}

static const char *type_of(const struct waiting *waiting) {
    return waiting->place.has_mount ? waiting->place.type : "";
}

static bool is_alone(uint64_t process) {
    struct threads threads;
    read_threads(process, &threads);
    return threads.count == 1;
}

/* By the table of causes that comes with osproffs: a user's own causes have other words. If the stack is hidden, or only
 * its innermost function is known, the table of locks may still have a request. */
static enum holders_thing find_thing(struct search *search, const struct waiting *waiting) {
    const struct cause *cause = causes_find(search->options->causes->known, &waiting->stack, type_of(waiting));
    enum holders_thing thing = things_of_cause(cause ? cause->words : NULL);
    if (thing == HOLDERS_NO_THING && waiting->stack.count <= 1 && is_alone(waiting->process))
        thing = find_lock_request(search, waiting->process);
    return thing;
}

/* ---- Holders by thing --------------------------------------------------------------------------- */

static void find_frozen(const struct waiting *waiting, struct holders_link *link) {
    if (waiting->place.has_mount)
        path_copy_end(waiting->place.mount, link->object, sizeof(link->object));
}

static void find_server(const struct waiting *waiting, struct holders_link *link) {
    if (!waiting->place.has_mount || !place_server(&waiting->place, link->source, sizeof(link->source)))
        return;
    link->thing = HOLDERS_SERVER;
    path_copy_end(waiting->place.mount, link->object, sizeof(link->object));
}

/* Without its name nothing is known of it. */
static void find_disk(const struct waiting *waiting, struct holders_link *link) {
    struct disk disk;
    if (!disk_find(&waiting->place, &disk))
        return;
    link->thing = HOLDERS_DISK;
    snprintf(link->object, sizeof(link->object), "%s", disk.name);
    path_copy_end(disk.backing, link->source, sizeof(link->source));
    link->has_in_flight = disk.has_in_flight;
    link->in_flight = disk.in_flight;
    if (disk.number[0] && waiting->thread > 0)
        disk_limit_find(waiting->thread, disk.number, link->group, sizeof(link->group));
}

/* Some file systems keep locks themselves. Whether this one does is seen in the stack. */
static void find_lock(struct search *search, const struct waiting *waiting, struct holders_link *link) {
    path_copy_end(waiting->place.path, link->object, sizeof(link->object));
    if (find_lock_holder(search, waiting, link))
        return;
    if (stack_has(&waiting->stack, "fuse_*"))
        find_daemon(search, waiting, link);
    else if (stack_has(&waiting->stack, "nfs*") || stack_has(&waiting->stack, "cifs_*"))
        find_server(waiting, link);
}

static void find_holder(struct search *search, const struct waiting *waiting, struct holders_link *link) {
    const enum holders_thing thing = find_thing(search, waiting);
    switch (thing) {
    case HOLDERS_FLOCK:
    case HOLDERS_FCNTL:
    case HOLDERS_LEASE:
        link->thing = thing;
        find_lock(search, waiting, link);
        break;
    case HOLDERS_PIPE_ROOM:
    case HOLDERS_PIPE_DATA:
        link->thing = thing;
        find_pipe_end(search, waiting, link);
        break;
    case HOLDERS_FROZEN:
        link->thing = waiting->place.has_mount ? thing : HOLDERS_NO_THING;
        find_frozen(waiting, link);
        break;
    case HOLDERS_FUSE:
        find_daemon(search, waiting, link);
        break;
    case HOLDERS_SERVER:
        find_server(waiting, link);
        break;
    case HOLDERS_DISK:
        find_disk(waiting, link);
        break;
    case HOLDERS_KERNEL_LOCK:
    case HOLDERS_NO_THING:
        break;
    }
}

/* Returns false if it waits for none. */
static bool find_kernel_lock(const struct search *search, const struct waiting *waiting, struct holders_link *link) {
    const struct holders_options *options = search->options;
    struct holders_kernel_lock lock = {.owner = 0};
    uint64_t process;
    if (!options->find_kernel_lock || !options->find_kernel_lock(options->kernel_lock_context, waiting->thread, &lock))
        return false;
    link->thing = HOLDERS_KERNEL_LOCK;
    snprintf(link->object, sizeof(link->object), "%s", lock.function);
    if (lock.owner > 0 && proc_status_number(lock.owner, "Tgid", 10, &process)) {
        link->relation = HOLDERS_HELD;
        party_set(&link->holder, process, lock.owner);
    }
    return true;
}

/* ---- Links -------------------------------------------------------------------------------------- */

static struct holders_link *add_link(struct holders_chain *chain, uint64_t process, uint64_t thread,
                                     const char *cause) {
    struct holders_link *link = &chain->links[chain->count++];
    party_set(&link->waiter, process, thread);
    snprintf(link->cause, sizeof(link->cause), "%s", cause);
    return link;
}

static void add_waiting(struct search *search, struct holders_chain *chain, const struct waiting *waiting,
                        uint64_t thread, const char *cause) {
    struct holders_link *link = add_link(chain, waiting->process, thread, cause);
    if (!find_kernel_lock(search, waiting, link))
        find_holder(search, waiting, link);
}

static bool has_waiter(const struct holders_chain *chain, uint64_t process, uint64_t thread) {
    for (size_t i = 0; i < chain->count; i++) {
        const struct holders_party *waiter = &chain->links[i].waiter;
        if (waiter->process == process && (thread == 0 || waiter->thread == thread))
            return true;
    }
    return false;
}

/* ---- Following a process ------------------------------------------------------------------------ */

static bool add_stopped(struct holders_chain *chain, uint64_t process) {
    struct proc_stat stat;
    if (!proc_stat_read(process, &stat) || (stat.state[0] != 'T' && stat.state[0] != 't'))
        return false;
    add_link(chain, process, 0, stat.state[0] == 'T' ? "stopped" : "stopped by a debugger");
    return true;
}

static bool is_held_up(struct search *search, const struct waiting *waiting) {
    const enum holders_thing thing = find_thing(search, waiting);
    return thing != HOLDERS_NO_THING && thing != HOLDERS_PIPE_DATA;
}

/* Of many threads only one that waits for somebody is reported: the others may have other work. If all have the same
 * cause, that is reported. */
static bool follow_threads(struct search *search, struct holders_chain *chain, uint64_t process,
                           const struct threads *threads) {
    char all[AGGSTATS_CAUSE_SIZE] = "";
    bool is_same = !threads->is_cut;
    for (size_t i = 0; i < threads->count; i++) {
        struct waiting waiting;
        char cause[AGGSTATS_CAUSE_SIZE] = "";
        if (has_waiter(chain, process, threads->numbers[i])) {
            is_same = false;
            continue;
        }
        bool is_known = read_waiting(search, process, threads->numbers[i], &waiting, cause);
        if (is_known && is_held_up(search, &waiting)) {
            add_waiting(search, chain, &waiting, waiting.thread, cause);
            return true;
        }
        is_same = is_same && is_known && (i == 0 || strcmp(all, cause) == 0);
        snprintf(all, sizeof(all), "%s", cause);
    }
    if (is_same)
        add_link(chain, process, 0, all)->is_all = true;
    return false;
}

static bool follow_thread(struct search *search, struct holders_chain *chain, uint64_t process, uint64_t thread,
                          uint64_t shown) {
    struct waiting waiting;
    char cause[AGGSTATS_CAUSE_SIZE] = "";
    if (!read_waiting(search, process, thread, &waiting, cause) && find_thing(search, &waiting) == HOLDERS_NO_THING)
        return false;
    add_waiting(search, chain, &waiting, shown, cause);
    return true;
}

static bool follow_process(struct search *search, struct holders_chain *chain, const struct holders_party *holder) {
    struct threads threads;
    read_threads(holder->process, &threads);
    const bool is_one = threads.count == 1;
    const uint64_t thread = is_one ? threads.numbers[0] : holder->thread;
    if (has_waiter(chain, holder->process, is_one ? 0 : thread) && (is_one || thread != 0)) {
        chain->is_circle = true;
        return false;
    }
    if (chain->count == HOLDERS_LINKS_MAX || threads.count == 0 || add_stopped(chain, holder->process))
        return false;
    if (thread != 0)
        return follow_thread(search, chain, holder->process, thread, is_one ? 0 : thread);
    return follow_threads(search, chain, holder->process, &threads);
}

/* ---- Following a loop device -------------------------------------------------------------------- */

/* What its file is on. That does not mean that the device waits for it. */
static bool follow_file(struct search *search, struct holders_chain *chain, const char *path) {
    struct waiting waiting = {.process = 0};
    if (chain->count == HOLDERS_LINKS_MAX || !place_find_path(path, &waiting.place))
        return false;
    struct holders_link *link = add_link(chain, 0, 0, "");
    const struct mounts_entry entry = {.type = waiting.place.type};
    if (mounts_is_fuse(&entry))
        find_daemon(search, &waiting, link);
    else if (mounts_may_hang(&entry))
        find_server(&waiting, link);
    else
        find_disk(&waiting, link);
    return link->thing != HOLDERS_NO_THING;
}

static bool follow(struct search *search, struct holders_chain *chain) {
    const struct holders_link *last = &chain->links[chain->count - 1];
    if (last->thing == HOLDERS_DISK)
        return last->source[0] == '/' && follow_file(search, chain, last->source);
    return last->holder.process > 0 && follow_process(search, chain, &last->holder);
}

/* ---- The chain ---------------------------------------------------------------------------------- */

/* Of a given stack. */
static void find_cause(const struct thread_causes *causes, const struct waiting *waiting,
                       char ret_cause[AGGSTATS_CAUSE_SIZE]) {
    const struct cause *cause = thread_causes_find(causes, &waiting->stack, type_of(waiting));
    const char *place = kernel_stack_place(&waiting->stack);
    if (cause)
        snprintf(ret_cause, AGGSTATS_CAUSE_SIZE, "%s", cause->words);
    else if (place)
        snprintf(ret_cause, AGGSTATS_CAUSE_SIZE, "waiting in the kernel function %s", place);
}

static void set_place(const struct holders_waiter *waiter, struct waiting *waiting) {
    struct place *place = &waiting->place;
    if (waiter->path)
        snprintf(place->path, sizeof(place->path), "%s", waiter->path);
    if (waiter->device == 0 || (place->has_mount && place->device == waiter->device))
        return;
    place->has_inode = false; /* the descriptor is of another file system */
    place->has_mount = false;
    place_find_mount(waiter->thread, waiter->device, place);
}

static void begin(struct search *search, const struct holders_waiter *waiter, struct holders_chain *chain) {
    struct waiting waiting = {.process = waiter->process, .thread = waiter->thread};
    char cause[AGGSTATS_CAUSE_SIZE] = "";
    if (waiter->stack) {
        waiting.stack = *waiter->stack;
        read_place(&waiting);
    } else {
        read_waiting(search, waiter->process, waiter->thread, &waiting, cause);
    }
    set_place(waiter, &waiting);
    if (waiter->stack)
        find_cause(search->options->causes, &waiting, cause);
    add_waiting(search, chain, &waiting, waiter->thread, cause);
}

bool holders_find(const struct holders_options *options, const struct holders_waiter *waiter,
                  struct holders_chain *ret_chain) {
    struct search search = {.options = options};
    *ret_chain = (struct holders_chain){.count = 0};
    begin(&search, waiter, ret_chain);
    while (follow(&search, ret_chain))
        ;
    lock_table_finish(&search.locks);
    const struct holders_link *first = &ret_chain->links[0];
    return first->thing != HOLDERS_NO_THING && (first->object[0] || first->relation != HOLDERS_NOBODY_KNOWN);
}
