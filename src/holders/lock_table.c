/* Lines of the table are, in a tree,
 *
 *     1: POSIX  ADVISORY  WRITE 4711 fe:00:10960660 0 EOF
 *     1: -> POSIX  ADVISORY  WRITE 4712 fe:00:10960660 0 99
 *     1:  -> OFDLCK ADVISORY  READ -1 fe:00:10960660 0 EOF
 *     2: LEASE  BREAKING  READ 4713 fe:00:10960661 0 EOF
 *     2: -> LEASE  BREAKER   READ 4714 <none>:0 0 EOF
 *
 * where "->" waits for the line above it that is indented less. */
#include "lock_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "descriptors.h"

#define DEPTH_MAX 1000000

/* ---- A line ---- */

static const struct {
    const char *name;
    enum lock_kind kind;
    bool is_description;
} kinds[] = {
    {"FLOCK", LOCK_FLOCK, false}, {"POSIX", LOCK_FCNTL, false}, {"OFDLCK", LOCK_FCNTL, true},
    {"LEASE", LOCK_LEASE, false}, {"DELEG", LOCK_LEASE, false},
};

/* Steps over "1: -> ". The number of blanks before the arrow is the depth. */
static const char *parse_depth(const char *line, struct lock *lock) {
    const char *at = line + strspn(line, " \t");
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || at[digits] != ':')
        return NULL;
    at += digits + 1;
    size_t blanks = strspn(at, " ");
    bool is_waiting = strncmp(at + blanks, "->", 2) == 0;
    lock->depth = is_waiting && blanks <= DEPTH_MAX ? (unsigned)blanks : 0;
    return is_waiting && blanks == 0 ? NULL : at + blanks + (is_waiting ? 2 : 0);
}

/* Steps over a number and the character behind it. Returns false if it is another one */
static bool step_over(const char **text, int base, char behind, uint64_t *ret_number) {
    char *end = NULL;
    *ret_number = strtoull(*text, &end, base);
    if (end == *text || *end != behind)
        return false;
    *text = end + 1;
    return true;
}

/* "fe:00:10960660 ", or "<none>:0 " */
static bool parse_file(const char **text, struct lock *lock) {
    static const char none[] = "<none>:0 ";
    uint64_t device_major;
    uint64_t device_minor;
    if (strncmp(*text, none, strlen(none)) == 0) {
        *text += strlen(none);
        return lock->depth > 0;
    }
    if (!step_over(text, 16, ':', &device_major) || !step_over(text, 16, ':', &device_minor) ||
        !step_over(text, 10, ' ', &lock->inode))
        return false;
    lock->device = makedev(device_major, device_minor);
    lock->has_file = true;
    return true;
}

bool lock_parse(const char *line, struct lock *ret_lock) {
    struct lock lock = {.depth = 0};
    char kind[16];
    char mode[16];
    char *end = NULL;
    uint64_t pid;
    int words = 0;
    size_t row = 0;
    const char *rest = parse_depth(line, &lock);
    if (!rest || sscanf(rest, "%15s %*15s %15s %n", kind, mode, &words) != 2 || words == 0)
        return false;
    rest += words;
    while (row < ARRAY_SIZE(kinds) && strcmp(kinds[row].name, kind) != 0)
        row++;
    if (row == ARRAY_SIZE(kinds) || !step_over(&rest, 10, ' ', &pid) || !parse_file(&rest, &lock) ||
        !step_over(&rest, 10, ' ', &lock.begin))
        return false;
    lock.kind = kinds[row].kind;
    lock.is_description = kinds[row].is_description;
    lock.is_write = strcmp(mode, "WRITE") == 0;
    lock.pid = (int64_t)pid;                                                         /* -1 has become the largest one */
    lock.end = strncmp(rest, "EOF", 3) == 0 ? UINT64_MAX : strtoull(rest, &end, 10); /* "0 EOF", "0 99" */
    if (lock.pid < -1 || end == rest)
        return false;
    *ret_lock = lock;
    return true;
}

