/* Functions for streams. Only calls that reach the kernel count: a call that libc's buffer answers takes less time than
 * our clock. The counted bytes are the bytes requested from the kernel, not the bytes given to the program.
 *
 * The pointers of struct _IO_FILE, unchanged since glibc 2.1, show whether a call reaches the kernel: before the call,
 * if the call surely stays in the buffer; otherwise after the call, by the contents of the buffer. The pointers are
 * read without the stream's lock, which another thread may hold for ever: a race can make a figure wrong, and nothing
 * else. A buffer of wide characters is not visible. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <wchar.h>

#include "aggstats/watched.h"
#include "counting.h"

/* ---- Buffers ---- */

#define HAS_TWO_BUFFERS 0x100 /* glibc's _IO_IN_BACKUP: characters that were put back are in a buffer of their own */

/* 0 if a race has put the pointers out of order. */
static inline uint64_t bytes_between(const char *from, const char *to) {
    return from < to ? (uint64_t)(to - from) : 0;
}

/* Bytes that the buffer holds for the program to read. */
static inline uint64_t stdio_held(const FILE *stream) {
    const uint64_t held = bytes_between(stream->_IO_read_ptr, stream->_IO_read_end);
    return __builtin_expect(stream->_flags & HAS_TWO_BUFFERS, 0)
               ? held + bytes_between(stream->_IO_save_base, stream->_IO_save_end)
               : held;
}

/* Room for more bytes; none if any byte may be one that flushes the buffer. */
static inline uint64_t stdio_room(const FILE *stream) {
    return bytes_between(stream->_IO_write_ptr, stream->_IO_write_end);
}

/* Bytes, or wide characters, that are written and not flushed. */
static inline uint64_t stdio_pending(FILE *stream) {
    return stream->_mode > 0 ? __fpending(stream) : bytes_between(stream->_IO_write_base, stream->_IO_write_ptr);
}

/* True if it holds all bytes up to the end of a line, or as many as are wanted. */
static bool stdio_holds_line(const FILE *stream, int end, int64_t most_bytes) {
    const char *from = stream->_IO_read_ptr;
    const uint64_t held = bytes_between(from, stream->_IO_read_end);
    if (from < stream->_IO_buf_base || bytes_between(from, stream->_IO_buf_end) < held)
        return false;
    return (int64_t)held >= most_bytes || (held > 0 && memchr(from, end, held));
}

static inline bool stdio_is_clean(const FILE *stream) {
    return stream->_mode <= 0 && stdio_held(stream) == 0 &&
           bytes_between(stream->_IO_write_base, stream->_IO_write_ptr) == 0;
}

/* The offset of the descriptor, as libc remembers it. */
static inline bool stdio_knows_offset(const FILE *stream) {
    return stream->_offset >= 0;
}

/* ---- Calls ---- */

/* A call that may reach the kernel. */
struct stream_call {
    FILE *stream;                       /* NULL: all of them */
    struct aggstats_recorder *recorder; /* NULL: it does not count, or has ended */
    struct aggstats_span span;
    bool is_counted; /* already */
    call_of of;
    unsigned op;
    int fd; /* -1: the stream has none, and calls do not reach the kernel */
    uint64_t held_bytes;
    uint64_t pending_bytes; /* written, and not flushed; of a stream of wide characters, these */
    const char *read_ptr;   /* of the buffer that the kernel fills, also with two buffers */
    const char *read_end;
    off64_t offset;
    bool was_at_end; /* libc does not ask the kernel again */
};

static bool is_input(unsigned op) {
    return op == POSIX_FREAD || op == POSIX_FGETS || op == POSIX_FSCANF || op == POSIX_FGETC;
}

/* True if it reaches the kernel, since it does not stay in the buffer. A call that may write, or reads by a format, may
 * turn out to have found room, or all that it wanted; of wide characters that is never known. */
static bool is_sure(const struct stream_call *call) {
    return call->op == POSIX_FSEEK || call->op == POSIX_FFLUSH || call->stream->_mode > 0 ||
           (is_input(call->op) && call->op != POSIX_FSCANF && !call->was_at_end);
}

