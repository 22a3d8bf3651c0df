/* Names that were seen last: the latest is kept, until another takes its place; and nobody reads half of two. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seen_names.h"
#include "testing.h"

static struct seen_names *create(void) {
    struct seen_names *names = seen_names_create();
    ck_assert_ptr_nonnull(names);
    return names;
}

static void expect(const struct seen_names *names, fs_ino ino, uint64_t above, const char *name) {
    char found[SEEN_NAME_SIZE];
    uint64_t found_above;
    ck_assert(seen_names_find(names, ino, &found_above, found));
    ck_assert_uint_eq(found_above, above);
    ck_assert_str_eq(found, name);
}

TEST(latest_name_is_found) {
    struct seen_names *names = create();
    char found[SEEN_NAME_SIZE];
    uint64_t above;
    ck_assert(!seen_names_find(names, 7, &above, found));
    seen_names_note(names, 7, 3, "a rather long name of a file, in several words.txt");
    expect(names, 7, 3, "a rather long name of a file, in several words.txt");
    seen_names_note(names, 7, 4, "eight...");
    expect(names, 7, 4, "eight...");
    free(names);
}

TEST(name_that_is_too_long_is_not_known) {
    struct seen_names *names = create();
    char name[NAME_MAX + 1] = "";
    memset(name, 'x', SEEN_NAME_SIZE - 1);
    seen_names_note(names, 7, 3, name);
    expect(names, 7, 3, name);
    memset(name, 'y', SEEN_NAME_SIZE);
    seen_names_note(names, 7, 3, name);
    expect(names, 7, 3, "");
    free(names);
}

TEST(most_of_a_few_are_kept_and_of_many_the_latest) {
    struct seen_names *names = create();
    unsigned found_count = 0;
    for (fs_ino ino = 1; ino <= 100000; ino++)
        seen_names_note(names, ino, ino + 1, "name");
    for (fs_ino ino = 100000 - SEEN_NAMES_MAX / 4; ino <= 100000; ino++) {
        char found[SEEN_NAME_SIZE];
        uint64_t above;
        found_count += seen_names_find(names, ino, &above, found) && above == ino + 1;
    }
    ck_assert_uint_gt(found_count, SEEN_NAMES_MAX / 4 * 7 / 10);
    expect(names, 100000, 100001, "name");
    free(names);
}

enum { WRITES = 200003 };

static void *write_names(void *argument) {
    for (unsigned i = 0; i < WRITES; i++) {
        char name[SEEN_NAME_SIZE];
        memset(name, 'a' + (int)(i % 26), i % 26 * 4);
        name[i % 26 * 4] = '\0';
        seen_names_note(argument, 7, i % 26, name);
    }
    return NULL;
}

TEST(nobody_reads_half_of_two_names) {
    struct seen_names *names = create();
    pthread_t writers[2];
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_names, names), 0);
    for (unsigned i = 0; i < WRITES; i++) {
        char name[SEEN_NAME_SIZE];
        uint64_t above;
        if (!seen_names_find(names, 7, &above, name))
            continue;
        ck_assert_uint_eq(strlen(name), above * 4);
        ck_assert(above == 0 || (name[0] == 'a' + (char)above && name[strlen(name) - 1] == name[0]));
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
    free(names);
}
