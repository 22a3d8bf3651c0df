/* Looking for holders costs from some 10 us to some 100 ms, and the thread that looks has calls to watch meanwhile. */
#include "slow_holders.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "holders.h"
#include "proc.h"

#define REST 10         /* times what the last look took */
#define SCAN_AGE_NS 1e8 /* from this age on descriptors of all processes are read */

/* Cut between characters. */
static void copy_cut(const char *text, char ret_holder[AGGSTATS_HOLDER_SIZE]) {
    static const char more[] = "...";
    const char *character;
    const char *rest = text;
    size_t used = 0;
    size_t length;
    if (strlen(text) < AGGSTATS_HOLDER_SIZE) {
        snprintf(ret_holder, AGGSTATS_HOLDER_SIZE, "%s", text);
        return;
    }
    while ((length = next_character(&rest, &character)) > 0 && used + length + sizeof(more) <= AGGSTATS_HOLDER_SIZE) {
        memcpy(ret_holder + used, character, length);
        used += length;
    }
    memcpy(ret_holder + used, more, sizeof(more));
}

/* The cause may have changed since it was found, and something may have been added to its words. */
static bool is_of(const struct holders_chain *chain, const char *cause) {
    const char *found = chain->links[0].cause;
    return strncmp(cause, found, strlen(found)) == 0;
}

static void look_for(const struct slow_holders *holders, const struct aggstats_look *look, bool may_scan,
                     const char *cause, char ret_holder[AGGSTATS_HOLDER_SIZE]) {
    const struct holders_options options = {.causes = holders->causes, .may_scan = may_scan};
    struct holders_waiter waiter = {
        .thread = look->thread,
        .device = holders->device_of ? holders->device_of(holders->device_context, look->thread) : 0};
    struct holders_chain chain;
    char text[HOLDERS_TEXT_SIZE];
    if (proc_status_number(look->thread, "Tgid", 10, &waiter.process) && holders_find(&options, &waiter, &chain) &&
        is_of(&chain, cause))
        copy_cut(holders_format_thing(&chain, text), ret_holder);
}

bool slow_holders_find(void *context, const struct aggstats_look *look, const char *cause,
                       char ret_holder[AGGSTATS_HOLDER_SIZE]) {
    struct slow_holders *holders = context;
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (begin_ns < holders->next_ns)
        return false;
    look_for(holders, look, look->age_ns >= SCAN_AGE_NS, cause, ret_holder);
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC);
    holders->next_ns = end_ns + REST * (end_ns - begin_ns);
    return true;
}
