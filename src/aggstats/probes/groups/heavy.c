/* Kept objects: a hash table to find them, and a heap to find the one that goes. */
#include "heavy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "profile_owned.h"

/* ---- Life cycle ---- */

int heavy_init(struct heavy *heavy, const struct layout *layout, unsigned count_max) {
    *heavy = (struct heavy){.chain_count = 2};
    while (heavy->chain_count < 2 * count_max)
        heavy->chain_count *= 2;
    heavy->entries = calloc(count_max, sizeof(*heavy->entries));
    heavy->heap = calloc(count_max, sizeof(*heavy->heap));
    heavy->chains = calloc(heavy->chain_count, sizeof(*heavy->chains));
    int err = groups_init(&heavy->groups, layout, count_max);
    return heavy->entries && heavy->heap && heavy->chains ? err : -ENOMEM;
}

void heavy_finish(struct heavy *heavy) {
    groups_finish(&heavy->groups);
    free(heavy->entries);
    free(heavy->heap);
    free(heavy->chains);
}

/* ---- Finding ---- */

static uint32_t *chain_of(const struct heavy *heavy, uint64_t object) {
    uint64_t hash = object * UINT64_C(11400714819323198485); /* its top bits: see grouping_table.c */
    return &heavy->chains[(hash >> 32) & (heavy->chain_count - 1)];
}

/* NULL: it is not kept. */
static struct heavy_entry *find(const struct heavy *heavy, uint64_t object) {
    uint32_t next = *chain_of(heavy, object);
    while (next && heavy->entries[next - 1].object != object)
        next = heavy->entries[next - 1].chain_next;
    return next ? &heavy->entries[next - 1] : NULL;
}

static uint32_t place_of(const struct heavy *heavy, const struct heavy_entry *entry) {
    return (uint32_t)(entry - heavy->entries);
}

static struct group *group_of(const struct heavy *heavy, const struct heavy_entry *entry) {
    return &heavy->groups.places[place_of(heavy, entry)];
}

/* ---- The heap ---- */

static uint64_t bound_at(const struct heavy *heavy, uint32_t heap_index) {
    return heavy->entries[heavy->heap[heap_index]].bound_cycles;
}

static void heap_put(struct heavy *heavy, uint32_t heap_index, uint32_t place) {
    heavy->heap[heap_index] = place;
    heavy->entries[place].heap_index = heap_index;
}

/* Its bound has grown. */
static void sift_down(struct heavy *heavy, uint32_t heap_index) {
    uint32_t place = heavy->heap[heap_index];
    uint32_t child;
    while ((child = 2 * heap_index + 1) < heavy->groups.count) {
        if (child + 1 < heavy->groups.count && bound_at(heavy, child + 1) < bound_at(heavy, child))
            child++;
        if (bound_at(heavy, child) >= heavy->entries[place].bound_cycles)
            break;
        heap_put(heavy, heap_index, heavy->heap[child]);
        heap_index = child;
    }
    heap_put(heavy, heap_index, place);
}

/* It is new, and the last one. */
static void sift_up(struct heavy *heavy, uint32_t place) {
    uint32_t heap_index = heavy->groups.count - 1;
    while (heap_index > 0 && bound_at(heavy, (heap_index - 1) / 2) > heavy->entries[place].bound_cycles) {
        heap_put(heavy, heap_index, heavy->heap[(heap_index - 1) / 2]);
        heap_index = (heap_index - 1) / 2;
    }
    heap_put(heavy, heap_index, place);
}

/* ---- Counting ---- */

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Removes the one with the smallest bound; its calls are added to `other`. */
static struct heavy_entry *evict(struct heavy *heavy) {
    struct heavy_entry *entry = &heavy->entries[heavy->heap[0]];
    heavy->evicted_cycles = larger(heavy->evicted_cycles, entry->bound_cycles);
    heavy->evicted_since_mark = larger(heavy->evicted_since_mark, entry->bound_cycles);
    groups_unite(&heavy->groups, group_of(heavy, entry), &heavy->groups.other);
    uint32_t *link = chain_of(heavy, entry->object);
    while (*link != place_of(heavy, entry) + 1)
        link = &heavy->entries[*link - 1].chain_next;
    *link = entry->chain_next;
    return entry;
}

