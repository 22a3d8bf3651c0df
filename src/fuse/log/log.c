/* Where messages go. The one switch of this file is set once, before threads exist. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

static bool use_syslog;

void log_to_syslog(void) {
    openlog("osproffs", LOG_PID, LOG_DAEMON);
    use_syslog = true;
}

void log_message(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is; an error of clang-tidy 14 */
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (use_syslog)
        syslog(LOG_NOTICE, "%s", text);
    else
        fprintf(stderr, "osproffs: %s\n", text);
}
