/* osproffs: mounts a profiling view of a directory. */
#include "base.h"
#include "daemon.h"
#include "options.h"
#include "remount.h"

static int run(const struct options *options, int argc, char **argv) {
    switch ((enum options_action)options->action) {
    case OPTIONS_HELP:
        options_print_help();
        return 0;
    case OPTIONS_VERSION:
        options_print_version();
        return 0;
    case OPTIONS_COMPLETE:
        options_print_completion();
        return 0;
    case OPTIONS_REMOUNT:
        return remount(options, argc, argv);
    case OPTIONS_MOUNT:
        break;
    }
    return daemon_run(options);
}

int main(int argc, char **argv) {
    if (reserve_standard_fds() < 0)
        return 2; /* and there is nowhere to report it */
    struct options options;
    int status = options_parse(argc, argv, &options) < 0 ? 2 : run(&options, argc, argv);
    options_finish(&options);
    return status;
}
