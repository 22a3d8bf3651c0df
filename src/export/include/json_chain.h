/* Causes, and who holds what is waited for, as members of JSON. */
#ifndef JSON_CHAIN_H
#define JSON_CHAIN_H

#include "aggstats.h"
#include "json_writer.h"

/* Members "cause", "cause_class" and, if there are, "cause_id", "other_thread" and "since_before". */
void json_why(struct json_writer *writer, const struct aggstats_why *why);

/* Members "links", an array, and "circle", if so. chain: NULL: no links */
void json_links(struct json_writer *writer, const struct aggstats_chain *chain);

#endif
