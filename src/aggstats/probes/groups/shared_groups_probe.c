/* Groups of a shared live file, in the process that made it: from its cells (shared_layout.h) to group profiles.
 *
 * A snapshot copies the cells before the counters are read, which have each call first: so groups never have more than
 * the whole. What has no group is the difference. Everything is worked on in the copy, since other processes write in
 * the file, and may write anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/shared_groups.h"
#include "base.h"
#include "group_profiles.h"
#include "path.h"
#include "places.h"
#include "profile_owned.h"
#include "recorder_state.h"
#include "snapshot.h"

/* Keys of groups: numbers of objects, callers or mounts, from 1; 0: no group. */
#define KEY_OF_ROOT GROUPS_OBJECTS /* the directory "/", which need not be an object */
#define KEYS_MAX (GROUPS_OBJECTS + 1)
#define PATH_BYTES 1024

struct shared_groups {
    struct probe probe;
    struct groups_file *file; /* a copy */
    unsigned groupings;       /* bits */
    unsigned groups_max;
    unsigned directory_depth;
    aggstats_mounts_fn mounts;
    void *context;
    struct group_cell *cells;  /* [GROUPS_CELLS]: as last read */
    struct group_cell *before; /* the same at the last reset, without keys */
    uint32_t *used;            /* [GROUPS_CELLS]: indexes of the cells that have been read */
    size_t used_count;
};

static struct shared_groups *to_shared(struct probe *probe) {
    _Static_assert(offsetof(struct shared_groups, probe) == 0, "a probe's address is its owner's");
    return (struct shared_groups *)probe;
}

/* ---- Reading, and resetting ---- */

static void read_block(struct shared_groups *groups, size_t first) {
    for (size_t i = first; i < first + GROUPS_CELLS_TOGETHER; i++) {
        const struct group_cell *cell = &groups->file->cells[i];
        struct group_cell *copy = &groups->cells[i];
        if (cell->key == 0)
            continue;
        if (copy->key == 0)
            groups->used[groups->used_count++] = (uint32_t)i;
        copy->key = cell->key;
        copy->calls = cell->calls - groups->before[i].calls;
        copy->cycles = cell->cycles - groups->before[i].cycles;
    }
}

static void read_cells(struct probe *probe) {
    struct shared_groups *groups = to_shared(probe);
    (void)shared_part_read_groups(&probe->recorder->shared, SHARED_GROUPS_CELLS,
                                  groups->file); /* as far as it can be */
    for (size_t i = 0; i < GROUPS_BLOCKS; i++)
        if (groups->file->used_blocks[i] != 0)
            read_block(groups, i * GROUPS_CELLS_TOGETHER);
}

static void reset(struct probe *probe) {
    struct shared_groups *groups = to_shared(probe);
    for (size_t used = 0; used < groups->used_count; used++) {
        const uint32_t i = groups->used[used];
        groups->before[i].calls += groups->cells[i].calls;
        groups->before[i].cycles += groups->cells[i].cycles;
        groups->cells[i].calls = groups->cells[i].cycles = 0;
    }
}

/* ---- Which group a cell belongs to ---- */

/* For one grouping, while it is shown. */
struct sorter {
    const struct shared_groups *groups;
    enum aggstats_grouping grouping;
    const struct aggstats_shared_mount *mounts;
    size_t mount_count;
    uint32_t mount_keys[GROUPS_MOUNTS];   /* the index in mounts, plus 1, of each number in the file; 0: gone */
    uint32_t caller_keys[GROUPS_CALLERS]; /* the first caller of the same name */
    uint32_t *object_keys;                /* [KEYS_MAX]: directories, as for directory_key(), plus 1; or mounts that
                                           * are at an object; 0: not known yet, or none */
    double *cycles;                       /* [KEYS_MAX] */
    uint32_t *places;                     /* [KEYS_MAX]: the index of the group, plus 1 */
};

static uint32_t parent_of(const struct groups_file *file, uint32_t object) {
    struct group_name_view name;
    if (!groups_file_name(file, object, &name))
        return 0;
    if (name.parent != 0)
        return name.parent;
    return memchr(name.text + 1, '/', name.length > 1 ? name.length - 1 : 0) ? 0 : KEY_OF_ROOT;
}

