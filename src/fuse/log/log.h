/* Messages for people: one line each, on stderr while somebody reads it, in the system log afterwards. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

void log_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on nobody reads stderr. Threads: once */
void log_to_syslog(void);

/* Prepares log_to_system(). Errors: -ENOENT there is no system log. Threads: once, before that */
int log_open_system(void);

/* A line in the system log, wherever messages go. Waits if the system log does. */
void log_to_system(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
