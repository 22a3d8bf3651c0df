/* Tables with open addressing, in which entries are only ever added: the thread that changes a key from 0 has the
 * entry. */
#include "aggstats/shared_groups.h"

#include <errno.h>
#include <string.h>

#include "base.h"
#include "joined.h"

#define PROBES_OF_OBJECTS 16U /* entries to look at before there is no room */
#define PROBES_OF_CELLS 64U
#define CELLS_TOGETHER 16U
#define CALL_PATH_BYTES 1024U

#define MIXER UINT64_C(0x9E3779B97F4A7C15)

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * MIXER;
    return hash ^ hash >> 29;
}

/* Never 0. Two paths have the same one with a probability of 2^-63 */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t hash = length + 1;
    uint64_t word;
    for (; length >= sizeof(word); text += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, text, sizeof(word));
        hash = mix(hash, word);
    }
    word = 0;
    for (size_t i = 0; i < length; i++)
        word = word << 8 | (unsigned char)text[i];
    hash = mix(hash, word);
    return (hash * MIXER) | 1;
}

static struct groups_file *file_of(const struct aggstats_recorder *recorder) {
    return ((const struct joined *)(const void *)recorder)->groups;
}

unsigned aggstats_shared_groupings(const struct aggstats_recorder *recorder) {
    const struct groups_file *file = file_of(recorder);
    return file ? (unsigned)file->groupings : 0;
}

/* Returns true if the entry with this key, in an open table, is this one, or has become it. */
static bool take(uint64_t *place, uint64_t key, bool *ret_is_new) {
    uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);
    *ret_is_new =
        found == 0 && __atomic_compare_exchange_n(place, &found, key, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return *ret_is_new || found == key;
}

/* ---- Objects and their names ---- */

bool groups_file_name(const struct groups_file *file, unsigned object, struct group_name_view *ret_name) {
    const uint32_t offset = __atomic_load_n(&file->objects[object].name, __ATOMIC_ACQUIRE);
    if (offset == 0 || offset > GROUPS_NAMES_BYTES - sizeof(struct group_name) || offset % _Alignof(struct group_name))
        return false;
    const struct group_name *name = (const struct group_name *)(const void *)(file->names + offset);
    *ret_name = (struct group_name_view){.parent = __atomic_load_n(&name->parent, __ATOMIC_RELAXED),
                                         .length = __atomic_load_n(&name->length, __ATOMIC_RELAXED),
                                         .text = name->text};
    return ret_name->parent < GROUPS_OBJECTS && ret_name->length > 0 && ret_name->length <= GROUPS_NAME_BYTES_MAX &&
           ret_name->length <= GROUPS_NAMES_BYTES - offset - sizeof(*name);
}

/* Written from the end, as each name leads to its directory. It ends: no name is empty. */
size_t groups_file_path(const struct groups_file *file, unsigned object, char *ret_path, size_t size_bytes) {
    size_t start = size_bytes - 1;
    while (object != 0) {
        struct group_name_view name;
        if (!groups_file_name(file, object, &name) || name.length > start)
            return 0;
        start -= name.length;
        memcpy(ret_path + start, name.text, name.length);
        object = name.parent;
    }
    const size_t length = size_bytes - 1 - start;
    memmove(ret_path, ret_path + start, length);
    ret_path[length] = '\0';
    return length;
}

static int name_call(const struct groups_file *file, uint64_t *object, char **path) {
    char text[CALL_PATH_BYTES];
    const unsigned number = (unsigned)(*object % GROUPS_OBJECTS);
    *object = 0;
    if (number == 0 || *path || groups_file_path(file, number, text, sizeof(text)) == 0)
        return 0;
    *path = strdup(text);
    return *path ? 0 : -ENOMEM;
}

int groups_file_name_calls(const struct groups_file *file, struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = name_call(file, &profile->in_flight[i].object, &profile->in_flight[i].path);
    for (size_t i = 0; i < profile->op_count && err == 0; i++)
        err = name_call(file, &profile->ops[i].longest_object, &profile->ops[i].longest_path);
    return err;
}

