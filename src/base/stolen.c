/* The first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal ...", in ticks. */
#include "stolen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

#define STEAL_COLUMN 8

bool stolen_parse(const char *stat, uint64_t *ret_ticks) {
    static const char begin[] = "cpu ";
    uint64_t ticks = 0;
    if (strncmp(stat, begin, strlen(begin)) != 0)
        return false;
    const char *column = stat + strlen(begin);
    for (unsigned i = 0; i < STEAL_COLUMN; i++) {
        char *end;
        column += strspn(column, " ");
        ticks = strtoull(column, &end, 10);
        if (*column < '0' || *column > '9')
            return false;
        column = end;
    }
    *ret_ticks = ticks;
    return true;
}

bool stolen_read_ns(uint64_t *ret_ns) {
    char stat[256];
    uint64_t ticks;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    long ticks_per_second = sysconf(_SC_CLK_TCK);
    if (cpus <= 0 || ticks_per_second <= 0 || !read_beginning(AT_FDCWD, "/proc/stat", stat, sizeof(stat)) ||
        !stolen_parse(stat, &ticks))
        return false;
    *ret_ns = ticks * (NS_PER_S / (uint64_t)ticks_per_second) / (uint64_t)cpus;
    return true;
}
