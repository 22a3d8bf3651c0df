/* Messages for people, one line each: on stderr while it is read, later in the system log. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

/* The program's name before messages on stderr and in the system log, "osproffs" at first.
 * Owner:   the caller, for good
 * Threads: once, before all others */
void log_set_name(const char *name);

void log_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Messages go to the system log from now on. Threads: once */
void log_to_syslog(void);

/* Prepares log_to_system(). Errors: -ENOENT there is no system log. Threads: once, before that */
int log_open_system(void);

/* A line in the system log, whatever log_to_syslog() says. Blocks if the system log blocks. */
void log_to_system(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