/* With its slash, which the names in it begin with. 0: "/" itself */
static size_t directory_length(const char *path, size_t length) {
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 1 ? length - 1 : 0;
}

static unsigned object_at(uint64_t hash, unsigned probe) {
    return (unsigned)((hash >> 32) + probe) % (GROUPS_OBJECTS - 1) + 1;
}

static bool is_directory(const struct group_object *object) {
    return __atomic_load_n(&object->flags, __ATOMIC_RELAXED) & GROUP_OBJECT_DIRECTORY;
}

/* Adds it, still without a name, if there is room. is_place: it is a directory. 0: there is none */
static unsigned take_object(struct groups_file *file, const char *path, size_t length, bool is_place,
                            bool *ret_is_new) {
    const uint64_t hash = hash_of(path, length);
    const uint64_t max = is_place ? GROUPS_OBJECTS_MAX : GROUPS_FILES_MAX;
    for (unsigned probe = 0; probe < PROBES_OF_OBJECTS; probe++) {
        struct group_object *object = &file->objects[object_at(hash, probe)];
        if (__atomic_load_n(&object->hash, __ATOMIC_RELAXED) == 0 &&
            __atomic_load_n(&file->objects_used, __ATOMIC_RELAXED) >= max)
            return 0;
        if (!take(&object->hash, hash, ret_is_new))
            continue;
        if (*ret_is_new)
            __atomic_fetch_add(&file->objects_used, 1, __ATOMIC_RELAXED);
        if (is_place && !is_directory(object))
            __atomic_fetch_or(&object->flags, GROUP_OBJECT_DIRECTORY, __ATOMIC_RELAXED);
        return object_at(hash, probe);
    }
    return 0;
}

/* Without room for it the object stays without a name. */
static void name_object(struct groups_file *file, unsigned object, unsigned parent, const char *text, size_t length) {
    const size_t size = round_up(sizeof(struct group_name) + length, _Alignof(struct group_name));
    const uint64_t offset = __atomic_fetch_add(&file->names_used, size, __ATOMIC_RELAXED) + _Alignof(struct group_name);
    if (length > GROUPS_NAME_BYTES_MAX || offset > GROUPS_NAMES_BYTES - size ||
        offset % _Alignof(struct group_name) != 0)
        return;
    struct group_name *name = (struct group_name *)(void *)(file->names + offset);
    name->parent = parent;
    name->length = (uint32_t)length;
    memcpy(name->text, text, length);
    __atomic_store_n(&file->objects[object].name, (uint32_t)offset, __ATOMIC_RELEASE);
}

/* Adds it, and the directories above, if there is room. A loop, not a recursion: the stack may be small. 0: there is
 * none */
static unsigned find_object(struct groups_file *file, const char *path, size_t length, bool is_place) {
    bool is_new = false;
    const unsigned found = take_object(file, path, length, is_place, &is_new);
    for (unsigned object = found; object != 0 && is_new;) {
        const size_t rest = directory_length(path, length);
        is_new = false;
        const unsigned parent = rest > 0 ? take_object(file, path, rest, true, &is_new) : 0;
        const size_t begin = parent != 0 ? rest : 0;
        name_object(file, object, parent, path + begin, length - begin);
        object = parent;
        length = rest;
    }
    return found;
}

unsigned groups_file_find(const struct groups_file *file, const char *path, size_t length) {
    const uint64_t hash = hash_of(path, length);
    for (unsigned probe = 0; probe < PROBES_OF_OBJECTS; probe++)
        if (__atomic_load_n(&file->objects[object_at(hash, probe)].hash, __ATOMIC_RELAXED) == hash)
            return object_at(hash, probe);
    return 0;
}

/* The first look at an object takes what is known of its directory. */
static unsigned mount_of_object(struct groups_file *file, unsigned object) {
    unsigned mount = __atomic_load_n(&file->objects[object].mount, __ATOMIC_RELAXED);
    struct group_name_view name;
    if (mount != 0 || !groups_file_name(file, object, &name))
        return mount;
    if (name.parent != 0)
        mount = __atomic_load_n(&file->objects[name.parent].inside, __ATOMIC_RELAXED);
    if (mount != 0)
        __atomic_store_n(&file->objects[object].mount, (uint8_t)mount, __ATOMIC_RELAXED);
    return mount;
}

