/* The text format, both ways: what is written is read back, and what is wrong is named with its line. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "aggstats/fields.h"
#include "base.h"
#include "testing.h"

static int parse_bytes(const char *text, size_t size_bytes, struct aggstats_profile *ret_profile,
                       struct aggstats_parse_error *ret_error) {
    FILE *stream = tmpfile();
    fwrite(text, 1, size_bytes, stream);
    rewind(stream);
    int err = aggstats_profile_parse(stream, ret_profile, ret_error);
    fclose(stream);
    return err;
}

static struct aggstats_profile parse(const char *text) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    int err = parse_bytes(text, strlen(text), &profile, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    return profile;
}

/* Compares texts, then finishes the profile. */
static void expect(struct aggstats_profile *profile, const char *text) {
    char *got;
    size_t size_bytes;
    ck_assert_int_eq(aggstats_profile_format(profile, &got, &size_bytes), 0);
    ck_assert_str_eq(got, text);
    ck_assert_uint_eq(size_bytes, strlen(text));
    free(got);
    aggstats_profile_finish(profile);
}

static void expect_same(const char *text) {
    struct aggstats_profile profile = parse(text);
    expect(&profile, text);
}

/* ---- Round trips ---- */

static const char full[] = "# osprof 1\n"
                           "# layer: fs\n"
                           "# host: node1\n"
                           "# lower: /srv/data\n"
                           "# mount: /mnt\n"
                           "# clock: tsc 2500000000 Hz\n"
                           "# resolution: 1\n"
                           "# cache: auto\n"
                           "# start: 2026-11-21T02:30:00.123456789Z\n"
                           "# elapsed: 30737418240\n";

TEST(example_of_the_format_comes_back_byte_for_byte) {
    char text[1024];
    snprintf(text, sizeof(text),
             "%sOP_LOOKUP 13640 3069650000\n 0 0 0 0 0 0 0 0 0 0 120 4711 8809\nOP_WRITE_SUPER 14 213428976\n 0 0 2\n",
             full);
    expect_same(text);
}

TEST(every_field_comes_back_byte_for_byte) {
    char text[2048];
    snprintf(text, sizeof(text),
             "%s# clamped: 3\n# incomplete: yes\n"
             "# failed: READ ENOENT 12 EACCES 3 other 18446744073709551600\n# failed: x.y-z_0 EIO 1\n"
             "# bytes: READ asked 18446744073709551615 moved 0\n"
             "# left: x.y-z_0 1\n"
             "# call: READ age 30737418240 path /srv/a\\040\\012\\040b\\040 inode 12 pid 4711 program a\\040b\n"
             "# call: WRITE age 0 pid 1\n"
             "OP_READ 18446744073709551615 18446744073709551615\n 18446744073709551615\nOP_x.y-z_0 2 7\n 1\n",
             full);
    expect_same(text);
}

static void see_fields(const struct field *fields, const void *record, const struct field *seen[64]) {
    for (const struct field *field = fields; field->key; field++)
        if (field_is_there(field, record))
            seen[field - fields] = field;
}

/* Other readers, and the schema, are held to the fields of this file (tests/python): so it has each field of the tables. */
TEST(the_example_has_every_field) {
    struct aggstats_profile profile;
    CLEANUP_STREAM FILE *stream = fopen(TEST_DATA "/show-every-field.osprof", "r");
    ck_assert_int_eq(aggstats_profile_parse(stream, &profile, NULL), 0);
    const struct field *tables[] = {call_fields, cause_fields, caller_fields, link_fields};
    const struct field *seen[4][64] = {{NULL}};
    see_fields(call_fields, &profile.in_flight[0], seen[0]);
    see_fields(call_fields, &profile.slow_calls[0], seen[0]);
    see_fields(cause_fields, &profile.causes[0], seen[1]);
    see_fields(caller_fields, &profile.callers[0], seen[2]);
    see_fields(link_fields, &profile.slow_calls[0].chain->links[0], seen[3]);
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
        for (const struct field *field = tables[i]; field->key; field++)
            ck_assert_msg(seen[i][field - tables[i]], "%s", field->key);
    aggstats_profile_finish(&profile);
}

TEST(header_only_is_a_profile) {
    expect_same("# osprof 1\n# resolution: 8\n");
}

/* The first and last nanosecond that 64 bits hold. */
TEST(start_may_be_any_time) {
    expect_same("# osprof 1\n# resolution: 1\n# start: 1677-09-21T00:12:43.145224192Z\n");
    expect_same("# osprof 1\n# resolution: 1\n# start: 2262-04-11T23:47:16.854775807Z\n");
}

