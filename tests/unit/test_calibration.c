/* Calibrations: as text, by host and clock, and as labels of peaks. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "calibration.h"
#include "testing.h"

static const char whole[] = "# osprof calibration 1\n"
                            "# host: node1\n"
                            "# clock: tsc 2500000000 Hz\n"
                            "system_call 98.5 100.0 103.2 1001 1795273304\n"
                            "quantum 3990000.0 4000000.0 4010000.0 500 1795273305\n"
                            "device_read 80000.0 90000.0 120000.0 1001 1795273306 /dev/sda1\n"
                            "device_write 25000.0 30000.0 40000.0 1001 1795273306 /dev/sda1\n"
                            "device_read 1.0 2.0 3.0 1 0 a name with blanks\n"
                            "round_trip 110000.0 112000.0 115000.0 50 1795273307 [::1]:2049\n";

static struct calibration calibration;
static struct aggstats_parse_error why;

static int parse(const char *text, size_t size_bytes) {
    CLEANUP_STREAM FILE *stream =
        size_bytes > 0 ? fmemopen((void *)(uintptr_t)text, size_bytes, "r") : fopen("/dev/null", "r");
    why = (struct aggstats_parse_error){0};
    return calibration_parse(stream, &calibration, &why);
}

static void finish(void) {
    calibration_finish(&calibration);
}

TEST_CASE(.tear_down = finish);

TEST(what_was_read_is_written) {
    char *text;
    size_t size_bytes;
    ck_assert_int_eq(parse(whole, sizeof(whole) - 1), 0);
    ck_assert_str_eq(calibration.host, "node1");
    ck_assert_uint_eq(calibration.clock.frequency_hz, 2500000000);
    ck_assert_uint_eq(calibration.count, 6);
    ck_assert_int_eq(calibration_format(&calibration, &text, &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, sizeof(whole) - 1);
    ck_assert_str_eq(text, whole);
    free(text);
}

TEST(a_time_takes_the_place_of_its_like) {
    const struct characteristic read = {
        .kind = CHARACTERISTIC_DEVICE_READ, .place = (char[]){"/dev/sda1"}, .ns = {1, 2, 3}, .sample_count = 7};
    const struct characteristic other = {
        .kind = CHARACTERISTIC_DEVICE_READ, .place = (char[]){"/dev/sdb1"}, .ns = {4, 5, 6}, .sample_count = 7};
    ck_assert_int_eq(parse(whole, sizeof(whole) - 1), 0);
    ck_assert_int_eq(calibration_put(&calibration, &read), 0);
    ck_assert_uint_eq(calibration.count, 6);
    ck_assert_double_eq(calibration.times[2].ns.median, 2);
    ck_assert_int_eq(calibration_put(&calibration, &other), 0);
    ck_assert_uint_eq(calibration.count, 7);
    ck_assert_str_eq(calibration.times[4].place, "/dev/sdb1"); /* after those of /dev/sda1 */
    ck_assert_double_eq(calibration.times[4].ns.median, 5);
}

#define HEADER "# osprof calibration 1\n# host: node1\n# clock: tsc 2500000000 Hz\n"

static const struct {
    const char *text;
    size_t line;
} broken[] = {
    {"", 1},
    {"# osprof 1\n", 1},
    {"# osprof calibration 2\n# host: node1\n# clock: tsc 2500000000 Hz\n", 1},
    {"# osprof calibration 1", 1},
    {"# osprof calibration 1\n", 2},
    {"# osprof calibration 1\n# clock: tsc 2500000000 Hz\n", 2},
    {"# osprof calibration 1\n# host: \n# clock: tsc 2500000000 Hz\n", 2},
    {"# osprof calibration 1\n# host: node1\n# clock: tsc 0 Hz\n", 3},
    {"# osprof calibration 1\n# host: node1\n# clock: tsc -1 Hz\n", 3},
    {"# osprof calibration 1\n# host: node1\n# clock: sundial 1 Hz\n", 3},
    {"# osprof calibration 1\n# host: node1\n# clock: tsc 2500000000\n", 3},
    {HEADER "\n", 4},
    {HEADER "no_such_kind 1 2 3 4 5\n", 4},
    {HEADER "quantum 1 2 3 4\n", 4},
    {HEADER "quantum 1 2 3 4 5 \n", 4},
    {HEADER "quantum 1 2 3 4 5 /dev/sda1\n", 4},
    {HEADER "device_read 1 2 3 4 5\n", 4},
    {HEADER "device_read 1 2 3 4 5 \n", 4},
    {HEADER "quantum 2 1 3 4 5\n", 4},
    {HEADER "quantum 1 3 2 4 5\n", 4},
    {HEADER "quantum 0 0 0 4 5\n", 4},
    {HEADER "quantum -1 2 3 4 5\n", 4},
    {HEADER "quantum nan nan nan 4 5\n", 4},
    {HEADER "quantum 1 2 1e999 4 5\n", 4},
    {HEADER "quantum 1 2 3 99999999999999999999 5\n", 4},
    {HEADER "quantum 1  2 3 4 5\n", 4},
    {HEADER "quantum 1 2 3 4 5", 4},
    {HEADER "quantum 1 2 3 4 5\nquantum 1 2 3 4 5\n", 5},
};

