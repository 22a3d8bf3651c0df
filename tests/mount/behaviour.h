/* More topics of posix_probe, for tests of one behaviour each: those that take longer, or change a directory below the
 * mount while it is in use. Without a mount, a topic changes the directory in which it runs. */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include "posix_probe.h"

/* Opens the directory of the topic as it is reached below: $BELOW/TOPIC. Ends the probe if that fails. */
int behaviour_below(const char *topic);

/* Waits until the kernel's caches of names and attributes have expired, if it has any ($CACHED_MS). */
void behaviour_settle(void);

/* Ends the probe if not ok: later lines would mean nothing. */
void behaviour_must(int ok, const char *what);

/* Prints what can be done with the descriptor: attributes, data, and changes of both. */
void behaviour_use_file(const char *what, int fd);

/* Prints the names in a directory, sorted. */
void behaviour_list(const char *what, int dir_fd);

/* The topics, in other files. */
void behaviour_remove_while_reading(void);
void behaviour_change_while_reading(void);
void behaviour_rewind(void);
void behaviour_places(void);
void behaviour_streams(void);
void behaviour_link_many(void);
void behaviour_link_found(void);
void behaviour_link_shared(void);
void behaviour_link_full(void);
void behaviour_old_times(void);
void behaviour_show_times(void);
void behaviour_nameless(void);
void behaviour_nameless_many(void);
void behaviour_nameless_named(void);
void behaviour_moved_below(void);
void behaviour_moved_parent(void);
void behaviour_handles(void);
void behaviour_handles_kept(void);
void behaviour_handles_old(void);

#endif
