/* Private: maps of programs in windows. Programs count in one while the other is read and emptied. */
#ifndef WINDOWS_H
#define WINDOWS_H

/* Waits until no program uses a window any more that began when it was in use.
 * windows: the map of maps; number and window: of that one in it
 * Errors:  those of bpf(2) */
int windows_wait(int windows_fd, unsigned number, int window_fd);

/* Takes all out of a hash map.
 * keys, values: room for that many of each; taken() finds there what was taken out, each time
 * Errors:  those of bpf(2); what was not taken is there still */
int windows_empty(int window_fd, void *keys, void *values, unsigned room, void (*taken)(void *context, unsigned count),
                  void *context);

#endif
