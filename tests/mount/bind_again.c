/* bind_again FILE TARGET COUNT: binds the file to the target and takes the mount away again, so many times. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

enum { EACH_WAY_US = 1000 }; /* time for others to look at the target */

static int fail(const char *what) {
    perror(what);
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: bind_again FILE TARGET COUNT\n", stderr);
        return 2;
    }
    for (long left = strtol(argv[3], NULL, 10); left > 0; left--) {
        if (mount(argv[1], argv[2], NULL, MS_BIND, NULL) < 0)
            return fail("mount");
        usleep(EACH_WAY_US);
        if (umount2(argv[2], MNT_DETACH) < 0)
            return fail("umount");
        usleep(EACH_WAY_US);
    }
    return EXIT_SUCCESS;
}
