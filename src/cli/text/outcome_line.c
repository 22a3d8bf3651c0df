/* What came of an op's calls, in a line. */
#include "outcome_line.h"

#include "units.h"

/* The kind with the most failures of those not told yet; AGGSTATS_FAILURES: there is none. */
static unsigned commonest(const uint64_t failures[AGGSTATS_FAILURES], const bool told[AGGSTATS_FAILURES]) {
    unsigned best = AGGSTATS_FAILURES;
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (!told[failure] && failures[failure] > 0 &&
            (best == AGGSTATS_FAILURES || failures[failure] > failures[best]))
            best = failure;
    return best;
}

unsigned outcome_commonest_failure(const struct aggstats_op_profile *op) {
    const bool told[AGGSTATS_FAILURES] = {false};
    return commonest(op->failures, told);
}

static void print_failures(const struct aggstats_op_profile *op, const struct screen *screen) {
    bool told[AGGSTATS_FAILURES] = {false};
    char count[UNITS_TEXT_SIZE];
    units_format_count(aggstats_failed_calls(op), count);
    int column = fprintf(screen->stream, "  %s failed:", count);
    unsigned failure = commonest(op->failures, told);
    while (failure < AGGSTATS_FAILURES) {
        char word[2 * UNITS_TEXT_SIZE];
        told[failure] = true;
        unsigned next = commonest(op->failures, told);
        units_format_count(op->failures[failure], count);
        snprintf(word, sizeof(word), "%s %s%s", aggstats_failure_name(failure), count,
                 next < AGGSTATS_FAILURES ? "," : "");
        column = screen_print_word(screen, column, word);
        failure = next;
    }
}

static void print_bytes(const struct aggstats_op_profile *op, const struct screen *screen) {
    char asked[UNITS_TEXT_SIZE];
    char moved[UNITS_TEXT_SIZE];
    units_format_bytes((double)op->asked_bytes, asked);
    units_format_bytes((double)op->moved_bytes, moved);
    fprintf(screen->stream, "%s moved", moved);
    if (op->moved_bytes != op->asked_bytes)
        fprintf(screen->stream, " of %s asked", asked);
}

void outcome_line_print(const struct aggstats_op_profile *op, const struct screen *screen) {
    const bool has_failures = aggstats_failed_calls(op) > 0;
    const bool has_bytes = op->asked_bytes > 0 || op->moved_bytes > 0;
    if (has_failures)
        print_failures(op, screen);
    if (has_bytes) {
        fputs(has_failures ? "; " : "  ", screen->stream);
        print_bytes(op, screen);
    }
    if (has_failures || has_bytes)
        putc('\n', screen->stream);
}
