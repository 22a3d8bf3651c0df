/* Room doubles, so that adding is cheap; every sum of lengths is checked for overflow. One function makes room, and
 * the only failure is that there is none. */
#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wide_count.h"

#define ROOM_MIN 128

void str_finish(struct str *str) {
    free(str->text);
    *str = (struct str){.failed = false};
}

static void fail(struct str *str) {
    str_finish(str);
    str->failed = true;
}

/* Makes room for so many more bytes and a NUL. Returns false if there is none, now or before */
static bool make_room(struct str *str, size_t more) {
    size_t wanted;
    if (str->failed)
        return false;
    if (str->text && more < str->room - str->length)
        return true;
    if (__builtin_add_overflow(str->length + 1, more, &wanted)) {
        fail(str);
        return false;
    }
    if (wanted < ROOM_MIN)
        wanted = ROOM_MIN;
    if (wanted < 2 * str->room)
        wanted = 2 * str->room;
    char *grown = realloc(str->text, wanted);
    if (!grown) {
        fail(str);
        return false;
    }
    str->text = grown;
    str->room = wanted;
    return true;
}

void str_add_bytes(struct str *str, const char *bytes, size_t count) {
    if (!make_room(str, count))
        return;
    memcpy(str->text + str->length, bytes, count);
    str->length += count;
    str->text[str->length] = '\0';
}

void str_add(struct str *str, const char *text) {
    str_add_bytes(str, text, strlen(text));
}

void str_addf(struct str *str, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun one line above */
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        fail(str);
    if (length < 0 || !make_room(str, (size_t)length))
        return;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun one line above */
    vsnprintf(str->text + str->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    str->length += (size_t)length;
}

void str_separate(struct str *str, const char *separator) {
    if (str->length > 0)
        str_add(str, separator);
}

void str_cut(struct str *str, size_t length) {
    if (str->text)
        str->text[length] = '\0';
    str->length = length;
}

char *str_steal(struct str *str) {
    if (!str->failed && !str->text)
        str_add(str, "");
    char *text = str->text;
    *str = (struct str){.failed = str->failed};
    return text;
}

const char *wide_count_format(wide_count count, char ret_text[WIDE_COUNT_TEXT_SIZE]) {
    char reversed[WIDE_COUNT_TEXT_SIZE];
    size_t length = 0;
    do {
        reversed[length++] = (char)('0' + (int)(count % 10));
        count /= 10;
    } while (count > 0);
    for (size_t i = 0; i < length; i++)
        ret_text[i] = reversed[length - 1 - i];
    ret_text[length] = '\0';
    return ret_text;
}
