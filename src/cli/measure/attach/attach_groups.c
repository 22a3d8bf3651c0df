/* The thread that adds calls numbers their callers and finds the directories of objects; names are asked for by any. */
#include "attach_groups.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "containers.h"
#include "mounts.h"
#include "path.h"

#define CALLERS 8192U     /* with a number; a later caller takes the place of an earlier one */
#define DIRECTORIES 4096U /* whose names are, likewise */
#define PLACES 16384U     /* objects whose places are remembered */
#define PATH_BYTES (COLLECTED_PARTS * COLLECTED_PART_BYTES + 16)
#define OUTSIDE "outside:"

/* ---- Where file systems are mounted --------------------------------------------------------------- */

static void finish_mount(struct attach_mount *mount) {
    free(mount->path);
    free(mount->type);
    free(mount->root);
}

int attach_mounts_add(struct attach_mounts *mounts, pid_t process) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    const size_t known = mounts->count;
    mounts_open_of(process, &table);
    while (mounts_next(&table, &entry)) {
        const uint32_t device = mounts_kernel_device(entry.device);
        size_t i = 0;
        while (i < known && mounts->mounts[i].device != device)
            i++;
        if (i < known)
            continue;
        struct attach_mount mount = {
            .device = device, .path = strdup(entry.path), .type = strdup(entry.type), .root = strdup(entry.root)};
        if (!mount.path || !mount.type || !mount.root ||
            grow_array(&mounts->mounts, mounts->count, sizeof(mount)) != 0) {
            finish_mount(&mount);
            return -ENOMEM;
        }
        mounts->mounts[mounts->count++] = mount;
    }
    return 0;
}

const struct attach_mount *attach_mounts_find(const struct attach_mounts *mounts, uint32_t device, const char *path) {
    const struct attach_mount *best = NULL;
    for (size_t i = 0; mounts && i < mounts->count; i++) {
        const struct attach_mount *mount = &mounts->mounts[i];
        const bool has_path = mount->device == device && (!path || path_below(path, mount->root));
        if (has_path && (!best || strlen(mount->root) < strlen(best->root)))
            best = mount;
    }
    return best;
}

void attach_mounts_finish(struct attach_mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++)
        finish_mount(&mounts->mounts[i]);
    free(mounts->mounts);
    *mounts = (struct attach_mounts){.mounts = NULL};
}

/* ---- Groups ------------------------------------------------------------------------------------- */

/* Whose calls those of a cell are. */
struct caller {
    uint64_t cgroup;
    uint64_t started_ns;
    uint32_t process;
    char program[16];
};

/* A caller that loses its place gets another number when it comes again. */
struct numbered_caller {
    uint64_t number; /* 0: none */
    struct caller caller;
};

struct directory {
    uint64_t object;
    char path[AGGSTATS_GROUP_NAME_SIZE];
};

struct place {
    uint64_t object; /* 0: none */
    uint64_t directory;
    uint32_t device;
};

struct attach_groups {
    const struct collector *collector;
    struct aggstats_recorder *recorder;
    char *cgroups;                      /* where they are mounted; NULL: nowhere */
    struct container_names *containers; /* of them */
    char *root;                         /* where names begin, its components cut like those of names; "/": everywhere */
    const struct attach_mounts *mounts; /* NULL: of one file system, by its root */
    struct place places[PLACES];        /* of the thread that adds calls, one at a time, like the next three */
    struct numbered_caller callers[CALLERS];
    uint64_t numbers;            /* that callers have had */
    const struct caller *adding; /* the caller of the calls that are added now */
    pthread_mutex_t lock;        /* protects the rest */
    struct directory directories[DIRECTORIES];
};

/* ---- Whose -------------------------------------------------------------------------------------- */

/* An aggstats_identify_fn. A process is another one under each name, and when another process has its number. */
static bool identify(void *context, uint32_t number, struct aggstats_identity *ret_identity) {
    const struct attach_groups *groups = context;
    const struct caller *caller = groups->adding;
    (void)number;
    *ret_identity = (struct aggstats_identity){.id = caller->process,
                                               .instance = hash_text(HASH_BEGIN + caller->started_ns, caller->program)};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%s", caller->program);
    return true;
}

/* An aggstats_identify_fn. */
static bool identify_cgroup(void *context, uint32_t number, struct aggstats_identity *ret_identity) {
    const struct attach_groups *groups = context;
    const uint64_t cgroup = groups->adding->cgroup;
    struct collected_name name;
    struct container container;
    char path[PATH_BYTES];
    if (cgroup == 0 || !collector_name(groups->collector, cgroup, &name))
        return false;
    (void)number;
    /* "/system.slice/cron.service" */
    size_t length = (size_t)sprintf(path, "%s", name.is_cut ? "..." : name.part_count == 0 ? "/" : "");
    for (unsigned i = name.part_count; i > 0; i--)
        length += (size_t)sprintf(path + length, "/%.*s", COLLECTED_CGROUP_BYTES - 1, name.cgroup_parts[i - 1]);
    *ret_identity = (struct aggstats_identity){.id = 0};
    if (container_names_find(groups->containers, path, &container))
        container_describe(&container, ret_identity->name, AGGSTATS_GROUP_NAME_SIZE);
    else
        path_copy_end(path, ret_identity->name, AGGSTATS_GROUP_NAME_SIZE);
    return true;
}

