/* The inode table: one slot per lower inode, counted lookups, numbers that are never in doubt. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "inode_table.h"
#include "testing.h"

static struct inode_table *table;

static void create_table(size_t path_fds_max, size_t forgotten_max) {
    ck_assert_int_eq(inode_table_create(path_fds_max, forgotten_max, NULL, &table), 0);
}

static void tear_down(void) {
    inode_table_destroy(table);
    table = NULL;
}

static int open_path_fd(void) {
    int fd = open("/", O_PATH | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static bool is_open(int fd) {
    return fcntl(fd, F_GETFD) >= 0;
}

static unsigned char handle_bytes[128];

static struct inode_key key_with_handle(ino_t number) {
    return (struct inode_key){.device = 1, .number = number, .handle = handle_bytes, .handle_size_bytes = 8};
}

static struct inode *look_up_key(const struct inode_key *key, mode_t type) {
    struct inode *inode;
    CLEANUP_FD int fd = open_path_fd();
    ck_assert_int_eq(inode_table_look_up(table, key, type, NULL, &fd, &inode), 0);
    return inode;
}

static struct inode *look_up_file(ino_t number) {
    const struct inode_key key = key_with_handle(number);
    return look_up_key(&key, S_IFREG);
}

static size_t inodes_known(void) {
    size_t inodes;
    size_t path_fds;
    inode_table_count(table, &inodes, &path_fds);
    return inodes;
}

static size_t path_fds_kept(void) {
    size_t inodes;
    size_t path_fds;
    inode_table_count(table, &inodes, &path_fds);
    return path_fds;
}

/* ---- Identity ---- */

TEST_CASE(.tear_down = tear_down, .seconds = 120);

TEST(directory_of_the_latest_look_up_is_kept_until_the_inode_is_another) {
    uint64_t above;
    create_table(10, 1);
    inode_table_keep_above(table, true);
    look_up_file(9); /* gets the root's number, which is never forgotten */
    const struct inode_key key = key_with_handle(1);
    struct inode *directory = look_up_key(&key, S_IFDIR);
    struct inode *file = look_up_file(2);
    fs_ino file_ino = inode_ino(file);
    ck_assert(inode_table_above(table, inode_ino(directory), &above));
    ck_assert(inode_above_is_directory(above) && inode_above_directory(above) == 0);
    ck_assert(!inode_table_above(table, file_ino, &above));
    inode_table_set_above(table, file, 7);
    inode_table_set_above(table, file, inode_ino(directory));
    ck_assert(inode_table_above(table, file_ino, &above));
    ck_assert(!inode_above_is_directory(above) && inode_above_directory(above) == inode_ino(directory));
    inode_table_forget(table, file_ino, 1);
    ck_assert(inode_table_above(table, file_ino, &above)); /* it is remembered, as one */
    inode_table_forget(table, inode_ino(directory), 1);
    ck_assert(!inode_table_above(table, file_ino, &above));
    ck_assert_ptr_eq(look_up_file(3), file); /* in the same slot */
    ck_assert(!inode_table_above(table, inode_ino(file), &above));
    ck_assert(!inode_table_above(table, 99, &above) && !inode_table_above(table, 0, &above));
}

TEST(first_inode_has_the_number_of_the_root) {
    create_table(10, 10);
    ck_assert_uint_eq(inode_ino(look_up_file(77)), FS_ROOT_INO);
}

TEST(same_lower_inode_is_the_same_inode_and_counted) {
    create_table(10, 10);
    look_up_file(1);
    struct inode *inode = look_up_file(77);
    ck_assert_ptr_eq(look_up_file(77), inode);
    ck_assert_uint_eq(inode->lookup_count, 2);
    ck_assert_uint_eq(inodes_known(), 2);
    ck_assert_ptr_eq(inode_table_get(table, inode_ino(inode)), inode);
}

