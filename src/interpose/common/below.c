/* Each path is walked once, except for "..". The walk remembers its depth, and how many components of the directory it
 * has matched so far; ".." takes matches back. */
#include "below.h"

#include <stdbool.h>
#include <string.h>

struct walk {
    const char *directory;
    const char *next; /* the part not matched yet */
    size_t depth;
    size_t matched; /* components of the path that agree with the directory's; at most depth */
};

/* The next component at or after text, and its length; 0 at the end. */
static size_t next_component(const char **text) {
    while (**text == '/')
        ++*text;
    return (size_t)(strchrnul(*text, '/') - *text);
}

static void step(struct walk *walk, const char *name, size_t length) {
    if (walk->matched == walk->depth) {
        const size_t wanted_length = next_component(&walk->next);
        const bool is_same = wanted_length == length && memcmp(walk->next, name, length) == 0;
        walk->matched += is_same;
        walk->next += is_same ? length : 0;
    }
    walk->depth++;
}

static void step_back(struct walk *walk) {
    if (walk->depth > 0)
        walk->depth--;
    if (walk->matched <= walk->depth)
        return;
    walk->matched = walk->depth;
    walk->next = walk->directory;
    for (size_t i = 0; i < walk->matched; i++)
        walk->next += next_component(&walk->next);
}

static void walk_along(struct walk *walk, const char *path) {
    for (size_t length = next_component(&path); length > 0; length = next_component(&path)) {
        if (length == 2 && path[0] == '.' && path[1] == '.')
            step_back(walk);
        else if (length != 1 || path[0] != '.')
            step(walk, path, length);
        path += length;
    }
}

enum below_place below_place_of(const char *directory, const char *base, const char *path) {
    struct walk walk = {.directory = directory, .next = directory};
    if (path[0] != '/')
        walk_along(&walk, base);
    walk_along(&walk, path);
    if (next_component(&walk.next) == 0)
        return BELOW_INSIDE;
    return walk.matched == walk.depth ? BELOW_ABOVE : BELOW_OUTSIDE;
}
