/* Which names this server answers to: what the header Host of HTTP may say.
 *
 * A page of a web site can have the site's name lead to this machine (DNS rebinding). To the browser our answers then
 * are the site's own, so its scripts may read them. Their requests name the site as the host, and that gives them away.
 */
#ifndef SERVE_HOST_H
#define SERVE_HOST_H

#include <stdbool.h>

#include "option_list.h"

/* Whether a name may be given as one more of the server's: letters, digits, dots, hyphens and underscores, no port, no
 * address. */
bool serve_host_name_is_valid(const char *name);

/* Whether Host is an address, "localhost", this machine's name as gethostname(2) tells it, with and without its domain,
 * another name of the same line of /etc/hosts, or one of names; in letters of either case, with a port or without, with
 * a dot at the end or without. An empty Host names nobody, which is right where the client was given no host (RFC 9112,
 * section 3.2). */
bool serve_host_is_ours(const struct option_list *names, const char *host);

#endif
