/* Reads and writes files in the current directory by libc's streams, for the layer user.
 *
 *     stdio_calls write WAY      the file "out", by one function of libc
 *     stdio_calls print WAY      the same by standard output
 *     stdio_calls read WAY       the file "out", and its bytes are as written
 *     stdio_calls ACTION         ACTION: a row of the last table below
 *
 * Exit status 0: all that it saw itself was as it should be. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wchar.h>

#include "checked_calls.h"

#define LINES 10007
#define LINE_BYTES 11
#define LINE "%010d\n"
#define BUFFER_BYTES 4096

/* What <stdio.h> does not declare, or replaces. */
extern int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
extern char *__fgets_chk(char *to, size_t room, int size, FILE *stream);
extern size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream);

static char buffer[BUFFER_BYTES];

static FILE *open_stream(const char *mode) {
    FILE *stream = fopen("out", mode);
    CHECK(stream && setvbuf(stream, buffer, _IOFBF, BUFFER_BYTES) == 0);
    return stream;
}

/* ---- Writing: each line by one call, or one for each byte ---- */

typedef bool write_fn(FILE *stream, const char *line);

static bool each_byte(int (*put)(int byte, FILE *stream), FILE *stream, const char *line) {
    for (; *line; line++)
        if (put(*line, stream) != *line)
            return false;
    return true;
}

static int unlocked(int byte, FILE *stream) {
    return putc_unlocked(byte, stream); /* a macro */
}

static bool by_list(int (*print)(FILE *stream, const char *format, va_list list), FILE *stream, ...) {
    va_list list;
    va_start(list, stream);
    const int written = print(stream, "%s", list);
    va_end(list);
    return written == LINE_BYTES;
}

static bool write_fprintf(FILE *stream, const char *line) {
    return fprintf(stream, LINE, atoi(line)) == LINE_BYTES;
}
static bool write_vfprintf(FILE *stream, const char *line) {
    return by_list(vfprintf, stream, line);
}
static bool write_fprintf_chk(FILE *stream, const char *line) {
    return __fprintf_chk(stream, 1, "%s", line) == LINE_BYTES;
}
static bool write_fputc(FILE *stream, const char *line) {
    return each_byte(fputc, stream, line);
}
static bool write_putc(FILE *stream, const char *line) {
    return each_byte(putc, stream, line);
}
static bool write_putc_unlocked(FILE *stream, const char *line) {
    return each_byte(unlocked, stream, line);
}
static bool write_fputs(FILE *stream, const char *line) {
    return fputs(line, stream) >= 0;
}
static bool write_fwrite(FILE *stream, const char *line) {
    return fwrite(line, 1, LINE_BYTES, stream) == LINE_BYTES;
}
static bool write_dprintf(FILE *stream, const char *line) {
    return dprintf(fileno(stream), "%s", line) == LINE_BYTES;
}
static bool write_fwprintf(FILE *stream, const char *line) {
    return fwprintf(stream, L"%s", line) == LINE_BYTES;
}
static bool write_fputwc(FILE *stream, const char *line) {
    for (; *line; line++)
        if (fputwc((wchar_t)*line, stream) != (wint_t)*line)
            return false;
    return true;
}

static const struct writing {
    const char *name;
    write_fn *write;
} writings[] = {
    {"fprintf", write_fprintf},   {"vfprintf", write_vfprintf}, {"fprintf_chk", write_fprintf_chk},
    {"fputc", write_fputc},       {"putc", write_putc},         {"putc_unlocked", write_putc_unlocked},
    {"fputs", write_fputs},       {"fwrite", write_fwrite},     {"dprintf", write_dprintf},
    {"fwprintf", write_fwprintf}, {"fputwc", write_fputwc},
};

static void write_lines(FILE *stream, write_fn *write) {
    char line[LINE_BYTES + 1];
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), LINE, i);
        CHECK(write(stream, line));
    }
}

static void write_all(write_fn *write) {
    FILE *stream = open_stream("w");
    write_lines(stream, write);
    CHECK(fclose(stream) == 0);
}

/* The same to standard output, which libc writes at the end. */

static bool print_printf(FILE *stream, const char *line) {
    (void)stream;
    return printf(LINE, atoi(line)) == LINE_BYTES;
}
static bool print_puts(FILE *stream, const char *line) {
    char text[LINE_BYTES] = "";
    (void)stream;
    memcpy(text, line, LINE_BYTES - 1); /* puts() adds the end of the line */
    return puts(text) >= 0;
}
static bool print_putchar(FILE *stream, const char *line) {
    (void)stream;
    for (; *line; line++)
        if (putchar(*line) != *line)
            return false;
    return true;
}

