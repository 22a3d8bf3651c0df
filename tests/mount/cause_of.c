/* Prints what threads wait for: cause_of TID..., a line for each,
 *     TID work|wait|none CAUSE | FUNCTION < FUNCTION...
 * work: it waits for work. none: no line of the table matches. Gone threads are left out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggstats/slow.h"
#include "thread_cause.h"

static const char *kind_of(const struct thread_causes *causes, const struct thread_reading *reading) {
    if (reading->why.kind == AGGSTATS_CAUSE_FUNCTION)
        return "none";
    return thread_causes_find(causes, &reading->stack, "").is_work ? "work" : "wait";
}

int main(int argc, char **argv) {
    struct thread_causes causes = {.own = NULL};
    char why[THREAD_CAUSES_WHY_SIZE];
    if (thread_causes_init(&causes, NULL, why) < 0)
        return 1;
    for (int i = 1; i < argc; i++) {
        uint64_t memory[2] = {0, 0};
        const struct aggstats_look look = {.thread = strtoull(argv[i], NULL, 10), .memory = memory};
        struct thread_reading reading;
        struct aggstats_wait wait;
        if (!thread_read(&causes, &look, &reading))
            continue;
        thread_reading_wait(&reading, &wait);
        printf("%" PRIu64 " %s %s | %s\n", look.thread, kind_of(&causes, &reading), wait.cause.words, wait.stack);
    }
    thread_causes_finish(&causes);
    return 0;
}
