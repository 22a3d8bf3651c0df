/* Converts times of the calls' clock to the wall clock. In files that were merged from several recordings: to which
 * recording a call belongs, and which calls have no known order. */
#include <stdlib.h>
#include <sys/timex.h>

#include "base.h"
#include "events_private.h"

#define APART_S 3600U /* much more than the delay of saving, even if the disk hangs */

int events_clock_order(const void *a, const void *b) {
    const struct events_clock *one = a;
    const struct events_clock *other = b;
    return (one->cycles > other->cycles) - (one->cycles < other->cycles);
}

static void add_moment(struct events_file *file, uint64_t cycles) {
    if (cycles < file->first_cycles)
        file->first_cycles = cycles;
    if (cycles > file->last_cycles)
        file->last_cycles = cycles;
}

void events_find_span(struct events_file *file) {
    uint64_t apart_cycles = 0;
    file->first_cycles = UINT64_MAX;
    for (size_t i = 0; i < file->clock_count; i++)
        add_moment(file, file->clocks[i].cycles);
    for (size_t i = 0; i < file->mark_count; i++)
        if (file->marks[i].mark.cycles != 0)
            add_moment(file, file->marks[i].mark.cycles);
    if (file->first_cycles > file->last_cycles || file->clock_hz == 0 ||
        __builtin_mul_overflow(file->clock_hz, (uint64_t)APART_S, &apart_cycles))
        apart_cycles = UINT64_MAX;
    file->first_cycles = file->first_cycles > apart_cycles ? file->first_cycles - apart_cycles : 0;
    if (__builtin_add_overflow(file->last_cycles, apart_cycles, &file->last_cycles))
        file->last_cycles = UINT64_MAX;
}

bool events_is_outside(const struct events_file *file, const struct event *event) {
    return event->start_cycles < file->first_cycles || event->end_cycles > file->last_cycles ||
           event->end_cycles < event->start_cycles;
}

/* The two pairs that define the line: those around the moment, or the nearest ones. */
static bool find_pairs(const struct events_file *file, uint64_t cycles, const struct events_clock **ret_from,
                       const struct events_clock **ret_to) {
    size_t from = 0;
    size_t to = file->clock_count;
    if (file->clock_count < 2)
        return false;
    while (from < to) { /* the first pair after the moment */
        size_t middle = from + (to - from) / 2;
        if (file->clocks[middle].cycles <= cycles)
            from = middle + 1;
        else
            to = middle;
    }
    size_t next = from == 0 ? 1 : from == file->clock_count ? file->clock_count - 1 : from;
    *ret_from = &file->clocks[next - 1];
    *ret_to = &file->clocks[next];
    return (*ret_to)->cycles > (*ret_from)->cycles && (*ret_to)->realtime_ns > (*ret_from)->realtime_ns;
}

/* Numbers of hostile files must not overflow. */
static int64_t to_ns(long double ns) {
    const long double most = 9.2e18L;
    return ns > most ? INT64_MAX : ns < -most ? INT64_MIN : (int64_t)ns;
}

static long double passed(uint64_t from, uint64_t to) {
    return to >= from ? (long double)(to - from) : -(long double)(from - to);
}

int64_t events_unix_ns(const struct events_file *file, uint64_t cycles) {
    const struct events_clock *from;
    const struct events_clock *to;
    if (file->clock_count == 0)
        return 0;
    if (find_pairs(file, cycles, &from, &to)) {
        long double slope =
            ((long double)to->realtime_ns - (long double)from->realtime_ns) / passed(from->cycles, to->cycles);
        return to_ns((long double)from->realtime_ns + slope * passed(from->cycles, cycles));
    }
    const struct events_clock *only = &file->clocks[0];
    if (file->clock_hz == 0)
        return 0;
    return to_ns((long double)only->realtime_ns +
                 passed(only->cycles, cycles) * NS_PER_S / (long double)file->clock_hz);
}

static uint64_t error_of(const struct events_file *file, const struct events_clock *clock) {
    long double read_ns =
        file->clock_hz ? (long double)clock->gap_cycles / 2 * NS_PER_S / (long double)file->clock_hz : 0;
    long double error_ns = (long double)clock->error_ns + read_ns;
    return clock->status & STA_UNSYNC || error_ns > 1.8e19L ? UINT64_MAX : (uint64_t)error_ns;
}

uint64_t events_error_ns(const struct events_file *file, uint64_t cycles) {
    const struct events_clock *from;
    const struct events_clock *to;
    if (file->clock_count == 0)
        return UINT64_MAX;
    if (!find_pairs(file, cycles, &from, &to))
        return error_of(file, &file->clocks[0]);
    uint64_t error_ns = error_of(file, from) > error_of(file, to) ? error_of(file, from) : error_of(file, to);
    /* By how much the wall clock was set, compared with the monotonic clock, which nobody sets. */
    long double wall_ns = (long double)to->realtime_ns - (long double)from->realtime_ns;
    long double steady_ns = (long double)to->monotonic_ns - (long double)from->monotonic_ns;
    long double set_ns = wall_ns > steady_ns ? wall_ns - steady_ns : steady_ns - wall_ns;
    if (set_ns > 1.8e19L || error_ns > UINT64_MAX - (uint64_t)set_ns)
        return UINT64_MAX;
    return error_ns + (uint64_t)set_ns;
}

/* ---- Several hosts ---- */

const struct events_host_seen *events_host_of(const struct events_file *file, uint32_t stream) {
    for (size_t i = 0; i < file->host_count; i++) {
        const struct events_host *host = &file->hosts[i].head;
        if (stream >= host->first_stream && stream - host->first_stream < host->stream_count)
            return &file->hosts[i];
    }
    return NULL;
}

/* The last call of each host. */
struct events_order {
    const struct events_file *file;
    int64_t last_ns[]; /* [host_count]; INT64_MIN: none yet */
};

int events_order_create(const struct events_file *file, struct events_order **ret_order) {
    struct events_order *order = malloc(sizeof(*order) + file->host_count * sizeof(order->last_ns[0]));
    if (!order)
        return -ENOMEM;
    order->file = file;
    for (size_t i = 0; i < file->host_count; i++)
        order->last_ns[i] = INT64_MIN;
    *ret_order = order;
    return 0;
}

bool events_is_unordered(struct events_order *order, const struct event *event) {
    const struct events_file *file = order->file;
    const struct events_host_seen *host = events_host_of(file, event->stream);
    bool is_unordered = false;
    if (!host)
        return false;
    int64_t now_ns = events_unix_ns(file, event->start_cycles);
    uint64_t error_ns = host->head.error_ns;
    for (size_t i = 0; i < file->host_count && !is_unordered; i++) {
        const struct events_host *other = &file->hosts[i].head;
        int64_t last_ns = order->last_ns[i];
        uint64_t passed_ns = now_ns > last_ns ? (uint64_t)now_ns - (uint64_t)last_ns : 0;
        is_unordered = other->machine != host->head.machine && last_ns != INT64_MIN &&
                       (error_ns >= passed_ns || other->error_ns >= passed_ns - error_ns);
    }
    order->last_ns[host - file->hosts] = now_ns;
    return is_unordered;
}
