/* The ctl layer: the control file and the views beside it are served here, whole, and everything else passes by
 * untouched. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "ctl.h"
#include "layer_failing.h"
#include "op_calls.h"
#include "prof.h"
#include "testing.h"

static size_t entry_count; /* of the latest listing */

#define NAME ".osprof"
#define JSON_INO (CTL_INO + 1)
#define METRICS_INO (CTL_INO + 2)
#define OWNER_UID 1009
#define NEXT_STATUS (-EXDEV) /* no op of the control file ends so: it comes from the next layer */

static const struct fs_caller owner = {.uid = OWNER_UID, .gid = 1013, .pid = 101};
static const struct fs_caller root = {.uid = 0, .gid = 0, .pid = 103};
static const struct fs_caller contained = {.uid = 0, .gid = 0, .pid = 109}; /* root without capabilities */
static const struct fs_caller other = {.uid = 1019, .gid = 1013, .pid = 107};

static struct aggstats_recorder *recorder;
static const char *const names[CTL_FILES] = {NAME, NAME ".json", NAME ".metrics"};

static struct layer_failing next; /* where the prof layer is */
static struct layer_failing bottom;
static struct ctl ctl;
static struct op_arguments arguments;
static char reported[CONTROL_REASON_SIZE];
static int dumps;
static uid_t acted_as; /* the latest command about a file */

#define CTL(member, caller, ...) ctl.layer.ops->member(&ctl.layer, caller, __VA_ARGS__)

static void remember_reason(void *context, const char *reason) {
    snprintf(context, CONTROL_REASON_SIZE, "%s", reason);
}

static int count_dump(void *context, const struct control_file *file) {
    ck_assert(!file->name || strcmp(file->name, "/a/file") == 0);
    ++*(int *)context;
    return 0;
}

static bool is_trusted(void *context, const struct fs_caller *caller) {
    (void)context;
    return caller->uid == OWNER_UID || (caller->uid == 0 && caller->pid != contained.pid);
}

static int act_as(void *context, const struct fs_caller *caller, int (*apply)(void *data), void *data) {
    (void)context;
    acted_as = caller->uid;
    return apply(data);
}

static void set_up_above(struct fs_layer *below) {
    const struct ctl_options options = {
        .name = NAME,
        .control = {.recorder = recorder, .dump = count_dump, .dump_context = &dumps},
        .owner_uid = OWNER_UID,
        .owner_gid = 1013,
        .is_trusted = is_trusted,
        .act_as = act_as,
        .report = remember_reason,
        .report_context = reported,
    };
    ctl_init(&ctl, &options, below);
}

static void set_up(void) {
    const struct aggstats_recorder_options options = {
        .op_names = fs_op_names, .op_count = FS_OP_COUNT, .resolution = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    layer_failing_init(&bottom, NEXT_STATUS);
    layer_failing_init(&next, NEXT_STATUS);
    next.layer.next = &bottom.layer;
    op_arguments_init(&arguments);
    set_up_above(&next.layer);
}

static void tear_down(void) {
    aggstats_recorder_destroy(recorder);
}

static void make_calls(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        struct aggstats_span span = aggstats_begin(recorder, FS_OP_READ, 0, 0);
        aggstats_end(recorder, &span);
    }
}

static uint64_t calls_counted(void) {
    struct aggstats_profile profile;
    uint64_t calls = 0;
    ck_assert_int_eq(aggstats_recorder_snapshot(recorder, &profile), 0);
    for (size_t i = 0; i < profile.op_count; i++)
        calls += profile.ops[i].calls;
    aggstats_profile_finish(&profile);
    return calls;
}

static fs_file open_file(fs_ino ino, const struct fs_caller *caller, int flags) {
    fs_file file;
    ck_assert_int_eq(CTL(open, caller, ino, flags, &file), 0);
    return file;
}

static fs_file open_control(const struct fs_caller *caller, int flags) {
    return open_file(CTL_INO, caller, flags);
}

static void close_control(fs_file file) {
    ck_assert_int_eq(CTL(flush, &owner, CTL_INO, file, 1), 0);
    ck_assert_int_eq(CTL(release, &owner, CTL_INO, file), 0);
}