/* NULL: no memory. */
static struct heavy_entry *add(struct heavy *heavy, uint64_t object) {
    const bool is_unused = heavy->groups.count < heavy->groups.count_max;
    struct group *group = is_unused ? groups_take_unused(&heavy->groups) : group_of(heavy, evict(heavy));
    if (!group)
        return NULL;
    struct heavy_entry *entry = &heavy->entries[group - heavy->groups.places];
    uint32_t *chain = chain_of(heavy, object);
    *entry = (struct heavy_entry){.object = object,
                                  .bound_cycles = heavy->evicted_cycles,
                                  .heap_index = entry->heap_index,
                                  .chain_next = *chain,
                                  .check_interval_ns = CHECK_INTERVAL_MIN_NS};
    *chain = place_of(heavy, entry) + 1;
    if (is_unused)
        sift_up(heavy, place_of(heavy, entry));
    else
        sift_down(heavy, entry->heap_index);
    group->identity = (struct aggstats_identity){.name = "(name not asked for yet)"};
    group->missed_cycles_max = heavy->evicted_cycles;
    return entry;
}

void heavy_count_calls(struct heavy *heavy, uint64_t object, unsigned op, const struct group_calls *calls) {
    struct heavy_entry *entry = object ? find(heavy, object) : NULL;
    if (object && !entry)
        entry = add(heavy, object);
    groups_count_calls(&heavy->groups, entry ? group_of(heavy, entry) : &heavy->groups.other, op, calls);
    if (!entry)
        return;
    entry->has_called = true;
    entry->bound_cycles += calls->cycles;
    sift_down(heavy, entry->heap_index);
}

void heavy_add_cache(struct heavy *heavy, uint64_t object, const struct aggstats_cache *cache) {
    const struct heavy_entry *entry = object ? find(heavy, object) : NULL;
    group_add_cache(entry ? group_of(heavy, entry) : &heavy->groups.other, cache);
}

/* ---- Names ---- */

unsigned heavy_due(const struct heavy *heavy, int64_t now_ns, bool all, uint64_t *ret_objects) {
    unsigned count = 0;
    for (uint32_t place = 0; place < heavy->groups.count; place++) {
        const struct heavy_entry *entry = &heavy->entries[place];
        if (entry->has_called && (all || entry->check_ns <= now_ns))
            ret_objects[count++] = entry->object;
    }
    return count;
}

void heavy_note(struct heavy *heavy, uint64_t object, bool is_known, const char *name, int64_t now_ns) {
    struct heavy_entry *entry = find(heavy, object);
    if (!entry)
        return;
    char *kept = group_of(heavy, entry)->identity.name;
    const bool is_longer = strncmp(name, kept, strlen(kept)) == 0; /* "/file (deleted)", and "/file" before */
    if (is_known || !entry->is_named || is_longer)
        snprintf(kept, AGGSTATS_GROUP_NAME_SIZE, "%s", name);
    entry->is_named = entry->is_named || is_known;
    entry->has_called = false;
    entry->check_ns = now_ns + entry->check_interval_ns;
    if (entry->check_interval_ns < CHECK_INTERVAL_MAX_NS)
        entry->check_interval_ns *= 2;
}

void heavy_guess(struct heavy *heavy, uint64_t object, const char *name) {
    const struct heavy_entry *entry = find(heavy, object);
    if (entry && !entry->is_named)
        snprintf(group_of(heavy, entry)->identity.name, AGGSTATS_GROUP_NAME_SIZE, "%s", name);
}

/* ---- Reset, showing ---- */

