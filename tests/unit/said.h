/* Captures what the code under test prints to stderr. */
#ifndef SAID_H
#define SAID_H

#include <stddef.h>

/* Captures stderr from now on. Call once in a test's own process */
void said_listen(void);

/* Everything printed since, as one static string. */
const char *said(void);

/* The number of lines of that. */
size_t said_lines(void);

#endif