/* The whole text of an open control file, read in pieces of that size. Owner: the caller frees it */
static char *read_in_pieces(fs_file file, size_t piece_bytes) {
    char *text = calloc(1, 65536);
    off_t offset = 0;
    size_t got_bytes;
    ck_assert_ptr_nonnull(text);
    do {
        struct fs_read_into into = {.memory = text + offset, .pipe_fd = -1};
        ck_assert_int_eq(CTL(read, &other, CTL_INO, file, &into, piece_bytes, offset, &got_bytes), 0);
        ck_assert_uint_le(got_bytes, piece_bytes);
        offset += (off_t)got_bytes;
        ck_assert_int_lt(offset, 65536 - 4096);
    } while (got_bytes > 0);
    return text;
}

static int write_command(const struct fs_caller *caller, const char *text) {
    size_t written_bytes = 0;
    fs_file file = open_control(caller, O_WRONLY);
    int status = CTL(write, caller, CTL_INO, file, text, strlen(text), 0, 0, &written_bytes);
    ck_assert_uint_eq(written_bytes, status < 0 ? 0 : strlen(text));
    close_control(file);
    return status;
}

/* ---- Its bound ---- */

/* Of the views. Long enough that some thousand are too much. */
static void make_text_long(void) {
    static char path[8192];
    memset(path, 'x', sizeof(path) - 1);
    aggstats_recorder_destroy(recorder);
    const struct aggstats_label label = {.key = (char[]){"lower"}, .value = path};
    const struct aggstats_recorder_options options = {
        .op_names = fs_op_names, .op_count = FS_OP_COUNT, .resolution = 1, .labels = &label, .label_count = 1};
    ck_assert_int_eq(aggstats_recorder_create(&options, &recorder), 0);
    set_up_above(&next.layer);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(others_together_hold_texts_up_to_a_bound) {
    static fs_file files[CTL_OTHERS_BYTES_MAX / 8191 + 1];
    static const struct fs_caller another = {.uid = 1021, .gid = 1013, .pid = 109};
    size_t count = 0;
    fs_file file;
    int status = 0;
    make_text_long();
    while (count < ARRAY_SIZE(files) && status == 0) {
        status = CTL(open, &other, CTL_INO + count % CTL_FILES, O_RDONLY, &files[count]);
        count += status == 0;
    }
    ck_assert_int_eq(status, -ENFILE);
    ck_assert_uint_gt(count, 1500);
    close_control(open_control(&another, O_RDONLY)); /* one of them leaves something to the next */
    for (unsigned i = 0; i < 101; i++) {             /* who may is not refused, nor counted */
        close_control(open_control(i % 2 ? &owner : &root, O_RDONLY));
        ck_assert_int_eq(CTL(open, &other, CTL_INO, O_RDONLY, &file), -ENFILE);
    }
    while (count > 0)
        close_control(files[--count]);
    ck_assert_uint_eq(ctl.others_bytes.taken, 0);
}

/* ---- Finding it ---- */

static void check_entry(const struct fs_entry *entry, unsigned index) {
    ck_assert_uint_eq(entry->ino, CTL_INO + index);
    ck_assert_uint_eq(entry->attr.st_ino, CTL_INO + index);
    ck_assert_uint_eq(entry->attr.st_mode, S_IFREG | (index == 0 ? 0644 : 0444));
    ck_assert_uint_eq(entry->attr.st_uid, OWNER_UID);
    ck_assert_uint_eq(entry->attr.st_gid, 1013);
    ck_assert_uint_eq(entry->attr.st_nlink, 1);
}

TEST(each_file_is_found_by_its_name_in_the_root, .to = CTL_FILES) {
    struct fs_entry entry;
    unsigned index = (unsigned)_i;
    ck_assert_int_eq(CTL(lookup, &other, FS_ROOT_INO, names[index], &entry), 0);
    check_entry(&entry, index);
    ck_assert_int_eq(CTL(lookup, &other, CTL_INO + index, ".", &entry), 0); /* by file handle */
    check_entry(&entry, index);
    ck_assert_uint_eq(next.calls, 0);
}

TEST(names_fit_where_the_longest_control_name_does) {
    char control_name[CTL_NAME_MAX + 1];
    char name[NAME_MAX + 1];
    memset(control_name, 'n', CTL_NAME_MAX);
    control_name[CTL_NAME_MAX] = '\0';
    size_t longest = 0;
    for (unsigned index = 0; index < CTL_FILES; index++) {
        ctl_name(control_name, index, name);
        ck_assert_str_eq(name + CTL_NAME_MAX, names[index] + strlen(NAME));
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    ck_assert_uint_eq(longest, NAME_MAX);
}

TEST(its_name_is_an_ordinary_one_elsewhere, .to = CTL_FILES) {
    struct fs_entry entry;
    fs_file file;
    ck_assert_int_eq(CTL(lookup, &other, 2, names[_i], &entry), NEXT_STATUS);
    ck_assert_int_eq(CTL(mkdir, &other, 2, names[_i], 0755, &entry), NEXT_STATUS);
    ck_assert_int_eq(CTL(unlink, &other, 2, names[_i]), NEXT_STATUS);
    ck_assert_int_eq(CTL(create, &other, 2, names[_i], 0644, O_EXCL, &entry, &file), NEXT_STATUS);
    ck_assert_int_eq(CTL(rename, &other, 2, names[_i], FS_ROOT_INO, "b"), NEXT_STATUS);
    ck_assert_uint_eq(next.calls, 5);
}

TEST(names_like_theirs_are_ordinary) {
    static const char *const others[] = {"", ".", NAME "x", NAME ".", NAME ".jso", NAME ".jsonx", NAME ".csv", ".json"};
    struct fs_entry entry;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        ck_assert_int_eq(CTL(lookup, &other, FS_ROOT_INO, others[i], &entry), NEXT_STATUS);
    ck_assert_uint_eq(next.calls, ARRAY_SIZE(others));
}

TEST(its_name_in_the_root_can_be_neither_made_nor_taken_away, .to = CTL_FILES) {
    struct fs_entry entry;
    fs_file file;
    ck_assert_int_eq(CTL(mknod, &root, FS_ROOT_INO, names[_i], S_IFREG | 0644, 0, &entry), -EEXIST);
    ck_assert_int_eq(CTL(mkdir, &root, FS_ROOT_INO, names[_i], 0755, &entry), -EEXIST);
    ck_assert_int_eq(CTL(symlink, &root, FS_ROOT_INO, names[_i], "target", &entry), -EEXIST);
    ck_assert_int_eq(CTL(link, &root, 3, FS_ROOT_INO, names[_i], &entry), -EEXIST);
    ck_assert_int_eq(CTL(create, &root, FS_ROOT_INO, names[_i], 0644, O_WRONLY | O_EXCL, &entry, &file), -EEXIST);
    ck_assert_int_eq(CTL(unlink, &root, FS_ROOT_INO, names[_i]), -EPERM);
    ck_assert_int_eq(CTL(rmdir, &root, FS_ROOT_INO, names[_i]), -ENOTDIR);
    ck_assert_int_eq(CTL(rename, &root, FS_ROOT_INO, names[_i], 2, "b"), -EPERM);
    ck_assert_int_eq(CTL(rename, &root, 2, "b", FS_ROOT_INO, names[_i]), -EPERM);
    ck_assert_int_eq(CTL(rename2, &root, FS_ROOT_INO, names[_i], 2, "b", 1), -EPERM);
    ck_assert_int_eq(CTL(rename2, &root, 2, "b", FS_ROOT_INO, names[_i], 1), -EPERM);
    ck_assert_uint_eq(next.calls, 0);
}

TEST(create_opens_it_as_it_is) {
    struct fs_entry entry;
    fs_file file;
    ck_assert_int_eq(CTL(create, &other, FS_ROOT_INO, NAME, 0600, O_WRONLY, &entry, &file), -EACCES);
    ck_assert_int_eq(CTL(create, &owner, FS_ROOT_INO, NAME, 0600, O_WRONLY | O_TRUNC, &entry, &file), 0);
    check_entry(&entry, 0);
    close_control(file);
    ck_assert_int_eq(CTL(create, &owner, FS_ROOT_INO, NAME ".json", 0600, O_WRONLY, &entry, &file), -EACCES);
    ck_assert_int_eq(CTL(create, &other, FS_ROOT_INO, NAME ".json", 0600, O_RDONLY, &entry, &file), 0);
    check_entry(&entry, 1);
    close_control(file);
    ck_assert_uint_eq(next.calls, 0);
}

/* ---- Listing ---- */

#define LOWER_INO 2003
#define NAMES_SIZE 128

/* A next layer whose directories hold names like ours. */
struct listing_layer {
    struct fs_layer layer;
    struct fs_ops ops;
};

static int list_names(struct fs_layer *layer, FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context,
                      size_t *ret_entry_count) {
    static const char *const lower_names[] = {"before", NAME, NAME ".json", NAME ".metrics", "behind"};
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_entry_count;
    for (size_t i = (size_t)offset; i < ARRAY_SIZE(lower_names); i++) {
        struct fs_entry entry = {.ino = LOWER_INO + i};
        struct fs_dirent dirent = {.name = lower_names[i], .next_offset = (off_t)i + 1, .entry = &entry};
        if (!fill(context, &dirent))
            break;
    }
    return 0;
}

static unsigned hidden_forgets;

static void count_forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    (void)layer;
    ck_assert(ino > LOWER_INO && ino <= LOWER_INO + CTL_FILES);
    hidden_forgets += (unsigned)count;
}

/* Appends an offered name to a text. */
static bool append_name(void *context, const struct fs_dirent *dirent) {
    char *offered = context;
    size_t used = strlen(offered);
    snprintf(offered + used, NAMES_SIZE - used, "%s ", dirent->name);
    return true;
}

static bool refuse_name(void *context, const struct fs_dirent *dirent) {
    (void)dirent;
    ++*(unsigned *)context;
    return false;
}

static struct listing_layer listing;

static void set_up_listing(void) {
    listing.ops = *next.layer.ops;
    listing.ops.readdir = list_names;
    listing.ops.readdirplus = list_names;
    listing.ops.forget = count_forget;
    listing.layer.ops = &listing.ops;
    hidden_forgets = 0;
    set_up_above(&listing.layer);
}

TEST(lower_files_of_their_names_are_not_listed) {
    char offered[NAMES_SIZE] = "";
    set_up_listing();
    ck_assert_int_eq(CTL(readdir, &other, FS_ROOT_INO, 1, 0, append_name, offered, &entry_count), 0);
    ck_assert_str_eq(offered, "before behind ");
    hidden_forgets = 0;
    offered[0] = '\0';
    ck_assert_int_eq(CTL(readdirplus, &other, FS_ROOT_INO, 1, 0, append_name, offered, &entry_count), 0);
    ck_assert_str_eq(offered, "before behind ");
    ck_assert_uint_eq(hidden_forgets, CTL_FILES); /* the lookups that were not answered */
    offered[0] = '\0';
    ck_assert_int_eq(CTL(readdir, &other, 2, 1, 0, append_name, offered, &entry_count), 0);
    ck_assert_str_eq(offered, "before " NAME " " NAME ".json " NAME ".metrics behind ");
}

TEST(listing_stops_when_an_entry_does_not_fit) {
    unsigned offered = 0;
    set_up_listing();
    ck_assert_int_eq(CTL(readdir, &other, FS_ROOT_INO, 1, 0, refuse_name, &offered, &entry_count), 0);
    ck_assert_uint_eq(offered, 1);
    ck_assert_int_eq(CTL(readdir, &other, FS_ROOT_INO, 1, 1, refuse_name, &offered, &entry_count),
                     0); /* from the hidden one on */
    ck_assert_uint_eq(offered, 2);
}

/* ---- Reading ---- */

TEST(open_takes_the_snapshot) {
    make_calls(3);
    fs_file early = open_control(&other, O_RDONLY);
    make_calls(2);
    fs_file late = open_control(&other, O_RDONLY);
    CLEANUP_FREE char *early_text = read_in_pieces(early, 4096);
    CLEANUP_FREE char *late_text = read_in_pieces(late, 4096);
    CLEANUP_FREE char *early_again = read_in_pieces(early, 4096);
    ck_assert_ptr_nonnull(strstr(early_text, "\nOP_READ 3 "));
    ck_assert_ptr_nonnull(strstr(late_text, "\nOP_READ 5 "));
    ck_assert_str_eq(early_again, early_text);
    close_control(early);
    close_control(late);
}

TEST(each_file_shows_its_view_as_of_its_open, .to = CTL_FILES) {
    static const struct {
        const char *head;
        const char *calls;
    } shown[CTL_FILES] = {
        {"# osprof 1\n", "\nOP_READ 3 "},
        {"{\n", "\"calls\": 3,"},
        {"# HELP ", "_count{op=\"READ\"} 3\n"},
    };
    make_calls(3);
    fs_file file = open_file(CTL_INO + (fs_ino)_i, &other, O_RDONLY);
    make_calls(2);
    CLEANUP_FREE char *text = read_in_pieces(file, 61);
    ck_assert_ptr_eq(strstr(text, shown[_i].head), text);
    ck_assert_ptr_nonnull(strstr(text, shown[_i].calls));
    close_control(file);
}

static const size_t pieces_bytes[] = {1, 7, 61, 4096};

TEST(pieces_of_any_size_make_the_whole, .to = (int)ARRAY_SIZE(pieces_bytes)) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    make_calls(13);
    fs_file file = open_control(&other, O_RDONLY);
    CLEANUP_FREE char *text = read_in_pieces(file, pieces_bytes[_i]);
    CLEANUP_STREAM FILE *stream = fmemopen(text, strlen(text), "r");
    ck_assert_int_eq(aggstats_profile_parse(stream, &profile, &error), 0);
    ck_assert_uint_eq(aggstats_profile_op(&profile, "READ")->calls, 13);
    aggstats_profile_finish(&profile);
    close_control(file);
}

