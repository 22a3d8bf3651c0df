/* Certain conclusions from a row. If nobody waits for some requests, the time above them is a lower bound, and their
 * own time an upper bound. */
#include "layers_page.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "facts_text.h"
#include "str.h"
#include "units.h"

#define SHARE_MIN 0.01 /* of the time of the most expensive */
#define ANSWERED_MIN 0.1
#define PART_MIN 0.2  /* a smaller part of the whole is not mentioned */
#define SAID_MIN 0.05 /* nor is a smaller part of a part */
#define LAYER_COLUMNS_MAX 16
#define ELSEWHERE_SIZE 64
#define AT_END ", or the end of a file," /* there a read gets nothing, and nobody is asked */
#define NOT_SEEN_COLUMNS_MAX 120

/* Words that have been explained in parentheses. */
struct said {
    const char *words[2 * LAYERS_ANSWERS_MAX];
    size_t count;
};

struct printer {
    const struct layers_table *table;
    struct sheet *sheet;
    struct said *said;
    bool is_brief;
};

static struct units_text ns_text(const struct printer *it, double ns) {
    return screen_firm(units_seconds(&it->sheet->units, ns / 1e9));
}

static const char *layer_name(const struct printer *it, size_t layer) {
    return layers_name(&it->table->profiles[layer]);
}

static void append_layer(const struct printer *it, struct str *text, size_t layer) {
    CLEANUP_FREE char *name =
        screen_cut(&it->sheet->screen, layers_title(layer_name(it, layer)), LAYER_COLUMNS_MAX, SCREEN_BEGINNING);
    str_add(text, name ? name : "");
}

static enum layer layer_of(const struct printer *it, size_t layer) {
    return layer < it->table->layer_count ? layers_of_name(layer_name(it, layer)) : LAYER_IS_OTHER;
}

/* ---- Calls without requests --------------------------------------------------------------------- */

/* The C library buffers lists of names. */
static const char *who_answered(const struct printer *it, const struct layers_row *row, size_t layer) {
    const struct aggstats_op_profile *lists = aggstats_profile_op(&it->table->profiles[layer], "READDIR");
    switch (layer_of(it, layer)) {
    case LAYER_IS_USER:
        return lists && lists->calls > 0 && layers_relate(LAYER_IS_USER, lists->name) == row->relation
                   ? "the C library's buffers and the kernel's cache"
                   : "the kernel's cache";
    case LAYER_IS_DAEMON:
        return "the daemon, or the kernel's cache below it";
    case LAYER_IS_FS:
        return "the cache of the lower file system";
    default:
        return NULL;
    }
}

/* "the kernel's cache answered at least 96 % of 1.20 MiB that were read"; where bytes are not known "the kernel's cache,
 * or the end of a file, answered at least 96 % of 2,108 calls" */
static void append_answered(const struct printer *it, struct str *text, const struct layers_row *row) {
    const bool are_reads = strcmp(row->name, "READ") == 0;
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        const struct layers_cell *cell = &row->cells[layer];
        const double of_bytes = layers_answered_bytes(it->table, row, layer);
        const double share = isnan(of_bytes) ? layers_answered_share(it->table, row, layer) : of_bytes;
        const char *who = share >= ANSWERED_MIN ? who_answered(it, row, layer) : NULL;
        if (!who)
            continue;
        str_addf(text, "%s%s%s answered %s%s", text->length > 0 ? "; " : "", who,
                 are_reads && isnan(of_bytes) ? AT_END : "", share < 1 ? "at least " : "",
                 screen_firm(units_share(share)).text);
        if (isnan(of_bytes))
            str_addf(text, " of %s call%s", units_count(cell->calls).text, units_plural(cell->calls));
        else
            str_addf(text, " of %s that were read", screen_firm(units_bytes(cell->moved_bytes)).text);
    }
}

/* ---- Where the time went ------------------------------------------------------------------------ */

