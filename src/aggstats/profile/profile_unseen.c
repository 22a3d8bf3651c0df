/* Programs that were not seen, in profiles: copying, adding, reading and writing. A difference has those of the later
 * profile. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "facts.h"
#include "text_format.h"
#include "text_parser.h"

const char *const unseen_words[AGGSTATS_UNSEEN_KINDS + 1] = {
    [AGGSTATS_UNSEEN_STATIC] = "static",
    [AGGSTATS_UNSEEN_SET_ID] = "set_id",
    [AGGSTATS_UNSEEN_FOREIGN] = "foreign",
    [AGGSTATS_UNSEEN_SANDBOXED] = "sandboxed",
    [AGGSTATS_UNSEEN_GO] = "go",
    [AGGSTATS_UNSEEN_BARE] = "bare",
    [AGGSTATS_UNSEEN_STARVED] = "starved",
    [AGGSTATS_UNSEEN_ASYNC] = "async",
    [AGGSTATS_UNSEEN_IO_URING] = "io_uring",
    [AGGSTATS_UNSEEN_ROOT] = "root",
    [AGGSTATS_UNSEEN_USER] = "user",
    [AGGSTATS_UNSEEN_UNKNOWN] = "unknown",
    [AGGSTATS_UNSEEN_CROWDED] = "crowded",
    [AGGSTATS_UNSEEN_BROKEN] = "broken",
};

const char *aggstats_unseen_name(enum aggstats_unseen kind) {
    return unseen_words[kind];
}

int aggstats_profile_add_unseen(struct aggstats_profile *profile, const struct aggstats_unseen_program *program) {
    struct aggstats_unseen_program *grown =
        reallocarray(profile->unseen_programs, profile->unseen_program_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->unseen_programs = grown;
    profile->unseen_programs[profile->unseen_program_count++] = *program;
    return 0;
}

bool aggstats_profile_has_unseen(const struct aggstats_profile *profile) {
    for (unsigned kind = 0; kind < AGGSTATS_UNSEEN_KINDS; kind++)
        if (profile->not_seen[kind] > 0)
            return true;
    return false;
}

int profile_copy_unseen(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = 0;
    for (size_t i = 0; i < profile->unseen_program_count && err == 0; i++)
        err = aggstats_profile_add_unseen(copy, &profile->unseen_programs[i]);
    return err;
}

/* By kind; then the longest first. */
static int compare(const void *left, const void *right) {
    const struct aggstats_unseen_program *a = left;
    const struct aggstats_unseen_program *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->least_ns != b->least_ns)
        return a->least_ns > b->least_ns ? -1 : 1;
    if (a->runs != b->runs)
        return a->runs > b->runs ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int compare_time(const void *left, const void *right) {
    const struct aggstats_unseen_program *a = left;
    const struct aggstats_unseen_program *b = right;
    if (a->least_ns != b->least_ns)
        return a->least_ns > b->least_ns ? -1 : 1;
    return compare(left, right);
}

static int add_program(struct aggstats_profile *sum, const struct aggstats_unseen_program *program) {
    for (size_t i = 0; i < sum->unseen_program_count; i++) {
        struct aggstats_unseen_program *same = &sum->unseen_programs[i];
        if (same->kind != program->kind || strcmp(same->name, program->name) != 0)
            continue;
        const bool is_bounded = same->most_ns > 0 && program->most_ns > 0;
        if (number_add(&same->runs, program->runs) < 0 || number_add(&same->least_ns, program->least_ns) < 0 ||
            number_add(&same->most_ns, program->most_ns) < 0)
            return -EOVERFLOW;
        same->most_ns = is_bounded ? same->most_ns : 0;
        return 0;
    }
    return aggstats_profile_add_unseen(sum, program);
}

int profile_add_all_unseen(struct aggstats_profile *sum, const struct aggstats_profile *other) {
    int err = 0;
    for (size_t i = 0; i < other->unseen_program_count && err == 0; i++)
        err = add_program(sum, &other->unseen_programs[i]);
    if (sum->unseen_program_count > PROFILE_UNSEEN_MAX) {
        qsort(sum->unseen_programs, sum->unseen_program_count, sizeof(*sum->unseen_programs), compare_time);
        sum->unseen_program_count = PROFILE_UNSEEN_MAX;
    }
    if (sum->unseen_program_count > 1)
        qsort(sum->unseen_programs, sum->unseen_program_count, sizeof(*sum->unseen_programs), compare);
    return err;
}

void text_write_unseen(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->unseen_program_count; i++) {
        const struct aggstats_unseen_program *program = &profile->unseen_programs[i];
        fprintf(stream, "# unseen_program: %s runs %" PRIu64 " least %" PRIu64 " most %" PRIu64 " name ",
                aggstats_unseen_name(program->kind), program->runs, program->least_ns, program->most_ns);
        text_write_value(stream, program->name);
        putc('\n', stream);
    }
}

/* "static runs 3 least 1900000000 most 1900000000 name busybox" */
int parser_unseen(struct parser *parser, char *value) {
    char *cursor = value;
    if (parser->profile.unseen_program_count == PROFILE_UNSEEN_MAX)
        return parser_fail(parser, "expected at most %d programs that were not seen", PROFILE_UNSEEN_MAX);
    const char *word = text_next_word(&cursor);
    const size_t kind = word_index(unseen_words, AGGSTATS_UNSEEN_KINDS, word);
    if (kind == AGGSTATS_UNSEEN_KINDS)
        return parser_fail_expected(parser, "a kind of programs, such as static", word);
    struct aggstats_unseen_program program = {.kind = (enum aggstats_unseen)kind};
    int err = parser_keyed_number(parser, &cursor, "runs", &program.runs);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "least", &program.least_ns);
    if (err == 0)
        err = parser_keyed_number(parser, &cursor, "most", &program.most_ns);
    if (err == 0)
        err = parser_keyword(parser, &cursor, "name");
    if (err < 0)
        return err;
    text_unescape(cursor);
    if (strlen(cursor) >= sizeof(program.name))
        return parser_fail(parser, "expected a program's name of at most %d bytes", AGGSTATS_UNSEEN_NAME_SIZE - 1);
    memcpy(program.name, cursor, strlen(cursor) + 1);
    return aggstats_profile_add_unseen(&parser->profile, &program);
}