TEST(behind_the_end_there_is_nothing) {
    char byte = 'x';
    struct fs_read_into into = {.memory = &byte, .pipe_fd = -1};
    size_t got_bytes = 1;
    fs_file file = open_control(&other, O_RDONLY);
    CLEANUP_FREE char *text = read_in_pieces(file, 4096);
    const off_t offsets[] = {(off_t)strlen(text), (off_t)strlen(text) + 1, INT64_MAX};
    for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
        ck_assert_int_eq(CTL(read, &other, CTL_INO, file, &into, 1, offsets[i], &got_bytes), 0);
        ck_assert_uint_eq(got_bytes, 0);
    }
    ck_assert_int_eq(byte, 'x');
    close_control(file);
}

TEST(looking_does_not_change_what_is_seen) {
    static struct prof prof;
    struct fs_entry entry;
    struct stat attr;
    prof_init(&prof, recorder, &next.layer);
    set_up_above(&prof.layer);
    for (unsigned index = 0; index < CTL_FILES; index++) {
        ck_assert_int_eq(CTL(lookup, &owner, FS_ROOT_INO, names[index], &entry), 0);
        ck_assert_int_eq(CTL(getattr, &owner, CTL_INO + index, FS_NO_FILE, &attr), 0);
        fs_file file = open_file(CTL_INO + index, &owner, O_RDONLY);
        free(read_in_pieces(file, 512));
        close_control(file);
        ck_assert_uint_eq(calls_counted(), 0);
    }
    ck_assert_int_eq(CTL(lookup, &owner, FS_ROOT_INO, "b", &entry), NEXT_STATUS);
    ck_assert_uint_eq(calls_counted(), 1);
}

