/* Writing text for gnuplot, and running it. */
#include "gnuplot.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "output.h"

/* ---- Text in scripts ---------------------------------------------------------------------------- */

static void put_quoted(FILE *script, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '\'')
            putc('\'', script);
        putc(bytes[i], script);
    }
}

/* Controls, C1 among them, and the two noncharacters that XML forbids. */
static bool is_shown(const char *character, size_t length) {
    const unsigned char *bytes = (const unsigned char *)character;
    if (length == 1)
        return bytes[0] >= ' ' && bytes[0] != 0x7f;
    if (length == 2)
        return bytes[0] != 0xc2 || bytes[1] >= 0xa0;
    return length != 3 || bytes[0] != 0xef || bytes[1] != 0xbf || bytes[2] < 0xbe;
}

void gnuplot_put_text(FILE *script, const char *text, size_t characters_max) {
    const char *character;
    size_t length;
    const char *begin = text;
    putc('\'', script);
    for (size_t count = 0; (length = next_character(&text, &character)) > 0; count++) {
        if (count == characters_max) {
            fputs("…", script);
            break;
        }
        if (*character == '>' && character - begin >= 2 && strncmp(character - 2, "]]", 2) == 0)
            putc(' ', script); /* gnuplot copies text into SVG unchanged, where "]]>" is not allowed */
        if (is_shown(character, length))
            put_quoted(script, character, length);
        else
            fputs("\xef\xbf\xbd", script);
    }
    putc('\'', script);
}

/* A string in single quotes ends with its line, and gnuplot would expand "~" to a home directory. */
void gnuplot_put_path(FILE *script, const char *path) {
    fputs(path[0] == '|' || path[0] == '~' ? "'./" : "'", script);
    for (; *path; path++) {
        if ((unsigned char)*path < ' ')
            fprintf(script, "'.\"\\%03o\".'", (unsigned)(unsigned char)*path);
        else
            put_quoted(script, path, 1);
    }
    putc('\'', script);
}

/* ---- Running it --------------------------------------------------------------------------------- */

/* The script and gnuplot's messages are files in memory, so that neither side waits for the other and nothing is left
 * on disk. */

