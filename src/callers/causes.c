/* Patterns of kernel functions, tried in order. */
#include "causes.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define PATTERNS_MAX 8 /* of one cause */
#define TYPES_SIZE 128 /* of file systems, with their NUL */

struct cause_line {
    struct cause cause;
    char patterns[PATTERNS_MAX][CAUSE_FUNCTION_SIZE];
    size_t pattern_count;
    char types[TYPES_SIZE]; /* of file systems, with commas between them; "": any */
    bool begins_innermost;  /* the first pattern must match the innermost function */
};

struct causes {
    struct cause_line *lines;
    size_t count;
};

/* ---- Stacks ---- */

/* Finds the function in "[<0>] jbd2_log_wait_commit+0xcd/0x140 [jbd2]". */
static void parse_function(const char *line, size_t length, char ret_name[CAUSE_FUNCTION_SIZE]) {
    const char *name = line;
    if (length > 0 && line[0] == '[') {
        const char *end = memchr(line, ']', length);
        name = end ? end + 1 : line + length;
    }
    while (name < line + length && *name == ' ')
        name++;
    size_t rest = (size_t)(line + length - name);
    size_t name_length = 0;
    while (name_length < rest && (isalnum((unsigned char)name[name_length]) || name[name_length] == '_'))
        name_length++;
    snprintf(ret_name, CAUSE_FUNCTION_SIZE, "%.*s", (int)name_length, name);
}

void kernel_stack_parse(const char *text, struct kernel_stack *ret_stack) {
    ret_stack->count = 0;
    while (*text && ret_stack->count < CAUSE_FUNCTIONS_MAX) {
        size_t length = strcspn(text, "\n");
        char *function = ret_stack->functions[ret_stack->count];
        parse_function(text, length, function);
        ret_stack->count += function[0] != '\0' && strcmp(function, "0") != 0; /* wchan says "0" outside the kernel */
        text += length + (text[length] == '\n');
    }
}

/* True for functions that wait on behalf of their callers. */
static bool only_waits(const char *function) {
    static const char *const patterns[] = {
        "*schedule*",   "*wait*",        "*mutex_lock*", "*rwsem_down*", "down_*",    "*futex*",
        "*folio_lock*", "usleep_range*", "msleep*",      "rt_mutex*",    "hrtimer_*",
    };
    for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
        if (fnmatch(patterns[i], function, 0) == 0)
            return true;
    return false;
}

const char *kernel_stack_place(const struct kernel_stack *stack) {
    for (size_t i = 0; i < stack->count; i++)
        if (!only_waits(stack->functions[i]))
            return stack->functions[i];
    return stack->count > 0 ? stack->functions[stack->count - 1] : NULL;
}

const struct aggstats_why cause_no_cpu = {
    .kind = AGGSTATS_CAUSE_CPU, .id = "no_cpu", .words = "ready to run, but without a CPU"};

struct aggstats_why kernel_stack_why(const struct kernel_stack *stack) {
    const char *place = kernel_stack_place(stack);
    struct aggstats_why why = {.kind = AGGSTATS_CAUSE_FUNCTION};
    if (!place)
        return (struct aggstats_why){
            .kind = AGGSTATS_CAUSE_UNKNOWN, .id = "not_seen", .words = "waiting, where cannot be seen"};
    snprintf(why.id, sizeof(why.id), "%s", place);
    snprintf(why.words, sizeof(why.words), "waiting in the kernel function %s", place);
    return why;
}

/* ---- The table ---- */

static int fail(struct causes_error *error, size_t line, const char *message) {
    error->line = line;
    snprintf(error->message, sizeof(error->message), "%s", message);
    return -EBADMSG;
}

/* Cuts off blanks at both ends. Returns the beginning */
static char *trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static bool is_text(const char *words) {
    for (; *words; words++)
        if (iscntrl((unsigned char)*words))
            return false;
    return true;
}

/* Those that are found without a row. */
static bool is_class_of_no_row(enum aggstats_cause_class class) {
    return class == AGGSTATS_CAUSE_UNKNOWN || class == AGGSTATS_CAUSE_REST || class == AGGSTATS_CAUSE_RUNNING ||
           class == AGGSTATS_CAUSE_FUNCTION;
}

/* "@TYPE,TYPE". Returns what is behind it */
static int parse_types(char **text, size_t line, struct cause_line *parsed, struct causes_error *ret_error) {
    *text = trim(*text);
    if (**text != '@')
        return 0;
    const char *types = *text + 1;
    size_t length = strcspn(types, " \t");
    if (length == 0 || length >= TYPES_SIZE)
        return fail(ret_error, line,
                    length == 0 ? "expected a type of file systems behind @"
                                : "the types of file systems have more than 127 characters");
    snprintf(parsed->types, sizeof(parsed->types), "%.*s", (int)length, types);
    *text += 1 + length;
    return 0;
}

/* "[^]FUNCTION < FUNCTION" */
static int parse_patterns(char *patterns, size_t line, struct cause_line *parsed, struct causes_error *ret_error) {
    char *rest = trim(patterns);
    parsed->begins_innermost = rest[0] == '^';
    rest += parsed->begins_innermost;
    for (char *pattern = strsep(&rest, "<"); pattern; pattern = strsep(&rest, "<")) {
        pattern = trim(pattern);
        if (!pattern[0])
            return fail(ret_error, line, "expected a function of the kernel on each side of <, and behind the colon");
        if (strpbrk(pattern, " \t"))
            return fail(ret_error, line, "expected < between two functions");
        if (strlen(pattern) >= CAUSE_FUNCTION_SIZE)
            return fail(ret_error, line, "the name of a function is longer than 63 characters");
        if (parsed->pattern_count == PATTERNS_MAX)
            return fail(ret_error, line, "expected at most 8 functions");
        snprintf(parsed->patterns[parsed->pattern_count++], CAUSE_FUNCTION_SIZE, "%s", pattern);
    }
    return 0;
}