/* ---- Writing ---- */

TEST(commands_are_carried_out) {
    make_calls(5);
    ck_assert_int_eq(write_command(&owner, "reset\n"), 0);
    ck_assert_uint_eq(calls_counted(), 0);
    ck_assert_int_eq(write_command(&root, "pause\n"), 0);
    make_calls(5);
    ck_assert_int_eq(write_command(&root, "resume"), 0);
    make_calls(2);
    ck_assert_uint_eq(calls_counted(), 2);
    ck_assert_int_eq(write_command(&owner, "dump\n"), 0);
    ck_assert_int_eq(dumps, 1);
    ck_assert_str_eq(reported, "");
}

TEST(malformed_command_does_nothing_and_the_reason_is_told) {
    make_calls(5);
    ck_assert_int_eq(write_command(&owner, "reset\nnonsense\n"), -EINVAL);
    ck_assert_uint_eq(calls_counted(), 5);
    ck_assert_ptr_nonnull(strstr(reported, "nonsense"));
}

static const int writing_flags[] = {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_APPEND};

TEST(only_the_owner_and_root_open_it_for_writing, .to = (int)ARRAY_SIZE(writing_flags)) {
    fs_file file;
    ck_assert_int_eq(CTL(open, &other, CTL_INO, writing_flags[_i], &file), -EACCES);
    close_control(open_control(&owner, writing_flags[_i]));
    close_control(open_control(&root, writing_flags[_i]));
    close_control(open_control(&other, O_RDONLY));
}