/* Adds "LOOKUPs, GETATTRs and OPENs" to an empty text: those of the ops whose time at a layer is no small part of that
 * here. Returns their time. A request to a disk takes its time in the queue, too, as the row with its name has it. */
static double list_elsewhere(const struct printer *it, const char *ops, size_t below, double here_ns,
                             struct str *names) {
    const struct aggstats_profile *profile = &it->table->profiles[below];
    char copy[ELSEWHERE_SIZE];
    char *rest = copy;
    size_t last = 0; /* where the last name's separator is */
    double total_ns = 0;
    snprintf(copy, sizeof(copy), "%s", ops);
    for (const char *name = strsep(&rest, " "); name; name = strsep(&rest, " ")) {
        const struct aggstats_op_profile *op = aggstats_profile_op(profile, name);
        double ns = op ? (double)op->total_cycles * 1e9 / (double)profile->clock.frequency_hz : 0;
        for (size_t i = it->table->row_count; i-- > 0 && layer_of(it, below) == LAYER_IS_BLOCK;)
            if (strcmp(it->table->rows[i].name, name) == 0)
                ns = it->table->rows[i].cells[below].total_ns;
        if (ns == 0 || ns < SAID_MIN * here_ns)
            continue;
        last = names->length;
        str_separate(names, ", ");
        str_addf(names, "%ss", name);
        total_ns += ns;
    }
    if (last > 0 && !names->failed) {
        CLEANUP_FREE char *name = strdup(names->text + last + strlen(", "));
        str_cut(names, last);
        str_addf(names, " and %s", name ? name : "");
    }
    return total_ns;
}

/* Nobody waits for some requests: so the time above them is a lower bound of the waiting time, and their own an upper
 * bound. A disk may work for other programs too, so the time just above it is neither. Requests that outnumber the calls
 * above them are of programs that are not observed, or of the kernel itself. */
static void append_share_here(const struct printer *it, struct str *text, const struct layers_row *row, size_t layer) {
    const size_t count = it->table->layer_count;
    const double whole_ns = row->cells[row->outermost].total_ns;
    bool is_exact = layers_known_end(it->table, row) == count && !(row->relation && row->relation->why_more);
    for (size_t i = row->outermost; i < count && is_exact; i++) {
        const struct layers_cell *cell = &row->cells[i];
        is_exact = !cell->is_there || cell->below >= count || layer_of(it, cell->below) == LAYER_IS_BLOCK ||
                   row->cells[cell->below].calls <= cell->calls;
    }
    str_addf(text, "%s%s",
             is_exact                                                  ? ""
             : layer == row->outermost                                 ? "at least "
             : layer_of(it, row->cells[layer].below) == LAYER_IS_BLOCK ? "about "
                                                                       : "at most ",
             screen_firm(units_share(whole_ns > 0 ? row->cells[layer].here_ns / whole_ns : 0)).text);
}

/* A queue that has a layer of its own is not mentioned with the layer above it. Words are explained once.
 *
 * Parts of a call may be in other rows, too: names are looked up, and data is written before it is synced: "..., or in
 * LOOKUPs and GETATTRs, which took 11 ms in all". At the lowest layer of calls it is not known what they ask of a disk:
 * "..., where disks took 128 ms for FLUSHs and WRITEs of these and all other calls" */