/* "ID CLASS" */
static int parse_id_and_class(char *text, size_t line, struct cause *cause, struct causes_error *ret_error) {
    char *class = trim(text);
    const char *id = strsep(&class, " \t");
    if (!aggstats_cause_id_valid(id) || !class)
        return fail(ret_error, line,
                    "expected ID CLASS before the first of two colons, and as ID letters, digits, _, - and .");
    snprintf(cause->why.id, sizeof(cause->why.id), "%s", id);
    cause->why.kind = aggstats_cause_class_of_name(trim(class));
    cause->has_class = true;
    if (cause->why.kind == AGGSTATS_CAUSE_CLASSES || is_class_of_no_row(cause->why.kind))
        return fail(ret_error, line, "there is no such class of causes; share/osproffs/causes lists them");
    return 0;
}

static int parse_words(char *text, size_t line, struct cause *cause, struct causes_error *ret_error) {
    const char *words = trim(text);
    if (!words[0])
        return fail(ret_error, line, "expected the cause in words before the colon");
    if (strlen(words) >= sizeof(cause->why.words))
        return fail(ret_error, line, "the cause has more than 95 characters");
    if (!is_text(words))
        return fail(ret_error, line, "the cause has control characters");
    snprintf(cause->why.words, sizeof(cause->why.words), "%s", words);
    return 0;
}

/* "[-] [ID CLASS:] WORDS: [@TYPE] [^]FUNCTION < FUNCTION" */
static int parse_cause(char *text, size_t line, struct cause_line *parsed, struct causes_error *ret_error) {
    char *rest = strrchr(text, ':');
    if (!rest)
        return fail(ret_error, line, "expected CAUSE: [^]FUNCTION [< FUNCTION]..., found no colon");
    *rest++ = '\0';
    *parsed = (struct cause_line){.cause.is_work = text[0] == '-'};
    text += parsed->cause.is_work;
    char *words = strchr(text, ':');
    int err = 0;
    if (words) {
        *words++ = '\0';
        err = parse_id_and_class(text, line, &parsed->cause, ret_error);
    }
    if (err == 0)
        err = parse_words(words ? words : text, line, &parsed->cause, ret_error);
    if (err == 0)
        err = parse_types(&rest, line, parsed, ret_error);
    return err == 0 ? parse_patterns(rest, line, parsed, ret_error) : err;
}

static int add_line(struct causes *causes, const struct cause_line *line) {
    struct cause_line *grown = reallocarray(causes->lines, causes->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    causes->lines = grown;
    causes->lines[causes->count++] = *line;
    return 0;
}

static int parse_lines(char *text, struct causes *causes, struct causes_error *ret_error) {
    char *rest = text;
    size_t line = 0;
    for (char *line_text = strsep(&rest, "\n"); line_text; line_text = strsep(&rest, "\n")) {
        struct cause_line parsed;
        line++;
        line_text = trim(line_text);
        if (!line_text[0] || line_text[0] == '#')
            continue;
        int err = parse_cause(line_text, line, &parsed, ret_error);
        if (err == 0)
            err = add_line(causes, &parsed);
        if (err < 0)
            return err;
    }
    return 0;
}

int causes_parse(const char *text, struct causes **ret_causes, struct causes_error *ret_error) {
    CLEANUP_FREE char *copy = strdup(text);
    struct causes *causes = calloc(1, sizeof(*causes));
    int err = copy && causes ? parse_lines(copy, causes, ret_error) : -ENOMEM;
    if (err < 0) {
        causes_free(causes);
        return err;
    }
    *ret_causes = causes;
    return 0;
}

void causes_free(struct causes *causes) {
    if (!causes)
        return;
    free(causes->lines);
    free(causes);
}

/* ---- Finding ---- */

static bool fits(const struct cause_line *line, const struct kernel_stack *stack) {
    size_t pattern = 0;
    if (line->begins_innermost && (stack->count == 0 || fnmatch(line->patterns[0], stack->functions[0], 0) != 0))
        return false;
    for (size_t i = 0; i < stack->count && pattern < line->pattern_count; i++)
        pattern += fnmatch(line->patterns[pattern], stack->functions[i], 0) == 0;
    return pattern == line->pattern_count;
}

static bool is_of_type(const struct cause_line *line, const char *type) {
    char types[TYPES_SIZE];
    char *rest = types;
    if (!line->types[0])
        return true;
    snprintf(types, sizeof(types), "%s", line->types);
    for (const char *pattern = strsep(&rest, ","); pattern; pattern = strsep(&rest, ","))
        if (type[0] && fnmatch(pattern, type, 0) == 0)
            return true;
    return false;
}

bool causes_need_type(const struct causes *causes, const struct kernel_stack *stack) {
    for (size_t i = 0; i < causes->count; i++)
        if (fits(&causes->lines[i], stack))
            return causes->lines[i].types[0];
    return false;
}

const struct cause *causes_find(const struct causes *causes, const struct kernel_stack *stack, const char *type) {
    for (size_t i = 0; i < causes->count; i++)
        if (fits(&causes->lines[i], stack) && is_of_type(&causes->lines[i], type))
            return &causes->lines[i].cause;
    return NULL;
}
