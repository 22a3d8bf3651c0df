/* Private: the places that probes have in a recorder. What is shown later comes later. */
#ifndef PLACES_H
#define PLACES_H

enum probe_place {
    PROBE_BUSY,
    PROBE_TIMELINE,
    PROBE_JOINTS,
    PROBE_SLOW,
    PROBE_GROUPS,
};

#endif
