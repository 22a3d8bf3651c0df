/* What threads waited for, as JSON: docs/waits.schema.json. */
#ifndef WAIT_JSON_H
#define WAIT_JSON_H

#include <stdio.h>

#include "wait_watch.h"

/* by_cause: made by nobody; whose: NULL: all of the machine. Errors: those of the stream */
void wait_json_print(struct wait_watch *watch, const struct wait_view *by_cause, const char *whose, FILE *stream);

#endif
