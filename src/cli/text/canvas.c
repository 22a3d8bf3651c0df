/* Drawing pages. */
#include "canvas.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

#include "base.h"
#include "units.h"

#define CHUNK_BYTES 256

/* A character of a text: its bytes, and the columns it takes; 0 columns: it must not be shown. */
struct character {
    size_t bytes;
    int columns;
};

static struct character first_character(const char *text, bool ascii) {
    unsigned char byte = (unsigned char)*text;
    if (byte < 0x80 || ascii)
        return (struct character){.bytes = 1, .columns = byte >= ' ' && byte < 0x7f};
    wchar_t wide;
    mbstate_t state = {0};
    size_t bytes = mbrtowc(&wide, text, strnlen(text, MB_LEN_MAX), &state);
    if (bytes == (size_t)-1 || bytes == (size_t)-2 || bytes == 0)
        return (struct character){.bytes = 1, .columns = 0};
    int columns = wcwidth(wide);
    return (struct character){.bytes = bytes, .columns = columns > 0 ? columns : 0};
}

/* Text that is collected before it is drawn. */
struct chunk {
    char text[CHUNK_BYTES + MB_LEN_MAX + 1];
    size_t bytes;
    int columns;
};

static void flush_chunk(struct canvas *canvas, enum ink ink, struct chunk *chunk) {
    if (chunk->bytes == 0)
        return;
    chunk->text[chunk->bytes] = '\0';
    canvas->put(canvas, ink, chunk->text);
    canvas->column += chunk->columns;
    chunk->bytes = 0;
    chunk->columns = 0;
}

void canvas_text(struct canvas *canvas, enum ink ink, const char *text) {
    struct chunk chunk = {.bytes = 0};
    while (*text) {
        struct character character = first_character(text, canvas->ascii);
        int columns = character.columns > 0 ? character.columns : 1;
        if (canvas->clipped && canvas->column + chunk.columns + columns > canvas->width)
            break;
        if (character.columns > 0) {
            memcpy(chunk.text + chunk.bytes, text, character.bytes);
            chunk.bytes += character.bytes;
        } else {
            chunk.text[chunk.bytes++] = '?';
        }
        chunk.columns += columns;
        text += character.bytes;
        if (chunk.bytes >= CHUNK_BYTES)
            flush_chunk(canvas, ink, &chunk);
    }
    flush_chunk(canvas, ink, &chunk);
}

void canvas_move_to(struct canvas *canvas, int column) {
    static const char blanks[] = "                                ";
    const int blank_count = (int)sizeof(blanks) - 1;
    if (canvas->clipped && column > canvas->width)
        column = canvas->width;
    while (canvas->column < column) {
        int missing = column - canvas->column;
        canvas_text(canvas, INK_PLAIN, blanks + blank_count - (missing < blank_count ? missing : blank_count));
    }
}

void canvas_right(struct canvas *canvas, enum ink ink, const char *text, int columns) {
    canvas_move_to(canvas, canvas->column + columns - units_text_columns(text));
    canvas_text(canvas, ink, text);
}

void canvas_end_line(struct canvas *canvas) {
    canvas->end_line(canvas);
    canvas->column = 0;
}

void canvas_line(struct canvas *canvas, enum ink ink, const char *text) {
    canvas_text(canvas, ink, text);
    canvas_end_line(canvas);
}

void canvas_lines(struct canvas *canvas, char *text) {
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        canvas_line(canvas, INK_PLAIN, line);
    }
}

/* ---- On a stream -------------------------------------------------------------------------------- */

static void stream_put(struct canvas *canvas, enum ink ink, const char *text) {
    screen_print(&container_of(canvas, struct canvas_stream, canvas)->screen, ink, text);
}

static void stream_end_line(struct canvas *canvas) {
    putc('\n', container_of(canvas, struct canvas_stream, canvas)->screen.stream);
}

void canvas_stream_init(struct canvas_stream *stream, const struct screen *screen) {
    *stream = (struct canvas_stream){
        .canvas = {.put = stream_put, .end_line = stream_end_line, .width = screen->width, .ascii = screen->ascii},
        .screen = *screen,
    };
}