aggstats_subject aggstats_subject_of_path(struct aggstats_recorder *recorder, const char *path, size_t length) {
    struct groups_file *file = file_of(recorder);
    unsigned object = find_object(file, path, length, false);
    if (object != 0)
        return aggstats_subject_on(object, mount_of_object(file, object));
    const size_t rest = directory_length(path, length);
    object = rest > 0 ? find_object(file, path, rest, true) : 0;
    if (object == 0)
        return 0;
    return aggstats_subject_on(object | SUBJECT_IS_PLACE,
                               __atomic_load_n(&file->objects[object].inside, __ATOMIC_RELAXED));
}

void aggstats_subject_is_directory(struct aggstats_recorder *recorder, aggstats_subject subject) {
    struct group_object *object = &file_of(recorder)->objects[subject_object(subject)];
    if (!(subject & SUBJECT_IS_PLACE) && subject_object(subject) != 0 && !is_directory(object))
        __atomic_fetch_or(&object->flags, GROUP_OBJECT_DIRECTORY, __ATOMIC_RELAXED);
}

size_t aggstats_subject_path(const struct aggstats_recorder *recorder, aggstats_subject subject, char *ret_path,
                             size_t size_bytes) {
    const unsigned object = subject & SUBJECT_IS_PLACE ? 0 : subject_object(subject);
    return object != 0 ? groups_file_path(file_of(recorder), object, ret_path, size_bytes) : 0;
}

/* ---- Mounts ---- */

size_t aggstats_subject_directory(const struct aggstats_recorder *recorder, aggstats_subject subject, char *ret_path,
                                  size_t size_bytes) {
    size_t length = groups_file_path(file_of(recorder), subject_object(subject), ret_path, size_bytes);
    if (length > 1 && !(subject & SUBJECT_IS_PLACE)) {
        length = directory_length(ret_path, length);
        length += length == 0; /* "/" */
        ret_path[length] = '\0';
    }
    return length;
}

void aggstats_subject_note_mount(struct aggstats_recorder *recorder, aggstats_subject subject, unsigned mount) {
    struct groups_file *file = file_of(recorder);
    struct group_name_view name;
    unsigned directory = subject_object(subject); /* in which the subject is; 0: unknown */
    if (directory != 0 && !(subject & SUBJECT_IS_PLACE))
        directory = groups_file_name(file, directory, &name) ? name.parent : 0;
    if (directory != 0)
        __atomic_store_n(&file->objects[directory].inside, (uint8_t)mount, __ATOMIC_RELAXED);
    if (!(subject & SUBJECT_IS_PLACE))
        __atomic_store_n(&file->objects[subject_object(subject)].mount, (uint8_t)mount, __ATOMIC_RELAXED);
}

unsigned aggstats_subject_mount(struct aggstats_recorder *recorder, uint64_t id, uint64_t device) {
    struct groups_file *file = file_of(recorder);
    const uint64_t key = id != 0 ? 2 * id + 1 : 2 * device;
    bool is_new = false;
    for (unsigned mount = 1; mount < GROUPS_MOUNTS && key != 0; mount++) {
        if (!take(&file->mounts[mount].key, key, &is_new))
            continue;
        if (is_new)
            __atomic_store_n(&file->mounts[mount].device, device, __ATOMIC_RELAXED);
        return mount;
    }
    return 0;
}

/* ---- Callers ---- */

