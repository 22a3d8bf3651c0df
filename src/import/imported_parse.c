/* Choosing the reader for a text. */
#include "imported_parse.h"

#include <errno.h>
#include <string.h>

#include "imported_readers.h"

/* bpftrace's JSON is objects, one a line; no text format that we know begins so. */
static bool is_json(const char *text, size_t size_bytes) {
    size_t i = 0;
    while (i < size_bytes && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    return i < size_bytes && text[i] == '{';
}

int imported_parse(const char *text, size_t size_bytes, struct imported *ret_imported,
                   struct aggstats_parse_error *ret_error) {
    struct imported imported = {0};
    int error = is_json(text, size_bytes) ? imported_json_parse(text, size_bytes, &imported, ret_error)
                                          : imported_text_parse(text, size_bytes, &imported, ret_error);
    if (error) {
        imported_finish(&imported);
        return error;
    }
    *ret_imported = imported;
    return 0;
}
