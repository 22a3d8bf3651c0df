/* Descriptors that the pass layer keeps for a moment: that it keeps them, and lets go of them. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

static void (*later)(void *data);
static void *later_data;
static int asked_count;

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;

static bool call_later(void (*call)(void *data), void *data) {
    pthread_mutex_lock(&later_lock);
    later = call;
    later_data = data;
    asked_count++;
    pthread_mutex_unlock(&later_lock);
    return true;
}

static bool cannot_call_later(void (*call)(void *data), void *data) {
    (void)call, (void)data;
    return false;
}

static int descriptors(void) {
    DIR *stream = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(stream);
    int count = 0;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

static int look_at(fs_ino ino, nlink_t *ret_links) {
    struct stat attr;
    int err = STAGE(getattr, ino, FS_NO_FILE, &attr);
    *ret_links = err == 0 ? attr.st_nlink : 0;
    return err;
}

static void expect_links(fs_ino ino, nlink_t expected) {
    nlink_t links;
    ck_assert_int_eq(look_at(ino, &links), 0);
    ck_assert_uint_eq(links, expected);
}

/* Without handles every inode keeps a descriptor of its own. */
static bool start(struct fs_entry *ret_one, struct fs_entry *ret_two) {
    if (!stage_has_handles())
        return false;
    asked_count = 0;
    stage.pass->call_later = call_later;
    stage_write("one", "1");
    stage_write("two", "2");
    *ret_one = stage_look_up("one");
    *ret_two = stage_look_up("two");
    return true;
}

STAGE_CASE();

TEST(the_last_one_is_kept_until_later) {
    struct fs_entry one;
    struct fs_entry two;
    if (!start(&one, &two))
        return;
    int before = descriptors();
    for (int count = 0; count < 10; count++)
        expect_links(one.ino, 1);
    ck_assert_int_eq(descriptors(), before + 1);
    for (int count = 0; count < 10; count++) {
        expect_links(two.ino, 1);
        expect_links(one.ino, 1);
    }
    ck_assert_int_eq(descriptors(), before + 1);
    ck_assert_int_eq(asked_count, 1);
    later(later_data);
    ck_assert_int_eq(descriptors(), before);
    expect_links(one.ino, 1);
    ck_assert_int_eq(asked_count, 2);
}

TEST(removing_a_name_lets_go) {
    struct fs_entry one;
    struct fs_entry two;
    if (!start(&one, &two))
        return;
    int before = descriptors();
    expect_links(one.ino, 1);
    ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "one"), 0);
    ck_assert_int_eq(descriptors(), before);

    expect_links(two.ino, 1);
    stage_write("three", "3");
    stage_look_up("three");
    ck_assert_int_eq(STAGE(rename, FS_ROOT_INO, "three", FS_ROOT_INO, "two"), 0);
    ck_assert_int_eq(descriptors(), before);
}

TEST(nothing_is_kept_if_nobody_comes_later) {
    struct fs_entry one;
    struct fs_entry two;
    if (!start(&one, &two))
        return;
    int before = descriptors();
    stage.pass->call_later = cannot_call_later;
    expect_links(one.ino, 1);
    ck_assert_int_eq(descriptors(), before);
    stage.pass->call_later = NULL;
    expect_links(one.ino, 1);
    ck_assert_int_eq(descriptors(), before);
}

/* A slot that is used again has another inode. */
TEST(a_kept_one_is_never_taken_for_another_inode) {
    struct fs_entry one;
    struct fs_entry two;
    if (!start(&one, &two))
        return;
    stage_restart(false, 0); /* what is forgotten is gone at once */
    stage.pass->call_later = call_later;
    for (int count = 0; count < 20; count++) {
        struct fs_entry entry = stage_look_up(count % 2 ? "one" : "two");
        struct stat attr;
        ck_assert_int_eq(STAGE(getattr, entry.ino, FS_NO_FILE, &attr), 0);
        ck_assert_uint_eq(attr.st_ino, entry.attr.st_ino);
        stage.layer->ops->forget(stage.layer, entry.ino, 1);
    }
}

/* ---- Threads ---- */

#define THREADS 4
#define ROUNDS 20000

static struct fs_entry shared[2];

static void *look_often(void *unused) {
    for (int count = 0; count < ROUNDS; count++) {
        struct stat attr;
        const struct fs_entry *entry = &shared[count % 7 == 0];
        if (STAGE(getattr, entry->ino, FS_NO_FILE, &attr) < 0 || attr.st_ino != entry->attr.st_ino)
            return stage.layer;
    }
    return unused;
}

TEST(threads_find_their_own_inodes_while_others_close) {
    pthread_t threads[THREADS];
    if (!start(&shared[0], &shared[1]))
        return;
    int before = descriptors();
    for (int index = 0; index < THREADS; index++)
        ck_assert_int_eq(pthread_create(&threads[index], NULL, look_often, NULL), 0);
    for (int count = 0; count < ROUNDS; count++)
        pass_close_recent(stage.pass);
    for (int index = 0; index < THREADS; index++) {
        void *failed;
        pthread_join(threads[index], &failed);
        ck_assert_ptr_null(failed);
    }
    ck_assert_int_le(descriptors(), before + THREADS);
    pass_close_recent(stage.pass);
    ck_assert_int_eq(descriptors(), before);
}