static __attribute__((noinline)) void stream_begin(struct stream_call *call, FILE *stream, unsigned op) {
    call->stream = stream;
    call->op = op;
    call->recorder = NULL;
    call->fd = stream_fd(stream);
    if (call->fd >= 0) {
        call->held_bytes = stdio_held(stream);
        call->pending_bytes = stdio_pending(stream);
        const bool has_two = stream->_flags & HAS_TWO_BUFFERS;
        call->read_ptr = has_two ? stream->_IO_save_base : stream->_IO_read_ptr;
        call->read_end = has_two ? stream->_IO_save_end : stream->_IO_read_end;
        call->offset = stream->_offset;
        call->was_at_end = feof_unlocked(stream);
    }
    if (stream)
        call->of = call->fd >= 0 ? fd_counts(call->fd) : 0;
    else
        call->of = op == POSIX_FFLUSH ? all_files_count() : 0;
    if (!call->of)
        return;
    call->recorder = __atomic_load_n(&preload.recorder, __ATOMIC_RELAXED);
    call->is_counted = is_sure(call);
    call->span = call->is_counted
                     ? aggstats_shared_begin(call->recorder, op, call_of_object(call->of), (uint64_t)preload_pid())
                     : aggstats_watch(call->recorder, op, (uint64_t)preload_pid());
}

/* Of a call that counts. */
static void count(const struct stream_call *call, struct aggstats_recorder *recorder,
                  const struct aggstats_outcome *outcome) {
    const uint64_t end_cycles = aggstats_clock_now(preload.clock_kind);
    const uint64_t latency_cycles =
        call->is_counted
            ? aggstats_end_at(recorder, &call->span, end_cycles, outcome)
            : aggstats_watched_count(recorder, call->op, &call->span, call_of_object(call->of), end_cycles, outcome);
    call_group(call->op, call->of, latency_cycles);
}

/* A thread that is cancelled in a call waits in the kernel. */
static void stream_abandon(struct stream_call *call) {
    const struct aggstats_outcome none = {0};
    if (call->recorder)
        count(call, call->recorder, &none);
}
#define CLEANUP_STREAM __attribute__((cleanup(stream_abandon)))

static uint64_t at_least_0(uint64_t difference) {
    return (int64_t)difference < 0 ? 0 : difference;
}

/* Bytes that came from the kernel. A seek that writes what is pending is a flush, and may read too. Of a line that is
 * longer than the buffer, or if it starts at the same place again, a refill of the buffer is not seen. */
static uint64_t read_bytes(const struct stream_call *call, uint64_t bytes) {
    const FILE *stream = call->stream;
    const bool is_read = is_input(call->op);
    const bool is_seek = call->op == POSIX_FSEEK || (call->op == POSIX_FFLUSH && call->pending_bytes > 0);
    const uint64_t read = is_read ? at_least_0(bytes + stdio_held(stream) - call->held_bytes) : 0;
    if ((!is_read && !is_seek) || stream->_flags & HAS_TWO_BUFFERS)
        return read;
    /* Whether the buffer still has what was read before: a seek writes pending output, and empties the buffer. */
    const bool is_same = stream->_IO_read_end == call->read_end &&
                         (is_read ? stream->_IO_read_ptr >= call->read_ptr
                                  : call->pending_bytes == 0 && stream->_offset == call->offset);
    const uint64_t refilled = is_same ? 0 : bytes_between(stream->_IO_read_base, stream->_IO_read_end);
    return read > refilled ? read : refilled;
}

/* Bytes that went to it. */
static uint64_t written_bytes(const struct stream_call *call, uint64_t bytes) {
    return is_input(call->op) ? 0 : at_least_0(call->pending_bytes + bytes - stdio_pending(call->stream));
}

/* bytes:     that the program has given or been given; 0: unknown; negative: none
 * has_ended: the result says that the call has failed, or, of input, that it came to the end */
static __attribute__((noinline)) void stream_end(struct stream_call *call, int64_t bytes, bool has_ended) {
    if (call->fd < 0 && !call->recorder)
        return;
    const uint64_t known = bytes < 0 ? 0 : (uint64_t)bytes;
    const uint64_t read = call->stream ? read_bytes(call, known) : 0;
    const uint64_t written = call->stream ? written_bytes(call, known) : 0;
    const uint64_t moved = is_input(call->op) || call->op == POSIX_FSEEK ? read : written;
    struct aggstats_recorder *recorder = call->recorder;
    call->recorder = NULL;
    if (!recorder) {
        if (read > 0)
            others_moved(OTHERS_READ, (int64_t)read);
        if (written > 0)
            others_moved(OTHERS_WRITTEN, (int64_t)written);
        return;
    }
    const bool has_failed = has_ended && (!is_input(call->op) || ferror_unlocked(call->stream));
    const struct aggstats_outcome outcome = {
        .error = has_failed ? errno : 0, .has_bytes = moved > 0, .asked_bytes = moved, .moved_bytes = moved};
    if (call->op == POSIX_FFLUSH && read > 0) { /* belongs to the seeks; lost if no other one is counted */
        struct aggstats_counters *counters = aggstats_shared_place(recorder, POSIX_FSEEK).counters;
        uint64_t *beside = aggstats_beside(counters, aggstats_hot(recorder)->resolution);
        aggstats_add(&beside[AGGSTATS_ASKED], read);
        aggstats_add(&beside[AGGSTATS_MOVED], read);
    }
    const bool has_asked = call->is_counted || moved > 0 || call->stream->_mode > 0 ||
                           (is_input(call->op) ? !call->was_at_end && feof_unlocked(call->stream) : has_ended);
    if (has_asked)
        count(call, recorder, &outcome);
    else
        aggstats_watched_drop(&call->span);
}

