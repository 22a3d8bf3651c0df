/* The table of the operations of layers that belong together. Each name is in one row; an operation without counterparts
 * has a row of its own. tests/unit/test_layers_table.c checks it against the names of the layers that we record. By it the
 * layers of a recording stand side by side. Clocks differ, so times are in nanoseconds. */
#include "layers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/words.h"
#include "base.h"
#include "figures.h"

#define COMMON_MIN 0.5 /* of the shorter time, which the other must cover */
#define LONGER_MIN 2.0
#define LONGER_NS 1e9

#define NAME(constant, word) [LAYER_IS_##constant] = word,
static const char *const layer_names[LAYER_IS_OTHER] = {LAYER_ROWS(NAME, NAME)};
_Static_assert(LAYER_COUNT == LAYER_IS_OTHER, "each layer has a word");

enum layer layers_of_name(const char *name) {
    return (enum layer)word_index(layer_names, ARRAY_SIZE(layer_names), name);
}

const char *layers_title(const char *name) {
    switch (layers_of_name(name)) {
    case LAYER_IS_USER:
        return "libc";
    case LAYER_IS_FUSE:
        return "FUSE";
    case LAYER_IS_FS:
        return "lower";
    default:
        return name;
    }
}

const char *layers_name(const struct aggstats_profile *profile) {
    const char *name = aggstats_profile_label(profile, "layer");
    return name ? name : "fs";
}

/* A mount that copies data has no such label. */
bool layers_has_kernel_data(const struct aggstats_profile *profile) {
    return aggstats_profile_label(profile, "data") != NULL;
}

#define QUEUED "_QUEUED" /* see layers_is_queued() */
#define READ_AHEAD "reading ahead goes on while nobody waits for it"
#define WRITE_BACK "what is written back is written while nobody waits for it"
#define OTHERS_NAMES "it looks up the names of other calls too"
#define SENT_LATER "RELEASE is sent when nobody waits for it any more"
#define DIR_SENT_LATER "RELEASEDIR is sent when nobody waits for it any more"

/* Any call that takes a path looks up names, and checks permissions. */
#define PATH "LOOKUP GETATTR"

