/* Slow calls and causes, as lines of the header: readers that do not know them take them for labels. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/why.h"
#include "base.h"
#include "profile_callers.h"
#include "profile_owned.h"
#include "profile_slow.h"
#include "text_parser.h"

/* More than a recorder has: limits what a hostile text makes us compare. */
#define STACKS_MAX 2048

static const struct {
    const char *word;
    enum aggstats_why_flag flag;
} flags[] = {{"other_thread", AGGSTATS_WHY_OTHER_THREAD}, {"since_before", AGGSTATS_WHY_SINCE_BEFORE}};

/* ---- Causes ---- */

/* "id ext4_commit class disk words waiting for the ext4 journal to commit", to the end of the line */
static void write_why(const struct aggstats_why *why, FILE *stream) {
    if (why->id[0])
        fprintf(stream, "id %s ", why->id);
    fprintf(stream, "class %s ", aggstats_cause_class_name(why->kind));
    for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
        if (why->flags & flags[i].flag)
            fprintf(stream, "%s ", flags[i].word);
    fputs("words ", stream);
    text_write_value(stream, why->words);
    putc('\n', stream);
}

/* ---- Writing ---- */

static void write_cause(const struct aggstats_cause *cause, FILE *stream) {
    fprintf(stream, "# cause: %s calls %" PRIu64 " total %" PRIu64 " longest %" PRIu64 " ", cause->op, cause->calls,
            cause->total_cycles, cause->longest_cycles);
    write_why(&cause->why, stream);
}

/* "# cause_buckets: 1 25:12 26:3"; only buckets with calls */
static void write_cause_buckets(const struct aggstats_profile *profile, size_t number, FILE *stream) {
    const struct aggstats_cause *cause = &profile->causes[number - 1];
    bool is_begun = false;
    for (unsigned bucket = 0; cause->buckets && bucket < profile_bucket_count(profile); bucket++) {
        if (cause->buckets[bucket] == 0)
            continue;
        if (!is_begun)
            fprintf(stream, "# cause_buckets: %zu", number);
        is_begun = true;
        fprintf(stream, " %u:%" PRIu64, bucket, cause->buckets[bucket]);
    }
    if (is_begun)
        putc('\n', stream);
}

/* The number of its cause among the lines of causes, from 1; 0: it is not there. */
static size_t cause_number(const struct aggstats_profile *profile, const struct aggstats_slow_call *call) {
    const struct aggstats_cause *cause = profile_find_cause(profile, call->op, &call->cause);
    return cause ? (size_t)(cause - profile->causes) + 1 : 0;
}

/* ---- Stacks, each once ---- */

/* The stacks of all calls; a stack's number is its index, from 1. */
struct stacks {
    const char **texts; /* owned by the calls */
    size_t count;
};

static size_t stack_number(const struct stacks *stacks, const char *stack) {
    for (size_t i = 0; stack && i < stacks->count; i++)
        if (strcmp(stacks->texts[i], stack) == 0)
            return i + 1;
    return 0;
}

static void add_stack(struct stacks *stacks, const char *stack, FILE *stream) {
    if (!stack || stack_number(stacks, stack) > 0 || stacks->count == STACKS_MAX)
        return;
    stacks->texts[stacks->count++] = stack;
    fputs("# stack: ", stream);
    text_write_value(stream, stack);
    putc('\n', stream);
}

static int write_stacks(const struct aggstats_profile *profile, struct stacks *stacks, FILE *stream) {
    stacks->count = 0;
    stacks->texts = calloc(STACKS_MAX, sizeof(*stacks->texts));
    if (!stacks->texts)
        return -ENOMEM;
    for (size_t i = 0; i < profile->slow_call_count; i++)
        add_stack(stacks, profile->slow_calls[i].stack, stream);
    for (size_t i = 0; i < profile->in_flight_count; i++)
        add_stack(stacks, profile->in_flight[i].stack, stream);
    return 0;
}

/* ---- Calls ---- */