/* Above the standard descriptors, even if those are closed. */
static int memory_file(const char *name, int *ret_fd) {
    CLEANUP_FD int any_fd = memfd_create(name, MFD_CLOEXEC);
    int fd = any_fd < 0 ? -1 : fcntl(any_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (fd < 0)
        return negative_errno();
    *ret_fd = fd;
    return 0;
}

static int read_back(int fd, char **ret_data, size_t *ret_size_bytes) {
    struct stat st;
    if (fstat(fd, &st) < 0)
        return negative_errno();
    CLEANUP_FREE char *data = malloc((size_t)st.st_size + 1);
    size_t done = 0;
    if (!data)
        return -ENOMEM;
    while (done < (size_t)st.st_size) {
        ssize_t got = pread(fd, data + done, (size_t)st.st_size - done, (off_t)done);
        if (got < 0)
            return negative_errno();
        if (got == 0)
            break;
        done += (size_t)got;
    }
    data[done] = '\0';
    *ret_data = steal_pointer(&data);
    *ret_size_bytes = done;
    return 0;
}

/* ---- Messages of gnuplot ------------------------------------------------------------------------ */

/* The reason is the last non-empty line of gnuplot's messages, without characters that a terminal obeys. */
static int explain(int wait_status, int messages_fd, size_t picture_bytes, char ret_reason[GNUPLOT_REASON_SIZE]) {
    CLEANUP_FREE char *messages = NULL;
    size_t messages_bytes = 0;
    const char *line = "it does not say why";
    size_t length = strlen(line);
    if (WIFSIGNALED(wait_status)) {
        snprintf(ret_reason, GNUPLOT_REASON_SIZE, "%s", strsignal(WTERMSIG(wait_status)));
        return -EPROTO;
    }
    if (WEXITSTATUS(wait_status) == 0 && picture_bytes > 0)
        return 0;
    int error = read_back(messages_fd, &messages, &messages_bytes);
    if (error)
        return error;
    for (const char *text = messages ? messages : ""; text[strspn(text, " \n")]; text = line + length) {
        line = text + strspn(text, " \n");
        length = strcspn(line, "\n");
    }
    snprintf(ret_reason, GNUPLOT_REASON_SIZE, "%.*s", (int)(length < 200 ? length : 200), line);
    for (char *c = ret_reason; *c; c++)
        if (*c < ' ' || *c == 0x7f)
            *c = '?';
    return -EPROTO;
}

/* ---- The process -------------------------------------------------------------------------------- */

/* Runs it, and waits for its end. fds: standard input, output and error */
static int run(const int fds[3], int *ret_wait_status) {
    static char name[] = "gnuplot"; /* arrays, because the arguments of a process are not constant */
    static char defaults[] = "--default-settings";
    static char standard_input[] = "-";
    char *const arguments[] = {name, defaults, standard_input, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return -error;
    for (int i = 0; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    if (!error)
        error = posix_spawnp(&pid, "gnuplot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    while (waitpid(pid, ret_wait_status, 0) < 0) {
        if (errno != EINTR)
            return negative_errno();
    }
    return 0;
}

/* ---- The picture -------------------------------------------------------------------------------- */

/* A chunk "tEXt" of a PNG: length, type, key and text, CRC of these. */
#define PNG_HEAD_BYTES 33 /* signature and chunk "IHDR" */
static const char png_mark[] = "\0\0\0\x1c"
                               "tEXtSoftware\0" OUTPUT_PICTURE_MARK "\x4c\x04\x27\x01";

/* Marks a picture as a result of osprof (output.h).
 * Owner:   the caller frees *ret_marked. Errors: -ENOMEM */
static int mark(const char *picture, size_t picture_bytes, char **ret_marked, size_t *ret_bytes) {
    const bool is_png = picture_bytes > PNG_HEAD_BYTES && memcmp(picture, "\x89PNG", 4) == 0;
    const bool is_svg = picture_bytes > 0 && picture[0] == '<';
    const char *text = is_png   ? png_mark
                       : is_svg ? "<!-- " OUTPUT_PICTURE_MARK " -->\n"
                                : "% " OUTPUT_PICTURE_MARK "\n";
    const size_t text_bytes = is_png ? sizeof(png_mark) - 1 : strlen(text);
    const size_t before = is_png ? PNG_HEAD_BYTES : picture_bytes;
    char *marked = malloc(picture_bytes + text_bytes + 1);
    if (!marked)
        return -ENOMEM;
    memcpy(marked, picture, before);
    memcpy(marked + before, text, text_bytes);
    memcpy(marked + before + text_bytes, picture + before, picture_bytes - before);
    *ret_marked = marked;
    *ret_bytes = picture_bytes + text_bytes;
    return 0;
}

int gnuplot_run(const char *script, size_t script_bytes, char **ret_picture, size_t *ret_picture_bytes,
                char ret_reason[GNUPLOT_REASON_SIZE]) {
    CLEANUP_FD int script_fd = -1;
    CLEANUP_FD int picture_fd = -1;
    CLEANUP_FD int messages_fd = -1;
    int error = memory_file("script", &script_fd);
    if (!error)
        error = memory_file("picture", &picture_fd);
    if (!error)
        error = memory_file("messages", &messages_fd);
    if (!error)
        error = write_all(script_fd, script, script_bytes);
    if (error)
        return error;
    if (lseek(script_fd, 0, SEEK_SET) < 0)
        return negative_errno();
    int wait_status = 0;
    error = run((const int[]){script_fd, picture_fd, messages_fd}, &wait_status);
    if (error)
        return error;
    CLEANUP_FREE char *picture = NULL;
    size_t picture_bytes = 0;
    error = read_back(picture_fd, &picture, &picture_bytes);
    if (!error)
        error = explain(wait_status, messages_fd, picture_bytes, ret_reason);
    if (error)
        return error;
    return mark(picture, picture_bytes, ret_picture, ret_picture_bytes);
}
