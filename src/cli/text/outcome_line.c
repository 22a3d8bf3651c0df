/* Failures and bytes of an op's calls, in a line. */
#include "outcome_line.h"

#include <stdlib.h>

#include "base.h"
#include "units.h"

/* The kind with the most failures of those not printed yet; AGGSTATS_FAILURES: there is none. */
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

/* "12 failed: ENOENT 10, EACCES 2" */
static void write_failures(const struct aggstats_op_profile *op, FILE *stream) {
    bool told[AGGSTATS_FAILURES] = {false};
    fprintf(stream, "%s failed:", units_count(aggstats_failed_calls(op)).text);
    for (unsigned failure; (failure = commonest(op->failures, told)) < AGGSTATS_FAILURES;) {
        told[failure] = true;
        fprintf(stream, " %s %s%s", aggstats_failure_name(failure), units_count(op->failures[failure]).text,
                commonest(op->failures, told) < AGGSTATS_FAILURES ? "," : "");
    }
}

static void write_bytes(const struct aggstats_op_profile *op, FILE *stream) {
    fprintf(stream, "%s moved", screen_firm(units_bytes((double)op->moved_bytes)).text);
    if (op->moved_bytes != op->asked_bytes)
        fprintf(stream, " of %s asked", screen_firm(units_bytes((double)op->asked_bytes)).text);
}

void outcome_line_print(const struct aggstats_op_profile *op, const struct screen *screen) {
    const bool has_failures = aggstats_failed_calls(op) > 0;
    const bool has_bytes = op->asked_bytes > 0 || op->moved_bytes > 0;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    FILE *stream = has_failures || has_bytes ? open_memstream(&text, &size_bytes) : NULL;
    if (!stream)
        return;
    if (has_failures)
        write_failures(op, stream);
    if (has_bytes) {
        fputs(has_failures ? "; " : "", stream);
        write_bytes(op, stream);
    }
    if (fclose(stream) == 0)
        screen_print_sentence(screen, 2, text);
}