TEST(fields_are_understood) {
    struct aggstats_profile profile = parse("# osprof 1\n# clock: cntvct 25000000 Hz\n# resolution: 4\n"
                                            "# start: 1970-01-01T00:00:01.5Z\n# elapsed: 77\n# clamped: 1\n"
                                            "# call: READ age 99 inode 12 pid 4711\nOP_READ 3 50\n 1 0 1\n");
    ck_assert_uint_eq(profile.clock.kind, AGGSTATS_CLOCK_CNTVCT);
    ck_assert_uint_eq(profile.clock.frequency_hz, 25000000);
    ck_assert_uint_eq(profile.resolution, 4);
    ck_assert(profile.has_start && profile.has_elapsed && !profile.incomplete);
    ck_assert_int_eq(profile.start_ns, 1500000000);
    ck_assert_uint_eq(profile.elapsed_cycles, 77);
    ck_assert_uint_eq(profile.clamped, 1);
    ck_assert_uint_eq(profile.in_flight_count, 1);
    ck_assert_uint_eq(profile.in_flight[0].latency_cycles, 99);
    ck_assert_uint_eq(profile.op_count, 1);
    ck_assert_uint_eq(profile.ops[0].calls, 3);
    ck_assert_uint_eq(profile.ops[0].total_cycles, 50);
    ck_assert_uint_eq(profile.ops[0].buckets[2], 1);
    ck_assert_uint_eq(profile.ops[0].buckets[3], 0);
    aggstats_profile_finish(&profile);
}

/* What may be written otherwise than we write it, and how we then write it. */
static const struct {
    const char *text;
    const char *written;
} lenient[] = {
    {"OP_READ 1 5\n 0 0 1\n", "# osprof 1\n# resolution: 1\nOP_READ 1 5\n 0 0 1\n"},
    {"OP_READ 1 5\n0 0 1", "# osprof 1\n# resolution: 1\nOP_READ 1 5\n 0 0 1\n"},
    {"# osprof 0\r\n# resolution: 2\r\nOP_READ 1 5 \r\n\t0  1 0 \r\n",
     "# osprof 1\n# resolution: 2\nOP_READ 1 5\n 0 1\n"},
    {"OP_READ 1 5\n-\n", "# osprof 1\n# resolution: 1\nOP_READ 1 5\n 0\n"},
    {"# bytes: READ asked 0 moved 0\n# failed: READ EIO 0\nOP_READ 1 5\n 1\n",
     "# osprof 1\n# resolution: 1\nOP_READ 1 5\n 1\n"},
    {"# bytes:  READ\tasked 9  moved 7 \n# failed: READ EIO 2 ENOENT 1 \nOP_READ 3 5\n 3\n",
     "# osprof 1\n# resolution: 1\n# failed: READ ENOENT 1 EIO 2\n# bytes: READ asked 9 moved 7\nOP_READ 3 5\n 3\n"},
    {"OP_READ 0 0\n 0\n", "# osprof 1\n# resolution: 1\nOP_READ 0 0\n 0\n"},
    {"# clock: tsc\n", "# osprof 1\n# clock: tsc\n# resolution: 1\n"},
    {"# clock: 5 Hz\n", "# osprof 1\n# clock: 5 Hz\n# resolution: 1\n"},
    {"# incomplete: no\n# clamped: 0\n", "# osprof 1\n# resolution: 1\n"},
    {"# start: 1969-12-31T23:59:59.25Z\n", "# osprof 1\n# resolution: 1\n# start: 1969-12-31T23:59:59.250000000Z\n"},
    {"# start: 2024-02-29T00:00:00Z\n", "# osprof 1\n# resolution: 1\n# start: 2024-02-29T00:00:00.000000000Z\n"},
    {"# some key:x: y \n# b:\n", "# osprof 1\n# resolution: 1\n# some key: x: y \n# b: \n"},
    {"# b: 1\n# b: 2\n# layer: fs\n", "# osprof 1\n# layer: fs\n# resolution: 1\n# b: 1\n# b: 2\n"},
    {"# a: \\x \\12 \\000 \\400\n", "# osprof 1\n# resolution: 1\n# a: \\134x \\13412 \\134000 \\134400\n"},
    {"# a: \xff\xc3\xa4\n", "# osprof 1\n# resolution: 1\n# a: \\377\xc3\xa4\n"},
};

TEST(other_spellings_are_understood, .to = (int)ARRAY_SIZE(lenient)) {
    struct aggstats_profile profile = parse(lenient[_i].text);
    expect(&profile, lenient[_i].written);
    expect_same(lenient[_i].written);
}

/* A row per interval; without borders intervals are as long as they were to be. */
TEST(sampled_profiles_come_back) {
    expect_same("# osprof 1\n# resolution: 1\n# interval: 100\n# borders: 100 250 300\n"
                "OP_READ 9 90\n 0 0 2 1\n-\n 0 3 0 2\nOP_WRITE 1 0\n-\n");
    struct aggstats_profile profile =
        parse("# interval: 100\nOP_READ 6 90\n 0 0 2 1\n-\n 0 3\nOP_WRITE 1 0\n 1\n-\n-\n-\n");
    ck_assert_uint_eq(profile.op_count, 2);
    ck_assert_uint_eq(profile.interval_count, 4);
    ck_assert_uint_eq(profile.borders[3], 400);
    expect(&profile, "# osprof 1\n# resolution: 1\n# interval: 100\n# borders: 100 200 300 400\n"
                     "OP_READ 6 90\n 0 0 2 1\n-\n 0 3\nOP_WRITE 1 0\n 1\n");
}

TEST(joint_profiles_come_back) {
    expect_same("# osprof 1\n# resolution: 1\nOP_READ 9 90\n 0 0 2 1 5\nOP_LOOKUP 1 2\n 1\n"
                "JOINT_READ_SIZE\n0: 0 0 0 1\n4096: 0 0 2 0 5\nJOINT_READ_PAST_EOF\n0: 0 0 2\n1: 0 0 0 1\n"
                "JOINT_LOOKUP_ERROR\n2: 1\n");
}