static bool has_same_file(const struct lock *a, const struct lock *b) {
    return a->kind == b->kind && a->device == b->device && a->inode == b->inode;
}

bool lock_is_same(const struct lock *a, const struct lock *b) {
    return has_same_file(a, b) && a->is_description == b->is_description && a->is_write == b->is_write &&
           a->pid == b->pid && a->begin == b->begin && a->end == b->end;
}

bool lock_is_among(const char *fdinfo, const struct lock *lock) {
    for (const char *value = descriptor_info_find(fdinfo, "lock"); value; value = descriptor_info_find(value, "lock")) {
        struct lock found;
        if (lock_parse(value, &found) && lock_is_same(&found, lock))
            return true;
    }
    return false;
}

/* ---- The table ---- */

int lock_table_read(FILE *stream, struct lock_table *ret_table) {
    struct lock_table table = {.count = 0};
    CLEANUP_FREE char *line = NULL;
    size_t line_bytes = 0;
    for (size_t i = 0; i < LOCK_LINES_MAX && getline(&line, &line_bytes, stream) > 0; i++) {
        struct lock lock;
        if (!lock_parse(line, &lock))
            continue;
        if (grow_array(&table.locks, table.count, sizeof(lock)) < 0) {
            lock_table_finish(&table);
            return -ENOMEM;
        }
        table.locks[table.count++] = lock;
    }
    *ret_table = table;
    return 0;
}

void lock_table_finish(struct lock_table *table) {
    free(table->locks);
    *table = (struct lock_table){.count = 0};
}

static bool fits(const struct lock *lock, const struct lock_request *request) {
    bool is_own = lock->pid == (int64_t)request->process || (lock->is_description && request->has_file);
    return lock->depth > 0 && lock->kind == request->kind && is_own &&
           (!request->knows_owner || lock->is_description == request->is_description) &&
           (!request->has_file || !lock->has_file ||
            (lock->device == request->device && lock->inode == request->inode));
}

static bool conflicts(const struct lock *a, const struct lock *b) {
    return has_same_file(a, b) && (a->is_write || b->is_write || a->kind == LOCK_LEASE) && a->begin <= b->end &&
           b->begin <= a->end;
}

/* NULL: it is not there, in a table that is cut or wrong. */
static const struct lock *find_parent(const struct lock_table *table, const struct lock *lock) {
    for (const struct lock *at = lock; at > table->locks;)
        if ((--at)->depth < lock->depth)
            return at;
    return NULL;
}

/* A request below another request mostly waits for the same held lock, unless the two are for different bytes. */
static const struct lock *find_blocker(const struct lock_table *table, const struct lock *request) {
    const struct lock *parent = find_parent(table, request);
    const struct lock *root = parent;
    while (root && root->depth > 0)
        root = find_parent(table, root);
    return root && conflicts(root, request) ? root : parent;
}

static size_t count_others(const struct lock_table *table, const struct lock *request, const struct lock *blocker) {
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct lock *lock = &table->locks[i];
        bool is_of_another = lock->is_description || (lock->pid != request->pid && lock->pid != blocker->pid);
        count += lock != blocker && lock->depth == 0 && is_of_another && conflicts(lock, request);
    }
    return count;
}

bool lock_table_find(const struct lock_table *table, const struct lock_request *request,
                     struct lock_blocker *ret_blocker) {
    struct lock_blocker found = {.lock = NULL};
    for (size_t i = 0; i < table->count; i++) {
        const struct lock *lock = &table->locks[i];
        const struct lock *blocker = fits(lock, request) ? find_blocker(table, lock) : NULL;
        if (!blocker)
            continue;
        if (found.lock && found.lock != blocker)
            return false;
        found = (struct lock_blocker){
            .lock = blocker, .is_held = blocker->depth == 0, .others = count_others(table, lock, blocker)};
    }
    if (found.lock)
        *ret_blocker = found;
    return found.lock;
}
