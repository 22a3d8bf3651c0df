/* Tables: which columns get room, where texts go on, what a terminal, a browser and Markdown show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "sheet_private.h"
#include "testing.h"

#define HZ 1000000000
static const struct screen nowhere = {.width = 80, .ascii = true};

/* Prints the only table of a page on a screen of that width. width: 0: in HTML. Owner: the caller frees the text */
static char *print(const struct sheet *sheet, int width) {
    char *printed = NULL;
    size_t size_bytes;
    struct sheet page = *sheet;
    page.screen = (struct screen){
        .width = width, .html = width == 0, .ascii = true, .stream = open_memstream(&printed, &size_bytes)};
    ck_assert_ptr_nonnull(page.screen.stream);
    if (width == 0)
        sheet_html_put(&page, page.blocks);
    else
        sheet_terminal_put(&page, &page.screen, page.blocks, false);
    fclose(page.screen.stream);
    return printed;
}

static void assert_printed(const struct sheet *table, int width, const char *expected) {
    CLEANUP_FREE char *printed = print(table, width);
    ck_assert_str_eq(printed, expected);
}

/* ---- With a column of texts ---- */

static const struct sheet_column with_texts[] = {
    {"share", SHEET_NUMBER, 0},
    {"calls", SHEET_NUMBER, 2},
    {"operation", SHEET_NAME, 3},
    {"cause", SHEET_TEXT, 1},
};

static void add_row(struct sheet *table, double share, wide_count calls, const char *op, const char *cause) {
    sheet_add_share(table, share);
    sheet_add_count(table, calls);
    sheet_add(table, op);
    sheet_add(table, cause);
}

TEST(columns_are_as_wide_as_their_contents) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 12345678, "READ", "waiting for the disk");
    add_row(&table, NAN, 1, "WRITE", "");
    assert_printed(&table, 60,
                   "   share       calls  operation  cause\n"
                   "  50.0 %  12,345,678  READ       waiting for the disk\n"
                   "       -           1  WRITE      \n");
}

TEST(a_text_goes_on_below_its_column_and_so_do_further_ones) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "READ", "waiting for the disk and more");
    sheet_add_more(&table, INK_FAINT, "/srv/data");
    add_row(&table, 0.5, 3, "WRITE", "none");
    assert_printed(&table, 45,
                   "   share  calls  operation  cause\n"
                   "  50.0 %      2  READ       waiting for the\n"
                   "                            disk and more\n"
                   "                            /srv/data\n"
                   "  50.0 %      3  WRITE      none\n");
}

TEST(the_column_with_the_highest_rank_gives_way_first) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "READ", "waiting for it");
    assert_printed(&table, 40,
                   "   share  operation  cause\n"
                   "  50.0 %  READ       waiting for it\n");
}

TEST(texts_without_room_beside_the_others_have_lines_of_their_own) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "a name of twenty columns", "waiting for it");
    assert_printed(&table, 40,
                   "   share  operation\n"
                   "    cause\n"
                   "  50.0 %  a name of twenty columns\n"
                   "    waiting for it\n");
}

TEST(a_name_is_cut_only_at_the_end_of_the_line) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "a name of more than forty columns, which no line has", "it");
    assert_printed(&table, 40,
                   "  operation\n"
                   "    cause\n"
                   "  a name of more than forty columns, ...\n"
                   "    it\n");
}

TEST(a_terminal_obeys_no_text) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "a\033[2Jb", "c\rd");
    sheet_add_more(&table, INK_PLAIN, "e\nf");
    assert_printed(&table, 80,
                   "   share  calls  operation  cause\n"
                   "  50.0 %      2  a?[2Jb     c?d\n"
                   "                            e?f\n");
}

