/* Which operations of layers are related, and what stays between two layers. */
#include <string.h>

#include "fs_ops.h"
#include "layers.h"
#include "posix_ops.h"
#include "testing.h"
#include "wire_ops.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Names -------------------------------------------------------------------------------------- */

#define NAME_OF_FS(NAME, ...) #NAME,
#define NAME_OF_POSIX(NAME) #NAME,
#define NAME_OF_WIRE(CODE, NAME, ...) #NAME,
static const char *const requests[] = {FS_OPS(NAME_OF_FS) WIRE_OPS(NAME_OF_WIRE)};
static const char *const calls_of_libc[] = {POSIX_OPS(NAME_OF_POSIX)};
static const char *const disk_requests[] = {"READ",  "WRITE",       "FLUSH",        "DISCARD",
                                            "OTHER", "READ_QUEUED", "WRITE_QUEUED", "OTHER_QUEUED"};

TEST(every_call_of_libc_is_in_a_row, .to = COUNT(calls_of_libc)) {
    ck_assert_msg(layers_relate(LAYER_IS_USER, calls_of_libc[_i]), "%s is in no row of layers_relation.c",
                  calls_of_libc[_i]);
}

TEST(every_request_is_in_a_row_at_each_layer_that_has_it, .to = COUNT(requests)) {
    static const enum layer layers[] = {LAYER_IS_FUSE, LAYER_IS_QUEUE, LAYER_IS_DAEMON, LAYER_IS_FS};
    for (size_t i = 0; i < COUNT(layers); i++)
        ck_assert_msg(layers_relate(layers[i], requests[_i]), "%s is in no row of layers_relation.c", requests[_i]);
}

TEST(every_request_to_a_disk_is_in_a_row, .to = COUNT(disk_requests)) {
    ck_assert_msg(layers_relate(LAYER_IS_BLOCK, disk_requests[_i]), "%s is in no row", disk_requests[_i]);
}

TEST(names_are_those_of_their_layer) {
    ck_assert_str_eq(layers_relate(LAYER_IS_FS, "FLUSH")->name, "CLOSE");
    ck_assert_str_eq(layers_relate(LAYER_IS_BLOCK, "FLUSH")->name, "FLUSH");
    ck_assert_ptr_null(layers_relate(LAYER_IS_USER, "FLUSH"));
    ck_assert_str_eq(layers_relate(LAYER_IS_FUSE, "CREATE")->name, "OPEN");
    ck_assert_str_eq(layers_relate(LAYER_IS_USER, "OPEN")->name, "OPEN");
    ck_assert_str_eq(layers_relate(LAYER_IS_DAEMON, "LOOKUP")->name, "STAT");
    ck_assert_ptr_null(layers_relate(LAYER_IS_USER, "REA"));
    ck_assert_ptr_null(layers_relate(LAYER_IS_USER, "READ PREAD"));
    ck_assert_ptr_null(layers_relate(LAYER_IS_USER, ""));
    ck_assert_ptr_null(layers_relate(LAYER_IS_FS, "READ_QUEUED"));
    ck_assert_ptr_null(layers_relate(LAYER_IS_BLOCK, "_QUEUED"));
    ck_assert_ptr_null(layers_relate(LAYER_IS_OTHER, "READ"));
}

TEST(layers_are_ordered_from_the_program_to_the_disk) {
    static const char *const names[] = {"user", "fuse", "queue", "daemon", "fs", "block", "ext4"};
    for (size_t i = 0; i < COUNT(names); i++)
        ck_assert_uint_eq(layers_of_name(names[i]), i);
    ck_assert_uint_eq(layers_of_name(""), LAYER_IS_OTHER);
}

