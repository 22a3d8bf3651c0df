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

static bool parse_by(const struct command *command, const char **line, struct given *ret_given,
                     struct arguments *ret_arguments, enum status *ret_status) {
    static char *argv[LINE_MAX_COUNT];
    int count = 0;
    memcpy(argv, line, sizeof(argv));
    while (argv[count])
        count++;
    *ret_given = (struct given){.count = 7};
    return options_parse(command, count, argv, ret_given, ret_arguments, ret_status);
}

static bool parse(const char **line, struct given *ret_given, struct arguments *ret_arguments,
                  enum status *ret_status) {
    return parse_by(&table, line, ret_given, ret_arguments, ret_status);
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

/* ---- Options that commands have in common ---- */

static const struct command printing = {.name = "print", .options = rows, .common = COMMON_SCREEN};
static const struct command writing = {.name = "write", .options = rows, .common = COMMON_FORCE};
static const struct command both = {.name = "both", .options = rows, .common = COMMON_SCREEN | COMMON_FORCE};

TEST(options_in_common_are_beside_those_of_the_command) {
    struct given given;
    struct arguments arguments;
    enum status status;
    ck_assert(parse_by(&both, LINE("--width=60", "-f", "--ascii", "--color", "always", "--count", "3", "--force", "a"),
                       &given, &arguments, &status));
    ck_assert_uint_eq(screen_choice()->width, 60);
    ck_assert(screen_choice()->ascii);
    ck_assert_uint_eq(screen_choice()->color, COLOR_ALWAYS);
    ck_assert(output_is_forced());
    ck_assert(given.flag);
    ck_assert_uint_eq(given.count, 3);
    ck_assert_int_eq(arguments.rest_count, 1);
    ck_assert_str_eq(options_given(&arguments, "share color"), "color");
    ck_assert_str_eq(options_given(&arguments, "force width"), "force");
}

TEST(without_options_in_common_nothing_is_chosen) {
    struct given given;
    struct arguments arguments;
    enum status status;
    ck_assert(parse_by(&both, LINE("--width=60", "--ascii", "--color=never", "--force"), &given, &arguments, &status));
    ck_assert(parse_by(&both, LINE("a"), &given, &arguments, &status)); /* the command line before is forgotten */
    ck_assert_uint_eq(screen_choice()->width, 0);
    ck_assert(!screen_choice()->ascii);
    ck_assert_uint_eq(screen_choice()->color, COLOR_AUTO);
    ck_assert(!output_is_forced());
    ck_assert_ptr_null(options_given(&arguments, "width ascii color force"));
}

static const struct {
    const struct command *command;
    const char *option;
    bool is_taken;
} common[] = {
    {&printing, "--width=40", true},    {&printing, "--width=1000", true}, {&printing, "--width=39", false},
    {&printing, "--width=", false},     {&printing, "--width", false},     {&printing, "--ascii", true},
    {&printing, "--ascii=1", false},    {&printing, "--color=auto", true}, {&printing, "--color=never", true},
    {&printing, "--color=AUTO", false}, {&printing, "--color=", false},    {&printing, "--force", false},
    {&printing, "--wid=40", false},     {&writing, "--force", true},       {&writing, "--force=1", false},
    {&writing, "--width=40", false},    {&writing, "--ascii", false},      {&writing, "--color=auto", false},
    {&writing, "--forc", false},        {&both, "--width=40", true},       {&both, "--force", true},
    {&table, "--width=40", false},      {&table, "--color=auto", false},   {&table, "--force", false},
};

TEST(options_in_common_are_for_those_that_have_them, .to = ARRAY_SIZE(common)) {
    struct given given;
    struct arguments arguments;
    enum status status = STATUS_OK;
    ck_assert_int_eq(parse_by(common[_i].command, LINE(common[_i].option), &given, &arguments, &status),
                     common[_i].is_taken);
    ck_assert_int_eq(status, common[_i].is_taken ? STATUS_OK : STATUS_TROUBLE);
}