TEST(in_a_browser_all_columns_are_shown_and_nothing_is_markup) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_texts);
    add_row(&table, 0.5, 2, "<b>", "a & b");
    sheet_add_more(&table, INK_PLAIN, "<i>");
    CLEANUP_FREE char *printed = print(&table, 0);
    ck_assert_ptr_nonnull(strstr(printed, "<td class=\"number\">50.0 %</td><td class=\"number\">2</td>"
                                          "<th scope=\"row\">&lt;b&gt;</th><td>a &amp; b</td></tr>\n"
                                          "<tr class=\"more\"><td colspan=\"3\"></td><td>&lt;i&gt;</td></tr>\n"));
}

TEST(a_hidden_column_is_nowhere) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    struct sheet_table *style = SHEET_TABLE(&table, with_texts);
    style->hidden = 1U << 1;
    add_row(&table, 0.5, 2, "READ", "it");
    assert_printed(&table, 80,
                   "   share  operation  cause\n"
                   "  50.0 %  READ       it\n");
    CLEANUP_FREE char *printed = print(&table, 0);
    ck_assert_ptr_null(strstr(printed, "calls"));
}

/* ---- Of numbers only ---- */

static const struct sheet_column of_numbers[] = {
    {"op", SHEET_NAME, 0},
    {"calls", SHEET_NUMBER, 1, 8},
    {"mean", SHEET_NUMBER, 2, 6},
    {"p99", SHEET_NUMBER, 3, 5},
};

static const struct sheet_column last_first[] = {
    {"op", SHEET_NAME, 0},
    {"calls", SHEET_NUMBER, 3, 8},
    {"mean", SHEET_NUMBER, 2, 6},
    {"p99", SHEET_NUMBER, 1, 5},
};

static void add_rows(struct sheet *table, const char *longest_mean) {
    static const char *const rows[] = {"READ", "1", "2 ms", "3 s", "WRITE", "12", NULL, "4 s"};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        sheet_add(table, rows[i] ? rows[i] : longest_mean);
}

TEST(columns_are_at_least_as_wide_as_they_are_told) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, of_numbers);
    add_rows(&table, "-");
    assert_printed(&table, 80,
                   "op      calls  mean  p99\n"
                   "READ        1  2 ms  3 s\n"
                   "WRITE      12     -  4 s\n");
}

TEST(a_wide_cell_joins_no_other) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, of_numbers);
    add_rows(&table, "123.4 ms");
    assert_printed(&table, 80,
                   "op      calls      mean  p99\n"
                   "READ        1      2 ms  3 s\n"
                   "WRITE      12  123.4 ms  4 s\n");
}

TEST(behind_a_column_without_room_there_are_others_only_if_that_is_wanted) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    struct sheet_table *style = SHEET_TABLE(&table, of_numbers);
    add_rows(&table, "123.4 ms");
    assert_printed(&table, 5 + 8 + 9, "op      calls\nREAD        1\nWRITE      12\n");
    style->fills = true;
    assert_printed(&table, 5 + 8 + 9,
                   "op      calls  p99\n"
                   "READ        1  3 s\n"
                   "WRITE      12  4 s\n");
}

TEST(the_rank_says_which_column_gets_room_first) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, last_first);
    add_rows(&table, "-");
    assert_printed(&table, 5 + 5 + 6,
                   "op     mean  p99\n"
                   "READ   2 ms  3 s\n"
                   "WRITE     -  4 s\n");
}

TEST(names_alone_have_no_blanks_behind_them) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, of_numbers);
    add_rows(&table, "-");
    assert_printed(&table, 5 + 7, "op\nREAD\nWRITE\n");
}

TEST(a_sentence_about_a_column_is_there_with_it) {
    for (int has_room = 0; has_room < 2; has_room++) {
        CLEANUP_FREE char *printed = NULL;
        size_t size_bytes;
        const struct screen screen = {.width = has_room ? 24 : 22, .stream = open_memstream(&printed, &size_bytes)};
        struct sheet sheet = sheet_of(&screen, HZ);
        SHEET_TABLE(&sheet, of_numbers);
        add_rows(&sheet, "-");
        sheet.only_with = 1U << 3;
        sheet_legend(&sheet, "p99: bound");
        sheet_print(&sheet);
        fclose(screen.stream);
        ck_assert((strstr(printed, "\np99: bound\n") != NULL) == has_room);
    }
}