TEST(root_without_capabilities_does_not_command) {
    size_t written_bytes = 0;
    fs_file refused;
    fs_file file = open_control(&root, O_WRONLY);
    ck_assert_int_eq(CTL(open, &contained, CTL_INO, O_WRONLY, &refused), -EACCES);
    ck_assert_int_eq(CTL(write, &contained, CTL_INO, file, "reset", 5, 0, 0, &written_bytes), -EACCES); /* passed on */
    ck_assert_int_eq(CTL(access, &contained, CTL_INO, W_OK), -EACCES);
    ck_assert_int_eq(CTL(access, &root, CTL_INO, W_OK), 0);
    close_control(file);
}

/* Without a number that /proc knows nobody is seen to have our directories. */
TEST(files_are_named_by_who_sees_our_directories_only) {
    const struct fs_caller self = {.uid = OWNER_UID, .gid = 1013, .pid = getpid()};
    const struct fs_caller unseen = {.uid = OWNER_UID, .gid = 1013, .pid = 0};
    dumps = 0;
    acted_as = 0;
    ck_assert_int_eq(write_command(&unseen, "dump /a/file"), -EACCES);
    ck_assert_ptr_nonnull(strstr(reported, "osprof save"));
    ck_assert_int_eq(write_command(&unseen, "reset\nrotate /a/file"), -EACCES);
    ck_assert_int_eq(dumps, 0);
    ck_assert_int_eq(write_command(&self, "dump /a/file"), 0);
    ck_assert_int_eq(dumps, 1);
    ck_assert_uint_eq(acted_as, OWNER_UID);
    acted_as = 0;
    ck_assert_int_eq(write_command(&unseen, "dump"), 0); /* where the daemon has chosen */
    ck_assert_int_eq(dumps, 2);
    ck_assert_uint_eq(acted_as, 0);
}

