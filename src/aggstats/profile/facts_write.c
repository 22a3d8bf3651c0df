/* Writing facts that are more than a number. */
#include <inttypes.h>

#include "base.h"
#include "text_format.h"

void text_write_clock(const struct aggstats_profile *profile, FILE *stream) {
    const struct aggstats_clock *clock = &profile->clock;
    const char *name = aggstats_clock_name(clock->kind);
    if (!name && clock->frequency_hz == 0)
        return;
    fputs("# clock:", stream);
    if (name)
        fprintf(stream, " %s", name);
    if (clock->frequency_hz > 0)
        fprintf(stream, " %" PRIu64 " Hz", clock->frequency_hz);
    putc('\n', stream);
}

void text_write_start(const struct aggstats_profile *profile, FILE *stream) {
    char start[UTC_TEXT_SIZE];
    if (!profile->has_start)
        return;
    format_utc(profile->start_ns, start);
    fprintf(stream, "# start: %s\n", start);
}

void text_write_lists(const struct aggstats_profile *profile, FILE *stream) {
    bool has_any = false;
    for (size_t i = 0; i < profile->label_count; i++) {
        if (!profile->labels[i].is_list)
            continue;
        fputs(has_any ? " " : "# lists: ", stream);
        text_write_word(profile->labels[i].key, stream);
        has_any = true;
    }
    fputs(has_any ? "\n" : "", stream);
}

void text_write_busy_ops(const struct aggstats_profile *profile, FILE *stream) {
    bool has_any = false;
    if (!profile->busy.by_op)
        return;
    fputs("# busy_ops:", stream);
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->busy_looks > 0)
            fprintf(stream, " %s %" PRIu64, op->name, op->busy_looks);
        has_any |= op->busy_looks > 0;
    }
    fputs(has_any ? "\n" : " none\n", stream);
}

static void write_failed(const struct aggstats_op_profile *op, FILE *stream) {
    fprintf(stream, "# failed: %s", op->name);
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (op->failures[failure] > 0)
            fprintf(stream, " %s %" PRIu64, aggstats_failure_name(failure), op->failures[failure]);
    putc('\n', stream);
}

void text_write_failed(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++)
        if (aggstats_failed_calls(&profile->ops[i]) > 0)
            write_failed(&profile->ops[i], stream);
}

void text_write_bytes(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->asked_bytes > 0 || op->moved_bytes > 0)
            fprintf(stream, "# bytes: %s asked %" PRIu64 " moved %" PRIu64 "\n", op->name, op->asked_bytes,
                    op->moved_bytes);
    }
}

void text_write_longest(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        if (op->longest_cycles == 0)
            continue;
        fprintf(stream, "# longest: %s %" PRIu64 " object %" PRIu64, op->name, op->longest_cycles, op->longest_object);
        text_write_path(op->longest_path, stream);
    }
}

void text_write_left(const struct aggstats_profile *profile, FILE *stream) {
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].left_calls > 0)
            fprintf(stream, "# left: %s %" PRIu64 "\n", profile->ops[i].name, profile->ops[i].left_calls);
}

void text_write_borders(const struct aggstats_profile *profile, FILE *stream) {
    if (profile->interval_cycles == 0)
        return;
    fputs("# borders:", stream);
    for (size_t i = 0; i < profile->interval_count; i++)
        fprintf(stream, " %" PRIu64, profile->borders[i]);
    putc('\n', stream);
}