TEST(in_markdown_there_are_all_columns_but_the_hidden_ones) {
    static const struct sheet_column columns[] = {
        {"op", SHEET_NAME, 0}, {"verdict", SHEET_WORD, 1}, {"mean", SHEET_NUMBER, 2}, {"p99", SHEET_NUMBER, 3}};
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    struct sheet_table *style = SHEET_TABLE(&table, columns);
    style->hidden = 1U << 2;
    style->is_markdown = true;
    add_rows(&table, "-");
    assert_printed(&table, 80, "| op | verdict | p99 |\n|---|---|---:|\n| READ | 1 | 3 s |\n| WRITE | 12 | 4 s |\n");
}

TEST(a_row_can_be_marked_and_a_title_strong) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    struct sheet_table *style = SHEET_TABLE(&table, with_texts);
    char *printed = NULL;
    size_t size_bytes;
    style->marked = 2;
    style->ordered = 1U << 1;
    add_row(&table, 0.5, 2, "READ", "it");
    add_row(&table, 0.5, 2, "WRITE", "it");
    assert_printed(&table, 80,
                   "   share  calls  operation  cause\n"
                   "  50.0 %      2  READ       it\n"
                   "> 50.0 %      2  WRITE      it\n");
    table.screen = (struct screen){.width = 80, .marks = true, .stream = open_memstream(&printed, &size_bytes)};
    sheet_terminal_put(&table, &table.screen, table.blocks, false);
    fclose(table.screen.stream);
    ck_assert_int_eq(strncmp(printed,
                             "   \x10share\x0e  \x0f"
                             "calls\x0e",
                             19),
                     0);
    free(printed);
}

/* ---- Names at the end, and texts on one line ---- */

static const struct sheet_column with_path[] = {
    {"calls", SHEET_NUMBER, 0},
    {"top operations", SHEET_LIST, 1, 12},
    {"cause", SHEET_LINE, 2, 12},
    {"file", SHEET_PATH, 3, 10, 10},
};

static void add_path(struct sheet *table, const char *path) {
    sheet_add_count(table, 7);
    sheet_add(table, "READ 50 %, WRITE 9 %");
    sheet_add(table, "waiting for the disk");
    sheet_add(table, path);
}

TEST(a_path_has_what_the_others_leave) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_path);
    add_path(&table, "/srv/data/file");
    assert_printed(&table, 80,
                   "  calls  top operations        cause                 file\n"
                   "      7  READ 50 %, WRITE 9 %  waiting for the disk  /srv/data/file\n");
    assert_printed(&table, 7 + 22 + 22 + 14,
                   "  calls  top operations        cause                 file\n"
                   "      7  READ 50 %, WRITE 9 %  waiting for the disk  .../file\n");
}

TEST(of_a_path_whose_last_part_is_too_long_that_part_is_cut) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_path);
    add_path(&table, "/srv/data/averylongname");
    assert_printed(&table, 10 + 7, "  calls  file\n      7  avery...\n");
}

TEST(a_title_keeps_the_end_of_its_path) {
    static const struct sheet_column columns[] = {{"file in /srv/data", SHEET_PATH, 0, 10, 10}};
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, columns);
    sheet_add(&table, "a");
    assert_printed(&table, 20, "file in /srv/data\na\n");
    assert_printed(&table, 15, "file in ...data\na\n");
    assert_printed(&table, 11, "file\na\n");
}

