/* The pass layer's directories: every name once, positions that can be returned to, counted entries. */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "stage.h"

static size_t entry_count; /* of the latest listing */

#define NAMES 1511 /* more than one buffer of entries holds */

/* What a reader is given: entries until there is no more room. */
struct listing {
    size_t room;  /* entries that still fit */
    size_t count; /* of those that did, dots included */
    off_t next_offset;
    off_t offset_of[NAMES + 2]; /* position behind each name, by its number; dots last */
    uint8_t seen[NAMES];        /* how often */
    size_t dots;
    size_t with_entry;
    fs_ino inos[NAMES]; /* of the entries, by number */
    mode_t type;        /* of the last one */
    char last_name[256];
};

static bool take_entry(void *context, const struct fs_dirent *dirent) {
    struct listing *listing = context;
    if (listing->room == 0)
        return false;
    listing->room--;
    listing->count++;
    listing->next_offset = dirent->next_offset;
    listing->type = dirent->attr.st_mode & S_IFMT;
    snprintf(listing->last_name, sizeof(listing->last_name), "%s", dirent->name);
    listing->with_entry += dirent->entry != NULL;
    unsigned number;
    if (dirent->name[0] == '.') {
        ck_assert_ptr_null(dirent->entry);
        listing->dots++;
    } else if (sscanf(dirent->name, "name-%u", &number) == 1 && number < NAMES) {
        listing->seen[number]++;
        listing->offset_of[number] = dirent->next_offset;
        listing->inos[number] = dirent->entry ? dirent->entry->ino : 0;
    }
    return true;
}

static struct listing listing;
static fs_file directory;

static void make_names(unsigned count) {
    char name[32];
    for (unsigned number = 0; number < count; number++) {
        snprintf(name, sizeof(name), "name-%u", number);
        stage_write(name, "");
    }
}

static void open_root(void) {
    memset(&listing, 0, sizeof(listing));
    ck_assert_int_eq(STAGE(opendir, FS_ROOT_INO, &directory), 0);
}

static void close_root(void) {
    ck_assert_int_eq(STAGE(fsyncdir, FS_ROOT_INO, directory, false), 0);
    ck_assert_int_eq(STAGE(releasedir, FS_ROOT_INO, directory), 0);
}

/* Reads on from an offset with room for so many entries. Returns how many came. */
static size_t read_some(off_t offset, size_t room) {
    size_t before = listing.count;
    listing.room = room;
    ck_assert_int_eq(STAGE(readdir, FS_ROOT_INO, directory, offset, take_entry, &listing, &entry_count), 0);
    return listing.count - before;
}

static size_t read_some_plus(off_t offset, size_t room) {
    size_t before = listing.count;
    listing.room = room;
    ck_assert_int_eq(STAGE(readdirplus, FS_ROOT_INO, directory, offset, take_entry, &listing, &entry_count), 0);
    return listing.count - before;
}

static void check_every_name_seen(unsigned count) {
    for (unsigned number = 0; number < count; number++)
        ck_assert_msg(listing.seen[number] == 1, "name-%u was seen %u times", number, listing.seen[number]);
    ck_assert_uint_eq(listing.dots, 2);
}

/* ---- Names ---- */

static const size_t rooms[] = {1, 7, 100, SIZE_MAX};

STAGE_CASE();

TEST(every_name_comes_once_whatever_fits, .to = (int)ARRAY_SIZE(rooms)) {
    make_names(NAMES);
    open_root();
    while (read_some(listing.next_offset, rooms[_i]) > 0)
        continue;
    check_every_name_seen(NAMES);
    ck_assert_uint_eq(listing.count, NAMES + 2);
    close_root();
}

TEST(types_are_told) {
    static const struct {
        const char *name;
        mode_t type;
    } nodes[] = {{"file", S_IFREG}, {"directory", S_IFDIR}, {"fifo", S_IFIFO}, {"symlink", S_IFLNK}};
    stage_write("file", "");
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    ck_assert_int_eq(mkfifoat(stage.fd, "fifo", 0644), 0);
    ck_assert_int_eq(symlinkat("file", stage.fd, "symlink"), 0);
    open_root();
    size_t found = 0;
    while (read_some(listing.next_offset, 1) > 0) {
        for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
            if (strcmp(listing.last_name, nodes[i].name) != 0)
                continue;
            ck_assert_uint_eq(listing.type, nodes[i].type);
            found++;
        }
    }
    ck_assert_uint_eq(found, ARRAY_SIZE(nodes));
    close_root();
}

TEST(file_is_no_directory) {
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    ck_assert_int_eq(STAGE(opendir, ino, &directory), -ENOTDIR);
}

