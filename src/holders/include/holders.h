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
                  struct holders_chain *ret_chain);

/* "postgres 4711 waits for the flock of /srv/x, held by backup 992, which waits for the disk vda". What a terminal would
 * obey in names becomes '?'. A text that is too long is cut. Returns ret_text */
const char *holders_format(const struct holders_chain *chain, char ret_text[HOLDERS_TEXT_SIZE]);

/* The same without the first waiter: "the flock of /srv/x, held by backup 992"; "" if only its cause is known. */
const char *holders_format_thing(const struct holders_chain *chain, char ret_text[HOLDERS_TEXT_SIZE]);

#endif
