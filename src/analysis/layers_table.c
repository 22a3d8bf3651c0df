/* The layers of a recording side by side. Clocks differ, so times are in nanoseconds. */
#include "layers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "figures.h"

#define COMMON_MIN 0.5 /* of the shorter time, which the other must cover */
#define LONGER_MIN 2.0
#define LONGER_NS 1e9

static enum layer layer_at(const struct layers_table *table, size_t index) {
    return layers_of_name(layers_name(&table->profiles[index]));
}

/* ---- Clocks and times --------------------------------------------------------------------------- */

bool layers_has_rate(const struct aggstats_profile *profile) {
    return profile->clock.frequency_hz > 0;
}

static double to_ns(const struct aggstats_profile *profile, uint64_t cycles) {
    return layers_has_rate(profile) ? (double)cycles * NS_PER_S / (double)profile->clock.frequency_hz : 0;
}

/* The elapsed times of merged profiles are sums, and say nothing about when. */
static bool has_times(const struct aggstats_profile *profile) {
    return profile->has_start && profile->has_elapsed && layers_has_rate(profile) && profile->merged <= 1;
}

enum layers_times layers_compare_times(const struct aggstats_profile *a, const struct aggstats_profile *b) {
    if (!has_times(a) || !has_times(b))
        return LAYERS_TIMES_ALIKE;
    double a_ns = to_ns(a, a->elapsed_cycles);
    double b_ns = to_ns(b, b->elapsed_cycles);
    double begin_b_ns = (double)(b->start_ns - a->start_ns); /* from the beginning of a */
    double begin_ns = begin_b_ns > 0 ? begin_b_ns : 0;
    double end_ns = begin_b_ns + b_ns < a_ns ? begin_b_ns + b_ns : a_ns;
    double shorter_ns = a_ns < b_ns ? a_ns : b_ns;
    double longer_ns = a_ns < b_ns ? b_ns : a_ns;
    if (end_ns - begin_ns < COMMON_MIN * shorter_ns)
        return LAYERS_TIMES_APART;
    return longer_ns > LONGER_MIN * shorter_ns && longer_ns - shorter_ns > LONGER_NS ? LAYERS_TIMES_LONGER
                                                                                     : LAYERS_TIMES_ALIKE;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Makes a row for an op, with a place for each layer that has a counterpart. */
static struct layers_row *add_row(struct layers_table *table, const struct layers_relation *relation, size_t layer,
                                  const char *op) {
    struct layers_row *grown = reallocarray(table->rows, table->row_count + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    table->rows = grown;
    struct layers_row *row = &grown[table->row_count++];
    *row = (struct layers_row){.relation = relation};
    snprintf(row->name, sizeof(row->name), "%s", relation ? relation->name : op);
    for (size_t i = 0; i < table->layer_count; i++)
        row->cells[i].is_there =
            relation ? layer_at(table, i) != LAYER_IS_QUEUE && layers_has_place(relation, layer_at(table, i))
                     : i == layer;
    return row;
}

static struct layers_row *find_row(struct layers_table *table, const struct layers_relation *relation) {
    for (size_t i = 0; relation && i < table->row_count; i++)
        if (table->rows[i].relation == relation)
            return &table->rows[i];
    return NULL;
}

static int add_op(struct layers_table *table, size_t layer, const struct aggstats_op_profile *op) {
    const struct layers_relation *relation = layers_relate(layer_at(table, layer), op->name);
    struct layers_row *row = find_row(table, relation);
    if (op->calls == 0)
        return 0;
    if (!row)
        row = add_row(table, relation, layer, op->name);
    if (!row)
        return -ENOMEM;
    struct layers_cell *cell = &row->cells[layer];
    double ns = to_ns(&table->profiles[layer], op->total_cycles);
    bool is_queued = layers_is_queued(layer_at(table, layer), op->name);
    cell->is_there = true; /* a queue only if something has waited */
    cell->calls += is_queued ? 0 : op->calls;
    cell->total_ns += ns;
    cell->queued_ns += is_queued ? ns : 0;
    cell->moved_bytes += (double)op->moved_bytes;
    return 0;
}

/* ---- A layer's own time ------------------------------------------------------------------------- */

static size_t next_below(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    size_t below = layer + 1;
    while (below < table->layer_count && (!row->cells[below].is_there || layer_at(table, below) == LAYER_IS_QUEUE))
        below++;
    return layer_at(table, layer) == LAYER_IS_QUEUE ? table->layer_count : below;
}

/* The layer with the requests of this layer that have waited. */
static size_t queue_beside(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    const bool has_queue = layer_at(table, layer) == LAYER_IS_FUSE && layer + 1 < table->layer_count &&
                           layer_at(table, layer + 1) == LAYER_IS_QUEUE && row->cells[layer + 1].is_there;
    return has_queue ? layer + 1 : table->layer_count;
}

static bool can_subtract(const struct layers_table *table, const struct layers_row *row, size_t layer, size_t below) {
    const struct aggstats_profile *a = &table->profiles[layer];
    const struct aggstats_profile *b = &table->profiles[below];
    bool has_calls = row->cells[layer].calls > 0 || row->cells[below].calls == 0;
    return has_calls && layers_has_rate(a) && layers_has_rate(b) && layers_compare_times(a, b) != LAYERS_TIMES_APART;
}

static void settle_cell(const struct layers_table *table, struct layers_row *row, size_t layer) {
    struct layers_cell *cell = &row->cells[layer];
    cell->below = next_below(table, row, layer);
    cell->queue = queue_beside(table, row, layer);
    bool is_lowest = cell->below == table->layer_count;
    double waited_ns = cell->queue < table->layer_count ? row->cells[cell->queue].total_ns : 0;
    double rest_ns = cell->total_ns - waited_ns - (is_lowest ? 0 : row->cells[cell->below].total_ns);
    if (is_lowest ? !layers_has_rate(&table->profiles[layer]) : !can_subtract(table, row, layer, cell->below))
        cell->here = LAYERS_HERE_UNKNOWN;
    else
        cell->here = rest_ns < 0 ? LAYERS_HERE_ASYNCHRONOUS : LAYERS_HERE_KNOWN;
    cell->here_ns = cell->here == LAYERS_HERE_KNOWN ? rest_ns : 0;
}

/* A disk works for other programs too, so requests seen only there are no calls of this one. */
static size_t find_outermost(const struct layers_table *table, const struct layers_row *row) {
    size_t there = 0;
    size_t called = table->layer_count;
    for (size_t i = table->layer_count; i-- > 0;) {
        const struct layers_cell *cell = &row->cells[i];
        there = cell->is_there ? i : there;
        const enum layer layer = layer_at(table, i);
        if (cell->calls > 0 && layer != LAYER_IS_BLOCK && (layer != LAYER_IS_QUEUE || called == table->layer_count))
            called = i;
    }
    return called < table->layer_count ? called : there;
}

static void settle_row(const struct layers_table *table, struct layers_row *row) {
    row->outermost = find_outermost(table, row);
    row->is_of_disk_alone = layer_at(table, row->outermost) == LAYER_IS_BLOCK;
    for (size_t i = 0; i < table->layer_count; i++) {
        if (!row->cells[i].is_there)
            continue;
        settle_cell(table, row, i);
        row->layer_count += layer_at(table, i) != LAYER_IS_QUEUE;
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct layers_row *first = a;
    const struct layers_row *second = b;
    double first_ns = first->cells[first->outermost].total_ns;
    double second_ns = second->cells[second->outermost].total_ns;
    if (first->is_of_disk_alone != second->is_of_disk_alone)
        return first->is_of_disk_alone ? 1 : -1;
    if (first_ns != second_ns)
        return first_ns < second_ns ? 1 : -1;
    int order = strcmp(first->name, second->name);
    return order != 0 ? order : (first->outermost > second->outermost) - (first->outermost < second->outermost);
}

int layers_table_make(const struct aggstats_profile *profiles, size_t count, struct layers_table *ret_table) {
    struct layers_table table = {.profiles = profiles, .layer_count = count < LAYERS_MAX ? count : LAYERS_MAX};
    int error = 0;
    for (size_t layer = 0; layer < table.layer_count; layer++)
        for (size_t i = 0; i < profiles[layer].op_count && error == 0; i++)
            error = add_op(&table, layer, &profiles[layer].ops[i]);
    if (error) {
        layers_table_finish(&table);
        return error;
    }
    for (size_t i = 0; i < table.row_count; i++)
        settle_row(&table, &table.rows[i]);
    if (table.row_count > 0)
        qsort(table.rows, table.row_count, sizeof(*table.rows), compare_rows);
    *ret_table = table;
    return 0;
}

void layers_table_finish(struct layers_table *table) {
    free(table->rows);
    *table = (struct layers_table){.rows = NULL};
}

/* ---- Conclusions from a row --------------------------------------------------------------------- */

bool layers_are_kernels(const struct layers_table *table, const struct layers_row *row) {
    bool has_kernel_data = false;
    for (size_t i = 0; i < table->layer_count; i++)
        has_kernel_data = has_kernel_data || layers_has_kernel_data(&table->profiles[i]);
    return has_kernel_data && (strcmp(row->name, "READ") == 0 || strcmp(row->name, "WRITE") == 0);
}

/* False if nothing is known of what the layer below was not asked for. */
static bool can_answer(const struct layers_table *table, const struct layers_row *row, size_t layer, size_t below) {
    return row->cells[layer].is_there && below < table->layer_count && row->relation && row->relation->is_cached &&
           !table->profiles[below].incomplete && !layers_are_kernels(table, row) &&
           layers_compare_times(&table->profiles[layer], &table->profiles[below]) != LAYERS_TIMES_APART;
}

double layers_answered_share(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    if (!can_answer(table, row, layer, cell->below))
        return 0;
    const wide_count requests = row->cells[cell->below].calls;
    return requests < cell->calls ? (double)(cell->calls - requests) / (double)cell->calls : 0;
}

/* A layer without bytes, such as fuse, has passed on what the one below it has read. */
static size_t next_with_bytes(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    size_t below = row->cells[layer].below;
    while (below < table->layer_count && row->cells[below].calls > 0 && row->cells[below].moved_bytes <= 0)
        below = row->cells[below].below;
    return below;
}

double layers_answered_bytes(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const size_t below = next_with_bytes(table, row, layer);
    if (strcmp(row->name, "READ") != 0 || cell->moved_bytes <= 0 || below == table->layer_count)
        return NAN;
    if (!can_answer(table, row, layer, below))
        return 0;
    return fmax(0, 1 - row->cells[below].moved_bytes / cell->moved_bytes);
}

size_t layers_known_end(const struct layers_table *table, const struct layers_row *row) {
    size_t end = row->outermost;
    while (end < table->layer_count && (!row->cells[end].is_there || row->cells[end].here == LAYERS_HERE_KNOWN))
        end++;
    return end;
}

size_t layers_largest_part(const struct layers_table *table, const struct layers_row *row, size_t but) {
    const size_t end = layers_known_end(table, row);
    size_t largest = table->layer_count;
    for (size_t i = row->outermost; i < end; i++) {
        double most_ns = largest < table->layer_count ? row->cells[largest].here_ns : 0;
        if (row->cells[i].is_there && i != but && row->cells[i].here_ns > most_ns)
            largest = i;
    }
    return largest;
}

void layers_format_ops(const struct layers_table *table, const struct layers_row *row, size_t layer, bool has_queued,
                       char *ret_text, size_t size_bytes) {
    const struct aggstats_profile *profile = &table->profiles[layer];
    size_t length = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < profile->op_count && length < size_bytes; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        const struct layers_relation *relation = layers_relate(layer_at(table, layer), op->name);
        if (!has_queued && layers_is_queued(layer_at(table, layer), op->name))
            continue;
        if (op->calls == 0 || relation != row->relation || (!relation && strcmp(op->name, row->name) != 0))
            continue;
        int written = snprintf(ret_text + length, size_bytes - length, "%s%s", length > 0 ? ", " : "", op->name);
        length += written > 0 ? (size_t)written : 0;
    }
}