/* 0: no path is so deep: the parents go in a circle. */
static unsigned depth_of(const struct groups_file *file, uint32_t directory) {
    unsigned depth = 0;
    for (; directory != 0 && directory != KEY_OF_ROOT; directory = parent_of(file, directory))
        if (++depth > PATH_BYTES)
            return 0;
    return depth;
}

/* The directory that the object is in, or is. */
static uint32_t directory_key(const struct sorter *sorter, aggstats_subject subject) {
    const struct groups_file *file = sorter->groups->file;
    const unsigned depth_max = sorter->groups->directory_depth;
    const uint32_t object = subject_object(subject);
    struct group_name_view name;
    uint32_t key = 0;
    if (object == 0 || sorter->object_keys[object] != 0)
        return object == 0 ? 0 : sorter->object_keys[object] - 1;
    const bool is_directory = subject & SUBJECT_IS_PLACE || file->objects[object].flags & GROUP_OBJECT_DIRECTORY;
    if (groups_file_name(file, object, &name))
        key = name.length == 1 ? KEY_OF_ROOT : is_directory ? object : parent_of(file, object);
    for (unsigned depth = depth_of(file, key); depth_max > 0 && key != 0 && depth > depth_max; depth--)
        key = parent_of(file, key);
    sorter->object_keys[object] = key + 1;
    return key;
}

static uint32_t key_of(const struct sorter *sorter, const struct group_cell *cell) {
    const aggstats_subject subject = cell_subject(cell->key);
    const uint32_t caller = (uint32_t)(cell->key >> CELL_CALLER_SHIFT) % GROUPS_CALLERS;
    const uint32_t object = subject & SUBJECT_IS_PLACE ? 0 : subject_object(subject);
    switch (sorter->grouping) {
    case AGGSTATS_BY_FILE:
        return object;
    case AGGSTATS_BY_DIRECTORY:
        return directory_key(sorter, subject);
    case AGGSTATS_BY_FILESYSTEM:
        if (sorter->object_keys[object] != 0) /* a mount point belongs to the file system that is mounted there */
            return sorter->object_keys[object];
        return sorter->mount_keys[subject >> AGGSTATS_SUBJECT_MOUNT_SHIFT];
    case AGGSTATS_BY_PROGRAM:
        return sorter->caller_keys[caller];
    default:
        return caller;
    }
}

/* ---- Preparing that ---- */

/* A mount of another mount namespace has a number of its own: it is known by its device. Returns the index, plus 1; 0:
 * it is gone */
static uint32_t find_mount(const struct sorter *sorter, const struct group_mount *mount) {
    const uint64_t key = mount->key;
    const uint64_t device = key % 2 != 0 ? mount->device : key / 2;
    uint32_t found = 0;
    for (size_t i = 0; key != 0 && i < sorter->mount_count; i++) {
        if (key % 2 != 0 && sorter->mounts[i].id == key / 2)
            return (uint32_t)i + 1;
        if (found == 0 && device != 0 && sorter->mounts[i].device == device)
            found = (uint32_t)i + 1;
    }
    return found;
}

static void find_mounts(struct sorter *sorter) {
    const struct groups_file *file = sorter->groups->file;
    sorter->mounts = sorter->groups->mounts(sorter->groups->context, &sorter->mount_count);
    for (unsigned number = 1; number < GROUPS_MOUNTS; number++)
        sorter->mount_keys[number] = find_mount(sorter, &file->mounts[number]);
    for (size_t i = 0; i < sorter->mount_count && i < GROUPS_OBJECTS; i++) { /* the last one covers others */
        const unsigned object = groups_file_find(file, sorter->mounts[i].path, strlen(sorter->mounts[i].path));
        if (object != 0)
            sorter->object_keys[object] = (uint32_t)i + 1;
    }
}

static bool has_name(const struct groups_file *file, uint32_t caller) {
    return file->callers[caller].is_whole != 0;
}

static void find_callers(struct sorter *sorter) {
    const struct groups_file *file = sorter->groups->file;
    for (uint32_t caller = 1; caller < GROUPS_CALLERS; caller++)
        for (uint32_t first = 1; first <= caller && has_name(file, caller) && sorter->caller_keys[caller] == 0; first++)
            if (has_name(file, first) &&
                strncmp(file->callers[first].name, file->callers[caller].name, AGGSTATS_CALLER_NAME_SIZE) == 0)
                sorter->caller_keys[caller] = first;
}

