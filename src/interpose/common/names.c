/* The current directory is remembered until it changes. A reader checks afterwards whether it has changed meanwhile,
 * and asks the kernel if so. The thread that has asked stores the answer unless another one is storing one. So nobody
 * waits.
 *
 * A child of vfork(2) that changes its directory must not change what its parent remembers. From then on each call asks
 * whose directory it is. */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_table.h"
#include "memory_look.h"
#include "own_call.h"
#include "proc_fd.h"
#include "scope.h"

static struct {
    uint64_t generation; /* atomic: counts changes */
    uint64_t sequence;   /* atomic: odd while text is written */
    uint64_t known;      /* atomic: the generation of the rest, plus 1; 0: nothing yet */
    int place;           /* atomic: enum below_place, of what is below it */
    size_t length;       /* of the text */
    char text[PATH_MAX];
} current;

static bool is_shared_with_child; /* atomic; set once and for all */

/* ---- The current directory ---- */

/* Returns false if the kernel knows no path, as when the directory was removed: of all files it then counts as one. */
static bool ask_directory(char *ret_text, size_t size_bytes) {
    if (own_call(SYS_getcwd, ret_text, size_bytes) > 0 && ret_text[0] == '/')
        return true;
    ret_text[0] = '\0';
    return false;
}

static enum below_place place_below(const char *directory, bool is_known) {
    return is_known ? scope_place_below(directory) : scope.has_all ? BELOW_INSIDE : BELOW_OUTSIDE;
}

/* Asks the kernel without remembering. Not inlined, to keep its buffer off the stack of the usual path. */
static __attribute__((noinline)) enum below_place place_asked(const char *path) {
    char text[PATH_MAX];
    return ask_directory(text, sizeof(text)) ? scope_place_of(text, path) : place_below(text, false);
}

static void learn_directory(void) {
    uint64_t sequence = __atomic_load_n(&current.sequence, __ATOMIC_RELAXED);
    if (sequence % 2 != 0 || !preload_owns_memory() ||
        !__atomic_compare_exchange_n(&current.sequence, &sequence, sequence + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    uint64_t generation = __atomic_load_n(&current.generation, __ATOMIC_ACQUIRE);
    const bool has_path = ask_directory(current.text, sizeof(current.text));
    current.length = strlen(current.text);
    __atomic_store_n(&current.place, (int)place_below(current.text, has_path), __ATOMIC_RELAXED);
    __atomic_store_n(&current.known, generation + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&current.sequence, sequence + 2, __ATOMIC_RELEASE);
}

static inline bool is_known(uint64_t *ret_sequence) {
    *ret_sequence = __atomic_load_n(&current.sequence, __ATOMIC_ACQUIRE);
    return *ret_sequence % 2 == 0 && __atomic_load_n(&current.known, __ATOMIC_ACQUIRE) ==
                                         __atomic_load_n(&current.generation, __ATOMIC_ACQUIRE) + 1;
}

/* What was read since sequence was read is of one directory. */
static inline bool is_still(uint64_t sequence) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&current.sequence, __ATOMIC_RELAXED) == sequence;
}

static bool goes_up(const char *path) {
    return strstr(path, "..");
}

/* What is below a directory inside, or outside, is inside, or outside, too. */
static enum below_place place_below_current(const char *path) {
    const enum below_place place = (enum below_place)__atomic_load_n(&current.place, __ATOMIC_RELAXED);
    const bool may_go_up = current.text[0] && (!scope.has_all || path[0] == '.');
    const bool may_differ = place == BELOW_ABOVE || (may_go_up && goes_up(path));
    return may_differ ? scope_place_of(current.text, path) : place;
}

static enum below_place place_in_current(const char *path) {
    uint64_t sequence;
    if (__atomic_load_n(&is_shared_with_child, __ATOMIC_RELAXED) && !preload_owns_memory())
        return place_asked(path);
    if (!is_known(&sequence))
        learn_directory();
    if (!is_known(&sequence))
        return place_asked(path);
    enum below_place place = place_below_current(path);
    return is_still(sequence) ? place : place_asked(path);
}

size_t names_directory(char *ret_path, size_t size_bytes) {
    uint64_t sequence;
    const bool may_learn = !__atomic_load_n(&is_shared_with_child, __ATOMIC_RELAXED) || preload_owns_memory();
    if (may_learn && !is_known(&sequence))
        learn_directory();
    if (may_learn && is_known(&sequence)) {
        const size_t length = current.length;
        if (length < size_bytes)
            memcpy(ret_path, current.text, length + 1);
        if (is_still(sequence))
            return length < size_bytes ? length : 0;
    }
    return ask_directory(ret_path, size_bytes) ? strlen(ret_path) : 0;
}