TEST(removed_directory_is_empty_and_gives_no_stale_entries) {
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    stage_write("directory/name-0", "");
    stage_write("directory/name-1", "");
    fs_ino ino = stage_look_up("directory").ino;
    fs_file file;
    ck_assert_int_eq(STAGE(opendir, ino, &file), 0);
    memset(&listing, 0, sizeof(listing));
    listing.room = 1; /* the others stay buffered */
    ck_assert_int_eq(STAGE(readdir, ino, file, 0, take_entry, &listing, &entry_count), 0);
    ck_assert_int_eq(unlinkat(stage.fd, "directory/name-0", 0), 0);
    ck_assert_int_eq(unlinkat(stage.fd, "directory/name-1", 0), 0);
    ck_assert_int_eq(unlinkat(stage.fd, "directory", AT_REMOVEDIR), 0);
    for (int attempt = 0; attempt < 2; attempt++) {
        listing.count = 0;
        listing.room = 10;
        STAGE(readdir, ino, file, listing.next_offset + 1, take_entry, &listing,
              &entry_count); /* elsewhere: must be read anew */
        ck_assert_uint_eq(listing.count, 0);
    }
    ck_assert_int_eq(STAGE(releasedir, ino, file), 0);
}

/* ---- Positions ---- */

TEST(positions_can_be_returned_to) {
    make_names(NAMES);
    open_root();
    while (read_some(listing.next_offset, SIZE_MAX) > 0)
        continue;
    for (unsigned number = 0; number < NAMES; number += 191) {
        char after_it[2][256] = {"", ""};
        for (int attempt = 0; attempt < 2; attempt++) {
            if (read_some(listing.offset_of[number], 1) == 1)
                memcpy(after_it[attempt], listing.last_name, sizeof(listing.last_name));
            read_some(listing.offset_of[(number + 1009) % NAMES], 5); /* somewhere else in between */
        }
        ck_assert_str_eq(after_it[0], after_it[1]);
    }
    close_root();
}

TEST(rewinding_shows_what_was_made_since) {
    make_names(3);
    open_root();
    while (read_some(listing.next_offset, SIZE_MAX) > 0)
        continue;
    check_every_name_seen(3);
    stage_write("name-3", "");
    stage_write("name-4", "");
    memset(&listing, 0, sizeof(listing));
    while (read_some(listing.next_offset, SIZE_MAX) > 0)
        continue;
    check_every_name_seen(5);
    close_root();
}

/* As `rm -r` does: what has been read is deleted before one reads on. */
TEST(deleting_while_reading_skips_nothing) {
    make_names(NAMES);
    open_root();
    while (read_some(listing.next_offset, 37) > 0) {
        char name[32];
        for (unsigned number = 0; number < NAMES; number++) {
            if (listing.seen[number] != 1)
                continue;
            snprintf(name, sizeof(name), "name-%u", number);
            unlinkat(stage.fd, name, 0);
        }
    }
    check_every_name_seen(NAMES);
    close_root();
}

TEST(open_directories_are_read_independently) {
    fs_file other;
    make_names(97);
    open_root();
    ck_assert_int_eq(STAGE(opendir, FS_ROOT_INO, &other), 0);
    while (read_some(listing.next_offset, 1) > 0) {
        struct listing ignored = {.room = 3};
        ck_assert_int_eq(STAGE(readdir, FS_ROOT_INO, other, 0, take_entry, &ignored, &entry_count), 0);
    }
    check_every_name_seen(97);
    ck_assert_int_eq(STAGE(releasedir, FS_ROOT_INO, other), 0);
    close_root();
}

/* Their entries are not kept then, and each read goes back to where the last one ended. */
TEST(directories_beyond_a_users_share_are_read_whole) {
    const struct fs_caller user = {.uid = stage.self.uid + 1, .gid = stage.self.gid};
    static struct listing listings[7];
    fs_file files[ARRAY_SIZE(listings)];
    make_names(NAMES);
    user_shares_init(&stage.pass->entries_shares, 2 * (size_t)PASS_ENTRIES_BYTES, stage.self.uid);
    for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
        ck_assert_int_eq(STAGE_AS(&user, opendir, FS_ROOT_INO, &files[i]), 0);
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
            listings[i].room = 5;
            int err = STAGE_AS(&user, readdir, FS_ROOT_INO, files[i], listings[i].next_offset, take_entry, &listings[i],
                               &entry_count);
            ck_assert_int_eq(err, 0);
            any |= entry_count > 0;
            ck_assert_uint_le(stage.pass->entries_shares.taken, 3 * (size_t)PASS_ENTRIES_BYTES);
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
        listing = listings[i];
        check_every_name_seen(NAMES);
        ck_assert_int_eq(STAGE_AS(&user, releasedir, FS_ROOT_INO, files[i]), 0);
    }
    ck_assert_uint_eq(stage.pass->entries_shares.taken, 0);
}

/* ---- With attributes ---- */

/* Lists all names, ten at a time, and looks up one in so many of those that came without attributes; 0: none. Returns
 * how many came with them. */
