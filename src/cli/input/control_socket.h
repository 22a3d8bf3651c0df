/* Asking the process that profiles another FUSE daemon: it listens at a socket, in place of a control file. */
#ifndef CONTROL_SOCKET_H
#define CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is such a socket at a path, which may also be that of a control file. */
bool control_socket_is_at(const char *path);

/* question: commands of control files; "show": the profile; "handed_over": see fuse_control.h;
 *           "": nothing, but what has happened is counted then
 * Waits a few seconds at most, and 20 for an answer that keeps coming.
 * Owner:   the caller frees *ret_text, which is "" unless something was asked for
 * Errors:  of the command, or of asking */
int control_socket_ask(const char *path, const char *question, char **ret_text, size_t *ret_bytes);

#endif
