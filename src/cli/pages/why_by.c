/* Slow calls of one caller, operation and main cause are a row. Causes are counted by operation only, so only the
 * latest calls can be assigned to callers. */
#include "aggstats/why.h"
#include "why_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base.h"
#include "sheet.h"

#define WHO_SIZE (AGGSTATS_PROGRAM_SIZE + 24)
#define NOT_KNOWN "(not known)"

struct row {
    char who[WHO_SIZE];
    const struct aggstats_call *first; /* has the operation and the cause */
    uint64_t calls;
    double total_cycles;
    uint64_t longest_cycles;
};

struct table {
    struct row *rows; /* [calls of the profile] */
    size_t count;
    uint64_t calls;
    double total_cycles;
};

/* ---- Rows --------------------------------------------------------------------------------------- */

static void name_who(const struct aggstats_call *call, const char *by, char ret_who[WHO_SIZE]) {
    if (strcmp(by, "uid") == 0)
        snprintf(ret_who, WHO_SIZE, "%" PRIu64, call->uid);
    else if (strcmp(by, "program") == 0)
        snprintf(ret_who, WHO_SIZE, "%s", call->program[0] ? call->program : NOT_KNOWN);
    else if (call->process > 0)
        snprintf(ret_who, WHO_SIZE, "%" PRIu64 " %s", call->process, call->program);
    else
        snprintf(ret_who, WHO_SIZE, NOT_KNOWN);
}

static struct row *find_row(struct table *table, const char *who, const struct aggstats_call *call) {
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].who, who) == 0 && strcmp(table->rows[i].first->op, call->op) == 0 &&
            aggstats_why_is_same(&table->rows[i].first->cause, &call->cause))
            return &table->rows[i];
    return NULL;
}

static void add_call(struct table *table, const struct aggstats_call *call, const char *by) {
    char who[WHO_SIZE];
    name_who(call, by, who);
    struct row *row = find_row(table, who, call);
    if (!row) {
        row = &table->rows[table->count++];
        *row = (struct row){.first = call};
        memcpy(row->who, who, sizeof(row->who));
    }
    row->calls++;
    row->total_cycles += (double)call->latency_cycles;
    row->longest_cycles = call->latency_cycles > row->longest_cycles ? call->latency_cycles : row->longest_cycles;
    table->calls++;
    table->total_cycles += (double)call->latency_cycles;
}

static int compare_rows(const void *left, const void *right) {
    const struct row *a = left;
    const struct row *b = right;
    if (a->total_cycles != b->total_cycles)
        return a->total_cycles < b->total_cycles ? 1 : -1;
    return strcmp(a->who, b->who);
}

/* ---- Printing ----------------------------------------------------------------------------------- */

static void print_table(const struct table *table, const char *by, const struct units *units,
                        const struct screen *screen) {
    const struct sheet_column columns[] = {
        {"share", SHEET_NUMBER, 0},   {"total", SHEET_NUMBER, 2}, {"calls", SHEET_NUMBER, 3},
        {"longest", SHEET_NUMBER, 4}, {by, SHEET_NAME, 5},        {"operation: cause", SHEET_TEXT, 1},
    };
    CLEANUP_SHEET struct sheet_table sheet = SHEET_TABLE(columns, units);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const struct aggstats_why *why = &row->first->cause;
        char cause[AGGSTATS_WHY_TEXT_SIZE];
        sheet_add_share(&sheet, table->total_cycles > 0 ? row->total_cycles / table->total_cycles : 0);
        sheet_add_cycles(&sheet, row->total_cycles);
        sheet_add_count(&sheet, row->calls);
        sheet_add_cycles(&sheet, row->longest_cycles > 0 ? (double)row->longest_cycles : NAN); /* none has ended */
        sheet_add(&sheet, row->who);
        sheet_addf(&sheet, "%s: %s", row->first->op, why->words[0] ? aggstats_why_text(why, cause) : NOT_KNOWN);
    }
    sheet_print(&sheet, screen);
}

/* "Of all these only the last 32 are known one by one; these took 1.23 s:" */
static void print_heading(const struct table *table, const struct units *units, const struct screen *screen) {
    char text[160];
    snprintf(text, sizeof(text),
             "Over the last %s slow call%s, all that %s known one by one, %s in all:", units_count(table->calls).text,
             units_plural(table->calls), table->calls == 1 ? "is" : "are",
             units_cycles(units, table->total_cycles).text);
    putc('\n', screen->stream);
    screen_print_wrapped(screen, 0, 0, text);
}

void why_by_print(const struct aggstats_profile *profile, const struct option_list *ops, const char *by,
                  const struct units *units, const struct screen *screen) {
    struct table table = {.rows = calloc(profile->slow_call_count + 1, sizeof(*table.rows))};
    for (size_t i = 0; i < profile->slow_call_count && table.rows; i++)
        if (option_list_wants(ops, profile->slow_calls[i].op))
            add_call(&table, &profile->slow_calls[i], by);
    if (table.count > 0) {
        qsort(table.rows, table.count, sizeof(*table.rows), compare_rows);
        print_heading(&table, units, screen);
        print_table(&table, by, units, screen);
    }
    free(table.rows);
}