TEST(any_difference_makes_another_inode) {
    unsigned char other_bytes[8] = {1};
    const struct inode_key keys[] = {
        {.device = 1, .number = 77, .handle = handle_bytes, .handle_size_bytes = 8},
        {.device = 2, .number = 77, .handle = handle_bytes, .handle_size_bytes = 8},
        {.device = 1, .number = 78, .handle = handle_bytes, .handle_size_bytes = 8},
        {.device = 1, .number = 77, .handle = handle_bytes, .handle_size_bytes = 8, .mount_index = 1},
        {.device = 1, .number = 77, .handle = handle_bytes, .handle_size_bytes = 8, .handle_type = 1},
        {.device = 1, .number = 77, .handle = handle_bytes, .handle_size_bytes = 7},
        {.device = 1, .number = 77, .handle = other_bytes, .handle_size_bytes = 8}, /* a number used again below */
        {.device = 1, .number = 77},
        {.device = 1, .number = 77, .handle = handle_bytes, .handle_size_bytes = 8, .is_by_name = true},
    };
    create_table(10, 10);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        ck_assert_uint_eq(inode_ino(look_up_key(&keys[i], S_IFREG)), i + 1);
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        ck_assert_uint_eq(inode_ino(look_up_key(&keys[i], S_IFREG)), i + 1);
}

TEST(handle_of_any_length_is_kept_whole, .from = INODE_HANDLE_INLINE_BYTES - 1, .to = 129) {
    const uint32_t size_bytes = (uint32_t)_i;
    unsigned char bytes[128];
    memset(bytes, 'h', sizeof(bytes));
    const struct inode_key key = {.number = 5, .handle = bytes, .handle_size_bytes = size_bytes, .handle_type = 3};
    create_table(10, 0);
    look_up_file(1);
    const struct inode *inode = look_up_key(&key, S_IFREG);
    memset(bytes, 0, sizeof(bytes)); /* the table has its own */
    ck_assert_uint_eq(inode->handle_size_bytes, size_bytes);
    ck_assert_int_eq(inode->handle_type, 3);
    for (uint32_t i = 0; i < size_bytes; i++)
        ck_assert_int_eq(inode_handle(inode)[i], 'h');
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert_uint_eq(inodes_known(), 1);
}

TEST(numbers_never_given_out_find_nothing) {
    create_table(10, 10);
    look_up_file(1);
    const fs_ino numbers[] = {0, 2, 1024, UINT32_MAX, (fs_ino)1 << 32, ((fs_ino)1 << 32) + 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        struct inode *inode;
        ck_assert_ptr_null(inode_table_get(table, numbers[i]));
        ck_assert_int_eq(inode_table_revive(table, numbers[i], &inode), -ESTALE);
        inode_table_forget(table, numbers[i], 1);
    }
    ck_assert_uint_eq(inodes_known(), 1);
}

/* More inodes than the first hash table and the first chunk of slots hold. */
TEST(growing_moves_and_loses_no_inode) {
    enum { COUNT = 20011 };
    static struct inode *inodes[COUNT];
    create_table(10, 10);
    for (ino_t i = 0; i < COUNT; i++)
        inodes[i] = look_up_file(i);
    ck_assert_uint_eq(inodes_known(), COUNT);
    for (ino_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(inodes[i]->slot, i);
        ck_assert_ptr_eq(look_up_file(i), inodes[i]);
        ck_assert_ptr_eq(inode_table_get(table, inode_ino(inodes[i])), inodes[i]);
    }
    for (ino_t i = 1; i < COUNT; i++)
        inode_table_forget(table, inode_ino(inodes[i]), 2);
    ck_assert_uint_eq(inodes_known(), 1 + 10); /* the root, and those remembered */
}

/* ---- Forgetting ---- */

TEST(inode_stays_until_every_lookup_is_forgotten) {
    create_table(10, 0);
    look_up_file(1);
    struct inode *inode = look_up_file(77);
    look_up_file(77);
    look_up_file(77);
    inode_table_forget(table, inode_ino(inode), 2);
    ck_assert_ptr_eq(look_up_file(77), inode);
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert_uint_eq(inodes_known(), 2);
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert_uint_eq(inodes_known(), 1);
}

