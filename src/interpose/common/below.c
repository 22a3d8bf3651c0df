/* Both paths are walked once. What is remembered is how deep the walk is, and how many of the directory's components it
 * has matched so far, which ".." takes back. */
#include "below.h"

#include <stdbool.h>
#include <string.h>

struct walk {
    const char *directory;
    size_t depth;
    size_t matched; /* the first so many of the path's components are those of the directory; no more than depth */
};

/* The next component at or after text, and its length; 0 at the end. */
static size_t next_component(const char **text) {
    *text += strspn(*text, "/");
    return strcspn(*text, "/");
}

/* Component number `number` of a path; its length is 0 if there are fewer. */
static size_t find_component(const char *path, size_t number, const char **ret_component) {
    size_t length = next_component(&path);
    for (; number > 0 && length > 0; number--) {
        path += length;
        length = next_component(&path);
    }
    *ret_component = path;
    return length;
}

static void step(struct walk *walk, const char *name, size_t length) {
    const char *wanted;
    if (walk->matched == walk->depth) {
        size_t wanted_length = find_component(walk->directory, walk->matched, &wanted);
        walk->matched += wanted_length == length && memcmp(wanted, name, length) == 0;
    }
    walk->depth++;
}

static void step_back(struct walk *walk) {
    if (walk->depth > 0)
        walk->depth--;
    if (walk->matched > walk->depth)
        walk->matched = walk->depth;
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
    struct walk walk = {.directory = directory};
    const char *rest;
    if (path[0] != '/')
        walk_along(&walk, base);
    walk_along(&walk, path);
    if (find_component(directory, walk.matched, &rest) == 0)
        return BELOW_INSIDE;
    return walk.matched == walk.depth ? BELOW_ABOVE : BELOW_OUTSIDE;
}