/* Not even root, whom no mode stops. */
TEST(nobody_opens_a_view_for_writing_or_changes_it, .to = (int)ARRAY_SIZE(writing_flags)) {
    static const fs_ino inos[] = {JSON_INO, METRICS_INO};
    const struct stat wanted = {.st_size = 0};
    struct stat attr;
    fs_file file;
    for (size_t i = 0; i < ARRAY_SIZE(inos); i++) {
        ck_assert_int_eq(CTL(open, &root, inos[i], writing_flags[_i], &file), -EACCES);
        ck_assert_int_eq(CTL(open, &owner, inos[i], writing_flags[_i], &file), -EACCES);
        ck_assert_int_eq(CTL(access, &root, inos[i], W_OK), -EACCES);
        ck_assert_int_eq(CTL(access, &other, inos[i], R_OK), 0);
        ck_assert_int_eq(CTL(setattr, &root, inos[i], FS_NO_FILE, &wanted, FS_SET_SIZE, &attr), -EPERM);
    }
}

TEST(access_tells_what_open_would) {
    ck_assert_int_eq(CTL(access, &other, CTL_INO, R_OK), 0);
    ck_assert_int_eq(CTL(access, &other, CTL_INO, F_OK), 0);
    ck_assert_int_eq(CTL(access, &other, CTL_INO, W_OK), -EACCES);
    ck_assert_int_eq(CTL(access, &other, CTL_INO, R_OK | W_OK), -EACCES);
    ck_assert_int_eq(CTL(access, &owner, CTL_INO, R_OK | W_OK), 0);
    ck_assert_int_eq(CTL(access, &root, CTL_INO, R_OK | W_OK), 0);
    ck_assert_int_eq(CTL(access, &root, CTL_INO, X_OK), -EACCES);
}

