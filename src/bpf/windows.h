/* Private: maps of programs in windows. Programs count in one while the other is read and emptied. */
#ifndef WINDOWS_H
#define WINDOWS_H

/* Call after another window has been put in use. Waits until the programs that may still use the old window have ended.
 * windows_fd: the map of maps
 * number:     index of the old window in the map of maps
 * window_fd:  the old window
 * Errors:  those of bpf(2) */
int windows_wait(int windows_fd, unsigned number, int window_fd);

/* Removes all entries of a hash map.
 * keys, values: arrays of `room` elements; each call of taken() finds there the entries just removed
 * Errors:  those of bpf(2); the remaining entries stay in the map */
int windows_empty(int window_fd, void *keys, void *values, unsigned room, void (*taken)(void *context, unsigned count),
                  void *context);

#endif