TEST(forgetting_too_much_is_forgetting_all) {
    create_table(10, 0);
    look_up_file(1);
    fs_ino ino = inode_ino(look_up_file(77));
    inode_table_forget(table, ino, UINT64_MAX);
    inode_table_forget(table, ino, UINT64_MAX); /* a free slot now */
    ck_assert_uint_eq(inodes_known(), 1);
    ck_assert_uint_eq(look_up_file(78)->lookup_count, 1);
}

TEST(root_is_never_forgotten) {
    create_table(10, 0);
    look_up_file(1);
    inode_table_forget(table, FS_ROOT_INO, 1000);
    ck_assert_uint_eq(inodes_known(), 1);
    ck_assert_ptr_nonnull(inode_table_get(table, FS_ROOT_INO));
}

TEST(slot_used_again_has_another_generation_and_number) {
    create_table(10, 0);
    look_up_file(1);
    fs_ino before = 0;
    uint32_t generation = 0;
    for (ino_t i = 100; i < 200; i++) {
        struct inode *inode = look_up_file(i);
        fs_ino ino = inode_ino(inode);
        ck_assert_uint_eq(inode->slot, 1);
        ck_assert(i == 100 || inode->generation != generation);
        ck_assert_uint_ne(ino, before);
        ck_assert_ptr_eq(inode_table_get(table, ino), inode);
        ck_assert_ptr_null(inode_table_get(table, before));
        inode_table_forget(table, before, 1); /* concerns it no more */
        ck_assert_uint_eq(inode->lookup_count, 1);
        generation = inode->generation;
        before = ino;
        inode_table_forget(table, ino, 1);
    }
}

TEST(number_is_not_used_again_while_known) {
    create_table(10, 0);
    look_up_file(1);
    struct inode *known = look_up_file(77);
    fs_ino free_ino = inode_ino(look_up_file(78));
    inode_table_forget(table, free_ino, 1);
    for (ino_t i = 100; i < 200; i++)
        ck_assert_uint_ne(inode_ino(look_up_file(i)), inode_ino(known));
    ck_assert_uint_eq(known->number, 77);
}

/* ---- Remembering the forgotten ---- */

TEST(forgotten_inode_is_found_again_by_number) {
    create_table(10, 10);
    look_up_file(1);
    struct inode *inode = look_up_file(77);
    uint32_t generation = inode->generation;
    struct inode *revived;
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert_int_eq(inode_table_revive(table, inode_ino(inode), &revived), 0);
    ck_assert_ptr_eq(revived, inode);
    ck_assert_uint_eq(revived->generation, generation);
    ck_assert_uint_eq(revived->lookup_count, 1);
    ck_assert_int_eq(inode_table_revive(table, inode_ino(inode), &revived), 0);
    ck_assert_uint_eq(revived->lookup_count, 2);
}

TEST(forgotten_inode_is_the_same_when_looked_up_again) {
    create_table(10, 10);
    look_up_file(1);
    struct inode *inode = look_up_file(77);
    uint32_t generation = inode->generation;
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert_ptr_eq(look_up_file(77), inode);
    ck_assert_uint_eq(inode->generation, generation);
    ck_assert_uint_eq(inode->lookup_count, 1);
}

TEST(those_forgotten_longest_ago_go_first) {
    struct inode *revived;
    create_table(10, 3);
    look_up_file(1);
    for (ino_t i = 2; i <= 6; i++)
        look_up_file(i);
    inode_table_forget(table, 2, 1);
    inode_table_forget(table, 3, 1);
    inode_table_forget(table, 4, 1);
    ck_assert_int_eq(inode_table_revive(table, 3, &revived), 0); /* out of the middle of the list */
    inode_table_forget(table, 3, 1);                             /* and to its end */
    inode_table_forget(table, 5, 1);
    ck_assert_int_eq(inode_table_revive(table, 2, &revived), -ESTALE);
    inode_table_forget(table, 6, 1);
    ck_assert_int_eq(inode_table_revive(table, 4, &revived), -ESTALE);
    for (fs_ino ino = 3; ino <= 6; ino++)
        ck_assert_int_eq(inode_table_revive(table, ino, &revived), ino == 4 ? -ESTALE : 0);
}

