/* Control groups by their numbers: new groups, removed groups, and any number of other groups beside them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "testing.h"
#include "wait_cgroups.h"

#define OTHERS 500
#define QUESTIONS 499
#define NOBODYS (UINT64_MAX - QUESTIONS)

static char *tree; /* NULL: no group can be made */
static char group[256];
static char name[64];
static const struct attach_cgroup all = {.directory = NULL};

static void set_up(void) {
    snprintf(name, sizeof(name), "/osproffs-test-%ld.slice", (long)getpid());
    if (geteuid() != 0 || cgroup_tree_find(&tree) < 0)
        return;
    snprintf(group, sizeof(group), "%s%s", tree, name);
    if (mkdir(group, 0755) < 0) {
        free(tree);
        tree = NULL;
    }
}

static void tear_down(void) {
    if (tree)
        ck_assert_int_eq(rmdir(group), 0);
    free(tree);
    tree = NULL;
}

/* Returns its number. */
static uint64_t make_group(const char *below) {
    char path[300];
    struct stat st;
    snprintf(path, sizeof(path), "%s%s", group, below);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_ino;
}

static void remove_group(const char *below) {
    char path[300];
    snprintf(path, sizeof(path), "%s%s", group, below);
    ck_assert_int_eq(rmdir(path), 0);
}

static const char *name_of(struct wait_cgroups *cgroups, uint64_t number) {
    static char who[WAIT_WHO_SIZE];
    wait_cgroups_name(cgroups, number, who);
    return who;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(group_that_came_since_has_its_name) {
    if (!tree)
        return;
    char wanted[128];
    struct wait_cgroups *cgroups = wait_cgroups_create(&all);
    const uint64_t number = make_group("/new");
    snprintf(wanted, sizeof(wanted), "%s/new", name);
    ck_assert_str_eq(name_of(cgroups, number), wanted);
    remove_group("/new");
    ck_assert_str_eq(name_of(cgroups, number), wanted); /* as long as it is remembered */
    wait_cgroups_destroy(cgroups);
}

TEST(group_that_has_gone_is_said_to_be) {
    if (!tree)
        return;
    struct wait_cgroups *cgroups = wait_cgroups_create(&all);
    const uint64_t number = make_group("/short");
    remove_group("/short");
    ck_assert_str_eq(name_of(cgroups, number), "(removed)");
    wait_cgroups_destroy(cgroups);
}

static clock_t time_of_questions(void) {
    struct wait_cgroups *cgroups = wait_cgroups_create(&all);
    const clock_t begin = clock();
    for (unsigned i = 0; i < QUESTIONS; i++)
        ck_assert_str_eq(name_of(cgroups, NOBODYS + i), "(removed)");
    const clock_t taken = clock() - begin;
    wait_cgroups_destroy(cgroups);
    return taken;
}

TEST(many_groups_do_not_make_it_take_longer) {
    char below[32];
    if (!tree)
        return;
    const clock_t with_few = time_of_questions();
    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(below, sizeof(below), "/other-%u", i);
        make_group(below);
    }
    const clock_t with_many = time_of_questions();
    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(below, sizeof(below), "/other-%u", i);
        remove_group(below);
    }
    ck_assert_int_le(with_many, 4 * with_few + CLOCKS_PER_SEC / 20);
}