TEST(a_line_is_cut_and_a_list_loses_members_down_to_their_widths) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_path);
    add_path(&table, "/a");
    assert_printed(&table, 10 + 7 + 22 + 12,
                   "  calls  top operations        cause       file\n"
                   "      7  READ 50 %, WRITE 9 %  waiting...  /a\n");
    assert_printed(&table, 10 + 7 + 21,
                   "  calls  top operations       file\n"
                   "      7  READ 50 %            /a\n");
    assert_printed(&table, 10 + 7 + 11, "  calls  file\n      7  /a\n");
}

TEST(in_a_browser_a_path_is_in_front) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_path);
    add_path(&table, "/srv/data/file");
    CLEANUP_FREE char *printed = print(&table, 0);
    ck_assert_ptr_nonnull(strstr(printed, "<tr><th scope=\"row\">/srv/data/file</th><td class=\"number\">7</td>"
                                          "<td>READ 50 %, WRITE 9 %</td><td>waiting for the disk</td></tr>\n"));
}

/* ---- Rows of groups ---- */

static const struct sheet_column with_groups[] = {
    {"operation", SHEET_GROUP, 2},
    {"layer", SHEET_LINE, 0, .most = 10},
    {"total", SHEET_NUMBER, 1, .gap = 4},
    {"own", SHEET_NUMBER, 3},
    {"as", SHEET_LINE, 4, 10},
};

static void add_groups(struct sheet *table) {
    static const char *const rows[] = {"READ", "user", "9 s", "1 s", "pread64", "READ", "filesystem", "8 s", "2 s", ""};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        sheet_add(table, rows[i]);
    sheet_add(table, "FLUSH");
    sheet_add(table, "block");
    sheet_add(table, "7 s");
    sheet_add_note(table, "(alone)");
}

TEST(the_name_of_a_group_stands_once_and_a_note_covers_what_is_left) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_groups);
    add_groups(&table);
    assert_printed(&table, 60,
                   "operation  layer       total  own  as\n"
                   "READ       user          9 s  1 s  pread64\n"
                   "           files...      8 s  2 s\n"
                   "FLUSH      block         7 s  (alone)\n");
}

TEST(without_room_the_name_of_a_group_and_a_note_have_a_line) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_groups);
    add_groups(&table);
    assert_printed(&table, 24,
                   "  layer       total  own\n"
                   "READ\n"
                   "  user          9 s  1 s\n"
                   "  files...      8 s  2 s\n"
                   "FLUSH (alone)\n"
                   "  block         7 s\n");
}

TEST(in_a_browser_each_row_has_the_name_of_its_group) {
    CLEANUP_SHEET struct sheet table = sheet_of(&nowhere, HZ);
    SHEET_TABLE(&table, with_groups);
    add_groups(&table);
    CLEANUP_FREE char *printed = print(&table, 0);
    ck_assert_ptr_nonnull(strstr(printed, "<tr><th scope=\"row\">READ</th><td>filesystem</td>"));
    ck_assert_ptr_nonnull(strstr(printed, "<td class=\"number\"></td><td>(alone)</td></tr>\n"));
}

/* ---- Other blocks ---- */

/* Prints a page that a function puts together, in so many lines. lines: 0: all. Owner: the caller frees the text */
static char *print_page(void (*put)(struct sheet *sheet), int width, unsigned lines) {
    char *printed = NULL;
    size_t size_bytes;
    const struct screen screen = {
        .width = width, .html = width == 0, .ascii = true, .stream = open_memstream(&printed, &size_bytes)};
    struct sheet sheet = sheet_of(&screen, HZ);
    put(&sheet);
    if (lines > 0)
        sheet_fit(&sheet, lines);
    sheet_print(&sheet);
    fclose(screen.stream);
    return printed;
}

static void put_words(struct sheet *sheet) {
    sheet_gap(sheet);
    sheet_sentence(sheet, 2, "one two\x1bthree four");
    sheet_gap(sheet);
    sheet_title(sheet, "Title");
    sheet_line(sheet, 1, "a line ");
    sheet_span(sheet, INK_STRONG, "<of two>");
    sheet_entry(sheet, FORM_ENTRY, "key", "a text that is long");
    sheet_gap(sheet);
}