/* ---- Descriptors ---- */

TEST(directory_with_handle_keeps_a_descriptor_while_there_is_room) {
    create_table(2, 10);
    look_up_file(1);
    for (ino_t i = 2; i <= 5; i++) {
        const struct inode_key key = key_with_handle(i);
        ck_assert_int_eq(inode_path_fd(look_up_key(&key, S_IFDIR)) >= 0, i <= 3);
    }
    ck_assert_uint_eq(path_fds_kept(), 2);
    inode_table_forget(table, 2, 1);
    ck_assert_uint_eq(path_fds_kept(), 1); /* what is forgotten pins nothing below */
    const struct inode_key key = key_with_handle(2);
    ck_assert_int_ge(inode_path_fd(look_up_key(&key, S_IFDIR)), 0);
}

TEST(destroy_closes_every_descriptor) {
    const struct inode_key key = {.number = 77, .is_by_name = true};
    create_table(10, 10);
    int kept_fd = inode_path_fd(look_up_key(&key, S_IFREG));
    tear_down();
    ck_assert(!is_open(kept_fd));
    inode_table_destroy(NULL);
}

/* ---- Found by name ---- */

static struct inode *root;

/* A table whose root is found by name. */
static void create_named_table(void) {
    const struct inode_key key = {.number = 1, .is_by_name = true, .is_mount_root = true};
    create_table(10, 10);
    root = look_up_key(&key, S_IFDIR);
    ck_assert_int_ge(inode_path_fd(root), 0);
}

/* Also without a descriptor, as what is listed while there is no room for one. */
static struct inode *look_up_named(ino_t number, mode_t type, const struct inode *directory, const char *name,
                                   bool has_fd) {
    const struct inode_key key = {
        .number = number, .is_by_name = true, .handle = handle_bytes, .handle_size_bytes = 20};
    const struct inode_place place = {
        .directory = directory, .name = name, .removals = inode_table_removals(table, directory)};
    struct inode *inode;
    CLEANUP_FD int fd = has_fd ? open_path_fd() : -1;
    ck_assert_int_eq(inode_table_look_up(table, &key, type, &place, &fd, &inode), 0);
    return inode;
}

/* Gives up every descriptor that can be found again. Returns how many. */
static size_t give_up_all(void) {
    size_t count = 0;
    for (;;) {
        bool is_nameless = false;
        int fd = inode_table_begin_giving_up(table, SIZE_MAX, &is_nameless);
        if (fd < 0)
            return count;
        bool was_closed = inode_table_end_giving_up(table, fd, is_nameless);
        if (is_nameless)
            return count;
        ck_assert(was_closed && !is_open(fd));
        count++;
    }
}

/* The next on the way to an inode; "": it has a descriptor; NULL: nothing leads there. */
static const char *step_to(struct inode *inode) {
    static struct inode_step step;
    int none = -1;
    if (inode_table_begin_step(table, inode, &step) < 0)
        return NULL;
    if (!step.inode) {
        inode_table_leave(table, step.fd);
        return "";
    }
    inode_table_end_step(table, &step, &none);
    return step.name;
}

TEST(descriptor_without_a_name_is_kept_and_closed_when_forgotten) {
    const struct inode_key key = {.number = 77, .is_by_name = true};
    create_named_table();
    struct inode *inode = look_up_key(&key, S_IFREG);
    int fd = inode_path_fd(inode);
    ck_assert_uint_eq(inode_table_held(table), 1);
    ck_assert_uint_eq(give_up_all(), 0);
    ck_assert(is_open(fd));
    inode_table_forget(table, inode_ino(inode), 1);
    ck_assert(!is_open(fd));
    ck_assert_uint_eq(inodes_known(), 1); /* without a handle there is no remembering */
}