TEST(groups_come_back) {
    expect_same("# osprof 1\n# resolution: 1\nOP_READ 9 90\n 0 0 2 1 5\nOP_LOOKUP 1 2\n 1\n"
                "JOINT_LOOKUP_ERROR\n2: 1\n"
                "# process: 4711 a\\012 b \nOP_READ 5 60\n 0 0 0 1 4\nOP_LOOKUP 1 2\n 1\n"
                "# process: kernel\nOP_READ 2 20\n 0 0 2\n# process: 12\nOP_READ 1 5\n 0 0 0 0 1\n"
                "# process: other\nOP_READ 1 10\n 0 0 0 0 1\n");
    expect_same("# osprof 1\n# resolution: 1\nOP_READ 2 3\n 1 1\n# process: 1 a\nOP_READ 1 2\n 0 1\n"
                "# process: other\nOP_READ 1 1\n 1\n# uid: 7\nOP_READ 2 3\n 1 1\n");
    expect_same("# osprof 1\n# resolution: 1\nOP_READ 7 9\n 3 4\n# program: \\04012 a\\012\nOP_READ 1 2\n 0 1\n"
                "# program: \\157ther\nOP_READ 1 2\n 0 1\n# program: \nOP_READ 1 1\n 1\n"
                "# program: kernel\nOP_READ 1 1\n 1\n# program: other\nOP_READ 1 1\n 1\n");
    expect_same(
        "# osprof 1\n# resolution: 1\nOP_READ 7 9\n 3 4\n# file: 18446744073709551615 /a \\012 b \nOP_READ 1 2\n 0 1\n"
        "# file: 3\nOP_READ 1 1\n 1\n# file: other\nOP_READ 1 1\n 1\n");
    expect_same("# osprof 1\n# resolution: 2\n# interval: 10\n# borders: 10 20\nOP_READ 2 9\n 1\n 1\n"
                "# uid: 1000\nOP_READ 2 9\n 2\n");
}

/* Texts, and how they are written. NOLINTBEGIN(misc-misleading-bidirectional) */
static const struct {
    const char *text;
    const char *written;
} texts[] = {
    {"/srv/new\nline\r\\012\\\t", "/srv/new\\012line\\015\\134012\\134\\011"},
    {"/a\x1b[31m\x7f", "/a\\033[31m\\177"},
    {"a\xc2\x80"
     "b\xc2\x9b"
     "31m\xc2\x9f\xc2\xa0",
     "a\\302\\200b\\302\\23331m\\302\\237\xc2\xa0"}, /* C1; a blank */
    {"a\xe2\x80\xaa\xe2\x80\xae"
     "b",
     "a\\342\\200\\252\\342\\200\\256b"}, /* U+202A, U+202E */
    {"a\xe2\x81\xa6\xe2\x81\xa9"
     "b",
     "a\\342\\201\\246\\342\\201\\251b"}, /* U+2066, U+2069 */
    {"a\xe2\x80\x8b\xe2\x80\x8f"
     "b",
     "a\\342\\200\\213\\342\\200\\217b"}, /* U+200B, U+200F */
    {"\xd8\x9c\xef\xbb\xbf\xf3\xa0\x81\x81",
     "\\330\\234\\357\\273\\277\\363\\240\\201\\201"},           /* U+061C, U+FEFF, U+E0041 */
    {"a\xff\xfe\xe2\x82 z\xc3", "a\\377\\376\\342\\202 z\\303"}, /* not UTF-8 */
    {"  two blanks first", "\\040 two blanks first"},
    {"a\xef\xbf\xbd\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82", "a\xef\xbf\xbd\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82"},
};
/* NOLINTEND(misc-misleading-bidirectional) */

/* A program's name is one word. */
static void write_program(const char *written, FILE *stream) {
    for (; *written; written++)
        fputs(*written == ' ' ? "\\040" : (char[]){*written, '\0'}, stream);
}

/* Everything that others have named, for '@' and '&': in a label, of calls, causes, holders, functions, groups. */
TEST(any_text_is_plain_in_a_file_and_survives, .to = (int)ARRAY_SIZE(texts)) {
    static const char template[] =
        "# osprof 1\n# lower: @\n# resolution: 1\n# label a: @\n# longest: READ 9 object 1 path @\n"
        "# slow: 9\n# cause: READ calls 1 total 9 longest 9 cause &\n# stack: @\n"
        "# call: READ age 3 cause & path & pid 2 program & stack 1\n"
        "# call: READ latency 9 end_ns 1 cause & path & pid 1 program & uid 2 error 0 asked_bytes 0 moved_bytes 0 "
        "offset 0 stack 1 user_stack 1 link program & waits_for flock object & link cause &\n"
        "# slow_caller: READ calls 1 program x function &\n"
        "OP_READ 7 9\n 0 0 0 4\n# program: @\n"
        "OP_READ 1 2\n 0 1\n# file: 0 @\nOP_READ 1 2\n 0 1\n";
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    FILE *stream = open_memstream(&text, &size_bytes);
    for (const char *at = template; *at; at++)
        if (*at == '@')
            fputs(texts[_i].written, stream);
        else if (*at == '&')
            write_program(texts[_i].written, stream);
        else
            putc(*at, stream);
    fclose(stream);
    expect_same(text);
    struct aggstats_profile profile = parse(text);
    ck_assert_str_eq(aggstats_profile_label(&profile, "lower"), texts[_i].text);
    ck_assert_str_eq(profile.ops[0].longest_path, texts[_i].text);
    ck_assert_str_eq(profile.slow_calls[0].chain->links[0].object, texts[_i].text);
    ck_assert_str_eq(profile.slow_calls[0].chain->links[1].cause.words, texts[_i].text);
    ck_assert_str_eq(profile.groups[1].name, texts[_i].text);
    aggstats_profile_finish(&profile);
}

