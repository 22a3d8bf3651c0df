/* Reading clocks, and time as text. */
#include <time.h>

#include "base.h"

#define NS_PER_SECOND 1000000000

int64_t read_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

void format_utc(int64_t unix_ns, char ret_text[UTC_TEXT_SIZE]) {
    int64_t ns = unix_ns % NS_PER_SECOND;
    time_t seconds = unix_ns / NS_PER_SECOND;
    if (ns < 0) { /* before 1970 the fraction counts up too */
        ns += NS_PER_SECOND;
        seconds--;
    }
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t length = strftime(ret_text, UTC_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret_text + length, UTC_TEXT_SIZE - length, ".%09ldZ", (long)ns);
}