/* True if all files below it count, and that is known. */
static inline bool current_counts(void) {
    uint64_t sequence;
    return is_known(&sequence) && __atomic_load_n(&current.place, __ATOMIC_RELAXED) == BELOW_INSIDE &&
           is_still(sequence) && !__atomic_load_n(&is_shared_with_child, __ATOMIC_RELAXED);
}

void names_directory_changed(void) {
    if (!preload_owns_memory())
        __atomic_store_n(&is_shared_with_child, true, __ATOMIC_RELAXED);
    __atomic_add_fetch(&current.generation, 1, __ATOMIC_ACQ_REL); /* the child may share the directory too (CLONE_FS) */
}

/* ---- Names ---- */

static __attribute__((noinline)) enum below_place place_in_open_directory(int dir_fd, const char *path) {
    char text[PATH_MAX];
    return proc_fd_path(dir_fd, text, sizeof(text)) ? scope_place_of(text, path) : BELOW_OUTSIDE;
}

static enum below_place place_at(int dir_fd, const char *path, const struct preload_ops *ops) {
    if (path[0] == '/')
        return scope_place_of("/", path);
    if (dir_fd == AT_FDCWD)
        return place_in_current(path);
    const enum fd_state state = fd_entry_state(fd_table_entry(dir_fd, ops));
    if (!scope.has_all && (state == FD_ABOVE || goes_up(path)))
        return dir_fd >= 0 ? place_in_open_directory(dir_fd, path) : BELOW_OUTSIDE;
    return state == FD_INSIDE ? BELOW_INSIDE : BELOW_OUTSIDE;
}

/* ---- Checking names ---- */

#define PAGES_KNOWN 8U

static uint64_t memory_generation; /* atomic: counts changes */

/* Pages that this thread has checked recently: most names lie in few. */
static AGGSTATS_THREAD_LOCAL uintptr_t pages_known[PAGES_KNOWN];
static AGGSTATS_THREAD_LOCAL uint64_t pages_generation; /* of these pages */

void names_memory_changed(void) {
    __atomic_add_fetch(&memory_generation, 1, __ATOMIC_RELEASE);
}

static void forget_changed_pages(void) {
    const uint64_t generation = __atomic_load_n(&memory_generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(pages_generation == generation, 1))
        return;
    memset(pages_known, 0, sizeof(pages_known));
    pages_generation = generation;
}

static bool has_page(const char *at) {
    const uintptr_t page = (uintptr_t)at / MEMORY_LEAST_PAGE_BYTES;
    uintptr_t *known = &pages_known[page % PAGES_KNOWN];
    if (*known != page && memory_has_word((uintptr_t)at / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES))
        *known = page;
    return *known == page;
}

/* True if the whole text is readable. NULL is in page 0, which is never mapped */
static bool is_text_there(const char *text) {
    forget_changed_pages();
    while ((uintptr_t)text >= MEMORY_LEAST_PAGE_BYTES && has_page(text)) {
        const size_t rest_bytes = MEMORY_LEAST_PAGE_BYTES - (uintptr_t)text % MEMORY_LEAST_PAGE_BYTES;
        if (memchr(text, '\0', rest_bytes))
            return true;
        text += rest_bytes;
    }
    return false;
}

static __attribute__((noinline)) bool look_at(int dir_fd, const char *path, const struct preload_ops *ops) {
    int saved_errno = errno;
    bool counts = is_text_there(path) && place_at(dir_fd, path, ops) == BELOW_INSIDE && preload_join(ops);
    errno = saved_errno;
    return counts;
}

#define BEGINNING_BYTES 3U /* of a name, that are looked at */

/* Among all files, the beginning of most names shows that they count. Reads nothing of a page that may not be there */
static inline bool counts_at_once(int dir_fd, const char *path) {
    const uintptr_t page = (uintptr_t)path / MEMORY_LEAST_PAGE_BYTES;
    if (pages_known[page % PAGES_KNOWN] != page || page == 0 ||
        pages_generation != __atomic_load_n(&memory_generation, __ATOMIC_ACQUIRE) ||
        (uintptr_t)path % MEMORY_LEAST_PAGE_BYTES > MEMORY_LEAST_PAGE_BYTES - BEGINNING_BYTES)
        return false;
    if (path[0] == '/')
        return !scope_may_be_pseudo(path);
    if (dir_fd != AT_FDCWD)
        return fd_entry_state(fd_table_known(dir_fd)) == FD_INSIDE;
    return path[0] != '.' && current_counts();
}

bool names_count(int dir_fd, const char *path, const struct preload_ops *ops) {
    if (!preload_looks())
        return false;
    if (scope.has_all && counts_at_once(dir_fd, path))
        return preload_join(ops);
    return look_at(dir_fd, path, ops);
}
