/* Reading /proc/N/task/N/status: lines of the form "Name:\tcat", one of which may be very long. */
#include "proc_status.h"

#include <inttypes.h>
#include <string.h>

#include "base.h"

bool proc_status_number(uint64_t thread, const char *name, int base, uint64_t *ret_number) {
    char path[64];
    size_t length = strlen(name);
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64 "/status", thread, thread);
    CLEANUP_STREAM FILE *status = fopen(path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    while (status && getline(&line, &size_bytes, status) >= 0) {
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            *ret_number = strtoull(line + length + 1, NULL, base);
            return true;
        }
    }
    return false;
}
