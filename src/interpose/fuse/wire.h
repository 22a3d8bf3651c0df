/* Private: requests and answers of the FUSE device, as bytes (linux/fuse.h). The bytes are not trusted; only their
 * number is. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "request_ring.h"

#define WIRE_REQUEST_BYTES 40U /* of the header */
#define WIRE_ANSWER_BYTES 16U

/* The part of a request that is parsed: the longest body before names, and two names. */
#define WIRE_LOOKED_AT_BYTES (WIRE_REQUEST_BYTES + 16U + REQUEST_NAMES_MAX)

/* True if these may be the beginning of a message, of which only whole_bytes is known besides. The program also reads
 * and writes other data, so this costs only a comparison. */
bool wire_may_be_request(const void *bytes, size_t size_bytes, size_t whole_bytes);
bool wire_may_be_answer(const void *bytes, size_t size_bytes, size_t whole_bytes);

/* Parses a request. Returns false if it is not counted: it asks nothing of the file system.
 * bytes: size_bytes of its beginning, at least WIRE_REQUEST_BYTES. ret_names points into them. */
bool wire_read_request(const void *bytes, size_t size_bytes, struct request_record *ret_record, const char **ret_names,
                       size_t *ret_names_bytes);

/* Parses an answer. Returns false for a notification.
 * bytes: at least WIRE_ANSWER_BYTES */
bool wire_read_answer(const void *bytes, size_t size_bytes, struct request_record *ret_record);

/* The next directory entry in the body of an answer to FUSE_READDIRPLUS, from *at on. Returns false at the end, or if
 * the rest is no entry. Entries without a node are left out. *ret_name points into the body. */
bool wire_next_entry(const char **at, const char *end, uint64_t *ret_node, const char **ret_name,
                     size_t *ret_name_bytes);

#endif
