/* Prints the holder of the object that a thread waits for.
 *
 * usage: who_holds PROCESS [THREAD [DEVICE]]
 *
 * DEVICE is the device of the file system, in the format of mountpoint -d. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "holders.h"
#include "holders_text.h"

/* "0:45" */
static dev_t parse_device(const char *text) {
    char *end = NULL;
    unsigned long device_major = strtoul(text, &end, 10);
    return *end == ':' ? makedev(device_major, strtoul(end + 1, NULL, 10)) : 0;
}

int main(int argc, char **argv) {
    char why[THREAD_CAUSES_WHY_SIZE];
    char text[HOLDERS_TEXT_SIZE];
    struct thread_causes causes = {.own = NULL};
    struct aggstats_chain chain;
    if (argc < 2 || thread_causes_init(&causes, NULL, why) < 0) {
        fprintf(stderr, "usage: who_holds PROCESS [THREAD [DEVICE]]\n");
        return 2;
    }
    const struct holders_options options = {.causes = &causes, .may_scan = true};
    const struct holders_waiter waiter = {
        .process = strtoull(argv[1], NULL, 10),
        .thread = strtoull(argv[argc > 2 ? 2 : 1], NULL, 10),
        .device = argc > 3 ? parse_device(argv[3]) : 0,
    };
    holders_find(&options, &waiter, &chain);
    puts(holders_format(&chain, text, sizeof(text)));
    thread_causes_finish(&causes);
    return 0;
}