/* ---- The functions of libc for streams, a row each, and each of its aliases.
 *
 *     ROW(return type, symbol, (parameters), (arguments), operation, stream, whether it surely stays in the stream's
 *         buffer, how many bytes it has taken or given, whether it has failed or come to the end)
 *     LIST_ROW(symbol, symbol of the same with a va_list, (parameters), (arguments of that))
 *
 * The last two of ROW are expressions of the parameters and of `result`.
 * ---- */

/* Whether a call stays in the buffer. */
#define NEVER_KNOWN false
#define HOLDS(BYTES) (stdio_held(stream) >= (BYTES))
#define HOLDS_LINE(STREAM, END, MOST) stdio_holds_line(STREAM, END, MOST)
#define HAS_ROOM(BYTES) (stdio_room(stream) >= (BYTES))

/* The operation of a call that moves the position: with pending output the call flushes. */
#define SEEKS (stream && stdio_pending(stream) > 0 ? POSIX_FFLUSH : POSIX_FSEEK)

/* The number of bytes. */
#define UNKNOWN 0
#define RESULT ((int64_t)result)
#define ONE (result != EOF)
#define ITEMS ((int64_t)(size * result))

#define IS_EOF (result == EOF)
#define IS_NULL (!result)
#define IS_NEGATIVE (result < 0)
#define IS_SHORT (result < count)

/* clang-format off */

