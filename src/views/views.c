/* What all views share: where they are written to. */
#include "views_private.h"

#include "base.h"

const struct view view_text = {.name = "text", .write = aggstats_profile_write};

int view_finish(FILE *stream) {
    return fflush(stream) != 0 || ferror(stream) ? negative_errno() : 0;
}

int view_format(const struct view *view, const struct aggstats_profile *profile, char **ret_text,
                size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL; /* set when the stream is closed */
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    int err = view->write(profile, stream);
    if (fclose(stream) != 0 && err == 0)
        err = negative_errno();
    if (err < 0)
        return err;
    *ret_text = steal_pointer(&text);
    *ret_size_bytes = size_bytes;
    return 0;
}
