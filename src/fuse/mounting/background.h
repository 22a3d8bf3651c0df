/* Going into the background: the starting process waits until the mount works, and exits with its outcome. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

struct background {
    int ready_fd; /* -1: in the foreground */
};

/* Forks. The child returns here, still with the terminal's stderr; the parent waits and exits. */
int background_start(struct background *ret_background);

/* Lets the parent exit with status 0, and gives up the terminal and the current directory. */
void background_ready(struct background *background);

#endif