#define STDIO_OUTPUT_ROWS(ROW)                                                                                         \
    ROW(int, vfprintf, (FILE *stream, const char *format, va_list list), (stream, format, list), POSIX_FPRINTF, stream, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, __vfprintf_chk, (FILE *stream, int flag, const char *format, va_list list), (stream, flag, format, list), POSIX_FPRINTF, stream, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, vprintf, (const char *format, va_list list), (format, list), POSIX_FPRINTF, stdout, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, __vprintf_chk, (int flag, const char *format, va_list list), (flag, format, list), POSIX_FPRINTF, stdout, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, vfwprintf, (FILE *stream, const wchar_t *format, va_list list), (stream, format, list), POSIX_FPRINTF, stream, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, __vfwprintf_chk, (FILE *stream, int flag, const wchar_t *format, va_list list), (stream, flag, format, list), POSIX_FPRINTF, stream, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, vwprintf, (const wchar_t *format, va_list list), (format, list), POSIX_FPRINTF, stdout, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(int, __vwprintf_chk, (int flag, const wchar_t *format, va_list list), (flag, format, list), POSIX_FPRINTF, stdout, NEVER_KNOWN, RESULT, IS_NEGATIVE) \
    ROW(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *stream), (from, size, count, stream), POSIX_FWRITE, stream, HAS_ROOM(size * count), ITEMS, IS_SHORT) \
    ROW(size_t, fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *stream), (from, size, count, stream), POSIX_FWRITE, stream, HAS_ROOM(size * count), ITEMS, IS_SHORT) \
    ROW(int, putw, (int word, FILE *stream), (word, stream), POSIX_FWRITE, stream, HAS_ROOM(sizeof(word)), IS_EOF ? 0 : (int64_t)sizeof(word), IS_EOF) \
    ROW(int, fputs, (const char *from, FILE *stream), (from, stream), POSIX_FPUTS, stream, HAS_ROOM(strlen(from)), IS_EOF ? 0 : (int64_t)strlen(from), IS_EOF) \
    ROW(int, fputs_unlocked, (const char *from, FILE *stream), (from, stream), POSIX_FPUTS, stream, HAS_ROOM(strlen(from)), IS_EOF ? 0 : (int64_t)strlen(from), IS_EOF) \
    ROW(int, puts, (const char *from), (from), POSIX_FPUTS, stdout, stdio_room(stdout) > strlen(from), IS_EOF ? 0 : (int64_t)strlen(from) + 1, IS_EOF) \
    ROW(int, fputws, (const wchar_t *from, FILE *stream), (from, stream), POSIX_FPUTS, stream, NEVER_KNOWN, IS_EOF ? 0 : (int64_t)wcslen(from), IS_EOF) \
    ROW(int, fputws_unlocked, (const wchar_t *from, FILE *stream), (from, stream), POSIX_FPUTS, stream, NEVER_KNOWN, IS_EOF ? 0 : (int64_t)wcslen(from), IS_EOF) \
    ROW(int, fputc, (int byte, FILE *stream), (byte, stream), POSIX_FPUTC, stream, HAS_ROOM(1), ONE, IS_EOF)           \
    ROW(int, putc, (int byte, FILE *stream), (byte, stream), POSIX_FPUTC, stream, HAS_ROOM(1), ONE, IS_EOF)            \
    ROW(int, _IO_putc, (int byte, FILE *stream), (byte, stream), POSIX_FPUTC, stream, HAS_ROOM(1), ONE, IS_EOF)        \
    ROW(int, fputc_unlocked, (int byte, FILE *stream), (byte, stream), POSIX_FPUTC, stream, HAS_ROOM(1), ONE, IS_EOF)  \
    ROW(int, putc_unlocked, (int byte, FILE *stream), (byte, stream), POSIX_FPUTC, stream, HAS_ROOM(1), ONE, IS_EOF)   \
    ROW(int, putchar, (int byte), (byte), POSIX_FPUTC, stdout, stdio_room(stdout) >= 1, ONE, IS_EOF)                   \
    ROW(int, putchar_unlocked, (int byte), (byte), POSIX_FPUTC, stdout, stdio_room(stdout) >= 1, ONE, IS_EOF)          \
    ROW(int, __overflow, (FILE *stream, int byte), (stream, byte), POSIX_FPUTC, stream, NEVER_KNOWN, byte != EOF && ONE, IS_EOF) \
    ROW(wint_t, fputwc, (wchar_t character, FILE *stream), (character, stream), POSIX_FPUTC, stream, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, putwc, (wchar_t character, FILE *stream), (character, stream), POSIX_FPUTC, stream, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, fputwc_unlocked, (wchar_t character, FILE *stream), (character, stream), POSIX_FPUTC, stream, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, putwc_unlocked, (wchar_t character, FILE *stream), (character, stream), POSIX_FPUTC, stream, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, putwchar, (wchar_t character), (character), POSIX_FPUTC, stdout, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, putwchar_unlocked, (wchar_t character), (character), POSIX_FPUTC, stdout, NEVER_KNOWN, result != WEOF, result == WEOF) \
    ROW(wint_t, __woverflow, (FILE *stream, wint_t character), (stream, character), POSIX_FPUTC, stream, NEVER_KNOWN, character != WEOF && result != WEOF, result == WEOF)