TEST(there_are_words_between_all_layers) {
    for (enum layer layer = LAYER_IS_USER; layer <= LAYER_IS_OTHER; layer++)
        for (enum layer below = layer + 1; below <= LAYER_IS_OTHER; below++)
            ck_assert_uint_gt(strlen(layers_words(layer, below)), 0);
    ck_assert_uint_gt(strlen(layers_words(LAYER_IS_OTHER, LAYER_IS_OTHER)), 0);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

#define LAYERS_COUNT_MAX 4
#define NS "# clock: monotonic 1000000000 Hz\n"

static struct aggstats_profile profiles[LAYERS_COUNT_MAX];
static size_t profile_count;
static struct layers_table table;

static void set_up(void) {
    profile_count = 0;
    table = (struct layers_table){.rows = NULL};
}

static void tear_down(void) {
    layers_table_finish(&table);
    for (size_t i = 0; i < profile_count; i++)
        aggstats_profile_finish(&profiles[i]);
}

static void layer(const char *text) {
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    struct aggstats_parse_error error;
    ck_assert_msg(aggstats_profile_parse(stream, &profiles[profile_count++], &error) == 0, "%s", error.message);
    fclose(stream);
}

static void make(void) {
    ck_assert_int_eq(layers_table_make(profiles, profile_count, &table), 0);
}

static const struct layers_row *row(const char *name) {
    for (size_t i = 0; i < table.row_count; i++)
        if (strcmp(table.rows[i].name, name) == 0)
            return &table.rows[i];
    ck_abort_msg("no row %s", name);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(operations_of_a_row_are_added_up_in_nanoseconds) {
    layer("# layer: user\n# clock: tsc 2000000000 Hz\nOP_READ 5 4000\n-\nOP_PREAD 2 2000\n-\nOP_OPEN 1 10\n-\n");
    layer("# layer: fs\n" NS "OP_READ 3 900\n-\n");
    make();
    const struct layers_row *read = row("READ");
    ck_assert_uint_eq(read->cells[0].calls, 7);
    ck_assert_double_eq(read->cells[0].total_ns, 3000);
    ck_assert_double_eq(read->cells[0].here_ns, 2100);
    ck_assert_uint_eq(read->cells[1].calls, 3);
    ck_assert_double_eq(read->cells[1].total_ns, 900);
    ck_assert_double_eq(read->cells[1].here_ns, 900);
    ck_assert_uint_eq(read->cells[0].below, 1);
    ck_assert_uint_eq(read->cells[1].below, 2);
    ck_assert_uint_eq(read->layer_count, 2);
    ck_assert_uint_eq(layers_largest_part(&table, read, SIZE_MAX), 0);
    char text[64];
    layers_format_ops(&table, read, 0, true, text, sizeof(text));
    ck_assert_str_eq(text, "READ, PREAD");
    layers_format_ops(&table, read, 0, true, text, 8);
    ck_assert_str_eq(text, "READ, P");
}

TEST(time_before_a_disk_got_a_request_is_an_operation_that_need_not_be_named) {
    char text[64];
    layer("# layer: fs\n" NS "OP_READ 3 9000\n-\n");
    layer("# layer: block\n" NS "OP_READ 3 900\n-\nOP_READ_QUEUED 2 100\n-\n");
    make();
    layers_format_ops(&table, row("READ"), 1, true, text, sizeof(text));
    ck_assert_str_eq(text, "READ, READ_QUEUED");
    layers_format_ops(&table, row("READ"), 1, false, text, sizeof(text));
    ck_assert_str_eq(text, "READ");
}

TEST(what_a_disk_alone_has_comes_last) {
    layer("# layer: user\n" NS "OP_FSYNC 40 1390000\n-\nOP_LSEEK 2 3\n-\n");
    layer("# layer: block\n" NS "OP_FLUSH 80 1500000\n-\nOP_READ 2 1600000\n-\n");
    make();
    ck_assert_str_eq(table.rows[0].name, "FSYNC");
    ck_assert_str_eq(table.rows[1].name, "LSEEK");
    ck_assert_str_eq(table.rows[table.row_count - 1].name, "FLUSH");
    ck_assert(table.rows[table.row_count - 1].is_of_disk_alone);
    ck_assert(!table.rows[0].is_of_disk_alone);
}

TEST(bytes_at_the_end_of_a_file_are_none) {
    layer("# layer: user\n" NS "# bytes: READ asked 8192 moved 4096\nOP_READ 2 900\n-\n");
    layer("# layer: fs\n" NS "# bytes: READ asked 8192 moved 4096\nOP_READ 1 90\n-\n");
    make();
    ck_assert_double_eq(layers_answered_bytes(&table, row("READ"), 0), 0);
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 0), 0.5); /* of the calls */
    tear_down();
    set_up();
    layer("# layer: user\n" NS "# bytes: READ asked 16384 moved 8192\nOP_READ 3 900\n-\n");
    layer("# layer: fs\n" NS "# bytes: READ asked 8192 moved 2048\nOP_READ 1 90\n-\n");
    make();
    ck_assert_double_eq(layers_answered_bytes(&table, row("READ"), 0), 0.75);
    tear_down();
    set_up();
    layer("# layer: user\n" NS "# bytes: READ asked 16384 moved 8192\nOP_READ 3 900\n-\n");
    layer("# layer: fs\n" NS "OP_READ 1 90\n-\n");
    make();
    ck_assert_double_nan(layers_answered_bytes(&table, row("READ"), 0)); /* not told */
}

