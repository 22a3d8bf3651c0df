/* Writes the events files that are named, merged, on standard output. No command of osprof writes such files any more, but the
 * package reads them. */
#include <stdio.h>
#include <stdlib.h>

#include "events_merging.h"

#define FILES_MAX 8

static char *contents[FILES_MAX];
static struct events_file *files[FILES_MAX];

static int write_bytes(void *stream, const void *bytes, size_t size_bytes) {
    return fwrite(bytes, 1, size_bytes, stream) == size_bytes ? 0 : -1;
}

static int open_file(const char *name, char **ret_content, struct events_file **ret_file) {
    char complaint[EVENTS_COMPLAINT_SIZE];
    size_t size_bytes = 0;
    FILE *copy = open_memstream(ret_content, &size_bytes);
    FILE *stream = fopen(name, "r");
    for (int byte; copy && stream && (byte = getc(stream)) != EOF;)
        putc(byte, copy);
    const int failed = !copy || !stream || ferror(stream);
    if (stream)
        fclose(stream);
    if (copy && fclose(copy) != 0)
        return -1;
    return failed ? -1 : events_open(*ret_content, size_bytes, ret_file, complaint);
}

int main(int argc, char **argv) {
    size_t count = 0;
    size_t failed;
    for (int i = 1; i < argc && count < FILES_MAX; i++, count++)
        if (open_file(argv[i], &contents[count], &files[count]) != 0)
            return EXIT_FAILURE;
    const int error =
        count > 0 ? events_merge((const struct events_file *const *)files, count, write_bytes, stdout, &failed) : -1;
    for (size_t i = 0; i < count; i++) {
        events_close(files[i]);
        free(contents[i]);
    }
    return error == 0 && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
