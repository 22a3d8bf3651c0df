/* Merging several recordings into one events file with a common time line.
 *
 * A call's place on the time line is its start by the wall clock of its machine, computed from the pairs of clocks.
 * All recordings of one boot of a machine share their pairs, so that the calls of these recordings keep their order.
 * Latencies are not changed, unless the clocks' rates differ by more than 1/1000: then they are converted to cycles of
 * the first recording. A call never begins before the end of the previous call of its stream. If the clocks' rates
 * would put the call earlier, the call is moved, and the distance is part of the stated error. */
#ifndef EVENTS_MERGING_H
#define EVENTS_MERGING_H

#include "events_reader.h"

/* Writes some bytes of the merged file. Returns 0, or an error that ends the merging. */
typedef int (*events_merge_write_fn)(void *context, const void *bytes, size_t size_bytes);

/* files: at least 1; single recordings or merged files
 * Errors:  -ENODATA a recording has no pairs of clocks, or no rate: *ret_file is its index; -E2BIG too many hosts or
 *          operations in total; -ENOMEM; those of `write` */
int events_merge(const struct events_file *const *files, size_t file_count, events_merge_write_fn write, void *context,
                 size_t *ret_file);

#endif
