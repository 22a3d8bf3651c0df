/* Names of processes. */
#include "process_name.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"

void process_name_read(uint64_t pid, char *ret_name, size_t size_bytes) {
    char path[48];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
    read_beginning(AT_FDCWD, path, ret_name, size_bytes);
    size_t length = strlen(ret_name);
    if (length > 0 && ret_name[length - 1] == '\n')
        ret_name[length - 1] = '\0';
}