TEST(descriptor_that_was_given_up_is_found_again_step_by_step) {
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, directory, "file", true);
    ck_assert_str_eq(step_to(file), "");
    ck_assert_uint_eq(give_up_all(), 2);
    ck_assert_uint_eq(path_fds_kept(), 1);
    struct inode_step step;
    ck_assert_int_eq(inode_table_begin_step(table, file, &step), 0);
    ck_assert_ptr_eq(step.inode, directory);
    ck_assert_int_eq(step.fd, inode_path_fd(root));
    ck_assert_str_eq(step.name, "directory");
    int fd = open_path_fd();
    int found_fd = inode_table_end_step(table, &step, &fd);
    ck_assert_int_eq(found_fd, inode_path_fd(directory));
    ck_assert_int_eq(fd, -1);
    ck_assert_str_eq(step_to(file), "file");
    inode_table_leave(table, found_fd);
    ck_assert_uint_eq(give_up_all(), 1);
}

TEST(way_to_what_is_deep_is_not_walked_again_for_each_step) {
    enum { DEPTH = 300 };
    struct inode *directories[DEPTH + 1];
    create_named_table();
    directories[0] = root;
    for (unsigned depth = 1; depth <= DEPTH; depth++)
        directories[depth] = look_up_named(1 + depth, S_IFDIR, directories[depth - 1], "d", false);
    for (unsigned depth = 0; depth < DEPTH; depth++) { /* of what has a descriptor */
        struct inode_step step;
        int fd = open_path_fd();
        ck_assert_int_eq(inode_table_begin_step(table, directories[DEPTH], &step), 0);
        ck_assert_ptr_eq(step.inode, directories[depth + 1]);
        ck_assert_ptr_eq(step.halfway, DEPTH - depth > 64 ? directories[depth + 64] : NULL);
        if (step.halfway)
            inode_table_let_go(table, step.halfway);
        inode_table_leave(table, inode_table_end_step(table, &step, &fd));
    }
    ck_assert_str_eq(step_to(directories[DEPTH]), "");
    for (unsigned depth = 1; depth <= DEPTH; depth++)
        inode_table_forget(table, inode_ino(directories[depth]), 1);
    ck_assert_uint_eq(inodes_known(), 1);
}

TEST(descriptor_in_use_is_closed_by_the_last_use) {
    create_named_table();
    struct inode *file = look_up_named(2, S_IFREG, root, "file", true);
    struct inode_step first;
    struct inode_step second;
    ck_assert_int_eq(inode_table_begin_step(table, file, &first), 0);
    ck_assert_int_eq(inode_table_begin_step(table, file, &second), 0);
    ck_assert_uint_eq(give_up_all(), 0);
    inode_table_leave(table, first.fd);
    inode_table_forget(table, inode_ino(file), 1);
    ck_assert_uint_eq(inode_table_held(table), 0);
    ck_assert(is_open(second.fd));
    inode_table_leave(table, second.fd);
    ck_assert(!is_open(second.fd));
}

TEST(listed_inode_keeps_no_descriptor_without_room) {
    const struct inode_key key = {.number = 2, .is_by_name = true};
    create_named_table();
    for (size_t room = 0; room < 2; room++) {
        const struct inode_place place = {.directory = root, .name = "file", .path_fds_max = room, .is_listed = true};
        struct inode *inode;
        CLEANUP_FD int fd = open_path_fd();
        ck_assert_int_eq(inode_table_look_up(table, &key, S_IFREG, &place, &fd, &inode), 0);
        ck_assert_int_eq(inode_path_fd(inode) >= 0, room == 1);
        ck_assert_int_eq(fd < 0, room == 1);
    }
}

TEST(files_give_their_descriptors_up_before_directories) {
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, root, "file", true);
    bool is_nameless;
    int fd = inode_table_begin_giving_up(table, SIZE_MAX, &is_nameless);
    ck_assert_int_eq(fd, inode_path_fd(file));
    ck_assert(inode_table_end_giving_up(table, fd, false));
    ck_assert_int_ge(inode_path_fd(directory), 0);
}

