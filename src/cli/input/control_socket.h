/* Asking the process that profiles a mount at its socket (control_server.h). */
#ifndef CONTROL_SOCKET_H
#define CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/* Whether there is such a socket at a path, which may also be that of a control file. */
bool control_socket_is_at(const char *path);

/* What comes with a question: a file that a command is about. */
struct control_passed {
    int fd; /* opened for writing, empty */

    /* Gives it its name; asked for by "rotate" once the file is whole. Returns 0 or -errno */
    int (*give_name)(void *context);
    void *context;
};

/* question: commands of control files; "show": the profile; "handed_over": see control_server.h;
 *           "": nothing, but what has happened is counted then
 * passed:   NULL: nothing
 * Waits a few seconds at most, 20 for an answer that keeps coming, and 60 for a command about a file.
 * Owner:   the caller frees *ret_text, which is "" unless something was asked for
 * Errors:  of the command, or of asking; -ECONNRESET: who answers has ended, and what came of a command is not known */
int control_socket_ask(const char *path, const char *question, const struct control_passed *passed, char **ret_text,
                       size_t *ret_bytes);

/* Asks for the outcome of the final profile; see control_server_tell_end().
 * Owner:   the caller closes *ret_fd, from which control_socket_outcome() reads
 * Errors:  of asking */
int control_socket_await_end(const char *path, int *ret_fd);

/* Waits for it. timeout_ms: -1: without end.
 * Owner:   the caller frees *ret_outcome, which is without a newline
 * Errors:  -EAGAIN it takes longer, -ECONNRESET who serves has ended without a word */
int control_socket_outcome(int fd, int timeout_ms, char **ret_outcome);

#endif