static const struct writing printings[] = {
    {"printf", print_printf},
    {"puts", print_puts},
    {"putchar", print_putchar},
};

static void print_all(write_fn *print) {
    CHECK(freopen("out", "w", stdout) == stdout && setvbuf(stdout, buffer, _IOFBF, BUFFER_BYTES) == 0);
    write_lines(stdout, print);
    CHECK(fflush(stdout) == 0 && fflush(stdout) == 0);
}

/* ---- Reading ---- */

/* Reads the next bytes. Returns how many; 0 at the end */
typedef size_t read_fn(FILE *stream, char *to);

static size_t read_fgetc(FILE *stream, char *to) {
    const int byte = fgetc(stream);
    *to = (char)byte;
    return byte != EOF;
}
static size_t read_getc_unlocked(FILE *stream, char *to) {
    const int byte = getc_unlocked(stream); /* a macro */
    *to = (char)byte;
    return byte != EOF;
}
static size_t read_fgets(FILE *stream, char *to) {
    return fgets(to, LINE_BYTES + 1, stream) ? strlen(to) : 0;
}
static size_t read_fgets_chk(FILE *stream, char *to) {
    return __fgets_chk(to, BUFFER_BYTES, 100, stream) ? strlen(to) : 0;
}
static size_t read_getline(FILE *stream, char *to) {
    char *line = NULL;
    size_t size = 0;
    const ssize_t length = getline(&line, &size, stream);
    if (length > 0)
        memcpy(to, line, (size_t)length);
    free(line);
    return length > 0 ? (size_t)length : 0;
}
static size_t read_fscanf(FILE *stream, char *to) {
    int number;
    return fscanf(stream, "%d ", &number) == 1 ? (size_t)sprintf(to, LINE, number) : 0;
}
static size_t read_fread(FILE *stream, char *to) {
    return fread(to, 1, 7, stream);
}
static size_t read_fread_chk(FILE *stream, char *to) {
    return __fread_chk(to, BUFFER_BYTES, 1, 7, stream);
}
static size_t read_fread_large(FILE *stream, char *to) {
    return fread(to, 1, (size_t)LINES * LINE_BYTES, stream);
}
static size_t read_fgetwc(FILE *stream, char *to) {
    const wint_t character = fgetwc(stream);
    *to = (char)character;
    return character != WEOF;
}

static const struct reading {
    const char *name;
    read_fn *read;
} readings[] = {
    {"fgetc", read_fgetc},
    {"getc_unlocked", read_getc_unlocked},
    {"fgets", read_fgets},
    {"fgets_chk", read_fgets_chk},
    {"getline", read_getline},
    {"fscanf", read_fscanf},
    {"fread", read_fread},
    {"fread_chk", read_fread_chk},
    {"fread_large", read_fread_large},
    {"fgetwc", read_fgetwc},
};

static void read_all(read_fn *read) {
    static char bytes[LINES * LINE_BYTES + BUFFER_BYTES];
    char line[LINE_BYTES + 1];
    size_t count = 0;
    FILE *stream = open_stream("r");
    for (size_t more = read(stream, bytes); more > 0; more = read(stream, bytes + count))
        count += more;
    CHECK(count == (size_t)LINES * LINE_BYTES && feof(stream) && !ferror(stream));
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof(line), LINE, i);
        CHECK(memcmp(bytes + (size_t)i * LINE_BYTES, line, LINE_BYTES) == 0);
    }
    CHECK(fclose(stream) == 0);
}

/* ---- Other buffers ---- */

static void unbuffered(void) {
    FILE *stream = fopen("out", "w");
    CHECK(stream && setvbuf(stream, NULL, _IONBF, 0) == 0);
    for (int i = 0; i < 7; i++)
        CHECK(fprintf(stream, LINE, i) == LINE_BYTES && fputc('x', stream) == 'x');
    CHECK(fclose(stream) == 0);
}

static void by_lines(void) {
    FILE *stream = fopen("out", "w");
    CHECK(stream && setvbuf(stream, buffer, _IOLBF, BUFFER_BYTES) == 0);
    for (int i = 0; i < 7; i++)
        CHECK(fputs("ab", stream) >= 0 && fputs("cd\n", stream) >= 0 && fputc('x', stream) == 'x');
    CHECK(fclose(stream) == 0);
}