TEST(one_without_links_is_kept_as_one_without_a_name) {
    create_named_table();
    struct inode *file = look_up_named(2, S_IFREG, root, "file", true);
    bool is_nameless;
    int fd = inode_table_begin_giving_up(table, SIZE_MAX, &is_nameless);
    ck_assert(!is_nameless);
    ck_assert(!inode_table_end_giving_up(table, fd, true));
    ck_assert_uint_eq(give_up_all(), 0);
    ck_assert_int_eq(inode_path_fd(file), fd);
    fd = inode_table_begin_giving_up(table, 0, &is_nameless); /* the limit is exceeded by one */
    ck_assert(is_nameless && inode_table_end_giving_up(table, fd, false));
    ck_assert_str_eq(step_to(file), "file"); /* the name is the only way to the file, if there is a way */
}

TEST(directory_stays_while_names_are_in_it) {
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, directory, "file", false);
    fs_ino ino = inode_ino(directory);
    inode_table_forget(table, ino, 1);
    ck_assert_uint_eq(inodes_known(), 3);
    ck_assert_str_eq(step_to(file), "file");
    ck_assert_ptr_eq(look_up_named(2, S_IFDIR, root, "directory", false), directory);
    ck_assert_uint_eq(inode_ino(directory), ino);
    inode_table_forget(table, ino, 1);
    inode_table_forget(table, inode_ino(file), 1);
    ck_assert_uint_eq(inodes_known(), 1);
    ck_assert_uint_eq(path_fds_kept(), 1);
}

/* mv FROM TO, as the pass layer reports it. */
static void rename_file(struct inode *from, const char *name, struct inode *to, const char *new_name) {
    const struct inode_place place = {.directory = to, .name = new_name};
    struct inode *inode = inode_table_begin_removal(table, from, name);
    inode_table_end_removal(table, from, name, inode, &place);
    if (inode)
        inode_table_let_go(table, inode);
}

static void remove_file(struct inode *directory, const char *name) {
    struct inode *inode = inode_table_begin_removal(table, directory, name);
    inode_table_end_removal(table, directory, name, inode, NULL);
    if (inode)
        inode_table_let_go(table, inode);
}

TEST(name_that_moves_is_followed) {
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, root, "file", false);
    rename_file(root, "file", directory, "moved");
    ck_assert_str_eq(step_to(file), "moved");
    rename_file(root, "unknown", directory, "nothing");
    give_up_all();
    ck_assert_str_eq(step_to(file), "directory");
    rename_file(root, "directory", root, "renamed");
    ck_assert_str_eq(step_to(file), "renamed");
}

TEST(removed_name_leaves_the_descriptor) {
    create_named_table();
    struct inode *file = look_up_named(2, S_IFREG, root, "file", true);
    struct inode *closed = look_up_named(3, S_IFREG, root, "closed", false);
    remove_file(root, "file");
    remove_file(root, "closed");
    ck_assert_uint_eq(give_up_all(), 0);
    ck_assert_str_eq(step_to(file), "");
    ck_assert_ptr_null(step_to(closed));
}

TEST(hard_link_is_found_by_its_other_names) {
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, root, "first", false);
    ck_assert_ptr_eq(look_up_named(3, S_IFREG, directory, "second", false), file);
    ck_assert_str_eq(step_to(file), "second");
    remove_file(directory, "second");
    ck_assert_str_eq(step_to(file), "first");
    for (int i = 0; i < 20; i++) { /* only some are remembered */
        char name[8];
        snprintf(name, sizeof(name), "%d", i);
        look_up_named(3, S_IFREG, directory, name, false);
    }
    ck_assert_str_eq(step_to(file), "19");
    look_up_named(3, S_IFREG, directory, "15", false);
    remove_file(directory, "15");
    ck_assert_str_eq(step_to(file), "19");
    struct inode_step step;
    int none = -1;
    unsigned names = 1;
    for (bool has_next = true; has_next; names += has_next) {
        ck_assert_int_eq(inode_table_begin_step(table, file, &step), 0);
        has_next = inode_table_try_next_name(table, &step);
        inode_table_end_step(table, &step, &none);
    }
    ck_assert(names >= 3 && names <= 8);
    ck_assert_ptr_nonnull(step_to(file)); /* the last stays, for it may come back */
    inode_table_forget(table, inode_ino(file), UINT64_MAX);
    inode_table_forget(table, inode_ino(directory), 1);
    ck_assert_uint_eq(inodes_known(), 1);
}