TEST(broken_text_is_refused_with_its_line, .to = ARRAY_SIZE(broken)) {
    ck_assert_int_eq(parse(broken[_i].text, strlen(broken[_i].text)), -EBADMSG);
    ck_assert_uint_eq(why.line, broken[_i].line);
    ck_assert_int_eq(strncmp(why.message, "expected ", 9), 0);
}

TEST(nul_bytes_and_endless_lines_are_refused) {
    static char endless[100000];
    static const char nul[] = HEADER "quantum 1 2 3\0 4 5\n";
    memset(endless, 'x', sizeof(endless));
    ck_assert_int_eq(parse(nul, sizeof(nul) - 1), -EBADMSG);
    ck_assert_int_eq(parse(endless, sizeof(endless)), -EBADMSG);
}

/* ---- Whose -------------------------------------------------------------------------------------- */

TEST(a_machine_is_told_by_name_and_clock_rate) {
    const struct aggstats_clock same = {AGGSTATS_CLOCK_TSC, 2501000000};
    const struct aggstats_clock faster = {AGGSTATS_CLOCK_TSC, 2503000000};
    const struct aggstats_clock in_ns = {AGGSTATS_CLOCK_MONOTONIC, 1000000000};
    ck_assert_int_eq(parse(whole, sizeof(whole) - 1), 0);
    ck_assert(calibration_is_of(&calibration, "node1", &same));
    ck_assert(calibration_is_of(&calibration, "node1", &in_ns)); /* says nothing of the machine */
    ck_assert(!calibration_is_of(&calibration, "node1", &faster));
    ck_assert(!calibration_is_of(&calibration, "node11", &same));
}

static const struct {
    const char *state_home; /* below the directory of the test; NULL: not set */
    const char *home;
    const char *host;
    const char *path; /* NULL: an error */
    int error;
} places[] = {
    {"%s/s", "%s/h", "node1", "%s/s/osprof/node1.calibration", 0},
    {NULL, "%s/h", "node1", "%s/h/.local/state/osprof/node1.calibration", 0},
    {"", "%s/h", "node1", "%s/h/.local/state/osprof/node1.calibration", 0},
    {"relative", "%s/h", "node1", "%s/h/.local/state/osprof/node1.calibration", 0},
    {"%s/s", NULL, "../node1", NULL, -EINVAL},
    {"%s/s", NULL, "", NULL, -EINVAL},
    {"%s/s", NULL, ".", NULL, -EINVAL},
    {"%s/s", NULL, "node1, node2", NULL, -EINVAL},
};

static char *in_directory(const char *format, const char *directory) {
    char *path = NULL;
    const bool is_below = format && strncmp(format, "%s", 2) == 0;
    if (format)
        ck_assert_int_ge(asprintf(&path, "%s%s", is_below ? directory : "", format + (is_below ? 2 : 0)), 0);
    return path;
}

static void set_or_unset(const char *name, const char *format, const char *directory) {
    CLEANUP_FREE char *value = in_directory(format, directory);
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

TEST(files_are_where_state_is_kept, .to = ARRAY_SIZE(places)) {
    char directory[] = "/tmp/osprof-calibration-XXXXXX";
    struct calibration_file file;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    CLEANUP_FREE char *home = in_directory("%s/h", directory);
    ck_assert_int_eq(mkdir(home, 0700), 0);
    CLEANUP_FREE char *path = in_directory(places[_i].path, directory);
    set_or_unset("XDG_STATE_HOME", places[_i].state_home, directory);
    set_or_unset("HOME", places[_i].home, directory);
    ck_assert_int_eq(calibration_file_open(places[_i].host, true, &file), places[_i].error);
    if (path)
        ck_assert_str_eq(file.path, path);
    calibration_file_close(&file);
    CLEANUP_FREE char *remove = NULL;
    ck_assert_int_ge(asprintf(&remove, "rm -r %s", directory), 0);
    ck_assert_int_eq(system(remove), 0); /* NOLINT(cert-env33-c): a fixed command */
}
