/* Names are checked by their text, and where it lies: memory that the program may not have is not read. */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "directory.h"
#include "fd_look.h"
#include "fd_table.h"
#include "memory_look.h"
#include "scope.h"

static __attribute__((noinline)) enum below_place place_in_open_directory(int dir_fd, const char *path) {
    char text[PATH_MAX];
    return fd_path(dir_fd, text, sizeof(text)) ? scope_place_of(text, path) : BELOW_OUTSIDE;
}

static enum below_place place_at(int dir_fd, const char *path, const struct preload_ops *ops) {
    if (path[0] == '/')
        return scope_place_of("/", path);
    if (dir_fd == AT_FDCWD)
        return directory_place_of(path);
    const enum fd_state state = fd_entry_state(fd_table_entry(dir_fd, ops));
    if (!scope.has_all && (state == FD_ABOVE || strstr(path, "..")))
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

static bool has_page(const char *at) {
    const uintptr_t page = (uintptr_t)at / MEMORY_LEAST_PAGE_BYTES;
    uintptr_t *known = &pages_known[page % PAGES_KNOWN];
    if (*known != page && memory_has_word((uintptr_t)at / MEMORY_WORD_BYTES * MEMORY_WORD_BYTES))
        *known = page;
    return *known == page;
}

/* True if the whole text is readable. NULL is in page 0, which is never mapped */
static bool is_text_there(const char *text) {
    const uint64_t generation = __atomic_load_n(&memory_generation, __ATOMIC_ACQUIRE);
    if (__builtin_expect(pages_generation != generation, 0)) {
        memset(pages_known, 0, sizeof(pages_known));
        pages_generation = generation;
    }
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
    return path[0] != '.' && directory_counts();
}

bool names_count(int dir_fd, const char *path, const struct preload_ops *ops) {
    if (!preload_looks())
        return false;
    if (scope.has_all && counts_at_once(dir_fd, path))
        return preload_join(ops);
    return look_at(dir_fd, path, ops);
}
