/* Who holds what a thread waits for: the holder of a file lock, the process that serves or the server that exports a
 * file system, the other end of a pipe, the disk; and what that one waits for, as a chain.
 *
 * Everything is read from /proc and /sys. No file of a watched file system is opened or asked for its attributes, so
 * nothing here waits for one. What is not known is left out. */
#ifndef HOLDERS_H
#define HOLDERS_H

#include "holders_chain.h"

/* Reads who holds what the waiter waits for. Processes may end meanwhile: then the chain ends before them.
 * Returns true if it says more than the waiter's own cause
 * Threads: any. May wait for a moment to find out whether a thread runs */
bool holders_find(const struct holders_options *options, const struct holders_waiter *waiter,
                  struct aggstats_chain *ret_chain);

#endif
