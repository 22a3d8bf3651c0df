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

static void walk_along(struct walk *walk, const char *path) {
    for (size_t length = next_component(&path); length > 0; path += length, length = next_component(&path)) {
        if (length == 1 && path[0] == '.')
            continue;
        if (length != 2 || path[0] != '.' || path[1] != '.') {
            const size_t wanted_length = walk->matched == walk->depth++ ? next_component(&walk->next) : 0;
            if (wanted_length == length && memcmp(walk->next, path, length) == 0) {
                walk->matched++;
                walk->next += length;
            }
            continue;
        }
        walk->depth -= walk->depth > 0;
        if (walk->matched <= walk->depth)
            continue;
        walk->matched = walk->depth;
        walk->next = walk->directory;
        for (size_t i = 0; i < walk->matched; i++)
            walk->next += next_component(&walk->next);
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
