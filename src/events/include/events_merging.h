/* Several recordings on one time line, as an events file.
 *
 * A call's place on it is its start by the wall clock of its machine, from the pairs of its clock; of recordings of one
 * boot of a machine the pairs are taken together, so that their calls keep their order. Latencies stay as they were
 * counted, unless the clocks' rates differ by more than 1/1000: then they are expressed in cycles of the first one. A
 * call never begins before the one before it in its stream has ended: where the clocks' rates make it seem so, it is
 * moved, and how far is part of the stated error. */
#ifndef EVENTS_MERGING_H
#define EVENTS_MERGING_H

#include "events_reader.h"

/* Takes some bytes of the file that is made. Returns 0, or an error that ends the merging. */
typedef int (*events_merge_write_fn)(void *context, const void *bytes, size_t size_bytes);

/* files: of one recording each, or merged ones. 1 at least
 * Errors:  -ENODATA a recording has no pairs of its clock, or not its rate: *ret_file is its place; -E2BIG too many
 *          hosts or operations all together; -ENOMEM; those of `write` */
int events_merge(const struct events_file *const *files, size_t file_count, events_merge_write_fn write, void *context,
                 size_t *ret_file);

#endif
