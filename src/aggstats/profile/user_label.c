/* Labels that users give to a profile. */
#include "aggstats/user_label.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "text_format.h"

#define PREFIX "label "
#define SHOWN_BYTES 80 /* of a text, in a complaint */

static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const char key_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* Keys of labels that programs of this project give. tests/cli/word_lists.sh fails if a key is missing. */
/* clang-format off */
static const char *const own_keys[] = {
    "layer", "host", "lower", "mount", "cache", "fstype", "data", "workers", "control", "profile", "command", "end",
    "approximate", "daemon", "io_uring", "devices", "still_running", "locks", "disk", "disk_place", "disk_other",
    "attached", "disk_other_process", "disk_other_parent", "cost", "only",
};
/* clang-format on */

static bool is_key(const char *key, size_t length) {
    return length > 0 && length <= USER_LABEL_KEY_MAX && strspn(key, letters) > 0 &&
           strspn(key, key_characters) >= length;
}

/* Why a text is no label; NULL if it is one. */
static const char *why_invalid(const char *text) {
    char key[USER_LABEL_KEY_MAX + 1];
    const size_t key_length = strcspn(text, "=");
    const char *value = text + key_length + 1;
    const char *character;
    size_t length;
    if (!text[key_length])
        return "must be KEY=VALUE, such as rack=7";
    if (!is_key(text, key_length))
        return "the key must be a lower-case letter and at most 30 lower-case letters, digits and _";
    snprintf(key, sizeof(key), "%.*s", (int)key_length, text);
    if (word_index(own_keys, ARRAY_SIZE(own_keys), key) < ARRAY_SIZE(own_keys) || text_key_reserved(key))
        return "profiles have a header line of this name already; choose another key";
    if (!value[0] || strlen(value) > USER_LABEL_VALUE_MAX)
        return "the value must have 1 to 255 bytes";
    for (const char *at = value, *before = value; (length = next_character(&at, &character)) > 0; before = at)
        if (character != before || is_obeyed_by_terminals(character, length))
            return "the value must be one line of printable text in UTF-8";
    return NULL;
}

/* "text: why", in one line. */
static void complain_of(const char *text, const char *why, char ret_complaint[USER_LABEL_COMPLAINT_SIZE]) {
    const char *character;
    size_t shown = 0;
    size_t length;
    for (const char *at = text; shown < SHOWN_BYTES && (length = next_character(&at, &character)) > 0;
         shown += length) {
        bool is_harmless = !is_obeyed_by_terminals(character, length);
        if (!is_harmless)
            length = 1;
        memcpy(ret_complaint + shown, is_harmless ? character : "?", length);
    }
    snprintf(ret_complaint + shown, USER_LABEL_COMPLAINT_SIZE - shown, "%s: %s", shown < SHOWN_BYTES ? "" : "...", why);
}

bool user_labels_valid(const char *const *texts, size_t count, char ret_complaint[USER_LABEL_COMPLAINT_SIZE]) {
    for (size_t i = 0; i < count; i++) {
        const char *why = why_invalid(texts[i]);
        const size_t key_size = strcspn(texts[i], "=") + 1;
        for (size_t before = 0; before < i && !why; before++)
            if (strncmp(texts[before], texts[i], key_size) == 0)
                why = "this key is given twice";
        if (!why && i == USER_LABELS_MAX)
            why = "a profile takes at most 16 labels";
        if (why) {
            complain_of(texts[i], why, ret_complaint);
            return false;
        }
    }
    return true;
}

const char *user_label_split(const char *text, char ret_key[USER_LABEL_HEADER_SIZE]) {
    size_t key_length = strcspn(text, "=");
    snprintf(ret_key, USER_LABEL_HEADER_SIZE, PREFIX "%.*s", (int)key_length, text);
    return text + key_length + 1;
}

const char *user_label_of_key(const char *key) {
    const char *name = key + strlen(PREFIX);
    return strncmp(key, PREFIX, strlen(PREFIX)) == 0 && is_key(name, strlen(name)) ? name : NULL;
}