static int sorter_init(struct sorter *sorter, const struct shared_groups *groups, enum aggstats_grouping grouping) {
    *sorter = (struct sorter){
        .groups = groups,
        .grouping = grouping,
        .object_keys = calloc(KEYS_MAX, sizeof(*sorter->object_keys)),
        .cycles = calloc(KEYS_MAX, sizeof(*sorter->cycles)),
        .places = calloc(KEYS_MAX, sizeof(*sorter->places)),
    };
    if (!sorter->object_keys || !sorter->cycles || !sorter->places)
        return -ENOMEM;
    if (grouping == AGGSTATS_BY_FILESYSTEM)
        find_mounts(sorter);
    else if (grouping == AGGSTATS_BY_PROGRAM)
        find_callers(sorter);
    return 0;
}

/* ---- Names of groups ---- */

/* Returns false if it is unknown: its calls are in `other`. */
static bool identify(const struct sorter *sorter, uint32_t key, struct aggstats_identity *ret_identity) {
    const struct groups_file *file = sorter->groups->file;
    char path[PATH_BYTES] = "/";
    *ret_identity = (struct aggstats_identity){0};
    switch (sorter->grouping) {
    case AGGSTATS_BY_FILE:
    case AGGSTATS_BY_DIRECTORY:
        if (key != KEY_OF_ROOT && groups_file_path(file, key, path, sizeof(path)) == 0)
            return false;
        path_copy_end(path, ret_identity->name, AGGSTATS_GROUP_NAME_SIZE);
        return true;
    case AGGSTATS_BY_FILESYSTEM:
        path_copy_end(sorter->mounts[key - 1].name, ret_identity->name, AGGSTATS_GROUP_NAME_SIZE);
        return true;
    default:
        if (!has_name(file, key))
            return false;
        ret_identity->id = file->callers[key].pid;
        snprintf(ret_identity->name, sizeof(ret_identity->name), "%.*s", AGGSTATS_CALLER_NAME_SIZE,
                 file->callers[key].name);
        return true;
    }
}

/* ---- Showing ---- */

/* For qsort_r(3): the most cycles first; of the same, the lowest key. */
static int compare_keys(const void *a, const void *b, void *cycles_of_keys) {
    const double *cycles = cycles_of_keys;
    const uint32_t first = *(const uint32_t *)a;
    const uint32_t second = *(const uint32_t *)b;
    if (cycles[first] != cycles[second])
        return cycles[first] > cycles[second] ? -1 : 1;
    return first < second ? -1 : 1;
}

static int add_group(struct sorter *sorter, struct groups *groups, uint32_t key) {
    struct aggstats_identity identity;
    if (!identify(sorter, key, &identity))
        return 0;
    struct group *group = groups_take_unused(groups);
    if (!group)
        return -ENOMEM;
    group->identity = identity;
    group->seen = 1;
    sorter->places[key] = groups->count;
    return 0;
}

/* Makes the groups that are shown. */
static int choose(struct sorter *sorter, struct groups *groups) {
    CLEANUP_FREE uint32_t *keys = calloc(KEYS_MAX, sizeof(*keys));
    const struct shared_groups *shared = sorter->groups;
    size_t count = 0;
    int err = keys ? 0 : -ENOMEM;
    for (size_t i = 0; i < shared->used_count; i++) {
        const struct group_cell *cell = &shared->cells[shared->used[i]];
        if (cell->calls > 0)
            sorter->cycles[key_of(sorter, cell)] += (double)cell->cycles + 1; /* also without latency */
    }
    for (uint32_t key = 1; key < KEYS_MAX && err == 0; key++)
        if (sorter->cycles[key] > 0)
            keys[count++] = key;
    if (count > 0)
        qsort_r(keys, count, sizeof(*keys), compare_keys, sorter->cycles);
    for (size_t i = 0; i < count && err == 0 && groups->count < groups->count_max; i++)
        err = add_group(sorter, groups, keys[i]);
    return err;
}

