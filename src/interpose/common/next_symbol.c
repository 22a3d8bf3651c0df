/* The loader keeps a list of objects, in the order in which it searches them. The objects present at the start of the
 * program stay in their places; objects loaded later are appended. */
#include "next_symbol.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern struct r_debug _r_debug __attribute__((weak)); /* NOLINT(readability-redundant-declaration): weak is new */

#define C_LIBRARY_SYMBOL "gnu_get_libc_version" /* only glibc has it */
#define HIDDEN_VERSION 0x8000

/* ---- The tables of an object ---- */

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hashes;        /* DT_GNU_HASH */
    const ElfW(Versym) * versions; /* NULL: there are none */
};

/* On most architectures the loader adds the address of the object to what its dynamic section says. */
static const void *address_in(const struct link_map *map, ElfW(Addr) at) {
    return (const void *)(at < map->l_addr ? at + map->l_addr : at);
}

/* Returns false if one is missing. */
static bool read_tables(const struct link_map *map, struct tables *ret_tables) {
    struct tables tables = {.hashes = NULL};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = address_in(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            tables.strings = address_in(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            tables.hashes = address_in(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_VERSYM)
            tables.versions = address_in(map, entry->d_un.d_ptr);
    *ret_tables = tables;
    return tables.hashes && tables.symbols && tables.strings;
}

static uint32_t hash_of(const char *symbol) {
    uint32_t hash = 5381;
    for (; *symbol; symbol++)
        hash = 33 * hash + (unsigned char)*symbol;
    return hash;
}

/* The table: four numbers, a filter of words, for each bucket its first symbol, and for each symbol its hash, whose
 * lowest bit is set at the end of a bucket. */
static const ElfW(Sym) * find_in(const struct tables *tables, const char *symbol, uint32_t hash) {
    const uint32_t bucket_count = tables->hashes[0];
    const uint32_t first_index = tables->hashes[1];
    const uint32_t filter_count = tables->hashes[2];
    const uint32_t filter_shift = tables->hashes[3];
    const ElfW(Addr) *filter = (const void *)(tables->hashes + 4);
    const uint32_t *buckets = (const void *)(filter + filter_count);
    const uint32_t *chains = buckets + bucket_count;
    const unsigned word_bits = 8 * sizeof(*filter);
    const ElfW(Addr) word = filter[hash / word_bits % filter_count];
    if ((word >> (hash % word_bits) & word >> ((hash >> filter_shift) % word_bits) & 1) == 0)
        return NULL;
    uint32_t index = buckets[hash % bucket_count];
    bool is_last = index < first_index;
    for (; !is_last; index++) {
        const uint32_t other = chains[index - first_index];
        const ElfW(Sym) *entry = &tables->symbols[index];
        if ((other | 1) == (hash | 1) && entry->st_shndx != SHN_UNDEF &&
            !(tables->versions && tables->versions[index] & HIDDEN_VERSION) &&
            strcmp(tables->strings + entry->st_name, symbol) == 0)
            return entry;
        is_last = other & 1;
    }
    return NULL;
}

/* ---- The objects behind this one ---- */

static const struct link_map *first; /* atomic; NULL: not looked for yet, or there is no way */
static const struct link_map *c_library;
static bool is_known; /* atomic */

/* NULL: the list has no C library, or an object before the C library has no hash table */
static const struct link_map *find_c_library(const struct link_map *map) {
    const uint32_t hash = hash_of(C_LIBRARY_SYMBOL);
    for (; map; map = map->l_next) {
        struct tables tables;
        if (!read_tables(map, &tables))
            return NULL;
        if (find_in(&tables, C_LIBRARY_SYMBOL, hash))
            return map;
    }
    return NULL;
}

bool next_symbol_works(void) {
    if (__builtin_expect(__atomic_load_n(&is_known, __ATOMIC_ACQUIRE), 1))
        return first;
    const struct link_map *own = &_r_debug ? _r_debug.r_map : NULL;
    while (own && own->l_ld != _DYNAMIC)
        own = own->l_next;
    c_library = own ? find_c_library(own->l_next) : NULL;
    first = c_library ? own->l_next : NULL;
    __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
    return first;
}

void *next_symbol(const char *symbol) {
    const uint32_t hash = hash_of(symbol);
    if (!next_symbol_works())
        return NULL;
    for (const struct link_map *map = first;; map = map->l_next) {
        struct tables tables;
        const ElfW(Sym) *found = read_tables(map, &tables) ? find_in(&tables, symbol, hash) : NULL;
        if (found) { /* the loader must say which function an indirect one (STT_GNU_IFUNC) stands for */
            const bool is_function = (found->st_info & 0xf) == STT_FUNC && found->st_shndx != SHN_ABS;
            return is_function ? (void *)(map->l_addr + found->st_value) : NULL;
        }
        if (map == c_library)
            return NULL;
    }
}
