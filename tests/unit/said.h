/* What the code under test says on stderr. */
#ifndef SAID_H
#define SAID_H

#include <stddef.h>

/* From here on stderr is kept. Once in a test's own process */
void said_listen(void);

/* All that was said since, as one static string. */
const char *said(void);

/* How many lines that is. */
size_t said_lines(void);

#endif