static const struct layers_relation relations[] = {
    {.name = "READ",
     .ops = {"READ READV PREAD PREADV FREAD FGETS FGETC FSCANF SENDFILE", "READ", "READ"},
     .is_cached = true,
     .elsewhere = "GETATTR",
     .why_more = READ_AHEAD},
    {.name = "WRITE",
     .ops = {"WRITE WRITEV PWRITE PWRITEV FWRITE FPUTS FPUTC FPRINTF FFLUSH", "WRITE", "WRITE"},
     .elsewhere = "GETXATTR", /* whether the file has capabilities, which a write takes away */
     .at_disk = "FLUSH",      /* of writes with O_SYNC or O_DSYNC */
     .why_more = WRITE_BACK},
    {.name = "COPY_FILE_RANGE",
     .ops = {"COPY_FILE_RANGE", "COPY_FILE_RANGE COPY_FILE_RANGE_64"},
     .elsewhere = "READ WRITE GETXATTR"}, /* how the kernel does it if the file system cannot */
    {.name = "OPEN", .ops = {"OPEN FOPEN", "OPEN CREATE TMPFILE"}, .elsewhere = PATH " OPENDIR SETATTR GETXATTR"},
    {.name = "CLOSE", .ops = {"CLOSE FCLOSE", "FLUSH RELEASE"}, .elsewhere = "WRITE", .why_more = SENT_LATER},
    {.name = "STAT",
     .ops = {"STAT FSTAT STATX ACCESS", "LOOKUP GETATTR STATX ACCESS"},
     .is_cached = true,
     .why_more = OTHERS_NAMES},
    {.name = "READDIR",
     .ops = {"OPENDIR READDIR GETDENTS CLOSEDIR", "OPENDIR READDIR READDIRPLUS RELEASEDIR"},
     .is_cached = true,
     .elsewhere = PATH,
     .why_more = DIR_SENT_LATER},
    {.name = "READLINK", .ops = {"READLINK", "READLINK"}, .is_cached = true, .elsewhere = PATH},
    {.name = "STATFS", .ops = {"STATFS", "STATFS"}},
    {.name = "FSYNC",
     .ops = {"FSYNC FDATASYNC MSYNC SYNC_FILE_RANGE SYNCFS", "FSYNC FSYNCDIR SYNCFS"},
     .elsewhere = "WRITE",
     .at_disk = "FLUSH WRITE"},
    {.name = "SETATTR", .ops = {"TRUNCATE FTRUNCATE CHMOD CHOWN UTIMENS", "SETATTR"}, .elsewhere = PATH " GETXATTR"},
    {.name = "FALLOCATE", .ops = {"FALLOCATE", "FALLOCATE"}, .elsewhere = "GETXATTR"},
    {.name = "RENAME", .ops = {"RENAME", "RENAME RENAME2"}, .elsewhere = PATH},
    {.name = "UNLINK", .ops = {"UNLINK", "UNLINK"}, .elsewhere = PATH},
    {.name = "MKDIR", .ops = {"MKDIR", "MKDIR"}, .elsewhere = PATH},
    {.name = "RMDIR", .ops = {"RMDIR", "RMDIR"}, .elsewhere = PATH},
    {.name = "LINK", .ops = {"LINK", "LINK"}, .elsewhere = PATH},
    {.name = "SYMLINK", .ops = {"SYMLINK", "SYMLINK"}, .elsewhere = PATH},
    {.name = "MKNOD", .ops = {"MKNOD", "MKNOD"}, .elsewhere = PATH},
    {.name = "GETXATTR", .ops = {"GETXATTR", "GETXATTR"}, .elsewhere = PATH},
    {.name = "SETXATTR", .ops = {"SETXATTR", "SETXATTR"}, .elsewhere = PATH},
    {.name = "LISTXATTR", .ops = {"LISTXATTR", "LISTXATTR"}, .elsewhere = PATH},
    {.name = "REMOVEXATTR", .ops = {"REMOVEXATTR", "REMOVEXATTR"}, .elsewhere = PATH},
    {.name = "LOCK", .ops = {"FLOCK LOCK", "GETLK SETLK SETLKW"}},
    {.name = "LSEEK", .ops = {"LSEEK FSEEK", "LSEEK"}, .elsewhere = "GETATTR"}, /* finds the end of the file */
    /* operations that either read or write, or do so later */
    {.name = "SPLICE", .ops = {"SPLICE"}},
    {.name = "MMAP", .ops = {"MMAP"}},
    {.name = "FADVISE", .ops = {"FADVISE"}},
    {.name = "IOCTL", .ops = {"IOCTL", "IOCTL"}},
    {.name = "CHDIR", .ops = {"CHDIR"}, .elsewhere = PATH},
    /* requests that no call of the layer user makes */
    {.name = "POLL", .ops = {NULL, "POLL"}},
    {.name = "BMAP", .ops = {NULL, "BMAP"}},
    {.name = "INIT", .ops = {NULL, "INIT"}},
    {.name = "DESTROY", .ops = {NULL, "DESTROY"}},
    /* requests to disks that no single operation above makes: who causes a flush, by fsync(2), O_SYNC or a journal, is
     * not known */
    {.name = "FLUSH", .ops = {NULL, NULL, "FLUSH"}},
    {.name = "DISCARD", .ops = {NULL, NULL, "DISCARD"}},
    {.name = "OTHER", .ops = {NULL, NULL, "OTHER"}},
};

static bool has_word(const char *words, const char *word, size_t length) {
    for (; words && *words; words += strspn(words, " ")) {
        size_t this_length = strcspn(words, " ");
        if (this_length == length && strncmp(words, word, length) == 0)
            return true;
        words += this_length;
    }
    return false;
}

static enum layers_place place_of(enum layer layer) {
    return layer == LAYER_IS_USER ? LAYERS_USER : layer == LAYER_IS_BLOCK ? LAYERS_BLOCK : LAYERS_REQUEST;
}

const struct layers_relation *layers_relate(enum layer layer, const char *op) {
    size_t length = layers_is_queued(layer, op) ? strlen(op) - strlen(QUEUED) : strlen(op);
    for (size_t i = 0; layer != LAYER_IS_OTHER && i < ARRAY_SIZE(relations); i++)
        if (has_word(relations[i].ops[place_of(layer)], op, length))
            return &relations[i];
    return NULL;
}

bool layers_is_queued(enum layer layer, const char *op) {
    size_t length = strlen(op);
    return layer == LAYER_IS_BLOCK && length > strlen(QUEUED) && strcmp(op + length - strlen(QUEUED), QUEUED) == 0;
}

/* ---- Words -------------------------------------------------------------------------------------- */

