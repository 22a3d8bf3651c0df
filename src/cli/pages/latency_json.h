/* Latencies in JSON, in cycles and in seconds. */
#ifndef LATENCY_JSON_H
#define LATENCY_JSON_H

#include "json_writer.h"

/* Writes "<name>_cycles", and "<name>_seconds" where that can be told. name: at most 48 bytes; frequency_hz: 0: not
 * known */
void latency_json_write(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles);

#endif