static void append_where(const struct printer *it, struct str *text, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const size_t count = it->table->layer_count;
    const bool has_queue = cell->queue < count;
    const bool is_lowest = cell->below == count;
    const size_t other = is_lowest ? count - 1 : cell->below; /* the layer that may have parts of it in other rows */
    const bool is_at_disk = layer_of(it, other) == LAYER_IS_BLOCK;
    const bool is_known = is_lowest ? is_at_disk && layer != other : is_at_disk || layer_of(it, layer) == LAYER_IS_USER;
    const char *words = layers_words(layer_of(it, layer), layer_of(it, has_queue ? cell->queue : cell->below));
    const char *explanation = strstr(words, " (");
    const char *ops = NULL;
    struct said *said = it->said;
    size_t i = 0;
    CLEANUP_STR struct str names = {0};
    while (explanation && i < said->count && said->words[i] != words)
        i++;
    const bool is_said = explanation && i < said->count;
    if (explanation && !is_said && said->count < ARRAY_SIZE(said->words))
        said->words[said->count++] = words;
    str_addf(text, "%.*s", (int)(is_said ? explanation - words : (ptrdiff_t)strlen(words)), words);
    if (is_lowest && cell->queued_ns > 0 && cell->queued_ns >= SAID_MIN * cell->total_ns)
        str_addf(text, ", %s of them in its queue", ns_text(it, cell->queued_ns).text);
    if (row->relation && is_known)
        ops = is_at_disk ? row->relation->at_disk : row->relation->elsewhere;
    const double total_ns = ops ? list_elsewhere(it, ops, other, cell->here_ns, &names) : 0;
    if (total_ns > 0 && is_lowest)
        str_addf(text, ", where disks took %s for %s of these and all other calls", ns_text(it, total_ns).text,
                 str_text(&names));
    else if (total_ns > 0)
        str_addf(text, ", or in %s, which took %s in all", str_text(&names), ns_text(it, total_ns).text);
}

static bool matters(const struct printer *it, const struct layers_row *row, size_t part) {
    return part < it->table->layer_count && row->cells[part].here_ns >= PART_MIN * row->cells[row->outermost].total_ns;
}

/* The two largest parts: "at least 98 % of 131 ms that these calls took were in the kernel and FUSE", "... of 118 ms at
 * the layer fuse ...". If all are known the first is mentioned however small it is. */
static void append_parts(const struct printer *it, struct str *text, const struct layers_row *row) {
    size_t first = layers_largest_part(it->table, row, SIZE_MAX);
    size_t second = layers_largest_part(it->table, row, first);
    bool are_all_known = layers_known_end(it->table, row) == it->table->layer_count;
    if (first == it->table->layer_count || (!are_all_known && !matters(it, row, first)))
        return;
    str_separate(text, "; ");
    append_share_here(it, text, row, first);
    str_addf(text, " of %s", ns_text(it, row->cells[row->outermost].total_ns).text);
    if (layer_of(it, row->outermost) == LAYER_IS_USER) {
        str_add(text, " that these calls took");
    } else {
        str_add(text, " at the layer ");
        append_layer(it, text, row->outermost);
    }
    str_add(text, " were ");
    append_where(it, text, row, first);
    if (!matters(it, row, second))
        return;
    str_add(text, ", and ");
    append_share_here(it, text, row, second);
    str_add(text, " ");
    append_where(it, text, row, second);
}

static void append_took_longer(const struct printer *it, struct str *text, const struct layers_row *row, size_t layer,
                               double more_ns) {
    str_addf(text, " took longer (%s) than ", ns_text(it, more_ns).text);
    append_layer(it, text, layer);
    str_addf(text, " (%s): ", ns_text(it, row->cells[layer].total_ns).text);
}

/* The queue holds the layer's own requests, so the layer below cannot have spent that time on them: "queue and fs took
 * longer (10 ms) than fuse (9.00 ms): they are not of the same calls" */
static void append_too_much(const struct printer *it, struct str *text, const struct layers_row *row, size_t layer) {
    const size_t below = row->cells[layer].below;
    const size_t queue = row->cells[layer].queue;
    double more_ns = row->cells[queue].total_ns;
    append_layer(it, text, queue);
    if (below < it->table->layer_count) {
        str_add(text, " and ");
        append_layer(it, text, below);
        more_ns += row->cells[below].total_ns;
    }
    append_took_longer(it, text, row, layer, more_ns);
    str_add(text, "they are not of the same calls");
}