/* Streams without a descriptor. */
static ssize_t give(void *cookie, char *to, size_t size) {
    (void)cookie;
    memset(to, 'x', size);
    return (ssize_t)size;
}

static void no_files(void) {
    char bytes[100];
    char *text = NULL;
    size_t size = 0;
    const cookie_io_functions_t functions = {.read = give};
    FILE *memory = fmemopen(bytes, sizeof(bytes), "w+");
    CHECK(memory && fprintf(memory, "%d", 4711) == 4 && fflush(memory) == 0 && strcmp(bytes, "4711") == 0);
    rewind(memory);
    CHECK(fgetc(memory) == '4' && fclose(memory) == 0);
    memory = open_memstream(&text, &size);
    CHECK(memory);
    for (int i = 0; i < 10000; i++)
        CHECK(fputs("text\n", memory) >= 0);
    CHECK(fclose(memory) == 0 && size == 50000);
    free(text);
    FILE *cookie = fopencookie(NULL, "r", functions);
    CHECK(cookie && fgets(bytes, sizeof(bytes), cookie) && strlen(bytes) == 99 && fclose(cookie) == 0);
}

/* ---- Errors ---- */

static void failing(void) {
    static char bytes[2 * BUFFER_BYTES];
    FILE *stream = open_stream("r");
    errno = 0;
    CHECK(fputs("text", stream) == EOF && errno == EBADF && ferror(stream));
    CHECK(fclose(stream) == 0);
    stream = fopen("/dev/full", "w");
    CHECK(stream && fwrite(bytes, 1, sizeof(bytes), stream) < sizeof(bytes) && errno == ENOSPC);
    CHECK(fclose(stream) == 0 || errno == ENOSPC);
    stream = open_stream("w");
    CHECK(close(fileno(stream)) == 0);
    CHECK(fprintf(stream, "%08192d", 1) < 0 && errno == EBADF);
    CHECK(fclose(stream) == EOF && errno == EBADF);
}

/* ---- Positions ---- */

static void seeks(void) {
    FILE *stream = open_stream("r");
    CHECK(fgetc(stream) == '0' && ftell(stream) == 1);                         /* reads 4096 bytes */
    CHECK(ungetc('7', stream) == '7' && fgetc(stream) == '7');                 /* put back in a buffer of its own */
    CHECK(fseek(stream, 5000, SEEK_SET) == 0 && fgetc(stream) != EOF);         /* reads another 4096 */
    CHECK(fseeko(stream, 5010, SEEK_SET) == 0 && fgetc(stream) != EOF);        /* is there already */
    rewind(stream);                                                            /* reads nothing */
    CHECK(ftello(stream) == 0 && fgetc(stream) == '0' && fclose(stream) == 0); /* reads 4096 */
}

static void write_and_seek(const char *mode, off_t step) {
    FILE *stream = open_stream(mode);
    char bytes[1000] = "";
    for (int i = 1; i <= 10; i++)
        CHECK(fwrite(bytes, 1, sizeof(bytes), stream) == sizeof(bytes) && fseeko(stream, i * step, SEEK_SET) == 0);
    CHECK(fseek(stream, 0, SEEK_END) == 0 && fclose(stream) == 0);
}
static void seeks_writing(void) {
    write_and_seek("w", 1000);
}

/* Positions within a block: libc reads the block, up to where the file ends. */
static void seeks_writing_reading(void) {
    write_and_seek("r+", 1000);
}

/* Where the position is not known, it is asked for, and nothing is written. */
static void tells(void) {
    FILE *stream = open_stream("a");
    CHECK(fputs("pending", stream) >= 0 && ftell(stream) >= 7 && fclose(stream) == 0);
}

/* Once the position is known, all but the first read stays in the buffer. */
static void seeks_within(void) {
    FILE *stream = open_stream("r");
    rewind(stream);
    for (int i = 0; i < 10; i++) {
        CHECK(fgetc(stream) == '0' && fseek(stream, 10, SEEK_CUR) == 0 && fgetc(stream) == '0');
        rewind(stream);
    }
    CHECK(ungetc('7', stream) == '7' && fseek(stream, 11, SEEK_SET) == 0 && fgetc(stream) == '0');
    CHECK(fclose(stream) == 0);
}

/* ---- Threads and processes ---- */

