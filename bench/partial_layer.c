/* osproffs with a part of the profiler, to measure what each part costs (thesis §6.2).
 *
 * The programs partial_osproffs and alternating_osproffs are osproffs, linked with --wrap=prof_init and
 * --wrap=aggstats_recorder_watch: the prof layer gets other ops, and nothing looks at calls in flight. The environment
 * variable PARTIAL_OSPROFFS is "call" or "tsc" (partial_ops.h); without it all of the profiler is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/busy.h"
#include "partial_ops.h"

/* The linker's names for the originals and for what takes their place. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void __real_prof_init(struct prof *prof, struct aggstats_recorder *recorder, struct fs_layer *next);
void __wrap_prof_init(struct prof *prof, struct aggstats_recorder *recorder, struct fs_layer *next);
int __real_aggstats_recorder_watch(struct aggstats_recorder *recorder, bool makes_calls);
int __wrap_aggstats_recorder_watch(struct aggstats_recorder *recorder, bool makes_calls);
// NOLINTEND(bugprone-reserved-identifier)

/* NULL: all of the profiler */
static const struct fs_ops *part(void) {
    const char *name = getenv("PARTIAL_OSPROFFS");
    if (!name)
        return NULL;
    if (strcmp(name, "call") == 0)
        return &partial_call_ops;
    if (strcmp(name, "tsc") == 0)
        return &partial_tsc_ops;
    fprintf(stderr, "osproffs: PARTIAL_OSPROFFS must be call or tsc, not '%s'\n", name);
    exit(2);
}

void __wrap_prof_init(struct prof *prof, struct aggstats_recorder *recorder, struct fs_layer *next) {
    __real_prof_init(prof, recorder, next);
    if (part())
        prof->layer.ops = part();
}

int __wrap_aggstats_recorder_watch(struct aggstats_recorder *recorder, bool makes_calls) {
    return part() ? 0 : __real_aggstats_recorder_watch(recorder, makes_calls);
}