static unsigned list_and_use(unsigned count, unsigned one_in) {
    open_root();
    for (unsigned number = 0; read_some_plus(listing.next_offset, 10) > 0; number = 0) {
        for (; one_in > 0 && number < count; number++) {
            char name[32];
            snprintf(name, sizeof(name), "name-%u", number);
            if (listing.seen[number] != 1 || listing.inos[number] != 0 || number % one_in != 0)
                continue;
            listing.inos[number] = stage_look_up(name).ino;
        }
    }
    check_every_name_seen(count);
    close_root();
    return listing.with_entry;
}

TEST(every_entry_that_fits_is_a_counted_lookup) {
    enum { COUNT = 211 };
    make_names(COUNT);
    unsigned with_entry = list_and_use(COUNT, 1);
    ck_assert_uint_ge(with_entry, COUNT * 3 / 4);
    ck_assert_uint_lt(with_entry, COUNT); /* some go up without, to see whether they are used */
    ck_assert_uint_eq(stage_inodes_known(), COUNT + 1);
    for (unsigned number = 0; number < COUNT; number++) {
        char name[32];
        ck_assert_uint_eq(stage_lookup_count(listing.inos[number]), 1);
        snprintf(name, sizeof(name), "name-%u", number);
        ck_assert_uint_eq(stage_look_up(name).ino, listing.inos[number]);
    }
}

TEST(who_uses_few_attributes_is_given_few) {
    make_names(NAMES);
    unsigned first = list_and_use(NAMES, 0);
    ck_assert_uint_gt(first, 0);
    ck_assert_uint_le(first, NAMES / 2);
    ck_assert_uint_le(list_and_use(NAMES, 10), NAMES / 3); /* also in the next listing */
    unsigned used = list_and_use(NAMES, 1);
    ck_assert_uint_ge(used, NAMES * 3 / 4); /* until they are used */
    list_and_use(NAMES, 0);
    ck_assert_uint_lt(list_and_use(NAMES, 0), NAMES); /* and not any more */
    ck_assert_uint_eq(list_and_use(NAMES, 0), 0);
}

TEST(callers_are_told_apart) {
    struct fs_caller other = stage.self;
    make_names(NAMES);
    list_and_use(NAMES, 0);
    ck_assert_uint_eq(list_and_use(NAMES, 0), 0);
    other.pid++;
    open_root();
    listing.room = SIZE_MAX;
    ck_assert_int_eq(STAGE_AS(&other, readdirplus, FS_ROOT_INO, directory, 0, take_entry, &listing, &entry_count), 0);
    ck_assert_uint_ge(listing.with_entry, NAMES / 2);
    close_root();
    ck_assert_uint_eq(list_and_use(NAMES, 0), 0);
}

TEST(entry_that_does_not_fit_is_not_counted) {
    stage_restart(false, 0);
    make_names(97);
    open_root();
    size_t known = 0;
    for (int round = 0; round < 20; round++) {
        read_some_plus(listing.next_offset, 3); /* and one is offered in vain */
        ck_assert_uint_eq(stage_inodes_known(), 1 + listing.with_entry);
        known = listing.with_entry;
        read_some_plus(listing.next_offset, 0);
        ck_assert_uint_eq(stage_inodes_known(), 1 + known);
    }
    close_root();
}

TEST(plain_listing_counts_nothing) {
    make_names(97);
    open_root();
    while (read_some(listing.next_offset, 10) > 0)
        continue;
    ck_assert_uint_eq(listing.with_entry, 0);
    ck_assert_uint_eq(stage_inodes_known(), 1);
    close_root();
}

/* ---- Permission ---- */

/* What an ordinary user sees of the 0444 directory "readable": 0 if its entries. */
static int list_readable(void) {
    struct fs_entry entry;
    int status = STAGE(lookup, FS_ROOT_INO, "readable", &entry);
    if (status == 0)
        status = STAGE(opendir, entry.ino, &directory);
    if (status < 0)
        return status;
    memset(&listing, 0, sizeof(listing));
    listing.room = SIZE_MAX;
    status = STAGE(readdir, entry.ino, directory, 0, take_entry, &listing, &entry_count);
    STAGE(releasedir, entry.ino, directory);
    return status == 0 && listing.seen[0] != 1 ? -ENOENT : status;
}

/* In a child: nobody is root there, so neither is the pass layer. */
static int list_as_ordinary_user(void) {
    pass_destroy(stage.pass);
    const struct pass_options options = {.root_fd = open(stage.path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0))
        return -EPERM;
    if (pass_create(&options, &stage.pass) < 0)
        return -ENXIO;
    stage.layer = pass_layer(stage.pass);
    int status = list_readable();
    pass_destroy(stage.pass);
    return status;
}

TEST(directory_opens_with_read_permission_alone) {
    ck_assert_int_eq(mkdirat(stage.fd, "readable", 0755), 0);
    stage_write("readable/name-0", "");
    ck_assert_int_eq(fchmodat(stage.fd, "readable", 0444, 0), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(-list_as_ordinary_user());
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* ---- Run ---- */