static void write_slow_call(const struct aggstats_profile *profile, const struct stacks *stacks,
                            const struct aggstats_slow_call *call, FILE *stream) {
    fprintf(stream,
            "# slow_call: %s latency %" PRIu64 " end %" PRIu64 " cause %zu object %" PRIu64 " pid %" PRIu64
            " uid %" PRIu64 " error %" PRIu64 " asked %" PRIu64 " moved %" PRIu64 " offset %" PRIu64 " stack %zu"
            " process %" PRIu64,
            call->op, call->latency_cycles, (uint64_t)call->end_ns, cause_number(profile, call), call->object,
            call->pid, call->uid, call->error, call->asked_bytes, call->moved_bytes, call->offset,
            stack_number(stacks, call->stack), call->process);
    if (call->program[0])
        text_write_program(call->program, stream);
    text_write_chain(call->chain, stream);
    text_write_path(call->path, stream);
}

/* "# user_stack: 1 fsync < commit_row < main": of the first slow call */
static void write_user_stack(size_t number, const char *user_stack, FILE *stream) {
    fprintf(stream, "# user_stack: %zu ", number);
    text_write_value(stream, user_stack);
    putc('\n', stream);
}

static void write_caller(const struct aggstats_caller *caller, FILE *stream) {
    fprintf(stream, "# slow_caller: %s calls %" PRIu64, caller->op, caller->calls);
    if (caller->program[0]) {
        text_write_program(caller->program, stream);
        putc(' ', stream);
        text_write_value(stream, caller->function);
    }
    putc('\n', stream);
}

static void write_waits(const struct aggstats_profile *profile, const struct stacks *stacks, FILE *stream) {
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        const struct aggstats_call_in_flight *call = &profile->in_flight[i];
        if (!call->cause.words[0])
            continue;
        fprintf(stream, "# waiting: %zu stack %zu ", i + 1, stack_number(stacks, call->stack));
        write_why(&call->cause, stream);
    }
}

int text_write_slow(const struct aggstats_profile *profile, FILE *stream) {
    struct stacks stacks = {.texts = NULL};
    if (profile->slow_cycles > 0)
        fprintf(stream, "# slow: %" PRIu64 "\n", profile->slow_cycles);
    for (size_t i = 0; i < profile->cause_count; i++)
        write_cause(&profile->causes[i], stream);
    for (size_t i = 0; i < profile->cause_count; i++)
        write_cause_buckets(profile, i + 1, stream);
    int err = write_stacks(profile, &stacks, stream);
    for (size_t i = 0; i < profile->slow_call_count && err == 0; i++)
        write_slow_call(profile, &stacks, &profile->slow_calls[i], stream);
    for (size_t i = 0; i < profile->slow_call_count && err == 0; i++)
        if (profile->slow_calls[i].user_stack)
            write_user_stack(i + 1, profile->slow_calls[i].user_stack, stream);
    for (size_t i = 0; i < profile->caller_count && err == 0; i++)
        write_caller(&profile->callers[i], stream);
    if (err == 0)
        write_waits(profile, &stacks, stream);
    free(stacks.texts);
    return err;
}

/* ---- Reading ---- */

int parser_slow(struct parser *parser, char *value) {
    return parser_only_number(parser, value, "a number of cycles", &parser->profile.slow_cycles);
}

/* The rest of the line, which must have so many bytes with a NUL. what: "cause". Owner: the line */
static int parse_rest(struct parser *parser, char *cursor, const char *what, size_t size_bytes, char **ret_text) {
    text_skip_blanks(&cursor);
    text_unescape(cursor);
    if (!cursor[0] || strlen(cursor) >= size_bytes)
        return parser_fail(parser, "expected a %s of 1 to %zu characters", what, size_bytes - 1);
    *ret_text = cursor;
    return 0;
}

/* The same as a copy. Owner: the caller frees it */
static int copy_rest(struct parser *parser, char *cursor, const char *what, size_t size_bytes, char **ret_copy) {
    char *text = NULL;
    int err = parse_rest(parser, cursor, what, size_bytes, &text);
    if (err < 0)
        return err;
    assert(text);
    *ret_copy = strdup(text);
    return *ret_copy ? 0 : -ENOMEM;
}

static int parse_id(struct parser *parser, const char *word, struct aggstats_why *why) {
    if (!aggstats_cause_id_valid(word))
        return parser_fail_expected(parser, "the identifier of a cause", word);
    snprintf(why->id, sizeof(why->id), "%s", word);
    return 0;
}