/* A cgroup_tree_visit_fn. */
static void note_container(void *context, const char *directory, const char *path) {
    struct container container;
    (void)directory;
    container_names_find(context, path, &container);
}

/* ---- On what ------------------------------------------------------------------------------------ */

/* "/a/b" of a name's components, the last of which comes first, without the first `skipped` of them: below the root, or
 * in the mount that shows it; "outside:/a/b" where neither is so. */
static void join_parts(const struct attach_groups *groups, const struct collected_name *name, unsigned skipped,
                       char ret_path[PATH_BYTES]) {
    char path[PATH_BYTES];
    size_t length = (size_t)sprintf(path, "%s", name->is_cut ? "..." : name->part_count <= skipped ? "/" : "");
    for (unsigned i = name->part_count; i > skipped; i--)
        length += (size_t)sprintf(path + length, "/%.*s", COLLECTED_PART_BYTES - 1, name->parts[i - 1]);
    if (groups->mounts) {
        const struct attach_mount *mount = attach_mounts_find(groups->mounts, name->device, name->is_cut ? "/" : path);
        const char *below = mount ? path_below(path, mount->root) : NULL;
        const char *above = !mount ? OUTSIDE : strcmp(mount->path, "/") == 0 ? "" : mount->path;
        const char *shown = name->is_cut || !below ? path : below;
        snprintf(ret_path, PATH_BYTES, "%.*s%.*s", PATH_BYTES / 2, name->is_cut ? "" : above, PATH_BYTES / 2 - 1,
                 !above[0] && !shown[0] ? "/" : shown);
    } else {
        const char *below = strcmp(groups->root, "/") == 0 || name->is_cut ? path : path_below(path, groups->root);
        snprintf(ret_path, PATH_BYTES, "%s%.*s", below ? "" : OUTSIDE, (int)(PATH_BYTES - sizeof(OUTSIDE)),
                 !below     ? path
                 : below[0] ? below
                            : "/");
    }
}

/* An aggstats_name_fn. */
static bool name_object(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    struct attach_groups *groups = context;
    struct collected_name name;
    char path[PATH_BYTES] = "(name forgotten)";
    (void)may_wait;
    const bool is_known = collector_name(groups->collector, object, &name);
    const struct directory *directory = &groups->directories[object % DIRECTORIES];
    if (is_known)
        join_parts(groups, &name, 0, path);
    pthread_mutex_lock(&groups->lock);
    const bool is_remembered = directory->object == object;
    path_copy_end(!is_known && is_remembered ? directory->path : path, ret_name, AGGSTATS_GROUP_NAME_SIZE);
    pthread_mutex_unlock(&groups->lock);
    return is_known || is_remembered;
}

char *attach_groups_path(void *context, uint64_t object) {
    char name[AGGSTATS_GROUP_NAME_SIZE];
    return object > 0 && name_object(context, object, false, name) ? strdup(name) : NULL;
}

uint64_t attach_groups_inode(void *context, uint64_t object) {
    const struct attach_groups *groups = context;
    struct collected_name name;
    return object > 0 && collector_name(groups->collector, object, &name) ? name.inode : 0;
}

/* Where an object is, which the kernel is asked for once, and what its directory is called. NULL: it is not known. */
static const struct place *find_place(struct attach_groups *groups, uint64_t object) {
    struct place *place = &groups->places[object / 2 % PLACES];
    struct collected_name name;
    char path[PATH_BYTES];
    /* The name of its directory may have made room for that of another. */
    if (place->object == object &&
        (place->directory == object || groups->directories[place->directory % DIRECTORIES].object == place->directory))
        return place;
    if (!collector_name(groups->collector, object, &name))
        return NULL;
    *place = (struct place){
        .object = object, .directory = name.is_directory ? object : name.directory, .device = name.device};
    if (name.is_directory)
        return place;
    struct directory *directory = &groups->directories[name.directory % DIRECTORIES];
    join_parts(groups, &name, 1, path);
    pthread_mutex_lock(&groups->lock);
    directory->object = name.directory;
    path_copy_end(path, directory->path, sizeof(directory->path));
    pthread_mutex_unlock(&groups->lock);
    return place;
}

/* An aggstats_place_fn. */
static uint64_t directory_of(void *context, uint64_t object) {
    const struct place *place = find_place(context, object);
    return place ? place->directory : 0;
}

