/* Checks of a header that another process has written. */
#include "shared_layout.h"

bool shared_layout_is_possible(const struct live_header *header, const struct layout *layout, uint64_t file_bytes) {
    const uint64_t shared = header->shared_offset;
    const uint64_t groups = header->groups_offset;
    const uint64_t end = header->header_bytes;
    if (header->shared_threads > AGGSTATS_SHARED_THREADS_MAX || end > file_bytes || shared > end || groups > end ||
        header->block_stride_bytes < layout_shared_bytes(layout, layout->op_count) ||
        header->block_stride_bytes > UINT32_MAX)
        return false;
    const size_t shared_bytes = shared_layout_bytes(header->shared_threads);
    const bool own_fits = shared >= live_offsets_make(layout, header->labels_bytes).end;
    const bool shared_fits = (groups != 0 ? groups : end) >= shared + shared_bytes;
    const bool groups_fit = groups == 0 || end - groups >= sizeof(struct groups_file);
    return own_fits && shared_fits && groups_fit && shared % CACHE_LINE_BYTES == 0 && groups % CACHE_LINE_BYTES == 0 &&
           header->block_stride_bytes % CACHE_LINE_BYTES == 0;
}
