/* Finding and making the directory for live files. */
#include "live_directory.h"

#include "base.h"
#include "live_dirs.h"

int live_directory_path(const char *directory, unsigned attempt, char **ret_path) {
    struct live_dirs dirs;
    int err = 0;
    if (!directory) {
        live_dirs_find(&dirs);
        directory = dirs.paths[dirs.chosen];
        err = live_dirs_make(&dirs);
    }
    if (err < 0)
        return err;
    char *path;
    int length = attempt == 0 ? asprintf(&path, "%s/%ld.live", directory, (long)getpid())
                              : asprintf(&path, "%s/%ld-%u.live", directory, (long)getpid(), attempt);
    if (length < 0)
        return -ENOMEM;
    *ret_path = path;
    return 0;
}