static int parse_class(struct parser *parser, const char *word, struct aggstats_why *why) {
    why->kind = aggstats_cause_class_of_name(word);
    return why->kind < AGGSTATS_CAUSE_CLASSES ? 0 : parser_fail_expected(parser, "a class of causes", word);
}

/* What write_why() writes. */
static int parse_why(struct parser *parser, char *cursor, struct aggstats_why *ret_why) {
    struct aggstats_why why = {.kind = AGGSTATS_CAUSE_OTHER};
    char *word = text_next_word(&cursor);
    int err = 0;
    if (strcmp(word, "id") == 0) {
        err = parse_id(parser, text_next_word(&cursor), &why);
        word = text_next_word(&cursor);
    }
    if (err == 0)
        err = strcmp(word, "class") == 0 ? parse_class(parser, text_next_word(&cursor), &why)
                                         : parser_fail_expected(parser, "class", word);
    word = text_next_word(&cursor);
    for (size_t i = 0; i < ARRAY_SIZE(flags) && err == 0; i++) {
        if (strcmp(word, flags[i].word) != 0)
            continue;
        why.flags |= flags[i].flag;
        word = text_next_word(&cursor);
    }
    if (err == 0 && strcmp(word, "words") != 0)
        err = parser_fail_expected(parser, "words", word);
    char *words = NULL;
    if (err == 0)
        err = parse_rest(parser, cursor, "cause", AGGSTATS_CAUSE_SIZE, &words);
    if (err < 0)
        return err;
    snprintf(why.words, sizeof(why.words), "%s", words);
    *ret_why = why;
    return 0;
}

/* "FSYNC calls 12 total 5200000000 longest 780000000 id ext4_commit class disk words waiting for the ext4 ..." */
int parser_cause(struct parser *parser, char *value) {
    struct aggstats_cause cause = {.calls = 0};
    char *cursor = value;
    if (parser->profile.cause_count == PROFILE_CAUSES_MAX)
        return parser_fail(parser, "expected at most %d causes", PROFILE_CAUSES_MAX);
    int err = parser_name(parser, text_next_word(&cursor), cause.op);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "calls", &cause.calls);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "total", &cause.total_cycles);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "longest", &cause.longest_cycles);
    if (err == 0)
        err = parse_why(parser, cursor, &cause.why);
    if (err == 0 && profile_find_cause(&parser->profile, cause.op, &cause.why))
        err = parser_fail(parser, "expected every cause of OP_%s once, found one a second time", cause.op);
    return err < 0 ? err : profile_append_cause(&parser->profile, &cause);
}

/* "25:12" of a cause; *sum: of its buckets so far */
static int parse_cause_bucket(struct parser *parser, char *word, struct aggstats_cause *cause, uint64_t *sum) {
    const unsigned bucket_count = profile_bucket_count(&parser->profile);
    uint64_t bucket = 0;
    uint64_t calls = 0;
    char *colon = strchr(word, ':');
    if (!colon)
        return parser_fail_expected(parser, "BUCKET:CALLS", word);
    *colon = '\0';
    int err = parser_number(parser, word, "the number of a bucket", &bucket);
    if (err == 0)
        err = parser_number(parser, colon + 1, "a number of calls", &calls);
    if (err < 0)
        return err;
    if (bucket >= bucket_count || cause->buckets[bucket] > 0)
        return parser_fail(parser, "expected each bucket once, below %u, found %" PRIu64, bucket_count, bucket);
    if (__builtin_add_overflow(*sum, calls, sum) || *sum > cause->calls)
        return parser_fail(parser, "expected buckets that sum up to at most %" PRIu64 " calls of that cause",
                           cause->calls);
    cause->buckets[bucket] = calls;
    return 0;
}

/* "1 25:12 26:3": of the first cause */
int parser_cause_buckets(struct parser *parser, char *value) {
    struct aggstats_profile *profile = &parser->profile;
    uint64_t number = 0;
    uint64_t sum = 0;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "the number of a cause", &number);
    if (err < 0)
        return err;
    if (number == 0 || number > profile->cause_count || profile->causes[number - 1].buckets)
        return parser_fail(parser, "expected one of the %zu causes so far, once, found number %" PRIu64,
                           profile->cause_count, number);
    struct aggstats_cause *cause = &profile->causes[number - 1];
    err = profile_give_cause_buckets(profile, cause);
    for (char *word = text_next_word(&cursor); word[0] && err == 0; word = text_next_word(&cursor))
        err = parse_cause_bucket(parser, word, cause, &sum);
    return err;
}