TEST(what_waited_for_a_worker_is_a_part_of_what_fuse_took) {
    layer("# layer: user\n" NS "OP_READ 5 5000\n-\nOP_OPEN 1 90\n-\n");
    layer("# layer: fuse\n" NS "OP_READ 5 4500\n-\nOP_OPEN 1 80\n-\n");
    layer("# layer: queue\n" NS "OP_READ 2 1200\n-\n");
    layer("# layer: daemon\n" NS "OP_READ 5 3000\n-\nOP_OPEN 1 30\n-\n");
    make();
    const struct layers_row *read = row("READ");
    const double here_ns[] = {500, 300, 1200, 3000};
    for (size_t i = 0; i < 4; i++)
        ck_assert_double_eq(read->cells[i].here_ns, here_ns[i]);
    ck_assert_uint_eq(read->cells[0].below, 1);
    ck_assert_uint_eq(read->cells[1].below, 3);
    ck_assert_uint_eq(read->cells[2].below, 4);
    ck_assert_uint_eq(read->layer_count, 3);
    ck_assert_uint_eq(read->outermost, 0);
    ck_assert_uint_eq(layers_largest_part(&table, read, 3), 2);
    ck_assert(!row("OPEN")->cells[2].is_there); /* nothing waited */
    ck_assert_double_eq(row("OPEN")->cells[1].here_ns, 50);
}

TEST(a_queue_alone_is_a_row_by_itself) {
    layer("# layer: queue\n" NS "OP_READ 2 1200\n-\n");
    make();
    ck_assert_uint_eq(row("READ")->outermost, 0);
    ck_assert_uint_eq(row("READ")->layer_count, 0);
    ck_assert_double_eq(row("READ")->cells[0].here_ns, 1200);
}

TEST(parts_of_a_row_add_up_to_its_outermost_total) {
    layer("# layer: user\n" NS "OP_WRITE 5 5000\n-\n");
    layer("# layer: fuse\n" NS "OP_WRITE 5 4500\n-\n");
    layer("# layer: fs\n" NS "OP_WRITE 5 4000\n-\n");
    layer("# layer: block\n" NS "OP_WRITE 2 2500\n-\n");
    make();
    const struct layers_row *write = row("WRITE");
    double sum_ns = 0;
    for (size_t i = 0; i < 4; i++)
        sum_ns += write->cells[i].here_ns;
    ck_assert_double_eq(sum_ns, 5000);
    ck_assert_uint_eq(layers_largest_part(&table, write, SIZE_MAX), 3);
    ck_assert_uint_eq(layers_largest_part(&table, write, 3), 2);
    ck_assert_uint_eq(layers_known_end(&table, write), 4);
}

TEST(layer_below_that_takes_longer_is_asynchronous_and_nothing_is_negative) {
    layer("# layer: user\n" NS "OP_READ 5 1000\n-\n");
    layer("# layer: fuse\n" NS "OP_READ 3 4000\n-\n");
    layer("# layer: fs\n" NS "OP_READ 3 900\n-\n");
    make();
    const struct layers_row *read = row("READ");
    ck_assert_uint_eq(read->cells[0].here, LAYERS_HERE_ASYNCHRONOUS);
    ck_assert_double_eq(read->cells[0].here_ns, 0);
    ck_assert_uint_eq(read->cells[1].here, LAYERS_HERE_KNOWN);
    ck_assert_double_eq(read->cells[1].here_ns, 3100);
    ck_assert_uint_eq(layers_largest_part(&table, read, SIZE_MAX), 3);
}

TEST(parts_above_an_asynchronous_layer_are_known) {
    layer("# layer: user\n" NS "OP_READ 5 5000\n-\n");
    layer("# layer: fuse\n" NS "OP_READ 3 4000\n-\n");
    layer("# layer: fs\n" NS "OP_READ 3 900\n-\n");
    layer("# layer: block\n" NS "OP_READ 3 950\n-\n");
    make();
    ck_assert_uint_eq(layers_known_end(&table, row("READ")), 2);
    ck_assert_uint_eq(layers_largest_part(&table, row("READ"), SIZE_MAX), 1);
    ck_assert_uint_eq(layers_largest_part(&table, row("READ"), 1), 0);
}