/* "; files were mapped, too, which are read without a call; user does not see 1 statically linked program" */
static void append_not_seen(const struct printer *it, struct str *text, const struct layers_row *row, size_t layer) {
    const struct aggstats_profile *profile = &it->table->profiles[layer];
    const struct aggstats_op_profile *mapped = aggstats_profile_op(profile, "MMAP");
    const bool is_read = strcmp(row->name, "READ") == 0;
    if (layer_of(it, layer) != LAYER_IS_USER)
        return;
    if (mapped && mapped->calls > 0 && (is_read || strcmp(row->name, "WRITE") == 0))
        str_addf(text, "; files were mapped, too, which are %s without a call", is_read ? "read" : "written");
    CLEANUP_FREE char *shown = facts_text_not_seen(profile, &it->sheet->screen, NOT_SEEN_COLUMNS_MAX);
    if (shown && shown[0])
        str_addf(text, "; libc does not measure %s", shown);
}

/* "fuse took longer (118 ms) than user (80.0 ms): reading ahead goes on while nobody waits for it" */
static void append_asynchronous(const struct printer *it, struct str *text, const struct layers_row *row) {
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        const struct layers_cell *cell = &row->cells[layer];
        if (!cell->is_there || cell->here != LAYERS_HERE_ASYNCHRONOUS)
            continue;
        str_separate(text, "; ");
        if (cell->below == it->table->layer_count || row->cells[cell->below].total_ns <= cell->total_ns) {
            append_too_much(it, text, row, layer);
            continue;
        }
        append_layer(it, text, cell->below);
        append_took_longer(it, text, row, layer, row->cells[cell->below].total_ns);
        str_add(text, row->relation && row->relation->why_more ? row->relation->why_more
                                                               : "it worked for more than these calls");
        if (layer_of(it, cell->below) == LAYER_IS_BLOCK)
            str_add(text, ", or other programs used the disk");
        append_not_seen(it, text, row, layer);
    }
}

/* The kernel decides on locks of files, unless the mount takes them. */
static bool are_hidden_locks(const struct printer *it, const struct layers_row *row) {
    bool are_hidden = strcmp(row->name, "LOCK") == 0 && layer_of(it, row->outermost) == LAYER_IS_USER;
    for (size_t layer = row->outermost + 1; layer < it->table->layer_count; layer++)
        are_hidden = are_hidden && row->cells[layer].calls == 0;
    return are_hidden;
}

void layers_answer_put(struct sheet *sheet, const struct layers_table *table, const unsigned *ranks) {
    struct said said = {.count = 0};
    const struct printer it = {table, sheet, &said, ranks != NULL};
    double most_ns = 0; /* of those that are there */
    size_t count = 0;
    for (size_t i = 0; i < table->row_count && count < LAYERS_ANSWERS_MAX; i++) {
        const struct layers_row *row = &table->rows[i];
        const struct layers_cell *outermost = &row->cells[row->outermost];
        /* If one layer alone has it, there is nothing to split. */
        if (row->layer_count <= 1 || outermost->calls == 0 || outermost->below >= table->layer_count ||
            outermost->total_ns < SHARE_MIN * most_ns)
            continue;
        most_ns = count == 0 ? outermost->total_ns : most_ns;
        sheet->rank = ranks ? ranks[count] : 0;
        if (count++ == 0)
            sheet_gap(sheet);
        CLEANUP_STR struct str text = {0};
        if (layers_are_kernels(table, row)) {
            str_add(&text, LAYERS_KERNEL_DATA);
        } else if (are_hidden_locks(&it, row)) {
            str_addf(&text,
                     "%s that these calls took were in the kernel: locks of files are not forwarded to the mount",
                     ns_text(&it, outermost->total_ns).text);
        } else {
            append_answered(&it, &text, row);
            append_parts(&it, &text, row);
            if (!it.is_brief || text.length == 0) /* the table says which layers have more below */
                append_asynchronous(&it, &text, row);
        }
        if (text.length > 0)
            sheet_sentence(sheet, 0, "%s: %s.", row->name, str_text(&text));
    }
    sheet->rank = 0;
}