static int fill(const struct sorter *sorter, struct groups *groups) {
    const unsigned bucket_count = layout_bucket_count(&groups->layout);
    for (size_t i = 0; i < sorter->groups->used_count; i++) {
        const struct group_cell *cell = &sorter->groups->cells[sorter->groups->used[i]];
        const unsigned op = (unsigned)(cell->key >> CELL_OP_SHIFT) % AGGSTATS_OPS_MAX;
        const unsigned bucket = (unsigned)cell->key % (1U << CELL_BUCKET_BITS);
        const uint32_t place = cell->calls > 0 ? sorter->places[key_of(sorter, cell)] : 0;
        if (place == 0 || op >= groups->layout.op_count || bucket >= bucket_count)
            continue;
        const struct group_calls calls = {.calls = cell->calls, .cycles = cell->cycles, .bucket = bucket};
        if (groups_add_bucket(groups, &groups->places[place - 1], op, &calls) != 0)
            return -ENOMEM;
    }
    return 0;
}

static int show_grouping(const struct shared_groups *shared, enum aggstats_grouping grouping,
                         const struct snapshot_source *source, struct aggstats_profile *profile) {
    struct sorter sorter;
    struct groups groups = {0};
    struct groups_showing showing;
    int err = sorter_init(&sorter, shared, grouping);
    if (err == 0)
        err = groups_init(&groups, &shared->probe.recorder->layout, shared->groups_max);
    if (err == 0)
        err = choose(&sorter, &groups);
    if (err == 0)
        err = fill(&sorter, &groups);
    if (err == 0)
        err = groups_show_begin(&groups, false, source->op_names, grouping, profile, &showing);
    if (err == 0) {
        err = groups_show_rest(&showing, shared->file->missed > 0);
        groups_show_end(&showing);
    }
    if (groups.places)
        groups_finish(&groups);
    free(sorter.object_keys);
    free(sorter.cycles);
    free(sorter.places);
    return err;
}

static int show(struct probe *probe, const struct snapshot_source *source, struct aggstats_profile *profile) {
    const struct shared_groups *shared = to_shared(probe);
    int err = shared_part_read_groups(&probe->recorder->shared, SHARED_GROUPS_NAMES, shared->file);
    if (err == -EBADMSG) /* another process has cut the file short */
        err = 0;
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS && err == 0; grouping++) {
        if (!(shared->groupings & 1U << grouping))
            continue;
        profile->groupings |= 1U << grouping;
        err = show_grouping(shared, (enum aggstats_grouping)grouping, source, profile);
    }
    return err < 0 ? err : groups_file_name_calls(shared->file, profile);
}

/* ---- Life cycle ---- */

static void destroy(struct probe *probe) {
    struct shared_groups *groups = to_shared(probe);
    free(groups->file);
    free(groups->cells);
    free(groups->before);
    free(groups->used);
    free(groups);
}

static const struct probe_ops ops = {
    .read = read_cells, .reset = reset, .show = show, .leave = probe_leave, .destroy = destroy};

int aggstats_recorder_group_shared(struct aggstats_recorder *recorder,
                                   const struct aggstats_shared_groups_options *options) {
    const bool has_groups = recorder->live.is_shared && recorder->shared.groups_offset != 0;
    if (!has_groups || options->groups_max < AGGSTATS_GROUPS_MIN || options->groups_max > AGGSTATS_GROUPS_MAX)
        return -EINVAL;
    if (recorder_probe(recorder, PROBE_GROUPS))
        return -EBUSY;
    struct shared_groups *groups = calloc(1, sizeof(*groups));
    if (!groups)
        return -ENOMEM;
    *groups = (struct shared_groups){
        .probe = {.ops = &ops, .recorder = recorder},
        .file = calloc(1, sizeof(*groups->file)),
        .groupings = recorder->live.groupings,
        .groups_max = options->groups_max,
        .directory_depth = options->directory_depth,
        .mounts = options->mounts,
        .context = options->context,
        .cells = calloc(GROUPS_CELLS, sizeof(*groups->cells)),
        .before = calloc(GROUPS_CELLS, sizeof(*groups->before)),
        .used = calloc(GROUPS_CELLS, sizeof(*groups->used)),
    };
    if (!groups->file || !groups->cells || !groups->before || !groups->used) {
        destroy(&groups->probe);
        return -ENOMEM;
    }
    recorder_attach(recorder, PROBE_GROUPS, &groups->probe);
    return 0;
}
