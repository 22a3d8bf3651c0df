/* Finding the name that somebody meant who mistyped it. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

#define NEAREST_NAME_SIZE 32 /* longer names are never near */

struct nearest {
    const char *word; /* what was typed */
    const char *name; /* the first of the nearest names so far; NULL: none is near */
    size_t distance;  /* of that name; then: the distance from which on none is near */
};

/* Names are near if one letter is wrong, missing, superfluous or in the place of its neighbour; of words with more than
 * four letters, two. */
struct nearest nearest_to(const char *word);

/* name: Owner: the caller; must stay */
void nearest_consider(struct nearest *nearest, const char *name);

#endif