const char *layers_words(enum layer layer, enum layer below) {
    static const char *const words_of_lowest[] = {
        [LAYER_IS_USER] = "at the layer user, and no other has them",
        [LAYER_IS_FUSE] = "in FUSE and below it",
        [LAYER_IS_QUEUE] = "in the queue for a worker",
        [LAYER_IS_DAEMON] = "in the daemon and below it",
        [LAYER_IS_FS] = "in the lower file system and below it",
        [LAYER_IS_BLOCK] = "at the disk",
        [LAYER_IS_OTHER] = "there",
    };
    if (below == LAYER_IS_OTHER)
        return words_of_lowest[layer];
    switch (layer) {
    case LAYER_IS_USER:
        if (below == LAYER_IS_BLOCK)
            return "in the kernel (page cache, file system)";
        if (below == LAYER_IS_FUSE)
            return "in the kernel, above FUSE (page cache, locks, waking the program)";
        return below == LAYER_IS_FS ? "in the kernel and FUSE (page cache, queues, waking up, what the mount adds)"
                                    : "in the kernel and FUSE (page cache, queues, waking up)";
    case LAYER_IS_FUSE:
        if (below == LAYER_IS_QUEUE)
            return "in FUSE (waking the daemon, copying)";
        if (below == LAYER_IS_BLOCK)
            return "in FUSE and the file system";
        return below == LAYER_IS_FS ? "in FUSE (queues, waking the daemon, copying: what the mount adds)"
                                    : "in FUSE (queues, waking the daemon, copying)";
    case LAYER_IS_DAEMON:
        return below == LAYER_IS_BLOCK ? "in the daemon and the file system below it" : "in the daemon";
    default:
        return "in the lower file system (its cache, locks, journal)";
    }
}

/* ---- A recording -------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < table->layer_count; i++) {
        const enum layer at = layer_at(table, i);
        row->cells[i].is_there =
            relation ? at != LAYER_IS_QUEUE && at != LAYER_IS_OTHER && relation->ops[place_of(at)] : i == layer;
    }
    return row;
}

static int add_op(struct layers_table *table, size_t layer, const struct aggstats_op_profile *op) {
    const struct layers_relation *relation = layers_relate(layer_at(table, layer), op->name);
    struct layers_row *row = NULL;
    if (op->calls == 0)
        return 0;
    for (size_t i = 0; relation && i < table->row_count && !row; i++)
        row = table->rows[i].relation == relation ? &table->rows[i] : NULL;
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

static void settle_cell(const struct layers_table *table, struct layers_row *row, size_t layer) {
    const size_t count = table->layer_count;
    const struct aggstats_profile *profiles = table->profiles;
    struct layers_cell *cell = &row->cells[layer];
    size_t below = layer + 1;
    while (below < count && (!row->cells[below].is_there || layer_at(table, below) == LAYER_IS_QUEUE))
        below++;
    cell->below = layer_at(table, layer) == LAYER_IS_QUEUE ? count : below;
    /* The layer with the requests of this layer that have waited. */
    const bool has_queue = layer_at(table, layer) == LAYER_IS_FUSE && layer + 1 < count &&
                           layer_at(table, layer + 1) == LAYER_IS_QUEUE && row->cells[layer + 1].is_there;
    cell->queue = has_queue ? layer + 1 : count;
    double rest_ns = cell->total_ns - (has_queue ? row->cells[layer + 1].total_ns : 0);
    bool is_known = layers_has_rate(&profiles[layer]);
    if (cell->below < count) {
        rest_ns -= row->cells[below].total_ns;
        is_known = is_known && (cell->calls > 0 || row->cells[below].calls == 0) && layers_has_rate(&profiles[below]) &&
                   layers_compare_times(&profiles[layer], &profiles[below]) != LAYERS_TIMES_APART;
    }
    cell->here = !is_known ? LAYERS_HERE_UNKNOWN : rest_ns < 0 ? LAYERS_HERE_ASYNCHRONOUS : LAYERS_HERE_KNOWN;
    cell->here_ns = cell->here == LAYERS_HERE_KNOWN ? rest_ns : 0;
}

/* A disk works for other programs too, so requests seen only there are no calls of this one. */
static void settle_row(const struct layers_table *table, struct layers_row *row) {
    size_t there = 0;
    size_t called = table->layer_count;
    for (size_t i = table->layer_count; i-- > 0;) {
        const enum layer layer = layer_at(table, i);
        const bool is_called = row->cells[i].calls > 0 && layer != LAYER_IS_BLOCK;
        if (is_called && (layer != LAYER_IS_QUEUE || called == table->layer_count))
            called = i;
        if (!row->cells[i].is_there)
            continue;
        there = i;
        settle_cell(table, row, i);
        row->layer_count += layer != LAYER_IS_QUEUE;
    }
    row->outermost = called < table->layer_count ? called : there;
    row->is_of_disk_alone = layer_at(table, row->outermost) == LAYER_IS_BLOCK;
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

double layers_answered_bytes(const struct layers_table *table, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    size_t below = cell->below;
    /* A layer without bytes, such as fuse, has passed on what the one below it has read. */
    while (below < table->layer_count && row->cells[below].calls > 0 && row->cells[below].moved_bytes <= 0)
        below = row->cells[below].below;
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
