/* Asking the process that profiles a mount at its socket (control_server.h). */
#ifndef CONTROL_SOCKET_H
#define CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/* True if there is such a socket at a path, which may also be the path of a control file. */
bool control_socket_is_at(const char *path);

/* The file of a command, sent with the question. */
struct control_passed {
    int fd; /* opened for writing, empty */

    /* Gives it its name; called for "rotate" when the file is complete. Returns 0 or -errno */
    int (*give_name)(void *context);
    void *context;
};

/* question: commands of control files; "show": the profile; "handed_over": see control_server.h; "": nothing, but all
 *   events so far are counted then
 * passed:   NULL: nothing
 * Waits a few seconds at most, 20 for an answer that keeps coming, and 60 for a command with a file.
 * Owner:   the caller frees *ret_text, which is "" if there is none
 * Errors:  of the command, *ret_text is the reason then; of asking, *ret_text is untouched; -ECONNRESET: the server has ended, and the outcome of a command is unknown */
int control_socket_ask(const char *path, const char *question, const struct control_passed *passed, char **ret_text,
                       size_t *ret_bytes);

/* Asks for the outcome of the final profile; see control_server_tell_end().
 * Owner:   the caller closes *ret_fd, from which control_socket_outcome() reads
 * Errors:  of asking */
int control_socket_await_end(const char *path, int *ret_fd);

/* Waits for it. timeout_ms: -1: for ever.
 * Owner:   the caller frees *ret_outcome, which has no newline
 * Errors:  -EAGAIN it takes longer, -ECONNRESET the server has ended without an answer */
int control_socket_outcome(int fd, int timeout_ms, char **ret_outcome);

#endif
