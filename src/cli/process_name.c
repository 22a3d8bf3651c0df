/* Names of processes. */
#include "process_name.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"

void process_name_read(uint64_t pid, char *ret_name, size_t size_bytes) {
    char path[48];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, ret_name, size_bytes - 1);
    if (length > 0 && ret_name[length - 1] == '\n')
        length--;
    ret_name[length > 0 ? length : 0] = '\0';
}