/* As files of earlier releases have them. */
TEST(raw_text_is_read_and_written_plain) {
    static const char raw[] = "/a\x1b[31m\xc2\x9b\xff";
    CLEANUP_FREE char *header = NULL;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    ck_assert_int_gt(asprintf(&header, "# lower: %s\n", raw), 0);
    struct aggstats_profile profile = parse(header);
    ck_assert_str_eq(aggstats_profile_label(&profile, "lower"), raw);
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), 0);
    ck_assert_ptr_nonnull(strstr(text, "# lower: /a\\033[31m\\302\\233\\377\n"));
    aggstats_profile_finish(&profile);
}

TEST(line_may_be_of_any_length) {
    enum { LENGTH = 1000003 };
    char *text = malloc(LENGTH + 64);
    int prefix = sprintf(text, "# osprof 1\n# resolution: 1\n# a: ");
    memset(text + prefix, 'x', LENGTH);
    memcpy(text + prefix + LENGTH, "\n", 2);
    expect_same(text);
    free(text);
}

TEST(all_buckets_may_be_used) {
    char text[8192];
    int length = sprintf(text, "# osprof 1\n# resolution: 8\nOP_READ 512 1\n");
    for (int bucket = 0; bucket < 512; bucket++)
        length += sprintf(text + length, " 1");
    memcpy(text + length, "\n", 2);
    expect_same(text);
    memcpy(text + length, " 0\n", 4); /* one too many */
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    ck_assert_int_eq(parse_bytes(text, strlen(text), &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 4);
    ck_assert_str_eq(error.message, "expected at most 512 buckets");
}

/* ---- Errors ---- */

#define EXPECTED_ROW "expected bucket counts separated by blanks, or -, found "
#define EXPECTED_KEY "expected \"# key: value\", found "
#define EXPECTED_TIME "expected a time like 2026-11-21T02:30:00.123456789Z, found "
#define EXPECTED_ERROR "expected the name of an error, such as ENOENT, or other, found "
#define EXPECTED_OP "expected OP_<NAME> or the end of the file, found "

#define SIXTY_FOUR "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *text;
    size_t line;
    const char *message;
} errors[] = {
    {"", 0, "expected \"# osprof 1\" or OP_<NAME>, found nothing"},
    {"\n", 1, EXPECTED_OP "the end of the line"},
    {"# osprof 2\n", 1, "expected osprof version 1 or older, found 2"},
    {"# osprof x\n", 1, "expected a version, found \"x\""},
    {"# osprof 1 1\n", 1, "expected the end of the line, found \"1\""},
    {"# osprof 1\n# osprof 1\n", 2, "expected a single profile, found a recording of several"},
    {"#a: b\n", 1, EXPECTED_KEY "\"#a: b\""},
    {"# ab\n", 1, EXPECTED_KEY "\"# ab\""},
    {"# : b\n", 1, EXPECTED_KEY "\"# \""},
    {"# clock: sundial 1 Hz\n", 1, "expected tsc, cntvct or monotonic, found \"sundial\""},
    {"# clock: tsc 0 Hz\n", 1, "expected a clock rate above 0, found \"0\""},
    {"# clock: tsc 5\n", 1, "expected Hz, found the end of the line"},
    {"# clock: tsc 5 Hz more\n", 1, "expected the end of the line, found \"more\""},
    {"# clock: tsc 5 Hz\n# clock: tsc 5 Hz\n", 2, "expected only one \"clock\" line, found a second one"},
    {"# resolution: 3\n", 1, "expected resolution 1, 2, 4 or 8, found \"3\""},
    {"# resolution:\n", 1, "expected a resolution, found the end of the line"},
    {"# start: 2026-11-21 02:30:00Z\n", 1, EXPECTED_TIME "\"2026-11-21 02:30:00Z\""},
    {"# start: 2026-02-30T00:00:00Z\n", 1, EXPECTED_TIME "\"2026-02-30T00:00:00Z\""},
    {"# start: 2026-11-21T02:30:60Z\n", 1, EXPECTED_TIME "\"2026-11-21T02:30:60Z\""},
    {"# start: 2026-11-21T02:30:00\n", 1, EXPECTED_TIME "\"2026-11-21T02:30:00\""},
    {"# start: 2026-11-21T02:30:00.Z\n", 1, EXPECTED_TIME "\"2026-11-21T02:30:00.Z\""},
    {"# start: 2026-11-21T02:30:00.1234567891Z\n", 1, EXPECTED_TIME "\"2026-11-21T02:30:00.1234567891Z\""},
    {"# start: 1677-09-21T00:12:43.145224191Z\n", 1, EXPECTED_TIME "\"1677-09-21T00:12:43.145224191Z\""},
    {"# start: 2262-04-11T23:47:16.854775808Z\n", 1, EXPECTED_TIME "\"2262-04-11T23:47:16.854775808Z\""},
    {"# start: 9999-11-21T02:30:00Z\n", 1, EXPECTED_TIME "\"9999-11-21T02:30:00Z\""},
    {"# elapsed: -5\n", 1, "expected a number of cycles, found \"-5\""},
    {"# elapsed: 5x\n", 1, "expected a number of cycles, found \"5x\""},
    {"# elapsed: 18446744073709551616\n", 1, "expected a number of cycles below 2^64, found \"18446744073709551616\""},
    {"# incomplete: maybe\n", 1, "expected yes or no, found \"maybe\""},
    {"# call: READ age 3 inode 1 pid 2 way /\n", 1, "expected the end of the line, found \"way /\""},
    {"# call: READ age 3 inode 1 pid 2 program a_name_of_more_than_31_characters\n", 1,
     "expected a program of 1 to 31 characters"},
    {"# call: READ age 1 inode 1\n", 1, "expected pid, found the end of the line"},
    {"# call: READ pid 2\n", 1, "expected latency, found the end of the line"},
    {"# call: READ age 1 age 1\n", 1, "expected age once, found it a second time"},
    {"# call: READ age 1 pid 2 uid 3\n", 1, "expected no uid of a call in flight"},
    {"# call: RE*D age 3 inode 1 pid 2\n", 1,
     "expected an operation's name (letters, digits, _-., at most 31), found \"RE*D\""},
    {"# process: 17 cat\n", 1, "expected \"# process:\" behind the operations only; it names a group"},
    {"OP_READ 1 1\n 1\n# uid: 1\nOP_READ 0 0\n-\n", 5, "expected all calls of OP_READ of a group in its buckets"},
    {"OP_READ 2 1\n 2\n# uid: 1\nOP_READ 2 1\n 1\n", 5, "expected all calls of OP_READ of a group in its buckets"},
    {"# failed:\n", 1, "expected an operation's name (letters, digits, _-., at most 31), found \"\""},
    {"# failed: READ\n", 1, EXPECTED_ERROR "the end of the line"},
    {"# failed: READ ENOTHING 1\n", 1, EXPECTED_ERROR "\"ENOTHING\""},
    {"# failed: READ 2 1\n", 1, EXPECTED_ERROR "\"2\""},
    {"# failed: READ EIO\n", 1, "expected a number of calls, found the end of the line"},
    {"# failed: READ EIO -1\n", 1, "expected a number of calls, found \"-1\""},
    {"# failed: READ EIO 1 EIO 1\n", 1, "expected every error once, found EIO a second time"},
    {"# failed: READ EIO 1\n# failed: READ EIO 1\n", 2, "expected one \"failed\" line of OP_READ, found a second one"},
    {"# failed: READ EIO 18446744073709551616\n", 1,
     "expected a number of calls below 2^64, found \"18446744073709551616\""},
    {"# failed: READ EIO 1\nOP_WRITE 1 1\n 1\n", 1, "expected OP_READ behind what is told of its calls"},
    {"# bytes: READ asked 1 moved 1\nOP_WRITE 1 1\n 1\n", 1, "expected OP_READ behind what is told of its calls"},
    {"# failed: READ EIO 1 ENOENT 1\nOP_READ 2 1\n 1\n", 1,
     "expected not more failed calls of OP_READ than calls that have ended"},
    {"# failed: READ EIO 18446744073709551615 ENOENT 2\nOP_READ 2 1\n 1\n", 1,
     "expected not more failed calls of OP_READ than calls that have ended"},
    {"# bytes: READ\n", 1, "expected asked, found the end of the line"},
    {"# left: READ\n", 1, "expected a number of calls, found the end of the line"},
    {"# left: READ 1 1\n", 1, "expected the end of the line, found \"1\""},
    {"# left: READ 1\n# left: READ 1\n", 2, "expected one \"left\" line of OP_READ, found a second one"},
    {"# left: READ 2\nOP_READ 2 1\n 1\n", 1, "expected not more calls of OP_READ that were left than have not ended"},
    {"# bytes: READ asked 1\n", 1, "expected moved, found the end of the line"},
    {"# bytes: READ asked 1 moved 1 1\n", 1, "expected the end of the line, found \"1\""},
    {"# bytes: READ asked 1 moved 1\n# bytes: READ asked 1 moved 1\n", 2,
     "expected one \"bytes\" line of OP_READ, found a second one"},
    {"OP_READ 1 1\n 1\n# bytes: READ asked 1 moved 1\n", 3, EXPECTED_OP "\"# bytes\""},
    {"READ 1 1\n 1\n", 1, EXPECTED_OP "\"READ 1 1\""},
    {"OP_ 1 1\n 1\n", 1, "expected an operation's name (letters, digits, _-., at most 31), found \"\""},
    {"OP_A_NAME_THAT_HAS_THIRTY_TWO_CHARS 1 1\n 1\n", 1,
     "expected an operation's name (letters, digits, _-., at most 31), found \"A_NAME_THAT_HAS_THIRTY_TWO_CHARS\""},
    {"OP_READ\n", 1, "expected the number of calls, found the end of the line"},
    {"OP_READ -1 1\n", 1, "expected the number of calls, found \"-1\""},
    {"OP_READ 1\n", 1, "expected the total latency in cycles, found the end of the line"},
    {"OP_READ 1 1 1\n", 1, "expected the end of the line, found \"1\""},
    {"OP_READ 1 1\n", 1, "expected a row of bucket counts after OP_READ, found the end of the file"},
    {"OP_READ 1 1\nOP_WRITE 1 1\n", 2, EXPECTED_ROW "\"OP_WRITE\""},
    {"OP_READ 1 1\n\n", 2, EXPECTED_ROW "the end of the line"},
    {"OP_READ 1 1\n 1 -1\n", 2, EXPECTED_ROW "\"-1\""},
    {"OP_READ 1 1\n - 1\n", 2, "expected the end of the line, found \"1\""},
    {"OP_READ 1 1\n 1 1\n", 2, "expected buckets that sum up to at most 1 calls of OP_READ"},
    {"OP_READ 18446744073709551615 1\n 18446744073709551615 1\n", 2,
     "expected buckets that sum up to at most 18446744073709551615 calls of OP_READ"},
    {"OP_READ 1 1\n 1\n 1\n", 3, EXPECTED_OP "\" 1\""},
    {"OP_READ 1 1\n 1\nOP_READ 1 1\n 1\n", 3, "expected every operation once, found OP_READ a second time"},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE 1\n", 3, "expected the end of the line, found \"1\""},
    {"JOINT_READ_SIZE\n", 1, "expected OP_READ before its joint profiles"},
    {"OP_READ 1 1\n 1\nJOINT_READ_TASTE\n", 3, "expected JOINT_<NAME>_<VALUE>, found \"JOINT_READ_TASTE\""},
    {"OP_READ 1 1\n 1\nJOINT_SIZE\n", 3, "expected JOINT_<NAME>_<VALUE>, found \"JOINT_SIZE\""},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE\n 1\n", 4, "expected \"value: counts\", found \" 1\""},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE\n3: 1\n", 4, "expected values in ascending order, the first of each row"},
    {"OP_READ 2 1\n 2\nJOINT_READ_SIZE\n4: 1\n2: 1\n", 5, "expected values in ascending order, the first of each row"},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE\n4: 2\n", 4, "expected buckets that sum up to at most 1 calls of OP_READ"},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE\nJOINT_READ_SIZE\n", 4,
     "expected every joint profile once, found one a second time"},
    {"OP_READ 1 1\n 1\nJOINT_READ_SIZE\n0: 1\nOP_WRITE 1 1\n 1\n", 5, EXPECTED_OP "\"OP_WRITE 1 1\""},
    {"OP_READ 1 1\n 1\n# host: node1\n", 3, EXPECTED_OP "\"# host\""},
    {"OP_READ 1 1\n 1\n# process: cat\n", 3, "expected a number, kernel or other, found \"cat\""},
    {"OP_READ 1 1\n 1\n# file: /name\n", 3, "expected cycles, kernel or other, found \"/name\""},
    {"OP_READ 1 1\n 1\n# process:\n", 3, "expected a number, kernel or other, found the end of the line"},
    {"OP_READ 1 1\n 1\n# uid: other\n# process: other\n# uid: other\n", 5,
     "expected \"other\" once, found it a second time"},
    {"OP_READ 1 1\n 1\n# uid: other\n# uid: other\n", 4, "expected \"other\" once, found it a second time"},
    {"OP_READ 1 1\n 1\n# uid: 1\nOP_WRITE 1 1\n 1\n", 5, "expected OP_WRITE before its groups"},
    {"OP_READ 1 1\n 1\n# uid: 1\nOP_READ 1 1\n 1\n# uid: 2\nOP_READ 1 1\n 1\n", 8,
     "expected groups that sum up to at most 1 calls of OP_READ"},
    {"OP_READ 2 1\n 2\n# uid: 1\nOP_READ 1 1\n 1\nOP_READ 1 1\n 1\n", 6,
     "expected every operation once, found OP_READ a second time"},
    {"OP_READ 1 1\n 1\n# uid: 1\nJOINT_READ_SIZE\n", 4,
     "expected OP_<NAME> or another group, found \"JOINT_READ_SIZE\""},
    {"OP_READ 1 1\n 1\n# process: 1 " SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR SIXTY_FOUR "\n", 3,
     "expected a name of at most 255 bytes"},
    {"# layer: fs\n# layer: user\n", 2, "expected only one \"layer\" line, found a second one"},
    {"# interval: 0\n", 1, "expected an interval above 0, found \"0\""},
    {"# interval: 5\n# borders: 5 4\n", 2, "expected borders in ascending order, found \"4\""},
    {"# interval: 5\n# borders: 5 x\n", 2, "expected a number of cycles, found \"x\""},
    {"# borders: 5\nOP_READ 1 1\n 1\n", 3, "expected a line \"interval\" where there is one of \"borders\""},
    {"# interval: 5\n# borders: 5\nOP_READ 1 1\n 1\n-\n", 5, "expected at most 1 intervals"},
    {"# interval: 5\nOP_READ 1 1\n 1\n 1\n", 4, "expected buckets that sum up to at most 1 calls of OP_READ"},
    {"# interval: 5\nOP_READ 1 1\nOP_WRITE 1 1\n", 3, EXPECTED_ROW "\"OP_WRITE\""},
    {"# interval: 18446744073709551615\nOP_READ 1 1\n 1\n-\n", 4, "expected intervals that end before cycle 2^64"},
    {"\x1b[31mred\n", 1, EXPECTED_OP "\"?[31mred\""},
};

