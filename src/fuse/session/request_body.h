/* What is read from a request before libfuse sees it, because libfuse does not pass it on. */
#ifndef REQUEST_BODY_H
#define REQUEST_BODY_H

#include <stdbool.h>
#include <stdint.h>

/* A write or a truncation by somebody who lacks CAP_FSETID. body: behind the header of a request of that opcode */
bool request_lacks_fsetid(uint32_t opcode, const char *body);

/* A read as large as those that the kernel makes ahead, and not a direct one, which the caller waits for. */
bool request_reads_ahead(uint32_t opcode, const char *body);

/* One about a name in a directory, whose lock the caller holds meanwhile. */
bool request_is_on_name(uint32_t opcode);

#endif