TEST(words_are_broken_and_lines_are_not) {
    CLEANUP_FREE char *narrow = print_page(put_words, 18, 0);
    CLEANUP_FREE char *html = print_page(put_words, 0, 0);
    ck_assert_str_eq(narrow, "\n  one two?three\n    four\n\nTitle:\n a line <of two>\nkey       a text\n"
                             "          that is\n          long\n");
    ck_assert_ptr_nonnull(strstr(html, "<h3>Title</h3>\n<p>a line &lt;of two&gt;</p>\n<p class=\"entry\"><span "
                                       "class=\"key\">key</span> a text that is long</p>\n"));
}

static void put_items(struct sheet *sheet) {
    sheet_list(sheet, "failed", 1, 3);
    sheet_item(sheet, 50, "READ EIO 50");
    sheet_item(sheet, 40, "WRITE ENOSPC 40 of all that there are, and they are very many indeed");
    sheet_item(sheet, 2, "OPEN EIO 2");
    sheet_command(sheet, "osprof show", "a-very-long-name-of-a-profile-for-a-narrow-screen", "PROFILE", "why");
    sheet_command(sheet, "osprof top", "", "", "more");
}

TEST(items_without_room_are_counted_and_commands_have_a_placeholder) {
    CLEANUP_FREE char *wide = print_page(put_items, 120, 0);
    CLEANUP_FREE char *narrow = print_page(put_items, 80, 0);
    ck_assert_ptr_nonnull(
        strstr(wide, "they are very many indeed, OPEN EIO 2, others 3\nnext      osprof show a-very"));
    ck_assert_str_eq(narrow, "failed    READ EIO 50, OPEN EIO 2, others 43\n"
                             "next      osprof show a-very-long-name-of-a-profile-for-a-narrow-screen  # why\n"
                             "          osprof top  # more\n");
}

static void put_ranked(struct sheet *sheet) {
    sheet_line(sheet, 0, "first");
    sheet->rank = 2;
    sheet_gap(sheet);
    sheet_line(sheet, 0, "two");
    sheet->rank = 1;
    sheet_line(sheet, 0, "one");
    sheet->from = 1;
    sheet->rank = 2;
    sheet_line(sheet, 0, "instead of one");
}

TEST(what_has_a_low_rank_gives_way_first) {
    static const char *const pages[] = {"first\n\ntwo\none\n", "first\n", "first\n", "first\n", "first\n\ntwo\none\n"};
    for (unsigned lines = 0; lines < ARRAY_SIZE(pages); lines++) {
        CLEANUP_FREE char *printed = print_page(put_ranked, 80, lines);
        ck_assert_str_eq(printed, pages[lines]);
    }
}

/* ---- Paths that are too long ---- */

static void assert_cut(const char *text, int columns, const char *expected) {
    const struct screen screen = {.width = 80, .ascii = true};
    CLEANUP_FREE char *cut = screen_cut(&screen, text, columns, SCREEN_PATH);
    ck_assert_str_eq(cut, expected);
}

TEST(of_a_path_the_last_components_are_kept_with_the_word_before_it) {
    assert_cut("/var/tmp/t", 10, "/var/tmp/t");
    assert_cut("/var/tmp/t", 9, ".../tmp/t");
    assert_cut("below /var/tmp/t", 16, "below /var/tmp/t");
    assert_cut("below /var/tmp/t", 15, "below .../tmp/t");
    assert_cut("below /var/tmp/t", 12, "below .../t");
    assert_cut("below /var/tmp/t", 11, ".../tmp/t"); /* too narrow for a word beside it */
    assert_cut("/below /var/tmp/t", 15, ".../var/tmp/t");
}
