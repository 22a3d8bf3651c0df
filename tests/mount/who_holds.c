/* Prints who holds what a thread waits for.
 *
 * usage: who_holds PROCESS [THREAD] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "holders.h"

int main(int argc, char **argv) {
    char why[THREAD_CAUSES_WHY_SIZE];
    char text[HOLDERS_TEXT_SIZE];
    struct thread_causes causes = {.own = NULL};
    struct holders_chain chain;
    if (argc < 2 || thread_causes_init(&causes, NULL, why) < 0) {
        fprintf(stderr, "usage: who_holds PROCESS [THREAD]\n");
        return 2;
    }
    const struct holders_options options = {.causes = &causes, .may_scan = true};
    const struct holders_waiter waiter = {
        .process = strtoull(argv[1], NULL, 10),
        .thread = strtoull(argv[argc > 2 ? 2 : 1], NULL, 10),
    };
    holders_find(&options, &waiter, &chain);
    puts(holders_format(&chain, text));
    thread_causes_finish(&causes);
    return 0;
}
