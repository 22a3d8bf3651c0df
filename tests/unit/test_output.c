/* Results in files: what is there already is kept as FILE.old if it is a result of osprof, and is else refused. */
#include "output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base.h"
#include "command.h"
#include "testing.h"

#define OLD "# osprof 1\nold\n"
#define NEW "# osprof 1\nnew\n"
#define MARK_OF_SVG "<!-- made by osprof plot -->\n"
#define PLACES 8192 /* bytes at either end of a file, in which marks are looked for */
#define SIZE_MAX_BYTES (4 * PLACES)

static char directory[] = "/tmp/osprof-output-XXXXXX";
static int dir_fd;

static void set_up(void) {
    memcpy(strrchr(directory, '-'), "-XXXXXX", sizeof("-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(directory));
    dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir_fd, 0);
}

static void tear_down(void) {
    CLEANUP_FREE char *remove = NULL;
    close_fd(&dir_fd);
    ck_assert_int_ge(asprintf(&remove, "rm -r %s", directory), 0);
    ck_assert_int_eq(system(remove), 0); /* NOLINT(cert-env33-c): a fixed command */
}

/* ---- Files of a test ---------------------------------------------------------------------------- */

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void put_bytes(const char *name, const void *bytes, size_t size_bytes) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size_bytes), (ssize_t)size_bytes);
}

static void put(const char *name, const char *text) {
    put_bytes(name, text, strlen(text));
}

static bool exists(const char *name) {
    return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void assert_holds_bytes(const char *name, const void *bytes, size_t size_bytes) {
    char found[SIZE_MAX_BYTES + 1];
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "there is no %s", name);
    ck_assert_int_eq(read(fd, found, sizeof(found)), (ssize_t)size_bytes);
    ck_assert_mem_eq(found, bytes, size_bytes);
}

static void assert_holds(const char *name, const char *text) {
    assert_holds_bytes(name, text, strlen(text));
}

