/* Writing a view to a stream or into memory. */
#include "views_private.h"

#include "base.h"

const struct view view_text = {.name = "text", .write = aggstats_profile_write};

int view_finish(FILE *stream) {
    return fflush(stream) != 0 || ferror(stream) ? negative_errno() : 0;
}

/* Closes a memory stream and takes its text. error: of writing. text, size_bytes: set by closing */
static int finish_text(FILE *stream, int error, char **text, const size_t *size_bytes, char **ret_text,
                       size_t *ret_size_bytes) {
    if (fclose(stream) != 0 && error == 0)
        error = negative_errno();
    if (error < 0)
        return error;
    *ret_text = steal_pointer(text);
    *ret_size_bytes = *size_bytes;
    return 0;
}

int view_format(const struct view *view, const struct aggstats_profile *profile, char **ret_text,
                size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    return finish_text(stream, view->write(profile, stream), &text, &size_bytes, ret_text, ret_size_bytes);
}

int view_format_all(const struct view *view, const struct view_target *targets, size_t count, char **ret_text,
                    size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    return finish_text(stream, view->write_all(targets, count, stream), &text, &size_bytes, ret_text, ret_size_bytes);
}
