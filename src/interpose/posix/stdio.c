/* Functions for streams. Only calls that reach the kernel count: a call that libc's buffer answers takes less time than
 * our clock. The counted bytes are the bytes requested from the kernel, not the bytes given to the program.
 *
 * The pointers of struct _IO_FILE, unchanged since glibc 2.1, show whether a call reaches the kernel: before the call,
 * if the call surely stays in the buffer; otherwise after the call, by the contents of the buffer. The pointers are
 * read without the stream's lock, which another thread may hold for ever: a race can make a figure wrong, and nothing
 * else. A buffer of wide characters is not visible. */
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <wchar.h>

#include "aggstats/watched.h"
#include "counting.h"
#include "stdio_rows.h"

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

/* True if the buffer still has the data that was read before the call. A seek writes pending output, and empties the
 * buffer. */
static bool is_same_buffer(const struct stream_call *call) {
    const FILE *stream = call->stream;
    if (stream->_IO_read_end != call->read_end)
        return false;
    return is_input(call->op) ? stream->_IO_read_ptr >= call->read_ptr
                              : call->pending_bytes == 0 && stream->_offset == call->offset;
}

/* Bytes that the buffer was last filled with, if that was in this call. Of a line that is longer than the buffer, or if
 * it starts at the same place again, that is not seen. */
static uint64_t refilled_bytes(const struct stream_call *call) {
    const FILE *stream = call->stream;
    return is_same_buffer(call) || stream->_flags & HAS_TWO_BUFFERS
               ? 0
               : bytes_between(stream->_IO_read_base, stream->_IO_read_end);
}

static uint64_t at_least_0(uint64_t difference) {
    return (int64_t)difference < 0 ? 0 : difference;
}

/* Bytes that came from the kernel. A seek that writes what is pending is a flush, and may read too. */
static uint64_t read_bytes(const struct stream_call *call, uint64_t bytes) {
    const bool is_seek = call->op == POSIX_FSEEK || (call->op == POSIX_FFLUSH && call->pending_bytes > 0);
    const uint64_t refilled = is_input(call->op) || is_seek ? refilled_bytes(call) : 0;
    const uint64_t read = is_input(call->op) ? at_least_0(bytes + stdio_held(call->stream) - call->held_bytes) : 0;
    return read > refilled ? read : refilled;
}

/* Bytes that went to it. */
static uint64_t written_bytes(const struct stream_call *call, uint64_t bytes) {
    return is_input(call->op) ? 0 : at_least_0(call->pending_bytes + bytes - stdio_pending(call->stream));
}

/* What a flush has read belongs to the seeks. It is lost if no other seek is counted in the profile. */
static void count_read_by_flush(struct aggstats_recorder *recorder, uint64_t bytes) {
    struct aggstats_counters *counters = aggstats_shared_place(recorder, POSIX_FSEEK).counters;
    uint64_t *beside = aggstats_beside(counters, aggstats_hot(recorder)->resolution);
    aggstats_add(&beside[AGGSTATS_ASKED], bytes);
    aggstats_add(&beside[AGGSTATS_MOVED], bytes);
}

static bool has_asked(const struct stream_call *call, uint64_t moved, bool has_ended) {
    return call->is_counted || moved > 0 || call->stream->_mode > 0 ||
           (is_input(call->op) ? !call->was_at_end && feof_unlocked(call->stream) : has_ended);
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
    if (call->op == POSIX_FFLUSH && read > 0)
        count_read_by_flush(recorder, read);
    if (has_asked(call, moved, has_ended))
        count(call, recorder, &outcome);
    else
        aggstats_watched_drop(&call->span);
}

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