TEST(error_names_the_line_and_what_was_expected, .to = (int)ARRAY_SIZE(errors)) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    memset(&profile, 0x5a, sizeof(profile));
    struct aggstats_profile untouched = profile;
    ck_assert_int_eq(parse_bytes(errors[_i].text, strlen(errors[_i].text), &profile, &error), -EBADMSG);
    ck_assert_str_eq(error.message, errors[_i].message);
    ck_assert_uint_eq(error.line, errors[_i].line);
    ck_assert_mem_eq(&profile, &untouched, sizeof(profile));
    ck_assert_int_eq(parse_bytes(errors[_i].text, strlen(errors[_i].text), &profile, NULL), -EBADMSG);
}

/* ---- Recordings ---- */

static const char user_profile[] = "# osprof 1\n# layer: user\n# host: node1\n# clock: tsc 1000 Hz\n# resolution: 1\n"
                                   "# command: cat a\n# failed: READ EIO 1\nOP_READ 12 3400\n 0 0 12\nOP_OPEN 1 9\n"
                                   " 0 0 0 1\nJOINT_OPEN_ERROR\n0: 0 0 0 1\n# uid: 1000 a\nOP_OPEN 1 9\n 0 0 0 1\n";
static const char fs_profile[] = "# osprof 1\n# layer: fs\n# host: node1\n# clock: tsc 1000 Hz\n# resolution: 1\n"
                                 "OP_READ 3 99\n 0 3\n";

