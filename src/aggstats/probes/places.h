/* Private: the places of probes in a recorder, in the order in which they are shown. */
#ifndef PLACES_H
#define PLACES_H

enum probe_place {
    PROBE_BUSY,
    PROBE_TIMELINE,
    PROBE_JOINTS,
    PROBE_SLOW,
    PROBE_GROUPS,
    PROBE_CACHES,
};

#endif