TEST(time_in_a_queue_counts_but_not_as_a_request) {
    layer("# layer: fs\n" NS "OP_READ 3 9000\n-\n");
    layer("# layer: block\n" NS "OP_READ 2 4000\n-\nOP_READ_QUEUED 1 500\n-\n");
    make();
    const struct layers_cell *disk = &row("READ")->cells[1];
    ck_assert_uint_eq(disk->calls, 2);
    ck_assert_double_eq(disk->total_ns, 4500);
    ck_assert_double_eq(disk->queued_ns, 500);
    ck_assert_double_eq(row("READ")->cells[0].here_ns, 4500);
}

TEST(operation_without_counterpart_is_alone) {
    layer("# layer: user\n" NS "OP_MMAP 3 9000\n-\nOP_OPEN 1 20\n-\n");
    layer("# layer: fs\n" NS "OP_BMAP 2 4000\n-\nOP_unheard-of 1 1\n-\nOP_GETATTR 1 1\n-\n");
    layer("# layer: block\n" NS "OP_WRITE 1 7\n-\n");
    make();
    ck_assert_uint_eq(row("MMAP")->layer_count, 1);
    ck_assert_uint_eq(row("BMAP")->layer_count, 1);
    ck_assert_uint_eq(row("BMAP")->outermost, 1);
    ck_assert_ptr_null(row("unheard-of")->relation);
    ck_assert_uint_eq(row("unheard-of")->layer_count, 1);
    ck_assert_uint_eq(row("OPEN")->layer_count, 2); /* with none at the layer fs */
    ck_assert_uint_eq(row("OPEN")->cells[1].calls, 0);
    ck_assert(!row("OPEN")->cells[2].is_there);
    ck_assert_double_eq(row("OPEN")->cells[0].here_ns, 20);
    ck_assert_uint_eq(row("WRITE")->layer_count, 3);
    ck_assert_uint_eq(row("WRITE")->outermost, 0);                       /* a disk works for others too */
    ck_assert_uint_eq(row("WRITE")->cells[1].here, LAYERS_HERE_UNKNOWN); /* it has no calls to compare */
    ck_assert_uint_eq(row("STAT")->cells[0].here, LAYERS_HERE_UNKNOWN);
    ck_assert_double_eq(row("STAT")->cells[1].here_ns, 1);
}

TEST(layer_of_another_name_is_related_to_none) {
    layer("# layer: user\n" NS "OP_READ 3 9000\n-\n");
    layer("# layer: ext4\n" NS "OP_READ 1 20\n-\n");
    make();
    ck_assert_uint_eq(table.row_count, 2);
    ck_assert_uint_eq(table.rows[0].layer_count, 1);
    ck_assert_uint_eq(table.rows[1].layer_count, 1);
    ck_assert_uint_eq(table.rows[1].outermost, 1);
}

TEST(rows_are_ordered_by_what_the_outermost_layer_took) {
    layer("# layer: user\n" NS "OP_OPEN 1 20\n-\nOP_READ 1 10\n-\nOP_LSEEK 0 0\n-\n");
    layer("# layer: fs\n" NS "OP_READ 1 900\n-\nOP_POLL 1 15\n-\n");
    make();
    ck_assert_uint_eq(table.row_count, 3);
    ck_assert_str_eq(table.rows[0].name, "OPEN");
    ck_assert_str_eq(table.rows[1].name, "POLL");
    ck_assert_str_eq(table.rows[2].name, "READ");
}

/* Page faults of mapped files are requests that no call of a program asks for. */
TEST(row_begins_at_the_first_layer_with_calls) {
    layer("# layer: user\n" NS "OP_OPEN 1 20\n-\nOP_WRITE 1 10\n-\n");
    layer("# layer: fuse\n" NS "OP_READ 3 900\n-\n");
    layer("# layer: fs\n" NS "OP_READ 3 600\n-\n");
    layer("# layer: block\n" NS "OP_READ_QUEUED 1 15\n-\nOP_DISCARD_QUEUED 1 12\n-\n");
    make();
    ck_assert_str_eq(table.rows[0].name, "READ");
    ck_assert_uint_eq(table.rows[0].outermost, 1);
    ck_assert_uint_eq(table.rows[0].layer_count, 4);
    ck_assert_uint_eq(layers_known_end(&table, &table.rows[0]), 4);
    ck_assert_uint_eq(layers_largest_part(&table, &table.rows[0], SIZE_MAX), 2);
    ck_assert_uint_eq(layers_largest_part(&table, &table.rows[0], 2), 1);
    ck_assert_uint_eq(row("DISCARD")->outermost, 3);
}