/* How many profiles there are; -EBADMSG: one is broken. */
static int count_profiles(FILE *stream, struct aggstats_parse_error *ret_error) {
    struct aggstats_text_position position = {0};
    struct aggstats_profile profile;
    int more;
    int count = 0;
    for (; (more = aggstats_profile_parse_next(stream, &position, &profile, ret_error)) > 0; count++)
        aggstats_profile_finish(&profile);
    fclose(stream);
    return more < 0 ? more : count;
}

static int count_profiles_of(const char *text, struct aggstats_parse_error *ret_error) {
    return count_profiles(fmemopen((char *)(uintptr_t)text, strlen(text), "r"), ret_error);
}

TEST(recording_is_read_profile_by_profile) {
    char text[2048];
    snprintf(text, sizeof(text), "%s%s%s", user_profile, fs_profile, "# osprof 1\n# layer: block\n");
    FILE *stream = fmemopen(text, strlen(text), "r");
    struct aggstats_text_position position = {0};
    struct aggstats_profile profile;
    ck_assert_int_eq(aggstats_profile_parse_next(stream, &position, &profile, NULL), 1);
    expect(&profile, user_profile);
    ck_assert_int_eq(aggstats_profile_parse_next(stream, &position, &profile, NULL), 1);
    expect(&profile, fs_profile);
    ck_assert_int_eq(aggstats_profile_parse_next(stream, &position, &profile, NULL), 1);
    ck_assert_str_eq(aggstats_profile_label(&profile, "layer"), "block");
    ck_assert_uint_eq(profile.op_count, 0);
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(aggstats_profile_parse_next(stream, &position, &profile, NULL), 0);
    ck_assert_int_eq(aggstats_profile_parse_next(stream, &position, &profile, NULL), 0);
    ck_assert_uint_eq(position.line_count, 25);
    fclose(stream);
}

