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

/* Finds the functions in lines such as "[<0>] jbd2_log_wait_commit+0xcd/0x140 [jbd2]". */
void kernel_stack_parse(const char *text, struct kernel_stack *ret_stack) {
    ret_stack->count = 0;
    while (*text && ret_stack->count < CAUSE_FUNCTIONS_MAX) {
        char *function = ret_stack->functions[ret_stack->count];
        const size_t length = strcspn(text, "\n");
        const char *end = text + length;
        const char *name = text;
        if (length > 0 && text[0] == '[') {
            const char *bracket = memchr(text, ']', length);
            name = bracket ? bracket + 1 : end;
        }
        while (name < end && *name == ' ')
            name++;
        size_t name_length = 0;
        while (name + name_length < end && (isalnum((unsigned char)name[name_length]) || name[name_length] == '_'))
            name_length++;
        snprintf(function, CAUSE_FUNCTION_SIZE, "%.*s", (int)name_length, name);
        ret_stack->count += function[0] != '\0' && strcmp(function, "0") != 0; /* wchan says "0" outside the kernel */
        text = end + (*end == '\n');
    }
}

const char *kernel_stack_place(const struct kernel_stack *stack) {
    /* Functions that wait on behalf of their callers. */
    static const char *const waiting[] = {
        "*schedule*",   "*wait*",        "*mutex_lock*", "*rwsem_down*", "down_*",    "*futex*",
        "*folio_lock*", "usleep_range*", "msleep*",      "rt_mutex*",    "hrtimer_*",
    };
    for (size_t i = 0; i < stack->count; i++) {
        bool only_waits = false;
        for (size_t j = 0; j < ARRAY_SIZE(waiting) && !only_waits; j++)
            only_waits = fnmatch(waiting[j], stack->functions[i], 0) == 0;
        if (!only_waits)
            return stack->functions[i];
    }
    return stack->count > 0 ? stack->functions[stack->count - 1] : NULL;
}

const struct aggstats_why cause_no_cpu = {
    .kind = AGGSTATS_CAUSE_CPU, .id = "no_cpu", .words = "waiting for a CPU (runqueue latency)"};

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

/* Cuts off blanks at both ends. Returns the beginning */
static char *trim(char *text) {
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* Parses "ID CLASS". Returns what is wrong with the text, or NULL. */
static const char *parse_id_and_class(char *text, struct cause *cause) {
    char *class = trim(text);
    const char *id = strsep(&class, " \t");
    if (!aggstats_cause_id_valid(id) || !class)
        return "expected ID CLASS before the first of two colons, and as ID letters, digits, _, - and .";
    snprintf(cause->why.id, sizeof(cause->why.id), "%s", id);
    cause->why.kind = aggstats_cause_class_of_name(trim(class));
    cause->has_class = true;
    /* Some classes are found without a row. */
    if (cause->why.kind == AGGSTATS_CAUSE_CLASSES || cause->why.kind == AGGSTATS_CAUSE_UNKNOWN ||
        cause->why.kind == AGGSTATS_CAUSE_REST || cause->why.kind == AGGSTATS_CAUSE_RUNNING ||
        cause->why.kind == AGGSTATS_CAUSE_FUNCTION)
        return "there is no such class of causes; share/osproffs/causes lists them";
    return NULL;
}

static const char *parse_words(char *text, struct cause *cause) {
    const char *words = trim(text);
    if (!words[0])
        return "expected the cause in words before the colon";
    if (strlen(words) >= sizeof(cause->why.words))
        return "the cause has more than 95 characters";
    for (const char *at = words; *at; at++)
        if (iscntrl((unsigned char)*at))
            return "the cause has control characters";
    snprintf(cause->why.words, sizeof(cause->why.words), "%s", words);
    return NULL;
}

/* "[@TYPE,TYPE] [^]FUNCTION < FUNCTION" */
static const char *parse_patterns(char *text, struct cause_line *parsed) {
    char *rest = trim(text);
    if (rest[0] == '@') {
        const size_t length = strcspn(rest + 1, " \t");
        if (length == 0)
            return "expected a type of file systems behind @";
        if (length >= TYPES_SIZE)
            return "the types of file systems have more than 127 characters";
        snprintf(parsed->types, sizeof(parsed->types), "%.*s", (int)length, rest + 1);
        rest = trim(rest + 1 + length);
    }
    parsed->begins_innermost = rest[0] == '^';
    rest += parsed->begins_innermost;
    for (char *pattern = strsep(&rest, "<"); pattern; pattern = strsep(&rest, "<")) {
        pattern = trim(pattern);
        if (!pattern[0])
            return "expected a function of the kernel on each side of <, and behind the colon";
        if (strpbrk(pattern, " \t"))
            return "expected < between two functions";
        if (strlen(pattern) >= CAUSE_FUNCTION_SIZE)
            return "the name of a function is longer than 63 characters";
        if (parsed->pattern_count == PATTERNS_MAX)
            return "expected at most 8 functions";
        snprintf(parsed->patterns[parsed->pattern_count++], CAUSE_FUNCTION_SIZE, "%s", pattern);
    }
    return NULL;
}

/* "[-] [ID CLASS:] WORDS: [@TYPE] [^]FUNCTION < FUNCTION" */
static const char *parse_cause(char *text, struct cause_line *parsed) {
    const char *wrong = NULL;
    char *patterns = strrchr(text, ':');
    if (!patterns)
        return "expected CAUSE: [^]FUNCTION [< FUNCTION]..., found no colon";
    *patterns++ = '\0';
    parsed->cause.is_work = text[0] == '-';
    text += parsed->cause.is_work;
    char *words = strchr(text, ':');
    if (words) {
        *words++ = '\0';
        wrong = parse_id_and_class(text, &parsed->cause);
    }
    if (!wrong)
        wrong = parse_words(words ? words : text, &parsed->cause);
    return wrong ? wrong : parse_patterns(patterns, parsed);
}

static int parse_lines(char *text, struct causes *causes, struct causes_error *ret_error) {
    char *rest = text;
    size_t line = 0;
    for (char *line_text = strsep(&rest, "\n"); line_text; line_text = strsep(&rest, "\n")) {
        line++;
        line_text = trim(line_text);
        if (!line_text[0] || line_text[0] == '#')
            continue;
        if (grow_array(&causes->lines, causes->count, sizeof(*causes->lines)) < 0)
            return -ENOMEM;
        struct cause_line *parsed = &causes->lines[causes->count++];
        *parsed = (struct cause_line){.pattern_count = 0};
        const char *wrong = parse_cause(line_text, parsed);
        if (wrong) {
            ret_error->line = line;
            snprintf(ret_error->message, sizeof(ret_error->message), "%s", wrong);
            return -EBADMSG;
        }
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