TEST(clock_of_unknown_rate_is_compared_by_calls_only) {
    layer("# layer: user\nOP_READ 4 20\n-\n");
    layer("# layer: fs\n" NS "OP_READ 1 10\n-\n");
    make();
    ck_assert_uint_eq(row("READ")->cells[0].here, LAYERS_HERE_UNKNOWN);
    ck_assert_double_eq(row("READ")->cells[0].total_ns, 0);
    ck_assert_uint_eq(row("READ")->cells[1].here, LAYERS_HERE_KNOWN);
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 0), 0.75);
    ck_assert_uint_eq(layers_largest_part(&table, row("READ"), SIZE_MAX), 2);
}

static const struct {
    const char *user;
    const char *fs;
    enum layers_times times;
} spans[] = {
    {"# start: 2026-01-01T00:00:00Z\n# elapsed: 1000000000\n", "# start: 2026-01-01T00:00:00Z\n# elapsed: 1900000000\n",
     LAYERS_TIMES_ALIKE},
    {"# start: 2026-01-01T00:00:01Z\n# elapsed: 1000000000\n", "# start: 2026-01-01T00:00:00Z\n# elapsed: 4000000000\n",
     LAYERS_TIMES_LONGER},
    {"# start: 2026-01-01T00:00:00Z\n# elapsed: 1000000000\n", "# start: 2026-01-01T00:00:02Z\n# elapsed: 1000000000\n",
     LAYERS_TIMES_APART},
    {"# start: 2026-01-01T00:00:02Z\n# elapsed: 1000000000\n", "# start: 2026-01-01T00:00:00Z\n# elapsed: 1000000000\n",
     LAYERS_TIMES_APART},
    {"# start: 2026-01-01T00:00:00Z\n# elapsed: 1000000000\n",
     "# start: 2026-01-01T00:00:00.6Z\n# elapsed: 1000000000\n", LAYERS_TIMES_APART},
    {"", "# start: 2026-01-01T00:00:02Z\n# elapsed: 1000000000\n", LAYERS_TIMES_ALIKE},
    {"# merged: 2\n# start: 2026-01-01T00:00:00Z\n# elapsed: 1000000000\n",
     "# merged: 2\n# start: 2026-01-01T00:00:02Z\n# elapsed: 1000000000\n", LAYERS_TIMES_ALIKE},
};

TEST(layers_of_other_times_are_not_subtracted, .to = COUNT(spans)) {
    char text[512];
    snprintf(text, sizeof(text), "# layer: user\n" NS "%sOP_READ 4 2000\n-\n", spans[_i].user);
    layer(text);
    snprintf(text, sizeof(text), "# layer: fs\n" NS "%sOP_READ 1 1000\n-\n", spans[_i].fs);
    layer(text);
    make();
    bool are_apart = spans[_i].times == LAYERS_TIMES_APART;
    ck_assert_uint_eq(layers_compare_times(&profiles[0], &profiles[1]), spans[_i].times);
    ck_assert_uint_eq(row("READ")->cells[0].here, are_apart ? LAYERS_HERE_UNKNOWN : LAYERS_HERE_KNOWN);
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 0), are_apart ? 0 : 0.75);
}

TEST(answered_are_only_calls_beyond_the_requests) {
    layer("# layer: user\n" NS "OP_READ 100 1000\n-\nOP_WRITE 100 1000\n-\nOP_STAT 3 10\n-\n");
    layer("# layer: fs\n" NS "OP_READ 4 10\n-\nOP_WRITE 4 10\n-\nOP_LOOKUP 7 10\n-\n");
    layer("# layer: block\n" NS "OP_READ 3 5\n-\n");
    make();
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 0), 0.96);
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 1), 0.25);
    ck_assert_double_eq(layers_answered_share(&table, row("READ"), 2), 0);
    ck_assert_double_eq(layers_answered_share(&table, row("WRITE"), 0), 0); /* these are put off, not answered */
    ck_assert_double_eq(layers_answered_share(&table, row("STAT"), 0), 0);
}

TEST(recording_without_calls_has_no_rows) {
    layer("# layer: user\n");
    layer("# layer: fs\n");
    make();
    ck_assert_uint_eq(table.row_count, 0);
    layers_table_finish(&table);
    ck_assert_int_eq(layers_table_make(NULL, 0, &table), 0);
}