/* Places stay allocated, without an object. */
void heavy_clear(struct heavy *heavy) {
    unsigned op_count = heavy->groups.layout.op_count;
    for (unsigned place = 0; place < heavy->groups.count; place++)
        group_finish(&heavy->groups.places[place], op_count);
    memset(heavy->groups.places, 0, heavy->groups.count * sizeof(*heavy->groups.places));
    memset(heavy->chains, 0, heavy->chain_count * sizeof(*heavy->chains));
    heavy->groups.count = 0;
    groups_clear(&heavy->groups);
    heavy->evicted_cycles = heavy->evicted_since_mark = 0;
}

static int compare_names(const void *left, const void *right) {
    const struct aggstats_group *a = left;
    const struct aggstats_group *b = right;
    return a->who != b->who ? (a->who < b->who ? -1 : 1) : strcmp(a->name, b->name);
}

/* Merges groups with equal names, from index `first` on: a file with the file that replaced it, and all objects without
 * a known name. */
static int unite_names(struct aggstats_profile *profile, size_t first) {
    struct aggstats_group *groups = profile->groups;
    size_t kept = first;
    int err = 0;
    if (profile->group_count - first < 2)
        return 0;
    qsort(&groups[first], profile->group_count - first, sizeof(*groups), compare_names);
    for (size_t i = first + 1; i < profile->group_count; i++) {
        struct aggstats_group *into = &groups[kept];
        if (compare_names(into, &groups[i]) != 0) {
            groups[++kept] = groups[i];
            continue;
        }
        if (err == 0)
            err = aggstats_profile_add(&into->profile, &groups[i].profile);
        if (__builtin_add_overflow(into->missed_cycles_max, groups[i].missed_cycles_max, &into->missed_cycles_max))
            into->missed_cycles_max = UINT64_MAX;
        aggstats_profile_finish(&groups[i].profile);
    }
    profile->group_count = kept + 1;
    return err;
}

int heavy_show(struct heavy *heavy, bool marks, const char (*op_names)[AGGSTATS_NAME_SIZE],
               enum aggstats_grouping grouping, struct aggstats_profile *profile, uint64_t *ret_unseen) {
    struct groups_showing showing;
    size_t first = profile->group_count;
    int err = groups_show_begin(&heavy->groups, marks, op_names, grouping, profile, &showing);
    if (err == 0)
        err = group_show(&showing, &heavy->groups.other);
    if (err == 0)
        err = unite_names(profile, first);
    if (err == 0 && ret_unseen)
        err = groups_show_unseen(&showing, ret_unseen);
    groups_show_end(&showing);
    for (uint32_t place = 0; place < heavy->groups.count && marks; place++)
        heavy->entries[place].is_marked = true;
    if (marks)
        heavy->evicted_since_mark = 0;
    return err;
}

/* ---- Rotation ---- */

/* An object that was kept at the mark, and is still, has missed nothing since. One added later may have missed calls
 * from before and after the mark. Objects evicted since had bounds for both, too. */
static void take_bounds(struct heavy *heavy) {
    for (uint32_t place = 0; place < heavy->groups.count; place++) {
        struct heavy_entry *entry = &heavy->entries[place];
        struct group *group = &heavy->groups.places[place];
        if (entry->is_marked)
            group->missed_cycles_max = 0;
        entry->bound_cycles = group->missed_cycles_max;
        for (unsigned op = 0; op < heavy->groups.layout.op_count; op++)
            entry->bound_cycles += group->ops[op] ? group->ops[op]->total_cycles : 0;
    }
    for (uint32_t heap_index = heavy->groups.count / 2; heap_index-- > 0;)
        sift_down(heavy, heap_index);
    heavy->evicted_cycles = heavy->evicted_since_mark;
}

void heavy_end_marks(struct heavy *heavy, bool take) {
    groups_end_marks(&heavy->groups, take);
    if (take)
        take_bounds(heavy);
    for (uint32_t place = 0; place < heavy->groups.count; place++)
        heavy->entries[place].is_marked = false;
}
