/* Files that are left alone. */
#include <sys/mman.h>

#include "testing.h"
#include "unreadable.h"

static struct unreadable *table;

static void set_up(void) {
    table = unreadable_create();
    ck_assert_ptr_nonnull(table);
}

static void tear_down(void) {
    munmap(table, sizeof(*table));
}

static struct file_place file(unsigned device, uint64_t inode) {
    return (struct file_place){.device_major = device, .inode = inode};
}

static bool has(unsigned device, uint64_t inode) {
    const struct file_place place = file(device, inode);
    return unreadable_has(table, &place);
}

static void note(unsigned device, uint64_t inode) {
    const struct file_place place = file(device, inode);
    unreadable_note(table, &place);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(a_file_is_noted_alone) {
    note(8, 4711);
    ck_assert(has(8, 4711));
    ck_assert(!has(8, 4712));
    ck_assert(!has(9, 4711));
}

TEST(inode_0_is_a_device) {
    note(8, 0);
    ck_assert(has(8, 4711));
    ck_assert(!has(9, 4711));
}

TEST(no_file_is_not_noted) {
    note(0, 0);
    ck_assert(!has(0, 0));
    ck_assert(!has(0, 1));
}

TEST(the_oldest_gives_way) {
    for (unsigned i = 1; i <= UNREADABLE_MAX + 1; i++) {
        note(8, i);
        note(8, i); /* takes no other place */
    }
    ck_assert(!has(8, 1));
    for (unsigned i = 2; i <= UNREADABLE_MAX + 1; i++)
        ck_assert(has(8, i));
}

TEST(a_file_is_read_again_later) {
    note(8, 4711);
    for (unsigned i = 0; i < UNREADABLE_MAX; i++)
        if (table->noted[i].until_ns > 0)
            table->noted[i].until_ns -= INT64_C(61000000000);
    ck_assert(!has(8, 4711));
}