unsigned aggstats_shared_caller(struct aggstats_recorder *recorder, uint32_t pid,
                                const char name[AGGSTATS_CALLER_NAME_SIZE]) {
    struct groups_file *file = file_of(recorder);
    const uint32_t own_pid = file->groupings & 1U << AGGSTATS_BY_PROCESS ? pid : 0;
    const uint64_t hash = mix(hash_of(name, strnlen(name, AGGSTATS_CALLER_NAME_SIZE)), own_pid) | 1;
    bool is_new = false;
    for (unsigned probe = 0; probe < GROUPS_CALLERS - 1; probe++) {
        const unsigned number = (unsigned)((hash >> 32) + probe) % (GROUPS_CALLERS - 1) + 1;
        struct group_caller *caller = &file->callers[number];
        if (!take(&caller->hash, hash, &is_new))
            continue;
        if (is_new) {
            caller->pid = own_pid;
            memcpy(caller->name, name, AGGSTATS_CALLER_NAME_SIZE);
            __atomic_store_n(&caller->is_whole, 1, __ATOMIC_RELEASE);
        }
        return number;
    }
    return 0;
}

/* ---- Counting ---- */

/* Looks at cells from one on. NULL: there is no room among them */
static struct group_cell *find_cell_from(struct groups_file *file, uint64_t first, unsigned probes, uint64_t key,
                                         bool has_object) {
    bool is_new = false;
    for (unsigned probe = 0; probe < probes; probe++) {
        struct group_cell *cell = &file->cells[(first + probe) % GROUPS_CELLS];
        const uint64_t found = __atomic_load_n(&cell->key, __ATOMIC_RELAXED);
        if (found == key)
            return cell;
        if (found != 0)
            continue;
        if (has_object && __atomic_load_n(&file->cells_used, __ATOMIC_RELAXED) >= GROUPS_CELLS_MAX)
            return NULL;
        __atomic_store_n(&file->used_blocks[(cell - file->cells) / GROUPS_CELLS_TOGETHER], 1, __ATOMIC_RELEASE);
        if (take(&cell->key, key, &is_new)) {
            if (is_new)
                __atomic_fetch_add(&file->cells_used, 1, __ATOMIC_RELAXED);
            return cell;
        }
    }
    return NULL;
}

/* The first cells of a subject are adjacent, so that a short-lived process touches few pages; further cells may be
 * anywhere. NULL: there is no room. */
static struct group_cell *find_cell(struct groups_file *file, uint64_t key, bool has_object) {
    const uint64_t together = (key >> CELL_SUBJECT_SHIFT) * MIXER >> (64 - GROUPS_CELLS_BITS);
    const uint64_t among = (key + (key >> CELL_OP_SHIFT) * 5) % CELLS_TOGETHER;
    struct group_cell *cell = find_cell_from(file, together + among, CELLS_TOGETHER, key, has_object);
    return cell ? cell
                : find_cell_from(file, mix(0, key) >> (64 - GROUPS_CELLS_BITS), PROBES_OF_CELLS, key, has_object);
}

static uint64_t make_key(unsigned lane, unsigned caller, aggstats_subject subject, unsigned op, unsigned bucket) {
    return CELL_IS_USED | (uint64_t)caller << CELL_CALLER_SHIFT | (uint64_t)lane << CELL_LANE_SHIFT |
           (uint64_t)subject << CELL_SUBJECT_SHIFT | (uint64_t)op << CELL_OP_SHIFT | bucket;
}

void aggstats_shared_group_add(struct aggstats_recorder *recorder, unsigned caller, aggstats_subject subject,
                               unsigned op, uint64_t latency_cycles) {
    const struct joined *joined = (const struct joined *)(const void *)recorder;
    struct groups_file *file = joined->groups;
    const unsigned bucket = aggstats_bucket_of(latency_cycles, joined->hot.resolution);
    const unsigned lane = aggstats_thread_cache.number % CELL_LANES;
    const bool has_object = subject_object(subject) != 0;
    struct group_cell *cell = find_cell(file, make_key(lane, caller, subject, op, bucket), has_object);
    if (!cell && has_object) {
        __atomic_fetch_add(&file->missed, 1, __ATOMIC_RELAXED);
        subject = aggstats_subject_on(0, subject >> AGGSTATS_SUBJECT_MOUNT_SHIFT);
        cell = find_cell(file, make_key(lane, caller, subject, op, bucket), false);
    }
    if (!cell)
        return;
    __atomic_fetch_add(&cell->cycles, latency_cycles, __ATOMIC_RELAXED);
    __atomic_fetch_add(&cell->calls, 1, __ATOMIC_RELEASE);
}