static void *get_byte(void *fd) {
    fgetc(fdopen(*(int *)fd, "r"));
    return NULL;
}

static void cancelled(void) {
    cancel_in_read(get_byte);
}

static FILE *locked_stream;
static pthread_barrier_t is_locked;

static void *hold_lock(void *nothing) {
    flockfile(locked_stream);
    pthread_barrier_wait(&is_locked);
    usleep(50000);
    CHECK(fputs("first", locked_stream) >= 0);
    funlockfile(locked_stream);
    return nothing;
}

/* A thread has the stream's lock. */
static void locked(void) {
    pthread_t thread;
    locked_stream = open_stream("w");
    CHECK(pthread_barrier_init(&is_locked, NULL, 2) == 0 && pthread_create(&thread, NULL, hold_lock, NULL) == 0);
    pthread_barrier_wait(&is_locked);
    CHECK(fputs("second", locked_stream) >= 0 && pthread_join(thread, NULL) == 0 && ftell(locked_stream) == 11);
    CHECK(fclose(locked_stream) == 0);
}

#define THREADS 5
#define BYTES_OF_THREAD 20011

static void *put_bytes(void *stream) {
    for (int i = 0; i < BYTES_OF_THREAD; i++)
        CHECK(fputc('x', stream) == 'x');
    return NULL;
}

static void in_threads(void) {
    pthread_t threads[THREADS];
    struct stat attr;
    FILE *stream = open_stream("w");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, put_bytes, stream) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(fclose(stream) == 0 && stat("out", &attr) == 0 && attr.st_size == (off_t)THREADS * BYTES_OF_THREAD);
}

/* What is pending is written by both, or by nobody. */
static void pending_at(const char *end) {
    FILE *stream = open_stream("w");
    CHECK(fprintf(stream, "pending\n") == 8);
    const pid_t child = strcmp(end, "fork") == 0 ? fork() : 0;
    if (child > 0)
        CHECK(wait(NULL) == child);
    if (strcmp(end, "_exit") == 0)
        _exit(0);
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    exit(0);
}
static void pending_forked(void) {
    pending_at("fork");
}
static void pending_left(void) {
    pending_at("_exit");
}
static void pending_killed(void) {
    pending_at("kill");
}

/* ---- No streams ---- */

static void mappings(void) {
    const size_t size = 1 << 20;
    int fd = open_data();
    CHECK(ftruncate(fd, (off_t)size) == 0);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(bytes != MAP_FAILED);
    for (int i = 0; i < 7; i++) {
        bytes[i * 4096] = 1;
        CHECK(msync(bytes, size, MS_SYNC) == 0);
    }
    CHECK(madvise(bytes, size, MADV_WILLNEED) == 0 && madvise(bytes, size, MADV_NORMAL) == 0);
    CHECK(posix_madvise(bytes, size, POSIX_MADV_WILLNEED) == 0);
    CHECK(readahead(fd, 0, size) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) == 0);
    sync();
    CHECK(fflush(NULL) == 0);
}

/* Reads standard input, writes standard output, in pieces of each size. */
static void pass_on(void) {
    static char bytes[70000];
    ssize_t count;
    while ((count = read(0, bytes, sizeof(bytes))) > 0)
        CHECK(write(1, bytes, (size_t)count) == count);
}

static const struct calls_row rows[] = {
    {"unbuffered", unbuffered},
    {"by_lines", by_lines},
    {"no_files", no_files},
    {"failing", failing},
    {"seeks", seeks},
    {"seeks_writing", seeks_writing},
    {"seeks_writing_reading", seeks_writing_reading},
    {"tells", tells},
    {"seeks_within", seeks_within},
    {"cancelled", cancelled},
    {"locked", locked},
    {"in_threads", in_threads},
    {"pending_forked", pending_forked},
    {"pending_left", pending_left},
    {"pending_killed", pending_killed},
    {"mappings", mappings},
    {"pass_on", pass_on},
};

int main(int argc, char **argv) {
    const char *way = argc == 3 ? argv[2] : NULL;
    if (way && strcmp(argv[1], "write") == 0)
        write_all(ROW_NAMED(writings, way)->write);
    else if (way && strcmp(argv[1], "print") == 0)
        print_all(ROW_NAMED(printings, way)->write);
    else if (way && strcmp(argv[1], "read") == 0)
        read_all(ROW_NAMED(readings, way)->read);
    else
        ROW_NAMED(rows, argv[1])->make();
    return 0;
}