/* Temporary ones, too. */
static unsigned count_files(void) {
    unsigned count = 0;
    DIR *stream = opendir(directory);
    ck_assert_ptr_nonnull(stream);
    for (const struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

static mode_t mode_of(const char *name) {
    struct stat attr;
    ck_assert_int_eq(fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW), 0);
    return attr.st_mode & 07777;
}

static int write_new(const char *name) {
    return output_write(path_of(name), 0644, NEW, strlen(NEW));
}

/* All that writes a file says the same, and leaves what is there as it is. */
static void assert_refused(const char *name, int error) {
    const unsigned count = count_files();
    ck_assert_int_eq(output_check(path_of(name)), error);
    ck_assert_int_eq(output_check_at(dir_fd, name), error);
    ck_assert_int_eq(write_new(name), error);
    ck_assert_int_eq(output_write_at(dir_fd, name, 0644, NEW, strlen(NEW)), error);
    ck_assert_int_eq(output_make_free(dir_fd, name), error);
    ck_assert_uint_eq(count_files(), count);
}

/* As --force on a command line does. */
static void force(void) {
    static const struct option_row no_rows[] = {{.kind = OPTION_END}};
    static const struct command command = {.name = "test", .options = no_rows, .common = COMMON_FORCE};
    static char name[] = "test";
    static char option[] = "--force";
    char *line[] = {name, option, NULL};
    struct arguments arguments;
    enum status status;
    ck_assert(options_parse(&command, 2, line, NULL, &arguments, &status));
    ck_assert(output_is_forced());
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

/* ---- What is a result --------------------------------------------------------------------------- */

#define TEXT(...) .bytes = (__VA_ARGS__), .size_bytes = sizeof(__VA_ARGS__) - 1

static const struct {
    const char *what;
    const char *bytes;
    size_t size_bytes;
} results[] = {
    {"a profile", TEXT("# osprof 1\n# resolution: 1\nOP_READ 1 1\n 1\n")},
    {"a recording", TEXT("# osprof recording 1\n")},
    {"a live file", TEXT("OSPROFLV\0\0\0\1")},
    {"an events file", TEXT("OSPEVENT\4\3\2\1")},
    {"a report", TEXT("<!doctype html>\n<meta name=\"generator\" content=\"osprof 1.2.3\">\n<title>")},
    {"an SVG picture", TEXT("<?xml version=\"1.0\"?>\n<svg></svg>\n" MARK_OF_SVG)},
    {"a PNG picture", TEXT("\x89PNG\r\n\x1a\n\0\0\0\x1ctEXtSoftware\0made by osprof plot\x4c\x04\x27\x01")},
    {"a PDF picture", TEXT("%PDF-1.5\n%%EOF\n% made by osprof plot\n")},
    {"calls as CSV", TEXT("start_ns,latency_ns,start_cycles,latency_cycles,op\n")},
    {"calls for Chrome", TEXT("{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"osprof\"}]}")},
    {"calls for Perfetto", TEXT("\n\x10\x5a\x0e\xb2\x01\x06osprof")},
};

TEST(a_result_is_kept_as_old, .to = ARRAY_SIZE(results)) {
    put_bytes("file", results[_i].bytes, results[_i].size_bytes);
    ck_assert_msg(output_check(path_of("file")) == 0, "%s is refused", results[_i].what);
    ck_assert_int_eq(output_check_at(dir_fd, "file"), 0);
    assert_holds_bytes("file", results[_i].bytes, results[_i].size_bytes);
    ck_assert(!exists("file.old"));
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    assert_holds_bytes("file.old", results[_i].bytes, results[_i].size_bytes);
    ck_assert_uint_eq(count_files(), 2);
}

static const struct {
    const char *what;
    const char *bytes;
    size_t size_bytes;
} others[] = {
    {"a text", TEXT("precious\n")},
    {"a byte", TEXT("x")},
    {"a NUL byte", TEXT("\0")},
    {"a comment", TEXT("# osprofile\n")},
    {"a text about profiles", TEXT("The file begins with # osprof 1\n")},
    {"another's page", TEXT("<!doctype html>\n<meta name=\"generator\" content=\"pandoc\">\n")},
    {"another's picture", TEXT("<?xml version=\"1.0\"?>\n<svg></svg>\n")},
    {"a picture that quotes the mark", TEXT("<?xml version=\"1.0\"?>\n<text>made by osprof plot</text>\n")},
    {"another's PNG picture", TEXT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")},
    {"another's PDF file", TEXT("%PDF-1.5\n%%EOF\n")},
    {"the mark without a picture", TEXT(MARK_OF_SVG)},
    {"another's table", TEXT("start_ns,end_ns\n")},
    {"another's trace", TEXT("{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"chrome\"}]}")},
    {"another's trace for Perfetto", TEXT("\n\x10\x5a\x0e\xb2\x01\x06chrome")},
};

TEST(another_file_is_refused, .to = ARRAY_SIZE(others)) {
    put_bytes("file", others[_i].bytes, others[_i].size_bytes);
    ck_assert_msg(output_check(path_of("file")) == -EEXIST, "%s is not refused", others[_i].what);
    assert_refused("file", -EEXIST);
    assert_holds_bytes("file", others[_i].bytes, others[_i].size_bytes);
    ck_assert_str_eq(output_error_text(-EEXIST), "it is there, and is no result of osprof; --force replaces it");
}

/* A picture of any size, up to one that is not read whole. */
static void put_picture(size_t size_bytes, size_t mark_place) {
    static const char begin[] = "<?xml";
    static const char mark[] = MARK_OF_SVG;
    static char picture[SIZE_MAX_BYTES];
    memset(picture, ' ', sizeof(picture));
    memcpy(picture, begin, sizeof(begin) - 1);
    memcpy(picture + mark_place, mark, sizeof(mark) - 1);
    put_bytes("picture", picture, size_bytes);
}

/* Where the mark may be partly in one of the places that are read. */
static bool is_near_a_place(size_t size_bytes) {
    return (size_bytes + 200) % PLACES < 400;
}

TEST(the_mark_at_the_end_is_found_in_pictures_of_any_size) {
    for (size_t size = 40; size <= SIZE_MAX_BYTES; size += is_near_a_place(size) ? 1 : 101) {
        put_picture(size, size - strlen(MARK_OF_SVG));
        ck_assert_msg(output_check(path_of("picture")) == 0, "not of %zu bytes", size);
    }
}

TEST(the_mark_inside_of_a_long_picture_is_not_one) {
    put_picture(SIZE_MAX_BYTES, PLACES - strlen(MARK_OF_SVG));
    ck_assert_int_eq(output_check(path_of("picture")), 0);
    put_picture(SIZE_MAX_BYTES, PLACES);
    ck_assert_int_eq(output_check(path_of("picture")), -EEXIST);
    put_picture(SIZE_MAX_BYTES, SIZE_MAX_BYTES - PLACES - strlen(MARK_OF_SVG));
    ck_assert_int_eq(output_check(path_of("picture")), -EEXIST);
    put_picture(SIZE_MAX_BYTES, SIZE_MAX_BYTES - PLACES);
    ck_assert_int_eq(output_check(path_of("picture")), 0);
}

TEST(a_file_that_cannot_be_read_is_no_result) {
    if (geteuid() == 0)
        return; /* reads all */
    put("file", OLD);
    ck_assert_int_eq(fchmodat(dir_fd, "file", 0200, 0), 0);
    assert_refused("file", -EEXIST);
}

/* ---- What happens to it ------------------------------------------------------------------------- */

TEST(a_new_file_is_written) {
    ck_assert_int_eq(output_check(path_of("file")), 0);
    ck_assert_uint_eq(count_files(), 0);
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    ck_assert_uint_eq(count_files(), 1);
    ck_assert_uint_eq(mode_of("file"), 0644);
    ck_assert_int_eq(output_write(path_of("private"), 0600, NEW, strlen(NEW)), 0);
    ck_assert_uint_eq(mode_of("private"), 0600);
}

TEST(an_empty_file_is_replaced_and_not_kept) {
    put("file", "");
    ck_assert_int_eq(output_check(path_of("file")), 0);
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    ck_assert_uint_eq(count_files(), 1);
    put("other", "");
    ck_assert_int_eq(output_make_free(dir_fd, "other"), 0);
    ck_assert_uint_eq(count_files(), 1);
}

TEST(an_older_result_gives_way) {
    put("file", OLD);
    put("file.old", "# osprof 1\nolder\n");
    ck_assert_int_eq(output_check(path_of("file")), 0);
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    assert_holds("file.old", OLD);
    ck_assert_uint_eq(count_files(), 2);
}

TEST(what_is_old_keeps_its_mode_and_owner) {
    put("file", OLD);
    ck_assert_int_eq(fchmodat(dir_fd, "file", 0640, 0), 0);
    ck_assert_int_eq(write_new("file"), 0);
    ck_assert_uint_eq(mode_of("file.old"), 0640);
    ck_assert_uint_eq(mode_of("file"), 0644);
}

static void make_old_text(void) {
    put("file.old", "precious\n");
}

static void make_old_link(void) {
    put("target", OLD);
    ck_assert_int_eq(symlinkat("target", dir_fd, "file.old"), 0);
}

static void make_old_directory(void) {
    ck_assert_int_eq(mkdirat(dir_fd, "file.old", 0700), 0);
}

static void (*const make_old[])(void) = {make_old_text, make_old_link, make_old_directory};

TEST(a_result_is_not_kept_in_place_of_another_file, .to = ARRAY_SIZE(make_old)) {
    put("file", OLD);
    make_old[_i]();
    const int error = output_check(path_of("file"));
    ck_assert_int_lt(error, 0);
    ck_assert_str_eq(output_error_text(error), "it would be kept as .old, and that is there, and no result of osprof");
    assert_refused("file", error);
    assert_holds("file", OLD);
    if (exists("target"))
        assert_holds("target", OLD);
    /* What is not kept needs no place. */
    put("file", "");
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
}

TEST(an_empty_old_one_is_replaced) {
    put("file", OLD);
    put("file.old", "");
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    assert_holds("file.old", OLD);
}

TEST(a_name_is_made_free) {
    ck_assert_int_eq(output_make_free(dir_fd, "file"), 0);
    put("file", OLD);
    ck_assert_int_eq(output_make_free(dir_fd, "file"), 0);
    ck_assert(!exists("file"));
    assert_holds("file.old", OLD);
    put("file", NEW);
    ck_assert_int_eq(output_make_free(dir_fd, "file"), 0);
    assert_holds("file.old", NEW);
    ck_assert_uint_eq(count_files(), 1);
}

/* ---- --force ------------------------------------------------------------------------------------ */

TEST(by_force_another_file_is_replaced_and_not_kept) {
    force();
    put("file", "precious\n");
    ck_assert_int_eq(output_check(path_of("file")), 0);
    assert_holds("file", "precious\n");
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    ck_assert_uint_eq(count_files(), 1);
    put("other", "precious\n");
    ck_assert_int_eq(output_make_free(dir_fd, "other"), 0);
    ck_assert_uint_eq(count_files(), 1);
}

TEST(by_force_too_a_result_is_kept) {
    force();
    put("file", OLD);
    put("file.old", "precious\n");
    ck_assert_int_eq(write_new("file"), 0);
    assert_holds("file", NEW);
    assert_holds("file.old", OLD);
    ck_assert_uint_eq(count_files(), 2);
}

/* ---- What is no file ---------------------------------------------------------------------------- */

static void make_link(void) {
    put("target", OLD);
    ck_assert_int_eq(symlinkat("target", dir_fd, "file"), 0);
}

static void make_dangling_link(void) {
    ck_assert_int_eq(symlinkat("target", dir_fd, "file"), 0);
}

static void make_directory(void) {
    ck_assert_int_eq(mkdirat(dir_fd, "file", 0700), 0);
}

static void make_fifo(void) {
    ck_assert_int_eq(mkfifoat(dir_fd, "file", 0600), 0);
}

static void make_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/file", directory);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
}

static const struct {
    void (*make)(void);
    int error;
    const char *text;
} no_files[] = {
    {make_link, -ELOOP, "it is a symbolic link, which is not followed; name the file"},
    {make_dangling_link, -ELOOP, "it is a symbolic link, which is not followed; name the file"},
    {make_directory, -EISDIR, "Is a directory"},
    {make_fifo, -ENOTSUP, "it is no regular file, and only such a file is replaced"},
    {make_socket, -ENOTSUP, "it is no regular file, and only such a file is replaced"},
};

TEST(what_is_no_file_is_refused_by_force_too, .to = 2 * ARRAY_SIZE(no_files)) {
    const int row = _i / 2;
    if (_i % 2)
        force();
    no_files[row].make();
    assert_refused("file", no_files[row].error);
    ck_assert_str_eq(output_error_text(no_files[row].error), no_files[row].text);
    ck_assert(no_files[row].make != make_dangling_link || !exists("target"));
    if (no_files[row].make == make_link)
        assert_holds("target", OLD);
}

TEST(a_link_to_the_directory_is_followed) {
    ck_assert_int_eq(mkdirat(dir_fd, "directory", 0700), 0);
    ck_assert_int_eq(symlinkat("directory", dir_fd, "link"), 0);
    put("directory/file", OLD);
    ck_assert_int_eq(write_new("link/file"), 0);
    assert_holds("directory/file", NEW);
    assert_holds("directory/file.old", OLD);
}

static const struct {
    const char *name;
    int error;
} wrong_names[] = {{"none/file", -ENOENT}, {"file/file", -ENOTDIR}, {"", -EISDIR}, {".", -EISDIR}, {"none/", -EISDIR}};

TEST(a_name_that_cannot_be_one_is_refused, .to = ARRAY_SIZE(wrong_names)) {
    put("file", OLD);
    ck_assert_int_eq(output_check(path_of(wrong_names[_i].name)), wrong_names[_i].error);
    ck_assert_int_eq(write_new(wrong_names[_i].name), wrong_names[_i].error);
    ck_assert_str_eq(output_error_text(wrong_names[_i].error), strerror(-wrong_names[_i].error));
    assert_holds("file", OLD);
    ck_assert_uint_eq(count_files(), 1);
}

TEST(standard_output_is_no_file) {
    ck_assert(output_is_stdout(NULL));
    ck_assert(output_is_stdout("-"));
    ck_assert(!output_is_stdout("./-"));
    ck_assert(!output_is_stdout(""));
    ck_assert_int_eq(output_check(NULL), 0);
    ck_assert_int_eq(output_check("-"), 0);
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static int write_words(const void *context, FILE *stream) {
    fputs(context, stream);
    return strcmp(context, "fail") == 0 ? -ENODATA : 0;
}

TEST(a_result_is_made_whole_in_memory) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    ck_assert_int_eq(output_format(write_words, "words", &text, &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, 5);
    ck_assert_str_eq(text, "words");
    CLEANUP_FREE char *none = NULL;
    ck_assert_int_eq(output_format(write_words, "fail", &none, &size_bytes), -ENODATA);
    ck_assert_ptr_null(none);
}
