/* A recording as JSON: each layer as 'osprof show --json' prints it, and the table. */
#include <errno.h>
#include <string.h>

#include "advice_json.h"
#include "base.h"
#include "json_writer.h"
#include "layers.h"
#include "layers_page.h"
#include "views.h"

#define JSON_VERSION 1
#define TEXT_SIZE 1024

static const char *layer_name(const struct layers_table *table, size_t layer) {
    return layers_name(&table->profiles[layer]);
}

static void write_ops(struct json_writer *writer, const struct layers_table *table, const struct layers_row *row,
                      size_t layer) {
    char text[TEXT_SIZE];
    char *rest = text;
    layers_format_ops(table, row, layer, true, text, sizeof(text));
    json_begin(writer, "ops", '[');
    for (const char *op = strsep(&rest, ", "); op; op = strsep(&rest, ", "))
        if (op[0])
            json_text(writer, NULL, op);
    json_end(writer, ']');
}

static void write_seconds(struct json_writer *writer, const struct layers_table *table, size_t layer,
                          const struct layers_cell *cell) {
    if (!layers_has_rate(&table->profiles[layer]))
        return;
    json_real(writer, "total_seconds", cell->total_ns / 1e9);
    if (cell->queued_ns > 0)
        json_real(writer, "queued_seconds", cell->queued_ns / 1e9);
    if (cell->here == LAYERS_HERE_KNOWN)
        json_real(writer, "here_seconds", cell->here_ns / 1e9);
}

static void write_cell(struct json_writer *writer, const struct layers_table *table, const struct layers_row *row,
                       size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    double answered_share = layers_answered_share(table, row, layer);
    json_begin(writer, NULL, '{');
    json_text(writer, "layer", layer_name(table, layer));
    write_ops(writer, table, row, layer);
    json_count(writer, "calls", cell->calls);
    write_seconds(writer, table, layer, cell);
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        json_bool(writer, "asynchronous_below", true);
    if (answered_share > 0)
        json_real(writer, "answered_share", answered_share);
    json_end(writer, '}');
}

static void write_row(struct json_writer *writer, const struct layers_table *table, const struct layers_row *row) {
    json_begin(writer, NULL, '{');
    json_text(writer, "name", row->name);
    json_begin(writer, "layers", '[');
    for (size_t layer = 0; layer < table->layer_count; layer++)
        if (row->cells[layer].is_there)
            write_cell(writer, table, row, layer);
    json_end(writer, ']');
    json_end(writer, '}');
}

static int write_table(const struct recording *recording, FILE *stream) {
    struct layers_table table;
    struct json_writer writer = {.stream = stream};
    int error = layers_table_make(recording->layers, recording->count, &table);
    if (error)
        return error;
    json_begin(&writer, NULL, '[');
    for (size_t i = 0; i < table.row_count; i++)
        write_row(&writer, &table, &table.rows[i]);
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
