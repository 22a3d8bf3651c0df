/* Where messages go. The variables of this file are set once; threads may exist by then. */
#include "log.h"

#include <errno.h>
#include <paths.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

static bool use_syslog;
static const char *own_name = "osproffs";

void log_set_name(const char *name) {
    own_name = name;
}

static void name_ourselves(void) {
    openlog(own_name, LOG_PID, LOG_DAEMON);
}

int log_open_system(void) {
    name_ourselves();
    return access(_PATH_LOG, F_OK) < 0 ? -ENOENT : 0;
}

void log_to_system(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsyslog(LOG_NOTICE, format, arguments);
    va_end(arguments);
}

void log_to_syslog(void) {
    name_ourselves();
    __atomic_store_n(&use_syslog, true, __ATOMIC_RELEASE);
}

static void write_line(const char *text) {
    if (__atomic_load_n(&use_syslog, __ATOMIC_ACQUIRE))
        syslog(LOG_NOTICE, "%s", text);
    else
        fprintf(stderr, "%s: %s\n", own_name, text);
}

void log_message(const char *format, ...) {
    char beginning[1024]; /* the whole message, unless it is longer */
    char *whole;
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is; an error of clang-tidy 14 */
    int length = vsnprintf(beginning, sizeof(beginning), format, arguments);
    va_end(arguments);
    if (length < (int)sizeof(beginning)) {
        write_line(beginning);
        return;
    }
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    length = vasprintf(&whole, format, arguments);
    va_end(arguments);
    write_line(length < 0 ? beginning : whole); /* without memory a part is better than nothing */
    if (length >= 0)
        free(whole);
}