bool parser_has_cause_buckets(const struct parser *parser) {
    for (size_t i = 0; i < parser->profile.cause_count; i++)
        if (parser->profile.causes[i].buckets)
            return true;
    return false;
}

/* "ext4_sync_file < do_fsync < do_syscall_64" */
int parser_stack(struct parser *parser, char *value) {
    text_unescape(value);
    if (parser->stack_count == STACKS_MAX)
        return parser_fail(parser, "expected at most %d stacks", STACKS_MAX);
    if (!value[0] || strlen(value) >= AGGSTATS_STACK_SIZE)
        return parser_fail(parser, "expected a stack of 1 to %d characters", AGGSTATS_STACK_SIZE - 1);
    char **grown = parser_grow(parser->stacks, parser->stack_count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    parser->stacks = grown;
    grown[parser->stack_count] = strdup(value);
    return grown[parser->stack_count++] ? 0 : -ENOMEM;
}

void parser_free_stacks(struct parser *parser) {
    for (size_t i = 0; i < parser->stack_count; i++)
        free(parser->stacks[i]);
    free(parser->stacks);
}

/* Owner: the parser */
static int settle_stack(struct parser *parser, uint64_t number, char **ret_stack) {
    if (number > parser->stack_count)
        return parser_fail(parser, "expected one of the %zu stacks so far, found number %" PRIu64, parser->stack_count,
                           number);
    *ret_stack = number > 0 ? parser->stacks[number - 1] : NULL;
    return 0;
}

static int settle_cause(struct parser *parser, uint64_t number, struct aggstats_slow_call *call) {
    const struct aggstats_profile *profile = &parser->profile;
    if (number == 0)
        return 0;
    if (number > profile->cause_count || strcmp(profile->causes[number - 1].op, call->op) != 0)
        return parser_fail(parser, "expected the number of a cause of OP_%s, found %" PRIu64, call->op, number);
    call->cause = profile->causes[number - 1].why;
    return 0;
}

/* In the order of write_slow_call(). */
static int parse_slow_numbers(struct parser *parser, char **cursor, struct aggstats_slow_call *call) {
    uint64_t end_ns = 0;
    uint64_t cause = 0;
    uint64_t stack = 0;
    const struct {
        const char *keyword;
        uint64_t *number;
    } numbers[] = {{"latency", &call->latency_cycles},
                   {"end", &end_ns},
                   {"cause", &cause},
                   {"object", &call->object},
                   {"pid", &call->pid},
                   {"uid", &call->uid},
                   {"error", &call->error},
                   {"asked", &call->asked_bytes},
                   {"moved", &call->moved_bytes},
                   {"offset", &call->offset},
                   {"stack", &stack},
                   {"process", &call->process}};
    int err = 0;
    for (size_t i = 0; i < ARRAY_SIZE(numbers) && err == 0; i++)
        err = parser_keyed_number(parser, cursor, numbers[i].keyword, numbers[i].number);
    if (err < 0)
        return err;
    if (end_ns > INT64_MAX)
        return parser_fail(parser, "expected nanoseconds since 1970 as the end of a slow call");
    call->end_ns = (int64_t)end_ns;
    err = settle_cause(parser, cause, call);
    return err < 0 ? err : settle_stack(parser, stack, &call->stack);
}

int parser_program(struct parser *parser, char **cursor, char ret_program[AGGSTATS_PROGRAM_SIZE]) {
    char *rest = *cursor;
    text_skip_blanks(&rest);
    if (strncmp(rest, "program ", strlen("program ")) != 0)
        return 0;
    text_next_word(cursor);
    char *program = text_next_word(cursor);
    text_unescape(program);
    const size_t length = strlen(program);
    if (length >= AGGSTATS_PROGRAM_SIZE)
        return parser_fail(parser, "expected a program's name of at most %d characters", AGGSTATS_PROGRAM_SIZE - 1);
    memcpy(ret_program, program, length + 1);
    return 0;
}

int parser_slow_call(struct parser *parser, char *value) {
    struct aggstats_slow_call call = {.path = NULL};
    char *cursor = value;
    if (parser->profile.slow_call_count == PROFILE_SLOW_CALLS_MAX)
        return parser_fail(parser, "expected at most %d slow calls", PROFILE_SLOW_CALLS_MAX);
    int err = parser_name(parser, text_next_word(&cursor), call.op);
    if (err == 0)
        err = parse_slow_numbers(parser, &cursor, &call);
    if (err == 0)
        err = parser_program(parser, &cursor, call.program);
    CLEANUP_FREE struct aggstats_chain *chain = NULL;
    CLEANUP_FREE char *path = NULL;
    if (err == 0)
        err = parser_own_chain(parser, &cursor, &chain);
    if (err == 0)
        err = parser_path(parser, &cursor, &path);
    call.chain = chain;
    call.path = path;
    return err < 0 ? err : profile_append_slow_call(&parser->profile, &call);
}

/* "1 fsync < commit_row < main": of the first slow call */
int parser_user_stack(struct parser *parser, char *value) {
    const struct aggstats_profile *profile = &parser->profile;
    uint64_t number = 0;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "the number of a slow call", &number);
    if (err < 0)
        return err;
    if (number == 0 || number > profile->slow_call_count || profile->slow_calls[number - 1].user_stack)
        return parser_fail(parser, "expected one of the %zu slow calls so far, once, found number %" PRIu64,
                           profile->slow_call_count, number);
    return copy_rest(parser, cursor, "stack", AGGSTATS_STACK_SIZE, &profile->slow_calls[number - 1].user_stack);
}

