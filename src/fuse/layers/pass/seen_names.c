/* Names seen last. Words are stored and loaded one by one, between two accesses to the version: a reader that finds the
 * same even version before and after has read the words of one name. */
#include "seen_names.h"

#include <stdlib.h>
#include <string.h>

struct seen_names *seen_names_create(void) {
    return calloc(1, sizeof(struct seen_names)); /* pages are allocated on use */
}

static size_t place_of(fs_ino ino) {
    return (size_t)(ino * UINT64_C(11400714819323198485) >> 52) % SEEN_NAMES_MAX;
}

static void write_name(struct seen_name *place, const char *name) {
    size_t length = strnlen(name, SEEN_NAME_SIZE);
    uint64_t words[SEEN_NAME_WORDS];
    if (length >= SEEN_NAME_SIZE)
        length = 0;
    words[length / sizeof(uint64_t)] = 0;
    memcpy(words, name, length);
    for (size_t i = 0; i <= length / sizeof(uint64_t); i++) /* up to its NUL */
        __atomic_store_n(&place->name[i], words[i], __ATOMIC_RELEASE);
}

/* Returns false if the place is being written. */
static bool begin_writing(struct seen_name *place, uint64_t *ret_version) {
    *ret_version = __atomic_load_n(&place->version, __ATOMIC_RELAXED);
    return *ret_version % 2 == 0 && __atomic_compare_exchange_n(&place->version, ret_version, *ret_version + 1, false,
                                                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void seen_names_clear(struct seen_names *names) {
    for (size_t i = 0; i < SEEN_NAMES_MAX; i++) {
        struct seen_name *place = &names->places[i];
        uint64_t version;
        if (__atomic_load_n(&place->version, __ATOMIC_RELAXED) == 0 || !begin_writing(place, &version))
            continue; /* its page is not touched, or it is new */
        __atomic_store_n(&place->ino, 0, __ATOMIC_RELEASE);
        __atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
    }
}

void seen_names_note(struct seen_names *names, fs_ino ino, uint64_t above, const char *name) {
    struct seen_name *place = &names->places[place_of(ino)];
    uint64_t version;
    if (!begin_writing(place, &version))
        return;
    __atomic_store_n(&place->ino, ino, __ATOMIC_RELEASE);
    __atomic_store_n(&place->above, above, __ATOMIC_RELEASE);
    write_name(place, name);
    __atomic_store_n(&place->version, version + 2, __ATOMIC_RELEASE);
}

/* Reads up to the NUL: the words behind it may never have been written. */
static void read_name(const struct seen_name *place, char ret_name[SEEN_NAME_SIZE]) {
    for (size_t i = 0; i < SEEN_NAME_WORDS; i++) {
        uint64_t word = __atomic_load_n(&place->name[i], __ATOMIC_ACQUIRE);
        memcpy(ret_name + i * sizeof(word), &word, sizeof(word));
        if (memchr(&word, '\0', sizeof(word)))
            return;
    }
    ret_name[SEEN_NAME_SIZE - 1] = '\0';
}

bool seen_names_find(const struct seen_names *names, fs_ino ino, uint64_t *ret_above, char ret_name[SEEN_NAME_SIZE]) {
    const struct seen_name *place = &names->places[place_of(ino)];
    uint64_t version = __atomic_load_n(&place->version, __ATOMIC_ACQUIRE);
    if (version == 0 || version % 2 == 1 || __atomic_load_n(&place->ino, __ATOMIC_ACQUIRE) != ino)
        return false;
    uint64_t above = __atomic_load_n(&place->above, __ATOMIC_ACQUIRE);
    read_name(place, ret_name);
    if (__atomic_load_n(&place->version, __ATOMIC_RELAXED) != version)
        return false;
    *ret_above = above;
    return true;
}
