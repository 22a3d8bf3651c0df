/* The current directory is remembered until it changes. After reading the remembered path, a reader checks whether the
 * directory has changed meanwhile; if so, the reader asks the kernel. A thread that has asked the kernel stores the
 * answer, unless another thread is storing. So no thread waits.
 *
 * A child of vfork(2) that changes its directory must not change the path that its parent remembers. From then on each
 * call checks which process it is in. */
#include "directory.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_call.h"
#include "preload.h"
#include "scope.h"

static struct {
    uint64_t generation; /* atomic: counts changes */
    uint64_t sequence;   /* atomic: odd while text is written */
    uint64_t known;      /* atomic: the generation of the rest, plus 1; 0: nothing yet */
    int place;           /* atomic: enum below_place, for the files below */
    size_t length;       /* of the text */
    char text[PATH_MAX];
} current;

static bool is_shared_with_child; /* atomic; set once and for all */

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

enum below_place directory_place_of(const char *path) {
    uint64_t sequence;
    if (__atomic_load_n(&is_shared_with_child, __ATOMIC_RELAXED) && !preload_owns_memory())
        return place_asked(path);
    if (!is_known(&sequence))
        learn_directory();
    if (!is_known(&sequence))
        return place_asked(path);
    /* What is below a directory inside, or outside, is inside, or outside, too. */
    enum below_place place = (enum below_place)__atomic_load_n(&current.place, __ATOMIC_RELAXED);
    const bool may_go_up = current.text[0] && (!scope.has_all || path[0] == '.');
    if (place == BELOW_ABOVE || (may_go_up && strstr(path, "..")))
        place = scope_place_of(current.text, path);
    return is_still(sequence) ? place : place_asked(path);
}

size_t directory_path(char *ret_path, size_t size_bytes) {
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

bool directory_counts(void) {
    uint64_t sequence;
    return is_known(&sequence) && __atomic_load_n(&current.place, __ATOMIC_RELAXED) == BELOW_INSIDE &&
           is_still(sequence) && !__atomic_load_n(&is_shared_with_child, __ATOMIC_RELAXED);
}

void directory_changed(void) {
    if (!preload_owns_memory())
        __atomic_store_n(&is_shared_with_child, true, __ATOMIC_RELAXED);
    __atomic_add_fetch(&current.generation, 1, __ATOMIC_ACQ_REL); /* the child may share the directory too (CLONE_FS) */
}
