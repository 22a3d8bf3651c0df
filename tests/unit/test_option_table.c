/* Tables of options: what is given arrives in the member that the row names, or is refused. */
#include <string.h>

#include "base.h"
#include "command.h"
#include "option_table.h"
#include "testing.h"

struct given {
    bool flag;
    const char *shape;
    unsigned count;
    double share;
    const char *word;
    const char *file;
    struct option_list ops;
};

static const struct option_row rows[] = {
    {.name = "flag", .letter = 'f', .help = "a flag", INTO(FLAG, struct given, flag)},
    {.name = "round", .help = "one shape", INTO(VARIANT, struct given, shape)},
    {.name = "square", .help = "another", INTO(VARIANT, struct given, shape)},
    {.kind = OPTION_HEADING, .help = "Numbers:"},
    {.name = "count", .metavar = "N", .min = 1, .help = "a number {}", INTO(UNSIGNED, struct given, count)},
    {.name = "share", .metavar = "P", .max = 100, .help = "a number {}", INTO(NUMBER, struct given, share)},
    {.name = "word", .metavar = "W", WORDS("process", "uid"), .help = "{}", INTO(WORD, struct given, word)},
    {.name = "file", .letter = 'o', .once = true, .metavar = "F", .help = "a file", INTO(FILE, struct given, file)},
    ROW_OP(struct given, ops),
    ROW_ARGUMENTS(FILE, "FILE..."),
    {.kind = OPTION_END},
};

static const struct command table = {.name = "table", .help = "A table.", .options = rows};

#define LINE_MAX_COUNT 32
#define LINE(...) ((const char *[LINE_MAX_COUNT]){"table", __VA_ARGS__})

static bool parse(const char **line, struct given *ret_given, struct arguments *ret_arguments,
                  enum status *ret_status) {
    static char *argv[LINE_MAX_COUNT];
    int count = 0;
    memcpy(argv, line, sizeof(argv));
    while (argv[count])
        count++;
    *ret_given = (struct given){.count = 7};
    return options_parse(&table, count, argv, ret_given, ret_arguments, ret_status);
}

TEST(each_option_goes_into_its_member) {
    struct given given;
    struct arguments arguments;
    enum status status;
    ck_assert(parse(LINE("-f", "--round", "a", "--count=12", "--share", ".5", "--word", "UID", "-ox", "--op", "OP_READ",
                         "--op", "stat", "--", "-b"),
                    &given, &arguments, &status));
    ck_assert(given.flag);
    ck_assert_str_eq(given.shape, "round");
    ck_assert_uint_eq(given.count, 12);
    ck_assert(given.share == 0.5);
    ck_assert_str_eq(given.word, "uid");
    ck_assert_str_eq(given.file, "x");
    ck_assert_uint_eq(given.ops.count, 2);
    ck_assert_str_eq(given.ops.texts[0], "READ");
    ck_assert(option_list_wants(&given.ops, "STAT") && !option_list_wants(&given.ops, "OPEN"));
    ck_assert_int_eq(arguments.rest_count, 2);
    ck_assert_str_eq(arguments.rest[0], "a");
    ck_assert_str_eq(arguments.rest[1], "-b");
    ck_assert_ptr_null(arguments.rest[2]);
    option_list_finish(&given.ops);
}

TEST(what_is_not_given_is_as_before) {
    struct given given;
    struct arguments arguments;
    enum status status;
    ck_assert(parse(LINE("--share", "100"), &given, &arguments, &status));
    ck_assert(!given.flag && !given.shape && given.ops.count == 0);
    ck_assert_uint_eq(given.count, 7);
    ck_assert_str_eq(options_given(&arguments, "flag share count"), "share");
    ck_assert_ptr_null(options_given(&arguments, "flag count"));
}

static const char *const refused[][2] = {
    {"-x", NULL},           {"--nothing", NULL},     {"--f", NULL},         {"--flag=1", NULL},
    {"--count", NULL},      {"--count=0", NULL},     {"--count= 1", NULL},  {"--count=4294967296", NULL},
    {"--count=-1", NULL},   {"--share=100.1", NULL}, {"--share=0x1", NULL}, {"--share=nan", NULL},
    {"--word=group", NULL}, {"--round", "--square"}, {"-oa", "-ob"},
};

TEST(what_does_not_fit_is_refused, .to = ARRAY_SIZE(refused)) {
    struct given given;
    struct arguments arguments;
    enum status status = STATUS_OK;
    ck_assert(!parse(LINE(refused[_i][0], refused[_i][1]), &given, &arguments, &status));
    ck_assert_int_eq(status, STATUS_TROUBLE);
}
