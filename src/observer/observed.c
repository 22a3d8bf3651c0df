/* The mount of an observed daemon as a source of the session: its causes, names and settings. */
#include "observed.h"

#include <dirent.h>
#include <stdlib.h>

#include "aggstats/busy.h"
#include "aggstats/joint_profiles.h"
#include "aggstats/slow.h"
#include "base.h"
#include "path.h"

#define THREADS_MAX 64

/* ---- What a request waits for ------------------------------------------------------------------- */

/* True for a wait for another thread, which works on the request, or for a new request. */
static bool waits_for_thread(const struct thread_reading *reading) {
    return reading->why.kind == AGGSTATS_CAUSE_THREAD || reading->why.kind == AGGSTATS_CAUSE_REQUESTS;
}

/* The common activity of all other threads of the daemon that wait for no thread. Returns false if there is none, or
 * they differ. */
static bool find_other(const struct observed *observed, uint64_t thread, struct thread_reading *ret_reading) {
    char path[64];
    unsigned looked_at = 0;
    bool is_found = false;
    bool is_same = true;
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)observed->process);
    DIR *threads = observed->process > 0 ? opendir(path) : NULL;
    for (struct dirent *entry; threads && (entry = readdir(threads)) && looked_at < THREADS_MAX;) {
        uint64_t memory[2] = {0, 0};
        const struct aggstats_look look = {.thread = strtoull(entry->d_name, NULL, 10), .memory = memory};
        struct thread_reading reading;
        if (look.thread == 0 || look.thread == thread)
            continue;
        looked_at++;
        if (!thread_read(observed->holders.causes, &look, &reading) || waits_for_thread(&reading))
            continue;
        is_same = is_same && (!is_found || aggstats_why_is_same(&reading.why, &ret_reading->why));
        *ret_reading = reading;
        is_found = true;
    }
    if (threads)
        closedir(threads);
    return is_found && is_same;
}

/* An aggstats_cause_fn. A request to a daemon has the cause of the thread that took the request. If that thread waits
 * for another thread of the daemon, as in sshfs, the request has the other thread's cause. Finds nothing for a request
 * that has been answered meanwhile: the answer is counted before this returns. */
static bool find_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    static const struct aggstats_why unknown = {
        .kind = AGGSTATS_CAUSE_THREAD, .id = "other_thread", .words = "waiting for another thread"};
    struct observed *observed = context;
    const struct session_source *source = &observed->session.source;
    struct thread_reading reading;
    struct thread_reading other;
    const bool is_known = thread_read(observed->holders.causes, look, &reading);
    thread_reading_wait(&reading, ret_wait);
    if (!is_known || !waits_for_thread(&reading)) {
        slow_holders_find(&observed->holders, look, &reading, 0, ret_wait);
    } else if (find_other(observed, look->thread, &other)) {
        thread_reading_wait(&other, ret_wait);
        ret_wait->cause.flags |= AGGSTATS_WHY_OTHER_THREAD;
    } else {
        ret_wait->cause = unknown; /* with the thread's own stack */
    }
    source->catch_up(source->context);
    return is_known;
}

/* ---- For the session ---------------------------------------------------------------------------- */

static int set_joint(void *context, unsigned op, unsigned values) {
    struct observed *observed = context;
    const int error = aggstats_recorder_set_joint(observed->session.recorder, op, values);
    if (error == 0)
        __atomic_store_n(&observed->requests.joint[op], values, __ATOMIC_RELAXED);
    return error;
}

static void slow_is_set(void *context) {
    struct observed *observed = context;
    const uint64_t cycles = aggstats_recorder_slow_cycles(observed->session.recorder);
    __atomic_store_n(&observed->requests.slow_cycles, cycles > 0 ? cycles : UINT64_MAX, __ATOMIC_RELAXED);
}

static char *path_of(void *context, uint64_t object) {
    struct observed *observed = context;
    return nodes_path(&observed->requests.nodes, object);
}

/* An aggstats_name_fn. */
static bool name_node(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)may_wait;
    CLEANUP_FREE char *path = path_of(context, object);
    path_copy_end(path ? path : "(not looked up)", ret_name, AGGSTATS_GROUP_NAME_SIZE);
    return path;
}

/* An aggstats_place_fn. */
static uint64_t directory_of(void *context, uint64_t object) {
    struct observed *observed = context;
    return nodes_directory(&observed->requests.nodes, object);
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

/* If the mount cannot be found, nothing is known of it. */
static void fill_source(struct observed *observed, const struct session_options *options,
                        struct session_source *source) {
    const struct fuse_mount *mount = &observed->mount;
    source->name = mount->path ? mount->path : "the mount";
    source->op_names = wire_op_names;
    source->op_count = WIRE_OP_COUNT;
    source->header = (struct session_header){.layer = "daemon",
                                             .lower = mount->source,
                                             .mount = mount->path,
                                             .filesystem = mount->type,
                                             .profile = options->profile};
    source->has_socket = true;
    source->device = mount->device;
    source->slow = (struct aggstats_slow_options){.find_cause = find_cause,
                                                  .context = observed,
                                                  .wants_holders = true,
                                                  .path_of = path_of,
                                                  .path_context = observed,
                                                  .identify = requests_identify_caller,
                                                  .identify_context = &observed->requests};
    source->find_joint = requests_find_joint;
    source->set_joint = set_joint;
    source->slow_is_set = slow_is_set;
    source->set_context = observed;
    source->handed_over = &observed->requests.handed_over;
    session_group_by_threads(
        source,
        &(struct aggstats_grouping_options){.identify_first = requests_identify_caller, .context = &observed->requests},
        &(struct aggstats_grouping_options){.name_object = name_node, .place_of = directory_of, .context = observed});
}

int observed_start(struct observed *observed, const struct session_options *options, const struct thread_causes *causes,
                   struct fuse_mount *mount, const struct session_source *around, pid_t process) {
    struct session_source source = *around;
    *observed = (struct observed){.mount = *mount, .holders = {.causes = causes}, .process = process};
    *mount = (struct fuse_mount){.path = NULL};
    fill_source(observed, options, &source);
    int error = session_open(&observed->session, options, &source);
    if (error == 0)
        error = requests_init(&observed->requests, observed->session.recorder);
    observed->requests.is_grouped = options->groupings != 0;
    if (error == 0)
        error = aggstats_recorder_watch(observed->session.recorder, false);
    if (error == 0)
        error = session_record(&observed->session);
    if (error)
        observed_finish(observed);
    return error;
}

void observed_finish(struct observed *observed) {
    session_finish(&observed->session); /* its recorder's threads ask for names */
    if (observed->requests.nodes.nodes)
        requests_finish(&observed->requests);
    fuse_mount_finish(&observed->mount);
}