/* An aggstats_place_fn: a number of the file system, its device and 1. */
static uint64_t filesystem_of(void *context, uint64_t object) {
    const struct place *place = find_place(context, object);
    return place ? (uint64_t)place->device << 1 | 1 : 0;
}

/* An aggstats_name_fn, of those. */
static bool name_filesystem(void *context, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    const struct attach_groups *groups = context;
    const uint32_t device = (uint32_t)(object >> 1);
    const struct attach_mount *mount = attach_mounts_find(groups->mounts, device, NULL);
    (void)may_wait;
    if (mount)
        snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, "%.200s %.50s", mount->path, mount->type);
    else
        snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, "(device %u:%u)", device >> 20, device & 0xfffff);
    return true;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

/* A collector_group_fn. A caller has one number at a time, and a number is of one caller for ever. */
static void add(void *context, unsigned op, const struct collected_cell *cell, const struct collected_cell_sum *sum) {
    struct attach_groups *groups = context;
    struct caller caller = {.cgroup = cell->cgroup, .started_ns = cell->started_ns, .process = cell->process};
    snprintf(caller.program, sizeof(caller.program), "%.15s", cell->program);
    const uint64_t hash =
        hash_text((HASH_BEGIN ^ caller.process ^ caller.cgroup << 32) + caller.started_ns, caller.program);
    struct numbered_caller *place = &groups->callers[hash % CALLERS];
    const struct caller *known = &place->caller;
    const bool is_same = known->process == caller.process && known->started_ns == caller.started_ns &&
                         known->cgroup == caller.cgroup && strcmp(known->program, caller.program) == 0;
    if (place->number == 0 || !is_same)
        *place = (struct numbered_caller){.number = ++groups->numbers, .caller = caller};
    const struct aggstats_group_calls calls = {
        .caller = place->number,
        .object = cell->object,
        .op = op,
        .calls = sum->calls,
        .total_cycles = sum->total_ns,
        .cache = counting_lane_cache(&sum->reads),
    };
    groups->adding = &caller;
    aggstats_group_add_calls(groups->recorder, &calls);
    groups->adding = NULL;
}

/* The path with components as long as those of names. Owner: the caller frees it. Returns NULL without memory */
static char *cut_components(const char *path) {
    char *cut = strdup(path);
    size_t length = 0;
    size_t of_component = 0;
    for (size_t i = 0; cut && path[i]; i++) {
        of_component = path[i] == '/' ? 0 : of_component + 1;
        if (of_component < COLLECTED_PART_BYTES)
            cut[length++] = path[i];
    }
    if (cut)
        cut[length] = '\0';
    return cut;
}

/* How groups of a kind get their names, and are found for what a call works on. */
static const struct aggstats_grouping_options ways[AGGSTATS_GROUPINGS] = {
    [AGGSTATS_BY_PROCESS] = {.identify = identify},
    [AGGSTATS_BY_PROGRAM] = {.identify = identify},
    [AGGSTATS_BY_CGROUP] = {.identify = identify_cgroup},
    [AGGSTATS_BY_FILE] = {.name_object = name_object},
    [AGGSTATS_BY_DIRECTORY] = {.name_object = name_object, .place_of = directory_of},
    [AGGSTATS_BY_FILESYSTEM] = {.name_object = name_filesystem, .place_of = filesystem_of},
};

int attach_groups_start(struct collector *collector, struct aggstats_recorder *recorder,
                        const struct attach_groups_options *given, struct attach_groups **ret_groups,
                        struct aggstats_grouping_options ret_ways[AGGSTATS_GROUPINGS]) {
    struct attach_groups *groups = calloc(1, sizeof(*groups));
    if (!groups)
        return -ENOMEM;
    groups->collector = collector;
    groups->recorder = recorder;
    groups->mounts = given->mounts;
    pthread_mutex_init(&groups->lock, NULL);
    groups->root = cut_components(given->root ? given->root : "/");
    if (cgroup_tree_find(&groups->cgroups) < 0)
        groups->cgroups = NULL;
    groups->containers = container_names_create("", groups->cgroups);
    if (!groups->root || !groups->containers) {
        attach_groups_finish(groups);
        return -ENOMEM;
    }
    /* Names of all containers there are: files of a new one are still in memory, but those of older ones may have to be
     * read, for which counting must not wait. */
    if (groups->cgroups && given->groupings & 1U << AGGSTATS_BY_CGROUP)
        cgroup_tree_walk(groups->cgroups, note_container, groups->containers);
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS; grouping++) {
        ret_ways[grouping] = ways[grouping];
        ret_ways[grouping].context = groups;
    }
    collector_group(collector, add, groups);
    *ret_groups = groups;
    return 0;
}

void attach_groups_finish(struct attach_groups *groups) {
    if (!groups)
        return;
    pthread_mutex_destroy(&groups->lock);
    container_names_destroy(groups->containers);
    free(groups->cgroups);
    free(groups->root);
    free(groups);
}
