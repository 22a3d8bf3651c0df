/* Profiles as JSON with the advice of the page; and recordings: each layer as 'osprof show --json' prints it, and the
 * table. */
#include <errno.h>
#include <string.h>

#include "answer_model.h"
#include "base.h"
#include "json_writer.h"
#include "layers.h"
#include "layers_page.h"
#include "show.h"
#include "views.h"

#define JSON_VERSION 1
#define TEXT_SIZE 1024

static uint64_t narrow(wide_count count) {
    return count > UINT64_MAX ? UINT64_MAX : (uint64_t)count;
}

int advice_json_write(const struct aggstats_profile *profile, FILE *stream) {
    struct answer_model model;
    struct view_advice views[ADVICE_MAX];
    const double hz = (double)profile->clock.frequency_hz;
    answer_model_make(profile, NULL, 0, &model);
    for (size_t i = 0; i < model.advice_count; i++) {
        const struct advice *advice = &model.advice[i];
        views[i] = (struct view_advice){
            .rule = advice_rule_name(advice->rule),
            .op = advice->op ? advice->op->name : NULL,
            .program = advice->program ? advice->program->name : NULL,
            .place = advice->place ? advice->place->name : NULL,
            .calls = narrow(advice->calls),
            .of_calls = narrow(advice->of_calls),
            .busy_seconds = hz > 0 ? advice->busy_cycles / hz : 0,
            .bound = advice->bound,
            .between = advice->between,
        };
    }
    return view_write_advised_json(profile, views, model.advice_count, stream);
}

/* ---- Recordings --------------------------------------------------------------------------------- */

static void write_cell(struct json_writer *writer, const struct layers_table *table, const struct layers_row *row,
                       size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const double answered_share = layers_answered_share(table, row, layer);
    char text[TEXT_SIZE];
    char *rest = text;
    json_begin(writer, NULL, '{');
    json_text(writer, "layer", layers_name(&table->profiles[layer]));
    layers_format_ops(table, row, layer, true, text, sizeof(text));
    json_begin(writer, "ops", '[');
    for (const char *op = strsep(&rest, ", "); op; op = strsep(&rest, ", "))
        if (op[0])
            json_text(writer, NULL, op);
    json_end(writer, ']');
    json_count(writer, "calls", cell->calls);
    if (layers_has_rate(&table->profiles[layer])) {
        json_real(writer, "total_seconds", cell->total_ns / 1e9);
        if (cell->queued_ns > 0)
            json_real(writer, "queued_seconds", cell->queued_ns / 1e9);
        if (cell->here == LAYERS_HERE_KNOWN)
            json_real(writer, "here_seconds", cell->here_ns / 1e9);
    }
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        json_bool(writer, "asynchronous_below", true);
    if (answered_share > 0)
        json_real(writer, "answered_share", answered_share);
    json_end(writer, '}');
}

static int write_table(const struct recording *recording, FILE *stream) {
    struct layers_table table;
    struct json_writer writer = {.stream = stream};
    int error = layers_table_make(recording->layers, recording->count, &table);
    if (error)
        return error;
    json_begin(&writer, NULL, '[');
    for (size_t i = 0; i < table.row_count; i++) {
        const struct layers_row *row = &table.rows[i];
        json_begin(&writer, NULL, '{');
        json_text(&writer, "name", row->name);
        json_begin(&writer, "layers", '[');
        for (size_t layer = 0; layer < table.layer_count; layer++)
            if (row->cells[layer].is_there)
                write_cell(&writer, &table, row, layer);
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    layers_table_finish(&table);
    return 0;
}

/* Each layer is an object as written by itself. */
int layers_page_write_json(const struct recording *recording, FILE *stream) {
    int error = 0;
    fprintf(stream, "{\n\"version\": %d,\n\"layers\": [\n", JSON_VERSION);
    for (size_t i = 0; i < recording->count && error == 0; i++) {
        fputs(i > 0 ? ",\n" : "", stream);
        error = advice_json_write(&recording->layers[i], stream);
    }
    fputs("],\n\"table\": ", stream);
    if (error == 0)
        error = write_table(recording, stream);
    fputs("}\n", stream);
    errno = 0;
    if (error == 0 && (fflush(stream) != 0 || ferror(stream)))
        error = errno ? negative_errno() : -EIO;
    return error;
}
