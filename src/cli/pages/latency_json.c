/* Writing latencies. */
#include "latency_json.h"

#include <stdio.h>

void latency_json_write(struct json_writer *writer, uint64_t frequency_hz, const char *name, double cycles) {
    char key[64];
    snprintf(key, sizeof(key), "%s_cycles", name);
    json_real(writer, key, cycles);
    if (frequency_hz == 0)
        return;
    snprintf(key, sizeof(key), "%s_seconds", name);
    json_real(writer, key, cycles / (double)frequency_hz);
}
