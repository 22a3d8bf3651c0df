/* Edit distances between short names.
 * Source:  Damerau 1964: letters that have changed places are one edit, too */
#include "nearest.h"

#include <string.h>

#define LETTERS_OF_ONE_EDIT 4

struct nearest nearest_to(const char *word) {
    return (struct nearest){.word = word, .distance = strlen(word) > LETTERS_OF_ONE_EDIT ? 3 : 2};
}

static size_t least_of(size_t a, size_t b, size_t c) {
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static size_t distance_between(const char *a, const char *b) {
    size_t rows[NEAREST_NAME_SIZE][NEAREST_NAME_SIZE]; /* [i][j]: between the first i letters of a and j of b */
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);
    if (a_length >= NEAREST_NAME_SIZE || b_length >= NEAREST_NAME_SIZE)
        return NEAREST_NAME_SIZE;
    for (size_t i = 0; i <= a_length; i++)
        rows[i][0] = i;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++)
        for (size_t j = 1; j <= b_length; j++) {
            const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = least_of(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = least_of(rows[i][j], rows[i - 2][j - 2] + 1, replaced);
        }
    return rows[a_length][b_length];
}

void nearest_consider(struct nearest *nearest, const char *name) {
    const size_t distance = distance_between(nearest->word, name);
    if (distance >= nearest->distance || distance >= strlen(name))
        return;
    nearest->distance = distance;
    nearest->name = name;
}
