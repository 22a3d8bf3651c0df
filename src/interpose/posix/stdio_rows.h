/* Private: the functions of libc for streams, a row each, and each of its aliases.
 *
 *     ROW(return type, symbol, (parameters), (arguments), operation, stream, whether it surely stays in the stream's
 *         buffer, how many bytes it has taken or given, whether it has failed or come to the end)
 *     LIST_ROW(symbol, symbol of the same with a va_list, (parameters), (arguments of that))
 *
 * The last two of ROW are expressions of the parameters and of `result`. */
#ifndef STDIO_ROWS_H
#define STDIO_ROWS_H

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

#endif
