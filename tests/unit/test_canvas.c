/* Characters that a canvas lets through, and where it cuts text. */
#include <locale.h>
#include <string.h>

#include "base.h"
#include "canvas.h"
#include "testing.h"

/* Text drawn on a canvas, with blanks before and a mark behind; the caller frees it. */
static char *draw(const char *text, bool ascii, int width, bool clipped) {
    char *drawn = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = width, .ascii = ascii, .stream = open_memstream(&drawn, &size_bytes)};
    ck_assert_ptr_nonnull(screen.stream);
    struct canvas_stream stream;
    canvas_stream_init(&stream, &screen);
    stream.canvas.clipped = clipped;
    canvas_text(&stream.canvas, INK_STRONG, text);
    canvas_text(&stream.canvas, INK_PLAIN, "|");
    canvas_end_line(&stream.canvas);
    fclose(screen.stream);
    return drawn;
}

static const struct {
    const char *text;
    const char *utf8;
    const char *ascii;
} texts[] = {
    {"", "|\n", "|\n"},
    {"plain /path 1", "plain /path 1|\n", "plain /path 1|\n"},
    {"\033[2Jgone\a", "?[2Jgone?|\n", "?[2Jgone?|\n"},
    {"new\nline\ttab\177", "new?line?tab?|\n", "new?line?tab?|\n"},
    {"caf\xc3\xa9", "caf\xc3\xa9|\n", "caf??|\n"},
    {"\xc2\x9b"
     "31m",
     "?31m|\n", "??31m|\n"}, /* U+009B, a control as well */
    {"\x9b"
     "31m",
     "?31m|\n", "?31m|\n"}, /* the same as a byte, which is no UTF-8 */
    {"a\xe2\x80\x8b"
     "b",
     "a?b|\n", "a???b|\n"},                     /* U+200B, which has no width */
    {"cut \xe2\x82", "cut ??|\n", "cut ??|\n"}, /* a character that is not all there */
    {"\xff\xfe", "??|\n", "??|\n"},
    {"\xe6\xbc\xa2", "\xe6\xbc\xa2|\n", "???|\n"}, /* two columns wide */
};

bool testing_possible(void) {
    return setlocale(LC_CTYPE, "C.UTF-8") != NULL;
}

TEST(what_a_terminal_could_obey_becomes_a_question_mark, .to = ARRAY_SIZE(texts)) {
    CLEANUP_FREE char *utf8 = draw(texts[_i].text, false, 80, false);
    CLEANUP_FREE char *ascii = draw(texts[_i].text, true, 80, true);
    ck_assert_str_eq(utf8, texts[_i].utf8);
    ck_assert_str_eq(ascii, texts[_i].ascii);
}

TEST(lines_are_clipped_at_the_width) {
    CLEANUP_FREE char *exact = draw("12345", false, 6, true);
    CLEANUP_FREE char *longer = draw("12345", false, 3, true);
    CLEANUP_FREE char *one = draw("12345", false, 1, true);
    CLEANUP_FREE char *wide = draw("1\xe6\xbc\xa2", false, 2, true); /* half a character does not fit */
    ck_assert_str_eq(exact, "12345|\n");
    ck_assert_str_eq(longer, "123\n");
    ck_assert_str_eq(one, "1\n");
    ck_assert_str_eq(wide, "1|\n");
}

TEST(long_texts_are_whole_where_nothing_clips) {
    char text[4000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    CLEANUP_FREE char *drawn = draw(text, false, 80, false);
    ck_assert_uint_eq(strlen(drawn), sizeof(text) - 1 + 2);
}

TEST(columns_are_reached_and_kept) {
    char *drawn = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = 50, .stream = open_memstream(&drawn, &size_bytes)};
    struct canvas_stream stream;
    canvas_stream_init(&stream, &screen);
    struct canvas *canvas = &stream.canvas;
    canvas_text(canvas, INK_PLAIN, "\xe6\xbc\xa2");
    canvas_move_to(canvas, 4);
    canvas_right(canvas, INK_PLAIN, "5 µs", 6);
    canvas_move_to(canvas, 3);
    canvas_text(canvas, INK_PLAIN, "!");
    canvas_move_to(canvas, 48);
    canvas_line(canvas, INK_PLAIN, "end");
    canvas->clipped = true;
    canvas_move_to(canvas, 1000);
    ck_assert_int_eq(canvas->column, 50);
    canvas_line(canvas, INK_PLAIN, "nothing");
    fclose(screen.stream);
    char expected[256];
    sprintf(expected, "\xe6\xbc\xa2    5 µs!%*send\n%*s\n", 37, "", 50, "");
    ck_assert_str_eq(drawn, expected);
    free(drawn);
}