TEST(truncation_is_accepted_and_other_changes_are_refused) {
    const struct stat wanted = {.st_mode = 0666, .st_uid = 1, .st_gid = 1, .st_size = 0};
    struct stat attr;
    ck_assert_int_eq(CTL(setattr, &owner, CTL_INO, FS_NO_FILE, &wanted, FS_SET_SIZE, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0644);
    ck_assert_int_eq(CTL(setattr, &other, CTL_INO, FS_NO_FILE, &wanted, FS_SET_SIZE, &attr), -EPERM);
    ck_assert_int_eq(CTL(setattr, &root, CTL_INO, FS_NO_FILE, &wanted, FS_SET_MODE, &attr), -EPERM);
    ck_assert_int_eq(CTL(setattr, &root, CTL_INO, FS_NO_FILE, &wanted, FS_SET_UID, &attr), -EPERM);
    ck_assert_int_eq(CTL(setattr, &root, CTL_INO, FS_NO_FILE, &wanted, FS_SET_GID | FS_SET_SIZE, &attr), -EPERM);
    ck_assert_int_eq(CTL(getattr, &root, CTL_INO, FS_NO_FILE, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0644);
    ck_assert_uint_eq(attr.st_uid, OWNER_UID);
}

/* ---- Routing ---- */

/* ENOSYS would tell the kernel never to send such a request again, for whatever file; for POLL that is right. */
TEST(no_op_on_these_files_reaches_the_next_layer, .to = FS_OP_COUNT * CTL_FILES) {
    enum fs_op op = (enum fs_op)(_i / CTL_FILES);
    fs_ino ino = CTL_INO + (fs_ino)(_i % CTL_FILES);
    fs_file file = open_file(ino, &owner, ino == CTL_INO ? O_RDWR : O_RDONLY);
    arguments.ino = ino;
    arguments.file = file;
    int status = op_call(&ctl.layer, op, &arguments);
    ck_assert_msg(next.calls == 0, "%s reached the next layer", fs_op_names[op]);
    ck_assert_int_le(status, 0);
    ck_assert(status != -ENOSYS || op == FS_OP_POLL);
    ck_assert(status == 0 || op_results_untouched(&arguments));
    if (status == 0 && op == FS_OP_OPEN)
        close_control(arguments.results.file);
    if (op != FS_OP_RELEASE)
        close_control(file);
}

TEST(file_system_statistics_are_those_of_the_bottom) {
    arguments.ino = CTL_INO;
    ck_assert_int_eq(op_call(&ctl.layer, FS_OP_STATFS, &arguments), NEXT_STATUS);
    ck_assert_uint_eq(bottom.calls, 1);
    arguments.ino = FS_ROOT_INO;
    ck_assert(layer_failing_was_called_with(&bottom, FS_OP_STATFS, &arguments));
}

TEST(nothing_is_copied_into_them, .to = CTL_FILES) {
    size_t copied_bytes;
    ck_assert_int_eq(CTL(copy_file_range, &owner, 2, 11, 0, CTL_INO + (fs_ino)_i, 12, 0, 5, 0, &copied_bytes), -EPERM);
    ck_assert_uint_eq(next.calls, 0);
}

TEST(every_other_call_passes_unchanged, .to = FS_OP_COUNT) {
    enum fs_op op = (enum fs_op)_i;
    const int statuses[] = {NEXT_STATUS, -ENOSYS, 0};
    for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
        next.status = statuses[i];
        ck_assert_int_eq(op_call(&ctl.layer, op, &arguments), statuses[i]);
        ck_assert_uint_eq(next.calls, i + 1);
        ck_assert(layer_failing_was_called_with(&next, op, &arguments));
        ck_assert(op_results_untouched(&arguments));
    }
}

TEST(forgets_of_these_files_stay_here) {
    for (unsigned index = 0; index < CTL_FILES; index++)
        ctl.layer.ops->forget(&ctl.layer, CTL_INO + index, 7);
    ck_assert_uint_eq(next.forgets, 0);
    ctl.layer.ops->forget(&ctl.layer, 4711, 7);
    ck_assert_uint_eq(next.forgets, 1);
    ck_assert_uint_eq(next.forgotten_ino, 4711);
    ck_assert_uint_eq(next.forgotten_count, 7);
}

/* ---- Run ---- */
