/* Records a profile with a live file, for tests of those who read it: 7 calls of READ, an FSYNC that never ends, then
 * sleep until killed.
 * Usage: record LIVE MOUNT CONTROL [paused] */
#include <stdio.h>
#include <string.h>

#include "base.h"

#include "aggstats.h"

enum { READ, FSYNC };

static struct aggstats_recorder *create_recorder(char **argv) {
    static const char *const op_names[] = {"READ", "FSYNC"};
    char mount_key[] = "mount";
    char control_key[] = "control";
    const struct aggstats_label labels[] = {{mount_key, argv[2]}, {control_key, argv[3]}};
    const struct aggstats_recorder_options options = {
        .op_names = op_names,
        .op_count = ARRAY_SIZE(op_names),
        .resolution = 1,
        .labels = labels,
        .label_count = ARRAY_SIZE(labels),
        .live_path = argv[1],
    };
    struct aggstats_recorder *recorder = NULL;
    int error = aggstats_recorder_create(&options, &recorder);
    if (error)
        fprintf(stderr, "record: cannot create %s: %s\n", argv[1], strerror(-error));
    return recorder;
}

int main(int argc, char **argv) {
    struct aggstats_recorder *recorder = argc >= 4 ? create_recorder(argv) : NULL;
    if (!recorder)
        return 1;
    for (int i = 0; i < 7; i++) {
        struct aggstats_span span = aggstats_begin(recorder, READ, 0, 0);
        aggstats_end(recorder, &span);
    }
    aggstats_begin(recorder, FSYNC, 131074, 4711);
    if (argc > 4)
        aggstats_recorder_pause(recorder);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}