TEST(single_profile_is_a_recording) {
    ck_assert_int_eq(count_profiles_of(full, NULL), 1);
    ck_assert_int_eq(count_profiles_of("OP_READ 1 1\n 1\n", NULL), 1);
    ck_assert_int_eq(count_profiles_of("# osprof 1\n", NULL), 1);
}

TEST(label_may_be_called_like_the_version) {
    expect_same("# osprof 1\n# resolution: 1\n# osprof 1: x\n");
}

static const struct {
    const char *text;
    size_t line;
    const char *message;
} broken_recordings[] = {
    {"\n", 1, EXPECTED_OP "the end of the line"},
    {"# osprof 1\nOP_READ 1 1\n# osprof 1\nOP_READ 1 1\n 1\n", 3, EXPECTED_ROW "\"#\""},
    {"# osprof 1\nOP_READ 1 1\n 1\n# osprof 1\nOP_READ 1 1\n 2\n", 6,
     "expected buckets that sum up to at most 1 calls of OP_READ"},
    {"OP_READ 1 1\n 1\n# osprof 2\nOP_READ 1 1\n 1\n", 3, "expected osprof version 1 or older, found 2"},
    {"OP_READ 1 1\n 1\n# osprof one\nOP_READ 1 1\n 1\n", 3, "expected a version, found \"one\""},
    {"# failed: READ EIO 1\n# osprof 1\nOP_READ 1 1\n 1\n", 1, "expected OP_READ behind what is told of its calls"},
};

