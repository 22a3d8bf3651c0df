/* How many bytes of read calls came from the page cache: facts of the live file, which somebody else counts. */
#include "aggstats/caches.h"

#include <errno.h>
#include <stdlib.h>

#include "base.h"
#include "places.h"
#include "quiet_lock.h"
#include "recorder_state.h"

static void add(struct live_header *header, enum fact_place place, uint64_t bytes) {
    live_fact_set(header, place, live_fact(header, place) + bytes);
}

static void take(struct live_header *header, enum fact_place place, uint64_t bytes) {
    const uint64_t sum = live_fact(header, place);
    live_fact_set(header, place, sum > bytes ? sum - bytes : 0);
}

/* ---- As a probe --------------------------------------------------------------------------------- */

static void reset(struct probe *probe) {
    struct live_header *header = probe->recorder->live.header;
    live_fact_set(header, FACT_CACHE_READ, 0);
    live_fact_set(header, FACT_CACHE_MISSED, 0);
    live_fact_set(header, FACT_CACHE_UNJUDGED, 0);
}

static void end_mark(struct probe *probe, const struct aggstats_profile *taken) {
    struct live_header *header = probe->recorder->live.header;
    if (!taken)
        return;
    take(header, FACT_CACHE_READ, taken->cache.read_bytes);
    take(header, FACT_CACHE_MISSED, taken->cache.missed_bytes);
    take(header, FACT_CACHE_UNJUDGED, taken->cache.unjudged_bytes);
}

static void destroy(struct probe *probe) {
    free(probe);
}

static const struct probe_ops ops = {.reset = reset, .end_mark = end_mark, .leave = probe_leave, .destroy = destroy};

/* ---- The interface ------------------------------------------------------------------------------ */

int aggstats_recorder_begin_caches(struct aggstats_recorder *recorder) {
    if (recorder->probes[PROBE_CACHES])
        return -EBUSY;
    struct probe *probe = malloc(sizeof(*probe));
    if (!probe)
        return -ENOMEM;
    *probe = (struct probe){.ops = &ops, .recorder = recorder};
    reset(probe);
    recorder_attach(recorder, PROBE_CACHES, probe);
    return 0;
}

void aggstats_recorder_add_cache(struct aggstats_recorder *recorder, const struct aggstats_cache *cache) {
    struct live_header *header = recorder->live.header;
    sigset_t before;
    if (!recorder_probe(recorder, PROBE_CACHES))
        return;
    quiet_lock(&recorder->window_lock, &before);
    if (!live_window(&recorder->live)->paused) {
        add(header, FACT_CACHE_MISSED, cache->missed_bytes);
        add(header, FACT_CACHE_READ, cache->read_bytes);
        add(header, FACT_CACHE_UNJUDGED, cache->unjudged_bytes);
    }
    quiet_unlock(&recorder->window_lock, &before);
}
