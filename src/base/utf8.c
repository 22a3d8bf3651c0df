/* Characters: control characters, and UTF-8, character by character. */
#include "base.h"

#include <string.h>

char *make_line(char *text) {
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    return text;
}

size_t word_index(const char *const *words, size_t count, const char *word) {
    size_t i = 0;
    while (i < count && strcmp(words[i], word) != 0)
        i++;
    return i;
}

/* Length in bytes of the character at the beginning of text; 0 if it is invalid. */
static size_t character_length(const char *text) {
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char lead = bytes[0];
    /* The second byte shows overlong forms, surrogates, and characters beyond U+10FFFF. */
    const unsigned char lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4 || bytes[1] < lowest || bytes[1] > highest)
        return 0;
    const size_t length = lead <= 0xdf ? 2 : lead <= 0xef ? 3 : 4;
    for (size_t i = 2; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

size_t next_character(const char **text, const char **ret_character) {
    static const char replacement[] = "\xef\xbf\xbd";
    if (**text == '\0')
        return 0;
    size_t length = character_length(*text);
    *ret_character = length > 0 ? *text : replacement;
    *text += length > 0 ? length : 1;
    return length > 0 ? length : sizeof(replacement) - 1;
}

uint32_t character_code(const char *character, size_t length) {
    static const unsigned char bits_of_lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)character[0] & bits_of_lead[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)character[i] & 0x3f);
    return code;
}

struct code_range {
    uint32_t first;
    uint32_t last;
};

static bool is_among(const struct code_range *ranges, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* Control characters; and those that change the direction of writing. */
static const struct code_range obeyed[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},
                                           {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};

/* Format characters without a shape of their own, of zero width; and separators of lines and paragraphs.
 * Source:  Unicode, general categories Cf, Zl and Zp, as far as they belong to no script */
static const struct code_range invisible[] = {{0xad, 0xad},     {0x180e, 0x180e}, {0x200b, 0x200d}, {0x2028, 0x2029},
                                              {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

bool is_obeyed_by_terminals(const char *character, size_t length) {
    return is_among(obeyed, ARRAY_SIZE(obeyed), character_code(character, length));
}

bool is_invisible(const char *character, size_t length) {
    return is_obeyed_by_terminals(character, length) ||
           is_among(invisible, ARRAY_SIZE(invisible), character_code(character, length));
}