TEST(error_in_a_recording_names_the_line_in_it, .to = (int)ARRAY_SIZE(broken_recordings)) {
    struct aggstats_parse_error error;
    ck_assert_int_eq(count_profiles_of(broken_recordings[_i].text, &error), -EBADMSG);
    ck_assert_str_eq(error.message, broken_recordings[_i].message);
    ck_assert_uint_eq(error.line, broken_recordings[_i].line);
}

static size_t lines_in(const char *text, size_t size_bytes) {
    size_t count = 0;
    for (size_t i = 0; i < size_bytes; i++)
        count += text[i] == '\n';
    return count;
}

/* A truncated file to which another profile was appended. If the cut is at the end of a line, the missing lines cannot
 * be noticed. */
TEST(recording_that_was_cut_within_a_line_is_refused) {
    for (size_t cut = 1; cut < strlen(user_profile); cut++) {
        char text[2048];
        struct aggstats_parse_error error;
        size_t line = lines_in(user_profile, cut) + 1;
        if (user_profile[cut - 1] == '\n')
            continue;
        snprintf(text, sizeof(text), "%.*s%s", (int)cut, user_profile, fs_profile);
        ck_assert_msg(count_profiles_of(text, &error) == -EBADMSG, "cut at %zu", cut);
        ck_assert_uint_ge(error.line, line);
        ck_assert_uint_le(error.line, line + 4);
    }
}

TEST(recording_is_no_single_profile) {
    char text[2048];
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    snprintf(text, sizeof(text), "%s%s", user_profile, fs_profile);
    ck_assert_int_eq(parse_bytes(text, strlen(text), &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 17);
    ck_assert_str_eq(error.message, "expected a single profile, found a recording of several");
}

TEST(nul_byte_is_an_error) {
    static const char text[] = "OP_READ 1 1\n 1\0 2\n";
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    ck_assert_int_eq(parse_bytes(text, sizeof(text) - 1, &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 2);
    ck_assert_str_eq(error.message, "expected text, found a NUL byte");
}

TEST(hostile_number_of_operations_is_refused) {
    char *text = malloc(4098 * 32);
    int length = 0;
    for (int op = 0; op < 4097; op++)
        length += sprintf(text + length, "OP_%d 1 1\n-\n", op);
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    ck_assert_int_eq(parse_bytes(text, (size_t)length, &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 4096 * 2 + 1);
    free(text);
}

TEST(hostile_number_of_calls_in_flight_is_refused) {
    static const char line[] = "# call: READ age 1 inode 1 pid 1\n";
    const size_t length = strlen(line);
    char *text = malloc(65537 * length + 1);
    char *end = text;
    for (size_t i = 0; i < 65537; i++)
        end = stpcpy(end, line);
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    ck_assert_int_eq(parse_bytes(text, 65537 * length, &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 65537);
    free(text);
}

TEST(hostile_number_of_lines_of_ops_is_refused) {
    char *text = malloc(4098 * 32);
    int length = 0;
    for (int op = 0; op < 4097; op++)
        length += sprintf(text + length, "# failed: %d EIO 1\n", op);
    struct aggstats_profile profile;
    struct aggstats_parse_error error;
    ck_assert_int_eq(parse_bytes(text, (size_t)length, &profile, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, 4097);
    free(text);
}

TEST(broken_samples_are_refused) {
    DIR *samples = opendir(TEST_DATA);
    ck_assert_ptr_nonnull(samples);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(samples));) {
        const char *ending = strrchr(entry->d_name, '.');
        if (strncmp(entry->d_name, "should-fail-", 12) != 0 || !ending || strcmp(ending, ".osprof") != 0)
            continue;
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", TEST_DATA, entry->d_name);
        FILE *stream = fopen(path, "re");
        struct aggstats_profile profile;
        struct aggstats_parse_error error = {0};
        ck_assert_msg(aggstats_profile_parse(stream, &profile, &error) == -EBADMSG, "%s", path);
        ck_assert_uint_gt(strlen(error.message), 0);
        fclose(stream);
        count++;
    }
    closedir(samples);
    ck_assert_int_gt(count, 0);
}

/* ---- Writing ---- */

TEST(write_error_is_reported) {
    struct aggstats_profile profile = parse(full);
    FILE *stream = fopen("/dev/full", "we");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(aggstats_profile_write(&profile, stream), -ENOSPC);
    fclose(stream);
    aggstats_profile_finish(&profile);
}

TEST(read_error_is_reported) {
    struct aggstats_profile profile;
    FILE *stream = fopen("/", "re");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(aggstats_profile_parse(stream, &profile, NULL), -EISDIR);
    fclose(stream);
}

TEST(what_could_not_be_read_back_is_not_written) {
    struct aggstats_profile profile = parse("# lower: x\nOP_READ 1 1\n 1\n");
    char *text;
    size_t size_bytes;
    profile.ops[0].name[1] = ' ';
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), -EINVAL);
    profile.ops[0].name[1] = 'E';
    profile.labels[0].key[1] = ':';
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), -EINVAL);
    profile.labels[0].key[1] = 'o';
    profile.ops[0].failures[0] = 2;
    ck_assert_int_eq(aggstats_profile_format(&profile, &text, &size_bytes), -EINVAL);
    aggstats_profile_finish(&profile);
}
