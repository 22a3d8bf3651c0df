/* Reading clocks, and time as text. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"

int64_t read_clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

bool time_parse(const char *text, uint64_t ns_min, uint64_t ns_max, uint64_t *ret_ns) {
    static const struct {
        const char *name;
        long double ns;
    } units[] = {{"us", 1e3L}, {"ms", 1e6L}, {"s", 1e9L}, {"m", 60e9L}, {"h", 3600e9L}, {"", 1e9L}};
    const size_t digits = strspn(text, "0123456789.");
    char *end;
    const long double number = strtold(text, &end);
    for (size_t i = 0; digits > 0 && end == text + digits && i < ARRAY_SIZE(units); i++) {
        const long double ns = number * units[i].ns + 0.5L;
        if (strcmp(end, units[i].name) != 0 || ns < ns_min || ns >= ns_max + 1.0L)
            continue;
        *ret_ns = (uint64_t)ns;
        return true;
    }
    return false;
}

void format_utc(int64_t unix_ns, char ret_text[UTC_TEXT_SIZE]) {
    int64_t ns = unix_ns % NS_PER_S;
    time_t seconds = unix_ns / NS_PER_S;
    if (ns < 0) { /* before 1970 the fraction counts up too */
        ns += NS_PER_S;
        seconds--;
    }
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t length = strftime(ret_text, UTC_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret_text + length, UTC_TEXT_SIZE - length, ".%09ldZ", (long)ns);
}