TEST(name_belongs_to_the_latest_that_was_found_there) {
    create_named_table();
    struct inode *replaced = look_up_named(2, S_IFREG, root, "file", true);
    struct inode *file = look_up_named(3, S_IFREG, root, "file", false);
    ck_assert_str_eq(step_to(file), "file");
    ck_assert_uint_eq(give_up_all(), 0);
    ck_assert_str_eq(step_to(replaced), "");
}

/* b was in a, and a is in b now: each was seen in the other. */
TEST(names_never_lead_in_a_circle) {
    create_named_table();
    struct inode *a = look_up_named(2, S_IFDIR, root, "a", false);
    struct inode *b = look_up_named(3, S_IFDIR, a, "b", false);
    look_up_named(2, S_IFDIR, b, "a", false);
    ck_assert_ptr_null(step_to(a));
    look_up_named(3, S_IFDIR, root, "b", false);
    ck_assert_str_eq(step_to(a), "b");
    inode_table_forget(table, inode_ino(a), 2);
    inode_table_forget(table, inode_ino(b), 2);
    ck_assert_uint_eq(inodes_known(), 1);
}

TEST(name_seen_before_it_went_is_not_believed) {
    const struct inode_key key = {.number = 2, .is_by_name = true, .handle = handle_bytes, .handle_size_bytes = 20};
    create_named_table();
    struct inode *file = look_up_named(2, S_IFREG, root, "file", true);
    const struct inode_place place = {
        .directory = root, .name = "file", .removals = inode_table_removals(table, root), .path_fds_max = 10};
    remove_file(root, "file");
    struct inode *again;
    CLEANUP_FD int fd = open_path_fd();
    ck_assert_int_eq(inode_table_look_up(table, &key, S_IFREG, &place, &fd, &again), 0);
    ck_assert_ptr_eq(again, file);
    ck_assert_uint_eq(give_up_all(), 0);
    ck_assert_str_eq(step_to(file), "");
}

TEST(path_begins_at_what_has_a_descriptor) {
    char below[PATH_MAX];
    create_named_table();
    struct inode *directory = look_up_named(2, S_IFDIR, root, "directory", true);
    struct inode *file = look_up_named(3, S_IFREG, directory, "file", false);
    ck_assert_int_eq(inode_table_begin_path(table, inode_ino(file), below), inode_path_fd(directory));
    ck_assert_str_eq(below, "/file");
    inode_table_leave(table, inode_path_fd(directory));
    give_up_all();
    ck_assert_int_eq(inode_table_begin_path(table, inode_ino(file), below), inode_path_fd(root));
    ck_assert_str_eq(below, "/directory/file");
    ck_assert_int_eq(inode_table_begin_path(table, inode_ino(root), below), inode_path_fd(root));
    ck_assert_str_eq(below, "");
    ck_assert_int_eq(inode_table_begin_path(table, 99, below), -1);
}

/* ---- Many threads ---- */

#define THREADS 8
#define NUMBERS 97
#define ROUNDS 20011

