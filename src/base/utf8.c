/* UTF-8, character by character. */
#include "base.h"

static size_t length_by_lead(unsigned char lead) {
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* The second byte shows overlong forms, surrogates, and characters beyond U+10FFFF. */
static bool is_second(unsigned char lead, unsigned char second) {
    const unsigned char lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= lowest && second <= highest;
}

/* Length in bytes of the character at the beginning of text; 0 if it is invalid. */
static size_t character_length(const char *text) {
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = length_by_lead(bytes[0]);
    if (length > 1 && !is_second(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
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

/* Control characters, also U+0080 to U+009F; and those that change the direction of writing, U+202A to U+202E and
 * U+2066 to U+2069. */
bool is_obeyed_by_terminals(const char *character, size_t length) {
    const unsigned char *bytes = (const unsigned char *)character;
    if (length == 1)
        return bytes[0] < ' ' || bytes[0] == 0x7f;
    if (length == 2)
        return bytes[0] == 0xc2 && bytes[1] < 0xa0;
    if (length != 3 || bytes[0] != 0xe2)
        return false;
    return (bytes[1] == 0x80 && bytes[2] >= 0xaa && bytes[2] <= 0xae) ||
           (bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9);
}