#define STDIO_INPUT_ROWS(ROW)                                                                                          \
    ROW(int, vfscanf, (FILE *stream, const char *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, vscanf, (const char *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc99_vfscanf, (FILE *stream, const char *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc99_vscanf, (const char *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc23_vfscanf, (FILE *stream, const char *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc23_vscanf, (const char *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, vfwscanf, (FILE *stream, const wchar_t *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, vwscanf, (const wchar_t *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc99_vfwscanf, (FILE *stream, const wchar_t *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc99_vwscanf, (const wchar_t *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc23_vfwscanf, (FILE *stream, const wchar_t *format, va_list list), (stream, format, list), POSIX_FSCANF, stream, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(int, __isoc23_vwscanf, (const wchar_t *format, va_list list), (format, list), POSIX_FSCANF, stdin, NEVER_KNOWN, UNKNOWN, IS_EOF) \
    ROW(size_t, fread, (void *to, size_t size, size_t count, FILE *stream), (to, size, count, stream), POSIX_FREAD, stream, HOLDS(size * count), ITEMS, IS_SHORT) \
    ROW(size_t, fread_unlocked, (void *to, size_t size, size_t count, FILE *stream), (to, size, count, stream), POSIX_FREAD, stream, HOLDS(size * count), ITEMS, IS_SHORT) \
    ROW(size_t, __fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *stream), (to, room, size, count, stream), POSIX_FREAD, stream, HOLDS(size * count), ITEMS, IS_SHORT) \
    ROW(size_t, __fread_unlocked_chk, (void *to, size_t room, size_t size, size_t count, FILE *stream), (to, room, size, count, stream), POSIX_FREAD, stream, HOLDS(size * count), ITEMS, IS_SHORT) \
    ROW(int, getw, (FILE *stream), (stream), POSIX_FREAD, stream, HOLDS(sizeof(int)), IS_EOF ? 0 : (int64_t)sizeof(int), IS_EOF) \
    ROW(char *, fgets, (char *to, int size, FILE *stream), (to, size, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, '\n', size - 1), result ? (int64_t)strlen(result) : 0, IS_NULL) \
    ROW(char *, fgets_unlocked, (char *to, int size, FILE *stream), (to, size, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, '\n', size - 1), result ? (int64_t)strlen(result) : 0, IS_NULL) \
    ROW(char *, __fgets_chk, (char *to, size_t room, int size, FILE *stream), (to, room, size, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, '\n', size - 1), result ? (int64_t)strlen(result) : 0, IS_NULL) \
    ROW(char *, __fgets_unlocked_chk, (char *to, size_t room, int size, FILE *stream), (to, room, size, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, '\n', size - 1), result ? (int64_t)strlen(result) : 0, IS_NULL) \
    ROW(char *, gets, (char *to), (to), POSIX_FGETS, stdin, HOLDS_LINE(stdin, '\n', INT64_MAX), result ? (int64_t)strlen(result) + 1 : 0, IS_NULL) \
    ROW(char *, __gets_chk, (char *to, size_t room), (to, room), POSIX_FGETS, stdin, HOLDS_LINE(stdin, '\n', INT64_MAX), result ? (int64_t)strlen(result) + 1 : 0, IS_NULL) \
    ROW(ssize_t, getline, (char **to, size_t *size, FILE *stream), (to, size, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, '\n', INT64_MAX), RESULT, IS_NEGATIVE) \
    ROW(ssize_t, getdelim, (char **to, size_t *size, int delimiter, FILE *stream), (to, size, delimiter, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, delimiter, INT64_MAX), RESULT, IS_NEGATIVE) \
    ROW(ssize_t, __getdelim, (char **to, size_t *size, int delimiter, FILE *stream), (to, size, delimiter, stream), POSIX_FGETS, stream, HOLDS_LINE(stream, delimiter, INT64_MAX), RESULT, IS_NEGATIVE) \
    ROW(wchar_t *, fgetws, (wchar_t *to, int size, FILE *stream), (to, size, stream), POSIX_FGETS, stream, NEVER_KNOWN, UNKNOWN, IS_NULL) \
    ROW(wchar_t *, fgetws_unlocked, (wchar_t *to, int size, FILE *stream), (to, size, stream), POSIX_FGETS, stream, NEVER_KNOWN, UNKNOWN, IS_NULL) \
    ROW(wchar_t *, __fgetws_chk, (wchar_t *to, size_t room, int size, FILE *stream), (to, room, size, stream), POSIX_FGETS, stream, NEVER_KNOWN, UNKNOWN, IS_NULL) \
    ROW(wchar_t *, __fgetws_unlocked_chk, (wchar_t *to, size_t room, int size, FILE *stream), (to, room, size, stream), POSIX_FGETS, stream, NEVER_KNOWN, UNKNOWN, IS_NULL) \
    ROW(int, fgetc, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                              \
    ROW(int, getc, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                               \
    ROW(int, _IO_getc, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                           \
    ROW(int, fgetc_unlocked, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                     \
    ROW(int, getc_unlocked, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                      \
    ROW(int, getchar, (void), (), POSIX_FGETC, stdin, stdio_held(stdin) >= 1, ONE, IS_EOF)                             \
    ROW(int, getchar_unlocked, (void), (), POSIX_FGETC, stdin, stdio_held(stdin) >= 1, ONE, IS_EOF)                    \
    ROW(int, __uflow, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), ONE, IS_EOF)                            \
    ROW(int, __underflow, (FILE *stream), (stream), POSIX_FGETC, stream, HOLDS(1), 0, IS_EOF)                          \
    ROW(wint_t, fgetwc, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)           \
    ROW(wint_t, getwc, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)            \
    ROW(wint_t, fgetwc_unlocked, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)  \
    ROW(wint_t, getwc_unlocked, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)   \
    ROW(wint_t, getwchar, (void), (), POSIX_FGETC, stdin, NEVER_KNOWN, UNKNOWN, result == WEOF)                        \
    ROW(wint_t, getwchar_unlocked, (void), (), POSIX_FGETC, stdin, NEVER_KNOWN, UNKNOWN, result == WEOF)               \
    ROW(wint_t, __wuflow, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)         \
    ROW(wint_t, __wunderflow, (FILE *stream), (stream), POSIX_FGETC, stream, NEVER_KNOWN, UNKNOWN, result == WEOF)

/* What a seek drops of the buffer, the kernel has read before. */
#define STDIO_SEEK_ROWS(ROW)                                                                                           \
    ROW(int, fflush, (FILE *stream), (stream), POSIX_FFLUSH, stream, stream && stdio_is_clean(stream), 0, IS_EOF)     \
    ROW(int, fflush_unlocked, (FILE *stream), (stream), POSIX_FFLUSH, stream, stream && stdio_is_clean(stream), 0, IS_EOF) \
    ROW(int, fseek, (FILE *stream, long offset, int whence), (stream, offset, whence), SEEKS, stream, NEVER_KNOWN, 0, IS_NEGATIVE) \
    ROW(int, fseeko, (FILE *stream, off64_t offset, int whence), (stream, offset, whence), SEEKS, stream, NEVER_KNOWN, 0, IS_NEGATIVE) \
    ROW(int, fseeko64, (FILE *stream, off64_t offset, int whence), (stream, offset, whence), SEEKS, stream, NEVER_KNOWN, 0, IS_NEGATIVE) \
    ROW(int, fsetpos, (FILE *stream, const fpos_t *position), (stream, position), SEEKS, stream, NEVER_KNOWN, 0, result != 0) \
    ROW(int, fsetpos64, (FILE *stream, const fpos64_t *position), (stream, position), SEEKS, stream, NEVER_KNOWN, 0, result != 0) \
    ROW(int, fgetpos, (FILE *stream, fpos_t *to), (stream, to), POSIX_FSEEK, stream, stdio_knows_offset(stream), 0, result != 0) \
    ROW(int, fgetpos64, (FILE *stream, fpos64_t *to), (stream, to), POSIX_FSEEK, stream, stdio_knows_offset(stream), 0, result != 0) \
    ROW(long, ftell, (FILE *stream), (stream), POSIX_FSEEK, stream, stdio_knows_offset(stream), 0, IS_NEGATIVE)        \
    ROW(off64_t, ftello, (FILE *stream), (stream), POSIX_FSEEK, stream, stdio_knows_offset(stream), 0, IS_NEGATIVE)    \
    ROW(off64_t, ftello64, (FILE *stream), (stream), POSIX_FSEEK, stream, stdio_knows_offset(stream), 0, IS_NEGATIVE)

#define STDIO_LIST_ROWS(LIST_ROW)                                                                                      \
    LIST_ROW(fprintf, vfprintf, (FILE *stream, const char *format, ...), (stream, format, list))                       \
    LIST_ROW(__fprintf_chk, __vfprintf_chk, (FILE *stream, int flag, const char *format, ...), (stream, flag, format, list)) \
    LIST_ROW(printf, vprintf, (const char *format, ...), (format, list))                                               \
    LIST_ROW(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), (flag, format, list))                   \
    LIST_ROW(fwprintf, vfwprintf, (FILE *stream, const wchar_t *format, ...), (stream, format, list))                  \
    LIST_ROW(__fwprintf_chk, __vfwprintf_chk, (FILE *stream, int flag, const wchar_t *format, ...), (stream, flag, format, list)) \
    LIST_ROW(wprintf, vwprintf, (const wchar_t *format, ...), (format, list))                                          \
    LIST_ROW(__wprintf_chk, __vwprintf_chk, (int flag, const wchar_t *format, ...), (flag, format, list))              \
    LIST_ROW(fscanf, vfscanf, (FILE *stream, const char *format, ...), (stream, format, list))                         \
    LIST_ROW(scanf, vscanf, (const char *format, ...), (format, list))                                                 \
    LIST_ROW(__isoc99_fscanf, __isoc99_vfscanf, (FILE *stream, const char *format, ...), (stream, format, list))       \
    LIST_ROW(__isoc99_scanf, __isoc99_vscanf, (const char *format, ...), (format, list))                               \
    LIST_ROW(__isoc23_fscanf, __isoc23_vfscanf, (FILE *stream, const char *format, ...), (stream, format, list))       \
    LIST_ROW(__isoc23_scanf, __isoc23_vscanf, (const char *format, ...), (format, list))                               \
    LIST_ROW(fwscanf, vfwscanf, (FILE *stream, const wchar_t *format, ...), (stream, format, list))                    \
    LIST_ROW(wscanf, vwscanf, (const wchar_t *format, ...), (format, list))                                            \
    LIST_ROW(__isoc99_fwscanf, __isoc99_vfwscanf, (FILE *stream, const wchar_t *format, ...), (stream, format, list))  \
    LIST_ROW(__isoc99_wscanf, __isoc99_vwscanf, (const wchar_t *format, ...), (format, list))                          \
    LIST_ROW(__isoc23_fwscanf, __isoc23_vfwscanf, (FILE *stream, const wchar_t *format, ...), (stream, format, list))  \
    LIST_ROW(__isoc23_wscanf, __isoc23_vwscanf, (const wchar_t *format, ...), (format, list))                          \
    LIST_ROW(dprintf, vdprintf, (int fd, const char *format, ...), (fd, format, list))                                 \
    LIST_ROW(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), (fd, flag, format, list))
/* clang-format on */

/* ---- Wrappers ---- */

#define COUNTED(RETURNS, SYMBOL, PARAMETERS, ARGUMENTS, OP, STREAM, STAYS, BYTES, HAS_ENDED)                           \
    static AGGSTATS_ALWAYS_INLINE RETURNS counted_##SYMBOL PARAMETERS;                                                 \
    WRAPPER(RETURNS, SYMBOL, PARAMETERS) {                                                                             \
        return counted_##SYMBOL ARGUMENTS;                                                                             \
    }                                                                                                                  \
    static AGGSTATS_ALWAYS_INLINE RETURNS counted_##SYMBOL PARAMETERS {                                                \
        if (!preload_looks() || (STAYS))                                                                               \
            return real_##SYMBOL() ARGUMENTS;                                                                          \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        CLEANUP_STREAM struct stream_call call;                                                                        \
        stream_begin(&call, STREAM, OP);                                                                               \
        RETURNS result = real ARGUMENTS;                                                                               \
        stream_end(&call, BYTES, HAS_ENDED);                                                                           \
        return result;                                                                                                 \
    }

STDIO_OUTPUT_ROWS(COUNTED)
STDIO_INPUT_ROWS(COUNTED)
STDIO_SEEK_ROWS(COUNTED)

WRAPPER(void, rewind, (FILE * stream)) {
    function_rewind *real = real_rewind();
    if (!preload_looks()) {
        real(stream);
        return;
    }
    CLEANUP_STREAM struct stream_call call;
    stream_begin(&call, stream, SEEKS);
    real(stream);
    stream_end(&call, 0, false);
}

/* On a descriptor, in one write. */
#define PRINTED(SYMBOL, PARAMETERS, ARGUMENTS)                                                                         \
    static AGGSTATS_ALWAYS_INLINE int counted_##SYMBOL PARAMETERS;                                                     \
    WRAPPER(int, SYMBOL, PARAMETERS) {                                                                                 \
        return counted_##SYMBOL ARGUMENTS;                                                                             \
    }                                                                                                                  \
    static AGGSTATS_ALWAYS_INLINE int counted_##SYMBOL PARAMETERS {                                                    \
        const call_of of = fd_counts(fd);                                                                              \
        if (!of)                                                                                                       \
            return (int)other_moved(POSIX_WRITE, real_##SYMBOL() ARGUMENTS);                                           \
        CLEANUP_CALL struct call call = call_begin(POSIX_WRITE, of);                                                   \
        int result = real_##SYMBOL() ARGUMENTS;                                                                        \
        call_end(&call, call_moved(result < 0 ? 0 : (uint64_t)result, result));                                        \
        return result;                                                                                                 \
    }

PRINTED(vdprintf, (int fd, const char *format, va_list list), (fd, format, list))
PRINTED(__vdprintf_chk, (int fd, int flag, const char *format, va_list list), (fd, flag, format, list))

/* Those with a list of arguments are the same as those with a va_list. Their own symbols need not be looked up. */
#define LISTED(SYMBOL, LIST_SYMBOL, PARAMETERS, ARGUMENTS)                                                             \
    WRAPPER_OF_FOUND(int, SYMBOL, PARAMETERS) {                                                                        \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        int result = counted_##LIST_SYMBOL ARGUMENTS;                                                                  \
        va_end(list);                                                                                                  \
        return result;                                                                                                 \
    }

STDIO_LIST_ROWS(LISTED)

/* ---- Opening and closing of streams and directories. Calls inside libc do not reach our wrappers, so these are
 * operations of their own; what a stream writes when it is closed is not counted separately. ---- */

static void count_fopen(const struct call_watch *watch, FILE *stream, const char *path) {
    const call_of of = stream ? opened_fd_counts(stream_fd(stream), AT_FDCWD, path) : name_counts(AT_FDCWD, path);
    if (of)
        call_watch_count(POSIX_FOPEN, watch, of, call_outcome(!stream));
}

#define WRAP_FOPEN(SYMBOL, PARAMETERS, ARGUMENTS, PATH)                                                                \
    WRAPPER(FILE *, SYMBOL, PARAMETERS) {                                                                              \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        if (!preload_looks())                                                                                          \
            return real ARGUMENTS;                                                                                     \
        CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_FOPEN);                                         \
        FILE *stream = real ARGUMENTS;                                                                                 \
        call_watch_end(&watch);                                                                                        \
        count_fopen(&watch, stream, PATH);                                                                             \
        return stream;                                                                                                 \
    }

WRAP_FOPEN(fopen, (const char *path, const char *mode), (path, mode), path)
WRAP_FOPEN(fopen64, (const char *path, const char *mode), (path, mode), path)
WRAP_FOPEN(tmpfile, (void), (), NULL)
WRAP_FOPEN(tmpfile64, (void), (), NULL)

#define WRAP_FREOPEN(SYMBOL)                                                                                           \
    WRAPPER(FILE *, SYMBOL, (const char *path, const char *mode, FILE *before)) {                                      \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        if (!preload_looks())                                                                                          \
            return real(path, mode, before);                                                                           \
        fd_table_forget(stream_fd(before));                                                                            \
        CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_FOPEN);                                         \
        FILE *stream = real(path, mode, before);                                                                       \
        call_watch_end(&watch);                                                                                        \
        count_fopen(&watch, stream, path);                                                                             \
        return stream;                                                                                                 \
    }

WRAP_FREOPEN(freopen)
WRAP_FREOPEN(freopen64)

static inline struct aggstats_outcome closed_outcome(int result, uint64_t written) {
    struct aggstats_outcome outcome = call_outcome(result != 0);
    outcome.has_bytes = written > 0 && result == 0;
    outcome.asked_bytes = outcome.moved_bytes = written;
    return outcome;
}

#define WRAP_FCLOSE(SYMBOL)                                                                                            \
    WRAPPER(int, SYMBOL, (FILE * stream)) {                                                                            \
        function_##SYMBOL *real = real_##SYMBOL();                                                                     \
        int fd = stream_fd(stream);                                                                                    \
        const call_of of = fd_counts(fd);                                                                              \
        const uint64_t pending = fd >= 0 ? __fpending(stream) : 0;                                                     \
        fd_table_forget(fd);                                                                                           \
        if (!of) {                                                                                                     \
            if (pending > 0)                                                                                           \
                others_moved(OTHERS_WRITTEN, (int64_t)pending);                                                        \
            return real(stream);                                                                                       \
        }                                                                                                              \
        CLEANUP_CALL struct call call = call_begin(POSIX_FCLOSE, of);                                                  \
        int result = real(stream);                                                                                     \
        call_end(&call, closed_outcome(result, pending));                                                              \
        return result;                                                                                                 \
    }

WRAP_FCLOSE(fclose)
WRAP_FCLOSE(pclose)

WRAPPER(DIR *, opendir, (const char *path)) {
    function_opendir *real = real_opendir();
    if (!preload_looks())
        return real(path);
    CLEANUP_CALL_WATCH struct call_watch watch = posix_watch(POSIX_OPENDIR);
    DIR *directory = real(path);
    call_watch_end(&watch);
    const call_of of =
        directory ? opened_fd_counts(directory_fd(directory), AT_FDCWD, path) : name_counts(AT_FDCWD, path);
    if (of)
        call_watch_count(POSIX_OPENDIR, &watch, of, call_outcome(!directory));
    return directory;
}

WRAPPER(DIR *, fdopendir, (int fd)) {
    function_fdopendir *real = real_fdopendir();
    const call_of of = fd_counts(fd);
    if (!of)
        return real(fd);
    CLEANUP_CALL struct call call = call_begin(POSIX_OPENDIR, of);
    DIR *directory = real(fd);
    call_end(&call, call_outcome(!directory));
    return directory;
}

WRAPPER(int, closedir, (DIR * directory)) {
    function_closedir *real = real_closedir();
    int fd = directory_fd(directory);
    const call_of of = fd_counts(fd);
    fd_table_forget(fd);
    if (!of)
        return real(directory);
    CLEANUP_CALL struct call call = call_begin(POSIX_CLOSEDIR, of);
    int result = real(directory);
    call_end(&call, call_outcome(result != 0));
    return result;
}
