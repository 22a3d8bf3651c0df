/* Memory of inodes: what is not used goes back to the system, and numbers stay in no doubt. */
#include "inode_chunks.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing.h"

#define COUNT (200U * INODE_CHUNK_SLOTS)

static struct inode_chunks chunks;
static struct inode *inodes[COUNT];
static uint64_t numbers[3 * COUNT];

static void set_up(void) {
    ck_assert_int_eq(inode_chunks_init(&chunks), 0);
    ck_assert_ptr_nonnull(inode_chunks_take(&chunks)); /* the root */
}

static void tear_down(void) {
    inode_chunks_finish(&chunks);
}

/* Takes inodes, and marks their memory as used. */
static void take(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        inodes[i] = inode_chunks_take(&chunks);
        ck_assert_ptr_nonnull(inodes[i]);
        inodes[i]->lookup_count = 7;
    }
}

static void give(struct inode *inode) {
    inode->generation++;
    inode_chunks_give(&chunks, inode, false);
}

static void give_all(unsigned count) {
    for (unsigned i = 0; i < count; i++)
        give(inodes[i]);
}

static size_t resident_bytes(void) {
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t chunk_bytes = INODE_CHUNK_SLOTS * sizeof(struct inode);
    unsigned char pages[INODE_CHUNK_SLOTS];
    size_t resident = 0;
    for (uint32_t chunk = 0; chunk < chunks.count; chunk++) {
        ck_assert_int_eq(mincore(chunks.memory[chunk], chunk_bytes, pages), 0);
        for (size_t page = 0; page * page_bytes < chunk_bytes; page++)
            resident += pages[page] & 1 ? page_bytes : 0;
    }
    return resident;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down, .seconds = 120);

TEST(memory_of_a_chunk_is_given_back_when_no_slot_of_it_is_used) {
    take(COUNT);
    ck_assert_uint_ge(resident_bytes(), COUNT * sizeof(struct inode));
    for (unsigned i = 0; i < COUNT; i++)
        if (i % (50 * INODE_CHUNK_SLOTS) != 0) /* one in each fifty chunks stays */
            give(inodes[i]);
    ck_assert_uint_le(resident_bytes(), 6 * INODE_CHUNK_SLOTS * sizeof(struct inode));
    for (unsigned i = 0; i < COUNT; i += 50 * INODE_CHUNK_SLOTS)
        ck_assert_uint_eq(inodes[i]->lookup_count, 7);
}

/* Else each file that is opened alone would cost a chunk's memory anew. */
TEST(one_that_comes_and_goes_keeps_its_memory) {
    take(INODE_CHUNK_SLOTS - 1); /* the first chunk is full */
    struct inode *alone = inode_chunks_take(&chunks);
    for (unsigned turn = 0; turn < 3; turn++) {
        alone->lookup_count = 7;
        give(alone);
        ck_assert_uint_eq(alone->lookup_count, 7);
        ck_assert_ptr_eq(inode_chunks_take(&chunks), alone);
    }
}

static int compare_numbers(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one;
    uint64_t b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

TEST(no_number_is_given_twice) {
    for (unsigned turn = 0; turn < 3; turn++) {
        take(COUNT);
        for (unsigned i = 0; i < COUNT; i++)
            numbers[turn * COUNT + i] = inode_ino(inodes[i]);
        give_all(COUNT);
    }
    ck_assert_uint_le(chunks.count, 201);
    qsort(numbers, 3 * COUNT, sizeof(*numbers), compare_numbers);
    for (unsigned i = 1; i < 3 * COUNT; i++)
        ck_assert_uint_ne(numbers[i - 1], numbers[i]);
}

TEST(what_has_no_memory_is_nobodys) {
    take(COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        numbers[i] = inode_ino(inodes[i]);
    give_all(COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        const struct inode *inode = inode_chunks_at(&chunks, (uint32_t)numbers[i] - 1);
        ck_assert_uint_ne(inode->generation, numbers[i] >> 32);
        ck_assert(!inode->used);
    }
}

TEST(chunks_with_memory_are_filled_first) {
    take(20 * INODE_CHUNK_SLOTS);
    for (unsigned i = 0; i < 20 * INODE_CHUNK_SLOTS; i++)
        if (i % INODE_CHUNK_SLOTS != 5 || i / INODE_CHUNK_SLOTS != 13)
            give(inodes[i]);
    size_t before = resident_bytes();
    for (unsigned i = 0; i < INODE_CHUNK_SLOTS; i++)
        ck_assert_ptr_nonnull(inode_chunks_take(&chunks));
    ck_assert_uint_eq(resident_bytes(), before);
}
