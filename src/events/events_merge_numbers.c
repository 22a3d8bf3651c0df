/* Numbers and times of a recording, as they are in the merged file. */
#include "base.h"
#include "events_merge_private.h"

uint64_t merge_time(const struct merge *merge, const struct merge_host *host, uint64_t cycles) {
    int64_t unix_ns = events_unix_ns(&merge->machines[host->machine].clock, cycles);
    long double at = (long double)unix_ns * (long double)merge->hz / NS_PER_S;
    return at <= 0 ? 0 : at > 1.8e19L ? UINT64_MAX : (uint64_t)at;
}

uint64_t merge_error_ns(const struct merge *merge, const struct merge_host *host) {
    const struct events_file *clock = &merge->machines[host->machine].clock;
    uint64_t error_ns = host->seen ? host->seen->head.error_ns : 0;
    for (size_t i = 0; !host->seen && i < clock->clock_count; i++) {
        uint64_t here_ns = events_error_ns(clock, clock->clocks[i].cycles);
        error_ns = here_ns > error_ns ? here_ns : error_ns;
    }
    uint64_t moved_ns = (uint64_t)((long double)host->moved_cycles * NS_PER_S / (long double)merge->hz);
    return error_ns > UINT64_MAX - moved_ns ? UINT64_MAX : error_ns + moved_ns;
}

EVENTS_ORDER(stream_order, struct merge_stream, from)

const struct merge_stream *merge_stream_find(const struct merge_file *file, uint32_t stream) {
    const struct merge_stream wanted = {.from = stream};
    return file->stream_count ? bsearch(&wanted, file->streams, file->stream_count, sizeof(wanted), stream_order)
                              : NULL;
}

uint64_t merge_node(const struct merge_host *host, uint64_t node) {
    return node == 0 ? 0 : node ^ host->node_bits;
}

uint32_t merge_thread(const struct merge_host *host, uint32_t thread) {
    return thread == 0 ? 0 : thread ^ host->thread_bits;
}

int merge_chunk_end(struct merge *merge) {
    events_chunk_end(&merge->writer);
    if (merge->writer.error)
        return merge->writer.error;
    int err = merge->write(merge->context, merge->writer.bytes, merge->writer.size_bytes);
    merge->writer.size_bytes = 0;
    return err;
}