/* Holds a lookup over every use, as the kernel does: an inode that is held must stay what it is. */
static void *look_up_and_forget(void *argument) {
    unsigned *wrong = argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct inode_key key = key_with_handle(2 + i * 31 % NUMBERS);
        struct inode *inode;
        int fd = -1;
        if (inode_table_look_up(table, &key, S_IFREG, NULL, &fd, &inode) < 0) {
            ++*wrong;
            continue;
        }
        fs_ino ino = inode_ino(inode);
        *wrong += inode_table_get(table, ino) != inode || inode->number != key.number || ino == FS_ROOT_INO;
        inode_table_forget(table, ino, 1);
    }
    return NULL;
}

TEST(threads_never_see_an_inode_change_that_they_hold, .to = 2) {
    const size_t forgotten_max = _i == 0 ? 0 : NUMBERS / 2;
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0};
    create_table(10, forgotten_max);
    look_up_file(1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up_and_forget, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(wrong[i], 0);
    }
    ck_assert_uint_eq(inodes_known(), 1 + forgotten_max);
}

/* Opens a file of `number` bytes, so that the size identifies the inode of a descriptor. */
static int open_sized(ino_t number) {
    int fd = memfd_create("inode", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)number), 0);
    return fd;
}

static bool has_size(int fd, ino_t number) {
    struct stat attr;
    return fstat(fd, &attr) == 0 && attr.st_size == (off_t)number;
}

/* Finds an inode from the root down. Returns false if what was in use on the way was another's. */
static bool find_and_check(struct inode *inode) {
    struct inode_step step;
    int in_use = -1;
    bool is_right = true;
    while (is_right) {
        int err = inode_table_begin_step(table, inode, &step);
        if (in_use >= 0)
            inode_table_leave(table, in_use);
        if (err < 0)
            return true; /* it has lost its name */
        if (!step.inode) {
            is_right = has_size(step.fd, inode->number);
            inode_table_leave(table, step.fd);
            return is_right;
        }
        CLEANUP_FD int fd = open_sized(step.inode->number);
        ino_t number = step.inode->number;
        in_use = inode_table_end_step(table, &step, &fd);
        is_right = in_use >= 0 && has_size(in_use, number);
    }
    return false;
}

static void give_one_up(void) {
    bool is_nameless;
    int fd = inode_table_begin_giving_up(table, 3, &is_nameless);
    if (fd >= 0)
        inode_table_end_giving_up(table, fd, false);
}

static struct inode *look_up_sized(ino_t number, mode_t type, const struct inode *directory) {
    const struct inode_key key = {.number = number, .is_by_name = true};
    const struct inode_place place = {
        .directory = directory, .name = type == S_IFDIR ? "directory" : "file", .path_fds_max = 4, .is_listed = true};
    struct inode *inode;
    CLEANUP_FD int fd = open_sized(number);
    ck_assert_int_eq(inode_table_look_up(table, &key, type, &place, &fd, &inode), 0);
    return inode;
}

/* Each round a directory and a file in it, which others have, too; moved, removed and forgotten. */
static void *find_and_forget(void *argument) {
    unsigned *wrong = argument;
    for (unsigned i = 0; i < ROUNDS / 4; i++) {
        ino_t number = 100 + i * 31 % NUMBERS;
        struct inode *directory = look_up_sized(number, S_IFDIR, root);
        struct inode *file = look_up_sized(number * 100, S_IFREG, directory);
        *wrong += !find_and_check(file);
        if (i % 3 == 0)
            rename_file(directory, "file", root, "moved");
        if (i % 7 == 0)
            remove_file(root, "directory");
        give_one_up();
        *wrong += !find_and_check(directory);
        inode_table_forget(table, inode_ino(directory), 1);
        *wrong += !find_and_check(file);
        inode_table_forget(table, inode_ino(file), 1);
    }
    return NULL;
}

TEST(threads_use_no_descriptor_of_another_inode) {
    pthread_t threads[THREADS];
    unsigned wrong[THREADS] = {0};
    create_named_table();
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, find_and_forget, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(wrong[i], 0);
    }
    ck_assert_uint_eq(inodes_known(), 1);
    ck_assert_uint_eq(path_fds_kept(), 1);
}

/* ---- Run ---- */