/* The rest of the line, after a program. */
static int parse_function(struct parser *parser, char *cursor, struct aggstats_caller *caller) {
    text_skip_blanks(&cursor);
    text_unescape(cursor);
    if (!cursor[0] != !caller->program[0] || strlen(cursor) >= sizeof(caller->function))
        return parser_fail(parser, "expected a program and its function of 1 to %zu characters, or neither",
                           sizeof(caller->function) - 1);
    snprintf(caller->function, sizeof(caller->function), "%s", cursor);
    return 0;
}

/* "FSYNC calls 4120 program db commit_row"; without program and function: all others */
int parser_slow_caller(struct parser *parser, char *value) {
    struct aggstats_caller caller = {.calls = 0};
    char *cursor = value;
    if (parser->profile.caller_count == PROFILE_CALLERS_MAX)
        return parser_fail(parser, "expected at most %d callers of slow calls", PROFILE_CALLERS_MAX);
    int err = parser_name(parser, text_next_word(&cursor), caller.op);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "calls", &caller.calls);
    if (err == 0)
        err = parser_program(parser, &cursor, caller.program);
    if (err == 0)
        err = parse_function(parser, cursor, &caller);
    if (err == 0 && profile_find_caller(&parser->profile, &caller))
        err = parser_fail(parser, "expected every caller of OP_%s once, found one a second time", caller.op);
    return err < 0 ? err : profile_append_caller(&parser->profile, &caller);
}

/* "1 stack 2 id disk class disk words waiting for the disk": of the first call in flight */
int parser_waiting(struct parser *parser, char *value) {
    const struct aggstats_profile *profile = &parser->profile;
    uint64_t number = 0;
    uint64_t stack_number = 0;
    char *stack = NULL;
    char *cursor = value;
    int err = parser_number(parser, text_next_word(&cursor), "the number of a call in flight", &number);
    if (err == 0 && (number == 0 || number > profile->in_flight_count || profile->in_flight[number - 1].cause.words[0]))
        err = parser_fail(parser, "expected one of the %zu calls in flight so far, once, found number %" PRIu64,
                          profile->in_flight_count, number);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "stack", &stack_number);
    if (err == 0)
        err = settle_stack(parser, stack_number, &stack);
    if (err == 0)
        err = parse_why(parser, cursor, &profile->in_flight[number - 1].cause);
    if (err < 0 || !stack)
        return err;
    profile->in_flight[number - 1].stack = strdup(stack);
    return profile->in_flight[number - 1].stack ? 0 : -ENOMEM;
}
