/* Chains of waits and holders as sentences. Pure functions. */
#ifndef HOLDERS_TEXT_H
#define HOLDERS_TEXT_H

#include "aggstats.h"

#define HOLDERS_TEXT_SIZE 4096
#define HOLDERS_SHORT_SIZE 320 /* enough for most; where the sentence is one among others */

/* "postgres 4711 waits for the flock of /srv/x, held by backup 992, which waits for the disk vda". What a terminal would
 * obey in names becomes '?'. A text that is too long is cut, and ends in "...". Returns ret_text, "" without
 * memory. size_bytes: at least 4 */
const char *holders_format(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes);

/* The same without the first waiter: "the flock of /srv/x, held by backup 992"; "" if only its cause is known. chain: NULL:
 * as if nothing were known */
const char *holders_format_thing(const struct aggstats_chain *chain, char *ret_text, size_t size_bytes);

#endif
